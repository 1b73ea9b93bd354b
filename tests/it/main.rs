//! The one test binary: a module per subject, so that wasmtime is linked once.

mod tidy;
