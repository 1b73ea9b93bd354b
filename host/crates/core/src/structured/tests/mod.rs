//! Formats, schemas and replies, from both sides of every rule.

mod formats;
mod hostile;
mod law;
mod rules;
mod text;

use serde_json::json;

use super::{ResponseFormat, StructuredError, Validator};
use crate::Json;

/// Reads a format and makes it ready.
fn validator(format: &Json) -> Result<Validator, StructuredError> {
    ResponseFormat::read(format)?.validator()
}

/// What becomes of a value: `ok`, or the code with `path keyword` for every issue.
fn told<T>(result: Result<T, StructuredError>) -> String {
    match result {
        Ok(_) => "ok".to_owned(),
        Err(error) => {
            let mut told = error.code.as_str().to_owned();
            for issue in &error.issues {
                told.push_str(&format!(" [{} {}]", issue.path, issue.schema_path));
            }
            told
        }
    }
}

/// What becomes of each value under a schema.
#[track_caller]
fn check_values(schema: Json, cases: &[(&str, &str)]) {
    let validator = validator(&schema).unwrap();
    for (value, expected) in cases {
        let found = told(validator.parse(value));
        assert_eq!(&found, expected, "{value} by {schema}");
    }
}

/// Objects inside each other, each the one property `a`, around a number.
fn nested(n: usize) -> Json {
    let inner = json!({"type": "integer"});
    (0..n).fold(
        inner,
        |inner, _| json!({"type": "object", "properties": {"a": inner}}),
    )
}
