//! Twins of the JSON of Chat Completions, in the provider's words and the order of its fields.
//!
//! Read twins take whatever servers put into optional places; what matters is picked out later.

use openprogram_core::Json;
use serde::{Deserialize, Serialize};

/// The body of a request. What the server may cache by its beginning comes in a fixed order, the
/// messages last.
#[derive(Serialize)]
pub(crate) struct ChatRequest<'a> {
    pub(crate) model: &'a str,
    pub(crate) stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_completion_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) prompt_cache_key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) thinking: Option<Thinking>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reasoning_effort: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_choice: Option<ToolChoice<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) response_format: Option<ResponseFormat<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) web_search_options: Option<WebSearchOptions>,
    pub(crate) messages: Vec<Message<'a>>,
}

/// The search of the server, with everything as it is by itself: an empty object.
#[derive(Serialize)]
pub(crate) struct WebSearchOptions {}

#[derive(Serialize)]
pub(crate) struct StreamOptions {
    pub(crate) include_usage: bool,
}

#[derive(Serialize)]
pub(crate) struct Thinking {
    #[serde(rename = "type")]
    pub(crate) kind: String,
}

#[derive(Serialize)]
pub(crate) struct Tool<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) function: ToolFunction<'a>,
}

#[derive(Serialize)]
pub(crate) struct ToolFunction<'a> {
    pub(crate) name: &'a str,
    pub(crate) description: &'a str,
    pub(crate) parameters: std::borrow::Cow<'a, Json>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) strict: bool,
}

#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum ToolChoice<'a> {
    Word(&'static str),
    Named {
        #[serde(rename = "type")]
        kind: &'static str,
        function: NamedFunction<'a>,
    },
}

#[derive(Serialize)]
pub(crate) struct NamedFunction<'a> {
    pub(crate) name: &'a str,
}

#[derive(Serialize)]
pub(crate) struct ResponseFormat<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) json_schema: JsonSchema<'a>,
}

#[derive(Serialize)]
pub(crate) struct JsonSchema<'a> {
    pub(crate) name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<&'a str>,
    pub(crate) strict: bool,
    pub(crate) schema: Json,
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
pub(crate) enum Message<'a> {
    System {
        content: &'a str,
    },
    User {
        content: Content<'a>,
    },
    Assistant {
        /// `null` beside calls when the model wrote no text.
        content: Option<String>,
        /// What the model thought, where the server wants it back.
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning_content: Option<&'a str>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<PastCall>,
    },
    Tool {
        tool_call_id: String,
        content: &'a str,
    },
}

#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum Content<'a> {
    Text(&'a str),
    Parts(Vec<Part<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Part<'a> {
    Text { text: &'a str },
    ImageUrl { image_url: ImageUrl },
    InputAudio { input_audio: InputAudio },
}

#[derive(Serialize)]
pub(crate) struct ImageUrl {
    pub(crate) url: String,
}

#[derive(Serialize)]
pub(crate) struct InputAudio {
    pub(crate) data: String,
    pub(crate) format: &'static str,
}

#[derive(Serialize)]
pub(crate) struct PastCall {
    pub(crate) id: String,
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) function: PastFunction,
}

#[derive(Serialize)]
pub(crate) struct PastFunction {
    pub(crate) name: String,
    pub(crate) arguments: String,
}

/// One chunk of a stream, or a whole reply: then the choices hold `message` instead of `delta`.
#[derive(Deserialize)]
pub(crate) struct Chunk {
    pub(crate) choices: Option<Vec<Choice>>,
    pub(crate) usage: Option<Json>,
    /// Where Groq puts the usage of a stream.
    pub(crate) x_groq: Option<Json>,
}

#[derive(Deserialize)]
pub(crate) struct Choice {
    pub(crate) index: Option<u64>,
    pub(crate) delta: Option<Delta>,
    pub(crate) message: Option<Delta>,
    pub(crate) finish_reason: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Delta {
    pub(crate) content: Option<Json>,
    pub(crate) reasoning_content: Option<Json>,
    pub(crate) reasoning: Option<Json>,
    pub(crate) refusal: Option<Json>,
    pub(crate) tool_calls: Option<Vec<CallDelta>>,
}

#[derive(Deserialize)]
pub(crate) struct CallDelta {
    pub(crate) index: Option<Json>,
    pub(crate) id: Option<Json>,
    pub(crate) function: Option<FunctionDelta>,
}

#[derive(Deserialize)]
pub(crate) struct FunctionDelta {
    pub(crate) name: Option<String>,
    pub(crate) arguments: Option<Json>,
}
