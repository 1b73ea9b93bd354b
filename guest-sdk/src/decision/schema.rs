//! Types of the author as schemas of options, and picks read back as these types.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::Menu;
use crate::{Failure, Json};

/// A type that a model can fill in.
///
/// `#[derive(decision::Schema)]` writes it for a struct with named fields and for an enum. Doc
/// comments become descriptions; at a field, `#[schema(options = […])]` lists the allowed values.
///
/// ```
/// use openprogram_guest::decision::{Fields as _, Schema};
/// use openprogram_guest::json;
///
/// /// Produce a plan.
/// #[derive(Debug, PartialEq, Schema)]
/// struct Plan {
///     steps: Vec<Step>,
///     /// Why this way.
///     rationale: Option<String>,
/// }
///
/// #[derive(Debug, PartialEq, Schema)]
/// struct Step {
///     action: Action,
///     #[schema(options = [1, 2, 3])]
///     effort: u8,
/// }
///
/// #[derive(Debug, PartialEq, Schema)]
/// enum Action {
///     /// Find something out.
///     LookUp,
///     Ask { whom: String },
/// }
///
/// let picked = json!({"steps": [
///     {"action": "look_up", "effort": 1},
///     {"action": {"ask": {"whom": "Ada"}}, "effort": 2},
/// ]});
/// let look_up = Step { action: Action::LookUp, effort: 1 };
/// let ask = Step { action: Action::Ask { whom: "Ada".into() }, effort: 2 };
/// let plan = Plan { steps: vec![look_up, ask], rationale: None };
/// assert_eq!(Plan::read(picked, "plan")?, plan);
/// assert_eq!(Plan::DESCRIPTION, "Produce a plan.");
/// # Ok::<(), openprogram_guest::Failure>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "a model cannot fill in a `{Self}`",
    label = "no `decision::Schema`",
    note = "structs and enums get it by `#[derive(openprogram_guest::decision::Schema)]`"
)]
pub trait Schema: Sized {
    /// The type as a field of a schema.
    fn schema() -> Value;

    /// Reads a value that fits the schema; `path` is for the failure.
    ///
    /// # Errors
    ///
    /// `invalid-argument` when the value does not fit.
    fn read(value: Value, path: &str) -> Result<Self, Failure>;

    /// What an absent field is, if it may be absent.
    #[doc(hidden)]
    fn absent() -> Option<Self> {
        None
    }
}

/// A type with named fields, which can be the fields of an option. Derived with [`Schema`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no named fields that a model could fill in",
    label = "no `decision::Fields`",
    note = "structs get it by `#[derive(openprogram_guest::decision::Schema)]`; `()` has no fields"
)]
pub trait Fields: Sized {
    /// What the menu says about the option when its author says nothing; may be empty.
    const DESCRIPTION: &'static str;

    /// The fields by name, as [`Menu::schema`] takes them.
    fn fields() -> Value;

    /// Reads fields that fit; `path` is for the failure.
    ///
    /// # Errors
    ///
    /// `invalid-argument` when they do not fit.
    fn read_fields(fields: Map<String, Value>, path: &str) -> Result<Self, Failure>;
}

/// A type whose cases are the options of a menu.
///
/// `#[derive(decision::Choice)]` writes it for an enum: a case without fields, with named fields, or
/// with one value of a type that has [`Fields`]. Names are shown in snake case, and doc comments
/// become descriptions.
#[diagnostic::on_unimplemented(
    message = "the cases of `{Self}` are no options",
    label = "no `decision::Choice`",
    note = "enums get it by `#[derive(openprogram_guest::decision::Choice)]`"
)]
pub trait Choice: Sized {
    /// Adds an option for each case.
    fn add_to(menu: Menu<'_>) -> Menu<'_>;

    /// The case of a name, with its fields.
    ///
    /// # Errors
    ///
    /// `invalid-argument` when there is no such case, or the fields do not fit.
    fn read(name: &str, arguments: Value) -> Result<Self, Failure>;
}

/// The fields of an object that is being read.
#[doc(hidden)]
#[derive(Debug)]
pub struct Members<'a> {
    members: Map<String, Value>,
    path: &'a str,
}

impl<'a> Members<'a> {
    pub fn new(members: Map<String, Value>, path: &'a str) -> Self {
        Members { members, path }
    }

    pub fn of(value: Value, path: &'a str) -> Result<Self, Failure> {
        members_of(value, path).map(|members| Members { members, path })
    }

    /// Takes out and reads one field.
    pub fn take<T: Schema>(&mut self, name: &str) -> Result<T, Failure> {
        let path = format!("{}.{name}", self.path);
        match self.members.remove(name) {
            Some(value) => T::read(value, &path),
            None => T::absent()
                .ok_or_else(|| Failure::invalid_argument(&path, format!("`{path}` is missing"))),
        }
    }
}

/// A field of a schema with what its declaration adds: a description and allowed values.
#[doc(hidden)]
pub fn field(schema: Value, description: &str, options: Option<Value>) -> Value {
    let mut schema = schema;
    if let Some(options) = options {
        allow_only(&mut schema, options);
    }
    if !description.is_empty() {
        schema["description"] = description.into();
    }
    schema
}

/// Allowed values of a list or of a value that may be absent are those of what it holds.
fn allow_only(schema: &mut Value, options: Value) {
    for inside in ["items", "of"] {
        if let Some(inside) = schema.get_mut(inside) {
            return allow_only(inside, options);
        }
    }
    schema["options"] = options;
}

/// Allowed values that were written in Rust tokens and are JSON.
#[doc(hidden)]
pub fn parse(json: &str) -> Option<Value> {
    serde_json::from_str(json).ok()
}

/// A field that is an object of further fields, whatever they are called.
#[doc(hidden)]
pub fn object(fields: Value, description: &str) -> Value {
    field(json!({ "fields": fields }), description, None)
}

/// A field that is one of several cases, each with its name, its description and what it holds.
#[doc(hidden)]
pub fn cases(kind: &str, description: &str, cases: Vec<(&str, &str, Option<Value>)>) -> Value {
    let case = |(name, description, of): (&str, &str, Option<Value>)| {
        let case = match (of, description) {
            (None, "") => Value::Null,
            (None, description) => description.into(),
            (Some(of), "") => json!({ "of": of }),
            (Some(of), description) => json!({"description": description, "of": of}),
        };
        (name.to_owned(), case)
    };
    let cases: Map<String, Value> = cases.into_iter().map(case).collect();
    field(json!({"$t": kind, "cases": cases}), description, None)
}

/// The fields of a value that is an object.
#[doc(hidden)]
pub fn members_of(value: Value, path: &str) -> Result<Map<String, Value>, Failure> {
    match value {
        Value::Object(members) => Ok(members),
        other => Err(misfit(path, "an object", &other)),
    }
}

/// The name of a case and the value that it holds.
#[doc(hidden)]
pub fn case_of(value: Value, path: &str) -> Result<(String, Value), Failure> {
    match value {
        Value::String(name) => Ok((name, Value::Null)),
        Value::Object(members) if members.len() == 1 => {
            let mut members = members.into_iter();
            members
                .next()
                .ok_or_else(|| misfit(path, "a case", &Value::Null))
        }
        other => Err(misfit(path, "a case", &other)),
    }
}

#[doc(hidden)]
pub fn not_a_case(name: &str, path: &str) -> Failure {
    Failure::invalid_argument(path, format!("`{path}` has no case `{name}`"))
}

fn misfit(path: &str, expected: &str, got: &Value) -> Failure {
    let got = match got {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    Failure::invalid_argument(path, format!("`{path}`: expected {expected}, got {got}"))
}

impl Fields for () {
    const DESCRIPTION: &'static str = "";

    fn fields() -> Value {
        json!({})
    }

    fn read_fields(_: Map<String, Value>, _: &str) -> Result<Self, Failure> {
        Ok(())
    }
}

macro_rules! scalars {
    ($($type:ty, $name:literal, $expected:literal, $read:expr;)*) => {$(
        impl Schema for $type {
            fn schema() -> Value {
                json!({"type": $name})
            }

            fn read(value: Value, path: &str) -> Result<Self, Failure> {
                let read: fn(&Value) -> Option<$type> = $read;
                read(&value).ok_or_else(|| misfit(path, $expected, &value))
            }
        }
    )*};
}
scalars! {
    bool, "bool", "a boolean", Value::as_bool;
    u8, "u8", "an integer", |value| value.as_u64()?.try_into().ok();
    u16, "u16", "an integer", |value| value.as_u64()?.try_into().ok();
    u32, "u32", "an integer", |value| value.as_u64()?.try_into().ok();
    u64, "u64", "an integer", Value::as_u64;
    i8, "s8", "an integer", |value| value.as_i64()?.try_into().ok();
    i16, "s16", "an integer", |value| value.as_i64()?.try_into().ok();
    i32, "s32", "an integer", |value| value.as_i64()?.try_into().ok();
    i64, "s64", "an integer", Value::as_i64;
    f32, "f32", "a number", |value| Some(value.as_f64()? as f32);
    f64, "f64", "a number", Value::as_f64;
    String, "str", "a string", |value| Some(value.as_str()?.to_owned());
    char, "char", "one character", |value| {
        let mut characters = value.as_str()?.chars();
        characters.next().filter(|_| characters.next().is_none())
    };
    Value, "json", "any value", |value| Some(value.clone());
    Json, "json", "any value", |value| Some(value.clone().into());
}

impl<T: Schema> Schema for Option<T> {
    fn schema() -> Value {
        json!({"$t": "option", "of": T::schema()})
    }

    fn read(value: Value, path: &str) -> Result<Self, Failure> {
        if value.is_null() {
            return Ok(None);
        }
        T::read(value, path).map(Some)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

impl<T: Schema> Schema for Vec<T> {
    fn schema() -> Value {
        json!({"items": T::schema()})
    }

    fn read(value: Value, path: &str) -> Result<Self, Failure> {
        let Value::Array(items) = value else {
            return Err(misfit(path, "an array", &value));
        };
        let items = items.into_iter().enumerate();
        let read = |(index, item)| T::read(item, &format!("{path}[{index}]"));
        items.map(read).collect()
    }
}

impl<T: Schema> Schema for BTreeMap<String, T> {
    fn schema() -> Value {
        json!({"$t": "map", "of": T::schema()})
    }

    fn read(value: Value, path: &str) -> Result<Self, Failure> {
        let Value::Object(members) = value else {
            return Err(misfit(path, "an object", &value));
        };
        let read = |(name, value)| {
            let path = format!("{path}.{name}");
            Ok((name, T::read(value, &path)?))
        };
        members.into_iter().map(read).collect()
    }
}
