//! What each provider takes of a tool, as its documentation, its SDK or its refusals tell it.

use std::collections::BTreeSet;

use openprogram_core::{Json, JsonObject};

/// Everything that is wrong with a tool, one line for each.
pub(super) type Wrong = Vec<String>;

/// A schema inside a schema, with where it stands.
fn parts(schema: &Json) -> Vec<(String, &JsonObject)> {
    let mut found = Vec::new();
    let mut open = vec![(String::new(), schema)];
    while let Some((path, schema)) = open.pop() {
        let Json::Object(object) = schema else {
            // `true` and `false` are schemas too, and say nothing more.
            continue;
        };
        found.push((path.clone(), object));
        for (keyword, value) in object {
            let path = format!("{path}/{keyword}");
            match (keyword.as_str(), value) {
                ("properties" | "$defs" | "patternProperties", Json::Object(all)) => {
                    open.extend(all.iter().map(|(name, s)| (format!("{path}/{name}"), s)));
                }
                ("anyOf" | "oneOf" | "allOf" | "prefixItems", Json::Array(all)) => {
                    let all = all.iter().enumerate();
                    open.extend(all.map(|(index, s)| (format!("{path}/{index}"), s)));
                }
                ("items" | "additionalProperties" | "propertyNames" | "not", schema) => {
                    open.push((path, schema));
                }
                _ => {}
            }
        }
    }
    found
}

fn names(object: &JsonObject, keyword: &str) -> Vec<String> {
    let all = object.get(keyword).and_then(Json::as_array);
    let texts = all.into_iter().flatten().filter_map(Json::as_str);
    texts.map(ToOwned::to_owned).collect()
}

fn matches_name(name: &str, most: usize, also: &str) -> bool {
    let is_known = |c: char| c.is_ascii_alphanumeric() || also.contains(c);
    (1..=most).contains(&name.len()) && name.chars().all(is_known)
}

/// What holds at every provider: an object without unions at the top, nothing that refers to itself,
/// closed objects in declared form, one type for each part, arrays that say what they hold.
pub(super) fn everywhere(name: &str, schema: &Json) -> Wrong {
    let mut wrong = Wrong::new();
    if !matches_name(name, 64, "_-") {
        wrong.push(format!("the name `{name}`"));
    }
    if schema["type"] != "object" || !schema["properties"].is_object() {
        wrong.push("the top is no object with properties".to_owned());
    }
    for keyword in ["anyOf", "oneOf", "allOf", "not", "enum", "const", "if"] {
        if schema.get(keyword).is_some() {
            wrong.push(format!("`{keyword}` at the top"));
        }
    }
    for (path, object) in parts(schema) {
        let mut told = |what: &str| wrong.push(format!("{path}: {what}"));
        for keyword in ["$ref", "$dynamicRef", "$defs", "definitions", "default"] {
            if object.contains_key(keyword) {
                told(keyword);
            }
        }
        if object.get("type").is_some_and(|ty| !ty.is_string()) {
            told("several types");
        }
        if object.get("type") == Some(&"array".into()) && !object.contains_key("items") {
            told("an array without items");
        }
        let required = names(object, "required");
        let properties = object.get("properties").and_then(Json::as_object);
        if let Some(properties) = properties {
            let known = |name: &String| properties.contains_key(name);
            if !required.iter().all(known) {
                told("requires what is not there");
            }
            // In declared order, as the properties are.
            let declared = properties.keys().filter(|name| required.contains(name));
            if !declared.eq(required.iter()) {
                told("required in another order");
            }
            if object.get("additionalProperties") != Some(&Json::Bool(false)) {
                told("an open object");
            }
            for name in properties.keys() {
                // The strictest: Anthropic, and Gemini with a letter or `_` first.
                let first = name.chars().next().unwrap_or('0');
                if !matches_name(name, 64, "_") || first.is_ascii_digit() {
                    told(&format!("the property `{name}`"));
                }
            }
        }
        let values = names(object, "enum");
        let distinct: BTreeSet<_> = values.iter().collect();
        if distinct.len() != values.len() {
            told("a value twice");
        }
        for (low, high) in [
            ("minimum", "maximum"),
            ("minItems", "maxItems"),
            ("minLength", "maxLength"),
        ] {
            let bound = |keyword| object.get(keyword).map(ToString::to_string);
            let exact = |text: Option<String>| text.map(|text| text.parse::<i128>().unwrap());
            let (low, high) = (exact(bound(low)), exact(bound(high)));
            if low.is_some() != high.is_some() || low > high {
                told("bounds");
            }
        }
    }
    wrong
}

/// The keywords of a dialect that knows only these.
fn only(schema: &Json, known: &[&str]) -> Wrong {
    let parts = parts(schema).into_iter();
    let unknown = parts.flat_map(|(path, object)| {
        let unknown = object.keys().filter(|k| !known.contains(&k.as_str()));
        unknown
            .map(|keyword| format!("{path}/{keyword}"))
            .collect::<Vec<_>>()
    });
    unknown.collect()
}

/// OpenAI with `strict`: every property required, no keyword that it does not hold replies to.
pub(super) fn openai_strict(schema: &Json) -> Wrong {
    let mut wrong = only(
        schema,
        &[
            "type",
            "properties",
            "required",
            "additionalProperties",
            "items",
            "anyOf",
            "enum",
            "const",
            "title",
            "description",
            "format",
            "pattern",
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "multipleOf",
            "minItems",
            "maxItems",
        ],
    );
    let (mut properties, mut values, mut text) = (0, 0, 0);
    for (path, object) in parts(schema) {
        let all = object.get("properties").and_then(Json::as_object);
        let required = names(object, "required");
        if let Some(all) = all {
            properties += all.len();
            text += all.keys().map(String::len).sum::<usize>();
            if all.len() != required.len() {
                wrong.push(format!("{path}: a property that is not required"));
            }
        }
        let allowed = names(object, "enum");
        values += allowed.len();
        text += allowed.iter().map(String::len).sum::<usize>();
        if object.get("items").is_some_and(|items| !items.is_object()) {
            wrong.push(format!("{path}: items without a schema"));
        }
    }
    for (what, count, most) in [
        ("properties", properties, 5_000),
        ("allowed values", values, 1_000),
        ("characters", text, 120_000),
        ("levels", levels(schema), 10),
    ] {
        if count > most {
            wrong.push(format!("{count} {what}"));
        }
    }
    wrong
}

/// Anthropic with `strict`: closed objects, and no bounds.
pub(super) fn anthropic_strict(schema: &Json) -> Wrong {
    let mut wrong = only(
        schema,
        &[
            "type",
            "properties",
            "required",
            "additionalProperties",
            "items",
            "anyOf",
            "enum",
            "const",
            "title",
            "description",
            "format",
            "minItems",
        ],
    );
    let (mut optional, mut unions) = (0, 0);
    for (path, object) in parts(schema) {
        let all = object.get("properties").and_then(Json::as_object);
        optional += all.map_or(0, |all| all.len() - names(object, "required").len());
        unions += usize::from(object.contains_key("anyOf"));
        let least = object.get("minItems").and_then(Json::as_u64);
        if least.is_some_and(|least| least > 1) {
            wrong.push(format!("{path}: minItems"));
        }
    }
    if optional > 24 || unions > 16 {
        wrong.push(format!("{optional} optional, {unions} unions"));
    }
    wrong
}

/// Objects and arrays inside each other.
fn levels(schema: &Json) -> usize {
    let own = matches!(schema["type"].as_str(), Some("object" | "array"));
    let below = ["properties", "anyOf", "prefixItems"];
    let members = below.iter().filter_map(|keyword| schema.get(*keyword));
    let inner = members.flat_map(|value| match value {
        Json::Object(all) => all.values().map(levels).collect::<Vec<_>>(),
        Json::Array(all) => all.iter().map(levels).collect(),
        _ => Vec::new(),
    });
    let items = schema.get("items").map(levels);
    inner.chain(items).max().unwrap_or(0) + usize::from(own)
}

/// Gemini's `parametersJsonSchema`: its documented keywords, and four of ours that it does not list,
/// which say no more than a check of ours does.
pub(super) fn gemini(name: &str, schema: &Json) -> Wrong {
    const NOT_LISTED: [&str; 4] = ["minLength", "maxLength", "contentEncoding", "propertyNames"];
    let mut known = vec![
        "type",
        "format",
        "title",
        "description",
        "enum",
        "items",
        "prefixItems",
        "minItems",
        "maxItems",
        "minimum",
        "maximum",
        "anyOf",
        "properties",
        "additionalProperties",
        "required",
    ];
    known.extend(NOT_LISTED);
    let mut wrong = only(schema, &known);
    let first = name.chars().next().unwrap_or('0');
    if !matches_name(name, 128, "_.:-") || !(first.is_ascii_alphabetic() || first == '_') {
        wrong.push(format!("the name `{name}`"));
    }
    // Names of keys of a map, `pattern` among them, stand below a word that it does not list.
    wrong.retain(|line| !line.contains("/propertyNames/"));
    wrong
}
