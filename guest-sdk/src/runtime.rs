//! The language model runtime that a function works with.
//!
//! The host lends it; nothing here makes one.

pub use crate::bindings::openprogram::agentic::runtime::Runtime;
