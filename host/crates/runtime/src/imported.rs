//! Calls of functions that a component imports by their types: made, checked and recorded like calls
//! by name.

use std::sync::Arc;

use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::function::FunctionRef;
use openprogram_core::guest::ImportError;
use openprogram_core::{Json, JsonObject};

use crate::arguments::complete_import_arguments;
use crate::call::{PlannedCall, check_callable, run_call};
use crate::frame::Frame;
use crate::ports::Ports;

/// Calls a function for the function of `frame`, which imports it. A refusal is kept in the caller's
/// record.
pub(crate) async fn call_import(
    ports: &Arc<Ports>,
    frame: &Arc<Frame>,
    function: &FunctionRef,
    arguments: &JsonObject,
) -> Result<Json, ImportError> {
    let planned = plan(ports, frame, function, arguments).map_err(|failure| {
        frame.note_refusal(&failure);
        ImportError::Failed(failure)
    })?;
    let end = run_call(ports, frame, planned).await;
    match end.own_error {
        Some(error) => Err(ImportError::Own(error)),
        None => end.result.map_err(ImportError::Failed),
    }
}

fn plan(
    ports: &Ports,
    frame: &Frame,
    function: &FunctionRef,
    arguments: &JsonObject,
) -> Result<PlannedCall, Failure> {
    let name = &function.name;
    let known = ports.parts.catalog.component(&name.component).iter();
    let mut same = known.filter(|known| known.name == *name && known.digest == function.digest);
    let function = same.next().ok_or_else(|| {
        let message = format!("`{name}` of `{}` is not there any more", name.component);
        Failure::new(FailureCode::NotFound, message).with("name", name.to_string())
    })?;
    check_callable(ports, frame.component(), function)?;
    let arguments = complete_import_arguments(function, arguments, &frame.context)?;
    Ok(PlannedCall {
        node: ports.recorder.new_node_id(),
        function: Arc::clone(function),
        arguments,
        context: frame.context.clone(),
        predecessor: None,
        picked_by: None,
        inside: None,
    })
}
