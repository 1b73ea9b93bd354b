//! What is asked of a provider and what it answers.

use crate::Json;
use crate::content::{ContentBlock, Message, ToolCall};
use crate::id::SessionId;
use crate::session::Usage;
use crate::tool::{ToolChoice, ToolSpec};

/// One model request.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelRequest {
    /// The system prompt.
    pub system: Option<String>,
    /// The messages, oldest first; never empty, the last one is the user's.
    pub messages: Vec<Message>,
    /// What the model may call, sorted by name.
    pub tools: Vec<ToolSpec>,
    /// Whether and what it must call.
    pub tool_choice: ToolChoice,
    /// Whether one reply may hold several calls; `None` leaves it to the provider.
    pub parallel_tool_calls: Option<bool>,
    /// The session, which providers use as prompt-cache key.
    pub session: SessionId,
}

impl ModelRequest {
    /// A request without tools.
    #[must_use]
    pub fn new(system: Option<String>, messages: Vec<Message>, session: SessionId) -> Self {
        Self {
            system,
            messages,
            tools: Vec::new(),
            tool_choice: ToolChoice::Auto,
            parallel_tool_calls: None,
            session,
        }
    }
}

/// Why a model stopped writing. Advisory: calls that are there are run whatever it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StopReason {
    /// It was done.
    End,
    /// It wants its calls answered.
    ToolUse,
    /// The reply was cut at the token limit.
    Length,
    /// It refused.
    Refusal,
    /// Anything else.
    Other,
}

/// The reply of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelReply {
    /// Text blocks and calls in the order in which the model wrote them.
    pub content: Vec<ContentBlock>,
    /// Why it stopped.
    pub stop: StopReason,
    /// Tokens used, as far as the provider tells.
    pub usage: Option<Usage>,
}

impl ModelReply {
    /// A reply of one text.
    pub fn text_only(text: impl Into<String>) -> Self {
        let content = vec![ContentBlock::Text(text.into())];
        Self {
            content,
            stop: StopReason::End,
            usage: None,
        }
    }

    /// The text parts joined without separator.
    #[must_use]
    pub fn text(&self) -> String {
        self.content
            .iter()
            .filter_map(ContentBlock::as_text)
            .collect()
    }

    /// The calls in order.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.content.iter().filter_map(|block| match block {
            ContentBlock::ToolCall(call) => Some(call),
            _ => None,
        })
    }
}

/// One decision put to a provider that picks without writing text.
#[derive(Clone, Debug, PartialEq)]
pub struct DecisionState {
    /// The prompt, without the menu.
    pub prompt: String,
    /// The system prompt.
    pub system: Option<String>,
    /// The options in menu order; never empty, every name once.
    pub choices: Vec<Choice>,
    /// The session.
    pub session: SessionId,
}

/// One option as a decider sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The name.
    pub name: String,
    /// When to pick it.
    pub description: String,
    /// JSON Schema of the visible arguments.
    pub parameters: Json,
}

/// How much a decider prefers one option. Not checked by providers; the runtime does.
#[derive(Clone, Debug, PartialEq)]
pub struct Weight {
    /// The name of the option.
    pub option: String,
    /// From 0 to 1.
    pub probability: f64,
}
