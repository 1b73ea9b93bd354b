//! The form of OpenAI: questions and answers in a list, the input as messages.

use openprogram_core::Json;
use openprogram_core::content::Role;
use openprogram_core::id::SessionId;
use openprogram_core::llm::{DecisionState, LlmFailure};
use serde::Deserialize;
use serde_json::json;

use super::answer::{Answer, declined, shown, unusable, usage};
use super::state::Cut;
use super::{INSTRUCTIONS, QUESTION};
use crate::failure;

pub(super) fn encode(
    model: &str,
    state: &DecisionState,
    cut: &Cut<'_>,
    cache_key: Option<&SessionId>,
) -> Json {
    let mut input = Vec::new();
    if let Some(system) = cut.system() {
        input.push(json!({"role": "developer", "content": system}));
    }
    input.extend(cut.messages().into_iter().map(|(role, text)| {
        let role = match role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        json!({"role": role, "content": text})
    }));
    let choices = state.choices.iter().map(|choice| {
        let mut value = json!({"value": choice.name});
        if !choice.description.is_empty() {
            value["description"] = choice.description.as_str().into();
        }
        value
    });
    let mut body = json!({
        "model": model,
        "questions": [{
            "type": "choice",
            "name": QUESTION,
            "instructions": INSTRUCTIONS,
            "choices": choices.collect::<Vec<_>>(),
        }],
    });
    if let Some(key) = cache_key {
        body["prompt_cache_key"] = key.as_str().into();
    }
    body["input"] = input.into();
    body
}

#[derive(Deserialize)]
struct Decision {
    answers: Vec<Json>,
    usage: Option<Json>,
}

#[derive(Deserialize)]
struct Choice {
    choice: Option<Json>,
    confidence: Option<Json>,
    probabilities: Vec<Probability>,
}

#[derive(Deserialize)]
struct Probability {
    value: Json,
    probability: Json,
}

pub(super) fn decode(body: Json) -> Result<Answer, LlmFailure> {
    let decision: Decision =
        serde_json::from_value(body).map_err(|error| failure::not_json(&error))?;
    let [answer] = <[Json; 1]>::try_from(decision.answers).map_err(|answers| {
        unusable(format!(
            "it answers {} questions, not the one asked",
            answers.len()
        ))
    })?;
    match answer.get("type").and_then(Json::as_str) {
        Some("choice") => {}
        Some("refusal") => return Err(declined("the model refuses the question")),
        _ => {
            let kind = shown(answer.get("type").unwrap_or(&Json::Null));
            return Err(unusable(format!("its type is {kind}, not \"choice\"")));
        }
    }
    let answer: Choice =
        serde_json::from_value(answer).map_err(|error| failure::not_json(&error))?;
    let pair = |one: Probability| (one.value, one.probability);
    Ok(Answer {
        choice: answer.choice,
        confidence: answer.confidence,
        probabilities: answer.probabilities.into_iter().map(pair).collect(),
        usage: decision.usage.as_ref().and_then(usage),
    })
}
