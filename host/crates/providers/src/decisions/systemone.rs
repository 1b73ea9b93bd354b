//! The form of System One: questions and answers by id, a state. Many servers speak it; those at
//! home leave out what can be computed.

use openprogram_core::llm::{Choice, DecisionState, LlmFailure};
use openprogram_core::{Json, JsonObject};
use serde_json::json;

use super::answer::{Answer, unusable, usage};
use super::state::Cut;
use super::{INSTRUCTIONS, QUESTION};

pub(super) fn encode(model: &str, state: &DecisionState, cut: &Cut<'_>) -> Json {
    let criterion = |choice: &Choice| {
        let described = Some(choice.description.as_str()).filter(|text| !text.is_empty());
        (choice.name.clone(), described.into())
    };
    let criteria: JsonObject = state.choices.iter().map(criterion).collect();
    json!({
        "model": model,
        "state": cut.as_text(),
        "questions": {
            QUESTION: {"type": "choice", "instructions": INSTRUCTIONS, "criteria": criteria},
        },
    })
}

pub(super) fn decode(body: Json) -> Result<Answer, LlmFailure> {
    let usage = body.get("usage").and_then(usage);
    match body.get("answers") {
        Some(answers) => Answer::by_id(answers, usage),
        None => Err(unusable("it holds no answers")),
    }
}
