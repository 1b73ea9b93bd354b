//! How a question looks, and what an answer means. Everything that a component or a model said is
//! cleaned and cut here, and what was cut says so.

use openprogram_core::Json;
use openprogram_core::id::SessionId;
use openprogram_core::question::{Approval, Sending};

use crate::text::{escape_json, one_line};

/// What stands before the answer.
pub(super) const PROMPT: &str = "allow this? [y/N/always/never] ";
/// What is said of a line that is no answer.
pub(super) const UNCLEAR: &str = "answer `y` for yes or `n` for no, this once, or `always` or `never` for \
                                 each time that exactly this is asked again\n";
/// What stands below the question.
const FOR_GOOD: &str = "  `always` and `never` hold each time that exactly this is asked, with all of \
                        its arguments and in these\n  bytes; `openprogram grants` lists such answers\n";
/// Characters of a name or of what is wanted.
const NAME_CHARS_MAX: usize = 1_000;
/// Characters of a URL.
const URL_CHARS_MAX: usize = 4_000;
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
    /// Yes, also each time that the same is asked.
    Always,
    /// No, also each time that the same is asked.
    Never,
    Unclear,
}

/// Reads an answer; an empty one is a no. What holds for good is typed out.
pub(super) fn read(line: &str) -> Said {
    match line.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" => Said::Yes,
        "" | "n" | "no" => Said::No,
        "always" => Said::Always,
        "never" => Said::Never,
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
    if let Some(sends) = &approval.sends {
        text.push_str(&sending_text(sends));
    }
    if let Some(grant) = &approval.grant {
        let (component, line) = (name(&grant.component), name(&grant.line));
        let hex = grant.digest.trim_start_matches("sha256:");
        let short: String = hex.chars().take(DIGITS_SHOWN).collect();
        text.push_str(&format!("  grant      {line} (of {component} {short})\n"));
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
    text.push_str(FOR_GOOD);
    text
}

/// What leaves with a request.
fn sending_text(sends: &Sending) -> String {
    let count = |n: usize| format!("… ({n} characters)");
    let url = one_line(&sends.url, URL_CHARS_MAX);
    let n_chars = sends.url.chars().count();
    let rest = match n_chars > URL_CHARS_MAX {
        true => count(n_chars).trim_start_matches('…').to_owned(),
        false => String::new(),
    };
    let mut text = format!("  sends to   {url}{rest}\n");
    if !sends.headers.is_empty() {
        let names = one_line(&sends.headers.join(", "), NAME_CHARS_MAX);
        let bytes = sends.header_bytes;
        text.push_str(&format!("  headers    {names} ({bytes} bytes)\n"));
    }
    let Some(body) = &sends.body else {
        text.push_str("  body       none\n");
        return text;
    };
    let mime_type = body.mime_type.as_deref().unwrap_or("no type");
    let mime_type = one_line(mime_type, 100);
    let bytes = body.bytes;
    text.push_str(&format!("  body       {bytes} bytes, {mime_type}"));
    match &body.head {
        None => text.push_str(", no text\n"),
        Some(head) => {
            let is_whole = head.len() as u64 == bytes;
            let begins = if is_whole { "" } else { ", begins with" };
            // As JSON it has no line breaks and cannot drive the terminal.
            let head = Json::from(head.as_str()).to_string();
            let head = spaces_shown(&escape_json(&head));
            text.push_str(&format!("{begins}\n    {head}\n"));
        }
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
    use openprogram_core::question::{AskingGrant, SentBody};
    use serde_json::json;

    use super::*;

    fn approval() -> Approval {
        let arguments = json!({
            "text": "\u{1b}[2Jgo\nallow this? [y/N/always/never] always",
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
            sends: None,
            grant: Some(AskingGrant {
                kind: GrantKind::Calls,
                line: "ask acme:shop/desk.refund".to_owned(),
                component: "front".to_owned(),
                digest: format!("sha256:{}", "fedcba9876543210".repeat(4)),
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
              grant      ask acme:shop/desk.refund (of front fedcba987654)
              its author says: It pays money.
                text = "\u001b[2Jgo\nallow this? [y/N/always/never] always"
                key = "k\u202e" (hidden from models)
                long = "x…x… (10002 characters)
                padded = "a \u0020\u0020amount = 1"
              `always` and `never` hold each time that exactly this is asked, with all of its arguments and in these
              bytes; `openprogram grants` lists such answers
        "#]]
        .assert_eq(&text.replace(&"x".repeat(7_999), "x…x"));
        assert!(!text.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{text}");
    }

    #[test]
    fn a_request_shows_what_leaves() {
        let mut sends = Sending {
            url: "https://a.example/v1?key=\u{1b}[2J1".to_owned(),
            headers: vec!["accept".to_owned(), "x-data".to_owned()],
            header_bytes: 5_010,
            body: Some(SentBody {
                bytes: 39,
                mime_type: Some("text/plain\n\u{1b}[2J".to_owned()),
                head: Some("a=\u{1b}[2J\n  body       none\n      allow? y".to_owned()),
            }),
            digest: "sha256:1".to_owned(),
        };
        let mut text = sending_text(&sends);
        sends.headers.clear();
        sends.body.as_mut().unwrap().bytes = 9_000;
        sends.body.as_mut().unwrap().mime_type = None;
        text.push_str(&sending_text(&sends));
        sends.body.as_mut().unwrap().head = None;
        text.push_str(&sending_text(&sends));
        sends.body = None;
        text.push_str(&sending_text(&sends));
        expect![[r#"
            wanted
              sends to   https://a.example/v1?key=1
              headers    accept, x-data (5010 bytes)
              body       39 bytes, text/plain
                "a=\u001b[2J\n \u0020body \u0020\u0020\u0020\u0020\u0020\u0020none\n \u0020\u0020\u0020\u0020\u0020allow? y"
              sends to   https://a.example/v1?key=1
              body       9000 bytes, no type, begins with
                "a=\u001b[2J\n \u0020body \u0020\u0020\u0020\u0020\u0020\u0020none\n \u0020\u0020\u0020\u0020\u0020allow? y"
              sends to   https://a.example/v1?key=1
              body       9000 bytes, no type, no text
              sends to   https://a.example/v1?key=1
              body       none
        "#]].assert_eq(&format!("wanted\n{text}"));
        sends.url.push_str(&"x".repeat(5_000));
        let text = sending_text(&sends);
        assert!(text.contains("x… (5"), "{text}");
    }

    #[test]
    fn arguments_that_are_not_shown_are_counted() {
        let mut many = approval();
        let arguments = (0..40).map(|number| (format!("a{number}"), json!(number)));
        many.arguments = arguments.collect();
        let text = approval_text(&SessionId::from_bits(1), &many);
        assert!(text.contains("a31 = 31") && !text.contains("a32"), "{text}");
        assert!(
            text.ends_with(&format!(
                "and 8 more arguments that are not shown\n{FOR_GOOD}"
            )),
            "{text}"
        );
        many.arguments.clear();
        let text = approval_text(&SessionId::from_bits(1), &many);
        let end = format!("  without arguments\n{FOR_GOOD}");
        assert!(text.ends_with(&end), "{text}");
    }

    #[test]
    fn only_a_clear_yes_is_one() {
        for (line, said) in [
            ("y\n", Said::Yes),
            (" YES \r\n", Said::Yes),
            ("\n", Said::No),
            ("n\n", Said::No),
            ("No", Said::No),
            ("always\n", Said::Always),
            (" Never \n", Said::Never),
            ("a\n", Said::Unclear),
            ("alway\n", Said::Unclear),
            ("y always\n", Said::Unclear),
            ("yy\n", Said::Unclear),
            ("yes please", Said::Unclear),
            ("\u{1b}[Ay\n", Said::Unclear),
        ] {
            assert_eq!(read(line), said, "{line:?}");
        }
    }
}
