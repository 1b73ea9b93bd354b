//! One exchange with a model: request, reply, error, and the port behind which providers stand.

mod error;
mod event;
mod provider;
mod request;

pub use error::{LlmError, LlmFailure, LlmReason};
pub use event::{EventSink, ModelEvent, NoEvents};
pub use provider::{Abilities, Provider};
pub use request::{Choice, DecisionState, ModelReply, ModelRequest, StopReason, Weight};
