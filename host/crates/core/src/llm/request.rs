//! What is asked of a provider and what it answers.

use std::sync::Arc;

use super::event::{EventSink, ModelEvent};
use crate::Json;
use crate::content::{ContentBlock, Message, ThinkingLevel, ToolCall};
use crate::id::SessionId;
use crate::session::Usage;
use crate::structured::ResponseFormat;
use crate::tool::{ToolChoice, ToolSpec};
use crate::totals::RunTotals;

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
    /// What the text of the reply has to look like. The provider holds the model to it or refuses
    /// the request; the caller checks the reply all the same.
    pub response_format: Option<ResponseFormat>,
    /// Whether the model may search the web with its provider's own tool.
    pub web_search: bool,
    /// How much the model thinks before it answers. What the provider makes of it is told by
    /// [`Provider::thinking`](super::Provider::thinking).
    pub thinking: ThinkingLevel,
    /// The most tokens of the reply, thinking included, where the one who asks has no more to spend;
    /// the provider may have a lower limit of its own.
    pub max_output_tokens: Option<u64>,
    /// The session, which providers use as prompt-cache key.
    pub session: SessionId,
    /// What the calls of the run did together, where a model that is a component counts.
    pub totals: Arc<RunTotals>,
}

impl ModelRequest {
    /// A request without tools, for a reply of any form.
    #[must_use]
    pub fn new(system: Option<String>, messages: Vec<Message>, session: SessionId) -> Self {
        Self {
            system,
            messages,
            tools: Vec::new(),
            tool_choice: ToolChoice::Auto,
            parallel_tool_calls: None,
            response_format: None,
            web_search: false,
            thinking: ThinkingLevel::Off,
            max_output_tokens: None,
            session,
            totals: Arc::default(),
        }
    }

    /// The text that stands last in it, as a rule what the turn says; empty without one.
    #[must_use]
    pub fn last_text(&self) -> &str {
        let blocks = self.messages.iter().flat_map(|message| &message.content);
        let mut texts = blocks.filter_map(ContentBlock::as_text);
        texts.next_back().unwrap_or_default()
    }
}

/// Why a model stopped writing. Advisory: calls that are there are run whatever it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StopReason {
    /// It was done.
    End,
    /// It wants its calls answered.
    ToolUse,
    /// Its provider paused it amid tools on the provider's own server: sent back as it is, the reply
    /// goes on.
    Paused,
    /// The reply was cut at the token limit.
    Length,
    /// It refused, or its provider held back what it wrote.
    Refusal,
    /// Anything else.
    Other,
}

impl StopReason {
    /// The word for an end that is not the usual one; `None` for a reply that was done, or that wants
    /// its calls answered.
    #[must_use]
    pub fn unusual(self) -> Option<&'static str> {
        match self {
            Self::End | Self::ToolUse => None,
            Self::Paused => Some("paused"),
            Self::Length => Some("length"),
            Self::Refusal => Some("refusal"),
            Self::Other => Some("other"),
        }
    }

    /// The same word, `end` for the usual end.
    #[must_use]
    pub fn word(self) -> &'static str {
        self.unusual().unwrap_or("end")
    }
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

    /// Tells its texts and calls, for a model that has the whole reply at once.
    pub fn tell(&self, sink: &dyn EventSink) {
        for block in &self.content {
            match block {
                ContentBlock::Text(text) => sink.event(ModelEvent::Text(text.clone())),
                ContentBlock::ToolCall(call) => sink.event(ModelEvent::ToolUse(call.clone())),
                _ => {}
            }
        }
    }

    /// The calls in order.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.content.iter().filter_map(|block| match block {
            ContentBlock::ToolCall(call) => Some(call),
            _ => None,
        })
    }
}

impl From<String> for ModelReply {
    /// A reply of one text, of whose tokens nothing is known.
    fn from(text: String) -> Self {
        Self::text_only(text)
    }
}

impl From<&str> for ModelReply {
    fn from(text: &str) -> Self {
        Self::text_only(text)
    }
}

/// One decision put to a provider that picks without writing text.
#[derive(Clone, Debug, PartialEq)]
pub struct DecisionState {
    /// The prompt, without the menu.
    pub prompt: String,
    /// The system prompt.
    pub system: Option<String>,
    /// What the turn reads besides the prompt, oldest first; empty for a component, which is given
    /// prompt and options alone.
    pub messages: Vec<Message>,
    /// The options in menu order; never empty, every name once.
    pub choices: Vec<Choice>,
    /// The session.
    pub session: SessionId,
    /// What the calls of the run did together, where a decider that is a component counts.
    pub totals: Arc<RunTotals>,
}

/// Which decisions a provider that weighs options can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecisionLimits {
    /// The fewest options.
    pub options_min: usize,
    /// The most options.
    pub options_max: usize,
    /// Whether it is an endpoint of a provider, which is given what the turn reads, and not a
    /// component.
    pub is_endpoint: bool,
}

impl Default for DecisionLimits {
    /// Any menu, put to a component.
    fn default() -> Self {
        Self {
            options_min: 1,
            options_max: usize::MAX,
            is_endpoint: false,
        }
    }
}

/// What a provider that weighs options answers. Not trusted: the runtime checks it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DecisionReply {
    /// The distribution over the options; those left out have probability 0.
    pub weights: Vec<Weight>,
    /// The option that the provider itself picks, if it names one; it decides between options of
    /// the same weight.
    pub choice: Option<String>,
    /// What the provider itself calls its confidence, from 0 to 1. Every provider has a formula of
    /// its own, so the numbers of two providers cannot be compared.
    pub own_confidence: Option<f64>,
    /// How many of the oldest texts of the messages were left out because the provider takes no
    /// more.
    pub texts_left_out: usize,
    /// Tokens used, as far as the provider tells.
    pub usage: Option<Usage>,
}

impl DecisionReply {
    /// A reply that is a distribution and nothing else.
    #[must_use]
    pub fn of(weights: Vec<Weight>) -> Self {
        Self {
            weights,
            ..Self::default()
        }
    }
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
