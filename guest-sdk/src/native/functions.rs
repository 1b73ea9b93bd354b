//! Calls of functions by name, answered by a script.

use super::with_script;
use crate::bindings::openprogram::agentic::types;

pub(crate) fn call(name: &str, arguments: &str) -> Result<String, types::Failure> {
    let what = format!("`{name}` is called by name");
    with_script(&what, |script| script.result_of(name, arguments))
}
