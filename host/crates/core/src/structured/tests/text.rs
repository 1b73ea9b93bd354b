//! What a model and a person read, to the letter.

use expect_test::expect;
use serde_json::json;

use super::validator;
use crate::structured::{StructuredError, render_repair};

#[test]
fn a_model_is_told_what_is_wrong_and_where() {
    let schema = json!({
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
        "additionalProperties": false,
    });
    let validator = validator(&schema).unwrap();
    let repair = |reply| render_repair(&validator.parse(reply).unwrap_err());
    expect![[r#"
        Your reply cannot be used: the reply does not fit the schema as a whole, by `/additionalProperties`.
        Nor at `/n`, by `/properties/n/type`.
        Reply again with exactly one JSON value that fits the schema, and nothing around it."#]]
    .assert_eq(&repair("{\"n\": \"x\", \"more\": 1}"));
    expect![[r#"
        Your reply cannot be used: the reply is not exactly one JSON value: line 1, column 1.
        Reply again with exactly one JSON value that fits the schema, and nothing around it."#]]
    .assert_eq(&repair("Here: {\"n\": 1}"));
}

#[test]
fn a_failure_holds_code_and_places() {
    let validator = validator(&json!({"type": "integer"})).unwrap();
    let failure = validator.parse("\"x\"").unwrap_err().to_failure();
    expect![[r#"{"code":"structured","message":"the reply does not fit the schema as a whole, by `/type`","details":{"code":"validation_failed","issues":[{"code":"schema_violation","path":"","schema_path":"/type"}]}}"#]].assert_eq(&failure.to_json().to_string());
    let refusal = StructuredError::refusal().to_failure();
    expect![[r#"{"code":"structured","message":"the model refused to answer","details":{"code":"refusal","issues":[]}}"#]].assert_eq(&refusal.to_json().to_string());
}
