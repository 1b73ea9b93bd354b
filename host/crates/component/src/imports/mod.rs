//! The imports of the contract over the services of one call, one file per interface.
//!
//! A failure is a value for the guest. A trap is written on purpose, where a guest uses a handle
//! it does not have or floods the host.

mod ask;
mod completion;
mod decision;
mod decision_state;
mod functions;
mod menu;
mod progress;
mod runtime;
mod started;
mod turn;

use std::sync::Arc;

use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::guest::HostServices;
use wasmtime::component::Resource;

use crate::bindings::openprogram::agentic::types;
use crate::state::CallState;

impl types::Host for CallState {}

impl CallState {
    /// The services of this call.
    pub(crate) fn services(&self) -> Result<Arc<dyn HostServices>, Failure> {
        let services = self.services.as_ref().map(Arc::clone);
        services.ok_or_else(|| {
            Failure::new(
                FailureCode::Denied,
                "this component runs without any grant here",
            )
            .with("what", "host services")
        })
    }

    /// Lends something to the guest, or tells why it is not there.
    fn pushed<T: Send + 'static>(
        &mut self,
        made: Result<T, Failure>,
    ) -> wasmtime::Result<Result<Resource<T>, types::Failure>> {
        Ok(match made {
            Ok(made) => Ok(self.table.push(made)?),
            Err(failure) => Err(to_wire(&failure)),
        })
    }

    /// Refuses a text that is longer than the host takes.
    fn check_text(&self, what: &str, text: &str) -> Result<(), Failure> {
        let max = self.limits.text_bytes;
        if text.len() as u64 <= max {
            return Ok(());
        }
        let message = format!("{what} is longer than {max} bytes");
        Err(Failure::limit("text_bytes", max, message))
    }
}

/// A failure as the contract carries it.
pub(crate) fn to_wire(failure: &Failure) -> types::Failure {
    types::Failure {
        code: failure.code.as_str().to_owned(),
        message: failure.message.clone(),
        details: openprogram_core::Json::Object(failure.details.clone()).to_string(),
    }
}

/// A failure as a guest gave it, its texts cut to what is worth recording.
pub(crate) fn from_wire(failure: types::Failure) -> Failure {
    const TEXT_CHARS: usize = 2_000;
    let cut = |text: &str| text.chars().take(TEXT_CHARS).collect::<String>();
    let code = FailureCode::parse(&failure.code).unwrap_or(FailureCode::FunctionFailed);
    let mut known = Failure::new(code, cut(&failure.message));
    let short = failure.details.len() <= TEXT_CHARS * 4;
    if let Ok(openprogram_core::Json::Object(details)) = serde_json::from_str(&failure.details)
        && short
    {
        known.details = details;
    }
    known
}
