//! One exchange with a model: request, reply, error, and the port behind which providers stand.

mod error;
mod provider;
mod request;

pub use error::{LlmError, LlmReason};
pub use provider::{Abilities, Provider};
pub use request::{Choice, DecisionState, ModelReply, ModelRequest, Weight};
