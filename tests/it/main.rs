//! The one test binary: a module per subject, so that wasmtime is linked once.

mod cli;
mod decision;
mod printed;
mod sandbox;
mod tidy;
mod values;
