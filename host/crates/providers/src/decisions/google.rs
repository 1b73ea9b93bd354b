//! The form of Google: questions and answers by id, the input as one text.

use openprogram_core::llm::{Choice, DecisionState, LlmFailure};
use openprogram_core::session::Usage;
use openprogram_core::{Json, JsonObject};
use serde_json::json;

use super::answer::{Answer, declined, unusable};
use super::state::Cut;
use super::{INSTRUCTIONS, QUESTION};

pub(super) fn encode(model: &str, state: &DecisionState, cut: &Cut<'_>) -> Json {
    let model = if model.contains('/') {
        model.to_owned()
    } else {
        format!("models/{model}")
    };
    let criterion = |choice: &Choice| {
        let description = choice.description.as_str().into();
        (choice.name.clone(), description)
    };
    let criteria: JsonObject = state.choices.iter().map(criterion).collect();
    json!({
        "model": model,
        "questions": {
            QUESTION: {"type": "choice", "instructions": INSTRUCTIONS, "criteria": criteria},
        },
        "input": cut.as_text(),
    })
}

pub(super) fn decode(body: Json) -> Result<Answer, LlmFailure> {
    let blocked = body.pointer("/prompt_feedback/block_reason");
    if let Some(reason) = blocked.and_then(Json::as_str) {
        let reason: String = reason.chars().take(64).collect();
        return Err(declined(&format!("the input is blocked as `{reason}`")));
    }
    let usage = body.get("usage").and_then(usage);
    match body.get("answers") {
        Some(answers) => Answer::by_id(answers, usage),
        None => Err(unusable("it holds no answers")),
    }
}

fn usage(usage: &Json) -> Option<Usage> {
    let count = |name: &str| usage.get(name).and_then(Json::as_u64);
    let thoughts = count("total_thought_tokens").unwrap_or(0);
    Some(Usage {
        input_tokens: count("total_input_tokens")?,
        output_tokens: count("total_output_tokens")
            .unwrap_or(0)
            .saturating_add(thoughts),
        cache_read: count("total_cached_tokens").unwrap_or(0),
        cache_create: 0,
    })
}
