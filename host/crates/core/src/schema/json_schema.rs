//! Types as JSON Schema (draft 2020-12), the form that models and clients read.
//!
//! Deterministic: properties in declared order, keywords in one order. A schema of parameters is
//! always an object schema, so `anyOf` never stands at its top.

use super::check_shape::null_means_absent;
use super::{Case, CasesType, Field, IntegerKind, RecordType, Type, VariantType};
use crate::{Json, JsonObject};

/// The schema of one type.
///
/// An `option` is the schema of what it holds: where a value may be left out, that is said by the
/// object around it.
#[must_use]
pub fn type_to_json_schema(ty: &Type) -> Json {
    Json::Object(present(ty))
}

/// The schema of a result of one type: as [`type_to_json_schema`], with the words that stand for floats
/// of which JSON has no number.
#[must_use]
pub fn result_to_json_schema(ty: &Type) -> Json {
    let mut schema = type_to_json_schema(ty);
    let_words_stand_for_numbers(&mut schema);
    schema
}

fn let_words_stand_for_numbers(schema: &mut Json) {
    let Json::Object(object) = schema else {
        return;
    };
    if object.get("type").is_some_and(|ty| ty == "number") {
        let words = super::NOT_FINITE.map(Json::from).to_vec();
        object.shift_remove("type");
        let words = self::schema([("type", "string".into()), ("enum", words.into())]);
        let both = any_of([of_type("number"), words]);
        object.extend(both);
        return;
    }
    for (keyword, value) in object {
        match (keyword.as_str(), value) {
            ("properties", Json::Object(all)) => {
                all.values_mut().for_each(let_words_stand_for_numbers);
            }
            ("anyOf" | "prefixItems", Json::Array(all)) => {
                all.iter_mut().for_each(let_words_stand_for_numbers);
            }
            ("items" | "additionalProperties", inner) => let_words_stand_for_numbers(inner),
            _ => {}
        }
    }
}

/// One property of an object schema.
#[derive(Clone, Copy, Debug)]
pub struct Property<'a> {
    /// Name, type, description and allowed values.
    pub field: &'a Field,
    /// Whether it must be there.
    pub required: bool,
    /// An example, shown where there is no description.
    pub example: Option<&'a str>,
    /// The value when absent, where it is to be shown.
    pub default: Option<&'a Json>,
}

/// The object schema of these properties, in their order.
#[must_use]
pub fn properties_to_json_schema<'a>(all: impl Iterator<Item = Property<'a>>) -> Json {
    let mut properties = JsonObject::new();
    let mut required = Vec::new();
    for property in all {
        let field = property.field;
        let mut schema = field_schema(field);
        let example = property.example.filter(|text| !text.is_empty());
        if let Some(example) = example.filter(|_| !schema.contains_key("description")) {
            schema.insert("description".to_owned(), format!("e.g. {example}").into());
        }
        if let Some(default) = property.default {
            schema.insert("default".to_owned(), default.clone());
        }
        if property.required {
            required.push(field.name.as_str());
        }
        properties.insert(field.name.clone(), Json::Object(schema));
    }
    Json::Object(object_schema(properties, required))
}

/// The object schema of the fields of a record; of the fields a model fills in, for example.
#[must_use]
pub fn record_to_json_schema(record: &RecordType) -> Json {
    Json::Object(record_schema(record))
}

/// A schema under construction: keywords in the order in which they are added.
fn schema(keywords: impl IntoIterator<Item = (&'static str, Json)>) -> JsonObject {
    let keywords = keywords.into_iter();
    keywords
        .map(|(key, value)| (key.to_owned(), value))
        .collect()
}

fn of_type(name: &str) -> JsonObject {
    schema([("type", name.into())])
}

/// The schema of a value that is there.
fn present(ty: &Type) -> JsonObject {
    match ty {
        Type::Bool => of_type("boolean"),
        Type::Integer(kind) => integer_schema(*kind),
        Type::Float32 | Type::Float64 => of_type("number"),
        Type::Char => schema([
            ("type", "string".into()),
            ("minLength", 1.into()),
            ("maxLength", 1.into()),
        ]),
        Type::String => of_type("string"),
        Type::Bytes => schema([
            ("type", "string".into()),
            ("contentEncoding", "base64".into()),
        ]),
        Type::Json => JsonObject::new(),
        Type::AnyArray => of_type("array"),
        Type::AnyObject => of_type("object"),
        Type::List(item) => schema([("type", "array".into()), ("items", anywhere(item))]),
        Type::FixedList(item, length) => schema([
            ("type", "array".into()),
            ("items", anywhere(item)),
            ("minItems", (*length).into()),
            ("maxItems", (*length).into()),
        ]),
        Type::Map(key, value) => map_schema(key, value),
        Type::Option(inner) if null_means_absent(inner) => case_schema("some", anywhere(inner)),
        Type::Option(inner) => present(inner),
        Type::Tuple(types) => tuple_schema(types),
        Type::Result(ok, err) => {
            let payload = |ty: &Option<Box<Type>>| {
                let null = || Json::Object(of_type("null"));
                ty.as_deref().map_or_else(null, anywhere)
            };
            let cases = [("ok", payload(ok)), ("err", payload(err))];
            any_of(cases.map(|(name, payload)| case_schema(name, payload)))
        }
        Type::Record(record) => record_schema(record),
        Type::Enum(cases) => described(names_schema(cases), text_of_cases(cases)),
        Type::Flags(cases) => {
            let items = Json::Object(names_schema(cases));
            let array = schema([("type", "array".into()), ("items", items)]);
            described(array, text_of_cases(cases))
        }
        Type::Variant(cases) => variant_schema(cases),
        Type::Handle(handle) => described(of_type("string"), Some(handle.text())),
    }
}

/// The schema of a value in a place that cannot be left out, such as an item of a list.
fn anywhere(ty: &Type) -> Json {
    let schema = present(ty);
    if matches!(ty, Type::Option(_)) && !schema.is_empty() {
        return Json::Object(any_of([schema, of_type("null")]));
    }
    Json::Object(schema)
}

fn any_of(schemas: impl IntoIterator<Item = JsonObject>) -> JsonObject {
    let schemas = schemas.into_iter().map(Json::Object).collect();
    schema([("anyOf", Json::Array(schemas))])
}

fn integer_schema(kind: IntegerKind) -> JsonObject {
    let mut schema = of_type("integer");
    if let Some((low, high)) = kind.bounds() {
        // All bounds fit into 64 bits on their side of zero, so the numbers are exact.
        let number = |value: i128| {
            let unsigned = u64::try_from(value).map(Json::from);
            unsigned.or_else(|_| i64::try_from(value).map(Json::from))
        };
        for (key, bound) in [("minimum", number(low)), ("maximum", number(high))] {
            if let Ok(bound) = bound {
                schema.insert(key.to_owned(), bound);
            }
        }
    }
    schema
}

fn map_schema(key: &Type, value: &Type) -> JsonObject {
    let mut map = schema([("type", "object".into())]);
    let names = match key {
        Type::Enum(cases) => Some(schema([("enum", names_of(cases))])),
        Type::Integer(_) => Some(schema([("pattern", "^-?[0-9]+$".into())])),
        Type::Bool => Some(schema([("enum", Json::from(vec!["true", "false"]))])),
        Type::Char => Some(schema([("minLength", 1.into()), ("maxLength", 1.into())])),
        _ => None,
    };
    if let Some(names) = names {
        map.insert("propertyNames".to_owned(), Json::Object(names));
    }
    map.insert("additionalProperties".to_owned(), anywhere(value));
    map
}

fn tuple_schema(types: &[Type]) -> JsonObject {
    let mut tuple = of_type("array");
    if !types.is_empty() {
        // `prefixItems` must not be empty.
        let items = types.iter().map(anywhere).collect();
        tuple.insert("prefixItems".to_owned(), items);
        tuple.insert("items".to_owned(), false.into());
    }
    tuple.insert("minItems".to_owned(), types.len().into());
    tuple.insert("maxItems".to_owned(), types.len().into());
    tuple
}

fn object_schema(properties: JsonObject, required: Vec<&str>) -> JsonObject {
    let mut object = of_type("object");
    object.insert("properties".to_owned(), Json::Object(properties));
    if !required.is_empty() {
        object.insert("required".to_owned(), required.into());
    }
    object.insert("additionalProperties".to_owned(), false.into());
    object
}

/// An object with one key, as variants and results write a case with a payload.
fn case_schema(name: &str, payload: Json) -> JsonObject {
    let mut properties = JsonObject::new();
    properties.insert(name.to_owned(), payload);
    object_schema(properties, vec![name])
}

fn record_schema(record: &RecordType) -> JsonObject {
    let fields = record.fields.iter();
    let properties = fields.clone().map(|field| {
        let schema = Json::Object(field_schema(field));
        (field.name.clone(), schema)
    });
    let required = fields.filter(|field| !matches!(field.ty, Type::Option(_)));
    let required = required.map(|field| field.name.as_str()).collect();
    let schema = object_schema(properties.collect(), required);
    described(schema, record.description.clone())
}

/// The schema of a named value: its own description hides that of its type.
fn field_schema(field: &Field) -> JsonObject {
    let description = field.description.clone().filter(|text| !text.is_empty());
    let more = match innermost(&field.ty) {
        Type::Enum(cases) | Type::Flags(cases) => text_of_described_cases(cases),
        Type::Handle(handle) => Some(handle.text()),
        _ => None,
    };
    let description = description.map(|text| match more {
        Some(more) => format!("{text}\n{more}"),
        None => text,
    });
    let mut schema = described(present(&field.ty), description);
    if !field.options.is_empty() {
        schema.insert("enum".to_owned(), field.options.clone().into());
    }
    schema
}

fn innermost(ty: &Type) -> &Type {
    match ty {
        Type::Option(inner) => innermost(inner),
        other => other,
    }
}

fn described(mut schema: JsonObject, description: Option<String>) -> JsonObject {
    if let Some(text) = description.filter(|text| !text.is_empty()) {
        schema.insert("description".to_owned(), text.into());
    }
    schema
}

fn names_of(cases: &CasesType) -> Json {
    let names = cases
        .cases
        .iter()
        .map(|case| Json::from(case.name.as_str()));
    names.collect()
}

fn names_schema(cases: &CasesType) -> JsonObject {
    schema([("type", "string".into()), ("enum", names_of(cases))])
}

/// The description of an enum or flags: its own, then a line for each described case.
fn text_of_cases(cases: &CasesType) -> Option<String> {
    let own = cases.description.clone().filter(|text| !text.is_empty());
    match (own, text_of_described_cases(cases)) {
        (Some(own), Some(cases)) => Some(format!("{own}\n{cases}")),
        (own, cases) => own.or(cases),
    }
}

fn text_of_described_cases(cases: &CasesType) -> Option<String> {
    let line = |case: &Case| {
        let text = case.description.as_ref().filter(|text| !text.is_empty())?;
        Some(format!("- {}: {text}", case.name))
    };
    let lines: Vec<_> = cases.cases.iter().filter_map(line).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn variant_schema(cases: &VariantType) -> JsonObject {
    if cases.cases.iter().all(|case| case.payload.is_none()) {
        return described(names_schema(cases), text_of_cases(cases));
    }
    let case = |case: &Case| {
        let schema = match &case.payload {
            Some(ty) => case_schema(&case.name, anywhere(ty)),
            None => schema([
                ("type", "string".into()),
                ("enum", Json::from(vec![case.name.as_str()])),
            ]),
        };
        described(schema, case.description.clone())
    };
    let any = any_of(cases.cases.iter().map(case));
    described(any, cases.description.clone())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;

    fn cases(cases: &[(&str, &str, Option<Type>)]) -> Arc<CasesType> {
        let case = |(name, description, payload): &(&str, &str, Option<Type>)| Case {
            name: (*name).to_owned(),
            description: Some((*description).to_owned()),
            payload: payload.clone(),
        };
        Arc::new(CasesType {
            name: None,
            description: Some("What it is.".to_owned()),
            cases: cases.iter().map(case).collect(),
        })
    }

    fn boxed(ty: Type) -> Box<Type> {
        Box::new(ty)
    }

    /// Compares texts, so that the order of keywords and properties counts.
    #[track_caller]
    fn check(ty: &Type, expected: &Json) {
        assert_eq!(
            type_to_json_schema(ty).to_string(),
            expected.to_string(),
            "{ty:?}"
        );
    }

    #[test]
    fn scalars_carry_their_exact_bounds() {
        use IntegerKind::{Any, S8, S64, U32, U64};
        for (kind, low, high) in [
            (S8, json!(-128), json!(127)),
            (U32, json!(0), json!(4_294_967_295_u32)),
            (S64, json!(i64::MIN), json!(i64::MAX)),
            (U64, json!(0), json!(u64::MAX)),
        ] {
            let expected = json!({"type": "integer", "minimum": low, "maximum": high});
            check(&Type::Integer(kind), &expected);
        }
        for (ty, expected) in [
            (Type::Integer(Any), json!({"type": "integer"})),
            (Type::Bool, json!({"type": "boolean"})),
            (Type::Float32, json!({"type": "number"})),
            (
                Type::Char,
                json!({"type": "string", "minLength": 1, "maxLength": 1}),
            ),
            (
                Type::Bytes,
                json!({"type": "string", "contentEncoding": "base64"}),
            ),
            (Type::Json, json!({})),
            (Type::AnyArray, json!({"type": "array"})),
            (Type::AnyObject, json!({"type": "object"})),
        ] {
            check(&ty, &expected);
        }
    }

    #[test]
    fn containers_say_what_they_hold() {
        let option = Type::Option(boxed(Type::Bool));
        let nothing = json!({"type": "null"});
        let boolean = json!({"type": "boolean"});
        let some = json!({
            "type": "object",
            "properties": {"some": {"anyOf": [boolean, nothing]}},
            "required": ["some"],
            "additionalProperties": false,
        });
        for (ty, expected) in [
            (
                Type::List(boxed(option.clone())),
                json!({"type": "array", "items": {"anyOf": [boolean, nothing]}}),
            ),
            (Type::Option(boxed(option)), some),
            (
                Type::FixedList(boxed(Type::Bool), 3),
                json!({"type": "array", "items": boolean, "minItems": 3, "maxItems": 3}),
            ),
            (
                Type::Tuple(vec![Type::Bool, Type::String]),
                json!({
                    "type": "array",
                    "prefixItems": [boolean, {"type": "string"}],
                    "items": false,
                    "minItems": 2,
                    "maxItems": 2,
                }),
            ),
            (
                Type::Tuple(Vec::new()),
                json!({"type": "array", "minItems": 0, "maxItems": 0}),
            ),
            (
                Type::Map(boxed(Type::String), boxed(Type::Bool)),
                json!({"type": "object", "additionalProperties": boolean}),
            ),
            (
                Type::Result(None, Some(boxed(Type::Bool))),
                json!({"anyOf": [
                    {
                        "type": "object", "properties": {"ok": nothing},
                        "required": ["ok"], "additionalProperties": false,
                    },
                    {
                        "type": "object", "properties": {"err": boolean},
                        "required": ["err"], "additionalProperties": false,
                    },
                ]}),
            ),
        ] {
            check(&ty, &expected);
        }
    }

    #[test]
    fn results_may_be_words_where_json_has_no_number() {
        let float = json!({"anyOf": [
            {"type": "number"},
            {"type": "string", "enum": ["NaN", "Infinity", "-Infinity"]},
        ]});
        let list = Type::List(boxed(Type::Float32));
        let ty = Type::Tuple(vec![Type::Float64, list, Type::String]);
        let expected = json!({
            "type": "array",
            "prefixItems": [float, {"type": "array", "items": float}, {"type": "string"}],
            "items": false,
            "minItems": 3,
            "maxItems": 3,
        });
        assert_eq!(result_to_json_schema(&ty).to_string(), expected.to_string());
        // A property of the name of a keyword is none.
        let field = Field {
            description: Some("How much.".to_owned()),
            ..Field::new("type", Type::Float64)
        };
        let record = Type::Record(Arc::new(RecordType {
            name: None,
            description: None,
            fields: vec![field],
        }));
        let schema = result_to_json_schema(&record);
        let mut described = json!({"description": "How much."});
        described["anyOf"] = float["anyOf"].clone();
        assert_eq!(schema["properties"]["type"], described);
    }

    #[test]
    fn cases_are_described() {
        let text = "What it is.\n- a: First.";
        let names = cases(&[("a", "First.", None), ("b", "", None)]);
        let strings = json!({"type": "string", "enum": ["a", "b"]});
        for (ty, expected) in [
            (
                Type::Enum(names.clone()),
                json!({"type": "string", "enum": ["a", "b"], "description": text}),
            ),
            (
                Type::Flags(names),
                json!({"type": "array", "items": strings, "description": text}),
            ),
            (
                Type::Variant(cases(&[("a", "First.", None), ("b", "", Some(Type::Bool))])),
                json!({
                    "anyOf": [
                        {"type": "string", "enum": ["a"], "description": "First."},
                        {
                            "type": "object", "properties": {"b": {"type": "boolean"}},
                            "required": ["b"], "additionalProperties": false,
                        },
                    ],
                    "description": "What it is.",
                }),
            ),
        ] {
            check(&ty, &expected);
        }
    }
}
