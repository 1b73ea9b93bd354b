//! A component as a provider, `component:NAME`: a model, a decider, or both.

use async_trait::async_trait;
use openprogram_core::llm::{
    Abilities, DecisionReply, DecisionState, EventSink, LlmError, ModelReply, ModelRequest,
    Provider,
};

use crate::decider::decide;
use crate::engine::Engine;
use crate::error::LoadError;
use crate::guest::Guest;
use crate::limits::Limits;
use crate::loader::LoadedComponent;
use crate::model::complete;
use crate::permissions::Permissions;

/// A provider that asks a component.
pub struct GuestProvider {
    name: String,
    guest: Guest,
}

impl GuestProvider {
    /// A provider of this full name over a component that exports `model`, `decider` or both.
    ///
    /// # Errors
    /// [`LoadError::Incompatible`] when the component exports neither.
    pub fn new(
        name: impl Into<String>,
        engine: Engine,
        component: LoadedComponent,
        limits: Limits,
    ) -> Result<Self, LoadError> {
        if !component.is_provider() {
            return Err(LoadError::Incompatible(format!(
                "`{}` exports neither `openprogram:agentic/model@0.1.0` nor \
                 `openprogram:agentic/decider@0.1.0`, so it cannot be a model",
                component.name()
            )));
        }
        Ok(Self {
            name: name.into(),
            guest: Guest::new(engine, component, limits),
        })
    }

    /// The same provider, whose component may touch what these permissions say.
    #[must_use]
    pub fn with_permissions(mut self, permissions: Permissions) -> Self {
        self.guest = self.guest.with_permissions(permissions);
        self
    }
}

#[async_trait]
impl Provider for GuestProvider {
    fn name(&self) -> &str {
        &self.name
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            text: self.guest.component.is_model(),
            decide: self.guest.component.is_decider(),
        }
    }

    async fn complete(
        &self,
        request: &ModelRequest,
        sink: &dyn EventSink,
    ) -> Result<ModelReply, LlmError> {
        if !self.guest.component.is_model() {
            return Err(LlmError::Unsupported(format!(
                "`{}` picks among options and writes no text; name a model that writes",
                self.name
            )));
        }
        if let Some(format) = &request.response_format {
            return Err(LlmError::Unsupported(format!(
                "`{}` is not told of response formats such as `{}`; ask for text, or use another \
                 model",
                self.name, format.name
            )));
        }
        complete(&self.guest, request, sink).await
    }

    async fn decide(&self, state: &DecisionState) -> Result<DecisionReply, LlmError> {
        if !self.guest.component.is_decider() {
            return Err(LlmError::Unsupported(format!(
                "`{}` writes and does not weigh options",
                self.name
            )));
        }
        decide(&self.guest, state).await
    }
}
