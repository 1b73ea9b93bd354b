//! Decisions: a menu checked as a whole, put to a model, and the pick resolved.
//!
//! Nothing is asked before the menu is known to be good, and nothing runs before the pick is.

use std::sync::Arc;

use openprogram_core::Json;
use openprogram_core::decision::{
    MENU_OPTIONS_MAX, Menu, MenuError, Payload, Pick, fill_hidden, hidden_values, resolve_value,
};
use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::function::RuntimeRole;
use openprogram_core::guest::{DecisionRequest, PickedOption};

use crate::arguments::{Arguments, mismatch};
use crate::ask::{Picked, PlannedDecision, ask};
use crate::call::{PlannedCall, find_function, run_call};
use crate::complete::provider_of;
use crate::frame::{Frame, overlaid};
use crate::limits::MENU_RETRIES_MAX;
use crate::ports::Ports;
use crate::request::{DecideRequest, DecidedPick};

/// Decides for the function of `frame` and resolves the pick into the result of the next step.
pub(crate) async fn make_decision(
    ports: &Arc<Ports>,
    frame: &Arc<Frame>,
    request: DecisionRequest,
) -> Result<Json, Failure> {
    let planned = plan_in_frame(ports, frame, request)
        .and_then(can_run)
        .inspect_err(|failure| frame.note_refusal(failure))?;
    let picked = ask(ports, frame, &planned).await?;
    resolve(ports, frame, planned, picked).await
}

/// Decides for the function of `frame` and runs nothing.
pub(crate) async fn pick_option(
    ports: &Ports,
    frame: &Frame,
    request: DecisionRequest,
) -> Result<PickedOption, Failure> {
    let planned =
        plan_in_frame(ports, frame, request).inspect_err(|failure| frame.note_refusal(failure))?;
    let picked = ask(ports, frame, &planned).await?;
    Ok(PickedOption {
        name: picked.pick.name,
        arguments: picked.pick.arguments,
        how: picked.method.to_owned(),
    })
}

/// Decides at the top, where nothing runs either.
pub(crate) async fn decide_at_top(
    ports: &Ports,
    frame: &Frame,
    planned: PlannedDecision,
) -> Result<DecidedPick, Failure> {
    let picked = ask(ports, frame, &planned).await?;
    let pick = picked.pick;
    Ok(DecidedPick {
        value: resolve_value(&planned.menu, &pick),
        coerced: pick.coerced(),
        option: pick.name,
        arguments: pick.arguments,
        method: picked.method,
    })
}

/// Checks everything about a decision that can be checked without a model, for a function.
fn plan_in_frame(
    ports: &Ports,
    frame: &Frame,
    request: DecisionRequest,
) -> Result<PlannedDecision, Failure> {
    if let Some(role) = request.runtime {
        frame.check_lent(role)?;
    }
    let role = request.runtime.or(frame.ambient).ok_or_else(no_runtime)?;
    plan_decision(ports, frame, role, request)
}

/// The same over a runtime that the frame may use; at the top as well.
pub(crate) fn plan_decision(
    ports: &Ports,
    frame: &Frame,
    role: RuntimeRole,
    request: DecisionRequest,
) -> Result<PlannedDecision, Failure> {
    let count = request.options.len();
    if count > MENU_OPTIONS_MAX {
        return Err(MenuError::TooManyOptions { count }.to_failure());
    }
    let component = frame.component();
    let mut options = Vec::with_capacity(count);
    for spec in request.options {
        let name = spec.name.clone();
        let found = spec.resolve(|function| find_function(ports, component, function));
        options.push(found.map_err(|failure| of_option(&name, failure))?);
    }
    let planned = PlannedDecision {
        role,
        prompt: request.prompt,
        menu: Menu::new(options).map_err(|error| error.to_failure())?,
        context: overlaid(&frame.context, &request.context),
        max_retries: request.max_retries,
    };
    check(ports, &planned)?;
    Ok(planned)
}

/// The same for a decision at the top, whose functions are looked up already.
pub(crate) fn plan_at_top(
    ports: &Ports,
    request: &DecideRequest,
) -> Result<PlannedDecision, Failure> {
    let planned = PlannedDecision {
        role: RuntimeRole::Main,
        prompt: request.prompt.clone(),
        menu: Menu::new(request.options.clone()).map_err(|error| error.to_failure())?,
        context: request.context.clone(),
        max_retries: request.max_retries,
    };
    check(ports, &planned)?;
    can_run(planned)
}

/// Checks that whatever is picked can run: what a model may not give is there already.
///
/// # Errors
/// `invalid-argument`, with the option, the function and the hidden parameter.
pub(crate) fn can_run(planned: PlannedDecision) -> Result<PlannedDecision, Failure> {
    for option in planned.menu.options() {
        if let Payload::Function(function) = &option.payload {
            hidden_values(function, &planned.context)
                .map_err(|error| of_option(&option.name, mismatch(function, &error)))?;
        }
    }
    Ok(planned)
}

/// Checks what does not depend on who asks.
fn check(ports: &Ports, planned: &PlannedDecision) -> Result<(), Failure> {
    let longest = ports.parts.limits.prompt_bytes;
    let length = planned.prompt.len() as u64;
    if length > longest {
        let message = format!("the prompt is {length} bytes long; the most is {longest}");
        return Err(Failure::limit("prompt_bytes", longest, message));
    }
    if planned.max_retries > MENU_RETRIES_MAX {
        let message = format!("a decision is asked again at most {MENU_RETRIES_MAX} times");
        let most = u64::from(MENU_RETRIES_MAX);
        return Err(Failure::limit("max_retries", most, message));
    }
    provider_of(ports, planned.role)?;
    Ok(())
}

fn payload<'a>(planned: &'a PlannedDecision, pick: &Pick) -> &'a Payload {
    &planned.menu.options()[pick.index].payload
}

/// Turns a pick into the result of the next step.
pub(crate) async fn resolve(
    ports: &Arc<Ports>,
    frame: &Arc<Frame>,
    planned: PlannedDecision,
    picked: Picked,
) -> Result<Json, Failure> {
    let function = match payload(&planned, &picked.pick) {
        Payload::Function(function) => Arc::clone(function),
        Payload::Value(_) | Payload::Schema(_) => {
            let value = resolve_value(&planned.menu, &picked.pick);
            return Ok(value.unwrap_or_default());
        }
    };
    let values = fill_hidden(&function, picked.pick.arguments, &planned.context)
        .map_err(|error| mismatch(&function, &error))?;
    let call = PlannedCall {
        node: ports.recorder.new_node_id(),
        function,
        arguments: Arguments {
            values,
            // What was forgiven in a pick is recorded with the turn that made it.
            coercions: Vec::new(),
        },
        context: planned.context,
        predecessor: None,
        picked_by: Some(picked.turn),
        inside: None,
    };
    run_call(ports, frame, call).await.result
}

/// A failure about one option names it.
fn of_option(option: &str, mut failure: Failure) -> Failure {
    let shown: String = option.chars().take(64).collect();
    failure.message = format!("option `{shown}`: {}", failure.message);
    failure.with("option", shown)
}

fn no_runtime() -> Failure {
    Failure::new(
        FailureCode::NoRuntime,
        "no function on the call chain declares a runtime; add a parameter `runtime: &Runtime` to \
         the function that decides or to one that calls it",
    )
}
