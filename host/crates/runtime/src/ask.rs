//! Lets a model pick: one way for models that write, one for models that only weigh options.
//!
//! Nothing runs here. Every request is a node, closed with the method and what came of it.

use std::sync::Arc;

use openprogram_core::content::ContentBlock;
use openprogram_core::decision::{
    Confidence, ConfidenceSource, DecisionError, DecisionSettings, Menu, MenuOption, Payload, Pick,
    PickError, WeightsError, parse_reply, pick_from_weights, render_menu, render_retry,
};
use openprogram_core::failure::Failure;
use openprogram_core::function::{RuntimeRole, parameters_to_json_schema};
use openprogram_core::id::NodeId;
use openprogram_core::llm::{
    Choice, DecisionState, LlmError, LlmFailure, LlmReason, Operation, Weight,
};
use openprogram_core::schema::{CheckMode, Type, type_to_json_schema};
use openprogram_core::session::Usage;
use openprogram_core::{Json, JsonObject};
use serde_json::json;

use crate::complete::{Asker, Said, check_writes, provider_of, summed};
use crate::deadline::Deadline;
use crate::events::Event;
use crate::frame::Frame;
use crate::open_turn::OpenTurn;
use crate::ports::Ports;

/// The method of a pick that was read from a reply.
pub(crate) const TEXT: &str = "text";
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
    /// Checked against the menu.
    pub(crate) settings: DecisionSettings,
}

/// A valid pick and the turn that made it.
pub(crate) struct Picked {
    pub(crate) pick: Pick,
    pub(crate) turn: NodeId,
    pub(crate) method: &'static str,
    /// How sure it is, if anybody said.
    pub(crate) confidence: Option<Confidence>,
    /// How often the model was asked.
    pub(crate) n_asked: u32,
    /// Tokens used by asking again.
    pub(crate) usage_again: Usage,
}

/// Lets a model pick, by the best way its provider has.
pub(crate) async fn ask(
    ports: &Ports,
    frame: &Frame,
    planned: &PlannedDecision,
) -> Result<Picked, Failure> {
    let deadline = Deadline::start(&ports.parts, None);
    let asker = Asker {
        ports,
        frame,
        provider: provider_of(ports, planned.role)?,
        role: planned.role,
        operation: Operation::Decision,
        deadline: &deadline,
    };
    tell_asked(frame, &planned.menu);
    if asker.provider.abilities().decide {
        ask_decider(asker, planned).await
    } else {
        ask_for_text(asker, planned).await
    }
}

/// Tells that a decision is put to a model.
pub(crate) fn tell_asked(frame: &Frame, menu: &Menu) {
    frame.run.emit(|| Event::DecisionAsked {
        caller: frame.node.clone(),
        options: menu.options().iter().map(|o| o.name.clone()).collect(),
    });
}

fn tell_picked(frame: &Frame, picked: &Picked) {
    frame.run.emit(|| Event::DecisionPicked {
        node: picked.turn.clone(),
        option: picked.pick.name.clone(),
        method: picked.method,
    });
}

/// The text way: prompt and menu, one JSON reply, and again with the reason when it is no pick.
async fn ask_for_text(asker: Asker<'_>, planned: &PlannedDecision) -> Result<Picked, Failure> {
    check_writes(asker.provider)?;
    let said = Said {
        system: asker.frame.system(asker.role),
        content: vec![ContentBlock::Text(planned.prompt.clone())],
    };
    let content = said.followed_by(render_menu(&planned.menu).trim_end());
    let first = asker.ask_for_text(said.system.clone(), content, JsonObject::new());
    let first = first.await?;
    pick_from_reply(asker, planned, &said, first).await
}

/// Asks about a reply that came from elsewhere and held no valid pick.
///
/// # Errors
/// When the provider does not write.
pub(crate) async fn ask_about(
    ports: &Ports,
    frame: &Frame,
    planned: &PlannedDecision,
    reply: &str,
    error: &PickError,
) -> Result<Picked, Failure> {
    let deadline = Deadline::start(&ports.parts, None);
    let asker = Asker {
        ports,
        frame,
        provider: provider_of(ports, planned.role)?,
        role: planned.role,
        operation: Operation::Decision,
        deadline: &deadline,
    };
    check_writes(asker.provider)?;
    tell_asked(frame, &planned.menu);
    let said = Said {
        system: frame.system(planned.role),
        content: Vec::new(),
    };
    let content = said.followed_by(&render_retry(&planned.menu, reply, error));
    let first = asker.ask_for_text(said.system.clone(), content, JsonObject::new());
    let first = first.await?;
    pick_from_reply(asker, planned, &said, first).await
}

/// Takes the pick out of a reply, and asks again while there is none.
pub(crate) async fn pick_from_reply<'a>(
    asker: Asker<'a>,
    planned: &PlannedDecision,
    said: &Said,
    first: (OpenTurn<'a>, String),
) -> Result<Picked, Failure> {
    let (mut open, mut reply) = first;
    let mut n_asked = 1;
    let mut usage_again = Usage::default();
    loop {
        let node = open.id().clone();
        let error = match parse_reply(&planned.menu, &reply, CheckMode::Strict) {
            Ok(pick) => {
                let facts = picked_facts(TEXT, &pick);
                open.close(reply, facts).await?;
                let picked = Picked {
                    pick,
                    turn: node,
                    method: TEXT,
                    confidence: None,
                    n_asked,
                    usage_again,
                };
                tell_picked(asker.frame, &picked);
                return Ok(picked);
            }
            Err(error) => error,
        };
        open.close(reply.clone(), no_pick_facts(TEXT, &error))
            .await?;
        if n_asked > planned.max_retries {
            return Err(DecisionError::new(error, n_asked, &reply).to_failure());
        }
        asker.frame.run.emit(|| Event::DecisionRetried {
            node: node.clone(),
            kind: error.kind.as_str(),
            retries_left: planned.max_retries + 1 - n_asked,
        });
        // The context shows the reply to what was said and not what was said, so it is said again.
        let content = said.followed_by(&render_retry(&planned.menu, &reply, &error));
        let mut facts = JsonObject::new();
        facts.insert("retry_of".to_owned(), node.as_str().into());
        let again = asker.ask_for_text(said.system.clone(), content, facts);
        (open, reply) = again.await?;
        usage_again = summed(usage_again, open.usage);
        n_asked += 1;
    }
}

/// The decider way: the provider weighs the options, the host takes the heaviest one.
async fn ask_decider(asker: Asker<'_>, planned: &PlannedDecision) -> Result<Picked, Failure> {
    let (messages, reads) = if asker.provider.decision_limits().is_endpoint {
        let context = asker.read().await?;
        let reads = context.reads.clone();
        (context.finish_with([]), reads)
    } else {
        (Vec::new(), Vec::new())
    };
    let state = DecisionState {
        prompt: planned.prompt.clone(),
        system: asker.frame.system(planned.role),
        messages,
        choices: planned.menu.options().iter().map(choice).collect(),
        session: asker.frame.run.session.clone(),
    };
    let (open, reply) = asker.weigh(&state, reads, JsonObject::new()).await?;
    let weights = reply.weights;
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
            let name = asker.provider.name();
            let message = format!("`{name}` gave no distribution: {error}");
            let failure = LlmFailure::new(LlmReason::Provider, false, message);
            let failure = LlmError::Failed(failure).to_failure(name);
            return Err(open.fail(failure).await);
        }
    };
    let mut facts = picked_facts(DECIDER, &weighed.pick);
    facts.insert("confidence".to_owned(), weighed.probability.into());
    let source = ConfidenceSource::Decider.as_str();
    facts.insert("confidence_source".to_owned(), source.into());
    facts.insert("weights".to_owned(), weights_to_json(&weights));
    let turn = open.id().clone();
    // Written as a model that writes would have, so that later turns read one form of pick.
    let reply = json!({ "call": weighed.pick.name }).to_string();
    open.close(reply, facts).await?;
    let picked = Picked {
        pick: weighed.pick,
        turn,
        method: DECIDER,
        confidence: Some(Confidence {
            value: weighed.probability,
            source: ConfidenceSource::Decider,
        }),
        n_asked: 1,
        usage_again: Usage::default(),
    };
    tell_picked(asker.frame, &picked);
    Ok(picked)
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
