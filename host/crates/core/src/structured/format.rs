//! A response format as it is asked for: a bare JSON Schema, or an envelope around one.

use std::sync::Arc;

use super::check::Validator;
use super::compile::compile;
use super::error::{StructuredCode, StructuredError};
use super::limits::{SCHEMA_BYTES_MAX, SCHEMA_DEPTH_MAX};
use super::shape::{check_shape, is_deeper};
use crate::{Json, JsonObject};

/// The `type` of an envelope.
const ENVELOPE: &str = "json_schema";
/// The name of a format that has none.
const NAME: &str = "response";
/// The longest name that providers take.
const NAME_CHARS_MAX: usize = 64;
/// The longest description.
const DESCRIPTION_BYTES_MAX: usize = 16 * 1024;

/// What may be done where a provider does not hold its replies to a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fallback {
    /// The best way that is verified and loses nothing.
    Auto,
    /// Nothing.
    None,
    /// Asking for the shape in words, without any promise of the provider.
    Prompt,
}

/// What the last reply of a turn has to look like.
#[derive(Clone, Debug, PartialEq)]
pub struct ResponseFormat {
    /// What providers call it: a letter or `_`, then letters, digits, `_` and `-`.
    pub name: String,
    /// What it is for, in words for the model.
    pub description: Option<String>,
    /// The JSON Schema, an object, as it was given. A reply is checked against this one.
    pub schema: Arc<Json>,
    /// Whether the provider is held to the schema where it makes a difference.
    pub strict: bool,
    /// What may be done where it cannot be.
    pub fallback: Fallback,
    /// How often the model is asked again after a reply that does not fit: 0 or 1.
    pub max_validation_retries: u32,
}

impl ResponseFormat {
    /// Reads a format: an envelope when its `type` is `json_schema`, else a bare JSON Schema.
    ///
    /// # Errors
    /// `invalid_schema`.
    pub fn read(format: &Json) -> Result<Self, StructuredError> {
        let Json::Object(object) = format else {
            return Err(invalid("the response format is no JSON object"));
        };
        if object.get("type").and_then(Json::as_str) == Some(ENVELOPE) {
            return Self::read_envelope(object);
        }
        check_schema(format)?;
        Ok(Self::of_checked(format.clone()))
    }

    /// Reads a bare JSON Schema, for a format of this name.
    ///
    /// # Errors
    /// `invalid_schema`.
    pub fn of_schema(name: &str, schema: Json) -> Result<Self, StructuredError> {
        check_schema(&schema)?;
        Ok(Self {
            name: read_name(name)?,
            ..Self::of_checked(schema)
        })
    }

    fn of_checked(schema: Json) -> Self {
        Self {
            name: NAME.to_owned(),
            description: None,
            schema: Arc::new(schema),
            strict: true,
            fallback: Fallback::Auto,
            max_validation_retries: 1,
        }
    }

    fn read_envelope(envelope: &JsonObject) -> Result<Self, StructuredError> {
        let Some(schema) = envelope.get("schema") else {
            return Err(invalid("the response format has no `schema`"));
        };
        check_schema(schema)?;
        let mut format = Self::of_checked(schema.clone());
        for (key, value) in envelope {
            match (key.as_str(), value) {
                ("type" | "schema", _) | ("description", Json::Null) => {}
                ("name", Json::String(name)) => format.name = read_name(name)?,
                ("description", Json::String(text)) if text.len() <= DESCRIPTION_BYTES_MAX => {
                    format.description = Some(text.clone());
                }
                ("strict", Json::Bool(strict)) => format.strict = *strict,
                ("fallback", Json::String(word)) => format.fallback = read_fallback(word)?,
                ("max_validation_retries", Json::Number(count)) => {
                    format.max_validation_retries = match count.as_u64() {
                        Some(0) => 0,
                        Some(1) => 1,
                        _ => return Err(invalid("`max_validation_retries` is 0 or 1")),
                    };
                }
                ("name", _) => return Err(invalid("`name` is a text")),
                ("description", _) => {
                    let message =
                        format!("`description` is a text of at most {DESCRIPTION_BYTES_MAX} bytes");
                    return Err(invalid(&message));
                }
                ("strict", _) => return Err(invalid("`strict` is true or false")),
                ("fallback", _) => return Err(invalid(FALLBACKS)),
                ("max_validation_retries", _) => {
                    return Err(invalid("`max_validation_retries` is 0 or 1"));
                }
                _ => {
                    let key: String = key.chars().take(NAME_CHARS_MAX).collect();
                    let message = format!(
                        "the response format has an unknown field `{key}`; it takes `type`, \
                         `schema`, `name`, `description`, `strict`, `fallback` and \
                         `max_validation_retries`"
                    );
                    return Err(invalid(&message));
                }
            }
        }
        Ok(format)
    }

    /// What checks replies against the schema.
    ///
    /// # Errors
    /// `unsupported` when the schema asks for more than can be checked here, `invalid_schema` when a
    /// reference leads nowhere or to itself.
    pub fn validator(&self) -> Result<Validator, StructuredError> {
        compile(&self.schema)
    }
}

fn invalid(message: &str) -> StructuredError {
    StructuredError::new(StructuredCode::InvalidSchema, message)
}

/// The size first, so that nothing large or deep is walked.
fn check_schema(schema: &Json) -> Result<(), StructuredError> {
    if !schema.is_object() {
        return Err(invalid("the schema is no JSON object"));
    }
    if is_deeper(schema, SCHEMA_DEPTH_MAX) {
        let message = format!("the schema is deeper than {SCHEMA_DEPTH_MAX} levels");
        return Err(invalid(&message));
    }
    if schema.to_string().len() > SCHEMA_BYTES_MAX {
        let message = format!("the schema is longer than {SCHEMA_BYTES_MAX} bytes");
        return Err(invalid(&message));
    }
    check_shape(schema)
}

fn read_name(name: &str) -> Result<String, StructuredError> {
    let starts = |c: char| c.is_ascii_alphabetic() || c == '_';
    let goes_on = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let is_name = name.starts_with(starts) && name.chars().all(goes_on);
    if is_name && name.len() <= NAME_CHARS_MAX {
        return Ok(name.to_owned());
    }
    let message = format!(
        "`name` has at most {NAME_CHARS_MAX} letters, digits, `_` and `-`, and begins with a \
         letter or `_`"
    );
    Err(invalid(&message))
}

const FALLBACKS: &str = "`fallback` is `auto`, `none` or `prompt`";

fn read_fallback(word: &str) -> Result<Fallback, StructuredError> {
    match word {
        "auto" => Ok(Fallback::Auto),
        "none" => Ok(Fallback::None),
        "prompt" => Ok(Fallback::Prompt),
        _ => Err(invalid(FALLBACKS)),
    }
}
