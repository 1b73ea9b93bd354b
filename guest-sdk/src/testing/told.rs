//! What a function asked for, for a test to look at.

use std::time::Duration;

use crate::{CacheTtl, Failure, ThinkingLevel, ToolChoice, Value};

/// What a model was asked for. Later versions may add some.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MockKind {
    /// A turn that answers.
    Turn,
    /// A turn that ends in a pick.
    Choice,
    /// A decision.
    Decision,
    /// A pick that is read from a reply that came from elsewhere.
    Parse,
}

/// What a model was asked. Later versions may add fields.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MockRequest {
    /// What for.
    pub kind: MockKind,
    /// The name of the model.
    pub model: String,
    /// How much the model thinks.
    pub thinking_level: ThinkingLevel,
    /// The system prompt that was set for the runtime, then the texts that the turn added to it.
    pub system: Vec<String>,
    /// The texts of a turn in order, the prompt of a decision, or the reply that is read.
    pub texts: Vec<String>,
    /// What was shown and played.
    pub media: Vec<MockMedium>,
    /// The hints that what was said so far comes again, with how long it is to be kept if that was
    /// said.
    pub cache_marks: Vec<Option<CacheTtl>>,
    /// The functions that the model may call; `None` when the turn names none.
    pub tools: Option<Vec<String>>,
    /// The preset that the model may call.
    pub toolset: Option<String>,
    /// The source for which unsafe functions are left out.
    pub tools_source: Option<String>,
    /// The functions that are not left out; `None` for all.
    pub tools_allow: Option<Vec<String>>,
    /// The functions that are left out.
    pub tools_deny: Vec<String>,
    /// What the model must call.
    pub tool_choice: ToolChoice,
    /// Whether one reply may hold several calls, if that was said.
    pub parallel_tool_calls: Option<bool>,
    /// The local tools of the turn.
    pub local_tools: Vec<String>,
    /// The calls of local tools that were answered so far, in the order of the answers.
    pub local_calls: Vec<MockLocalCall>,
    /// The response format.
    pub response_format: Option<Value>,
    /// Whether the model may search the web.
    pub web_search: bool,
    /// Whether a reply may begin anew after pieces of it were told.
    pub restarts: bool,
    /// How many requests the turn may take, if that was said.
    pub max_iterations: Option<u32>,
    /// The time for the whole turn, if that was said.
    pub timeout: Option<Duration>,
    /// The options of the menu.
    pub options: Vec<String>,
    /// The context of the menu, null for none.
    pub context: Value,
}

impl MockRequest {
    pub(crate) fn new(kind: MockKind) -> Self {
        MockRequest {
            kind,
            model: String::new(),
            thinking_level: ThinkingLevel::Off,
            system: Vec::new(),
            texts: Vec::new(),
            media: Vec::new(),
            cache_marks: Vec::new(),
            tools: None,
            toolset: None,
            tools_source: None,
            tools_allow: None,
            tools_deny: Vec::new(),
            tool_choice: ToolChoice::Auto,
            parallel_tool_calls: None,
            local_tools: Vec::new(),
            local_calls: Vec::new(),
            response_format: None,
            web_search: false,
            restarts: false,
            max_iterations: None,
            timeout: None,
            options: Vec::new(),
            context: Value::Null,
        }
    }

    /// All its texts as one.
    pub fn text(&self) -> String {
        self.texts.join("\n\n")
    }
}

/// How something was shown or played. Later versions may add ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MockMediumKind {
    /// As a picture.
    Image,
    /// As a film.
    Video,
    /// As sound.
    Audio,
    /// As a file of a granted folder.
    File,
}

/// Something that a model was shown, or that was played to it. Later versions may add fields.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MockMedium {
    /// How.
    pub kind: MockMediumKind,
    /// Its bytes; none of a file, which the host reads.
    pub data: Vec<u8>,
    /// The media type that was told; empty of a file.
    pub mime_type: String,
    /// The path of a file; empty otherwise.
    pub path: String,
}

/// One call of a function by name, or by a pick. Later versions may add fields.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MockCall {
    /// The name that it was called by.
    pub function: String,
    /// The arguments.
    pub arguments: Value,
}

/// One call of a local tool, answered. Later versions may add fields.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MockLocalCall {
    /// The name of the tool.
    pub name: String,
    /// The arguments.
    pub arguments: Value,
    /// What the tool gave.
    pub result: Result<Value, Failure>,
}

/// What a person was asked for. Later versions may add some.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MockQuestionKind {
    /// A text, or some of the options.
    Prompt,
    /// A yes or a no.
    Confirm,
    /// The fields of a form.
    Form,
}

/// What a person was asked. Later versions may add fields.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MockQuestion {
    /// What for.
    pub kind: MockQuestionKind,
    /// The text that asks.
    pub prompt: String,
    /// The answers to choose from; none when any text is one.
    pub options: Vec<String>,
    /// Whether several options may be chosen.
    pub multiple: bool,
    /// Whether a text that is no option is an answer too.
    pub free_text: bool,
    /// The answer when nobody gives one: a list of texts, or a yes or a no.
    pub default: Option<Value>,
    /// The fields of a form by name, null otherwise.
    pub fields: Value,
    /// How long to wait for the answer.
    pub timeout: Option<Duration>,
}

impl MockQuestion {
    pub(crate) fn new(kind: MockQuestionKind, prompt: &str) -> Self {
        MockQuestion {
            kind,
            prompt: prompt.to_owned(),
            options: Vec::new(),
            multiple: false,
            free_text: false,
            default: None,
            fields: Value::Null,
            timeout: None,
        }
    }
}

/// How far a function told to have come. Later versions may add fields.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MockProgress {
    /// The message as the function gave it.
    pub message: String,
    /// How much is done.
    pub fraction: Option<f64>,
}
