//! Lets a model pick: one way for models that write, one for models that only weigh options.
//!
//! Nothing runs here. Every request is a node, closed with the method and what came of it.

use std::sync::Arc;

use openprogram_core::decision::{
    DecisionError, Menu, MenuOption, Payload, Pick, PickError, WeightsError, parse_reply,
    pick_from_weights, render_menu, render_retry,
};
use openprogram_core::failure::Failure;
use openprogram_core::function::{RuntimeRole, parameters_to_json_schema};
use openprogram_core::id::NodeId;
use openprogram_core::llm::{
    Choice, DecisionState, LlmError, LlmFailure, LlmReason, Provider, Weight,
};
use openprogram_core::schema::{CheckMode, Type, type_to_json_schema};
use openprogram_core::{Json, JsonObject};
use serde_json::json;

use crate::complete::{Turn, complete_text, provider_of, weigh_options};
use crate::events::Event;
use crate::frame::Frame;
use crate::ports::Ports;

/// The method of a pick that was read from a reply.
const TEXT: &str = "text";
/// The method of a pick by a provider that only picks.
const DECIDER: &str = "decider";

/// A decision that may be put to a model.
#[derive(Debug)]
pub(crate) struct PlannedDecision {
    pub(crate) role: RuntimeRole,
    pub(crate) prompt: String,
    pub(crate) menu: Menu,
    /// The context of the frame with that of the menu laid over it.
    pub(crate) context: JsonObject,
    pub(crate) max_retries: u32,
}

/// A valid pick and the turn that made it.
pub(crate) struct Picked {
    pub(crate) pick: Pick,
    pub(crate) turn: NodeId,
    pub(crate) method: &'static str,
    /// How often the model was asked.
    pub(crate) n_asked: u32,
    /// The reply that held the pick; empty for a decider.
    pub(crate) reply: String,
}

/// Lets a model pick, by the best way its provider has.
pub(crate) async fn ask(
    ports: &Ports,
    frame: &Frame,
    planned: &PlannedDecision,
) -> Result<Picked, Failure> {
    let provider = provider_of(ports, planned.role)?;
    frame.run.emit(|| Event::DecisionAsked {
        caller: frame.node.clone(),
        options: planned
            .menu
            .options()
            .iter()
            .map(|o| o.name.clone())
            .collect(),
    });
    let picked = if provider.abilities().decide {
        ask_decider(ports, frame, provider, planned).await?
    } else {
        ask_for_text(ports, frame, provider, planned).await?
    };
    frame.run.emit(|| Event::DecisionPicked {
        node: picked.turn.clone(),
        option: picked.pick.name.clone(),
        method: picked.method,
    });
    Ok(picked)
}

/// The text way: prompt and menu, one JSON reply, and again with the reason when it is no pick.
async fn ask_for_text(
    ports: &Ports,
    frame: &Frame,
    provider: &dyn Provider,
    planned: &PlannedDecision,
) -> Result<Picked, Failure> {
    let menu = render_menu(&planned.menu);
    let mut text = format!("{}\n\n{}", planned.prompt, menu.trim_end());
    let mut facts = JsonObject::new();
    let mut n_asked = 0;
    loop {
        let turn = Turn {
            role: planned.role,
            text,
            facts,
        };
        let (open, reply) = complete_text(ports, frame, provider, turn).await?;
        n_asked += 1;
        let node = open.id().clone();
        let error = match parse_reply(&planned.menu, &reply, CheckMode::Strict) {
            Ok(pick) => {
                let facts = picked_facts(TEXT, &pick);
                open.close(reply.clone(), facts).await?;
                return Ok(Picked {
                    pick,
                    turn: node,
                    method: TEXT,
                    n_asked,
                    reply,
                });
            }
            Err(error) => error,
        };
        open.close(reply.clone(), no_pick_facts(TEXT, &error))
            .await?;
        if n_asked > planned.max_retries {
            return Err(DecisionError::new(error, n_asked, &reply).to_failure());
        }
        frame.run.emit(|| Event::DecisionRetried {
            node: node.clone(),
            kind: error.kind.as_str(),
            retries_left: planned.max_retries + 1 - n_asked,
        });
        // The context shows the reply to the prompt and not the prompt, so it is said again.
        let retry = render_retry(&planned.menu, &reply, &error);
        text = format!("{}\n\n{retry}", planned.prompt);
        facts = JsonObject::new();
        facts.insert("retry_of".to_owned(), node.as_str().into());
    }
}

/// The decider way: the provider weighs the options, the host takes the heaviest one.
async fn ask_decider(
    ports: &Ports,
    frame: &Frame,
    provider: &dyn Provider,
    planned: &PlannedDecision,
) -> Result<Picked, Failure> {
    let state = DecisionState {
        prompt: planned.prompt.clone(),
        system: frame.system(planned.role),
        choices: planned.menu.options().iter().map(choice).collect(),
        session: frame.run.session.clone(),
    };
    let turn = Turn {
        role: planned.role,
        text: planned.prompt.clone(),
        facts: JsonObject::new(),
    };
    let (open, weights) = weigh_options(ports, frame, provider, turn, &state).await?;
    let pairs = weights.iter().map(|w| (w.option.as_str(), w.probability));
    let weighed = match pick_from_weights(&planned.menu, pairs) {
        Ok(weighed) => weighed,
        Err(WeightsError::Pick(error)) => {
            let mut facts = no_pick_facts(DECIDER, &error);
            facts.insert("weights".to_owned(), weights_to_json(&weights));
            open.close(Json::Null, facts).await?;
            return Err(DecisionError::new(error, 1, "").to_failure());
        }
        Err(error) => {
            let message = format!("`{}` gave no distribution: {error}", provider.name());
            let failure = LlmFailure::new(LlmReason::Provider, false, message);
            let failure = LlmError::Failed(failure).to_failure(provider.name());
            return Err(open.fail(failure).await);
        }
    };
    let mut facts = picked_facts(DECIDER, &weighed.pick);
    facts.insert("confidence".to_owned(), weighed.probability.into());
    facts.insert("confidence_source".to_owned(), DECIDER.into());
    facts.insert("weights".to_owned(), weights_to_json(&weights));
    let turn = open.id().clone();
    // Written as a model that writes would have, so that later turns read one form of pick.
    let reply = json!({ "call": weighed.pick.name }).to_string();
    open.close(reply.clone(), facts).await?;
    Ok(Picked {
        pick: weighed.pick,
        turn,
        method: DECIDER,
        n_asked: 1,
        reply,
    })
}

fn picked_facts(method: &str, pick: &Pick) -> JsonObject {
    let mut facts = JsonObject::new();
    facts.insert("method".to_owned(), method.into());
    facts.insert("pick".to_owned(), pick.name.clone().into());
    facts.insert("arguments".to_owned(), pick.arguments.clone().into());
    let coerced = pick.coerced();
    if !coerced.is_empty() {
        facts.insert("coerced".to_owned(), coerced.into());
    }
    facts
}

fn no_pick_facts(method: &str, error: &PickError) -> JsonObject {
    let mut facts = JsonObject::new();
    facts.insert("method".to_owned(), method.into());
    let no_pick = json!({ "kind": error.kind.as_str(), "message": error.message });
    facts.insert("no_pick".to_owned(), no_pick);
    facts
}

fn weights_to_json(weights: &[Weight]) -> Json {
    let weight = |w: &Weight| json!([w.option, w.probability]);
    weights.iter().map(weight).collect()
}

/// One option as a decider sees it.
fn choice(option: &MenuOption) -> Choice {
    let parameters = match &option.payload {
        Payload::Function(function) => parameters_to_json_schema(function.visible_parameters()),
        Payload::Schema(record) => type_to_json_schema(&Type::Record(Arc::clone(record))),
        Payload::Value(_) => parameters_to_json_schema(std::iter::empty()),
    };
    Choice {
        name: option.name.clone(),
        description: option.description.clone(),
        parameters,
    }
}
