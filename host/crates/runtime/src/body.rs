//! Runs the body of one function: when its run has a place for it, and no longer than its author
//! lets it take.

use std::sync::Arc;
use std::time::Duration;

use openprogram_core::failure::Failure;
use openprogram_core::function::FunctionRef;
use openprogram_core::guest::{CallError, CallOutcome, CallReport, CallScope, FunctionCall};
use openprogram_core::{Json, JsonObject};

use crate::frame::Frame;
use crate::ports::Ports;
use crate::sources::until;

/// What became of a body.
pub(crate) struct BodyEnd {
    /// Its result.
    pub(crate) result: Result<Json, Failure>,
    /// The function's own error, where it returned one: for those who know its type.
    pub(crate) own_error: Option<Json>,
    /// What it cost.
    pub(crate) report: CallReport,
}

impl BodyEnd {
    pub(crate) fn refused(failure: Failure) -> Self {
        Self {
            result: Err(failure),
            own_error: None,
            report: CallReport::default(),
        }
    }
}

/// Runs the function of a frame; one below no other call when its run has a place for it.
pub(crate) async fn run_body(
    ports: &Arc<Ports>,
    frame: &Arc<Frame>,
    function: &FunctionRef,
    arguments: JsonObject,
) -> BodyEnd {
    let _place = match frame.n_calls {
        1 => match ports.admission.call(frame.run.number).await {
            Ok(place) => Some(place),
            Err(refused) => return BodyEnd::refused(refused),
        },
        _ => None,
    };
    let call = FunctionCall {
        function: Arc::clone(function),
        arguments,
        services: ports.services.services(ports, frame),
        depth: frame.n_calls - 1,
        totals: Arc::clone(&frame.run.totals),
        scope: scope(frame),
    };
    let called = ports.parts.functions.call(call);
    let Some(timeout) = function.gating.timeout else {
        return ended(function, called.await);
    };
    // What is dropped is stopped, wherever it waits or computes.
    match until(called, ports.parts.timer.sleep(timeout)).await {
        Some(outcome) => ended(function, outcome),
        None => BodyEnd::refused(timed_out(function, timeout)),
    }
}

/// Where the call of a frame stands among the instances that live on.
fn scope(frame: &Frame) -> CallScope {
    let above = frame
        .chain()
        .skip(1)
        .filter_map(|above| above.function.as_ref());
    let entered = above.filter(|function| function.is_stateful);
    CallScope {
        session: frame.run.session.clone(),
        entered: entered.map(|f| f.name.component.clone()).collect(),
    }
}

fn ended(function: &FunctionRef, outcome: CallOutcome) -> BodyEnd {
    let CallOutcome { result, report } = outcome;
    let name = function.name.to_string();
    let failed = |error: CallError| {
        let failure = error.to_failure(&name);
        let own_error = match error {
            CallError::Function(own) => Some(own),
            _ => None,
        };
        (failure, own_error)
    };
    let (result, own_error) = match result.map_err(failed) {
        Ok(value) => (Ok(value), None),
        Err((failure, own_error)) => (Err(failure), own_error),
    };
    BodyEnd {
        result,
        own_error,
        report,
    }
}

/// The failure of a call that took longer than its author allows.
fn timed_out(function: &FunctionRef, timeout: Duration) -> Failure {
    let name = function.name.to_string();
    let message = format!(
        "`{name}` took longer than {} s, which is as long as its author lets it take",
        timeout.as_secs_f64()
    );
    let ms = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
    Failure::limit("timeout", ms, message).with("function", name)
}
