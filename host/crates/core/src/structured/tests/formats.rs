//! What is no format, what is no schema, and what cannot be checked.

use serde_json::json;

use super::{told, validator};
use crate::Json;
use crate::structured::{ResponseFormat, SCHEMA_NODES_MAX};

#[track_caller]
fn check_format(format: Json, expected: &str) {
    assert_eq!(told(validator(&format)), expected, "{format}");
}

#[test]
fn a_wrong_schema_is_refused_at_its_place() {
    for (schema, place) in [
        (json!({"type": ["string", "string"]}), "/type"),
        (json!({"type": []}), "/type"),
        (json!({"properties": []}), "/properties"),
        (json!({"properties": {"a/b": 3}}), "/properties/a~1b"),
        (json!({"items": [{}]}), "/items"),
        (json!({"anyOf": []}), "/anyOf"),
        (json!({"anyOf": [true, "x"]}), "/anyOf/1"),
        (json!({"minLength": -1}), "/minLength"),
        (json!({"minItems": 1.5}), "/minItems"),
        (json!({"minimum": "1"}), "/minimum"),
        (json!({"multipleOf": 0}), "/multipleOf"),
        (json!({"required": ["a", "a"]}), "/required"),
        (
            json!({"dependentRequired": {"a": "b"}}),
            "/dependentRequired",
        ),
        (json!({"pattern": 3}), "/pattern"),
        (json!({"uniqueItems": "yes"}), "/uniqueItems"),
        (json!({"$defs": {"a": {"not": 1}}}), "/$defs/a/not"),
        // Shape is right, and it leads nowhere or round and round.
        (json!({"$ref": "#/$defs/a"}), "/$ref"),
        (json!({"$ref": "#"}), ""),
        (
            json!({"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}]}}}),
            "/$defs/a",
        ),
        (json!({"$ref": "#/$defs/a", "$defs": {"a": 1}}), "/$defs/a"),
        (
            json!({"$ref": "#/properties/a/enum", "properties": {"a": {"enum": [{}]}}}),
            "/$ref",
        ),
    ] {
        check_format(schema, &format!("invalid_schema [{place} {place}]"));
    }
}

#[test]
fn what_cannot_be_checked_is_not_taken_in_part() {
    for (schema, place) in [
        (
            json!({"unevaluatedProperties": false}),
            "/unevaluatedProperties",
        ),
        (
            json!({"properties": {"a": {"$dynamicRef": "#x"}}}),
            "/properties/a/$dynamicRef",
        ),
        (json!({"$id": "https://example.com/a"}), "/$id"),
        (json!({"$ref": "https://example.com/a"}), "/$ref"),
        (json!({"$ref": "#name"}), "/$ref"),
        (
            json!({"$schema": "http://json-schema.org/draft-07/schema#"}),
            "/$schema",
        ),
        (json!({"additionalItems": false}), "/additionalItems"),
        (json!({"dependencies": {}}), "/dependencies"),
        (json!({"pattern": "(?=a)"}), "/pattern"),
        (json!({"pattern": "(a)\\1"}), "/pattern"),
        (json!({"pattern": "(a{1000}){1000}"}), "/pattern"),
        (
            json!({"patternProperties": {"(": {}}}),
            "/patternProperties/(",
        ),
        (
            json!({"multipleOf": 1234567890123456789_u64}),
            "/multipleOf",
        ),
    ] {
        check_format(schema, &format!("unsupported [{place} {place}]"));
    }
    // Words that JSON Schema does not know mean nothing, and neither do names of members.
    check_format(json!({"x-order": 1, "unknown": [{"type": 3}]}), "ok");
    check_format(json!({"properties": {"$id": {}, "dependencies": {}}}), "ok");
    check_format(
        json!({"$schema": "https://json-schema.org/draft/2020-12/schema"}),
        "ok",
    );
    check_format(json!({"enum": [{"type": 3, "$id": 4}]}), "ok");
}

#[test]
fn an_envelope_with_a_wrong_field_is_told_which() {
    let wrong = |key: &str, value: Json| {
        let mut envelope = json!({"type": "json_schema", "schema": {}});
        envelope[key] = value;
        ResponseFormat::read(&envelope).unwrap_err().message
    };
    for (key, value) in [
        ("name", json!(1)),
        ("name", json!("-a")),
        ("description", json!("x".repeat(20_000))),
        ("strict", json!("yes")),
        ("fallback", json!("tool")),
        ("max_validation_retries", json!(0.5)),
        ("json_schema", json!({})),
    ] {
        let message = wrong(key, value);
        assert!(message.contains(&format!("`{key}`")), "{message}");
        assert!(!message.ends_with('.'), "{message}");
    }
    let long = wrong(&"k".repeat(100_000), json!(1));
    assert!(long.len() < 400, "{}", long.len());
}

#[test]
fn a_schema_that_is_too_large_is_refused_before_it_is_looked_at() {
    let many = json!({"allOf": vec![json!({}); SCHEMA_NODES_MAX]});
    check_format(many, "invalid_schema");
    let enough = json!({"allOf": vec![json!({}); SCHEMA_NODES_MAX - 1]});
    check_format(enough, "ok");
    let deep_data = (0..120).fold(json!(1), |inner, _| json!([inner]));
    check_format(json!({"const": deep_data}), "invalid_schema");
    let name = "n".repeat(100_000);
    let error = ResponseFormat::read(&json!({"properties": {name: 3}})).unwrap_err();
    let places: usize = error.issues.iter().map(|issue| issue.path.len()).sum();
    assert!(places < 300 && error.message.len() < 500, "{error}");
}
