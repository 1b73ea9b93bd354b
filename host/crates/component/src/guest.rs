//! A component that a provider asks: it calls nothing, so it runs without any services.

use std::sync::Arc;

use openprogram_core::guest::{CallError, RunTotals};
use openprogram_core::llm::LlmError;
use wasmtime::Store;

use crate::engine::{Engine, Lane};
use crate::instance::{Job, Stop, run};
use crate::limits::Limits;
use crate::loader::LoadedComponent;
use crate::permissions::Permissions;
use crate::prepare::Prepared;
use crate::reach::Reach;
use crate::state::CallState;

/// A component with the limits of its calls.
pub(crate) struct Guest {
    pub(crate) component: LoadedComponent,
    pub(crate) limits: Arc<Limits>,
    reach: Arc<Reach>,
    engine: Engine,
}

impl Guest {
    pub(crate) fn new(engine: Engine, component: LoadedComponent, limits: Limits) -> Self {
        Self {
            component,
            limits: engine.held(limits),
            reach: Arc::default(),
            engine,
        }
    }

    /// The same component with these permissions, and with their limits where they have some.
    pub(crate) fn with_permissions(mut self, permissions: Permissions) -> Self {
        if let Some(limits) = &permissions.limits {
            self.limits = self.engine.held(limits.clone());
        }
        self.reach = Arc::new(Reach::of(permissions));
        self
    }

    /// Runs `work` with the compiled component in a fresh store, and counts it with the other calls of
    /// the component in the run.
    pub(crate) async fn call<T>(
        &self,
        totals: &RunTotals,
        work: impl AsyncFnOnce(&Prepared, &mut Store<CallState>) -> Result<T, Stop>,
    ) -> Result<T, LlmError> {
        let name = self.component.name();
        let failed = |error: &CallError| LlmError::Guest(error.to_failure(name));
        let prepared = self.component.code().prepared(&self.engine).await;
        let prepared = prepared.map_err(|error| failed(&error.to_call_error(name)))?;
        let job = Job {
            limits: Arc::clone(&self.limits),
            services: None,
            reach: Arc::clone(&self.reach),
            lane: Lane::Leaf,
            totals: totals.of(name),
        };
        let (result, _) = run(&self.engine, job, async |store| work(prepared, store).await).await;
        result.map_err(|error| failed(&error))
    }
}

/// The export that a component was checked for has left its compiled form.
pub(crate) fn gone(export: &str) -> CallError {
    CallError::Internal(format!("the export `{export}` is gone"))
}
