//! The entries at the top of a run: enter a session, make the top frame, stop when told to.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::function::RuntimeRole;
use openprogram_core::id::SessionId;

use crate::arguments::complete_arguments;
use crate::call::{CallEnd, PlannedCall, find_function, run_call};
use crate::decide::{decide_at_top, plan_at_top};
use crate::frame::{Frame, Run};
use crate::ports::Ports;
use crate::request::{DecideOutcome, DecideRequest, RunOutcome, RunRequest};

pub(crate) async fn run_function(
    ports: &Arc<Ports>,
    request: RunRequest,
    stop: impl Future<Output = ()>,
) -> RunOutcome {
    let wanted = request.session.clone();
    let (frame, call) = match plan(ports, request).await {
        Ok(planned) => planned,
        Err(failure) => {
            return RunOutcome {
                session: wanted,
                node: None,
                result: Err(failure),
            };
        }
    };
    let node = call.node.clone();
    let end = until(run_call(ports, &frame, call), stop).await;
    let end = match end {
        Some(end) => end,
        None => CallEnd {
            result: Err(settled_cancel(ports).await),
            // The node may have been closed a moment before, or never been opened.
            node: match ports.recorder.store().node(&node).await {
                Ok(found) => found.map(|found| found.opened.id),
                Err(_) => None,
            },
        },
    };
    RunOutcome {
        session: Some(frame.run.session.clone()),
        node: end.node,
        result: end.result,
    }
}

async fn plan(ports: &Ports, request: RunRequest) -> Result<(Arc<Frame>, PlannedCall), Failure> {
    let function = find_function(ports, None, &request.function)?;
    let arguments = complete_arguments(&function, &request.arguments, &request.context)?;
    let session = enter(ports, request.session, &function.name.to_string()).await?;
    let predecessor = ports.recorder.newest_at_top(&session).await?;
    let run = Arc::new(Run::new(session, request.events));
    let frame = Arc::new(Frame::top(run, request.context.clone()));
    let call = PlannedCall {
        node: ports.recorder.new_node_id(),
        function,
        arguments,
        context: request.context,
        predecessor,
        picked_by: None,
    };
    Ok((frame, call))
}

pub(crate) async fn decide(
    ports: &Ports,
    request: DecideRequest,
    stop: impl Future<Output = ()>,
) -> DecideOutcome {
    let refused = |session, failure| DecideOutcome {
        session,
        result: Err(failure),
    };
    let planned = match plan_at_top(ports, &request) {
        Ok(planned) => planned,
        Err(failure) => return refused(request.session, failure),
    };
    let session = match enter(ports, request.session.clone(), &request.prompt).await {
        Ok(session) => session,
        Err(failure) => return refused(request.session, failure),
    };
    let run = Arc::new(Run::new(session.clone(), request.events));
    let frame = Frame::top(run, request.context).with_ambient(RuntimeRole::Main);
    let result = match until(decide_at_top(ports, &frame, planned), stop).await {
        Some(result) => result,
        None => Err(settled_cancel(ports).await),
    };
    DecideOutcome {
        session: Some(session),
        result,
    }
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

/// The failure of a cancelled run, given once all its nodes are closed.
async fn settled_cancel(ports: &Ports) -> Failure {
    match ports.recorder.settle().await {
        Ok(()) => Failure::new(FailureCode::Cancelled, "the run was cancelled"),
        Err(failure) => failure,
    }
}

/// Drives `work` to its end, or drops it when `stop` is ready first.
async fn until<T>(work: impl Future<Output = T>, stop: impl Future<Output = ()>) -> Option<T> {
    let mut work = pin!(work);
    let mut stop = pin!(stop);
    poll_fn(|cx| {
        if let Poll::Ready(done) = work.as_mut().poll(cx) {
            return Poll::Ready(Some(done));
        }
        stop.as_mut().poll(cx).map(|()| None)
    })
    .await
}
