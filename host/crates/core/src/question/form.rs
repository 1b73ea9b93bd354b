//! The fields of a form, and how they are written as JSON.

use std::fmt;

use super::QuestionError;
use crate::decision::parse_schema;
use crate::schema::{Field, Type};
use crate::{Json, JsonObject};

/// What a field may say beyond its type, description and allowed values.
const OWN_KEYS: [&str; 5] = ["default", "required", "secret", "minimum", "maximum"];
/// What describes the value of a field, as in the schema of an option.
const TYPE_KEYS: [&str; 8] = [
    "type",
    "description",
    "options",
    "fields",
    "items",
    "$t",
    "of",
    "cases",
];

/// One field of a form.
#[derive(Clone, Debug, PartialEq)]
pub struct FormField {
    /// Name, type, description and allowed values.
    pub field: Field,
    /// Whether a value must be given.
    pub required: bool,
    /// The value when none is given.
    pub default: Option<Json>,
    /// How small and how large a number may be.
    pub range: NumberRange,
    /// Whether nobody may see the value: it is not echoed, and no record holds it.
    pub secret: bool,
}

impl FormField {
    /// A field that needs a value, of any size.
    #[must_use]
    pub fn new(field: Field) -> Self {
        Self {
            field,
            required: true,
            default: None,
            range: NumberRange::default(),
            secret: false,
        }
    }
}

/// How small and how large a number may be, both included.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NumberRange {
    /// The smallest; `None` for any.
    pub minimum: Option<f64>,
    /// The largest; `None` for any.
    pub maximum: Option<f64>,
}

impl NumberRange {
    /// Why a value is outside; nothing is said of what is no number.
    pub(super) fn problem(&self, value: &Json) -> Option<String> {
        let number = value.as_f64()?;
        let is_inside = self.minimum.is_none_or(|minimum| number >= minimum)
            && self.maximum.is_none_or(|maximum| number <= maximum);
        (!is_inside).then(|| format!("{value} is not {self}"))
    }

    /// Whether every number fits.
    #[must_use]
    pub fn is_open(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for NumberRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.minimum, self.maximum) {
            (Some(minimum), Some(maximum)) => write!(f, "from {minimum} to {maximum}"),
            (Some(minimum), None) => write!(f, "at least {minimum}"),
            (None, Some(maximum)) => write!(f, "at most {maximum}"),
            (None, None) => f.write_str("any number"),
        }
    }
}

/// Reads the fields of a form: an object from names to fields, each a text (a described string) or
/// an object that says its type as in the schema of an option, and beyond that `default`,
/// `required`, `secret`, `minimum` and `maximum`.
///
/// # Errors
/// The first part that is not understood. Nothing is guessed and no key is ignored.
pub fn parse_form(json: &Json) -> Result<Vec<FormField>, QuestionError> {
    let Json::Object(fields) = json else {
        let message = "`fields` must be a JSON object from names to fields";
        return Err(QuestionError::new("fields", message));
    };
    let mut types = JsonObject::new();
    for (name, field) in fields {
        types.insert(name.clone(), type_of(name, field)?);
    }
    let record = parse_schema(&Json::Object(types)).map_err(|error| {
        let path = error.path.replacen("schema", "fields", 1);
        QuestionError::new(path.clone(), format!("`{path}`: {}", error.message))
    })?;
    let read = record.fields.into_iter();
    read.map(|field| {
        let written = fields.get(&field.name).and_then(Json::as_object);
        match written {
            Some(written) => form_field(field, written),
            None => Ok(FormField::new(field)),
        }
    })
    .collect()
}

/// The part of a field that says what it holds.
fn type_of(name: &str, field: &Json) -> Result<Json, QuestionError> {
    let Json::Object(keys) = field else {
        return Ok(field.clone());
    };
    let is_known = |key: &&String| TYPE_KEYS.contains(&key.as_str());
    let is_own = |key: &String| OWN_KEYS.contains(&key.as_str());
    let unknown = keys.keys().find(|key| !is_known(key) && !is_own(key));
    if let Some(key) = unknown {
        let known = [&TYPE_KEYS[..5], &OWN_KEYS].concat().join("`, `");
        let message = format!("a field has no `{key}`; it has `{known}`");
        return Err(QuestionError::new(format!("fields.{name}"), message));
    }
    let of_type = keys.iter().filter(|(key, _)| is_known(key));
    let of_type: JsonObject = of_type
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    // An empty object would be a record without fields.
    if of_type.is_empty() {
        return Ok(Json::String(String::new()));
    }
    Ok(Json::Object(of_type))
}

fn form_field(field: Field, written: &JsonObject) -> Result<FormField, QuestionError> {
    let path = format!("fields.{}", field.name);
    let wrong = |key: &str, expected: &str| {
        let path = format!("{path}.{key}");
        let message = format!("`{path}` is {expected}");
        QuestionError::new(path, message)
    };
    let flag = |key: &str| match written.get(key) {
        None => Ok(None),
        Some(Json::Bool(value)) => Ok(Some(*value)),
        Some(_) => Err(wrong(key, "true or false")),
    };
    let bound = |key: &str| match written.get(key) {
        None => Ok(None),
        Some(value) => match value.as_f64().filter(|_| is_number(&field.ty)) {
            Some(bound) => Ok(Some(bound)),
            None => Err(wrong(key, "a number, and goes with a number")),
        },
    };
    let default = written.get("default").cloned();
    let is_option = matches!(field.ty, Type::Option(_));
    let required = flag("required")?.unwrap_or(!is_option);
    let secret = flag("secret")?.unwrap_or(false);
    let range = NumberRange {
        minimum: bound("minimum")?,
        maximum: bound("maximum")?,
    };
    let is_plain_text = field.ty == Type::String && field.options.is_empty();
    if secret && (!is_plain_text || default.is_some()) {
        let expected = "for a text without allowed values and without a default";
        return Err(wrong("secret", expected));
    }
    Ok(FormField {
        field,
        required,
        default,
        range,
        secret,
    })
}

fn is_number(ty: &Type) -> bool {
    match ty {
        Type::Integer(_) | Type::Float32 | Type::Float64 => true,
        Type::Option(inner) => is_number(inner),
        _ => false,
    }
}
