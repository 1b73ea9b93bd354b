//! How a person is told that something was not granted, with the command that grants it.

use openprogram_core::grant::{Access, AccessOutcome, grant_command};

use crate::text::{clean, one_line};

/// Characters of the reason; the whole is in the graph.
const REASON_CHARS_MAX: usize = 300;

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
        let command = needed.as_ref().map(|line| {
            // Cleaned and not cut: a part of a command does something else.
            clean(&grant_command(component, access.kind, line)).replace(['\n', '\t'], " ")
        });
        Some(Self {
            reason: one_line(message, REASON_CHARS_MAX),
            command,
        })
    }

    /// The refusal in words, its command on a second line.
    pub(super) fn words(&self) -> String {
        match &self.command {
            Some(command) => format!("refused: {}\n  to allow it: {command}", self.reason),
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
        let line = "GET https://a.example/\u{1b}[2Jx".to_owned();
        let access = Access::refused(
            GrantKind::Http,
            "GET x",
            "not\n\u{1b}[2Jgranted",
            Some(line),
        );
        let words = Refusal::of("shop", &access).unwrap().words();
        let expected = "refused: not granted\n  \
                        to allow it: openprogram grant shop --http 'GET https://a.example/x'";
        assert_eq!(words, expected);
        let access = Access::refused(GrantKind::Http, "GET x", "never", None);
        let words = Refusal::of("shop", &access).unwrap().words();
        assert_eq!(words, "refused: never");
        let used = Access::granted(GrantKind::Env, "HOME", "HOME");
        assert_eq!(Refusal::of("shop", &used), None);
    }
}
