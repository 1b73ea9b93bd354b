//! The `openprogram` binary.
fn main() {}
