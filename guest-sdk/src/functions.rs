//! Calls of functions by name.
//!
//! A function of the own component is called directly in Rust, which is neither recorded nor
//! limited; called by name, it runs in its own sandbox and is a node of the session.

use serde::Serialize;

use crate::host::functions as raw;
use crate::{Failure, Json, failure, value};

/// Calls a function of this component or of another one.
///
/// `name` is `namespace:package/interface.function` or any unambiguous tail of it; for an own
/// function, [`ExportedFunction::NAME`](crate::ExportedFunction::NAME). `arguments` is an object by
/// parameter name, such as `json!({"text": "…"})`. Hidden parameters are filled from the context and
/// runtimes are injected. A function of another component needs a grant.
///
/// # Errors
///
/// The function's own error arrives as [`FunctionFailed`](crate::FailureKind::FunctionFailed); all
/// other kinds say why it was not run or did not end.
pub fn call(name: &str, arguments: impl Serialize) -> Result<Json, Failure> {
    let arguments = Json::from_value(&arguments)?;
    raw::call(name, arguments.as_str())
        .map(value::from_host)
        .map_err(failure::from_host)
}
