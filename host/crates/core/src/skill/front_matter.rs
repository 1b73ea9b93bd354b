//! The YAML above the text of a skill, as a JSON object.
//!
//! It is read event by event and nothing is expanded: names for values (anchors) and their uses are
//! refused, so no file grows beyond its own size. Numbers stay the texts that they are, so that a
//! version `1.10` is no number.

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError};

use super::FRONT_MATTER_BYTES_MAX;
use crate::text::one_line;
use crate::{Json, JsonObject};

/// How deep lists and maps may be nested; skills nest two levels.
const DEPTH_MAX: usize = 16;
/// Characters of an error of the parser, which may quote the file.
const PROBLEM_CHARS_MAX: usize = 160;

/// Why front matter cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrontMatterError {
    /// It is larger than anyone writes by hand.
    #[error("it is larger than {FRONT_MATTER_BYTES_MAX} bytes")]
    TooLarge,
    /// It is no YAML.
    #[error("line {line}: {problem}")]
    Yaml {
        /// The line, from 1, the first `---` not counted.
        line: usize,
        /// What the parser says.
        problem: String,
    },
    /// It says something that is not taken here.
    #[error("line {line}: {what}")]
    Refused {
        /// The line, from 1, the first `---` not counted.
        line: usize,
        /// What is refused.
        what: &'static str,
    },
}

/// A list or a map that is being read.
enum Open {
    List(Vec<Json>),
    Map(JsonObject, Option<String>),
}

/// Reads the lines between the rules.
pub(super) fn parse(text: &str) -> Result<JsonObject, FrontMatterError> {
    if text.len() > FRONT_MATTER_BYTES_MAX {
        return Err(FrontMatterError::TooLarge);
    }
    let mut open: Vec<Open> = Vec::new();
    let mut whole = None;
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| yaml_error(&error))?;
        let line = span.start.line();
        let refused = |what| Err(FrontMatterError::Refused { line, what });
        let value = match event {
            Event::Alias(_) => return refused("aliases (`*name`) are not taken; write it out"),
            Event::Scalar(_, _, anchor, _)
            | Event::SequenceStart(anchor, _)
            | Event::MappingStart(anchor, _)
                if anchor != 0 =>
            {
                return refused("anchors (`&name`) are not taken; write it out");
            }
            Event::SequenceStart(..) | Event::MappingStart(..) if open.len() == DEPTH_MAX => {
                return refused("it is nested too deep");
            }
            Event::SequenceStart(..) => {
                open.push(Open::List(Vec::new()));
                continue;
            }
            Event::MappingStart(..) => {
                open.push(Open::Map(JsonObject::new(), None));
                continue;
            }
            Event::Scalar(text, style, ..) => scalar(&text, style),
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(Open::List(items)) => Json::Array(items),
                Some(Open::Map(members, _)) => Json::Object(members),
                None => continue,
            },
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => continue,
        };
        match open.last_mut() {
            Some(Open::List(items)) => items.push(value),
            Some(Open::Map(members, key)) => match (key.take(), value) {
                (Some(key), value) => {
                    if members.insert(key, value).is_some() {
                        return refused("the same key stands here a second time");
                    }
                }
                (None, Json::String(text)) => *key = Some(text),
                (None, Json::Bool(is)) => *key = Some(is.to_string()),
                (None, _) => return refused("a key is a text"),
            },
            None if whole.is_some() => return refused("a second document begins here"),
            None => whole = Some(value),
        }
    }
    match whole {
        None | Some(Json::Null) => Ok(JsonObject::new()),
        Some(Json::Object(members)) => Ok(members),
        Some(_) => Err(FrontMatterError::Refused {
            line: 1,
            what: "it is no map; write lines of the form `key: value`",
        }),
    }
}

/// A value as the core schema of YAML has it, numbers excepted.
fn scalar(text: &str, style: ScalarStyle) -> Json {
    match text {
        _ if style != ScalarStyle::Plain => text.into(),
        "" | "~" | "null" | "Null" | "NULL" => Json::Null,
        "true" | "True" | "TRUE" => true.into(),
        "false" | "False" | "FALSE" => false.into(),
        text => text.into(),
    }
}

fn yaml_error(error: &ScanError) -> FrontMatterError {
    FrontMatterError::Yaml {
        line: error.marker().line(),
        problem: one_line(error.info(), PROBLEM_CHARS_MAX),
    }
}
