//! What the handles of a guest stand for. The generated bindings name these types.

mod card;
mod media;
mod menu;
mod sink;
mod turn;

use std::sync::Arc;

use openprogram_core::function::RuntimeRef;
use openprogram_core::guest::{ExecReply, PickedOption};
use openprogram_core::llm::DecisionState;
use openprogram_core::session::Usage;

use crate::started::Inbox;

pub(crate) use menu::{RETRIES_DEFAULT, hold, invalid};
pub(crate) use sink::{Mailbox, Piece};
pub(crate) use turn::Held;
#[expect(unreachable_pub, reason = "the generated bindings re-export them")]
pub use {
    card::{AnswerHandle, CardHandle},
    menu::MenuHandle,
    sink::SinkHandle,
    turn::RequestHandle,
};

/// A handle to one of the runtimes of a call.
#[expect(unreachable_pub, reason = "the generated bindings re-export it")]
pub struct RuntimeHandle {
    pub(crate) runtime: RuntimeRef,
    /// The call that it was made in, where an instance has several: it means nothing in another one.
    pub(crate) call: u64,
}

/// A pick that was not carried out.
#[expect(unreachable_pub, reason = "the generated bindings re-export it")]
pub struct PickedHandle {
    pub(crate) picked: PickedOption,
    /// How much it holds, to be given back when it is dropped.
    pub(crate) held: u64,
}

/// One decision put to a decider.
#[expect(unreachable_pub, reason = "the generated bindings re-export it")]
pub struct StateHandle(pub(crate) DecisionState);

/// A turn that goes on beside the function.
#[expect(unreachable_pub, reason = "the generated bindings re-export it")]
pub struct TurnHandle {
    /// Its place among the turns of the call.
    pub(crate) number: u64,
    pub(crate) inbox: Arc<Inbox>,
}

/// What a turn gave.
#[expect(unreachable_pub, reason = "the generated bindings re-export it")]
pub struct ReplyHandle(pub(crate) ExecReply);

/// The tokens that a turn used.
#[expect(unreachable_pub, reason = "the generated bindings re-export it")]
pub struct UsageHandle(pub(crate) Usage);

/// One model request put to a model component, in the forms of the contract.
#[expect(unreachable_pub, reason = "the generated bindings re-export it")]
pub struct PromptHandle {
    pub(crate) system: Option<String>,
    pub(crate) messages: String,
    pub(crate) tools: String,
    pub(crate) tool_choice: String,
    pub(crate) parallel_tool_calls: Option<bool>,
    pub(crate) thinking_level: &'static str,
    pub(crate) max_output_tokens: Option<u64>,
    pub(crate) session_id: String,
}
