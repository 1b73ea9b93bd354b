//! What entries ask of a runtime and what they get.

use openprogram_core::content::{ContentBlock, ContentRead, MediaFiles, MediaLimits, read_content};
use openprogram_core::decision::{Confidence, DecisionSettings, MenuOption};
use openprogram_core::failure::Failure;
use openprogram_core::function::RuntimeRole;
use openprogram_core::guest::ExecRequest;
use openprogram_core::host_tool::HostTool;
use openprogram_core::id::{NodeId, SessionId};
use openprogram_core::{Json, JsonObject};

use crate::events::EventSender;
use crate::on_retry::OnRetry;
use crate::own_provider::OwnProvider;

/// A function to be run by a person or a program, at the top of a new run.
#[derive(Clone, Debug)]
pub struct RunRequest {
    /// Its full name or any unambiguous tail of it.
    pub function: String,
    /// The arguments by name. Hidden parameters and runtimes are not among them.
    pub arguments: JsonObject,
    /// Values for hidden parameters, here and in everything the function causes.
    pub context: JsonObject,
    /// The session to go on in; `None` starts one.
    pub session: Option<SessionId>,
    /// Where progress is told.
    pub events: Option<EventSender>,
    /// Who is told of failed tries of the model requests that it causes.
    pub on_retry: Option<OnRetry>,
}

/// What became of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunOutcome {
    /// The session; `None` when the run was refused before one was needed, and where nothing is
    /// recorded.
    pub session: Option<SessionId>,
    /// The node of the call; `None` when it was refused before it began, and where nothing is
    /// recorded.
    pub node: Option<NodeId>,
    /// The result.
    pub result: Result<Json, Failure>,
}

/// A decision to be made at the top, outside any function. Nothing is run.
#[derive(Clone, Debug)]
pub struct DecideRequest {
    /// The prompt.
    pub prompt: String,
    /// Pictures, films and sound that the model is shown before the prompt, and nothing else. A model
    /// that weighs options sees none, so one that writes is needed.
    pub media: Vec<ContentBlock>,
    /// The options in order, their functions looked up.
    pub options: Vec<MenuOption>,
    /// Values for hidden parameters; a required one that is missing ends the decision.
    pub context: JsonObject,
    /// How many times to ask again after an invalid pick.
    pub max_retries: u32,
    /// Confidence, votes and groups; all off by default.
    pub settings: DecisionSettings,
    /// The session to go on in; `None` starts one.
    pub session: Option<SessionId>,
    /// The provider to ask in place of the main one of the runtime.
    pub provider: Option<OwnProvider>,
    /// Where progress is told.
    pub events: Option<EventSender>,
    /// Who is told of failed tries of its model requests.
    pub on_retry: Option<OnRetry>,
}

/// What became of a decision at the top.
#[derive(Clone, Debug, PartialEq)]
pub struct DecideOutcome {
    /// The session; `None` when the decision was refused before one was needed, and where nothing
    /// is recorded.
    pub session: Option<SessionId>,
    /// The pick.
    pub result: Result<DecidedPick, Failure>,
}

/// A pick as a person is shown it.
#[derive(Clone, Debug, PartialEq)]
pub struct DecidedPick {
    /// The name of the option.
    pub option: String,
    /// The arguments as picked: hidden ones and defaults are not filled in.
    pub arguments: JsonObject,
    /// What the decision gives: a value, or the filled-in fields. `None` for a function.
    pub value: Option<Json>,
    /// How the pick came about: `single`, `decider`, `endpoint`, `constrained` or `text`.
    pub method: &'static str,
    /// How sure the pick is, if anybody said.
    pub confidence: Option<Confidence>,
    /// The option that was picked and not sure enough, when this one took over.
    pub handed_off: Option<String>,
    /// The probability of every option in menu order, if the model weighed all of them.
    pub probabilities: Option<Vec<(String, f64)>>,
    /// What was forgiven or dropped to read it, one line each.
    pub coerced: Vec<String>,
}

/// A turn to be made at the top, outside any function: a person or a program speaks to a model.
#[derive(Clone, Debug)]
pub struct TurnRequest {
    /// The turn. Its tools are all functions, unless it names some.
    pub turn: ExecRequest,
    /// Values for the hidden parameters of the functions that it causes to run.
    pub context: JsonObject,
    /// The session to go on in; `None` starts one.
    pub session: Option<SessionId>,
    /// The provider to ask in place of the one of the runtime that the turn names.
    pub provider: Option<OwnProvider>,
    /// Where progress is told: the reply while it arrives, calls and their results, tries.
    pub events: Option<EventSender>,
    /// Who is told of failed tries of the model requests that it causes.
    pub on_retry: Option<OnRetry>,
}

/// What became of a turn at the top.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnOutcome<T> {
    /// The session; `None` when the turn was refused before one was needed, and where nothing is
    /// recorded.
    pub session: Option<SessionId>,
    /// The reply, or the result of the pick of a turn that closes with a decision.
    pub result: Result<T, Failure>,
}

impl TurnRequest {
    /// A turn of this content over the main runtime, in a new session, watched by nobody.
    #[must_use]
    pub fn new(content: Vec<ContentBlock>) -> Self {
        Self {
            turn: ExecRequest::new(RuntimeRole::Main, content),
            context: JsonObject::new(),
            session: None,
            provider: None,
            events: None,
            on_retry: None,
        }
    }

    /// A turn of content as programs write it down: a text, or an array of blocks, whose files are
    /// read by `files`. See [`read_content`].
    ///
    /// # Errors
    /// `invalid-argument` or `limit-reached`, before anything is asked of a model.
    pub fn read(content: &Json, files: &dyn MediaFiles) -> Result<Self, Failure> {
        let read = read_content(content, files, &MediaLimits::default());
        let ContentRead { content, system } = read.map_err(|error| error.to_failure())?;
        let mut request = Self::new(content);
        request.turn.system = system;
        Ok(request)
    }

    /// A turn that says this text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(vec![ContentBlock::Text(text.into())])
    }

    /// Adds a tool that is run here. Beside such tools the model may call no function, unless the
    /// turn names some or a preset; turns below this one do not have them.
    #[must_use]
    pub fn tool(mut self, tool: HostTool) -> Self {
        self.turn.host_tools.push(tool);
        self
    }
}

impl RunRequest {
    /// A run of this function without arguments, in a new session, watched by nobody.
    pub fn new(function: impl Into<String>) -> Self {
        Self {
            function: function.into(),
            arguments: JsonObject::new(),
            context: JsonObject::new(),
            session: None,
            events: None,
            on_retry: None,
        }
    }
}

impl DecideRequest {
    /// A decision in a new session, asked again once, watched by nobody.
    pub fn new(prompt: impl Into<String>, options: Vec<MenuOption>) -> Self {
        Self {
            prompt: prompt.into(),
            media: Vec::new(),
            options,
            context: JsonObject::new(),
            max_retries: 1,
            settings: DecisionSettings::default(),
            session: None,
            provider: None,
            events: None,
            on_retry: None,
        }
    }
}
