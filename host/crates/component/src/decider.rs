//! A component that picks, as a provider: `component:NAME`.

use std::sync::Arc;

use async_trait::async_trait;
use openprogram_core::guest::CallError;
use openprogram_core::llm::{
    Abilities, DecisionReply, DecisionState, EventSink, LlmError, ModelReply, ModelRequest,
    Provider, Weight,
};
use wasmtime::component::Resource;

use crate::engine::{Engine, Lane};
use crate::error::LoadError;
use crate::handles::StateHandle;
use crate::imports::from_wire;
use crate::instance::{Job, Stop, run};
use crate::limits::Limits;
use crate::loader::LoadedComponent;

/// A provider that lets a component decide. It writes no text.
pub struct GuestDecider {
    name: String,
    engine: Engine,
    component: LoadedComponent,
    limits: Arc<Limits>,
}

impl GuestDecider {
    /// A provider of this full name over a component that exports `decider`.
    ///
    /// # Errors
    /// [`LoadError::Incompatible`] when the component exports none.
    pub fn new(
        name: impl Into<String>,
        engine: Engine,
        component: LoadedComponent,
        limits: Limits,
    ) -> Result<Self, LoadError> {
        if !component.is_decider() {
            return Err(LoadError::Incompatible(format!(
                "`{}` exports no `openprogram:agentic/decider@0.1.0`, so it cannot be a model",
                component.name()
            )));
        }
        Ok(Self {
            name: name.into(),
            limits: engine.held(limits),
            engine,
            component,
        })
    }

    fn guest_error(&self, error: &CallError) -> LlmError {
        LlmError::Guest(error.to_failure(self.component.name()))
    }
}

#[async_trait]
impl Provider for GuestDecider {
    fn name(&self) -> &str {
        &self.name
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            text: false,
            decide: true,
        }
    }

    async fn complete(
        &self,
        _request: &ModelRequest,
        _sink: &dyn EventSink,
    ) -> Result<ModelReply, LlmError> {
        Err(LlmError::Unsupported(format!(
            "`{}` picks among options and writes no text; name a model that writes",
            self.name
        )))
    }

    async fn decide(&self, state: &DecisionState) -> Result<DecisionReply, LlmError> {
        let code = self.component.code();
        let prepared = code.prepared(&self.engine).await;
        let prepared =
            prepared.map_err(|e| self.guest_error(&e.to_call_error(self.component.name())))?;
        let job = Job {
            limits: Arc::clone(&self.limits),
            services: None,
            lane: Lane::Leaf,
        };
        let state = StateHandle(state.clone());
        let (decided, _) = run(&self.engine, job, async |store| {
            let gone = || CallError::Internal("the export `decider` is gone".to_owned());
            let indices = prepared.decider.as_ref().ok_or_else(gone)?;
            let instance = prepared.pre.instantiate_async(&mut *store).await?;
            let guest = indices.load(&mut *store, &instance)?;
            let state = store
                .data_mut()
                .table
                .push(state)
                .map_err(wasmtime::Error::from)?;
            let lent = Resource::new_borrow(state.rep());
            Ok::<_, Stop>(guest.call_decide(&mut *store, lent).await?)
        })
        .await;
        let weights = decided
            .map_err(|error| self.guest_error(&error))?
            .map_err(|failure| LlmError::Guest(from_wire(failure)))?;
        let weights = weights.into_iter().map(|weight| Weight {
            option: weight.option,
            probability: weight.probability,
        });
        Ok(DecisionReply::of(weights.collect()))
    }
}
