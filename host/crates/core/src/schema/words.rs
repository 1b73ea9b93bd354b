//! Paths, names and values as messages show them, and when two values are the same.

use super::number::{Whole, numbers_equal, whole};
use crate::Json;
use crate::text::escape_json;

/// One step of a path: `.name`, or `["any text"]` for keys that are not names.
pub(super) fn step(name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() || name.len() > PATH_STEP_MAX || !name.chars().all(plain) {
        format!("[{}]", quoted(name))
    } else {
        format!(".{name}")
    }
}

/// The longest name that a path shows in full, in bytes.
const PATH_STEP_MAX: usize = 64;
/// The longest text that a message quotes, in characters.
const QUOTED_MAX: usize = 60;
/// How many names or values a message lists.
const LISTED_MAX: usize = 20;

/// A text as messages quote it: JSON, cut visibly.
pub(crate) fn quoted(text: &str) -> String {
    let mut head: String = text.chars().take(QUOTED_MAX).collect();
    if head.len() < text.len() {
        head.push('…');
    }
    escape_json(&Json::String(head).to_string()).into_owned()
}

/// A value as messages show it.
pub(crate) fn shown(value: &Json) -> String {
    match value {
        Json::String(text) => quoted(text),
        Json::Array(_) | Json::Object(_) => {
            let text = value.to_string();
            let text = escape_json(&text);
            let mut head: String = text.chars().take(QUOTED_MAX).collect();
            if head.len() < text.len() {
                head.push('…');
            }
            head
        }
        Json::Number(number) => number.to_string().chars().take(QUOTED_MAX).collect(),
        Json::Null | Json::Bool(_) => value.to_string(),
    }
}

/// A list of names or values as messages show it.
pub(crate) fn listed(items: impl Iterator<Item = String>) -> String {
    let mut items: Vec<_> = items.take(LISTED_MAX + 1).collect();
    if items.len() > LISTED_MAX {
        items[LISTED_MAX] = "…".to_owned();
    }
    items.join(", ")
}

/// What a value is, in words, without its content.
pub(crate) fn kind_of(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "a boolean",
        Json::Number(number) if is_whole(number.as_str()) => "an integer",
        Json::Number(_) => "a number with a fraction or an exponent",
        Json::String(_) => "a string",
        Json::Array(_) => "an array",
        Json::Object(_) => "an object",
    }
}

fn is_whole(text: &str) -> bool {
    matches!(whole(text), Whole::Plain | Whole::NegativeZero)
}

/// The only one of the names that is equal when case and `-` against `_` do not count.
pub(super) fn unique_ignoring_case<'a>(
    names: impl Iterator<Item = &'a str>,
    text: &str,
) -> Option<&'a str> {
    let plain = |name: &str| name.to_lowercase().replace('-', "_");
    let wanted = plain(text);
    let mut same = names.filter(|name| plain(name) == wanted);
    same.next().filter(|_| same.next().is_none())
}

/// Whether two values are the same; numbers by value, objects in any order.
pub(crate) fn json_equal(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(a), Json::Number(b)) => numbers_equal(a.as_str(), b.as_str()),
        (Json::Array(a), Json::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| json_equal(a, b))
        }
        (Json::Object(a), Json::Object(b)) => {
            let same = |(key, value): (&String, &Json)| {
                b.get(key).is_some_and(|other| json_equal(value, other))
            };
            a.len() == b.len() && a.iter().all(same)
        }
        _ => a == b,
    }
}
