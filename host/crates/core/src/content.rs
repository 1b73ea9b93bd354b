//! What is said to and by a model: roles, content blocks, messages.

use std::sync::Arc;

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The person, the calling program, or the host on behalf of a function.
    User,
    /// The model.
    Assistant,
}

/// One piece of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ContentBlock {
    /// Plain text.
    Text(String),
    /// A picture.
    Image {
        /// The media type, for example `image/png`.
        mime_type: String,
        /// The bytes of the file.
        data: Arc<[u8]>,
    },
    /// A call that the model asked for; in messages of the model only.
    ToolCall(ToolCall),
    /// The result of one call; in messages of the user only, every call exactly one.
    ToolResult(ToolResult),
}

/// One call of a tool as the model wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    /// The id that ties the result to the call; unique within an exec.
    pub id: String,
    /// The name as the model wrote it; it may be unknown.
    pub name: String,
    /// The arguments as text. Not always JSON: a model may write anything.
    pub arguments: String,
}

/// What a call gave, as the model is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolResult {
    /// The id of the call.
    pub id: String,
    /// The text of the result or of the error.
    pub text: String,
    /// Whether it is an error.
    pub is_error: bool,
}

impl ContentBlock {
    /// The text of a text block.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// One message of a model request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said, in order; never empty.
    pub content: Vec<ContentBlock>,
}

impl Message {
    /// A message of one text block by the user.
    pub fn user(text: impl Into<String>) -> Self {
        Self {
            role: Role::User,
            content: vec![ContentBlock::Text(text.into())],
        }
    }

    /// A message of one text block by the model.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self {
            role: Role::Assistant,
            content: vec![ContentBlock::Text(text.into())],
        }
    }
}
