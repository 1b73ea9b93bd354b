//! A turn that closes with a decision: first the work, then the pick, then its result.
//!
//! The menu is checked before any model is asked. The last reply is read once; a reply without a
//! valid pick is asked about once more, without tools and within the same deadline.

use std::sync::Arc;

use openprogram_core::decision::{DecisionSettings, finish_instruction, render_menu};
use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::guest::{
    Closing, DecisionRequest, ExecRequest, PickedOption, StartedPick, TurnEvent, TurnWatcher,
};
use openprogram_core::llm::Operation;
use openprogram_core::{Json, JsonObject};

use crate::ask::tell_asked;
use crate::chosen_provider::provider_of;
use crate::complete::{Asker, summed};
use crate::deadline::Deadline;
use crate::decide::{as_option, can_run, plan_decision};
use crate::events::Event;
use crate::exec::{plan_started_turn, work};
use crate::frame::Frame;
use crate::ladder::{note_passed_over, shape_of};
use crate::open_pick::{Picked, PlannedDecision, tell_picked};
use crate::ports::Ports;
use crate::resolve::resolve;
use crate::turn::{PlannedTurn, plan_turn};
use crate::write::{AskedFor, read_pick};

/// How often the pick of a turn is asked for again.
const RETRIES: u32 = 1;

/// A turn that closes with a decision, both checked.
pub(crate) struct PlannedClosing {
    decision: PlannedDecision,
    turn: PlannedTurn,
}

/// Checks a turn that closes with a decision.
///
/// # Errors
/// Before any model is asked.
pub(crate) async fn plan_closing(
    ports: &Ports,
    frame: &Frame,
    request: ExecRequest,
    closing: Closing,
) -> Result<PlannedClosing, Failure> {
    plan(ports, frame, request, closing, None).await
}

async fn plan(
    ports: &Ports,
    frame: &Frame,
    request: ExecRequest,
    closing: Closing,
    watcher: Option<Arc<dyn TurnWatcher>>,
) -> Result<PlannedClosing, Failure> {
    if request.response_format.is_some() {
        let message = "a turn closes with a pick or with a value of a format, not with both";
        let failure = Failure::new(FailureCode::InvalidArgument, message);
        return Err(failure.with("path", "response_format"));
    }
    let decision = DecisionRequest {
        prompt: String::new(),
        media: Vec::new(),
        options: closing.options,
        context: closing.context,
        max_retries: RETRIES,
        runtime: None,
        settings: DecisionSettings::default(),
    };
    let decision = plan_decision(ports, frame, request.runtime, decision).and_then(can_run)?;
    let mut turn = match watcher {
        Some(watcher) => plan_started_turn(ports, frame, request, watcher).await?,
        None => plan_turn(ports, frame, request).await?,
    };
    // The model works in words and in calls before it picks, so both must go together.
    let mut passed_over = JsonObject::new();
    let provider = provider_of(ports, frame, turn.runtime)?;
    turn.shape = shape_of(provider, &decision.menu, true, &mut passed_over);
    note_passed_over(passed_over, &mut turn.facts);
    Ok(PlannedClosing { decision, turn })
}

/// Makes one turn whose last reply is a pick, for the function of `frame`, and resolves the pick.
pub(crate) async fn exec_closing(
    ports: &Arc<Ports>,
    frame: &Arc<Frame>,
    request: ExecRequest,
    closing: Closing,
) -> Result<Json, Failure> {
    let deadline = Deadline::start(&ports.parts, request.timeout_ms);
    let planned = plan_closing(ports, frame, request, closing)
        .await
        .inspect_err(|failure| frame.note_refusal(failure))?;
    close_planned(ports, frame, &deadline, planned).await
}

/// Makes the same turn, and carries nothing out.
pub(crate) async fn exec_picking(
    ports: &Arc<Ports>,
    frame: &Arc<Frame>,
    request: ExecRequest,
    closing: Closing,
) -> Result<PickedOption, Failure> {
    let deadline = Deadline::start(&ports.parts, request.timeout_ms);
    let planned = plan_closing(ports, frame, request, closing)
        .await
        .inspect_err(|failure| frame.note_refusal(failure))?;
    let (_, picked) = work_and_pick(ports, frame, &deadline, planned).await?;
    Ok(as_option(picked))
}

/// Checks the same turn for the function of `frame`, which goes on beside it and is told of it.
///
/// Its time runs from now.
pub(crate) async fn start_picking(
    ports: &Arc<Ports>,
    frame: &Arc<Frame>,
    request: ExecRequest,
    closing: Closing,
    watcher: Arc<dyn TurnWatcher>,
) -> Result<StartedPick, Failure> {
    let deadline = Deadline::start(&ports.parts, request.timeout_ms);
    let planned = plan(ports, frame, request, closing, Some(watcher))
        .await
        .inspect_err(|failure| frame.note_refusal(failure))?;
    let (ports, frame) = (Arc::clone(ports), Arc::clone(frame));
    Ok(Box::pin(async move {
        let (_, picked) = work_and_pick(&ports, &frame, &deadline, planned).await?;
        Ok(as_option(picked))
    }))
}

/// Makes such a turn that was checked, for the function of `frame` or the person at the top.
pub(crate) async fn close_planned(
    ports: &Arc<Ports>,
    frame: &Arc<Frame>,
    deadline: &Deadline,
    planned: PlannedClosing,
) -> Result<Json, Failure> {
    let (decision, picked) = work_and_pick(ports, frame, deadline, planned).await?;
    // The work is over; what the pick runs has the limits of a call and not the time of the turn.
    resolve(ports, frame, decision, picked).await
}

async fn work_and_pick(
    ports: &Arc<Ports>,
    frame: &Arc<Frame>,
    deadline: &Deadline,
    planned: PlannedClosing,
) -> Result<(PlannedDecision, Picked), Failure> {
    let PlannedClosing { decision, turn } = planned;
    tell_asked(frame, &decision.menu);
    let menu = render_menu(&decision.menu);
    let instruction = format!("{}\n\n{}", finish_instruction(), menu.trim_end());
    let worked = work(ports, frame, deadline, &turn, Some(&instruction)).await?;

    let mut again = turn.said.clone();
    if frame.node.is_none() {
        // What a person said in words stands in the session already.
        again.content.retain(|block| block.as_text().is_none());
    }
    let asker = Asker {
        ports,
        frame,
        provider: provider_of(ports, frame, turn.runtime)?,
        runtime: turn.runtime,
        operation: Operation::Exec,
        deadline,
        rejected: None,
        watcher: turn.watcher.as_deref(),
    };
    let (usage, n_requests) = (worked.usage, worked.n_requests);
    let first = (worked.open, worked.text);
    let asked = AskedFor {
        menu: &decision.menu,
        shape: turn.shape.as_ref(),
    };
    let open = read_pick(asker, &decision, asked, &again, first).await?;
    let picked = open.settle(&decision).await?;
    if picked.n_asked > 1 {
        turn.tell(|| TurnEvent::Usage(picked.usage_again));
    }
    tell_picked(frame, &picked);
    frame.run.emit(|| Event::TurnEnded {
        node: picked.turn.clone(),
        usage: summed(usage, Some(picked.usage_again)),
        n_requests: n_requests + picked.n_asked - 1,
        stop: picked.stop,
    });
    Ok((decision, picked))
}
