//! The host as the SDK calls it: the imports of a component, and in a native build the answers that
//! a test has prepared.

#[cfg(target_arch = "wasm32")]
pub(crate) use crate::bindings::openprogram::agentic::{
    ask, decision, functions, progress, runtime,
};
#[cfg(target_arch = "wasm32")]
pub(crate) use crate::bindings::wasi::io::poll;

#[cfg(not(target_arch = "wasm32"))]
pub(crate) use crate::native::{ask, decision, functions, poll, progress, runtime};
