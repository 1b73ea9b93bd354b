//! What numbers, booleans, texts and bytes accept.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};

use super::IntegerKind;
use super::check::{CheckError, Mismatch};
use super::checker::Checker;
use super::limits::{BYTES_MAX, NUMBER_DIGITS_MAX};
use super::number::{Whole, is_number, whole, within};
use super::words::{kind_of, quoted};
use crate::Json;

/// The floats that JSON numbers cannot hold, as results write them.
const NOT_FINITE: [&str; 3] = ["NaN", "Infinity", "-Infinity"];

impl Checker {
    pub(super) fn boolean(&mut self, value: &Json) -> Result<Json, CheckError> {
        match value {
            Json::Bool(_) => Ok(value.clone()),
            Json::String(text) if self.lenient() && text.eq_ignore_ascii_case("true") => {
                self.note(format!("{} read as true", quoted(text)));
                Ok(Json::Bool(true))
            }
            Json::String(text) if self.lenient() && text.eq_ignore_ascii_case("false") => {
                self.note(format!("{} read as false", quoted(text)));
                Ok(Json::Bool(false))
            }
            _ => Err(self.wrong_type("a boolean", value)),
        }
    }

    pub(super) fn integer(&mut self, value: &Json, kind: IntegerKind) -> Result<Json, CheckError> {
        let expected = expected_integer(kind);
        let text = match value {
            Json::Number(number) => number.as_str(),
            Json::String(text) if self.lenient() => text.as_str(),
            _ => return Err(self.wrong_type(&expected, value)),
        };
        let digits = match whole(text) {
            Whole::Plain(digits) => digits,
            Whole::Written(digits) if self.lenient() => digits,
            Whole::TooLong if value.is_number() || is_digits(text) => {
                return Err(self.out_of_range(format!(
                    "the number has more than {NUMBER_DIGITS_MAX} digits"
                )));
            }
            _ => return Err(self.wrong_type(&expected, value)),
        };
        if kind.bounds().is_some_and(|bounds| !within(&digits, bounds)) {
            return Err(self.out_of_range(format!("expected {expected}, got {}", head(&digits))));
        }
        if value.is_string() || digits != text && text != "-0" {
            self.note(format!(
                "{} read as {}",
                head(&value.to_string()),
                head(&digits)
            ));
        }
        self.number(&digits)
    }

    pub(super) fn float(&mut self, value: &Json, single: bool) -> Result<Json, CheckError> {
        let text = match value {
            Json::Number(number) => number.as_str(),
            Json::String(text) if self.lenient() && NOT_FINITE.contains(&text.as_str()) => {
                return Ok(value.clone());
            }
            Json::String(text) if self.lenient() && is_number(text) => {
                self.note(format!("{} read as {}", quoted(text), head(text)));
                text.as_str()
            }
            _ => return Err(self.wrong_type("a number", value)),
        };
        if text.len() > NUMBER_DIGITS_MAX {
            let message = format!("the number has more than {NUMBER_DIGITS_MAX} digits");
            return Err(self.out_of_range(message));
        }
        let finite = if single {
            text.parse::<f32>().is_ok_and(f32::is_finite)
        } else {
            text.parse::<f64>().is_ok_and(f64::is_finite)
        };
        if !finite {
            let bits = if single { 32 } else { 64 };
            let message = format!("{} is outside the range of a {bits}-bit float", head(text));
            return Err(self.out_of_range(message));
        }
        self.number(text)
    }

    fn number(&self, text: &str) -> Result<Json, CheckError> {
        let number = text.parse::<serde_json::Number>();
        number
            .map(Json::Number)
            .map_err(|_| self.error(Mismatch::WrongType, "expected a number"))
    }

    pub(super) fn character(&self, value: &Json) -> Result<Json, CheckError> {
        let Json::String(text) = value else {
            return Err(self.wrong_type("exactly one character", value));
        };
        let mut characters = text.chars();
        if characters.next().is_some() && characters.next().is_none() {
            Ok(value.clone())
        } else {
            let count = text.chars().take(1_000).count();
            let message = format!("expected exactly one character, got a text of {count}");
            Err(self.error(Mismatch::WrongType, message))
        }
    }

    pub(super) fn string(&self, value: &Json) -> Result<Json, CheckError> {
        match value {
            Json::String(text) => Ok(self.text(text)?.into()),
            _ => Err(self.wrong_type("a string", value)),
        }
    }

    pub(super) fn bytes(&mut self, value: &Json) -> Result<Json, CheckError> {
        let bytes = match value {
            Json::String(text) => self.base64(text)?,
            Json::Array(items) => self.byte_array(items)?,
            _ => return Err(self.wrong_type("base64 text or an array of bytes", value)),
        };
        if bytes.len() > BYTES_MAX {
            return Err(self.too_many_bytes(bytes.len()));
        }
        Ok(STANDARD.encode(bytes).into())
    }

    fn too_many_bytes(&self, count: usize) -> CheckError {
        self.out_of_range(format!(
            "has {count} bytes, more than the limit of {BYTES_MAX}"
        ))
    }

    fn base64(&mut self, text: &str) -> Result<Vec<u8>, CheckError> {
        // Four characters carry three bytes; longer text cannot fit and is not decoded.
        if text.len() > BYTES_MAX / 3 * 4 + 8 {
            return Err(self.too_many_bytes(text.len() / 4 * 3));
        }
        for engine in [&STANDARD, &STANDARD_NO_PAD] {
            if let Ok(bytes) = engine.decode(text) {
                return Ok(bytes);
            }
        }
        if self.lenient() {
            for engine in [&URL_SAFE, &URL_SAFE_NO_PAD] {
                if let Ok(bytes) = engine.decode(text) {
                    self.note("URL-safe base64 read as base64".to_owned());
                    return Ok(bytes);
                }
            }
        }
        let message = "expected base64 text or an array of bytes, got another text";
        Err(self.error(Mismatch::WrongType, message))
    }

    fn byte_array(&mut self, items: &[Json]) -> Result<Vec<u8>, CheckError> {
        if items.len() > BYTES_MAX {
            return Err(self.too_many_bytes(items.len()));
        }
        let byte = |(index, item): (usize, &Json)| {
            let value = item.as_u64().and_then(|value| u8::try_from(value).ok());
            value.ok_or_else(|| {
                self.at_index(index, |checker| match item {
                    Json::Number(number) if matches!(whole(number.as_str()), Whole::Plain(_)) => {
                        let text = head(number.as_str());
                        checker.out_of_range(format!("expected a byte from 0 to 255, got {text}"))
                    }
                    _ => checker.error(
                        Mismatch::WrongType,
                        format!("expected a byte from 0 to 255, got {}", kind_of(item)),
                    ),
                })
            })
        };
        items.iter().enumerate().map(byte).collect()
    }
}

fn is_digits(text: &str) -> bool {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    unsigned.bytes().all(|byte| byte.is_ascii_digit())
}

fn expected_integer(kind: IntegerKind) -> String {
    kind.bounds().map_or_else(
        || "an integer".to_owned(),
        |(low, high)| format!("an integer from {low} to {high}"),
    )
}

/// The beginning of a number text, short enough for a message.
fn head(text: &str) -> String {
    const SHOWN: usize = 60;
    if text.chars().count() <= SHOWN {
        return text.to_owned();
    }
    let head: String = text.chars().take(SHOWN).collect();
    format!("{head}…")
}
