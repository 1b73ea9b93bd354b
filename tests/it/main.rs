//! The one test binary: a module per subject, so that wasmtime is linked once.
#![allow(
    clippy::unwrap_used,
    clippy::too_many_lines,
    clippy::print_stdout,
    reason = "a step that fails is a test that fails, tables of cases are long, and a skip says why"
)]

mod asking;
mod cancelled;
mod cli;
mod decision;
mod embedding;
mod essays;
mod files;
mod foreign;
mod imports;
mod inputs;
mod kinds;
mod made_up;
mod media;
mod models;
mod network;
mod opened;
mod picks;
mod printed;
mod pulled;
mod pulled_ends;
mod runtimes;
mod sandbox;
mod schemas;
mod signatures;
mod stateful;
mod tidy;
mod tools;
mod toolset;
mod turns;
mod values;
