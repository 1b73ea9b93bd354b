//! What is said to and by a model: roles, content blocks, messages.

mod cache;
mod media;
mod read;
mod thinking;

use std::sync::Arc;

pub use cache::{CacheTtl, NoCacheTtl};
pub use media::{
    MediaKind, MediaLimits, MediaMismatch, UnknownMedia, media_of, media_of_file,
    media_type_of_name, settle_media,
};
pub use read::{ContentError, ContentRead, MediaFiles, NoFiles, read_content};
pub use thinking::{NoThinkingLevel, ThinkingLevel};

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
    /// A film.
    Video {
        /// The media type, for example `video/mp4`.
        mime_type: String,
        /// The bytes of the file.
        data: Arc<[u8]>,
    },
    /// Sound.
    Audio {
        /// The media type, for example `audio/wav`.
        mime_type: String,
        /// The bytes of the file.
        data: Arc<[u8]>,
    },
    /// A hint: what stands before it, the system prompt included, comes again in other requests, so
    /// that the provider may keep it in its cache. It says nothing; most providers pass over it.
    CacheMark(CacheTtl),
    /// What the model thought, as its provider wrote it; in messages of the model only. It goes back
    /// to the same model within the same turn and nowhere else, and is not recorded.
    Thinking(crate::Json),
    /// What a tool on the provider's own server was asked or gave, as the provider wrote it; in
    /// messages of the model only. It goes where thinking goes.
    ServerTool(crate::Json),
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

    /// Whether it is a hint for the cache and says nothing.
    #[must_use]
    pub fn is_cache_mark(&self) -> bool {
        matches!(self, Self::CacheMark(_))
    }

    /// A picture, a film or sound. What the bytes are is looked at when the turn is made.
    pub fn media(kind: MediaKind, mime_type: impl Into<String>, data: Arc<[u8]>) -> Self {
        let mime_type = mime_type.into();
        match kind {
            MediaKind::Image => Self::Image { mime_type, data },
            MediaKind::Video => Self::Video { mime_type, data },
            MediaKind::Audio => Self::Audio { mime_type, data },
        }
    }

    /// The picture, the film or the sound of such a block.
    #[must_use]
    pub fn as_media(&self) -> Option<MediaRef<'_>> {
        let (kind, mime_type, data) = match self {
            Self::Image { mime_type, data } => (MediaKind::Image, mime_type, data),
            Self::Video { mime_type, data } => (MediaKind::Video, mime_type, data),
            Self::Audio { mime_type, data } => (MediaKind::Audio, mime_type, data),
            _ => return None,
        };
        Some(MediaRef {
            kind,
            mime_type,
            data,
        })
    }
}

/// A view on a picture, a film or sound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediaRef<'a> {
    /// What it is.
    pub kind: MediaKind,
    /// The media type.
    pub mime_type: &'a str,
    /// The bytes of the file.
    pub data: &'a Arc<[u8]>,
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

/// Adds what somebody said to a conversation: to the last message where the same one goes on, else as
/// a message of its own, so that roles alternate. Nothing said adds nothing.
pub fn add_said(messages: &mut Vec<Message>, role: Role, content: Vec<ContentBlock>) {
    match messages.last_mut() {
        _ if content.is_empty() => {}
        Some(last) if last.role == role => last.content.extend(content),
        _ => messages.push(Message { role, content }),
    }
}
