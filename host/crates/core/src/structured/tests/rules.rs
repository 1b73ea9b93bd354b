//! Every keyword, from both sides.

use serde_json::json;

use super::check_values;

const FAILED: &str = "validation_failed";

fn at(place: &str) -> String {
    format!("{FAILED} [{place}]")
}

#[test]
fn types_and_values() {
    check_values(
        json!({"type": ["integer", "null"]}),
        &[
            ("3", "ok"),
            ("3.0", "ok"),
            ("null", "ok"),
            ("3.5", &at(" /type")),
            ("\"3\"", &at(" /type")),
        ],
    );
    check_values(
        json!({"enum": [1, {"a": [1.0], "b": null}, "x"]}),
        &[
            ("1.0", "ok"),
            ("{\"b\": null, \"a\": [1]}", "ok"),
            ("\"X\"", &at(" /enum")),
        ],
    );
    check_values(
        json!({"const": 1e2}),
        &[("100", "ok"), ("true", &at(" /const"))],
    );
}

#[test]
fn numbers_are_compared_exactly() {
    check_values(
        json!({"minimum": 9007199254740993_i64, "exclusiveMaximum": 9007199254740995_i64}),
        &[
            ("9007199254740993", "ok"),
            ("9007199254740992", &at(" /minimum")),
            ("9007199254740995", &at(" /exclusiveMaximum")),
            ("\"no number\"", "ok"),
        ],
    );
    check_values(
        json!({"exclusiveMinimum": 0, "maximum": 1, "multipleOf": 0.01}),
        &[
            ("0.29", "ok"),
            ("0", &at(" /exclusiveMinimum")),
            ("1.01", &at(" /maximum")),
            ("0.295", &at(" /multipleOf")),
        ],
    );
}

#[test]
fn texts_are_counted_in_characters_and_patterns_are_found_anywhere() {
    check_values(
        json!({"minLength": 2, "maxLength": 3}),
        &[
            ("\"äö\"", "ok"),
            ("\"ä\"", &at(" /minLength")),
            ("\"abcd\"", &at(" /maxLength")),
        ],
    );
    check_values(
        json!({"pattern": "[0-9]{2}$"}),
        &[
            ("\"ab12\"", "ok"),
            ("\"12ab\"", &at(" /pattern")),
            ("12", "ok"),
        ],
    );
}

#[test]
fn items_of_arrays() {
    check_values(
        json!({
            "prefixItems": [{"type": "string"}, {"type": "integer"}],
            "items": {"type": "boolean"},
            "maxItems": 3,
        }),
        &[
            ("[]", "ok"),
            ("[\"a\", 1, true]", "ok"),
            (
                "[\"a\", \"b\", 3]",
                "validation_failed [/1 /prefixItems/1/type] [/2 /items/type]",
            ),
            ("[\"a\", 1, true, true]", &at(" /maxItems")),
        ],
    );
    check_values(
        json!({"uniqueItems": true, "minItems": 1}),
        &[
            ("[1, \"1\", [1], {\"a\": 1}]", "ok"),
            ("[1, 1.0]", &at(" /uniqueItems")),
            (
                "[{\"a\": 1, \"b\": 2}, {\"b\": 2, \"a\": 1}]",
                &at(" /uniqueItems"),
            ),
            ("[]", &at(" /minItems")),
        ],
    );
    check_values(
        json!({"contains": {"type": "integer"}, "minContains": 2, "maxContains": 3}),
        &[
            ("[1, \"a\", 2]", "ok"),
            ("[1]", &at(" /contains")),
            ("[1, 2, 3, 4]", &at(" /contains")),
        ],
    );
    check_values(json!({"contains": {}, "minContains": 0}), &[("[]", "ok")]);
}

#[test]
fn members_of_objects() {
    check_values(
        json!({
            "properties": {"a": {"type": "integer"}, "never": false},
            "patternProperties": {"^x_": {"type": "string"}},
            "additionalProperties": {"type": "null"},
            "dependentRequired": {"a": ["b"]},
            "propertyNames": {"maxLength": 5},
            "minProperties": 1,
            "maxProperties": 3,
        }),
        &[
            ("{\"a\": 1, \"b\": null, \"x_\": \"\"}", "ok"),
            ("{}", &at(" /minProperties")),
            ("{\"never\": 1}", &at("/never /properties/never")),
            ("{\"x_\": 1}", &at("/x_ /patternProperties/^x_/type")),
            ("{\"b\": 1}", &at("/b /additionalProperties/type")),
            ("{\"a\": 1}", &at(" /dependentRequired")),
            ("{\"longer\": null}", &at(" /propertyNames")),
            (
                "{\"b\": null, \"c\": null, \"d\": null, \"e\": null}",
                &at(" /maxProperties"),
            ),
        ],
    );
    check_values(
        json!({"dependentSchemas": {"a": {"required": ["b"]}}}),
        &[
            ("{\"a\": 1, \"b\": 1}", "ok"),
            ("{\"a\": 1}", &at(" /dependentSchemas/a/required")),
        ],
    );
}

#[test]
fn schemas_of_schemas() {
    check_values(
        json!({"allOf": [{"minimum": 1}, {"maximum": 3}]}),
        &[("2", "ok"), ("0", &at(" /allOf/0/minimum"))],
    );
    check_values(
        json!({"anyOf": [{"type": "string"}, {"minimum": 3}]}),
        &[("3", "ok"), ("\"\"", "ok"), ("2", &at(" /anyOf"))],
    );
    check_values(
        json!({"oneOf": [{"type": "integer"}, {"minimum": 3}]}),
        &[
            ("2", "ok"),
            ("3.5", "ok"),
            ("3", &at(" /oneOf")),
            ("2.5", &at(" /oneOf")),
        ],
    );
    check_values(
        json!({"not": {"type": "null"}}),
        &[("1", "ok"), ("null", &at(" /not"))],
    );
    check_values(
        json!({"if": {"type": "string"}, "then": {"minLength": 2}, "else": {"minimum": 2}}),
        &[
            ("\"ab\"", "ok"),
            ("\"a\"", &at(" /then/minLength")),
            ("1", &at(" /else/minimum")),
        ],
    );
    // Without `if` they mean nothing.
    check_values(json!({"then": false, "else": false}), &[("1", "ok")]);
}

#[test]
fn references_lead_to_any_schema_inside() {
    check_values(
        json!({
            "properties": {"a": {"$ref": "#/definitions/x%20~1y"}, "b": {"$ref": "#/properties/a"}},
            "definitions": {"x /y": {"type": "integer"}},
        }),
        &[
            ("{\"a\": 1, \"b\": 2}", "ok"),
            ("{\"b\": \"2\"}", &at("/b /properties/b/type")),
        ],
    );
    // What stands beside a reference counts too.
    check_values(
        json!({"$ref": "#/$defs/n", "maximum": 3, "$defs": {"n": {"minimum": 1}}}),
        &[
            ("2", "ok"),
            ("0", &at(" /minimum")),
            ("4", &at(" /maximum")),
        ],
    );
}
