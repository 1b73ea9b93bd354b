//! Forms: fields with types, which the host checks before it gives their values.

use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::millis;
use crate::host::ask as raw;
use crate::{Failure, Json, Value, failure, json, value};

/// One field of a form.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    name: String,
    settings: serde_json::Map<String, Value>,
    /// The first value that JSON cannot express.
    failure: Option<Failure>,
}

impl Field {
    /// A field of a text.
    pub fn text(name: &str) -> Self {
        Self::of(name, json!({"type": "string"}))
    }

    /// A field of a whole number.
    pub fn integer(name: &str) -> Self {
        Self::of(name, json!({"type": "integer"}))
    }

    /// A field of a number.
    pub fn number(name: &str) -> Self {
        Self::of(name, json!({"type": "number"}))
    }

    /// A field of a yes or a no.
    pub fn yes_no(name: &str) -> Self {
        Self::of(name, json!({"type": "boolean"}))
    }

    /// A field of one of some texts.
    pub fn choice<T: Into<String>>(name: &str, options: impl IntoIterator<Item = T>) -> Self {
        let options: Vec<String> = options.into_iter().map(Into::into).collect();
        Self::of(name, json!({"type": "string", "options": options}))
    }

    /// A field of a text that is not echoed while it is typed, and that stands in no record.
    pub fn secret(name: &str) -> Self {
        Self::of(name, json!({"type": "string", "secret": true}))
    }

    /// A field of any type, written as a schema of a [menu](crate::decision::Menu::schema): for
    /// example `json!(["string"])` for a list of texts.
    pub fn of_schema(name: &str, schema: Value) -> Self {
        match schema {
            Value::Object(settings) => Self::of(name, Value::Object(settings)),
            items @ Value::Array(_) => {
                let mut items = items;
                Self::of(name, json!({"items": items[0].take()}))
            }
            other => Self::of(name, json!({"description": other})),
        }
    }

    fn of(name: &str, settings: Value) -> Self {
        let settings = match settings {
            Value::Object(settings) => settings,
            _ => serde_json::Map::new(),
        };
        Self {
            name: name.to_owned(),
            settings,
            failure: None,
        }
    }

    /// Says what the field is for.
    #[must_use]
    pub fn description(self, text: &str) -> Self {
        self.with("description", text)
    }

    /// Sets the value when none is given.
    #[must_use]
    pub fn default(self, value: impl Serialize) -> Self {
        self.with("default", value)
    }

    /// Lets the field stay empty; it is left out of the values then.
    #[must_use]
    pub fn optional(self) -> Self {
        self.with("required", false)
    }

    /// Sets the smallest and the largest number, both included.
    #[must_use]
    pub fn range(self, minimum: f64, maximum: f64) -> Self {
        self.with("minimum", minimum).with("maximum", maximum)
    }

    fn with(mut self, key: &str, value: impl Serialize) -> Self {
        match serde_json::to_value(value) {
            Ok(value) => {
                self.settings.insert(key.to_owned(), value);
            }
            Err(error) => {
                let message = format!("`{key}` of `{}` cannot be written: {error}", self.name);
                let failure = Failure::invalid_argument(&format!("fields.{}", self.name), message);
                self.failure.get_or_insert(failure);
            }
        }
        self
    }
}

/// Fields that a person fills in together.
#[derive(Clone, Debug, PartialEq)]
pub struct Form {
    prompt: String,
    fields: Vec<Field>,
    timeout: Option<Duration>,
}

impl Form {
    /// A form without fields; `prompt` says what it is for.
    pub fn new(prompt: impl Into<String>) -> Self {
        Self {
            prompt: prompt.into(),
            fields: Vec::new(),
            timeout: None,
        }
    }

    /// Adds a field.
    #[must_use]
    pub fn field(mut self, field: Field) -> Self {
        self.fields.push(field);
        self
    }

    /// Sets how long to wait. The host may wait for less.
    #[must_use]
    pub fn timeout(mut self, time: Duration) -> Self {
        self.timeout = Some(time);
        self
    }

    /// Has the form filled in and gives an object of its values. Types, ranges, allowed values and
    /// what is required have been checked.
    ///
    /// # Errors
    ///
    /// As for [`ask`](super::ask), and `invalid-argument` for fields that are none.
    pub fn fill(&self) -> Result<Json, Failure> {
        let fields = self.fields_json()?;
        let time = self.timeout.map(millis);
        raw::form(&self.prompt, &fields.to_string(), time)
            .map(value::from_host)
            .map_err(failure::from_host)
    }

    /// The same, read as a type that derives `serde::Deserialize`.
    ///
    /// # Errors
    ///
    /// As for [`Form::fill`], and `invalid-argument` when the values do not fit the type.
    pub fn fill_as<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        self.fill()?.parse()
    }

    fn fields_json(&self) -> Result<Value, Failure> {
        let mut fields = serde_json::Map::new();
        for field in &self.fields {
            if let Some(failure) = &field.failure {
                return Err(failure.clone());
            }
            let settings = Value::Object(field.settings.clone());
            if fields.insert(field.name.clone(), settings).is_some() {
                let message = format!("the form has two fields `{}`", field.name);
                return Err(Failure::invalid_argument("fields", message));
            }
        }
        Ok(Value::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_written_field_by_field() {
        let form = Form::new("An order")
            .field(Field::text("name").description("Who?"))
            .field(Field::integer("n").range(1.0, 9.0).default(1))
            .field(Field::choice("size", ["s", "m"]).optional())
            .field(Field::secret("key"))
            .field(Field::of_schema("tags", json!([{"type": "string"}])));
        assert_eq!(
            form.fields_json().unwrap().to_string(),
            r#"{"name":{"type":"string","description":"Who?"},"n":{"type":"integer","minimum":1.0,"maximum":9.0,"default":1},"size":{"type":"string","options":["s","m"],"required":false},"key":{"type":"string","secret":true},"tags":{"items":{"type":"string"}}}"#
        );
    }

    #[test]
    fn a_field_that_is_there_twice_is_refused() {
        let form = Form::new("F")
            .field(Field::text("a"))
            .field(Field::integer("a"));
        let failure = form.fields_json().unwrap_err();
        assert_eq!(failure.message(), "the form has two fields `a`");
    }
}
