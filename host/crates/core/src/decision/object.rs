//! Arguments as a model writes them: one text that is one JSON object.
//!
//! The same slips are forgiven as in a reply with a pick, and truncated objects are never
//! completed: a call with guessed arguments is worse than none.

use super::node::{into_object, repeated, shown_key};
use super::read::{Broken, Ended, Read, Reader};
use super::repair::{Defect, Repair};
use crate::JsonObject;
use crate::schema::JSON_DEPTH_MAX;

/// How long the arguments of one call may be, in bytes.
pub const ARGUMENTS_TEXT_BYTES_MAX: usize = 1024 * 1024;

/// What is recorded of arguments that were written as a JSON text inside a JSON text.
const TWICE: &str = "read out of a JSON text";

/// The object that a text holds.
#[derive(Clone, Debug, PartialEq)]
pub struct ParsedObject {
    /// The object.
    pub members: JsonObject,
    /// What had to be forgiven to read it, in words.
    pub repairs: Vec<String>,
}

/// Why a text is not one JSON object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ObjectError {
    /// It ends too early.
    #[error("the text ends inside the JSON object")]
    CutOff,
    /// It is something else.
    #[error("the text is not one JSON object: byte {at} does not fit")]
    Syntax {
        /// The first byte that does not fit, from 0.
        at: usize,
    },
    /// It is longer than [`ARGUMENTS_TEXT_BYTES_MAX`].
    #[error("the text has {length} bytes; the most is {ARGUMENTS_TEXT_BYTES_MAX}")]
    TooLong {
        /// How many bytes it has.
        length: usize,
    },
    /// It is nested deeper than any argument may be.
    #[error("the object is nested deeper than {JSON_DEPTH_MAX} levels")]
    TooDeep,
    /// It holds a number that JSON does not have.
    #[error("JSON has no NaN and no Infinity; give a number")]
    NotFinite,
    /// Nobody knows which of two values is meant.
    #[error("the key `{key}` stands twice in one object; give it once")]
    Repeated {
        /// The key, cut.
        key: String,
    },
}

/// Reads the arguments of a call. Blank text and `null` are an empty object, which is what models
/// write for functions without parameters.
///
/// # Errors
/// When the text is not one object, also with everything forgiven that loses nothing.
pub fn parse_object(text: &str) -> Result<ParsedObject, ObjectError> {
    if text.len() > ARGUMENTS_TEXT_BYTES_MAX {
        let length = text.len();
        return Err(ObjectError::TooLong { length });
    }
    let trimmed = text.trim();
    if trimmed.starts_with('"')
        && let Ok(inner) = serde_json::from_str::<String>(trimmed)
    {
        let mut parsed = parse_plain(&inner)?;
        parsed.repairs.push(TWICE.to_owned());
        return Ok(parsed);
    }
    parse_plain(text)
}

fn parse_plain(text: &str) -> Result<ParsedObject, ObjectError> {
    let (inside, fenced) = out_of_fence(text.trim());
    if inside.is_empty() || inside == "null" {
        return Ok(ParsedObject {
            members: JsonObject::new(),
            repairs: Vec::new(),
        });
    }
    // Positions are told in the text as it was written.
    let offset = inside.as_ptr().addr() - text.as_ptr().addr();
    if !inside.starts_with('{') {
        return Err(ObjectError::Syntax { at: offset });
    }
    match Reader::new(inside).read_object(0) {
        Read::Object {
            members,
            end,
            mut repairs,
            defect,
        } => {
            let rest = inside[end..].trim_start();
            if !rest.is_empty() {
                let at = offset + inside.len() - rest.len();
                return Err(ObjectError::Syntax { at });
            }
            match defect {
                Some(Defect::TooDeep) => return Err(ObjectError::TooDeep),
                Some(Defect::NotFinite) => return Err(ObjectError::NotFinite),
                Some(Defect::Repeated(key)) => return Err(ObjectError::Repeated { key }),
                None => {}
            }
            if let Some(key) = repeated(&members, None) {
                let key = shown_key(key);
                return Err(ObjectError::Repeated { key });
            }
            if fenced {
                repairs.add(Repair::Fence);
            }
            Ok(ParsedObject {
                members: into_object(members),
                repairs: repairs.in_words(),
            })
        }
        Read::Broken(Broken {
            ended: Some(Ended::Between | Ended::Inside),
            ..
        }) => Err(ObjectError::CutOff),
        Read::Broken(Broken { at, .. }) => Err(ObjectError::Syntax { at: offset + at }),
    }
}

/// What stands between the marks of a code fence, when the text is one.
fn out_of_fence(text: &str) -> (&str, bool) {
    let inside = text
        .strip_prefix("```")
        .and_then(|rest| rest.strip_suffix("```"))
        .and_then(|rest| rest.split_once('\n'))
        .filter(|(language, _)| language.trim().bytes().all(|b| b.is_ascii_alphanumeric()));
    match inside {
        Some((_, inside)) => (inside.trim(), true),
        None => (text, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Json;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let got = match parse_object(text) {
            Ok(parsed) => {
                let mut shown = Json::Object(parsed.members).to_string();
                for repair in parsed.repairs {
                    shown.push_str(" | ");
                    shown.push_str(&repair);
                }
                shown
            }
            Err(error) => error.to_string(),
        };
        assert_eq!(got, expected, "{text}");
    }

    #[test]
    fn arguments_are_read_when_nothing_has_to_be_guessed() {
        check("", "{}");
        check(" \n\t", "{}");
        check("null", "{}");
        check("{}", "{}");
        check(
            r#" {"a": 12345678901234567890123, "b": [1.50]} "#,
            r#"{"a":12345678901234567890123,"b":[1.50]}"#,
        );
        check(
            "```json\n{\"a\": 1}\n```",
            "{\"a\":1} | read out of a code fence",
        );
        check("{\"a\": 1,}", "{\"a\":1} | trailing comma left out");
        check(
            "{'a': True}",
            "{\"a\":true} | single quotes read as double quotes | Python literals read as JSON",
        );
        check(
            "{\"a\": \"x\ny\"}",
            r#"{"a":"x\ny"} | raw line breaks in a text read as escaped"#,
        );
        check(r#""{\"a\": 1}""#, r#"{"a":1} | read out of a JSON text"#);
    }

    #[test]
    fn an_object_with_a_key_twice_is_refused_wherever_it_stands() {
        let twice = |key: &str| format!("the key `{key}` stands twice in one object; give it once");
        check(r#"{"a": 1, "a": 2}"#, &twice("a"));
        check(r#"{"a": 1, "b": [{"c": 1, "d": 2, "c": 1}]}"#, &twice("c"));
        check(r#"{"a": 1, "\u0061": 1}"#, &twice("a"));
        check(r#""{\"a\": 1, \"a\": 2}""#, &twice("a"));
        check(
            r#"{"a": {"b": 1}, "b": {"a": 1}}"#,
            r#"{"a":{"b":1},"b":{"a":1}}"#,
        );
        let long = "k".repeat(1_000);
        let error = parse_object(&format!("{{\"{long}\": 1, \"{long}\": 2}}")).unwrap_err();
        assert!(error.to_string().len() < 150, "{error}");
        // All of them are compared, and not each with each.
        let many: Vec<_> = (0..100_000).map(|n| format!("\"{n}\":0")).collect();
        let many = format!("{{{},\"7\":0}}", many.join(","));
        check(&many, &twice("7"));
    }

    #[test]
    fn everything_else_is_refused_with_the_place() {
        check("{\"a\": 1", "the text ends inside the JSON object");
        check("{\"a\": \"x", "the text ends inside the JSON object");
        let not_at = |at: usize| format!("the text is not one JSON object: byte {at} does not fit");
        check("[1]", &not_at(0));
        check("  7", &not_at(2));
        check(r#""text""#, &not_at(0));
        check("{\"a\": 1} {\"b\": 2}", &not_at(9));
        check("{\"a\" 1}", &not_at(5));
        check("{\"a\": \"say \"hi\"\"}", &not_at(12));
        check(
            "{\"a\": NaN}",
            "JSON has no NaN and no Infinity; give a number",
        );
        let deep = format!("{{\"a\": {}{}}}", "[".repeat(500), "]".repeat(500));
        let levels = format!("the object is nested deeper than {JSON_DEPTH_MAX} levels");
        check(&deep, &levels);
        let flood = "{".repeat(100_000);
        check(&flood, &not_at(1));
        let long = " ".repeat(ARGUMENTS_TEXT_BYTES_MAX + 1);
        let too_long = "the text has 1048577 bytes; the most is 1048576";
        check(&long, too_long);
    }
}
