//! A turn as a function asks for it, and what it gave.

use super::LocalTool;
use crate::content::ContentBlock;
use crate::decision::OptionSpec;
use crate::function::RuntimeRef;
use crate::host_tool::HostTool;
use crate::llm::StopReason;
use crate::session::Usage;
use crate::tool::ToolChoice;
use crate::tool_filter::ToolFilter;
use crate::{Json, JsonObject};

/// One turn as a function asks for it: the model works, with tools where it may, and answers.
#[derive(Clone, Debug, PartialEq)]
pub struct ExecRequest {
    /// The runtime it is made with.
    pub runtime: RuntimeRef,
    /// What is said, in order: text and images.
    pub content: Vec<ContentBlock>,
    /// Text added to the system prompt for this turn.
    pub system: Vec<String>,
    /// Which functions the model may call.
    pub tools: ToolsWanted,
    /// What is left out of them; [`filter_tools`](crate::tool_filter::filter_tools) says in which
    /// order.
    pub tool_filter: ToolFilter,
    /// Tools that whoever makes the turn runs. They count as named: beside them, the default is no
    /// function. Turns below this one do not inherit them.
    pub host_tools: Vec<HostTool>,
    /// Which tools of the function itself it may call too. Only [`HostServices::start`] can make such
    /// a turn.
    ///
    /// [`HostServices::start`]: super::HostServices::start
    pub local_tools: Vec<LocalTool>,
    /// Whether and what it must call; back to [`ToolChoice::Auto`] once a forced call was made.
    pub tool_choice: ToolChoice,
    /// Whether one reply may hold several calls; `None` leaves it to the provider.
    pub parallel_tool_calls: Option<bool>,
    /// What the last reply has to look like: a JSON Schema or an envelope around one, not yet
    /// checked. Holds for this turn alone.
    pub response_format: Option<Json>,
    /// Whether the model may search the web with its provider's own tool. A provider that is not
    /// known to have one ends the turn before it is asked.
    pub web_search: bool,
    /// How many model requests with their calls the turn may take; clamped to 1..=50.
    pub max_iterations: u32,
    /// The time for everything: requests, waits between tries, calls, re-asks. `None` is the
    /// default of the host.
    pub timeout_ms: Option<u64>,
}

/// How many model requests one turn may take when its author says nothing.
pub const MAX_ITERATIONS_DEFAULT: u32 = 20;

impl ExecRequest {
    /// A turn with this content and the defaults for the rest.
    #[must_use]
    pub fn new(runtime: impl Into<RuntimeRef>, content: Vec<ContentBlock>) -> Self {
        Self {
            runtime: runtime.into(),
            content,
            system: Vec::new(),
            tools: ToolsWanted::Default,
            tool_filter: ToolFilter::default(),
            host_tools: Vec::new(),
            local_tools: Vec::new(),
            tool_choice: ToolChoice::Auto,
            parallel_tool_calls: None,
            response_format: None,
            web_search: false,
            max_iterations: MAX_ITERATIONS_DEFAULT,
            timeout_ms: None,
        }
    }
}

/// Which functions the model of a turn may call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolsWanted {
    /// Those of the turn above, where there is one; else every function that the component whose
    /// turn it is may call.
    Default,
    /// Exactly these; an empty list means none.
    Named(Vec<String>),
    /// Those of a preset that the component whose turn it is may call, whatever the turn above has:
    /// one of the project, [`FULL`](crate::tool_filter::FULL) or
    /// [`NONE`](crate::tool_filter::NONE).
    Preset(String),
}

/// What a turn gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecReply {
    /// The text of the last reply.
    pub text: String,
    /// The value that this text is, checked, of a turn with a response format.
    pub structured: Option<Json>,
    /// Tokens used by all its model requests, as far as the provider tells.
    pub usage: Usage,
    /// Why the last reply ended. A text may be cut off or held back; a value is whole in any case.
    pub stop: StopReason,
}

/// How a turn with choices closes: its last reply picks one of these options.
#[derive(Clone, Debug, PartialEq)]
pub struct Closing {
    /// The options in order; not yet checked.
    pub options: Vec<OptionSpec>,
    /// Values for hidden parameters, over those of the frame.
    pub context: JsonObject,
}
