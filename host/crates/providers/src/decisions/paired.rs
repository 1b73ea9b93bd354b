//! A model that writes and whose server also has a decision endpoint, as one provider.

use std::sync::Arc;

use async_trait::async_trait;
use openprogram_core::content::ThinkingLevel;
use openprogram_core::llm::{
    Abilities, DecisionLimits, DecisionReply, DecisionState, EventSink, FormatAbility, LlmError,
    ModelReply, ModelRequest, Provider,
};
use openprogram_core::structured::{ResponseFormat, StructuredError};

use super::DecisionEndpoint;

/// Writes as the one and weighs options as the other.
pub struct WithDecisions {
    writer: Arc<dyn Provider>,
    decisions: DecisionEndpoint,
}

impl WithDecisions {
    /// Puts both together under the name of the writer.
    #[must_use]
    pub fn new(writer: Arc<dyn Provider>, decisions: DecisionEndpoint) -> Self {
        Self { writer, decisions }
    }
}

#[async_trait]
impl Provider for WithDecisions {
    fn name(&self) -> &str {
        self.writer.name()
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            decide: true,
            ..self.writer.abilities()
        }
    }

    fn format_ability(&self) -> Option<FormatAbility> {
        self.writer.format_ability()
    }

    fn check_format(&self, format: &ResponseFormat) -> Result<(), StructuredError> {
        self.writer.check_format(format)
    }

    fn holds_tools(&self) -> bool {
        self.writer.holds_tools()
    }

    fn check_submit(&self, format: &ResponseFormat) -> Result<(), StructuredError> {
        self.writer.check_submit(format)
    }

    fn searches_web(&self) -> bool {
        self.writer.searches_web()
    }

    fn thinking(&self, level: ThinkingLevel) -> Result<Option<String>, LlmError> {
        self.writer.thinking(level)
    }

    async fn complete(
        &self,
        request: &ModelRequest,
        sink: &dyn EventSink,
    ) -> Result<ModelReply, LlmError> {
        self.writer.complete(request, sink).await
    }

    fn decision_limits(&self) -> DecisionLimits {
        self.decisions.decision_limits()
    }

    async fn decide(&self, state: &DecisionState) -> Result<DecisionReply, LlmError> {
        self.decisions.decide(state).await
    }

    fn close(&self) {
        self.writer.close();
        self.decisions.close();
    }
}
