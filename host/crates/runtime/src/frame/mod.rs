//! The place of a running function in the call stack, and what holds while it runs.
//!
//! A frame is made when a call begins and is gone when it ends; what a guest changes on it (the
//! system prompt) ends with it. Frames point upwards only.
mod run;
mod set;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openprogram_core::JsonObject;
use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::function::{
    Expose, FunctionName, FunctionRef, ParameterSource, RenderRange, RuntimeRef, RuntimeRole,
};
use openprogram_core::grant::{Access, AccessOutcome, GrantKind};
use openprogram_core::id::NodeId;
use openprogram_core::schema::names_equal;
use openprogram_core::session::OwnReaders;

use crate::accesses::{Accesses, bounded, denied_call};
use crate::budget::TokenBudget;
use crate::limits::RunLimits;
use crate::opened::OpenedRuntimes;
use crate::own_provider::OwnProvider;
use crate::reports::ReportPace;

pub(crate) use run::Run;
pub use set::RuntimeSettings;

/// How many refusals a node lists; the rest is only counted.
const REFUSALS_LISTED_MAX: usize = 8;

/// One frame of the call stack.
#[derive(Debug)]
pub(crate) struct Frame {
    /// What all frames of the run share.
    pub(crate) run: Arc<Run>,
    /// The frame that called; `None` for the one at the top, which has no function.
    pub(crate) parent: Option<Arc<Frame>>,
    /// The function that runs.
    pub(crate) function: Option<FunctionRef>,
    /// The node of the call; `None` at the top.
    pub(crate) node: Option<NodeId>,
    /// How many calls stand above and at this frame; 0 at the top.
    pub(crate) n_calls: u32,
    /// The values for hidden parameters, inherited and overlaid.
    pub(crate) context: JsonObject,
    /// The runtime that decisions use when they name none.
    pub(crate) ambient: Option<RuntimeRef>,
    /// The tools of the turn inside which this frame runs, which its own turns inherit; `None`
    /// outside of any turn.
    pub(crate) turn_tools: Option<TurnTools>,
    /// The runtimes that the function has opened, which end with the frame.
    pub(crate) opened: OpenedRuntimes,
    /// The provider that stands in for those of the runtime, in the turns of this frame alone.
    pub(crate) own_provider: Option<OwnProvider>,
    /// How often the person was told of its progress.
    pub(crate) reports: ReportPace,
    n_calls_made: AtomicU64,
    set: set::SetByCall,
    state: Mutex<FrameState>,
}

/// The functions that the model of a turn may call, as turns below it inherit them.
pub(crate) type TurnTools = Arc<InheritedTools>;

/// What the turns inside a turn inherit of it.
#[derive(Debug, Default)]
pub(crate) struct InheritedTools {
    /// The functions that its model may call.
    pub(crate) names: BTreeSet<FunctionName>,
    /// Where it comes from: what is unsafe there is unsafe below it.
    pub(crate) sources: Vec<String>,
}

/// What changes while a function runs; held only for single assignments.
#[derive(Debug, Default)]
struct FrameState {
    refusals: Vec<Failure>,
    n_refusals: u64,
    accesses: Accesses,
    ended: bool,
}

impl Frame {
    /// The frame at the top of a run, for the person or program that starts it.
    pub(crate) fn top(run: Arc<Run>, context: JsonObject) -> Self {
        Self {
            run,
            parent: None,
            function: None,
            node: None,
            n_calls: 0,
            context,
            ambient: None,
            turn_tools: None,
            opened: OpenedRuntimes::default(),
            own_provider: None,
            reports: ReportPace::default(),
            n_calls_made: AtomicU64::new(0),
            set: set::SetByCall::default(),
            state: Mutex::default(),
        }
    }

    /// The frame of one call that `self` makes.
    pub(crate) fn child(
        self: &Arc<Self>,
        function: &FunctionRef,
        node: NodeId,
        context: JsonObject,
    ) -> Self {
        Self {
            run: Arc::clone(&self.run),
            parent: Some(Arc::clone(self)),
            function: Some(Arc::clone(function)),
            node: Some(node),
            n_calls: self.n_calls + 1,
            context,
            ambient: declared_role(function)
                .map(RuntimeRef::Lent)
                .or(self.ambient),
            turn_tools: self.turn_tools.clone(),
            opened: OpenedRuntimes::default(),
            own_provider: None,
            reports: ReportPace::default(),
            n_calls_made: AtomicU64::new(0),
            set: set::SetByCall::default(),
            state: Mutex::default(),
        }
    }

    /// The same frame with this ambient runtime.
    pub(crate) fn with_ambient(mut self, runtime: impl Into<RuntimeRef>) -> Self {
        self.ambient = Some(runtime.into());
        self
    }

    /// The same frame, whose own turns are made with this provider, where there is one.
    pub(crate) fn with_provider(mut self, provider: Option<OwnProvider>) -> Self {
        self.own_provider = provider;
        self
    }

    /// The same frame, running inside a turn with these tools.
    pub(crate) fn inside_turn(mut self, tools: TurnTools) -> Self {
        self.turn_tools = Some(tools);
        self
    }

    /// The component whose function runs; `None` at the top.
    pub(crate) fn component(&self) -> Option<&str> {
        let function = self.function.as_ref()?;
        Some(&function.name.component)
    }

    /// How much its own turns read.
    pub(crate) fn render_range(&self) -> RenderRange {
        self.function
            .as_ref()
            .map_or_else(RenderRange::default, |function| function.render_range)
    }

    /// Which later turns read of calls in its turns that have no node: as of those that have one.
    pub(crate) fn readers_of_calls(&self) -> OwnReaders {
        match self.function.as_ref().map(|function| function.expose) {
            Some(Expose::Llm) => OwnReaders::Function,
            // Where calls are not seen, neither are turns.
            _ => OwnReaders::Callers,
        }
    }

    /// This frame and those above it, innermost first.
    pub(crate) fn chain(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |frame| frame.parent.as_deref())
    }

    /// The budgets that a request with this runtime spends of; none for most.
    pub(crate) fn budgets(&self, runtime: RuntimeRef) -> impl Iterator<Item = &TokenBudget> {
        let of_model = self.opened.budgets(runtime);
        self.run.tokens.iter().chain(of_model)
    }

    /// Checks that this very call may use the runtime: it was lent it, or has opened it.
    pub(crate) fn check_usable(&self, runtime: RuntimeRef) -> Result<(), Failure> {
        match runtime {
            RuntimeRef::Lent(role) => self.check_lent(role),
            RuntimeRef::Opened(number) => self.opened.get(number).map(drop),
        }
    }

    /// Checks that this very function declares the runtime of this role, and so was lent it.
    fn check_lent(&self, role: RuntimeRole) -> Result<(), Failure> {
        if self
            .function
            .as_ref()
            .is_some_and(|function| declares(function, role))
        {
            return Ok(());
        }
        let parameter = role.parameter();
        let message = format!("the function has no parameter `{parameter}`; declare one to use it");
        Err(Failure::new(FailureCode::NoRuntime, message).with("runtime", parameter))
    }

    /// Counts one call made by this frame, which runs `function`.
    pub(crate) fn count_call(
        &self,
        function: &FunctionRef,
        limits: &RunLimits,
    ) -> Result<(), Failure> {
        let name = &function.name;
        if self.n_calls >= limits.call_depth {
            let depth = u64::from(limits.call_depth);
            let message = format!("`{name}` would be deeper than {depth} calls");
            return Err(Failure::limit("call_depth", depth, message));
        }
        let running = |frame: &&Self| frame.function.as_ref().is_some_and(|f| f.name == *name);
        let n_running = self.chain().filter(running).count() as u64;
        if n_running >= u64::from(limits.recursion) {
            let recursion = u64::from(limits.recursion);
            let message = format!("`{name}` is already running {n_running} times in this chain");
            return Err(Failure::limit("recursion", recursion, message));
        }
        count(
            &self.n_calls_made,
            "fan_out",
            limits.fan_out,
            "calls by one function",
        )?;
        count(&self.run.n_calls, "calls", limits.calls, "calls")
    }

    /// Keeps what its function reached for, for the record of this frame, and tells the watcher
    /// what was refused.
    pub(crate) fn note_access(&self, access: Access) {
        let access = bounded(access);
        if let AccessOutcome::Refused { .. } = access.outcome
            && let Some(component) = self.component()
        {
            self.run
                .tell_refusal(self.node.as_ref(), component, &access);
        }
        self.state().accesses.note(access);
    }

    /// What its function reached for and what was approved for it, as facts of the node.
    pub(crate) fn add_accesses_to(&self, facts: &mut JsonObject) {
        self.state().accesses.add_to(facts);
    }

    /// What its function reached for and what was approved for it, to add to.
    pub(crate) fn with_accesses<T>(&self, work: impl FnOnce(&mut Accesses) -> T) -> T {
        work(&mut self.state().accesses)
    }

    /// Keeps a refused request for the record of this frame.
    pub(crate) fn note_refusal(&self, failure: &Failure) {
        if let Some(function) = denied_call(failure) {
            let (what, message) = (format!("call {function}"), failure.message.clone());
            let needed = Some(function.to_owned());
            self.note_access(Access::refused(GrantKind::Calls, what, message, needed));
        }
        let mut state = self.state();
        state.n_refusals += 1;
        if state.refusals.len() < REFUSALS_LISTED_MAX {
            state.refusals.push(failure.clone());
        }
    }

    /// The refused requests, as facts of the node.
    pub(crate) fn add_refusals_to(&self, facts: &mut JsonObject) {
        let state = self.state();
        if state.n_refusals > 0 {
            let listed = state
                .refusals
                .iter()
                .map(Failure::to_json)
                .collect::<Vec<_>>();
            facts.insert("n_refused".to_owned(), state.n_refusals.into());
            facts.insert("refused".to_owned(), listed.into());
        }
    }

    /// Marks the call as over; what is asked in its name from now on is refused.
    pub(crate) fn end(&self) {
        self.state().ended = true;
    }

    /// Whether the call is over.
    pub(crate) fn has_ended(&self) -> bool {
        self.state().ended
    }

    fn state(&self) -> MutexGuard<'_, FrameState> {
        // Every critical section is a few assignments, so a poisoned state is still whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts one more, up to a limit.
fn count(counter: &AtomicU64, which: &str, limit: u64, what: &str) -> Result<(), Failure> {
    if counter.fetch_add(1, Ordering::Relaxed) < limit {
        return Ok(());
    }
    counter.fetch_sub(1, Ordering::Relaxed);
    let message = format!("more than {limit} {what}");
    Err(Failure::limit(which, limit, message))
}

/// The runtime that a function declares: the main one before the other two.
fn declared_role(function: &FunctionRef) -> Option<RuntimeRole> {
    [RuntimeRole::Main, RuntimeRole::Exec, RuntimeRole::Review]
        .into_iter()
        .find(|role| declares(function, *role))
}

fn declares(function: &FunctionRef, role: RuntimeRole) -> bool {
    let lent = ParameterSource::Runtime(role);
    function.parameters.iter().any(|p| p.source == lent)
}

/// `over` laid over `under`: its values hide those of the same name.
pub(crate) fn overlaid(under: &JsonObject, over: &JsonObject) -> JsonObject {
    let mut merged = under.clone();
    merged.retain(|name, _| !over.keys().any(|hiding| names_equal(hiding, name)));
    merged.extend(
        over.iter()
            .map(|(name, value)| (name.clone(), value.clone())),
    );
    merged
}
