//! The entries at the top of a run: enter a session, make the top frame, stop when told to.

use std::future::{Future, pending};
use std::sync::Arc;
use std::time::Duration;

use openprogram_core::Json;
use openprogram_core::content::ContentBlock;
use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::function::RuntimeRole;
use openprogram_core::guest::{Closing, ExecReply};
use openprogram_core::id::SessionId;
use tracing::Instrument as _;

use crate::arguments::complete_arguments;
use crate::ask::ask_about;
use crate::call::{CallEnd, PlannedCall, find_function, run_call};
use crate::closing::{close_planned, plan_closing};
use crate::deadline::{Deadline, until};
use crate::decide::{as_decided, decide_at_top, make_at_top, plan_at_top};
use crate::exec::exec_planned;
use crate::frame::Frame;
use crate::open_pick::PlannedDecision;
use crate::parse::{ReadAtTop, read_at_top};
use crate::ports::Ports;
use crate::request::{
    DecideOutcome, DecideRequest, RunOutcome, RunRequest, TurnOutcome, TurnRequest,
};
use crate::spans;
use crate::turn::plan_turn;
use crate::watchers::Watchers;

pub(crate) async fn run_function(
    ports: &Arc<Ports>,
    request: RunRequest,
    stop: impl Future<Output = ()>,
) -> RunOutcome {
    let wanted = request.session.clone();
    let begun = async {
        let running = ports.life.enter()?;
        plan(ports, request).await.map(|planned| (running, planned))
    };
    let (_running, (frame, call)) = match begun.await {
        Ok(begun) => begun,
        Err(failure) => {
            return RunOutcome {
                session: known(wanted, &failure),
                node: None,
                result: Err(failure),
            };
        }
    };
    let node = call.node.clone();
    let end = match bounded(ports, run_call(ports, &frame, call), stop).await {
        Ok(end) => end,
        Err(failure) => CallEnd {
            // The node may have been closed a moment before, or never been opened.
            node: match ports.recorder.store().node(&node).await {
                Ok(found) => found.map(|found| found.opened.id),
                Err(_) => None,
            },
            ..CallEnd::refused(failure)
        },
    };
    ports.keep_usage(&frame.run);
    RunOutcome {
        session: ports.recorder.kept(frame.run.session.clone()),
        node: end.node.and_then(|node| ports.recorder.kept(node)),
        result: end.result,
    }
}

async fn plan(ports: &Ports, request: RunRequest) -> Result<(Arc<Frame>, PlannedCall), Failure> {
    let function = find_function(ports, None, &request.function)?;
    let arguments = complete_arguments(&function, &request.arguments, &request.context)?;
    let session = enter(ports, request.session, &function.name.to_string()).await?;
    let predecessor = ports.recorder.newest_at_top(&session).await?;
    let watchers = Watchers {
        events: request.events,
        on_retry: request.on_retry,
    };
    let run = ports.new_run(session, watchers);
    let frame = Arc::new(Frame::top(run, request.context.clone()));
    let call = PlannedCall {
        node: ports.recorder.new_node_id(),
        function,
        arguments,
        context: request.context,
        predecessor,
        picked_by: None,
        inside: None,
    };
    Ok((frame, call))
}

pub(crate) async fn decide(
    ports: &Arc<Ports>,
    request: DecideRequest,
    stop: impl Future<Output = ()>,
) -> DecideOutcome {
    let work = async |frame: Arc<Frame>, planned| decide_at_top(ports, &frame, planned).await;
    let (session, result) = decided(ports, request, work, stop).await;
    DecideOutcome { session, result }
}

pub(crate) async fn make(
    ports: &Arc<Ports>,
    request: DecideRequest,
    stop: impl Future<Output = ()>,
) -> TurnOutcome<Json> {
    let work = async |frame: Arc<Frame>, planned| make_at_top(ports, &frame, planned).await;
    let (session, result) = decided(ports, request, work, stop).await;
    TurnOutcome { session, result }
}

pub(crate) async fn parse(
    ports: &Arc<Ports>,
    reply: &str,
    request: DecideRequest,
    stop: impl Future<Output = ()>,
) -> DecideOutcome {
    let refused = |failure| DecideOutcome {
        session: request.session.clone(),
        result: Err(failure),
    };
    let _running = match ports.life.enter() {
        Ok(running) => running,
        Err(closed) => return refused(closed),
    };
    let (planned, error) = match read_at_top(ports, reply, &request) {
        Ok(ReadAtTop::AskAbout(planned, error)) => (planned, error),
        Ok(ReadAtTop::Picked(pick)) => {
            return DecideOutcome {
                session: request.session,
                result: Ok(pick),
            };
        }
        Err(failure) => return refused(failure),
    };
    let work = async |frame: Arc<Frame>, planned| {
        let picked = ask_about(ports, &frame, &planned, reply, &error).await?;
        Ok(as_decided(&planned, picked))
    };
    let (session, result) = in_session(ports, request, planned, work, stop).await;
    DecideOutcome { session, result }
}

/// Makes a decision at the top in its session, or gives the reason why not.
async fn decided<T>(
    ports: &Arc<Ports>,
    request: DecideRequest,
    work: impl AsyncFnOnce(Arc<Frame>, PlannedDecision) -> Result<T, Failure>,
    stop: impl Future<Output = ()>,
) -> (Option<SessionId>, Result<T, Failure>) {
    let _running = match ports.life.enter() {
        Ok(running) => running,
        Err(closed) => return (request.session, Err(closed)),
    };
    match plan_at_top(ports, &request) {
        Ok(planned) => in_session(ports, request, planned, work, stop).await,
        Err(failure) => (request.session, Err(failure)),
    }
}

async fn in_session<T>(
    ports: &Arc<Ports>,
    request: DecideRequest,
    planned: PlannedDecision,
    work: impl AsyncFnOnce(Arc<Frame>, PlannedDecision) -> Result<T, Failure>,
    stop: impl Future<Output = ()>,
) -> (Option<SessionId>, Result<T, Failure>) {
    let session = match enter(ports, request.session.clone(), &request.prompt).await {
        Ok(session) => session,
        Err(failure) => return (known(request.session, &failure), Err(failure)),
    };
    let watchers = Watchers {
        events: request.events,
        on_retry: request.on_retry,
    };
    let run = ports.new_run(session.clone(), watchers);
    let frame = Frame::top(Arc::clone(&run), request.context)
        .with_ambient(RuntimeRole::Main)
        .with_provider(request.provider);
    let result = match bounded(ports, work(Arc::new(frame), planned), stop).await {
        Ok(result) => ports.recorder.settle().await.and(result),
        Err(failure) => Err(failure),
    };
    ports.keep_usage(&run);
    (ports.recorder.kept(session), result)
}

pub(crate) async fn exec(
    ports: &Arc<Ports>,
    request: TurnRequest,
    stop: impl Future<Output = ()>,
) -> TurnOutcome<ExecReply> {
    let top = Top::new(ports, &request);
    let planned = plan_turn(ports, &top.frame, request.turn).await;
    let work = async |turn| exec_planned(ports, &top.frame, &top.deadline, &turn).await;
    top.make(ports, planned, work, stop).await
}

pub(crate) async fn check(ports: &Ports, request: TurnRequest) -> Result<(), Failure> {
    let top = Top::new(ports, &request);
    plan_turn(ports, &top.frame, request.turn).await.map(drop)
}

pub(crate) async fn exec_closing(
    ports: &Arc<Ports>,
    request: TurnRequest,
    closing: Closing,
    stop: impl Future<Output = ()>,
) -> TurnOutcome<Json> {
    let top = Top::new(ports, &request);
    let planned = plan_closing(ports, &top.frame, request.turn, closing).await;
    let work = async |planned| close_planned(ports, &top.frame, &top.deadline, planned).await;
    top.make(ports, planned, work, stop).await
}

/// A turn at the top whose session is not entered yet.
struct Top {
    frame: Arc<Frame>,
    deadline: Deadline,
    /// The session to go on in; the frame has its id, or that of one to be created.
    wanted: Option<SessionId>,
    title: String,
}

impl Top {
    fn new(ports: &Ports, request: &TurnRequest) -> Self {
        let wanted = request.session.clone();
        let session = wanted
            .clone()
            .unwrap_or_else(|| ports.recorder.new_session_id());
        let watchers = Watchers {
            events: request.events.clone(),
            on_retry: request.on_retry.clone(),
        };
        let run = ports.new_run(session, watchers);
        let frame = Frame::top(run, request.context.clone())
            .with_ambient(request.turn.runtime)
            .with_provider(request.provider.clone());
        let mut texts = request
            .turn
            .content
            .iter()
            .filter_map(ContentBlock::as_text);
        Self {
            frame: Arc::new(frame),
            deadline: Deadline::start(&ports.parts, request.turn.timeout_ms),
            wanted,
            title: texts.next().unwrap_or_default().to_owned(),
        }
    }

    /// Makes what was planned in its session, or gives the reason why not.
    async fn make<P, T>(
        &self,
        ports: &Arc<Ports>,
        planned: Result<P, Failure>,
        work: impl AsyncFnOnce(P) -> Result<T, Failure>,
        stop: impl Future<Output = ()>,
    ) -> TurnOutcome<T> {
        let entered = async {
            let running = ports.life.enter()?;
            let planned = planned?;
            self.enter(ports).await.map(|()| (running, planned))
        };
        match entered.await {
            Err(failure) => TurnOutcome {
                session: known(self.wanted.clone(), &failure),
                result: Err(failure),
            },
            Ok((_running, planned)) => {
                let span = spans::turn(&self.frame.run.session);
                let result = bounded(ports, work(planned).instrument(span), stop).await;
                ports.keep_usage(&self.frame.run);
                TurnOutcome {
                    session: ports.recorder.kept(self.frame.run.session.clone()),
                    result: match result {
                        Ok(result) => ports.recorder.settle().await.and(result),
                        Err(failure) => Err(failure),
                    },
                }
            }
        }
    }

    async fn enter(&self, ports: &Ports) -> Result<(), Failure> {
        ports.recorder.settle().await?;
        let session = &self.frame.run.session;
        match self.wanted {
            Some(_) => ports.recorder.find_session(session).await,
            None => ports.recorder.create_session(session, &self.title).await,
        }
    }
}

/// The session that was asked for, unless the failure is that there is none.
fn known(wanted: Option<SessionId>, failure: &Failure) -> Option<SessionId> {
    wanted.filter(|_| {
        failure.code != FailureCode::NotFound || !failure.details.contains_key("session")
    })
}

/// Enters the session of a run, after what earlier runs left has been closed.
async fn enter(
    ports: &Ports,
    wanted: Option<SessionId>,
    title: &str,
) -> Result<SessionId, Failure> {
    ports.recorder.settle().await?;
    ports.recorder.enter_session(wanted, title).await
}

/// Does the work of a run within its time, or until `stop` is ready.
///
/// # Errors
/// `cancelled` or `limit-reached`, given once all nodes are closed.
async fn bounded<T>(
    ports: &Ports,
    work: impl Future<Output = T>,
    stop: impl Future<Output = ()>,
) -> Result<T, Failure> {
    let run_ms = ports.parts.limits.run_ms;
    let time_is_up = async {
        match run_ms {
            Some(run_ms) => ports.parts.timer.sleep(Duration::from_millis(run_ms)).await,
            None => pending().await,
        }
    };
    let cancelled = |message| Failure::new(FailureCode::Cancelled, message);
    // Pinned here, because every layer that took it whole would hold it twice. Dropped before the
    // nodes that it leaves open are closed.
    let mut pinned = Box::pin(work);
    let done = until(until(pinned.as_mut(), stop), ports.life.closed());
    let done = until(done, time_is_up).await;
    drop(pinned);
    let failure = match (done, run_ms) {
        (Some(Some(Some(done))), _) => return Ok(done),
        (None, Some(run_ms)) => {
            let message = format!("the run took longer than {run_ms} ms");
            Failure::limit("run_ms", run_ms, message)
        }
        (Some(None), _) => cancelled("the run was cancelled: its runtime was closed"),
        _ => cancelled("the run was cancelled"),
    };
    match ports.recorder.settle().await {
        Ok(()) => Err(failure),
        Err(unsettled) => Err(unsettled),
    }
}
