//! The port of the core that runs functions, over a set of loaded components.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use openprogram_core::function::{Function, FunctionRef};
use openprogram_core::gating::Holds;
use openprogram_core::guest::{CallError, CallOutcome, CallReport, FunctionCall, FunctionHost};
use openprogram_core::{Json, JsonObject};
use wasmtime::Store;

use crate::bytes_call;
use crate::convert::{NoHandles, Output};
use crate::engine::{Engine, Lane};
use crate::instance::{Job, Stop, run};
use crate::invoke::{call_dynamic, lend, outcome, values};
use crate::limits::{LimitReached, Limits};
use crate::live::{self, InstancesOf, LiveCall, LiveInstances};
use crate::loader::LoadedComponent;
use crate::permissions::Permissions;
use crate::prepare::{Prepared, PreparedFunction};
use crate::reach::Reach;
use crate::state::CallState;

/// A component with what holds for its calls.
struct Added {
    component: LoadedComponent,
    limits: Arc<Limits>,
    reach: Arc<Reach>,
    /// Its instances that live on.
    live: LiveInstances,
}

/// Runs the functions of the components that were added. Needs a tokio runtime with time.
pub struct ComponentHost {
    engine: Engine,
    limits: Arc<Limits>,
    components: HashMap<String, Added>,
}

impl ComponentHost {
    /// A host without components. Every call gets these limits.
    #[must_use]
    pub fn new(engine: Engine, limits: Limits) -> Self {
        Self {
            limits: engine.held(limits),
            engine,
            components: HashMap::new(),
        }
    }

    /// Adds a component under its name, without permissions; one of the same name is replaced.
    pub fn add(&mut self, component: LoadedComponent) {
        self.add_with(component, Permissions::default());
    }

    /// Adds a component with what it may touch.
    pub fn add_with(&mut self, component: LoadedComponent, permissions: Permissions) {
        let own = permissions.limits.clone();
        let added = Added {
            limits: own.map_or_else(|| Arc::clone(&self.limits), |own| self.engine.held(own)),
            reach: Arc::new(Reach::of(permissions)),
            live: LiveInstances::default(),
            component,
        };
        self.components
            .insert(added.component.name().to_owned(), added);
    }

    /// The limits of every call.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The component of this name.
    #[must_use]
    pub fn component(&self, name: &str) -> Option<&LoadedComponent> {
        self.components.get(name).map(|added| &added.component)
    }

    async fn call_checked(&self, call: FunctionCall) -> Result<CallOutcome, CallError> {
        let depth_max = self.limits.call_depth;
        if u64::from(call.depth) > depth_max {
            let message = format!("functions call each other deeper than {depth_max} levels");
            return Err(LimitReached::new("call_depth", depth_max, message).into());
        }
        let name = &call.function.name;
        let (added, prepared, function) = self.found(&call.function).await?;
        if call.function.is_stateful {
            let with = LiveCall {
                engine: &self.engine,
                limits: &added.limits,
                reach: &added.reach,
                prepared,
                function,
                own: &added.live,
                all: self.instances(),
            };
            return live::call(&call, with).await;
        }
        let job = Job {
            limits: Arc::clone(&added.limits),
            services: Some(Arc::clone(&call.services)),
            reach: Arc::clone(&added.reach),
            lane: if call.depth == 0 {
                Lane::Top
            } else {
                Lane::Nested
            },
            totals: call.totals.of(&name.component),
        };
        let (result, report) = run(&self.engine, job, async |store| {
            call_function(store, prepared, function, (&call.function, &call.arguments)).await
        })
        .await;
        Ok(CallOutcome { result, report })
    }

    /// The instances that live on, of every component.
    fn instances(&self) -> Vec<InstancesOf<'_>> {
        let components = self.components.iter();
        let instances = components.map(|(name, added)| InstancesOf {
            name,
            instances: &added.live,
            limits: &added.limits,
        });
        instances.collect()
    }

    /// The component of a function, its code, and the function in it.
    async fn found(
        &self,
        function: &Function,
    ) -> Result<(&Added, &Prepared, &PreparedFunction), CallError> {
        let name = &function.name;
        let internal = |what: &str| CallError::Internal(format!("`{name}` {what}"));
        let added = self
            .components
            .get(&name.component)
            .filter(|added| added.component.digest() == function.digest)
            .ok_or_else(|| internal("belongs to a component that is not loaded"))?;
        let prepared = added.component.code().prepared(&self.engine).await;
        let prepared = prepared.map_err(|error| error.to_call_error(&name.component))?;
        let function = prepared
            .function(name.interface.as_deref(), &name.function)
            .ok_or_else(|| internal("cannot be called"))?;
        Ok((added, prepared, function))
    }
}

/// The limits of a function that a condition names: it answers a question and does nothing.
/// Interpreters of other languages need time to start.
fn asking_limits() -> Limits {
    Limits {
        memory_bytes: 128 << 20,
        cpu_ms: 1_000,
        wall_ms: 2_000,
        log_bytes: 4 << 10,
        hostcall_bytes: 1 << 20,
        ..Limits::default()
    }
}

#[async_trait]
impl FunctionHost for ComponentHost {
    async fn call(&self, call: FunctionCall) -> CallOutcome {
        self.call_checked(call)
            .await
            .unwrap_or_else(|error| CallOutcome {
                result: Err(error),
                report: CallReport::default(),
            })
    }

    async fn ask(&self, function: &FunctionRef, arguments: JsonObject) -> Result<Json, CallError> {
        let (_, prepared, found) = self.found(function).await?;
        let job = Job {
            limits: self.engine.held(asking_limits()),
            services: None,
            reach: Arc::default(),
            lane: Lane::Leaf,
            totals: Arc::default(),
        };
        let (answer, _) = run(&self.engine, job, async |store| {
            call_function(store, prepared, found, (function, &arguments)).await
        })
        .await;
        answer
    }

    fn has_dir(&self, component: &str, path: &str) -> Holds {
        let reach = self.components.get(component).map(|added| &added.reach);
        reach.map_or(Holds::Unknown, |reach| reach.has_dir(path).into())
    }

    fn has_env(&self, component: &str, name: &str) -> Holds {
        let reach = self.components.get(component).map(|added| &added.reach);
        reach.map_or(Holds::Unknown, |reach| reach.has_env(name).into())
    }
}

async fn call_function(
    store: &mut Store<CallState>,
    prepared: &Prepared,
    function: &PreparedFunction,
    (described, arguments): (&Function, &JsonObject),
) -> Result<Json, Stop> {
    let limits = Arc::clone(&store.data().limits);
    // Arguments are converted before anything is instantiated: most mistakes cost nothing.
    if let Some(kind) = function.bytes {
        return bytes_call::call(store, prepared, function, kind, arguments).await;
    }
    let values = values(function, described, arguments, &limits, &NoHandles)?;
    let instance = prepared.pre.instantiate_async(&mut *store).await?;
    let lent = lend(store, values)?;
    let returned = call_dynamic(store, &instance, function, &lent.values).await?;
    let mut output = Output::new(&limits);
    Ok(outcome(returned, described, &mut output)?)
}
