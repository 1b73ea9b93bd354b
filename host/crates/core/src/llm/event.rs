//! What a reply looks like while it arrives.

use crate::content::ToolCall;

/// One piece of a reply, in the order in which it arrives.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelEvent {
    /// More text of the reply.
    Text(String),
    /// More of the model's own thinking, where it is shown.
    Thinking(String),
    /// A complete call.
    ToolUse(ToolCall),
}

/// Takes events as they arrive. Must not block; a slow reader is the implementation's problem.
pub trait EventSink: Send + Sync {
    /// Takes one event.
    fn event(&self, event: ModelEvent);
}

/// Drops all events.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoEvents;

impl EventSink for NoEvents {
    fn event(&self, _: ModelEvent) {}
}
