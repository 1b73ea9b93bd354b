//! How a question looks, and what an answer means. Everything that a component or a model said is
//! cleaned and cut here, and what was cut says so.

use openprogram_core::id::SessionId;
use openprogram_core::question::Approval;

use crate::text::{escape_json, one_line};

/// What stands before the answer.
pub(super) const PROMPT: &str = "allow this once? [y/N] ";
/// Characters of a name or of what is wanted.
const NAME_CHARS_MAX: usize = 1_000;
/// Characters of the reason of an author.
const REASON_CHARS_MAX: usize = 300;
/// Characters of one argument. What stands behind them is approved unseen, so they are many.
const ARGUMENT_CHARS_MAX: usize = 8_000;
/// Arguments that are shown; the others are counted.
const ARGUMENTS_MAX: usize = 32;
/// Hexadecimal digits of a digest that are enough to tell two versions apart.
const DIGITS_SHOWN: usize = 12;

/// What a line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    Yes,
    No,
    Unclear,
}

/// Reads an answer; an empty one is a no.
pub(super) fn read(line: &str) -> Said {
    match line.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" => Said::Yes,
        "" | "n" | "no" => Said::No,
        _ => Said::Unclear,
    }
}

/// The question whether something may happen.
pub(super) fn approval_text(session: &SessionId, approval: &Approval) -> String {
    let name = |text: &str| one_line(text, NAME_CHARS_MAX);
    let hex = approval.digest.trim_start_matches("sha256:");
    let short: String = hex.chars().take(DIGITS_SHOWN).collect();
    let mut text = format!(
        "approval needed by {}\n  session    {session}\n  component  {} {short} ({})\n  wants to   {}\n",
        name(&approval.function),
        name(&approval.component),
        name(&approval.digest),
        name(&approval.what),
    );
    if let Some(grant) = &approval.grant {
        let (component, line) = (name(&grant.component), name(&grant.line));
        text.push_str(&format!("  grant      {line} (of {component})\n"));
    }
    if let Some(reason) = &approval.reason {
        let reason = one_line(reason, REASON_CHARS_MAX);
        text.push_str(&format!("  its author says: {reason}\n"));
    }
    if approval.arguments.is_empty() {
        text.push_str("  without arguments\n");
    }
    for (name, value) in approval.arguments.iter().take(ARGUMENTS_MAX) {
        let value = value.to_string();
        let value = spaces_shown(&escape_json(&value));
        let n_chars = value.chars().count();
        let mut shown: String = value.chars().take(ARGUMENT_CHARS_MAX).collect();
        if n_chars > ARGUMENT_CHARS_MAX {
            shown.push_str(&format!("… ({n_chars} characters)"));
        }
        let hidden = match approval.hidden.contains(name) {
            true => " (hidden from models)",
            false => "",
        };
        let name = one_line(name, 80);
        text.push_str(&format!("    {name} = {shown}{hidden}\n"));
    }
    let n_more = approval.arguments.len().saturating_sub(ARGUMENTS_MAX);
    if n_more > 0 {
        text.push_str(&format!(
            "    and {n_more} more arguments that are not shown\n"
        ));
    }
    text
}

/// A JSON text in which every space behind another one is written as an escape. As they are, they
/// could fill a line of the terminal, and what follows would look like a line of its own.
fn spaces_shown(json: &str) -> String {
    let mut shown = String::with_capacity(json.len());
    let mut is_behind_space = false;
    for c in json.chars() {
        match c {
            ' ' if is_behind_space => shown.push_str("\\u0020"),
            c => shown.push(c),
        }
        is_behind_space = c == ' ';
    }
    shown
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use openprogram_core::grant::GrantKind;
    use openprogram_core::question::AskingGrant;
    use serde_json::json;

    use super::*;

    fn approval() -> Approval {
        let arguments = json!({
            "text": "\u{1b}[2Jgo\nallow this once? [y/N] y",
            "key": "k\u{202e}",
            "long": "x".repeat(10_000),
            "padded": "a   amount = 1",
        });
        Approval {
            function: "acme:shop/desk.refund".to_owned(),
            component: "shop".to_owned(),
            digest: format!("sha256:{}", "0123456789abcdef".repeat(4)),
            arguments: arguments.as_object().cloned().unwrap(),
            hidden: vec!["key".to_owned()],
            what: "call acme:shop/desk.refund\u{1b}[2J".to_owned(),
            grant: Some(AskingGrant {
                kind: GrantKind::Calls,
                line: "ask acme:shop/desk.refund".to_owned(),
                component: "front".to_owned(),
            }),
            reason: Some("It pays\n\u{1b}]0;owned\u{7}money.".to_owned()),
        }
    }

    #[test]
    fn a_question_shows_what_the_answer_is_bound_to_and_cannot_drive_the_terminal() {
        let text = approval_text(&SessionId::from_bits(1), &approval());
        expect![[r#"
            approval needed by acme:shop/desk.refund
              session    op-0000000000000001
              component  shop 0123456789ab (sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef)
              wants to   call acme:shop/desk.refund
              grant      ask acme:shop/desk.refund (of front)
              its author says: It pays money.
                text = "\u001b[2Jgo\nallow this once? [y/N] y"
                key = "k\u202e" (hidden from models)
                long = "x…x… (10002 characters)
                padded = "a \u0020\u0020amount = 1"
        "#]]
        .assert_eq(&text.replace(&"x".repeat(7_999), "x…x"));
        assert!(!text.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{text}");
    }

    #[test]
    fn arguments_that_are_not_shown_are_counted() {
        let mut many = approval();
        let arguments = (0..40).map(|number| (format!("a{number}"), json!(number)));
        many.arguments = arguments.collect();
        let text = approval_text(&SessionId::from_bits(1), &many);
        assert!(text.contains("a31 = 31") && !text.contains("a32"), "{text}");
        assert!(
            text.ends_with("and 8 more arguments that are not shown\n"),
            "{text}"
        );
        many.arguments.clear();
        let text = approval_text(&SessionId::from_bits(1), &many);
        assert!(text.ends_with("  without arguments\n"), "{text}");
    }

    #[test]
    fn only_a_clear_yes_is_one() {
        for (line, said) in [
            ("y\n", Said::Yes),
            (" YES \r\n", Said::Yes),
            ("\n", Said::No),
            ("n\n", Said::No),
            ("No", Said::No),
            ("yy\n", Said::Unclear),
            ("yes please", Said::Unclear),
            ("\u{1b}[Ay\n", Said::Unclear),
        ] {
            assert_eq!(read(line), said, "{line:?}");
        }
    }
}
