//! What a model wrote, in a form that can be sent back.
//!
//! A model may write names and arguments that no provider takes as history. They are changed the
//! same way every time, so that a call and its result still belong together.

use openprogram_core::{Json, JsonObject};

/// The longest name of a tool that every provider takes.
const NAME_CHARS_MAX: usize = 64;
/// The key under which arguments that are no JSON object are sent back.
const NOT_JSON: &str = "not_a_json_object";

/// The arguments of a past call as an object.
pub(crate) fn arguments(text: &str) -> JsonObject {
    if text.trim().is_empty() {
        return JsonObject::new();
    }
    serde_json::from_str(text).unwrap_or_else(|_| {
        let text = Json::String(text.to_owned());
        JsonObject::from_iter([(NOT_JSON.to_owned(), text)])
    })
}

/// The name of a past call.
pub(crate) fn name(name: &str) -> String {
    match plain(name, NAME_CHARS_MAX) {
        plain if plain.is_empty() => "unknown".to_owned(),
        plain => plain,
    }
}

/// The id of a past call.
pub(crate) fn id(id: &str) -> String {
    plain(id, usize::MAX)
}

fn plain(text: &str, chars_max: usize) -> String {
    let plain = |c: char| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => c,
        _ => '_',
    };
    text.chars().take(chars_max).map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_provider_takes_is_changed_the_same_way_every_time() {
        for (text, expected) in [
            ("", "{}"),
            (" \n", "{}"),
            (
                r#"{ "b": 1.50, "a": 12345678901234567890123 }"#,
                r#"{"b":1.50,"a":12345678901234567890123}"#,
            ),
            ("[1]", r#"{"not_a_json_object":"[1]"}"#),
            (r#"{"cut"#, r#"{"not_a_json_object":"{\"cut"}"#),
        ] {
            assert_eq!(Json::Object(arguments(text)).to_string(), expected);
        }
        for (text, expected) in [
            ("look_up", "look_up"),
            ("shop.look up", "shop_look_up"),
            ("", "unknown"),
        ] {
            assert_eq!(name(text), expected);
        }
        assert_eq!(name(&"ü".repeat(99)), "_".repeat(64));
        assert_eq!(id("functions.get:0"), "functions_get_0");
    }
}
