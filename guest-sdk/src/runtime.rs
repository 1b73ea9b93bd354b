//! The language model runtime that a function works with.
//!
//! The host lends it for one call; nothing here makes one, so a function that takes a runtime can
//! only be tried with a host.

/// A handle to one runtime, lent to a function for one call.
///
/// A function receives it by declaring a parameter `runtime`, `exec_runtime` or `review_runtime` of
/// type `&Runtime` or `Option<&Runtime>`; callers and models never supply it. What a function sets
/// holds for its call and the calls below it, and ends with the call.
pub use crate::bindings::openprogram::agentic::runtime::Runtime;
