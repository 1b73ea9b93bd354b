//! The host as a library in a program of its own, as the README shows it.

mod example;

use openprogram_core::failure::{Failure, FailureCode};
use openprogram_tests::guests;
use serde_json::json;

#[tokio::test]
async fn the_example_of_the_readme_runs_a_component_with_a_closure_as_its_model() {
    let support = guests::bytes("support");
    let picked = example::route(support, "See you!").await.unwrap();
    assert_eq!(picked, json!("CONVERSATION_OVER"));
}

#[tokio::test]
async fn a_failure_of_the_model_of_the_example_is_told() {
    let support = guests::bytes("support");
    let error = example::route(support, "Hello?").await.unwrap_err();
    let failure = error.downcast_ref::<Failure>().unwrap();
    assert_eq!(failure.code, FailureCode::Llm);
    assert_eq!(failure.details["attempts"], 1);
    assert_eq!(failure.details["http_status"], 400);
}
