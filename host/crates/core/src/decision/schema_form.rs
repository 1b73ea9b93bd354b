//! Schemas as JSON: an object from field names to what the field holds.
//!
//! A field is `{"$t": TYPE}` or `{"type": TYPE}`, a text (a described string), a list of one item,
//! an object of further fields, or a meta-spec: an object whose keys are all among `type`,
//! `description`, `options`, `fields` and `items`. An empty object is a string. Every field is
//! required unless its type is an option. `{"$t": KIND, …}` builds what has no other form: an
//! option, a map, an enum or a variant (`schema_tagged`).

use std::sync::Arc;

use super::schema_tagged::is_tagged;
use super::type_name::parse_type;
use crate::schema::{Case, CasesType, Field, RecordType, Type, kind_of, names_equal, quoted};
use crate::text::{clean, is_clean, is_clean_line};
use crate::{Json, JsonObject};

/// How deep fields may stand in each other.
pub const SCHEMA_LEVELS_MAX: usize = 32;
/// How many fields one schema may have, nested ones included.
pub const SCHEMA_FIELDS_MAX: usize = 1_000;

const META_KEYS: [&str; 5] = ["type", "description", "options", "fields", "items"];

/// Why a schema cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{path}`: {message}")]
pub struct SchemaError {
    /// The path of the offending part, for example `steps[0].action`.
    pub path: String,
    /// What is wrong.
    pub message: String,
}

impl SchemaError {
    pub(super) fn new(path: &str, message: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            message: message.into(),
        }
    }
}

/// Reads the schema of an option.
///
/// # Errors
/// The first part that is not understood. Nothing is guessed and no key is ignored.
pub fn parse_schema(json: &Json) -> Result<RecordType, SchemaError> {
    parse_schema_at("schema", json)
}

/// [`parse_schema`] for a schema inside a larger document.
pub(super) fn parse_schema_at(path: &str, json: &Json) -> Result<RecordType, SchemaError> {
    let Json::Object(fields) = json else {
        let message = format!("expected an object of fields, got {}", kind_of(json));
        return Err(SchemaError::new(path, message));
    };
    let mut parser = Parser { fields: 0 };
    parser.record(path, fields, 0)
}

/// Reads a type: its name, or `{"$t": NAME}`.
pub(super) fn parse_type_at(path: &str, json: &Json) -> Result<Type, SchemaError> {
    let name = match json {
        Json::String(name) => name,
        Json::Object(mark) => match (mark.len(), mark.get("$t")) {
            (1, Some(Json::String(name))) => name,
            _ => {
                return Err(SchemaError::new(
                    path,
                    "expected a type name or {\"$t\": name}",
                ));
            }
        },
        _ => {
            let message = format!("expected a type name, got {}", kind_of(json));
            return Err(SchemaError::new(path, message));
        }
    };
    parse_type(name).map_err(|message| SchemaError::new(path, message))
}

/// Reads a text.
pub(super) fn parse_text_at(path: &str, json: &Json) -> Result<String, SchemaError> {
    json.as_str().map(str::to_owned).ok_or_else(|| {
        let message = format!("expected a string, got {}", kind_of(json));
        SchemaError::new(path, message)
    })
}

/// Reads words that a model will read, and cleans them.
pub(super) fn parse_words_at(path: &str, json: &Json) -> Result<String, SchemaError> {
    parse_text_at(path, json).map(|text| clean(&text).into_owned())
}

/// Reads a list of allowed values.
pub(super) fn parse_options_at(path: &str, json: &Json) -> Result<Vec<Json>, SchemaError> {
    let options = json.as_array().cloned().ok_or_else(|| {
        let message = format!("expected an array of allowed values, got {}", kind_of(json));
        SchemaError::new(path, message)
    })?;
    let hidden = options.iter().filter_map(Json::as_str);
    if let Some(hidden) = hidden.into_iter().find(|text| !is_clean(text)) {
        let message = format!(
            "the allowed value {} has control or invisible characters; leave them out",
            quoted(hidden)
        );
        return Err(SchemaError::new(path, message));
    }
    Ok(options)
}

/// What a field or an item holds.
pub(super) struct Spec {
    pub(super) ty: Type,
    pub(super) description: Option<String>,
    pub(super) options: Vec<Json>,
}

impl Spec {
    pub(super) fn of(ty: Type) -> Self {
        Self {
            ty,
            description: None,
            options: Vec::new(),
        }
    }
}

pub(super) struct Parser {
    fields: usize,
}

impl Parser {
    /// Counts a field or case and checks its name.
    pub(super) fn named(&mut self, path: &str, name: &str) -> Result<(), SchemaError> {
        self.fields += 1;
        if self.fields > SCHEMA_FIELDS_MAX {
            let message = format!("more than {SCHEMA_FIELDS_MAX} fields in one schema");
            return Err(SchemaError::new(path, message));
        }
        if !is_clean_line(name) {
            let message = format!(
                "the name {} has control or invisible characters; leave them out",
                quoted(name)
            );
            return Err(SchemaError::new(path, message));
        }
        Ok(())
    }

    fn record(
        &mut self,
        path: &str,
        fields: &JsonObject,
        level: usize,
    ) -> Result<RecordType, SchemaError> {
        let mut record = RecordType {
            name: None,
            description: None,
            fields: Vec::with_capacity(fields.len().min(SCHEMA_FIELDS_MAX)),
        };
        for (name, json) in fields {
            let path = format!("{path}.{name}");
            self.named(&path, name)?;
            if record
                .fields
                .iter()
                .any(|field| names_equal(&field.name, name))
            {
                let message = "a field of this name is there already, `-` and `_` being equal";
                return Err(SchemaError::new(&path, message));
            }
            let spec = self.spec(&path, json, level)?;
            record.fields.push(Field {
                name: name.clone(),
                ty: spec.ty,
                description: spec.description,
                options: spec.options,
            });
        }
        Ok(record)
    }

    pub(super) fn spec(
        &mut self,
        path: &str,
        json: &Json,
        level: usize,
    ) -> Result<Spec, SchemaError> {
        if level == SCHEMA_LEVELS_MAX {
            let message = format!("nested deeper than {SCHEMA_LEVELS_MAX} levels");
            return Err(SchemaError::new(path, message));
        }
        match json {
            Json::String(description) => Ok(Spec {
                description: Some(clean(description).into_owned()),
                ..Spec::of(Type::String)
            }),
            Json::Array(items) => match items.as_slice() {
                [item] => self.list(path, item, level),
                items => {
                    let count = items.len();
                    let message = format!("a list has exactly one item as template, not {count}");
                    Err(SchemaError::new(path, message))
                }
            },
            Json::Object(object) if is_tagged(object) => self.tagged(path, object, level),
            Json::Object(object) if object.contains_key("$t") => {
                Ok(Spec::of(parse_type_at(path, json)?))
            }
            Json::Object(object) if object.keys().all(|key| META_KEYS.contains(&key.as_str())) => {
                self.meta(path, object, level)
            }
            Json::Object(object) => {
                let record = self.record(path, object, level + 1)?;
                Ok(Spec::of(Type::Record(Arc::new(record))))
            }
            other => {
                let message = format!(
                    "expected a type, a description, a list of one item or an object, got {}",
                    kind_of(other)
                );
                Err(SchemaError::new(path, message))
            }
        }
    }

    fn meta(&mut self, path: &str, meta: &JsonObject, level: usize) -> Result<Spec, SchemaError> {
        let at = |key: &str| format!("{path}.{key}");
        let ty = meta.get("type");
        let ty = ty
            .map(|json| parse_type_at(&at("type"), json).map_err(|error| hinted(json, error)))
            .transpose()?;
        let mut spec = match (meta.get("items"), meta.get("fields")) {
            (Some(_), Some(_)) => {
                let message = "`items` and `fields` exclude each other; leave one out";
                return Err(SchemaError::new(path, message));
            }
            (Some(item), None) => {
                check_container(&at("type"), ty.as_ref(), &Type::AnyArray, "items")?;
                self.list(&at("items"), item, level)?
            }
            (None, Some(Json::Object(fields))) => {
                check_container(&at("type"), ty.as_ref(), &Type::AnyObject, "fields")?;
                let record = self.record(&at("fields"), fields, level + 1)?;
                Spec::of(Type::Record(Arc::new(record)))
            }
            (None, Some(other)) => {
                let message = format!("expected an object of fields, got {}", kind_of(other));
                return Err(hinted(other, SchemaError::new(&at("fields"), message)));
            }
            (None, None) => Spec::of(ty.unwrap_or(Type::String)),
        };
        if let Some(json) = meta.get("description") {
            let own =
                parse_words_at(&at("description"), json).map_err(|error| hinted(json, error))?;
            spec.description = Some(match spec.description {
                Some(of_items) if !own.is_empty() => format!("{own}; {of_items}"),
                Some(of_items) => of_items,
                None => own,
            });
        }
        if let Some(json) = meta.get("options") {
            spec.options =
                parse_options_at(&at("options"), json).map_err(|error| hinted(json, error))?;
        }
        Ok(spec)
    }

    fn list(&mut self, path: &str, item: &Json, level: usize) -> Result<Spec, SchemaError> {
        let path = format!("{path}[0]");
        let item = self.spec(&path, item, level + 1)?;
        let ty = if item.options.is_empty() {
            item.ty
        } else {
            item_of_options(&path, &item.ty, &item.options)?
        };
        let description = item.description.filter(|text| !text.is_empty());
        Ok(Spec {
            description: description.map(|text| format!("each item: {text}")),
            ..Spec::of(Type::List(Box::new(ty)))
        })
    }
}

/// Says how an object is read whose keys all mean something here, where what stands under one of
/// them looks like a field.
fn hinted(json: &Json, error: SchemaError) -> SchemaError {
    let looks_like_field = match json {
        Json::String(text) => text.contains(' '),
        other => other.is_object() || other.is_array(),
    };
    if !looks_like_field {
        return error;
    }
    let message = format!(
        "{}; an object whose keys are all among `{}` describes one field, so an object of fields \
         with these names is written {{\"fields\": {{…}}}}",
        error.message,
        META_KEYS.join("`, `")
    );
    SchemaError::new(&error.path, message)
}

/// A list item is a bare type, so its allowed values become the cases of an enum.
pub(super) fn item_of_options(
    path: &str,
    ty: &Type,
    options: &[Json],
) -> Result<Type, SchemaError> {
    let case = |option: &Json| {
        Some(Case {
            name: option.as_str()?.to_owned(),
            description: None,
            payload: None,
        })
    };
    let cases: Option<Vec<_>> = options.iter().map(case).collect();
    match cases.filter(|_| *ty == Type::String) {
        Some(cases) => Ok(Type::Enum(Arc::new(CasesType {
            name: None,
            description: None,
            cases,
        }))),
        None => {
            let message = "the allowed values of a list item must be strings; \
                           put the value into a field of an object";
            Err(SchemaError::new(path, message))
        }
    }
}

fn check_container(
    path: &str,
    ty: Option<&Type>,
    expected: &Type,
    key: &str,
) -> Result<(), SchemaError> {
    if ty.is_none_or(|ty| ty == expected) {
        return Ok(());
    }
    let message = format!("`{key}` does not go with this type; leave the type out");
    Err(SchemaError::new(path, message))
}
