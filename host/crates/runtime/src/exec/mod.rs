//! One turn: the model works, calls tools and works on, until it answers in text.
//!
//! Select, render, ask, record, act, and again. Every request is a node of its own; its calls run
//! in child frames below that node. What the loop said so far is sent as the provider's own calls
//! and results; later turns read it from the graph.

mod acting;
mod work;

use std::sync::Arc;

use openprogram_core::failure::Failure;
use openprogram_core::guest::{ExecReply, ExecRequest, StartedTurn, TurnWatcher};
use openprogram_core::llm::{Operation, StopReason};
use openprogram_core::session::Usage;
use openprogram_core::{Json, JsonObject};

use crate::chosen_provider::provider_of;
use crate::complete::Asker;
use crate::deadline::Deadline;
use crate::ending::ended_at;
use crate::events::Event;
use crate::frame::Frame;
use crate::local::local_tools;
use crate::open_turn::{OpenTurn, said_or_none};
use crate::ports::Ports;
use crate::structured::Read;
use crate::tool_call::calls_fact;
use crate::turn::{PlannedTurn, plan_turn, plan_watched_turn};

use work::Work;

/// The last reply of a turn, its node still open.
pub(crate) struct Worked<'a> {
    pub(crate) open: OpenTurn<'a>,
    pub(crate) text: String,
    /// What it said in replies that its provider paused.
    said_before: String,
    /// The checked value of a turn with a format.
    structured: Option<Json>,
    pub(crate) usage: Usage,
    pub(crate) n_requests: u32,
}

/// Makes one turn for the function of `frame`.
pub(crate) async fn exec(
    ports: &Arc<Ports>,
    frame: &Arc<Frame>,
    request: ExecRequest,
) -> Result<ExecReply, Failure> {
    let deadline = Deadline::start(&ports.parts, request.timeout_ms);
    let turn = plan_turn(ports, frame, request).await;
    let turn = turn.inspect_err(|failure| frame.note_refusal(failure))?;
    exec_planned(ports, frame, &deadline, &turn).await
}

/// Checks one turn for the function of `frame`, which goes on beside it and is told of it.
///
/// Its time runs from now.
pub(crate) async fn start(
    ports: &Arc<Ports>,
    frame: &Arc<Frame>,
    request: ExecRequest,
    watcher: Arc<dyn TurnWatcher>,
) -> Result<StartedTurn, Failure> {
    let deadline = Deadline::start(&ports.parts, request.timeout_ms);
    let turn = plan_started_turn(ports, frame, request, watcher)
        .await
        .inspect_err(|failure| frame.note_refusal(failure))?;
    let (ports, frame) = (Arc::clone(ports), Arc::clone(frame));
    Ok(Box::pin(async move {
        exec_planned(&ports, &frame, &deadline, &turn).await
    }))
}

/// Checks a turn that goes on beside its function, which runs tools of it.
pub(crate) async fn plan_started_turn(
    ports: &Ports,
    frame: &Frame,
    mut request: ExecRequest,
    watcher: Arc<dyn TurnWatcher>,
) -> Result<PlannedTurn, Failure> {
    let tools = local_tools(&request.local_tools, &watcher)?;
    request.host_tools.extend(tools);
    plan_watched_turn(ports, frame, request, Some(watcher)).await
}

/// Makes one turn that was checked, for the function of `frame` or the person at the top.
pub(crate) async fn exec_planned(
    ports: &Arc<Ports>,
    frame: &Arc<Frame>,
    deadline: &Deadline,
    turn: &PlannedTurn,
) -> Result<ExecReply, Failure> {
    let worked = work(ports, frame, deadline, turn, None).await?;
    let node = worked.open.id().clone();
    let stop = worked.open.stop;
    let said = worked.text.clone();
    worked.open.close(said, JsonObject::new()).await?;
    frame.run.emit(|| Event::TurnEnded {
        node,
        usage: worked.usage,
        n_requests: worked.n_requests,
        stop,
    });
    Ok(ExecReply {
        text: worked.said_before + &worked.text,
        structured: worked.structured,
        usage: worked.usage,
        stop,
    })
}

/// Works until a reply asks for no call. `closing` is said after the content of the turn.
///
/// # Errors
/// `llm` when a request fails or the time is up; `limit-reached` when the turn goes on for too
/// long, with the last text as `partial`.
pub(crate) async fn work<'a>(
    ports: &'a Arc<Ports>,
    frame: &'a Arc<Frame>,
    deadline: &'a Deadline,
    turn: &'a PlannedTurn,
    closing: Option<&str>,
) -> Result<Worked<'a>, Failure> {
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
    let mut work = Work::begin(ports, frame, asker, turn, closing).await?;
    let mut n_requests = 0;
    let mut last_text = String::new();
    let mut said_before = String::new();
    loop {
        n_requests += 1;
        let asked = work.ask().await;
        let (open, reply) = asked.map_err(|failure| ended_at(failure, &last_text))?;
        let calls = work.wanted(&reply);
        let text = reply.text();
        if reply.stop == StopReason::Paused && calls.is_empty() {
            said_before.push_str(&text);
            let is_last = n_requests == turn.iterations_max;
            let stop = work.go_on_paused(open, &reply, is_last).await?;
            if let Some(failure) = stop {
                return Err(failure.with("partial", said_before));
            }
            last_text.clone_from(&said_before);
            continue;
        }
        let ended = match work.read(&reply) {
            Some(Read::Value(value, text)) => Some((Some(value), text)),
            Some(Read::Misfit(error)) => {
                work.repair(open, &calls, &reply, &error).await?;
                continue;
            }
            None if calls.is_empty() => Some((None, text.clone())),
            Some(Read::Calls) | None => None,
        };
        if let Some((structured, text)) = ended {
            return Ok(Worked {
                open,
                said_before: match structured {
                    // The text of a value is the value.
                    Some(_) => String::new(),
                    None => said_before,
                },
                text,
                structured,
                usage: work.usage,
                n_requests,
            });
        }
        let node = open.id().clone();
        let is_last = n_requests == turn.iterations_max;
        let mut facts = JsonObject::new();
        facts.insert("calls".to_owned(), calls_fact(&calls));
        if is_last {
            facts.insert("not_run".to_owned(), "max_iterations".into());
        }
        open.close(said_or_none(&text), facts).await?;
        let stop = work.act(&node, &calls, &reply, is_last).await?;
        if let Some(failure) = stop {
            return Err(failure.with("partial", text));
        }
        said_before.clear();
        last_text = text;
    }
}
