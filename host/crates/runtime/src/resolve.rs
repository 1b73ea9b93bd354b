//! From a valid pick to the result of the next step.

use std::sync::Arc;

use openprogram_core::decision::{Menu, Payload, Pick, fill_hidden, make_pick, resolve_value};
use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::guest::{DecisionRequest, PickedOption};
use openprogram_core::id::NodeId;
use openprogram_core::{Json, JsonObject};

use crate::arguments::{Arguments, mismatch};
use crate::call::{PlannedCall, run_call};
use crate::frame::{Frame, overlaid};
use crate::menu::menu_in_frame;
use crate::open_pick::{Picked, PlannedDecision};
use crate::ports::Ports;

/// Turns a pick into the result of the next step.
pub(crate) async fn resolve(
    ports: &Arc<Ports>,
    frame: &Arc<Frame>,
    planned: PlannedDecision,
    picked: Picked,
) -> Result<Json, Failure> {
    let (menu, turn) = (&planned.menu, Some(picked.turn));
    carry_out(ports, frame, menu, planned.context, picked.pick, turn).await
}

/// Carries out a pick that was lent, for the function of `frame`.
pub(crate) async fn resolve_picked(
    ports: &Arc<Ports>,
    frame: &Arc<Frame>,
    request: DecisionRequest,
    picked: PickedOption,
) -> Result<Json, Failure> {
    let menu = menu_in_frame(ports, frame, request.options)?;
    // The menu may be another one than the pick was made from, so everything is checked again.
    let pick = make_pick(&menu, &picked.name, picked.arguments).map_err(|error| {
        let message = format!("the pick does not fit the menu it is resolved with: {error}");
        Failure::new(FailureCode::InvalidArgument, message).with("path", "picked")
    })?;
    let context = overlaid(&frame.context, &request.context);
    carry_out(ports, frame, &menu, context, pick, picked.turn).await
}

async fn carry_out(
    ports: &Arc<Ports>,
    frame: &Arc<Frame>,
    menu: &Menu,
    context: JsonObject,
    pick: Pick,
    picked_by: Option<NodeId>,
) -> Result<Json, Failure> {
    let function = match &menu.options()[pick.index].payload {
        Payload::Function(function) => Arc::clone(function),
        Payload::Value(_) | Payload::Schema(_) => {
            return Ok(resolve_value(menu, &pick).unwrap_or_default());
        }
    };
    let values = fill_hidden(&function, pick.arguments, &context)
        .map_err(|error| mismatch(&function, &error))?;
    let call = PlannedCall {
        node: ports.recorder.new_node_id(),
        function,
        arguments: Arguments {
            values,
            // What was forgiven in a pick is recorded with the turn that made it.
            coercions: Vec::new(),
        },
        context,
        predecessor: None,
        picked_by,
        inside: None,
    };
    run_call(ports, frame, call).await.result
}
