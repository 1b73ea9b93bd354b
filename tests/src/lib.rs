//! The harness of the tests: components, a host around them, a command line as a person uses it.
//!
//! A test reads as given, when, then; what it takes to get there is here.

pub mod cli;
mod declared;
pub mod foreign;
pub mod fuzz;
pub mod guests;
pub mod host;
pub mod hostile;
pub mod kinds;
pub mod many;
pub mod metadata;
pub mod serving;
pub mod signatures;
pub mod snapshot;
pub mod soak;
pub mod told;
pub mod toolchain;
pub mod waiting;
pub mod web;
