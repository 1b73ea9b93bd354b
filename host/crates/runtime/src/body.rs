//! Runs the body of one function: when its run has a place for it, and no longer than its author
//! lets it take.

use std::sync::Arc;
use std::time::Duration;

use openprogram_core::failure::Failure;
use openprogram_core::function::FunctionRef;
use openprogram_core::guest::{CallOutcome, CallReport, FunctionCall};
use openprogram_core::{Json, JsonObject};

use crate::frame::Frame;
use crate::ports::Ports;
use crate::sources::until;

/// Runs the function of a frame; one below no other call when its run has a place for it.
pub(crate) async fn run_body(
    ports: &Arc<Ports>,
    frame: &Arc<Frame>,
    function: &FunctionRef,
    arguments: JsonObject,
) -> (Result<Json, Failure>, CallReport) {
    let _place = match frame.n_calls {
        1 => match ports.admission.call(frame.run.number).await {
            Ok(place) => Some(place),
            Err(refused) => return (Err(refused), CallReport::default()),
        },
        _ => None,
    };
    let call = FunctionCall {
        function: Arc::clone(function),
        arguments,
        services: ports.services.services(ports, frame),
        depth: frame.n_calls - 1,
        totals: Arc::clone(&frame.run.totals),
    };
    let called = ports.parts.functions.call(call);
    let Some(timeout) = function.gating.timeout else {
        return ended(function, called.await);
    };
    // What is dropped is stopped, wherever it waits or computes.
    match until(called, ports.parts.timer.sleep(timeout)).await {
        Some(outcome) => ended(function, outcome),
        None => (Err(timed_out(function, timeout)), CallReport::default()),
    }
}

fn ended(function: &FunctionRef, outcome: CallOutcome) -> (Result<Json, Failure>, CallReport) {
    let result = outcome.result;
    let result = result.map_err(|error| error.to_failure(&function.name.to_string()));
    (result, outcome.report)
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
