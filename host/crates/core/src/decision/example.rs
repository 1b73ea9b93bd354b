//! The example call of an option: every value a JSON literal that shows its type.

use crate::schema::{Case, Field, Type};
use crate::{Json, JsonObject};

/// How many values one example may have; beyond it, containers are shown empty.
const VALUES_MAX: usize = 200;
/// How many items of a fixed-length list are shown.
const ITEMS_SHOWN_MAX: u32 = 4;
/// How deep an example is; beyond it, values are null.
const LEVELS_MAX: usize = 16;

/// The placeholders that no caller means.
const PLACEHOLDERS: [&str; 3] = [STRING, CHAR, BYTES];
const STRING: &str = "<str>";
const CHAR: &str = "<char>";
const BYTES: &str = "<base64>";

/// An object with an example value for each field.
pub(super) fn example<'a>(fields: impl Iterator<Item = &'a Field>) -> Json {
    let mut left = VALUES_MAX;
    object(fields, 0, &mut left)
}

/// Whether arguments are the example itself: a model that quotes the menu picks nothing.
///
/// Only examples with a text placeholder count; `0` or `false` alone may well be meant.
pub(super) fn is_example<'a>(
    arguments: &JsonObject,
    fields: impl Iterator<Item = &'a Field>,
) -> bool {
    arguments.values().any(has_placeholder)
        && example(fields)
            .as_object()
            .is_some_and(|example| example == arguments)
}

fn has_placeholder(value: &Json) -> bool {
    match value {
        Json::String(text) => PLACEHOLDERS.contains(&text.as_str()),
        Json::Array(items) => items.iter().any(has_placeholder),
        Json::Object(members) => members.values().any(has_placeholder),
        _ => false,
    }
}

fn object<'a>(fields: impl Iterator<Item = &'a Field>, level: usize, left: &mut usize) -> Json {
    let mut object = JsonObject::new();
    for field in fields {
        if *left == 0 {
            break;
        }
        object.insert(field.name.clone(), value(&field.ty, level + 1, left));
    }
    Json::Object(object)
}

fn value(ty: &Type, level: usize, left: &mut usize) -> Json {
    if *left == 0 || level > LEVELS_MAX {
        return Json::Null;
    }
    *left -= 1;
    match ty {
        Type::Bool => Json::Bool(false),
        Type::Integer(_) => Json::from(0),
        Type::Float32 | Type::Float64 => Json::from(0.0),
        Type::Char => CHAR.into(),
        Type::String | Type::Enum(_) | Type::Handle(_) => STRING.into(),
        Type::Bytes => BYTES.into(),
        Type::Json => Json::Null,
        Type::AnyArray | Type::Flags(_) => Json::Array(Vec::new()),
        Type::AnyObject | Type::Map(..) => Json::Object(JsonObject::new()),
        Type::List(item) => Json::Array(vec![value(item, level + 1, left)]),
        Type::FixedList(item, length) => {
            let shown = (*length).min(ITEMS_SHOWN_MAX);
            (0..shown).map(|_| value(item, level + 1, left)).collect()
        }
        Type::Tuple(types) => types.iter().map(|ty| value(ty, level + 1, left)).collect(),
        Type::Option(inner) if matches!(**inner, Type::Option(_)) => {
            member("some", value(inner, level + 1, left))
        }
        Type::Option(inner) => value(inner, level, left),
        Type::Result(ok, _) => {
            let payload = ok.as_deref().map(|ty| value(ty, level + 1, left));
            member("ok", payload.unwrap_or(Json::Null))
        }
        Type::Record(record) => object(record.fields.iter(), level, left),
        Type::Variant(cases) => {
            let with_payload = |case: &Case| {
                let payload = case.payload.as_ref()?;
                Some((case.name.clone(), payload.clone()))
            };
            match cases.cases.iter().find_map(with_payload) {
                None => STRING.into(),
                Some((name, payload)) => member(&name, value(&payload, level + 1, left)),
            }
        }
    }
}

fn member(key: &str, value: Json) -> Json {
    let mut object = JsonObject::new();
    object.insert(key.to_owned(), value);
    Json::Object(object)
}

/// JSON on one line, with a space after each comma and colon.
pub(super) fn one_line(value: &Json) -> String {
    let mut text = String::new();
    write_one_line(value, &mut text);
    text
}

fn write_one_line(value: &Json, text: &mut String) {
    match value {
        Json::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push_str(", ");
                }
                write_one_line(item, text);
            }
            text.push(']');
        }
        Json::Object(entries) => {
            text.push('{');
            for (index, (key, item)) in entries.iter().enumerate() {
                if index > 0 {
                    text.push_str(", ");
                }
                text.push_str(&Json::from(key.as_str()).to_string());
                text.push_str(": ");
                write_one_line(item, text);
            }
            text.push('}');
        }
        scalar => text.push_str(&scalar.to_string()),
    }
}
