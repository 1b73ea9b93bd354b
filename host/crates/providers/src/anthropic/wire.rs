//! Twins of the JSON of Messages, in the provider's words and the order of its fields.
//!
//! Read twins are flat: events and blocks of kinds that are not known must not fail, and numbers
//! keep their exact text only outside of tagged enums.

use openprogram_core::content::CacheTtl;
use openprogram_core::{Json, JsonObject};
use serde::{Deserialize, Serialize, Serializer};

/// The body of a request. What the server may cache by its beginning comes in a fixed order, the
/// messages last.
#[derive(Serialize)]
pub(crate) struct MessagesRequest<'a> {
    pub(crate) model: &'a str,
    pub(crate) max_tokens: u64,
    pub(crate) stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) thinking: Option<Thinking>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) tools: Vec<AnyTool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_choice: Option<ToolChoice<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) output_config: Option<OutputConfig>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) system: Option<System<'a>>,
    pub(crate) messages: Vec<Message<'a>>,
}

#[derive(Serialize)]
pub(crate) struct Thinking {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) budget_tokens: Option<u64>,
}

/// The system prompt; in blocks where it is to be cached.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum System<'a> {
    Text(&'a str),
    Blocks([Block<'a>; 1]),
}

#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum AnyTool<'a> {
    Own(Tool<'a>),
    OfServer(ServerTool),
}

#[derive(Serialize)]
pub(crate) struct ServerTool {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) name: &'static str,
    pub(crate) max_uses: u32,
}

#[derive(Serialize)]
pub(crate) struct Tool<'a> {
    pub(crate) name: std::borrow::Cow<'a, str>,
    pub(crate) description: &'a str,
    pub(crate) input_schema: std::borrow::Cow<'a, Json>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) strict: bool,
}

#[derive(Serialize)]
pub(crate) struct ToolChoice<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) disable_parallel_tool_use: Option<bool>,
}

#[derive(Serialize)]
pub(crate) struct OutputConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) effort: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) format: Option<OutputFormat>,
}

#[derive(Serialize)]
pub(crate) struct OutputFormat {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) schema: Json,
}

#[derive(Serialize)]
pub(crate) struct Message<'a> {
    pub(crate) role: &'static str,
    pub(crate) content: Vec<Block<'a>>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Block<'a> {
    Thinking {
        thinking: &'a str,
        signature: &'a str,
    },
    RedactedThinking {
        data: &'a str,
    },
    Text {
        text: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
    Image {
        source: ImageSource<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
    ToolUse {
        id: String,
        name: String,
        input: JsonObject,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
    ToolResult {
        tool_use_id: String,
        content: &'a str,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
    /// One that goes back as the server wrote it, its type included.
    #[serde(untagged)]
    OfServer(&'a Json),
}

impl Block<'_> {
    /// The place of the mark that says to cache everything up to here; thinking has none.
    pub(crate) fn cache_control(&mut self) -> Option<&mut Option<CacheControl>> {
        match self {
            Self::Text { cache_control, .. }
            | Self::Image { cache_control, .. }
            | Self::ToolUse { cache_control, .. }
            | Self::ToolResult { cache_control, .. } => Some(cache_control),
            Self::Thinking { .. } | Self::RedactedThinking { .. } | Self::OfServer(_) => None,
        }
    }
}

/// The mark that says to cache everything up to here.
#[derive(Serialize)]
pub(crate) struct CacheControl {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(serialize_with = "ttl_word", skip_serializing_if = "is_usual")]
    pub(crate) ttl: CacheTtl,
}

impl CacheControl {
    /// The one kind of mark, for so long.
    pub(crate) fn of(ttl: CacheTtl) -> Self {
        Self {
            kind: "ephemeral",
            ttl,
        }
    }
}

fn ttl_word<S: Serializer>(ttl: &CacheTtl, serializer: S) -> Result<S::Ok, S::Error> {
    ttl.as_str().serialize(serializer)
}

fn is_usual(ttl: &CacheTtl) -> bool {
    *ttl == CacheTtl::Usual
}

#[derive(Serialize)]
pub(crate) struct ImageSource<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) media_type: &'a str,
    pub(crate) data: String,
}

/// One event of a stream.
#[derive(Deserialize)]
pub(crate) struct Event {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) message: Option<Reply>,
    pub(crate) index: Option<u64>,
    /// A [`ReplyBlock`], or what goes back as it came.
    pub(crate) content_block: Option<Json>,
    pub(crate) delta: Option<Delta>,
    pub(crate) usage: Option<Json>,
}

/// A whole reply, or the head of a streamed one.
#[derive(Deserialize)]
pub(crate) struct Reply {
    /// Blocks as in the stream.
    pub(crate) content: Option<Vec<Json>>,
    pub(crate) stop_reason: Option<String>,
    pub(crate) usage: Option<Json>,
}

#[derive(Deserialize)]
pub(crate) struct ReplyBlock {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) text: Option<String>,
    pub(crate) thinking: Option<String>,
    pub(crate) signature: Option<String>,
    pub(crate) data: Option<String>,
    pub(crate) id: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) input: Option<Json>,
}

#[derive(Deserialize)]
pub(crate) struct Delta {
    pub(crate) text: Option<String>,
    pub(crate) thinking: Option<String>,
    pub(crate) signature: Option<String>,
    pub(crate) partial_json: Option<String>,
    pub(crate) stop_reason: Option<String>,
}
