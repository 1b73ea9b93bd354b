//! Orchestration of decisions and function calls over the ports of core.
//!
//! [`Runtime`] is the handle that entries use: the command line, a page, a program of its own. It
//! knows no adapter: where sessions are kept, what runs functions and which models there are is
//! handed in as [`RuntimeParts`].
//!
//! A decision and a turn with a model of one's own:
//!
//! ```
//! use std::sync::Arc;
//!
//! use openprogram_core::catalog::Catalog;
//! use openprogram_core::decision::{MenuOption, Payload};
//! use openprogram_core::llm::{
//!     Abilities, EventSink, LlmError, ModelReply, ModelRequest, Provider,
//! };
//! use openprogram_core::session::MemoryStore;
//! use openprogram_runtime::{DecideRequest, Providers, Runtime, RuntimeParts, TurnRequest};
//! # use openprogram_core::guest::{CallError, CallOutcome, FunctionCall, FunctionHost};
//! # struct NoFunctions;
//! # #[async_trait::async_trait]
//! # impl FunctionHost for NoFunctions {
//! #     async fn call(&self, _: FunctionCall) -> CallOutcome {
//! #         let result = Err(CallError::Internal("there are no functions".to_owned()));
//! #         CallOutcome { result, report: Default::default() }
//! #     }
//! # }
//!
//! struct Echo;
//!
//! #[async_trait::async_trait]
//! impl Provider for Echo {
//!     fn name(&self) -> &str {
//!         "example:echo"
//!     }
//!
//!     fn abilities(&self) -> Abilities {
//!         Abilities { text: true, decide: false }
//!     }
//!
//!     async fn complete(
//!         &self,
//!         _: &ModelRequest,
//!         _: &dyn EventSink,
//!     ) -> Result<ModelReply, LlmError> {
//!         Ok(ModelReply::text_only(r#"I think {"call": "wait"}"#))
//!     }
//! }
//!
//! let store = Arc::new(MemoryStore::default());
//! let functions = Arc::new(NoFunctions); // A host of components, as a rule.
//! let mut parts = RuntimeParts::new(store, functions, Arc::new(Catalog::default()));
//! parts.providers = Providers::all(Arc::new(Echo));
//! let runtime = Runtime::new(parts);
//!
//! let option = |name: &str| {
//!     MenuOption::new(name.to_owned(), None, Payload::Value(name.len().into()))
//! };
//! let request = DecideRequest::new("What now?", vec![option("go"), option("wait")]);
//! let outcome = pollster::block_on(runtime.decide(request));
//! assert_eq!(outcome.result.unwrap().value, Some(4.into()));
//!
//! let outcome = runtime.exec_blocking(TurnRequest::text("What now?"));
//! assert!(outcome.result.unwrap().text.starts_with("I think"));
//! ```
#![warn(missing_docs)]

mod accesses;
mod admission;
mod approval;
mod arguments;
mod ask;
mod asking;
mod attempt;
mod body;
mod budget;
mod call;
mod chosen_provider;
mod closing;
mod complete;
mod conditions;
mod deadline;
mod decide;
mod deferred;
mod ending;
mod events;
mod exec;
mod frame;
mod imported;
mod joined;
mod kept;
mod ladder;
mod life;
mod limits;
mod local;
mod media;
mod menu;
mod model_fn;
mod on_retry;
mod open_pick;
mod open_runtime;
mod open_turn;
mod opened;
mod own_provider;
mod own_tool;
mod parse;
mod policy;
mod ports;
mod recorder;
mod reply;
mod reports;
mod request;
mod reserve;
mod resolve;
mod services;
mod single;
mod skills;
mod sources;
mod spans;
mod stages;
mod structured;
mod tool_call;
mod tools;
mod top;
mod turn;
mod vote;
mod watchers;
mod weigh;
mod write;

#[cfg(any(test, feature = "testing"))]
pub mod testing;

#[cfg(test)]
mod tests;

use std::future::{Future, pending};
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};

use openprogram_core::Json;
use openprogram_core::catalog::Catalog;
use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::function::RuntimeRole;
use openprogram_core::guest::{Closing, ExecReply};
use openprogram_core::session::{SessionStore, Usage};

pub use events::{EVENT_RESULT_BYTES_MAX, Event, EventReceiver, EventSender, event_channel};
pub use frame::RuntimeSettings;
pub use limits::{AdmissionLimits, MENU_RETRIES_MAX, RunLimits, SYSTEM_BYTES_MAX};
pub use model_fn::ModelFn;
pub use on_retry::OnRetry;
pub use own_provider::OwnProvider;
pub use policy::{CallPermit, CallPolicy, GrantError};
pub use ports::{ModelOpener, NoModels, Providers, QUESTION_TIMEOUT_DEFAULT, RuntimeParts};
pub use request::{
    DecideOutcome, DecideRequest, DecidedPick, RunOutcome, RunRequest, TurnOutcome, TurnRequest,
};
pub use sources::{Clock, Ids, RandomIds, SystemClock, Timer, TokioTimer};
pub use spans::SPAN_TARGET;

use crate::admission::Admission;
use crate::kept::KeptResults;
use crate::life::Life;
use crate::ports::{Ports, closing_models};
use crate::recorder::Recorder;
use crate::services::FrameServices;

/// The runtime: runs functions and makes decisions, and records both. Clones are handles to the
/// same runtime.
#[derive(Clone)]
pub struct Runtime {
    ports: Arc<Ports>,
}

impl Runtime {
    /// Builds a runtime from its parts. Reads and writes nothing.
    #[must_use]
    pub fn new(parts: RuntimeParts) -> Self {
        let recorder = Recorder::new(
            Arc::clone(&parts.store),
            Arc::clone(&parts.clock),
            Arc::clone(&parts.ids),
        );
        let admission = Admission::new(&parts.admission, Arc::clone(&parts.timer));
        let ports = Ports {
            life: Life::new(closing_models(&parts)),
            kept: KeptResults::default(),
            last_usage: Mutex::default(),
            parts,
            recorder,
            admission,
            services: Box::new(FrameServices),
        };
        Self {
            ports: Arc::new(ports),
        }
    }

    /// All known functions.
    #[must_use]
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.ports.parts.catalog
    }

    /// The name of the main model, which turns at the top are made with.
    ///
    /// # Errors
    /// `no-provider`, with the ways to set one, when there is none or it does not write text.
    pub fn writing_model(&self) -> Result<&str, Failure> {
        let provider = chosen_provider::lent_provider(&self.ports, RuntimeRole::Main)?;
        chosen_provider::check_writes(provider)?;
        Ok(provider.name())
    }

    /// Checks a turn as [`Runtime::exec`] would before it asks a model: that there is one, that it has
    /// what the turn wants of it, that the turn says something. Makes and records nothing.
    ///
    /// # Errors
    /// Those with which the turn would be refused.
    pub async fn check_turn(&self, request: TurnRequest) -> Result<(), Failure> {
        top::check(&self.ports, request).await
    }

    /// How often a model request is tried at most, the first time included.
    #[must_use]
    pub fn max_retries(&self) -> NonZeroU32 {
        self.ports.parts.retry.attempts_max
    }

    /// The tokens that the last run, turn or decision that is over has used, everything that it
    /// caused included. `None` before the first one, and when no provider told.
    ///
    /// Of several that go on at once it is the one that ended last; every turn tells its own tokens
    /// in its reply.
    #[must_use]
    pub fn last_usage(&self) -> Option<Usage> {
        // Copied out, so there is nothing that a panic could have left half changed.
        *self
            .ports
            .last_usage
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the runtime for all its handles: what is asked of it from now on fails as `closed`.
    ///
    /// Runs that are under way are stopped and end as `cancelled`, every node closed. Once none is
    /// left, each of its providers is [closed](openprogram_core::llm::Provider::close), once.
    /// Dropping the last handle does the same. Closing again changes nothing.
    pub fn close(&self) {
        self.ports.life.close();
    }

    /// Where the sessions are.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn SessionStore> {
        &self.ports.parts.store
    }

    /// Runs one function to its end.
    ///
    /// Dropping the future cancels the run: everything below it is stopped and its open nodes are
    /// closed as cancelled, at the latest by [`Runtime::settle`].
    pub async fn run_function(&self, request: RunRequest) -> RunOutcome {
        self.run_function_until(request, pending()).await
    }

    /// Runs one function to its end or until `stop` is ready, and then ends as `cancelled`, with
    /// every node closed.
    pub async fn run_function_until(
        &self,
        request: RunRequest,
        stop: impl Future<Output = ()>,
    ) -> RunOutcome {
        top::run_function(&self.ports, request, stop).await
    }

    /// Makes one decision at the top and records it. Runs nothing.
    pub async fn decide(&self, request: DecideRequest) -> DecideOutcome {
        self.decide_until(request, pending()).await
    }

    /// Makes one decision at the top, until `stop` is ready.
    pub async fn decide_until(
        &self,
        request: DecideRequest,
        stop: impl Future<Output = ()>,
    ) -> DecideOutcome {
        top::decide(&self.ports, request, stop).await
    }

    /// Makes a decision outside any function and carries it out: a picked function runs, and what
    /// it gives is the result.
    pub async fn make(&self, request: DecideRequest) -> TurnOutcome<Json> {
        self.make_until(request, pending()).await
    }

    /// The same, given up when `stop` is ready.
    pub async fn make_until(
        &self,
        request: DecideRequest,
        stop: impl Future<Output = ()>,
    ) -> TurnOutcome<Json> {
        top::make(&self.ports, request, stop).await
    }

    /// Reads a reply that came from elsewhere as one to the menu of the request. Runs nothing.
    ///
    /// A valid reply is a pick without a session, and without a model. About another one the main
    /// model is asked, `max_retries` times at most; the settings of the request do not count.
    pub async fn parse(&self, reply: &str, request: DecideRequest) -> DecideOutcome {
        self.parse_until(reply, request, pending()).await
    }

    /// The same, given up when `stop` is ready.
    pub async fn parse_until(
        &self,
        reply: &str,
        request: DecideRequest,
        stop: impl Future<Output = ()>,
    ) -> DecideOutcome {
        top::parse(&self.ports, reply, request, stop).await
    }

    /// Makes one turn at the top: the model works, calls functions and answers in text.
    ///
    /// What is said becomes a node of its own, so that later turns of the session read it. Events
    /// tell the reply while it arrives. Dropping the future cancels the turn, as it does a run.
    pub async fn exec(&self, request: TurnRequest) -> TurnOutcome<ExecReply> {
        self.exec_until(request, pending()).await
    }

    /// Makes one turn at the top, until `stop` is ready.
    pub async fn exec_until(
        &self,
        request: TurnRequest,
        stop: impl Future<Output = ()>,
    ) -> TurnOutcome<ExecReply> {
        top::exec(&self.ports, request, stop).await
    }

    /// [`Runtime::exec`] for a program that is not async.
    ///
    /// # Panics
    /// Inside an async runtime, whose thread it would block.
    pub fn exec_blocking(&self, request: TurnRequest) -> TurnOutcome<ExecReply> {
        let built = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        match built {
            Ok(runtime) => runtime.block_on(self.exec(request)),
            Err(error) => TurnOutcome {
                session: request.session,
                result: Err(Failure::new(
                    FailureCode::Internal,
                    format!("no async runtime could be built: {error}"),
                )),
            },
        }
    }

    /// Makes one turn at the top whose last reply is a decision, and resolves the pick.
    pub async fn exec_closing(&self, request: TurnRequest, closing: Closing) -> TurnOutcome<Json> {
        self.exec_closing_until(request, closing, pending()).await
    }

    /// The same, until `stop` is ready.
    pub async fn exec_closing_until(
        &self,
        request: TurnRequest,
        closing: Closing,
        stop: impl Future<Output = ()>,
    ) -> TurnOutcome<Json> {
        top::exec_closing(&self.ports, request, closing, stop).await
    }

    /// Closes what dropped runs left open, and waits until that is written. For a program that
    /// drops a run and wants to end.
    ///
    /// # Errors
    /// `internal`, when the store fails.
    pub async fn settle(&self) -> Result<(), Failure> {
        self.ports.recorder.settle().await
    }
}
