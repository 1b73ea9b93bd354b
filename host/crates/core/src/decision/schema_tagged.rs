//! Types that other forms of a schema cannot express around nested fields.
//!
//! `{"$t": "option", "of": FIELD}` may be absent, `{"$t": "map", "of": FIELD}` holds values by name,
//! `{"$t": "enum", "cases": {NAME: DESCRIPTION}}` is one of several names, and
//! `{"$t": "variant", "cases": {NAME: {"description", "of": FIELD}}}` one of several names with a
//! value each. A case without anything to say is null; each may have a `description`.

use std::sync::Arc;

use super::schema_form::{
    Parser, SchemaError, Spec, item_of_options, parse_text_at, parse_words_at,
};
use crate::schema::{Case, CasesType, Type, kind_of, names_equal, quoted};
use crate::text::clean;
use crate::{Json, JsonObject};

/// The keys besides the kind itself.
const KEYS: [&str; 4] = ["$t", "of", "cases", "description"];

/// Whether an object of a schema is written in this form.
pub(super) fn is_tagged(object: &JsonObject) -> bool {
    object.contains_key("$t") && (object.contains_key("of") || object.contains_key("cases"))
}

impl Parser {
    /// Reads a type in this form.
    pub(super) fn tagged(
        &mut self,
        path: &str,
        object: &JsonObject,
        level: usize,
    ) -> Result<Spec, SchemaError> {
        only(path, object, &KEYS)?;
        let kind = parse_text_at(&format!("{path}.$t"), &object["$t"])?;
        let mut spec = match (kind.as_str(), object.get("of"), object.get("cases")) {
            ("option", Some(of), None) => {
                let of_path = format!("{path}.of");
                let mut of = self.spec(&of_path, of, level + 1)?;
                // Other allowed values are checked where the whole field is.
                if of.ty == Type::String {
                    of = without_options(&of_path, of)?;
                }
                Spec {
                    ty: Type::Option(Box::new(of.ty)),
                    ..of
                }
            }
            ("map", Some(of), None) => {
                let of = self.bare(&format!("{path}.of"), of, level)?;
                Spec {
                    ty: Type::Map(Box::new(Type::String), Box::new(of.ty)),
                    description: of.description.map(|text| format!("each value: {text}")),
                    ..of
                }
            }
            ("enum", None, Some(cases)) => {
                let cases = self.cases(&format!("{path}.cases"), cases, None)?;
                Spec::of(Type::Enum(Arc::new(cases)))
            }
            ("variant", None, Some(cases)) => {
                let cases = self.cases(&format!("{path}.cases"), cases, Some(level))?;
                Spec::of(Type::Variant(Arc::new(cases)))
            }
            _ => {
                let message = format!(
                    "{} does not go with these keys; use `option` or `map` with `of`, `enum` or \
                     `variant` with `cases`",
                    quoted(&kind)
                );
                return Err(SchemaError::new(path, message));
            }
        };
        if let Some(json) = object.get("description") {
            spec.description = Some(parse_words_at(&format!("{path}.description"), json)?);
        }
        Ok(spec)
    }

    /// A field whose allowed values, if it has some, are part of its type.
    fn bare(&mut self, path: &str, json: &Json, level: usize) -> Result<Spec, SchemaError> {
        let spec = self.spec(path, json, level + 1)?;
        without_options(path, spec)
    }

    /// Reads cases; those of a variant, which has a level, may hold a value.
    fn cases(
        &mut self,
        path: &str,
        json: &Json,
        level: Option<usize>,
    ) -> Result<CasesType, SchemaError> {
        let Json::Object(given) = json else {
            let message = format!("expected an object of cases, got {}", kind_of(json));
            return Err(SchemaError::new(path, message));
        };
        if given.is_empty() {
            return Err(SchemaError::new(path, "there is no case; add one"));
        }
        let mut cases: Vec<Case> = Vec::with_capacity(given.len().min(64));
        for (name, json) in given {
            let path = format!("{path}.{name}");
            self.named(&path, name)?;
            if cases.iter().any(|case| names_equal(&case.name, name)) {
                let message = "a case of this name is there already, `-` and `_` being equal";
                return Err(SchemaError::new(&path, message));
            }
            cases.push(self.case(&path, name, json, level)?);
        }
        Ok(CasesType {
            name: None,
            description: None,
            cases,
        })
    }

    fn case(
        &mut self,
        path: &str,
        name: &str,
        json: &Json,
        level: Option<usize>,
    ) -> Result<Case, SchemaError> {
        let mut case = Case {
            name: name.to_owned(),
            description: None,
            payload: None,
        };
        match (json, level) {
            (Json::Null, _) => {}
            (Json::String(description), _) => {
                case.description = Some(clean(description).into_owned());
            }
            (Json::Object(object), Some(level)) => {
                only(path, object, &["description", "of"])?;
                if let Some(text) = object.get("description") {
                    let text = parse_words_at(&format!("{path}.description"), text)?;
                    case.description = Some(text);
                }
                if let Some(of) = object.get("of") {
                    let payload = self.bare(&format!("{path}.of"), of, level)?;
                    case.payload = Some(payload.ty);
                    case.description = case.description.or(payload.description);
                }
            }
            (other, _) => {
                let message = format!("expected a description or null, got {}", kind_of(other));
                return Err(SchemaError::new(path, message));
            }
        }
        Ok(case)
    }
}

/// Makes the allowed values a part of the type.
fn without_options(path: &str, spec: Spec) -> Result<Spec, SchemaError> {
    if spec.options.is_empty() {
        return Ok(spec);
    }
    Ok(Spec {
        ty: item_of_options(path, &spec.ty, &spec.options)?,
        description: spec.description,
        options: Vec::new(),
    })
}

fn only(path: &str, object: &JsonObject, keys: &[&str]) -> Result<(), SchemaError> {
    match object.keys().find(|key| !keys.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => {
            let known: Vec<_> = keys.iter().map(|key| format!("`{key}`")).collect();
            let message = format!("is not a known key; known are {}", known.join(", "));
            Err(SchemaError::new(&format!("{path}.{key}"), message))
        }
    }
}
