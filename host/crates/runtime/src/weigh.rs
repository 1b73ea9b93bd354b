//! The rung of providers that weigh the options of a menu and write nothing: the host takes the
//! heaviest option.

use std::sync::Arc;

use openprogram_core::decision::{
    Confidence, ConfidenceSource, DecisionError, Menu, MenuOption, Pick, pick_without_arguments,
    read_weights,
};
use openprogram_core::failure::Failure;
use openprogram_core::llm::{
    Choice, DecisionReply, DecisionState, LlmError, LlmFailure, LlmReason,
};
use openprogram_core::session::Usage;
use openprogram_core::{Json, JsonObject};
use serde_json::json;

use crate::complete::Asker;
use crate::open_pick::{OpenPick, PlannedDecision, method, no_pick_facts, weights_to_json};

/// Lets the provider weigh the options of a menu. A pick that takes arguments has none yet.
///
/// # Errors
/// `llm` when the provider cannot be asked or its answer is no distribution over the menu;
/// `decision` when it picks what needs arguments and does not write. Recorded.
pub(crate) async fn weigh<'a>(
    asker: Asker<'a>,
    planned: &PlannedDecision,
    menu: &Menu,
    facts: JsonObject,
) -> Result<OpenPick<'a>, Failure> {
    let is_endpoint = asker.provider.decision_limits().is_endpoint;
    let (messages, reads) = if is_endpoint {
        let context = asker.read().await?;
        let reads = context.reads.clone();
        (context.finish_with([]), reads)
    } else {
        (Vec::new(), Vec::new())
    };
    let state = DecisionState {
        prompt: planned.prompt.clone(),
        system: asker.frame.system(planned.runtime),
        messages,
        choices: menu.options().iter().map(choice).collect(),
        session: asker.frame.run.session.clone(),
        totals: Arc::clone(&asker.frame.run.totals),
    };
    let (open, reply) = asker.weigh(&state, reads, facts).await?;
    let (method, source) = if is_endpoint {
        (method::ENDPOINT, ConfidenceSource::Endpoint)
    } else {
        (method::DECIDER, ConfidenceSource::Decider)
    };
    let given = reply.weights.iter().map(|w| (&*w.option, w.probability));
    let facts = reply_facts(&reply);
    let weighed = match read_weights(menu, given) {
        Ok(weighed) => weighed.preferring(menu, reply.choice.as_deref()),
        Err(error) => {
            let name = asker.provider.name();
            let message = format!("`{name}` gave no distribution: {error}");
            let failure = LlmFailure::new(LlmReason::Provider, false, message);
            let failure = LlmError::Failed(failure).to_failure(name);
            return Err(open.fail(failure).await);
        }
    };
    let option = &menu.options()[weighed.index];
    let lacks_arguments = option.takes_arguments() && asker.provider.abilities().text;
    let pick = if lacks_arguments {
        without_arguments_yet(weighed.index, option)
    } else {
        match pick_without_arguments(menu, &option.name) {
            Ok(pick) => pick,
            Err(error) => {
                let mut all = no_pick_facts(method, &error);
                all.extend(facts);
                open.close(Json::Null, all).await?;
                return Err(DecisionError::new(error, 1, "").to_failure());
            }
        }
    };
    Ok(OpenPick {
        open,
        // Written as a model that writes would have, so that later turns read one form of pick.
        reply: json!({ "call": pick.name }).to_string(),
        pick,
        method,
        lacks_arguments,
        confidence: Some(Confidence {
            value: weighed.probability,
            source,
        }),
        weights: Some(weighed.weights),
        n_asked: 1,
        usage_again: Usage::default(),
        facts,
    })
}

fn without_arguments_yet(index: usize, option: &MenuOption) -> Pick {
    Pick {
        index,
        name: option.name.clone(),
        arguments: JsonObject::new(),
        coercions: Vec::new(),
        repairs: Vec::new(),
    }
}

/// What the record says about an answer.
fn reply_facts(reply: &DecisionReply) -> JsonObject {
    let mut facts = JsonObject::new();
    let weights = reply.weights.iter().map(|w| (&*w.option, w.probability));
    facts.insert("weights".to_owned(), weights_to_json(weights));
    if let Some(own) = reply.own_confidence {
        facts.insert("provider_confidence".to_owned(), own.into());
    }
    if reply.texts_left_out > 0 {
        let count = reply.texts_left_out.into();
        facts.insert("context_left_out".to_owned(), count);
    }
    facts
}

/// One option as a provider that weighs sees it.
fn choice(option: &MenuOption) -> Choice {
    Choice {
        name: option.name.clone(),
        description: option.description.clone(),
        parameters: option.arguments_schema(),
    }
}
