//! Options written as JSON, for the command line and for other languages.
//!
//! `{"form": "dict", "entries": [{"key", "handler"}]}` or `{"form": "list", "items": [handler]}`.
//! A handler has a `kind`: `fn` (a function of the catalog by `function`, or a simulated one as
//! `fn`), `value`, `schema`, and in lists `text` (the name is the value). Unknown keys are errors.

use std::sync::Arc;

use super::option::{MenuOption, OptionKind, OptionSpec, Payload};
use super::option_function::simulated_function;
use super::schema_form::{SchemaError, parse_schema_at, parse_text_at, parse_words_at};
use crate::function::FunctionRef;
use crate::schema::{kind_of, quoted, shown_name};
use crate::{Json, JsonObject};

/// How many options a file may have; the menu allows fewer.
const OPTIONS_MAX: usize = 10_000;

/// One option of a file.
#[derive(Clone, Debug, PartialEq)]
pub enum FileOption {
    /// An option as a guest would give it.
    Spec(OptionSpec),
    /// An option whose function exists in the file only. It can be picked and not run.
    Simulated {
        /// The name the model picks.
        name: String,
        /// When to pick it.
        description: Option<String>,
        /// The function, of no component.
        function: FunctionRef,
    },
}

impl FileOption {
    /// Looks up the function that the option names, if it names one of the catalog.
    ///
    /// # Errors
    /// What the look-up answers.
    pub fn resolve<E>(
        self,
        look_up: impl FnOnce(&str) -> Result<FunctionRef, E>,
    ) -> Result<MenuOption, E> {
        match self {
            Self::Spec(spec) => spec.resolve(look_up),
            Self::Simulated {
                name,
                description,
                function,
            } => Ok(MenuOption::new(
                name,
                description,
                Payload::Function(function),
            )),
        }
    }
}

/// Reads an option file.
///
/// # Errors
/// The first part that is not understood, with its path.
pub fn parse_option_file(json: &Json) -> Result<Vec<FileOption>, SchemaError> {
    let file = Part::new("options", json)?;
    match file.text("form")?.as_str() {
        "dict" => {
            file.only(&["form", "entries"])?;
            let entry = |(path, json): (String, &Json)| {
                let entry = Part::new(&path, json)?;
                entry.only(&["key", "handler"])?;
                let handler = entry.part("handler")?;
                dict_option(entry.text("key")?, &handler)
            };
            file.items("entries")?.into_iter().map(entry).collect()
        }
        "list" => {
            file.only(&["form", "items"])?;
            let item = |(path, json): (String, &Json)| list_option(&Part::new(&path, json)?);
            file.items("items")?.into_iter().map(item).collect()
        }
        other => {
            let message = format!("{} is no form; use \"dict\" or \"list\"", quoted(other));
            Err(SchemaError::new("options.form", message))
        }
    }
}

fn dict_option(name: String, handler: &Part<'_>) -> Result<FileOption, SchemaError> {
    match handler.text("kind")?.as_str() {
        "fn" => function_option(Some(name), handler),
        "value" => {
            handler.only(&["kind", "value", "desc"])?;
            let value = handler.required("value")?.clone();
            handler.spec(name, OptionKind::Value(value))
        }
        "schema" => {
            handler.only(&["kind", "schema", "desc"])?;
            let kind = OptionKind::Schema(handler.schema()?);
            handler.spec(name, kind)
        }
        other => Err(handler.unknown_kind(other, "`fn`, `value` and `schema`")),
    }
}

fn list_option(item: &Part<'_>) -> Result<FileOption, SchemaError> {
    match item.text("kind")?.as_str() {
        "fn" => function_option(None, item),
        "text" => {
            item.only(&["kind", "name", "desc", "schema"])?;
            let name = item.text("name")?;
            let kind = if item.object.contains_key("schema") {
                OptionKind::Schema(item.schema()?)
            } else {
                OptionKind::Value(name.as_str().into())
            };
            item.spec(name, kind)
        }
        // A name alone, as Python writes a tuple of one.
        "tuple1" => {
            item.only(&["kind", "name"])?;
            let name = item.text("name")?;
            let value = Json::from(name.as_str());
            item.spec(name, OptionKind::Value(value))
        }
        other => Err(item.unknown_kind(other, "`fn` and `text`")),
    }
}

fn function_option(name: Option<String>, handler: &Part<'_>) -> Result<FileOption, SchemaError> {
    if handler.object.contains_key("function") {
        handler.only(&["kind", "function", "desc"])?;
        let function = handler.text("function")?;
        let name = name.unwrap_or_else(|| {
            let short = function.rsplit(['.', '/', ':']).next();
            shown_name(short.unwrap_or(&function))
        });
        return handler.spec(name, OptionKind::Function(function));
    }
    handler.only(&["kind", "fn", "desc"])?;
    let function = simulated_function(&handler.part("fn")?)?;
    Ok(FileOption::Simulated {
        name: name.unwrap_or_else(|| function.name.function.clone()),
        description: handler.optional_words("desc")?,
        function: Arc::new(function),
    })
}

/// One object of the file and where it stands.
pub(super) struct Part<'a> {
    pub(super) path: String,
    pub(super) object: &'a JsonObject,
}

impl<'a> Part<'a> {
    pub(super) fn new(path: &str, json: &'a Json) -> Result<Self, SchemaError> {
        let object = json.as_object().ok_or_else(|| {
            let message = format!("expected an object, got {}", kind_of(json));
            SchemaError::new(path, message)
        })?;
        Ok(Self {
            path: path.to_owned(),
            object,
        })
    }

    pub(super) fn at(&self, key: &str) -> String {
        format!("{}.{key}", self.path)
    }

    /// Refuses every key but these.
    pub(super) fn only(&self, keys: &[&str]) -> Result<(), SchemaError> {
        let mut unknown = self
            .object
            .keys()
            .filter(|key| !keys.contains(&key.as_str()));
        match unknown.next() {
            None => Ok(()),
            Some(key) => {
                let known: Vec<_> = keys.iter().map(|key| format!("`{key}`")).collect();
                let message = format!("is not a known key; known are {}", known.join(", "));
                Err(SchemaError::new(&self.at(key), message))
            }
        }
    }

    pub(super) fn required(&self, key: &str) -> Result<&'a Json, SchemaError> {
        let value = self.object.get(key);
        value.ok_or_else(|| SchemaError::new(&self.at(key), "is missing"))
    }

    pub(super) fn part(&self, key: &str) -> Result<Part<'a>, SchemaError> {
        Part::new(&self.at(key), self.required(key)?)
    }

    pub(super) fn text(&self, key: &str) -> Result<String, SchemaError> {
        parse_text_at(&self.at(key), self.required(key)?)
    }

    pub(super) fn optional_text(&self, key: &str) -> Result<Option<String>, SchemaError> {
        let text = self.object.get(key);
        text.map(|json| parse_text_at(&self.at(key), json))
            .transpose()
    }

    /// Words that a model will read.
    pub(super) fn optional_words(&self, key: &str) -> Result<Option<String>, SchemaError> {
        let text = self.object.get(key);
        text.map(|json| parse_words_at(&self.at(key), json))
            .transpose()
    }

    /// The items of an array, each with its path.
    pub(super) fn items(&self, key: &str) -> Result<Vec<(String, &'a Json)>, SchemaError> {
        let path = self.at(key);
        let json = self.required(key)?;
        let items = json.as_array().ok_or_else(|| {
            let message = format!("expected an array, got {}", kind_of(json));
            SchemaError::new(&path, message)
        })?;
        if items.len() > OPTIONS_MAX {
            let message = format!("has {} items, at most {OPTIONS_MAX}", items.len());
            return Err(SchemaError::new(&path, message));
        }
        let items = items.iter().enumerate();
        Ok(items
            .map(|(index, json)| (format!("{path}[{index}]"), json))
            .collect())
    }

    fn schema(&self) -> Result<crate::schema::RecordType, SchemaError> {
        parse_schema_at(&self.at("schema"), self.required("schema")?)
    }

    fn spec(&self, name: String, kind: OptionKind) -> Result<FileOption, SchemaError> {
        Ok(FileOption::Spec(OptionSpec {
            name,
            description: self.optional_words("desc")?,
            kind,
        }))
    }

    fn unknown_kind(&self, kind: &str, known: &str) -> SchemaError {
        let message = format!("{} is no kind of option; known are {known}", quoted(kind));
        SchemaError::new(&self.at("kind"), message)
    }
}
