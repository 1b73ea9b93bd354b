//! What a runtime is built from: the ports of core, clock, timer and ids, policies and limits.
//!
//! Also holds the one knot of the crate: making the services of a child frame, which the call
//! module needs and the services module implements.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use openprogram_core::catalog::Catalog;
use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::function::RuntimeRole;
use openprogram_core::grant::Grants;
use openprogram_core::guest::{FunctionHost, HostServices};
use openprogram_core::id::SessionId;
use openprogram_core::llm::{Provider, RetryPolicy};
use openprogram_core::question::{AnswerMemory, Nobody, ProcessMemory, Questions};
use openprogram_core::session::{NoStore, SessionStore, Usage};
use openprogram_core::skill::SkillSource;
use openprogram_core::tool_filter::ToolSets;

use crate::admission::Admission;
use crate::frame::{Frame, Run, RuntimeSettings};
use crate::kept::KeptResults;
use crate::life::{Life, Release};
use crate::limits::{AdmissionLimits, RunLimits};
use crate::policy::CallPolicy;
use crate::recorder::Recorder;
use crate::sources::{Clock, Ids, RandomIds, SystemClock, Timer, TokioTimer};
use crate::watchers::Watchers;

/// How long a question waits for its answer when nothing else is set: long enough to read it, and
/// shorter than the time that a call may take.
pub const QUESTION_TIMEOUT_DEFAULT: Duration = Duration::from_secs(300);

/// The providers behind the three injected runtimes.
#[derive(Clone, Default)]
pub struct Providers {
    /// Behind `runtime`.
    pub main: Option<Arc<dyn Provider>>,
    /// Behind `exec_runtime`; the main one when absent.
    pub exec: Option<Arc<dyn Provider>>,
    /// Behind `review_runtime`; the main one when absent.
    pub review: Option<Arc<dyn Provider>>,
}

impl Providers {
    /// One provider behind all three.
    #[must_use]
    pub fn all(provider: Arc<dyn Provider>) -> Self {
        Self {
            main: Some(provider),
            ..Self::default()
        }
    }

    /// The provider behind one role.
    #[must_use]
    pub fn of(&self, role: RuntimeRole) -> Option<&Arc<dyn Provider>> {
        let own = match role {
            RuntimeRole::Main => None,
            RuntimeRole::Exec => self.exec.as_ref(),
            RuntimeRole::Review => self.review.as_ref(),
        };
        own.or(self.main.as_ref())
    }
}

/// Opens models by name while a run goes on.
#[async_trait]
pub trait ModelOpener: Send + Sync {
    /// The model of this name, `provider:model`. Asked again for a name, it may give the same one.
    ///
    /// # Errors
    /// `no-provider`, when there is no such model or it cannot be used.
    async fn open(&self, model: &str) -> Result<Arc<dyn Provider>, Failure>;

    /// Closes the models that it has opened. Called once, when the runtime is closed or its last
    /// handle is dropped; the default has opened none.
    fn close(&self) {}
}

/// There are no models besides those behind the injected runtimes.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoModels;

#[async_trait]
impl ModelOpener for NoModels {
    async fn open(&self, model: &str) -> Result<Arc<dyn Provider>, Failure> {
        let message = format!("the model `{model}` cannot be opened here");
        Err(Failure::new(FailureCode::NoProvider, message).with("model", model))
    }
}

/// Everything a runtime is built from.
#[derive(Clone)]
pub struct RuntimeParts {
    /// Where sessions are kept.
    pub store: Arc<dyn SessionStore>,
    /// What runs functions.
    pub functions: Arc<dyn FunctionHost>,
    /// All known functions.
    pub catalog: Arc<Catalog>,
    /// The models.
    pub providers: Providers,
    /// The system prompt and the levels of thinking where no function says otherwise.
    pub settings: RuntimeSettings,
    /// The models that functions open by name.
    pub models: Arc<dyn ModelOpener>,
    /// What a person granted, by the name of the component. Of these, the models are looked at here.
    pub grants: BTreeMap<String, Arc<Grants>>,
    /// Which component may call which function.
    pub policy: CallPolicy,
    /// The presets of tools, and what is unsafe in turns from somewhere.
    pub tool_sets: ToolSets,
    /// Where the skills come from that models are told of with every turn; `None` for none.
    pub skills: Option<Arc<dyn SkillSource>>,
    /// Who answers questions.
    pub questions: Arc<dyn Questions>,
    /// Where answers to approvals are kept that hold for good; they count where nobody is asked too.
    pub answers: Arc<dyn AnswerMemory>,
    /// How long a question may wait for its answer; `None` for no end.
    pub question_timeout: Option<Duration>,
    /// How much one run may do.
    pub limits: RunLimits,
    /// How much all runs together may do at once.
    pub admission: AdmissionLimits,
    /// How often and how patiently a failed model request is tried again.
    pub retry: RetryPolicy,
    /// The time for one turn or decision that names none; `None` for no end.
    pub exec_timeout: Option<Duration>,
    /// Whether spans hold what was said: prompts, replies, arguments, results.
    pub traces_content: bool,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The timer of waits and deadlines.
    pub timer: Arc<dyn Timer>,
    /// The source of ids.
    pub ids: Arc<dyn Ids>,
}

impl RuntimeParts {
    /// Parts with the machine's clock, random ids, default limits, no grants and no model, nobody
    /// to ask, answers that are kept as long as the process runs, and no end of time for a turn.
    pub fn new(
        store: Arc<dyn SessionStore>,
        functions: Arc<dyn FunctionHost>,
        catalog: Arc<Catalog>,
    ) -> Self {
        Self {
            store,
            functions,
            catalog,
            providers: Providers::default(),
            settings: RuntimeSettings::default(),
            models: Arc::new(NoModels),
            grants: BTreeMap::new(),
            policy: CallPolicy::default(),
            tool_sets: ToolSets::default(),
            skills: None,
            questions: Arc::new(Nobody),
            answers: Arc::new(ProcessMemory::default()),
            question_timeout: Some(QUESTION_TIMEOUT_DEFAULT),
            limits: RunLimits::default(),
            admission: AdmissionLimits::default(),
            retry: RetryPolicy::default(),
            exec_timeout: None,
            traces_content: false,
            clock: Arc::new(SystemClock),
            timer: Arc::new(TokioTimer::default()),
            ids: Arc::new(RandomIds::default()),
        }
    }

    /// The same without a store: nothing is recorded, and no turn reads what was said before it.
    /// Outcomes name no session and no node.
    ///
    /// Uses that a person has to approve are refused, because the answer would be kept nowhere.
    pub fn without_store(functions: Arc<dyn FunctionHost>, catalog: Arc<Catalog>) -> Self {
        Self::new(Arc::new(NoStore), functions, catalog)
    }
}

/// What closes the models of a runtime, each once.
pub(crate) fn closing_models(parts: &RuntimeParts) -> Release {
    let all = &parts.providers;
    let mut providers: Vec<Arc<dyn Provider>> = Vec::new();
    for provider in [&all.main, &all.exec, &all.review].into_iter().flatten() {
        if !providers.iter().any(|known| Arc::ptr_eq(known, provider)) {
            providers.push(Arc::clone(provider));
        }
    }
    let models = Arc::clone(&parts.models);
    Box::new(move || {
        for provider in &providers {
            // One that panics must not keep the others from being closed.
            let _ = catch_unwind(AssertUnwindSafe(|| provider.close()));
        }
        let _ = catch_unwind(AssertUnwindSafe(|| models.close()));
    })
}

/// Makes what a function may ask, for the frame of one call.
pub(crate) trait ServicesForFrame: Send + Sync {
    /// The services of one frame.
    fn services(&self, ports: &Arc<Ports>, frame: &Arc<Frame>) -> Arc<dyn HostServices>;
}

/// The parts as the modules of this crate use them.
pub(crate) struct Ports {
    pub(crate) parts: RuntimeParts,
    pub(crate) recorder: Recorder,
    pub(crate) admission: Admission,
    pub(crate) services: Box<dyn ServicesForFrame>,
    pub(crate) life: Life,
    /// Results of calls that models made.
    pub(crate) kept: KeptResults,
    /// What the last run that is over has used.
    pub(crate) last_usage: Mutex<Option<Usage>>,
}

impl Ports {
    /// A run that begins in this session.
    pub(crate) fn new_run(&self, session: SessionId, watchers: Watchers) -> Arc<Run> {
        let number = self.admission.next_run();
        let settings = self.parts.settings.clone();
        let limits = &self.parts.limits;
        Arc::new(Run::new(number, session, watchers, settings, limits))
    }

    /// Keeps what a run has used, now that it is over.
    pub(crate) fn keep_usage(&self, run: &Run) {
        // One assignment leaves it whole.
        *self
            .last_usage
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = run.usage();
    }
}
