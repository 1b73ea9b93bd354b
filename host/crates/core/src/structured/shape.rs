//! Whether a schema is one: every keyword holds what it has to hold, at every place.

use super::error::{StructuredCode, StructuredError};
use super::keyword::{Holds, TYPES, holds};
use super::limits::{PATH_BYTES_MAX, SCHEMA_NODES_MAX, SCHEMA_PATHS_BYTES_MAX};
use crate::Json;

/// Whether a value has more levels of arrays and objects below its root. Never goes deeper.
pub(super) fn is_deeper(value: &Json, levels: usize) -> bool {
    let is_deeper_still = |inner: &Json| match levels.checked_sub(1) {
        Some(levels) => is_deeper(inner, levels),
        None => inner.is_array() || inner.is_object(),
    };
    match value {
        Json::Array(items) => items.iter().any(is_deeper_still),
        Json::Object(members) => members.values().any(is_deeper_still),
        _ => false,
    }
}

/// Checks that a value is a schema. It is no deeper than a schema may be.
///
/// # Errors
/// `invalid_schema` at the first place that is wrong.
pub(super) fn check_shape(schema: &Json) -> Result<(), StructuredError> {
    check_node(schema, "", &mut Size::default())
}

/// What was met of a schema so far.
#[derive(Default)]
struct Size {
    n_nodes: usize,
    paths_bytes: usize,
}

impl Size {
    /// Counts so many paths of a length, before one of them is written.
    fn add_paths(&mut self, n: usize, len: usize) -> Result<(), StructuredError> {
        self.paths_bytes += n * len;
        if self.paths_bytes <= SCHEMA_PATHS_BYTES_MAX {
            return Ok(());
        }
        let message = "the names in the schema are too long for so many schemas below them; use \
                       shorter names";
        Err(StructuredError::new(StructuredCode::InvalidSchema, message))
    }
}

fn invalid(path: &str, what: &str) -> StructuredError {
    let path = cut(path);
    let message = format!("the schema is not valid at `{path}`: {what}");
    StructuredError::at(StructuredCode::InvalidSchema, path, message)
}

fn check_node(schema: &Json, path: &str, size: &mut Size) -> Result<(), StructuredError> {
    size.n_nodes += 1;
    if size.n_nodes > SCHEMA_NODES_MAX {
        let message = format!("the schema holds more than {SCHEMA_NODES_MAX} schemas");
        return Err(StructuredError::new(StructuredCode::InvalidSchema, message));
    }
    let object = match schema {
        Json::Bool(_) => return Ok(()),
        Json::Object(object) => object,
        _ => return Err(invalid(path, "a schema is an object, `true` or `false`")),
    };
    for (keyword, value) in object {
        size.add_paths(1, path.len() + keyword.len())?;
        let Some(holds) = holds(keyword) else {
            continue;
        };
        let path = joined(path, keyword);
        match (holds, value) {
            (Holds::Schema, _) => check_node(value, &path, size)?,
            (Holds::Schemas, Json::Array(schemas)) if !schemas.is_empty() => {
                size.add_paths(schemas.len(), path.len())?;
                for (index, schema) in schemas.iter().enumerate() {
                    check_node(schema, &joined(&path, &index.to_string()), size)?;
                }
            }
            (Holds::SchemasByName, Json::Object(schemas)) => {
                size.add_paths(schemas.len(), path.len())?;
                for (name, schema) in schemas {
                    check_node(schema, &joined(&path, name), size)?;
                }
            }
            _ => {
                if let Some(what) = what_is_wrong(holds, value) {
                    return Err(invalid(&path, what));
                }
            }
        }
    }
    Ok(())
}

/// What a keyword has to hold, when the value is something else.
fn what_is_wrong(holds: Holds, value: &Json) -> Option<&'static str> {
    let (fits, what) = match holds {
        Holds::Schema => (true, "a schema"),
        Holds::Schemas => (false, "it holds an array of schemas, at least one"),
        Holds::SchemasByName => (false, "it holds an object of schemas"),
        Holds::Types => (
            is_type(value)
                || value.as_array().is_some_and(|types| {
                    !types.is_empty() && types.iter().all(is_type) && are_unique(types)
                }),
            "it holds `null`, `boolean`, `integer`, `number`, `string`, `array` or `object`, or \
             an array of those",
        ),
        Holds::Values => (value.is_array(), "it holds an array"),
        Holds::Number => (value.is_number(), "it holds a number"),
        Holds::Positive => (
            value.is_number() && value.as_f64().is_some_and(|number| number > 0.0),
            "it holds a number above 0",
        ),
        Holds::Count => (is_count(value), "it holds a whole number from 0"),
        Holds::Bool => (value.is_boolean(), "it holds `true` or `false`"),
        Holds::Text => (value.is_string(), "it holds a text"),
        Holds::Names => (is_names(value), "it holds an array of texts, each once"),
        Holds::NamesByName => (
            value
                .as_object()
                .is_some_and(|names| names.values().all(is_names)),
            "it holds an object of arrays of texts",
        ),
        Holds::Anything => (true, ""),
    };
    (!fits).then_some(what)
}

fn is_type(value: &Json) -> bool {
    value.as_str().is_some_and(|word| TYPES.contains(&word))
}

fn is_count(value: &Json) -> bool {
    // Written `3.0`, it is a whole number too.
    let whole = |number: &f64| *number >= 0.0 && number.fract() == 0.0;
    value.as_u64().is_some() || value.is_number() && value.as_f64().is_some_and(|n| whole(&n))
}

fn is_names(value: &Json) -> bool {
    value
        .as_array()
        .is_some_and(|names| names.iter().all(Json::is_string) && are_unique(names))
}

fn are_unique(texts: &[Json]) -> bool {
    let texts: Vec<_> = texts.iter().filter_map(Json::as_str).collect();
    let unique: std::collections::BTreeSet<_> = texts.iter().collect();
    unique.len() == texts.len()
}

/// A JSON pointer with one more step.
pub(super) fn joined(path: &str, step: &str) -> String {
    format!("{path}/{}", step.replace('~', "~0").replace('/', "~1"))
}

/// Puts one more step at the end of a path, of a long name only what is told of a path.
pub(super) fn push_step(path: &mut String, step: &str) {
    path.push('/');
    for part in step.chars().take(PATH_BYTES_MAX + 1) {
        match part {
            '~' => path.push_str("~0"),
            '/' => path.push_str("~1"),
            other => path.push(other),
        }
    }
}

/// A path as it is told.
pub(super) fn cut(path: &str) -> String {
    if path.len() <= PATH_BYTES_MAX {
        return path.to_owned();
    }
    let mut end = PATH_BYTES_MAX;
    while !path.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &path[..end])
}
