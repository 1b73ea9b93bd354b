//! How a person is told that something was not granted, with the command that grants it.

use openprogram_core::grant::{Access, AccessOutcome, copied_grant_command};

use crate::text::one_line;

/// Characters of the reason; the whole is in the graph.
const REASON_CHARS_MAX: usize = 300;

/// What stands before the command.
pub(super) const TO_ALLOW: &str = "\n  to allow it: ";

/// One refusal, safe for a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    /// Why, in one sentence.
    pub(super) reason: String,
    /// The command that would allow it; `None` where no grant would.
    pub(super) command: Option<String>,
}

impl Refusal {
    /// What was refused to a component; `None` for a use of a grant.
    pub(super) fn of(component: &str, access: &Access) -> Option<Self> {
        let AccessOutcome::Refused { message, needed } = &access.outcome else {
            return None;
        };
        // Neither cleaned nor cut: a part of a command does something else.
        let command = needed
            .as_ref()
            .and_then(|line| copied_grant_command(component, access.kind, line));
        Some(Self {
            reason: one_line(message, REASON_CHARS_MAX),
            command,
        })
    }

    /// The refusal in words, its command on a second line.
    pub(super) fn words(&self) -> String {
        match &self.command {
            Some(command) => format!("refused: {}{TO_ALLOW}{command}", self.reason),
            None => format!("refused: {}", self.reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use openprogram_core::grant::GrantKind;

    use super::*;

    #[test]
    fn a_refusal_is_told_with_its_command_and_cannot_drive_the_terminal() {
        let refused = |line: &str| {
            let why = "not\n\u{1b}[2Jgranted";
            let access = Access::refused(GrantKind::Http, "GET x", why, Some(line.to_owned()));
            Refusal::of("shop", &access).unwrap().words()
        };
        let expected = "refused: not granted\n  \
                        to allow it: openprogram grant shop --http 'GET https://a.example/x'";
        assert_eq!(refused("GET https://a.example/x"), expected);
        // Without what cannot be seen it would be another command.
        for hidden in ["\u{1b}[2J", "\n", "\t", "\u{202e}", "\u{200b}"] {
            let line = format!("GET https://a.example/{hidden}x");
            assert_eq!(refused(&line), "refused: not granted");
        }
        let access = Access::refused(GrantKind::Http, "GET x", "never", None);
        let words = Refusal::of("shop", &access).unwrap().words();
        assert_eq!(words, "refused: never");
        let used = Access::granted(GrantKind::Env, "HOME", "HOME");
        assert_eq!(Refusal::of("shop", &used), None);
    }
}
