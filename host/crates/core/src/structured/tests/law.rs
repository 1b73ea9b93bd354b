//! The cases of the vectors that are about reading a format and checking a value.
//!
//! | left out here | why |
//! | --- | --- |
//! | `negotiate/*` | run in `llm`, where what a provider can do is known |
//! | `e2e/native/*` | run where turns are made |
//! | `e2e/tool/*`, `negotiate/*` with a strict tool | no hidden tool is offered yet |
//! | `negotiate/*` with the fallback `prompt` | nobody is asked in words only yet |

use super::{nested, validator};
use crate::Json;
use crate::structured::{Fallback, ResponseFormat, StructuredError};

fn cases(group: &str) -> Vec<Json> {
    let file = include_str!("../../../fixtures/vectors/structured_output.json");
    let file: Json = serde_json::from_str(file).unwrap();
    let cases = file["cases"].as_array().unwrap().iter();
    let is_law =
        |case: &&Json| case["id"].as_str().unwrap().starts_with(group) && case["status"] == "law";
    cases.filter(is_law).cloned().collect()
}

/// The input of a case; large ones are told in words.
fn input(case: &Json) -> Json {
    let value = &case["value"];
    match value.as_str() {
        Some("$RECIPE description of 1,100,000 x") => {
            serde_json::json!({"description": "x".repeat(1_100_000)})
        }
        Some(recipe) if recipe.starts_with("$RECIPE ") => {
            let n = recipe.split(' ').nth(1).unwrap().parse().unwrap();
            nested(n)
        }
        _ => value.clone(),
    }
}

/// An error as the vectors write it, without its sentence.
fn error_json(error: &StructuredError) -> Json {
    serde_json::json!({"code": error.code.as_str(), "issues": error.issues_to_json()})
}

fn format_json(format: &ResponseFormat) -> Json {
    let fallback = match format.fallback {
        Fallback::Auto => "auto",
        Fallback::None => "none",
        Fallback::Prompt => "prompt",
    };
    serde_json::json!({
        "schema": *format.schema,
        "name": format.name,
        "description": format.description,
        "strict": format.strict,
        "fallback": fallback,
        "max_validation_retries": format.max_validation_retries,
        "type": "json_schema",
    })
}

#[test]
fn formats_are_read_as_in_the_vectors() {
    let mut n_law = 0;
    for case in cases("normalize/") {
        let read = ResponseFormat::read(&input(&case));
        match (&read, &case["ok"]) {
            (Ok(_), Json::Bool(true)) => {}
            (Ok(format), expected) => assert_eq!(&format_json(format), expected, "{}", case["id"]),
            (Err(error), _) => {
                assert_eq!(error.code.as_str(), case["error"]["code"], "{}", case["id"]);
            }
        }
        n_law += 1;
    }
    assert_eq!(n_law, 33);
}

#[test]
fn values_are_checked_as_in_the_vectors() {
    let mut n_law = 0;
    for case in cases("validate/") {
        let checked = validator(&case["schema"])
            .unwrap()
            .parse(case["raw"].as_str().unwrap());
        match checked {
            Ok(value) => {
                let mut expected = case["ok"].to_string();
                if case["id"] == "validate/float_integral" {
                    // The vectors keep such a number in words.
                    expected = "{\"n\":1.0}".to_owned();
                }
                assert_eq!(value.to_string(), expected, "{}", case["id"]);
                assert!(case.get("ok").is_some(), "{}", case["id"]);
            }
            Err(error) => {
                let mut expected = case["error"].clone();
                expected.as_object_mut().unwrap().remove("type");
                assert_eq!(error_json(&error), expected, "{}", case["id"]);
            }
        }
        n_law += 1;
    }
    assert_eq!(n_law, 25);
}
