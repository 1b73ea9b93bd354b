//! What numbers, booleans, texts and bytes accept.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};

use super::IntegerKind;
use super::check::{CheckError, Mismatch};
use super::checker::{Checker, error, out_of_range, text_size, wrong_type};
use super::limits::{BYTES_MAX, NUMBER_DIGITS_MAX};
use super::number::{Whole, is_number, whole, within};
use super::words::{kind_of, quoted};
use crate::Json;

/// The floats that JSON numbers cannot hold, as results write them.
pub(super) const NOT_FINITE: [&str; 3] = ["NaN", "Infinity", "-Infinity"];

impl Checker {
    pub(super) fn boolean(&mut self, value: &mut Json) -> Result<(), CheckError> {
        let read = match value {
            Json::Bool(_) => return Ok(()),
            Json::String(text) if self.lenient() && text.eq_ignore_ascii_case("true") => true,
            Json::String(text) if self.lenient() && text.eq_ignore_ascii_case("false") => false,
            _ => return Err(wrong_type("a boolean", value)),
        };
        self.note(format!("{value} read as {read}"));
        *value = Json::Bool(read);
        Ok(())
    }

    pub(super) fn integer(
        &mut self,
        value: &mut Json,
        kind: IntegerKind,
    ) -> Result<(), CheckError> {
        let text = match &*value {
            Json::Number(number) => number.as_str(),
            Json::String(text) if self.lenient() => text.as_str(),
            _ => return Err(wrong_type(&expected_integer(kind), value)),
        };
        let outside = |digits: &str| {
            let outside = kind.bounds().is_some_and(|bounds| !within(digits, bounds));
            outside.then(|| {
                let expected = expected_integer(kind);
                out_of_range(format!("expected {expected}, got {}", head(digits)))
            })
        };
        let digits = match whole(text) {
            Whole::Plain if value.is_number() => return outside(text).map_or(Ok(()), Err),
            Whole::Plain => text.to_owned(),
            Whole::NegativeZero => "0".to_owned(),
            Whole::Written(digits) if self.lenient() => digits,
            Whole::TooLong if value.is_number() || is_digits(text) => {
                return Err(out_of_range(format!(
                    "the number has more than {NUMBER_DIGITS_MAX} digits"
                )));
            }
            _ => return Err(wrong_type(&expected_integer(kind), value)),
        };
        if let Some(error) = outside(&digits) {
            return Err(error);
        }
        if text != "-0" || value.is_string() {
            let given = head(&value.to_string());
            self.note(format!("{given} read as {}", head(&digits)));
        }
        *value = number(&digits)?;
        Ok(())
    }

    pub(super) fn float(&mut self, value: &mut Json, single: bool) -> Result<(), CheckError> {
        let text = match &*value {
            Json::Number(number) => number.as_str(),
            Json::String(text) if self.lenient() && NOT_FINITE.contains(&text.as_str()) => {
                return Ok(());
            }
            Json::String(text) if self.lenient() && is_number(text) => text,
            _ => return Err(wrong_type("a number", value)),
        };
        if text.len() > NUMBER_DIGITS_MAX {
            let message = format!("the number has more than {NUMBER_DIGITS_MAX} digits");
            return Err(out_of_range(message));
        }
        let finite = if single {
            text.parse::<f32>().is_ok_and(f32::is_finite)
        } else {
            text.parse::<f64>().is_ok_and(f64::is_finite)
        };
        if !finite {
            let bits = if single { 32 } else { 64 };
            let message = format!("{} is outside the range of a {bits}-bit float", head(text));
            return Err(out_of_range(message));
        }
        if value.is_string() {
            self.note(format!("{} read as {}", quoted(text), head(text)));
            *value = number(text)?;
        }
        Ok(())
    }

    pub(super) fn bytes(&mut self, value: &mut Json) -> Result<(), CheckError> {
        let bytes = match &*value {
            Json::String(text) => self.base64(text)?,
            Json::Array(items) => self.byte_array(items)?,
            _ => return Err(wrong_type("base64 text or an array of bytes", value)),
        };
        if bytes.len() > BYTES_MAX {
            return Err(too_many_bytes(bytes.len()));
        }
        *value = STANDARD.encode(bytes).into();
        Ok(())
    }

    fn base64(&mut self, text: &str) -> Result<Vec<u8>, CheckError> {
        // Four characters carry three bytes; longer text cannot fit and is not decoded.
        if text.len() > BYTES_MAX / 3 * 4 + 8 {
            return Err(too_many_bytes(text.len() / 4 * 3));
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
        Err(error(Mismatch::WrongType, message))
    }

    fn byte_array(&mut self, items: &[Json]) -> Result<Vec<u8>, CheckError> {
        if items.len() > BYTES_MAX {
            return Err(too_many_bytes(items.len()));
        }
        let items = items.iter().enumerate();
        let byte = |(index, item)| self.at_index(index, |_| byte(item));
        items.map(byte).collect()
    }
}

fn byte(item: &Json) -> Result<u8, CheckError> {
    let value = item.as_u64().and_then(|value| u8::try_from(value).ok());
    value.ok_or_else(|| match item {
        Json::Number(number) if kind_of(item) == "an integer" => {
            let text = head(number.as_str());
            out_of_range(format!("expected a byte from 0 to 255, got {text}"))
        }
        _ => wrong_type("a byte from 0 to 255", item),
    })
}

fn number(text: &str) -> Result<Json, CheckError> {
    let number = text.parse::<serde_json::Number>();
    number
        .map(Json::Number)
        .map_err(|_| error(Mismatch::WrongType, "expected a number"))
}

pub(super) fn character(value: &Json) -> Result<(), CheckError> {
    let Json::String(text) = value else {
        return Err(wrong_type("exactly one character", value));
    };
    let mut characters = text.chars();
    if characters.next().is_some() && characters.next().is_none() {
        return Ok(());
    }
    let message = format!(
        "expected exactly one character, got a text of {}",
        text.chars().count()
    );
    Err(error(Mismatch::WrongType, message))
}

pub(super) fn string(value: &Json) -> Result<(), CheckError> {
    match value {
        Json::String(text) => text_size(text),
        _ => Err(wrong_type("a string", value)),
    }
}

fn too_many_bytes(count: usize) -> CheckError {
    out_of_range(format!(
        "has {count} bytes, more than the limit of {BYTES_MAX}"
    ))
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
