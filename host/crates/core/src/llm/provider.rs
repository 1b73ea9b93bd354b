//! The port behind which every provider stands.

use async_trait::async_trait;

use super::error::LlmError;
use super::event::EventSink;
use super::request::{DecisionLimits, DecisionReply, DecisionState, ModelReply, ModelRequest};

/// What a provider can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// It writes text.
    pub text: bool,
    /// It picks one option of a menu without writing text.
    pub decide: bool,
}

/// Serves one model. Methods take `&self`: several requests may be under way at once, and dropping
/// a future cancels its request.
#[async_trait]
pub trait Provider: Send + Sync {
    /// The full name, `provider:model`.
    fn name(&self) -> &str;

    /// What it can do; constant over its life.
    fn abilities(&self) -> Abilities;

    /// Asks the model once. Every piece of the reply goes to `sink` as it arrives and is in the
    /// reply too. Never retries: the caller does.
    async fn complete(
        &self,
        request: &ModelRequest,
        sink: &dyn EventSink,
    ) -> Result<ModelReply, LlmError>;

    /// Which decisions it can be asked for; constant over its life, and only looked at when
    /// [`Abilities::decide`] is set.
    fn decision_limits(&self) -> DecisionLimits {
        DecisionLimits::default()
    }

    /// Lets the provider weigh the options of one decision.
    ///
    /// The default refuses; only called when [`Abilities::decide`] is set. The caller checks the
    /// answer: finite, in range, known options, sum.
    async fn decide(&self, state: &DecisionState) -> Result<DecisionReply, LlmError> {
        let _ = state;
        Err(LlmError::Unsupported(format!(
            "`{}` does not decide",
            self.name()
        )))
    }
}
