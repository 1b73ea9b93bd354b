//! JSON values whose type is known only at run time.
//!
//! The text is kept as it came, so that numbers keep all their digits.

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Failure, Value};

/// One JSON value, kept as text.
///
/// In a signature it accepts and shows any JSON value. Two are equal when their texts are.
///
/// ```
/// use openprogram_guest::{Json, json};
///
/// let order = Json::from(json!({"order": "A-17", "amount": 12.5}));
/// #[derive(serde::Deserialize)]
/// struct Order {
///     order: String,
/// }
/// assert_eq!(order.parse::<Order>()?.order, "A-17");
/// # Ok::<(), openprogram_guest::Failure>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Json(String);

impl Json {
    /// Takes a JSON text.
    ///
    /// # Errors
    ///
    /// `invalid-argument` when the text is not exactly one JSON value.
    pub fn from_text(text: impl Into<String>) -> Result<Self, Failure> {
        let text = text.into();
        match serde_json::from_str::<serde::de::IgnoredAny>(&text) {
            Ok(_) => Ok(Json(text)),
            Err(error) => Err(Failure::invalid_argument(
                "$",
                format!("not a JSON text: {error}"),
            )),
        }
    }

    /// Writes any value as JSON.
    ///
    /// # Errors
    ///
    /// `invalid-argument` when JSON has no form for it, for example a map whose keys are no texts.
    pub fn from_value(value: &(impl Serialize + ?Sized)) -> Result<Self, Failure> {
        let text = serde_json::to_string(value);
        text.map(Json)
            .map_err(|error| Failure::invalid_argument("$", format!("no JSON: {error}")))
    }

    /// Reads the value as a type.
    ///
    /// Functions show the names of fields and cases in snake case, so an enum that is read from a
    /// function's result wants `#[serde(rename_all = "snake_case")]`.
    ///
    /// # Errors
    ///
    /// `invalid-argument` when the value does not fit the type.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        serde_json::from_str(&self.0).map_err(|error| {
            let name = std::any::type_name::<T>();
            Failure::invalid_argument("$", format!("the value does not fit `{name}`: {error}"))
        })
    }

    /// The JSON text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        Json(value.to_string())
    }
}

impl fmt::Display for Json {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value: Value = serde_json::from_str(&self.0).map_err(serde::ser::Error::custom)?;
        value.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Json::from)
    }
}

/// Takes a text of the host, which is JSON.
#[doc(hidden)]
pub fn from_host(text: String) -> Json {
    Json(text)
}

#[doc(hidden)]
pub fn to_host(json: Json) -> String {
    json.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn a_text_is_taken_when_it_is_one_json_value() {
        for (text, taken) in [
            ("null", true),
            (" [1, 2] ", true),
            ("", false),
            ("{", false),
            ("1 2", false),
        ] {
            assert_eq!(Json::from_text(text).is_ok(), taken, "{text:?}");
        }
    }

    #[test]
    fn numbers_keep_their_digits_and_objects_their_order() {
        let text = r#"{"z":18446744073709551615,"a":0.1}"#;
        let json = Json::from_text(text).unwrap();
        assert_eq!(json.to_string(), text);
        assert_eq!(Json::from(json.parse::<Value>().unwrap()), json);
        assert_eq!(Json::from_value(&json).unwrap(), json);
        assert_eq!(
            json.parse::<std::collections::BTreeMap<String, Json>>()
                .unwrap()
                .len(),
            2
        );
    }

    #[test]
    fn a_value_that_does_not_fit_names_the_type_and_the_reason() {
        let failure = Json::from(json!({"a": "x"}))
            .parse::<Vec<u8>>()
            .unwrap_err();
        assert_eq!(failure.code(), "invalid-argument");
        assert_eq!(
            failure.message(),
            "the value does not fit `alloc::vec::Vec<u8>`: invalid type: map, expected a sequence \
             at line 1 column 0"
        );
    }
}
