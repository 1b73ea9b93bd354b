//! What of JSON Schema a provider holds its replies to, and a schema in these terms.
//!
//! A schema is sent whole or not at all: what a dialect cannot say is named, and nothing is made
//! weaker or narrower. Only annotations that rule nothing out are left away.

mod words;

use std::collections::{BTreeMap, BTreeSet};

use openprogram_core::structured::{Issue, IssueCode, StructuredCode, StructuredError};
use openprogram_core::{Json, JsonObject};

use words::{DEMANDS, FORMATS, LEFT_AWAY, READ};

/// What one provider takes.
#[derive(Debug)]
pub(crate) struct Dialect {
    /// Keywords that are held to, beside the ones that hold schemas.
    keywords: &'static [&'static str],
    /// Whether every property has to be required.
    all_required: bool,
    /// Whether a schema may refer to itself.
    recursion: bool,
    /// The largest `minItems`.
    min_items_max: u64,
    limits: Counts,
}

/// Structured outputs of OpenAI with `strict`.
pub(crate) const OPENAI_STRICT: Dialect = Dialect {
    keywords: &[
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minItems",
        "maxItems",
        "pattern",
    ],
    all_required: true,
    recursion: true,
    min_items_max: u64::MAX,
    limits: Counts {
        depth: 10,
        properties: 5000,
        optional: usize::MAX,
        unions: usize::MAX,
        enum_values: 1000,
        text_bytes: 120_000,
    },
};

/// `output_config.format` of Anthropic.
pub(crate) const ANTHROPIC: Dialect = Dialect {
    keywords: &["minItems"],
    all_required: false,
    recursion: false,
    min_items_max: 1,
    limits: Counts {
        depth: usize::MAX,
        properties: usize::MAX,
        optional: 24,
        unions: 16,
        enum_values: usize::MAX,
        text_bytes: usize::MAX,
    },
};

/// From so many values on, the texts of one `enum` are counted too.
const LONG_ENUM_VALUES: usize = 250;
const LONG_ENUM_BYTES_MAX: usize = 15_000;
/// What a provider counts over a whole schema.
#[derive(Clone, Copy, Debug)]
struct Counts {
    /// Objects and arrays inside each other.
    depth: usize,
    properties: usize,
    optional: usize,
    /// `anyOf`, and `type` with several types.
    unions: usize,
    enum_values: usize,
    /// Names of properties and definitions, and texts among allowed values.
    text_bytes: usize,
}

const NOTHING: Counts = Counts {
    depth: 0,
    properties: 0,
    optional: 0,
    unions: 0,
    enum_values: 0,
    text_bytes: 0,
};

impl Counts {
    /// What there is more of than a provider takes.
    fn excess(&self, most: &Self) -> Option<String> {
        let counts = [
            ("levels of objects and arrays", self.depth, most.depth),
            ("properties", self.properties, most.properties),
            (
                "properties that are not required",
                self.optional,
                most.optional,
            ),
            ("unions", self.unions, most.unions),
            ("allowed values", self.enum_values, most.enum_values),
            (
                "bytes of names and values",
                self.text_bytes,
                most.text_bytes,
            ),
        ];
        let (what, count, most) = counts.into_iter().find(|(_, count, most)| count > most)?;
        Some(format!(
            "the schema has {count} {what} and the provider takes {most}; use a simpler one"
        ))
    }
}

impl Dialect {
    /// The schema as it is sent. It was checked to be one.
    ///
    /// # Errors
    /// `unsupported`, with the places that the provider is not known to hold its replies to.
    pub(crate) fn project(&self, schema: &Json) -> Result<Json, StructuredError> {
        let mut projecting = Projecting {
            dialect: self,
            counts: NOTHING,
            issues: Vec::new(),
            uses: BTreeMap::new(),
            definition: None,
        };
        if schema.get("type").and_then(Json::as_str) != Some("object") {
            projecting.refuse("/type");
        }
        let projected = projecting.schema(schema, "", 0);
        if let Some(message) = projecting.counts.excess(&self.limits) {
            return Err(StructuredError::new(StructuredCode::Unsupported, message));
        }
        if !self.recursion {
            projecting.refuse_recursion();
        }
        let issues = projecting.issues;
        let Some(first) = issues.iter().min() else {
            return Ok(projected);
        };
        let message = format!(
            "the provider is not known to hold its replies to the schema at `{}`; write it with an \
             object at the root, with `additionalProperties: false`{} and without further \
             constraints there",
            first.schema_path,
            match self.all_required {
                true => " and every property required",
                false => "",
            }
        );
        let error = StructuredError::new(StructuredCode::Unsupported, message);
        Err(error.with_issues(issues))
    }
}

/// A schema on its way.
struct Projecting<'a> {
    dialect: &'a Dialect,
    counts: Counts,
    issues: Vec<Issue>,
    /// The definitions that each definition refers to; the root is `None`.
    uses: BTreeMap<Option<String>, BTreeSet<Option<String>>>,
    /// The definition that is looked at.
    definition: Option<String>,
}

impl Projecting<'_> {
    fn refuse(&mut self, path: &str) {
        let code = IssueCode::UnsupportedSchemaConstraint;
        self.issues.push(Issue::of_schema(code, path.to_owned()));
    }

    fn schema(&mut self, schema: &Json, path: &str, depth: usize) -> Json {
        let Json::Object(schema) = schema else {
            self.refuse(path);
            return schema.clone();
        };
        let types = types(schema);
        let is_object = types.contains(&"object") || schema.contains_key("properties");
        let depth = depth + usize::from(is_object || types.contains(&"array"));
        self.counts.depth = self.counts.depth.max(depth);
        self.counts.unions += usize::from(types.len() > 1);
        let says_type =
            !types.is_empty() || schema.contains_key("$ref") || schema.contains_key("anyOf");
        let has_items = schema.contains_key("items");
        if !says_type || types.contains(&"array") && !has_items {
            self.refuse(path);
        }
        if is_object {
            self.object(schema, path);
        }
        let mut projected = JsonObject::new();
        for (keyword, value) in schema {
            let path = joined(path, keyword);
            if let Some(value) = self.keyword(schema, keyword, value, &path, depth) {
                projected.insert(keyword.clone(), value);
            }
        }
        Json::Object(projected)
    }

    /// An object says all its properties.
    fn object(&mut self, schema: &JsonObject, path: &str) {
        if schema.get("additionalProperties") != Some(&Json::Bool(false)) {
            self.refuse(&joined(path, "additionalProperties"));
        }
        let required = schema.get("required").and_then(Json::as_array);
        let required: BTreeSet<_> = required
            .into_iter()
            .flatten()
            .filter_map(Json::as_str)
            .collect();
        let properties = schema.get("properties").and_then(Json::as_object);
        let names: BTreeSet<_> = properties
            .into_iter()
            .flatten()
            .map(|(name, _)| name.as_str())
            .collect();
        let n_optional = names.difference(&required).count();
        self.counts.properties += names.len();
        self.counts.optional += n_optional;
        self.counts.text_bytes += names.iter().map(|name| name.len()).sum::<usize>();
        let is_open = self.dialect.all_required && n_optional > 0;
        if is_open || !required.is_subset(&names) {
            self.refuse(&joined(path, "required"));
        }
    }

    /// One keyword as it is sent; `None` to leave it away.
    fn keyword(
        &mut self,
        schema: &JsonObject,
        keyword: &str,
        value: &Json,
        path: &str,
        depth: usize,
    ) -> Option<Json> {
        match keyword {
            "type" | "required" => {}
            "additionalProperties" => return Some(Json::Bool(false)),
            "items" => return Some(self.schema(value, path, depth)),
            "anyOf" => {
                self.counts.unions += 1;
                let schemas = value.as_array().into_iter().flatten().enumerate();
                let schemas = schemas
                    .map(|(index, schema)| self.schema(schema, &format!("{path}/{index}"), depth));
                return Some(schemas.collect());
            }
            "properties" => return Some(self.by_name(value, path, depth, false)),
            "$defs" | "definitions" => return Some(self.by_name(value, path, 0, true)),
            "enum" | "const" => self.values(keyword, value, path),
            "$ref" => self.reference(schema, value, path),
            "format" if value.as_str().is_some_and(|word| FORMATS.contains(&word)) => {}
            "minItems"
                if value
                    .as_u64()
                    .is_none_or(|n| n > self.dialect.min_items_max) =>
            {
                self.refuse(path);
            }
            _ if READ.contains(&keyword) || self.dialect.keywords.contains(&keyword) => {}
            _ if LEFT_AWAY.contains(&keyword) || !DEMANDS.contains(&keyword) => return None,
            _ => self.refuse(path),
        }
        Some(value.clone())
    }

    fn by_name(&mut self, schemas: &Json, path: &str, depth: usize, are_definitions: bool) -> Json {
        let mut projected = JsonObject::new();
        for (name, schema) in schemas.as_object().into_iter().flatten() {
            let path = joined(path, name);
            let outer = self.definition.clone();
            if are_definitions {
                self.counts.text_bytes += name.len();
                self.definition = Some(path.clone());
            }
            projected.insert(name.clone(), self.schema(schema, &path, depth));
            self.definition = outer;
        }
        Json::Object(projected)
    }

    fn values(&mut self, keyword: &str, value: &Json, path: &str) {
        let values = match (keyword, value) {
            ("enum", Json::Array(values)) => values.as_slice(),
            _ => std::slice::from_ref(value),
        };
        let text_bytes: usize = values.iter().filter_map(Json::as_str).map(str::len).sum();
        self.counts.text_bytes += text_bytes;
        self.counts.enum_values += values.len();
        let is_counted = self.dialect.limits.enum_values != usize::MAX;
        let is_long = values.len() > LONG_ENUM_VALUES && text_bytes > LONG_ENUM_BYTES_MAX;
        let has_parts = values
            .iter()
            .any(|value| value.is_array() || value.is_object());
        if has_parts || is_counted && is_long {
            self.refuse(path);
        }
    }

    /// A reference stands alone and leads to a definition, or to the root.
    fn reference(&mut self, schema: &JsonObject, value: &Json, path: &str) {
        let target = value.as_str().unwrap_or_default().trim_start_matches('#');
        let is_definition = |rest: &str| !rest.contains(['/', '%']);
        let known = target.is_empty()
            || target.strip_prefix("/$defs/").is_some_and(is_definition)
            || target
                .strip_prefix("/definitions/")
                .is_some_and(is_definition);
        let is_alone = schema.keys().all(|key| {
            ["$ref", "$defs", "definitions"].contains(&key.as_str()) || READ.contains(&key.as_str())
        });
        if !known || !is_alone {
            self.refuse(path);
        }
        let target = Some(target.to_owned()).filter(|target| !target.is_empty());
        self.uses
            .entry(self.definition.clone())
            .or_default()
            .insert(target);
    }

    /// Takes away what refers to nothing that is left; what stays refers to itself.
    fn refuse_recursion(&mut self) {
        let mut uses = self.uses.clone();
        loop {
            let left: BTreeSet<_> = uses.keys().cloned().collect();
            let before = uses.len();
            uses.retain(|_, targets| targets.iter().any(|target| left.contains(target)));
            if uses.len() == before {
                break;
            }
        }
        for definition in uses.into_keys() {
            self.refuse(definition.as_deref().unwrap_or_default());
        }
    }
}

fn types(schema: &JsonObject) -> Vec<&str> {
    match schema.get("type") {
        Some(Json::Array(types)) => types.iter().filter_map(Json::as_str).collect(),
        Some(Json::String(ty)) => vec![ty],
        _ => Vec::new(),
    }
}

fn joined(path: &str, step: &str) -> String {
    format!("{path}/{}", step.replace('~', "~0").replace('/', "~1"))
}

#[cfg(test)]
mod tests {
    use openprogram_core::structured::ResponseFormat;
    use serde_json::json;

    use super::*;

    /// The places that a dialect refuses, or the sentence where it is about none.
    fn refused(dialect: &Dialect, schema: &Json) -> String {
        // What is asked for is a schema that can be checked: only the provider cannot say it.
        ResponseFormat::read(schema).unwrap().validator().unwrap();
        let error = match dialect.project(schema) {
            Ok(_) => return String::new(),
            Err(error) => error,
        };
        assert_eq!(error.code, StructuredCode::Unsupported);
        let places: Vec<_> = error
            .issues
            .iter()
            .map(|i| i.schema_path.as_str())
            .collect();
        match places.is_empty() {
            true => error.message,
            false => places.join(" "),
        }
    }

    /// An object with one property, which is required.
    fn object(property: Json) -> Json {
        json!({
            "type": "object",
            "properties": {"a": property},
            "required": ["a"],
            "additionalProperties": false,
        })
    }

    #[track_caller]
    fn check_property(property: Json, openai: &str, anthropic: &str) {
        let schema = object(property);
        let place = |keyword: &str| match keyword {
            "" => String::new(),
            keyword => format!("/properties/a{keyword}"),
        };
        assert_eq!(refused(&OPENAI_STRICT, &schema), place(openai), "{schema}");
        assert_eq!(refused(&ANTHROPIC, &schema), place(anthropic), "{schema}");
    }

    #[test]
    fn what_a_provider_cannot_be_held_to_is_refused_at_its_place() {
        check_property(json!({"type": "string"}), "", "");
        check_property(
            json!({"type": ["string", "null"], "enum": ["x", null]}),
            "",
            "",
        );
        check_property(
            json!({"type": "array", "items": {"type": "number"}, "minItems": 1}),
            "",
            "",
        );
        check_property(json!({"type": "integer", "minimum": 1}), "", "/minimum");
        check_property(json!({"type": "string", "pattern": "^x"}), "", "/pattern");
        for keyword in ["minLength", "maxLength"] {
            let keyword_at = format!("/{keyword}");
            check_property(
                json!({"type": "string", keyword: 3}),
                &keyword_at,
                &keyword_at,
            );
        }
        let two = json!({"type": "array", "items": {"type": "null"}, "minItems": 2});
        check_property(two, "", "/minItems");
        let unique = json!({"type": "array", "items": {"type": "null"}, "uniqueItems": true});
        check_property(unique, "/uniqueItems", "/uniqueItems");
        for keyword in ["oneOf", "allOf"] {
            let keyword_at = format!("/{keyword}");
            let schema = json!({"type": "integer", keyword: [{"type": "integer"}]});
            check_property(schema, &keyword_at, &keyword_at);
        }
        check_property(
            json!({"type": "integer", "not": {"const": 3}}),
            "/not",
            "/not",
        );
        check_property(
            json!({"type": "object", "enum": [{"b": 1}]}),
            "/additionalProperties \
            /properties/a/enum",
            "/additionalProperties /properties/a/enum",
        );
        let map = json!({"type": "object", "additionalProperties": {"type": "integer"}});
        check_property(map, "/additionalProperties", "/additionalProperties");
        // Nothing is said of the type, or of the items.
        for open in [
            json!({}),
            json!({"description": "Anything."}),
            json!({"type": "array"}),
        ] {
            let schema = object(open);
            assert_eq!(refused(&OPENAI_STRICT, &schema), "/properties/a");
            assert_eq!(refused(&ANTHROPIC, &schema), "/properties/a");
        }
    }

    #[test]
    fn the_root_is_an_object_and_says_all_its_properties() {
        for (schema, openai, anthropic) in [
            (json!({"type": "integer"}), "/type", "/type"),
            (
                json!({"type": "array", "items": object(json!({"type": "null"}))}),
                "/type",
                "/type",
            ),
            (
                json!({"anyOf": [object(json!({"type": "null"}))]}),
                "/type",
                "/type",
            ),
            (
                json!({"type": "object"}),
                "/additionalProperties",
                "/additionalProperties",
            ),
            (
                json!({
                    "type": "object",
                    "properties": {"a": {"type": "null"}, "b": {"type": "null"}},
                    "required": ["a"],
                    "additionalProperties": false,
                }),
                "/required",
                "",
            ),
            (
                json!({
                    "type": "object",
                    "properties": {"a": {"type": "null"}},
                    "required": ["a", "b"],
                    "additionalProperties": false,
                }),
                "/required",
                "/required",
            ),
        ] {
            assert_eq!(refused(&OPENAI_STRICT, &schema), openai, "{schema}");
            assert_eq!(refused(&ANTHROPIC, &schema), anthropic, "{schema}");
        }
    }

    #[test]
    fn references_stand_alone_and_only_one_provider_takes_recursion() {
        let with = |property: Json, definitions: Json| {
            let mut schema = object(property);
            schema["$defs"] = definitions;
            schema
        };
        let leaf = object(json!({"type": "integer"}));
        let tree = object(json!({"anyOf": [{"type": "null"}, {"$ref": "#/$defs/t"}]}));
        let reference = json!({"$ref": "#/$defs/t"});
        for (schema, openai, anthropic) in [
            (with(reference.clone(), json!({"t": leaf})), "", ""),
            (with(reference.clone(), json!({"t": tree})), "", " /$defs/t"),
            (
                with(
                    json!({"$ref": "#/$defs/t", "title": "T"}),
                    json!({"t": leaf}),
                ),
                "",
                "",
            ),
            (
                with(
                    json!({"$ref": "#/$defs/t", "type": "object"}),
                    json!({"t": leaf}),
                ),
                "/properties/a/$ref /properties/a/additionalProperties",
                "/properties/a/$ref /properties/a/additionalProperties",
            ),
            (
                with(
                    json!({"$ref": "#/$defs/t/properties/a"}),
                    json!({"t": leaf}),
                ),
                "/properties/a/$ref",
                "/properties/a/$ref",
            ),
        ] {
            assert_eq!(refused(&OPENAI_STRICT, &schema), openai, "{schema}");
            assert_eq!(refused(&ANTHROPIC, &schema), anthropic, "{schema}");
        }
    }

    #[test]
    fn what_a_provider_counts_is_counted_before_it_does() {
        let deep = (0..10).fold(json!({"type": "null"}), |inner, _| object(inner));
        assert_eq!(refused(&OPENAI_STRICT, &deep), "");
        let deeper = object(deep);
        let told = refused(&OPENAI_STRICT, &deeper);
        assert!(
            told.starts_with("the schema has 11 levels of objects and arrays"),
            "{told}"
        );
        assert_eq!(refused(&ANTHROPIC, &deeper), "");

        let names: Vec<String> = (0..25).map(|n| format!("p{n}")).collect();
        let properties: JsonObject = names
            .iter()
            .map(|name| (name.clone(), json!({"type": "null"})))
            .collect();
        let optional = json!({
            "type": "object", "properties": properties, "additionalProperties": false,
        });
        let told = refused(&ANTHROPIC, &optional);
        assert!(
            told.starts_with("the schema has 25 properties that are not required"),
            "{told}"
        );

        let values: Vec<String> = (0..1001).map(|n| n.to_string()).collect();
        let many = object(json!({"type": "string", "enum": values}));
        let told = refused(&OPENAI_STRICT, &many);
        assert!(
            told.starts_with("the schema has 1001 allowed values"),
            "{told}"
        );
        let long: Vec<String> = (0..300).map(|n| format!("{n:060}")).collect();
        let long = object(json!({"type": "string", "enum": long}));
        assert_eq!(refused(&OPENAI_STRICT, &long), "/properties/a/enum");
        assert_eq!(refused(&ANTHROPIC, &long), "");
    }

    #[test]
    fn a_schema_is_sent_as_it_is_but_for_words_that_rule_nothing_out() {
        let mut schema = object(json!({
            "type": "string", "title": "A", "examples": ["x"], "format": "color", "default": "x",
        }));
        schema["$comment"] = json!("for people");
        schema["properties"]["default"] = json!({"type": "string", "format": "date"});
        schema["required"] = json!(["a", "default"]);
        let mut expected = object(json!({"type": "string", "title": "A"}));
        expected["properties"]["default"] = json!({"type": "string", "format": "date"});
        expected["required"] = json!(["a", "default"]);
        for dialect in [&OPENAI_STRICT, &ANTHROPIC] {
            let sent = dialect.project(&schema).unwrap();
            assert_eq!(sent.to_string(), expected.to_string());
        }
    }
}
