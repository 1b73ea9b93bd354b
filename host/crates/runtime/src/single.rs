//! The bottom of the ladder, where it is shortest: one option and nothing to fill in. No model is
//! asked, and the decision is recorded all the same.

use openprogram_core::JsonObject;
use openprogram_core::decision::{MenuOption, make_pick};
use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::function::{Expose, RenderRange};
use openprogram_core::llm::StopReason;
use openprogram_core::session::{NewNode, NodeEnd, NodeKind, NodeStatus, Usage};
use serde_json::json;

use crate::frame::Frame;
use crate::open_pick::{CERTAIN, Picked, PlannedDecision, confidence_facts, method, picked_facts};
use crate::ports::Ports;

/// The name of the node of a decision that no model made.
const NODE_NAME: &str = "decision";

/// Picks the only option.
///
/// # Errors
/// When it cannot be recorded.
pub(crate) async fn pick_only(
    ports: &Ports,
    frame: &Frame,
    planned: &PlannedDecision,
    option: &MenuOption,
) -> Result<Picked, Failure> {
    let pick = make_pick(&planned.menu, &option.name, JsonObject::new())
        .map_err(|error| Failure::new(FailureCode::Internal, error.message))?;
    let mut facts = picked_facts(method::SINGLE, &pick);
    facts.extend(confidence_facts(CERTAIN));
    facts.insert("prompt".to_owned(), planned.prompt.as_str().into());
    let predecessor = match frame.node {
        Some(_) => None,
        None => ports.recorder.newest_at_top(&frame.run.session).await?,
    };
    let now = ports.recorder.now();
    let node = NewNode {
        id: ports.recorder.new_node_id(),
        session: frame.run.session.clone(),
        kind: NodeKind::Code,
        name: NODE_NAME.to_owned(),
        caller: frame.node.clone(),
        predecessor,
        reads: Vec::new(),
        input: json!({ "options": [option.name] }),
        expose: Expose::default(),
        render_range: RenderRange::default(),
        doc: None,
        facts,
        started_at: now,
    };
    let turn = node.id.clone();
    let end = NodeEnd {
        status: NodeStatus::Completed,
        output: Some(json!({ "call": option.name })),
        failure: None,
        usage: None,
        attempts: Vec::new(),
        facts: JsonObject::new(),
        finished_at: now,
    };
    ports.recorder.append(node, end).await?;
    Ok(Picked {
        pick,
        turn,
        method: method::SINGLE,
        confidence: Some(CERTAIN),
        handed_off: None,
        weights: None,
        n_asked: 0,
        usage_again: Usage::default(),
        stop: StopReason::End,
    })
}
