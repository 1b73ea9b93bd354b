//! What a model is asked, as plain data.

use serde::Deserialize;

use crate::{Json, ThinkingLevel, ToolChoice};

/// What a model is asked. Later versions may add fields.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Prompt {
    /// The system prompt, if there is one.
    pub system: Option<String>,
    /// The messages, oldest first; the last one is the user's.
    pub messages: Vec<Message>,
    /// What the model may call, sorted by name.
    pub tools: Vec<Tool>,
    /// Whether and what it must call.
    pub tool_choice: ToolChoice,
    /// Whether one reply may hold several calls, where somebody said so.
    pub parallel_tool_calls: Option<bool>,
    /// How much it is to think.
    pub thinking_level: ThinkingLevel,
    /// The most tokens of the reply, where the one who asks has no more to spend.
    pub max_output_tokens: Option<u64>,
    /// The id of the session; fit as a prompt-cache key.
    pub session_id: String,
}

impl Prompt {
    /// A prompt of one text by the user, as a test needs it.
    pub fn new(text: impl Into<String>) -> Self {
        Prompt {
            system: None,
            messages: vec![Message {
                role: Role::User,
                content: vec![Content::Text { text: text.into() }],
            }],
            tools: Vec::new(),
            tool_choice: ToolChoice::Auto,
            parallel_tool_calls: None,
            thinking_level: ThinkingLevel::Off,
            max_output_tokens: None,
            session_id: "op-0000000000000000".to_owned(),
        }
    }
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said, in order.
    pub content: Vec<Content>,
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The person, the calling program, or the host for a function.
    User,
    /// The model.
    Assistant,
}

/// One piece of a message. Later versions may add some.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Content {
    /// Plain text.
    Text {
        /// The text.
        text: String,
    },
    /// A picture.
    Image {
        /// The media type, for example `image/png`.
        mime_type: String,
        /// The bytes of the file, in base64.
        data: String,
    },
    /// A film.
    Video {
        /// The media type, for example `video/mp4`.
        mime_type: String,
        /// The bytes of the file, in base64.
        data: String,
    },
    /// Sound.
    Audio {
        /// The media type, for example `audio/wav`.
        mime_type: String,
        /// The bytes of the file, in base64.
        data: String,
    },
    /// A hint that what stands before it comes again in other requests.
    CacheMark,
    /// A call that the model made.
    ToolCall {
        /// The id that ties its answer to it.
        id: String,
        /// The name of the tool.
        name: String,
        /// The arguments as the model wrote them; not always JSON.
        arguments: String,
    },
    /// The answer to a call.
    ToolResult {
        /// The id of the call.
        id: String,
        /// The text of the result or of the error.
        text: String,
        /// Whether it is an error.
        is_error: bool,
    },
    /// Something that this version does not know.
    #[serde(other)]
    Unknown,
}

impl Content {
    /// The text of a text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Content::Text { text } => Some(text),
            _ => None,
        }
    }
}

/// One tool that the model may call.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Tool {
    /// The name.
    pub name: String,
    /// When to call it.
    pub description: String,
    /// The JSON Schema of its arguments, an object schema.
    pub parameters: Json,
}
