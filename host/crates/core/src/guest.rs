//! The ports between the runtime and whatever runs functions.
//!
//! The runtime calls a [`FunctionHost`]; while the function runs, everything it may ask goes
//! through the [`HostServices`] made for that one call. Nothing a function causes goes past it.

use std::sync::Arc;

use async_trait::async_trait;

use crate::content::ContentBlock;
use crate::decision::{Confidence, DecisionSettings, OptionSpec};
use crate::failure::{Failure, FailureCode};
use crate::function::{FunctionRef, RuntimeRef};
use crate::grant::{Access, GrantKind};
use crate::id::NodeId;
use crate::session::Usage;
use crate::tool::ToolChoice;
use crate::{Json, JsonObject};

/// One call of a function, its arguments complete and checked.
#[derive(Clone)]
pub struct FunctionCall {
    /// The function.
    pub function: FunctionRef,
    /// All arguments by shown name, hidden ones and defaults filled in, runtimes left out.
    pub arguments: JsonObject,
    /// What the function may ask while it runs.
    pub services: Arc<dyn HostServices>,
    /// How many calls are above this one; 0 for a top-level call, which alone waits for a slot.
    pub depth: u32,
}

/// What a call gave and what it cost.
#[derive(Clone, Debug, PartialEq)]
pub struct CallOutcome {
    /// The result.
    pub result: Result<Json, CallError>,
    /// What it cost.
    pub report: CallReport,
}

/// What one call cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallReport {
    /// Time inside the function, without waiting in imports, in microseconds.
    pub cpu_us: u64,
    /// Time from start to end in microseconds.
    pub wall_us: u64,
    /// The most memory it held, in bytes.
    pub memory_bytes: u64,
    /// What it wrote to stdout and stderr, cut at the limit.
    pub log: String,
    /// How many bytes it wrote to stdout and stderr.
    pub log_bytes: u64,
    /// How often it called the host.
    pub host_calls: u64,
    /// Bytes that it sent over the network, heads of requests included.
    pub egress_bytes: u64,
    /// Bytes that it received over the network.
    pub ingress_bytes: u64,
    /// Bytes that it wrote to files.
    pub written_bytes: u64,
}

/// Why a call gave no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The function returned its own error.
    #[error("the function failed: {0}")]
    Function(Json),
    /// The function stopped abnormally; the instance is gone.
    #[error("the function trapped: {trap}")]
    Trapped {
        /// The kind of trap, for example `unreachable` or `stack-overflow`.
        trap: String,
        /// The innermost guest frames, outermost last.
        backtrace: Vec<String>,
    },
    /// A limit was reached.
    #[error("{message}")]
    LimitReached {
        /// The name of the limit, for example `cpu_ms`.
        which: &'static str,
        /// Its value.
        limit: u64,
        /// What happened.
        message: String,
    },
    /// What the function was granted cannot be given to it.
    #[error("{message}")]
    Denied {
        /// The line of the grant.
        what: String,
        /// Why, and what to do.
        message: String,
    },
    /// An argument does not fit the type of its parameter.
    #[error("argument `{path}`: {message}")]
    InvalidArgument {
        /// The path of the offending part.
        path: String,
        /// What is wrong with it.
        message: String,
    },
    /// The host failed.
    #[error("the call failed in the host: {0}")]
    Internal(String),
}

impl CallError {
    /// The error as callers see it.
    #[must_use]
    pub fn to_failure(&self, function: &str) -> Failure {
        match self {
            Self::Function(error) => {
                // A function that returns our own failure record passes it on unchanged.
                if let Some(failure) = Failure::from_json(error) {
                    return failure;
                }
                Failure::new(FailureCode::FunctionFailed, format!("`{function}` failed"))
                    .with("function", function)
                    .with("error", error.clone())
            }
            Self::Trapped { trap, backtrace } => Failure::new(
                FailureCode::Trapped,
                format!("`{function}` trapped: {trap}"),
            )
            .with("function", function)
            .with("trap", trap.clone())
            .with("backtrace", backtrace.clone()),
            Self::LimitReached {
                which,
                limit,
                message,
            } => Failure::limit(which, *limit, message.clone()).with("function", function),
            Self::InvalidArgument { path, message } => Failure::new(
                FailureCode::InvalidArgument,
                format!("argument `{path}` of `{function}`: {message}"),
            )
            .with("function", function)
            .with("path", path.clone()),
            Self::Denied { what, message } => Failure::new(FailureCode::Denied, message.clone())
                .with("function", function)
                .with("what", what.clone()),
            Self::Internal(message) => {
                Failure::new(FailureCode::Internal, message.clone()).with("function", function)
            }
        }
    }
}

/// Runs functions.
#[async_trait]
pub trait FunctionHost: Send + Sync {
    /// Runs one function to its end, in an instance of its own. Dropping the future stops it.
    async fn call(&self, call: FunctionCall) -> CallOutcome;
}

/// One decision as a function asks for it.
#[derive(Clone, Debug, PartialEq)]
pub struct DecisionRequest {
    /// The prompt.
    pub prompt: String,
    /// The options in order; not yet checked.
    pub options: Vec<OptionSpec>,
    /// Values for hidden parameters, over those of the frame.
    pub context: JsonObject,
    /// How many times to ask again.
    pub max_retries: u32,
    /// The runtime to use instead of the ambient one.
    pub runtime: Option<RuntimeRef>,
    /// Confidence, votes and groups; all off by default.
    pub settings: DecisionSettings,
}

impl DecisionRequest {
    /// A decision with this prompt and these options, asked again once, over the ambient runtime.
    pub fn new(prompt: impl Into<String>, options: Vec<OptionSpec>) -> Self {
        Self {
            prompt: prompt.into(),
            options,
            context: JsonObject::new(),
            max_retries: 1,
            runtime: None,
            settings: DecisionSettings::default(),
        }
    }
}

/// A valid pick that has not been carried out.
#[derive(Clone, Debug, PartialEq)]
pub struct PickedOption {
    /// The name of the option.
    pub name: String,
    /// The arguments as picked.
    pub arguments: JsonObject,
    /// How the pick came about, for example `decider` or `text`.
    pub how: String,
    /// How sure the pick is, if anybody said.
    pub confidence: Option<Confidence>,
    /// The option that was picked and not sure enough, when this one took over.
    pub handed_off: Option<String>,
    /// The turn that made the pick; `None` when it was read from a reply that came from elsewhere.
    pub turn: Option<NodeId>,
}

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
    /// Whether and what it must call; back to [`ToolChoice::Auto`] once a forced call was made.
    pub tool_choice: ToolChoice,
    /// Whether one reply may hold several calls; `None` leaves it to the provider.
    pub parallel_tool_calls: Option<bool>,
    /// What the last reply has to look like: a JSON Schema or an envelope around one, not yet
    /// checked. Holds for this turn alone.
    pub response_format: Option<Json>,
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
            tool_choice: ToolChoice::Auto,
            parallel_tool_calls: None,
            response_format: None,
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
}

/// How a turn with choices closes: its last reply picks one of these options.
#[derive(Clone, Debug, PartialEq)]
pub struct Closing {
    /// The options in order; not yet checked.
    pub options: Vec<OptionSpec>,
    /// Values for hidden parameters, over those of the frame.
    pub context: JsonObject,
}

/// Something that a person has to agree to before it happens: a use of a grant that asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalRequest {
    /// Which kind of grant it is a use of.
    pub kind: GrantKind,
    /// What is wanted, for example `POST https://api.example.com/v1/orders`.
    pub what: String,
    /// The line of the grant.
    pub grant: String,
}

/// What one function may ask of the host while it runs: the imports of the contract, as one trait.
#[async_trait]
pub trait HostServices: Send + Sync {
    /// Opens a runtime for this call alone with the model of this name, `provider:model`.
    ///
    /// The default refuses: not every service has other models.
    async fn open(&self, model: &str) -> Result<RuntimeRef, Failure> {
        let _ = model;
        Err(not_offered("other models are not offered here"))
    }

    /// The model of a runtime that this call was lent or has opened.
    fn model(&self, runtime: RuntimeRef) -> Result<String, Failure>;

    /// The system prompt that holds for turns made now.
    fn system(&self, runtime: RuntimeRef) -> Result<Option<String>, Failure>;

    /// Sets the system prompt for this call and the calls below it.
    fn set_system(&self, runtime: RuntimeRef, text: Option<String>) -> Result<(), Failure>;

    /// The id of the session.
    fn session_id(&self) -> String;

    /// Decides and resolves the pick.
    async fn make(&self, request: DecisionRequest) -> Result<Json, Failure>;

    /// Decides and runs nothing.
    async fn pick(&self, request: DecisionRequest) -> Result<PickedOption, Failure>;

    /// The menu of a decision as a model reads it. No model is asked.
    async fn render(&self, request: DecisionRequest) -> Result<String, Failure> {
        let _ = request;
        Err(not_offered("menus are not rendered here"))
    }

    /// Reads a reply that came from elsewhere. After an invalid pick the model is asked again, as
    /// often as the request says, when there is a runtime with one that writes.
    async fn parse(
        &self,
        reply: String,
        request: DecisionRequest,
    ) -> Result<PickedOption, Failure> {
        let _ = (reply, request);
        Err(not_offered("replies are not read here"))
    }

    /// Carries a pick out: its option, in the request that it was picked from, becomes the result.
    async fn resolve(
        &self,
        request: DecisionRequest,
        picked: PickedOption,
    ) -> Result<Json, Failure> {
        let _ = (request, picked);
        Err(not_offered("picks are not carried out here"))
    }

    /// Notes what the function reached for and whether it got it, for the record of the call.
    fn note(&self, access: Access) {
        let _ = access;
    }

    /// Asks a person whether this may happen now. The answer holds for this one use, and leaves a
    /// receipt. Whoever enforces the grant notes the use, or the refusal by
    /// [`unapproved`](crate::question::unapproved).
    ///
    /// The default refuses: there is nobody to ask.
    async fn approve(&self, request: ApprovalRequest) -> Result<(), Failure> {
        let message = format!("nobody is there to approve `{}`", request.what);
        Err(Failure::new(FailureCode::Denied, message).with("what", request.what))
    }

    /// Calls a function by name.
    async fn call(&self, name: &str, arguments: Json) -> Result<Json, Failure>;

    /// Makes one turn and gives its text.
    ///
    /// The default refuses: not every service offers turns.
    async fn exec(&self, request: ExecRequest) -> Result<ExecReply, Failure> {
        let _ = request;
        Err(not_offered("turns are not offered here"))
    }

    /// Makes one turn whose last reply is a decision, and resolves the pick.
    ///
    /// The default refuses: not every service offers turns.
    async fn exec_closing(&self, request: ExecRequest, closing: Closing) -> Result<Json, Failure> {
        let _ = (request, closing);
        Err(not_offered("turns are not offered here"))
    }

    /// Makes one turn whose last reply is a decision, and carries nothing out.
    ///
    /// The default refuses: not every service offers turns.
    async fn exec_picking(
        &self,
        request: ExecRequest,
        closing: Closing,
    ) -> Result<PickedOption, Failure> {
        let _ = (request, closing);
        Err(not_offered("turns are not offered here"))
    }
}

fn not_offered(message: &str) -> Failure {
    Failure::new(FailureCode::NoProvider, message)
}
