//! The fields of a schema option, in the form that the contract describes at `add-schema`.

use std::sync::Arc;

use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::schema::{Field, IntegerKind, RecordType, Type};
use openprogram_core::{Json, JsonObject};

/// Reads an object from field names to types.
///
/// # Errors
/// `invalid-argument` with the path of the part that is no type.
pub(super) fn parse(schema: &Json, path: &str) -> Result<RecordType, Failure> {
    let object = schema.as_object();
    let object = object.ok_or_else(|| invalid(path, "must be an object of fields"))?;
    record(object, path)
}

fn invalid(path: &str, what: &str) -> Failure {
    Failure::new(FailureCode::InvalidArgument, format!("`{path}` {what}")).with("path", path)
}

fn record(object: &JsonObject, path: &str) -> Result<RecordType, Failure> {
    let fields = object
        .iter()
        .map(|(name, value)| field(name, value, &format!("{path}.{name}")));
    Ok(RecordType {
        name: None,
        description: None,
        fields: fields.collect::<Result<_, _>>()?,
    })
}

fn field(name: &str, value: &Json, path: &str) -> Result<Field, Failure> {
    let described = |text: &str| Field {
        description: Some(text.to_owned()),
        ..Field::new(name, Type::String)
    };
    match value {
        Json::String(text) => Ok(described(text)),
        Json::Array(_) => Ok(Field::new(name, list(value, path)?)),
        Json::Object(object) if is_annotated(object) => annotated(name, object, path),
        Json::Object(object) => {
            let ty = Type::Record(Arc::new(record(object, path)?));
            Ok(Field::new(name, ty))
        }
        _ => Err(invalid(path, "is no type")),
    }
}

/// Whether an object describes one field, rather than holding fields of its own.
fn is_annotated(object: &JsonObject) -> bool {
    const KEYS: [&str; 5] = ["type", "description", "options", "fields", "items"];
    let is_type_word = object.get("type").is_some_and(Json::is_string);
    is_type_word && object.keys().all(|key| KEYS.contains(&key.as_str()))
}

fn annotated(name: &str, object: &JsonObject, path: &str) -> Result<Field, Failure> {
    let word = object.get("type").and_then(Json::as_str).unwrap_or("");
    let ty = match word {
        "string" => Type::String,
        "integer" => Type::Integer(IntegerKind::Any),
        "number" => Type::Float64,
        "boolean" => Type::Bool,
        "array" => match object.get("items") {
            None => Type::AnyArray,
            Some(items) => item(items, &format!("{path}.items"))?,
        },
        "object" => match object.get("fields") {
            None => Type::AnyObject,
            Some(Json::Object(fields)) => {
                Type::Record(Arc::new(record(fields, &format!("{path}.fields"))?))
            }
            Some(_) => return Err(invalid(path, "has `fields` that are no object")),
        },
        _ => {
            let what = "has a `type` that is none of `string`, `integer`, `number`, `boolean`, \
                        `array`, `object`";
            return Err(invalid(path, what));
        }
    };
    let mut field = Field::new(name, ty);
    field.description = match object.get("description") {
        None => None,
        Some(Json::String(text)) => Some(text.clone()),
        Some(_) => return Err(invalid(path, "has a `description` that is no text")),
    };
    field.options = match object.get("options") {
        None => Vec::new(),
        Some(Json::Array(options)) => options.clone(),
        Some(_) => return Err(invalid(path, "has `options` that are no array")),
    };
    Ok(field)
}

/// A list of one type.
fn list(value: &Json, path: &str) -> Result<Type, Failure> {
    match value.as_array().map(Vec::as_slice) {
        Some([only]) => item(only, &format!("{path}[0]")),
        _ => Err(invalid(path, "must be a list of exactly one type")),
    }
}

fn item(value: &Json, path: &str) -> Result<Type, Failure> {
    let item = field("item", value, path)?;
    Ok(Type::List(Box::new(item.ty)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(schema: &str, expected: Result<Vec<(&str, Type)>, &str>) {
        let parsed = parse(&serde_json::from_str(schema).unwrap(), "schema");
        let fields = parsed.map(|record| {
            let fields = record.fields.into_iter();
            fields.map(|f| (f.name, f.ty)).collect::<Vec<_>>()
        });
        let expected = expected.map(|fields| {
            let fields = fields.into_iter();
            fields.map(|(name, ty)| (name.to_owned(), ty)).collect()
        });
        assert_eq!(
            fields.map_err(|f| f.message),
            expected.map_err(str::to_owned)
        );
    }

    #[test]
    fn fields_are_read_in_all_their_forms() {
        check(
            r#"{"a": "why", "n": {"type": "integer"}, "l": [{"type": "number"}],
                "m": {"type": "array", "items": {"type": "boolean"}}, "o": {"type": "object"}}"#,
            Ok(vec![
                ("a", Type::String),
                ("n", Type::Integer(IntegerKind::Any)),
                ("l", Type::List(Box::new(Type::Float64))),
                ("m", Type::List(Box::new(Type::Bool))),
                ("o", Type::AnyObject),
            ]),
        );
        let inner = Type::Record(Arc::new(RecordType {
            name: None,
            description: None,
            fields: vec![Field::new("type", Type::Bool)],
        }));
        check(
            r#"{"a": {"type": {"type": "boolean"}}}"#,
            Ok(vec![("a", inner)]),
        );
    }

    #[test]
    fn what_is_no_type_is_refused_by_its_path() {
        check("[]", Err("`schema` must be an object of fields"));
        check(r#"{"a": 1}"#, Err("`schema.a` is no type"));
        check(
            r#"{"a": {"b": []}}"#,
            Err("`schema.a.b` must be a list of exactly one type"),
        );
        check(
            r#"{"a": {"type": "int"}}"#,
            Err(
                "`schema.a` has a `type` that is none of `string`, `integer`, `number`, \
                 `boolean`, `array`, `object`",
            ),
        );
    }
}
