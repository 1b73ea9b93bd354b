//! `functions`: calls by name.

use std::sync::Arc;

use openprogram_core::Json;
use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::guest::HostServices;

use super::to_wire;
use crate::bindings::openprogram::agentic::functions as wire;
use crate::bindings::openprogram::agentic::types;
use crate::convert::{ParseError, parse_json};
use crate::state::CallState;

/// The longest name of a function: longer ones name nothing.
const NAME_BYTES_MAX: usize = 512;

impl wire::Host for CallState {
    async fn call(
        &mut self,
        name: String,
        arguments: String,
    ) -> wasmtime::Result<Result<String, types::Failure>> {
        let called = match checked(self, &name, &arguments) {
            Ok((services, arguments)) => services.call(&name, arguments).await,
            Err(failure) => Err(failure),
        };
        Ok(match called {
            Ok(value) => Ok(value.to_string()),
            Err(failure) => Err(to_wire(&failure)),
        })
    }
}

/// What a call by name needs. The state of a store cannot be shared while its call is awaited.
fn checked(
    state: &CallState,
    name: &str,
    arguments: &str,
) -> Result<(Arc<dyn HostServices>, Json), Failure> {
    let services = state.services()?;
    if name.len() > NAME_BYTES_MAX {
        let message = format!("the name of a function is longer than {NAME_BYTES_MAX} bytes");
        return Err(Failure::new(FailureCode::InvalidArgument, message).with("path", "name"));
    }
    state.check_text("the text of the arguments", arguments)?;
    let arguments = parse_json(arguments, state.limits.json_depth)
        .map_err(|error| not_json("arguments", &error, state.limits.json_depth))?;
    Ok((services, arguments))
}

/// A text that is not JSON, as a failure that names where it was given.
pub(super) fn not_json(path: &str, error: &ParseError, depth_max: u64) -> Failure {
    let message = match error {
        ParseError::TooDeep => format!("`{path}` is nested deeper than {depth_max} levels"),
        ParseError::Invalid(error) => format!("`{path}` is not JSON: {error}"),
    };
    Failure::new(FailureCode::InvalidArgument, message).with("path", path)
}
