//! What a function may ask of the host while it runs.

use std::sync::Arc;

use async_trait::async_trait;

use super::call::ImportError;
use super::decision::{DecisionRequest, PickedOption};
use super::started::{StartedPick, StartedTurn, TurnWatcher};
use super::turn::{Closing, ExecReply, ExecRequest};
use crate::content::ThinkingLevel;
use crate::failure::{Failure, FailureCode};
use crate::function::{FunctionRef, RuntimeRef};
use crate::grant::{Access, GrantKind};
use crate::question::{AskReply, AskRequest, Sending};
use crate::session::Usage;
use crate::{Json, JsonObject};

/// Something that a person has to agree to before it happens: a use of a grant that asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalRequest {
    /// Which kind of grant it is a use of.
    pub kind: GrantKind,
    /// What is wanted, for example `POST https://api.example.com/v1/orders`.
    pub what: String,
    /// The line of the grant.
    pub grant: String,
    /// What leaves, where it is a request that is sent.
    pub sends: Option<Sending>,
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

    /// Closes a runtime that this call has opened; what is asked of it later fails as `closed`.
    ///
    /// The default refuses: a runtime that is lent is not the function's to close.
    fn close(&self, runtime: RuntimeRef) -> Result<(), Failure> {
        Err(not_ones_own(runtime))
    }

    /// The model of a runtime that this call was lent or has opened.
    fn model(&self, runtime: RuntimeRef) -> Result<String, Failure>;

    /// The system prompt that holds for turns made now.
    fn system(&self, runtime: RuntimeRef) -> Result<Option<String>, Failure>;

    /// Sets the system prompt for this call and the calls below it.
    fn set_system(&self, runtime: RuntimeRef, text: Option<String>) -> Result<(), Failure>;

    /// How much the model thinks in turns made now.
    fn thinking_level(&self, runtime: RuntimeRef) -> Result<ThinkingLevel, Failure> {
        let _ = runtime;
        Ok(ThinkingLevel::Off)
    }

    /// Sets how much the model thinks, for this call and the calls below it.
    ///
    /// The default refuses: not every service offers levels of thinking.
    fn set_thinking_level(&self, runtime: RuntimeRef, level: ThinkingLevel) -> Result<(), Failure> {
        let _ = (runtime, level);
        Err(not_offered("levels of thinking are not offered here"))
    }

    /// How often a model request is made at most, the first try included.
    fn max_retries(&self, runtime: RuntimeRef) -> Result<u32, Failure> {
        let _ = runtime;
        Ok(1)
    }

    /// The tokens of the last model request that this call made with the runtime, as far as the
    /// provider tells.
    fn last_usage(&self, runtime: RuntimeRef) -> Result<Option<Usage>, Failure> {
        let _ = runtime;
        Ok(None)
    }

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

    /// Whether a question would reach a person: it is granted, and somebody is there.
    fn can_ask(&self) -> bool {
        false
    }

    /// Puts a question to the person who runs the function, and waits for the answer.
    ///
    /// The default refuses: there is nobody to ask.
    async fn ask_user(&self, request: AskRequest) -> Result<AskReply, Failure> {
        let _ = request;
        let message = "nobody is there to ask";
        Err(Failure::new(FailureCode::NobodyThere, message))
    }

    /// Calls a function by name.
    async fn call(&self, name: &str, arguments: Json) -> Result<Json, Failure>;

    /// Calls a function that the caller imports by its types. `arguments` holds all of its
    /// parameters by shown name; what stands there for hidden ones is not used.
    ///
    /// The default refuses: not every service has functions of other components.
    async fn call_import(
        &self,
        function: &FunctionRef,
        arguments: JsonObject,
    ) -> Result<Json, ImportError> {
        let _ = arguments;
        let message = format!("`{}` is not offered here", function.name);
        Err(ImportError::Failed(Failure::new(
            FailureCode::Denied,
            message,
        )))
    }

    /// Makes one turn and gives its text.
    ///
    /// The default refuses: not every service offers turns.
    async fn exec(&self, request: ExecRequest) -> Result<ExecReply, Failure> {
        let _ = request;
        Err(not_offered("turns are not offered here"))
    }

    /// Checks one turn and gives it to be polled. What happens in it is told to the watcher, who also
    /// runs its local tools. It has to end before the call does.
    ///
    /// The default refuses: not every service offers turns.
    async fn start(
        &self,
        request: ExecRequest,
        watcher: Arc<dyn TurnWatcher>,
    ) -> Result<StartedTurn, Failure> {
        let _ = (request, watcher);
        Err(not_offered("turns are not offered here"))
    }

    /// Tells the person who watches how far the function has come; `fraction` is from 0 to 1.
    ///
    /// Nobody may be watching, which is the default.
    fn report(&self, message: &str, fraction: Option<f64>) {
        let _ = (message, fraction);
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

    /// Checks the same turn and gives it to be polled, as [`HostServices::start`] does.
    ///
    /// The default refuses: not every service offers turns.
    async fn start_picking(
        &self,
        request: ExecRequest,
        closing: Closing,
        watcher: Arc<dyn TurnWatcher>,
    ) -> Result<StartedPick, Failure> {
        let _ = (request, closing, watcher);
        Err(not_offered("turns are not offered here"))
    }
}

/// Why a runtime is not closed by a function that was lent it.
#[must_use]
pub fn not_ones_own(runtime: RuntimeRef) -> Failure {
    let message = format!(
        "the runtime `{}` was lent to this call and ends with it; only one that the call has opened \
         can be closed",
        runtime.word()
    );
    Failure::new(FailureCode::InvalidArgument, message).with("path", "runtime")
}

fn not_offered(message: &str) -> Failure {
    Failure::new(FailureCode::NoProvider, message)
}
