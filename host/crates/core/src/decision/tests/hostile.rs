//! Replies that are made to cost time, memory or stack.

use super::super::{CANDIDATES_MAX, REPLY_BYTES_MAX};
use super::replies::outcome;
use crate::schema::CheckMode;

#[test]
fn hostile_replies_end_in_an_error_in_linear_time() {
    let mebi = REPLY_BYTES_MAX;
    let pick = "{\"call\": \"give-up\"}";
    let fill = |piece: &str| piece.repeat(mebi / piece.len());
    let deep = |open: &str, close: &str| {
        let value = format!("{}{}", open.repeat(100_000), close.repeat(100_000));
        format!("{{\"call\": \"any\", \"args\": {{\"x\": {value}}}}}")
    };
    let too_deep = "type_mismatch: the arguments of \"any\" are nested deeper than 64 levels";
    for (reply, expected) in [
        (fill("{"), "no_action: "),
        (fill("{\""), "no_action: "),
        (fill("{'"), "no_action: "),
        (fill("{\"a\":"), "no_action: "),
        (fill("{\"call\":"), "no_action: "),
        (fill("{\"a\":1,"), "no_action: "),
        (fill("["), "no_action: "),
        (fill("{\"a\": [["), "no_action: "),
        (fill("{/*"), "no_action: "),
        (fill("{/* {'"), "no_action: "),
        (fill("\\\""), "no_action: "),
        (fill("}"), "no_action: "),
        (fill("<think>{"), "no_action: "),
        (fill("```{\"call\""), "no_action: "),
        (format!("{}{pick}", "{".repeat(12_000)), "give-up {}"),
        (
            format!("{}{pick}", "{\"a\": {\"b\": 1} x ".repeat(12_000)),
            "give-up {}",
        ),
        (
            format!("{pick}{}", fill(" ").split_off(pick.len())),
            "give-up {}",
        ),
        (deep("[", "]"), too_deep),
        (deep("{\"k\": ", "}").replace(": }", ": 0}"), too_deep),
        (
            format!("{}x", fill(" ")),
            "no_action: the reply has 1048577 bytes, more than the limit of 1048576",
        ),
    ] {
        let head: String = reply.chars().take(20).collect();
        let outcome = outcome(&reply, CheckMode::Strict);
        assert!(
            outcome.starts_with(expected),
            "{head}… of {} bytes: {outcome}",
            reply.len()
        );
    }
    let many = pick.repeat(CANDIDATES_MAX);
    let reply = format!("{{\"call\": \"any\", \"args\": {{\"x\": 1}}}}{many}");
    assert_eq!(
        outcome(&reply.replace("give-up", "nope"), CheckMode::Strict)
            .split(':')
            .next(),
        Some("unknown_call")
    );
}
