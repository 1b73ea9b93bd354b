//! What is asked of a provider and what it answers.

use crate::Json;
use crate::content::Message;
use crate::id::SessionId;
use crate::session::Usage;

/// One model request.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelRequest {
    /// The system prompt.
    pub system: Option<String>,
    /// The messages, oldest first; never empty, the last one is the user's.
    pub messages: Vec<Message>,
    /// The session, which providers use as prompt-cache key.
    pub session: SessionId,
}

/// The reply of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelReply {
    /// The text parts of the reply, joined.
    pub text: String,
    /// Tokens used, as far as the provider tells.
    pub usage: Option<Usage>,
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
