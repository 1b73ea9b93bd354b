//! The ports between the runtime and whatever runs functions.
//!
//! The runtime calls a [`FunctionHost`]; while the function runs, everything it may ask goes
//! through the [`HostServices`] made for that one call. Nothing a function causes goes past it.

mod call;
mod decision;
mod services;
mod started;
mod turn;

pub use crate::totals::{ComponentTotals, RunTotals};
pub use call::{
    CallError, CallOutcome, CallReport, CallScope, FunctionCall, FunctionHost, ImportError,
};
pub use decision::{DecisionRequest, PickedOption};
pub use services::{ApprovalRequest, HostServices, not_ones_own};
pub use started::{LocalCall, LocalTool, StartedPick, StartedTurn, TurnEvent, TurnWatcher};
pub use turn::{Closing, ExecReply, ExecRequest, MAX_ITERATIONS_DEFAULT, ToolsWanted};
