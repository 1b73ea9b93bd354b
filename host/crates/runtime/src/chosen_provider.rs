//! Which provider stands behind a runtime of a frame.

use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::function::{RuntimeRef, RuntimeRole};
use openprogram_core::llm::Provider;

use crate::frame::Frame;
use crate::ports::Ports;

/// The provider behind a runtime of this frame.
///
/// # Errors
/// `no-provider` when no model is configured for it, `no-runtime` when the frame has not opened it.
pub(crate) fn provider_of<'a>(
    ports: &'a Ports,
    frame: &'a Frame,
    runtime: RuntimeRef,
) -> Result<&'a dyn Provider, Failure> {
    match runtime {
        RuntimeRef::Lent(role) => match &frame.own_provider {
            Some(own) => Ok(own.get()),
            None => lent_provider(ports, role),
        },
        RuntimeRef::Opened(number) => Ok(&*frame.opened.get(number)?.provider),
    }
}

/// The provider behind a role, if there is one.
///
/// # Errors
/// `no-provider`, with what to do.
pub(crate) fn lent_provider(ports: &Ports, role: RuntimeRole) -> Result<&dyn Provider, Failure> {
    let provider = ports.parts.providers.of(role);
    provider.map(AsRef::as_ref).ok_or_else(|| {
        let message = format!(
            "no model is configured for `{}`; name one with `--model PROVIDER:MODEL` or with \
             `model = \"PROVIDER:MODEL\"` in openprogram.toml",
            role.parameter()
        );
        Failure::new(FailureCode::NoProvider, message).with("runtime", role.parameter())
    })
}

/// Checks that a provider writes text.
///
/// # Errors
/// `no-provider`, with what to do.
pub(crate) fn check_writes(provider: &dyn Provider) -> Result<(), Failure> {
    if provider.abilities().text {
        return Ok(());
    }
    let message = format!(
        "`{}` does not write text; name a model that does with `--model PROVIDER:MODEL`",
        provider.name()
    );
    Err(Failure::new(FailureCode::NoProvider, message).with("model", provider.name()))
}
