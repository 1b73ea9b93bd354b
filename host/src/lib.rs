//! The OpenProgram host: library models, sandboxed functions, and the command line.
//!
//! The modules of the binary as a library, so that tests can use them; no logic of its own.

pub mod settings;

pub mod telemetry;

pub mod state;

pub mod sdk;

pub mod source;

pub mod scaffold;

pub mod fetch;

pub mod signature;

pub mod install;

pub mod input;

pub mod skills;

pub mod app;

pub mod checks;

pub mod commands;

// What strangers say is cleaned in one way, for models and for terminals.
use openprogram_core::text;
