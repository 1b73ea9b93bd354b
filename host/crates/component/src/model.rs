//! A component that writes, as a provider: `component:NAME`.

use std::sync::Arc;

use async_trait::async_trait;
use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::guest::CallError;
use openprogram_core::llm::{
    Abilities, DecisionReply, DecisionState, ErrorSigns, EventSink, LlmError, LlmFailure,
    LlmReason, ModelReply, ModelRequest, Provider, classify,
};
use wasmtime::component::Resource;

use crate::decider::GuestDecider;
use crate::engine::{Engine, Lane};
use crate::error::LoadError;
use crate::handles::{Mailbox, SinkHandle};
use crate::imports::from_wire;
use crate::instance::{Job, Stop, run};
use crate::limits::Limits;
use crate::loader::LoadedComponent;
use crate::prompt::prompt;

/// The provider of this full name that a component is: a model, a decider, or both.
///
/// # Errors
/// [`LoadError::Incompatible`] when it is neither.
pub fn guest_provider(
    name: impl Into<String>,
    engine: Engine,
    component: LoadedComponent,
    limits: Limits,
) -> Result<Arc<dyn Provider>, LoadError> {
    if component.is_model() {
        let model = GuestModel::new(name, engine, component, limits)?;
        return Ok(Arc::new(model));
    }
    if component.is_decider() {
        let decider = GuestDecider::new(name, engine, component, limits)?;
        return Ok(Arc::new(decider));
    }
    Err(LoadError::Incompatible(format!(
        "`{}` exports neither `openprogram:agentic/model@0.1.0` nor \
         `openprogram:agentic/decider@0.1.0`, so it cannot be a model",
        component.name()
    )))
}

/// A provider that lets a component write, and decide where it exports that too.
pub struct GuestModel {
    name: String,
    engine: Engine,
    component: LoadedComponent,
    limits: Arc<Limits>,
    decider: Option<GuestDecider>,
}

impl GuestModel {
    /// A provider of this full name over a component that exports `model`.
    ///
    /// # Errors
    /// [`LoadError::Incompatible`] when the component exports none.
    pub fn new(
        name: impl Into<String>,
        engine: Engine,
        component: LoadedComponent,
        limits: Limits,
    ) -> Result<Self, LoadError> {
        if !component.is_model() {
            return Err(LoadError::Incompatible(format!(
                "`{}` exports no `openprogram:agentic/model@0.1.0`, so it cannot write",
                component.name()
            )));
        }
        let name = name.into();
        let decider = component.is_decider().then(|| {
            let (engine, component) = (engine.clone(), component.clone());
            GuestDecider::new(name.clone(), engine, component, limits.clone())
        });
        Ok(Self {
            name,
            limits: engine.held(limits),
            engine,
            component,
            decider: decider.transpose()?,
        })
    }

    fn guest_error(&self, error: &CallError) -> LlmError {
        LlmError::Guest(error.to_failure(self.component.name()))
    }
}

#[async_trait]
impl Provider for GuestModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            text: true,
            decide: self.decider.is_some(),
        }
    }

    async fn complete(
        &self,
        request: &ModelRequest,
        sink: &dyn EventSink,
    ) -> Result<ModelReply, LlmError> {
        if let Some(format) = &request.response_format {
            return Err(LlmError::Unsupported(format!(
                "`{}` is not told of response formats such as `{}`; ask for text, or use another \
                 model",
                self.name, format.name
            )));
        }
        let code = self.component.code();
        let prepared = code.prepared(&self.engine).await;
        let prepared =
            prepared.map_err(|e| self.guest_error(&e.to_call_error(self.component.name())))?;
        let job = Job {
            limits: Arc::clone(&self.limits),
            services: None,
            lane: Lane::Leaf,
        };
        let mailbox = Mailbox::default();
        let (asked, reply) = (
            prompt(request),
            SinkHandle::new(Arc::clone(&self.limits), mailbox.clone()),
        );
        let work = run(&self.engine, job, async |store| {
            let gone = || CallError::Internal("the export `model` is gone".to_owned());
            let indices = prepared.model.as_ref().ok_or_else(gone)?;
            let instance = prepared.pre.instantiate_async(&mut *store).await?;
            let guest = indices.load(&mut *store, &instance)?;
            let table = &mut store.data_mut().table;
            let asked = table.push(asked).map_err(wasmtime::Error::from)?;
            let reply = table.push(reply).map_err(wasmtime::Error::from)?;
            let lent = (
                Resource::new_borrow(asked.rep()),
                Resource::new_borrow(reply.rep()),
            );
            let completed = guest.call_complete(&mut *store, lent.0, lent.1).await?;
            let table = &mut store.data_mut().table;
            let reply = table.delete(reply).map_err(wasmtime::Error::from)?;
            Ok::<_, Stop>(completed.map(|()| reply.into_reply()))
        });
        let (completed, _) = mailbox.deliver(work, sink).await;
        completed
            .map_err(|error| self.guest_error(&error))?
            .map_err(|failure| llm_error(from_wire(failure)))
    }

    async fn decide(&self, state: &DecisionState) -> Result<DecisionReply, LlmError> {
        match &self.decider {
            Some(decider) => decider.decide(state).await,
            None => Err(LlmError::Unsupported(format!(
                "`{}` writes and does not weigh options",
                self.name
            ))),
        }
    }
}

/// What a failure of the component means: an error of the model that it speaks for, or its own.
fn llm_error(failure: Failure) -> LlmError {
    if failure.code != FailureCode::Llm {
        return LlmError::Guest(failure);
    }
    let detail = |key: &str| failure.details.get(key);
    let number = |key: &str| detail(key).and_then(serde_json::Value::as_u64);
    let http_status = number("http_status").and_then(|status| u16::try_from(status).ok());
    let retryable = detail("retryable").and_then(serde_json::Value::as_bool);
    let reason = detail("reason").and_then(|reason| reason.as_str());
    // Signs tell the class where the component names none.
    let class = classify(&ErrorSigns {
        status: http_status,
        text: &failure.message,
        ..ErrorSigns::default()
    });
    let mut failed = match reason.and_then(reason_of) {
        None => class.to_failure(failure.message.clone()),
        Some(reason) => {
            let passes = matches!(
                reason,
                LlmReason::Transport
                    | LlmReason::RateLimit
                    | LlmReason::Provider
                    | LlmReason::Unknown
            );
            let mut failed = LlmFailure::new(reason, passes, failure.message.clone());
            failed.detail = class.detail.filter(|_| class.reason == reason);
            failed
        }
    };
    failed.retryable = retryable.unwrap_or(failed.retryable);
    failed.http_status = http_status;
    failed.retry_after_ms = number("retry_after_ms");
    LlmError::Failed(failed)
}

fn reason_of(word: &str) -> Option<LlmReason> {
    const REASONS: [LlmReason; 10] = [
        LlmReason::Transport,
        LlmReason::RateLimit,
        LlmReason::Provider,
        LlmReason::Auth,
        LlmReason::Authz,
        LlmReason::Invalid,
        LlmReason::Context,
        LlmReason::Policy,
        LlmReason::Timeout,
        LlmReason::Unknown,
    ];
    REASONS.into_iter().find(|reason| reason.as_str() == word)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(message: &str, details: serde_json::Value, expected: LlmFailure) {
        let mut failure = Failure::new(FailureCode::Llm, message);
        failure.details = details.as_object().cloned().unwrap();
        assert_eq!(llm_error(failure), LlmError::Failed(expected));
    }

    #[test]
    fn failures_of_models_keep_what_the_component_says() {
        let mut slow_down = LlmFailure::new(LlmReason::RateLimit, true, "slow down");
        slow_down.http_status = Some(429);
        slow_down.retry_after_ms = Some(1500);
        check(
            "slow down",
            json!({"reason": "rate_limit", "retryable": true, "http_status": 429,
                   "retry_after_ms": 1500}),
            slow_down,
        );
        check(
            "no",
            json!({"reason": "provider", "retryable": false}),
            LlmFailure::new(LlmReason::Provider, false, "no"),
        );
        check(
            "cut",
            json!({"reason": "transport"}),
            LlmFailure::new(LlmReason::Transport, true, "cut"),
        );
        check(
            "no key",
            json!({"reason": "auth"}),
            LlmFailure::new(LlmReason::Auth, false, "no key"),
        );
    }

    #[test]
    fn without_a_reason_the_signs_tell_it() {
        let mut refused = LlmFailure::new(LlmReason::Auth, false, "no");
        refused.http_status = Some(401);
        check("no", json!({"http_status": 401}), refused);
        check(
            "who knows",
            json!({"reason": "of-tomorrow", "http_status": "401", "retry_after_ms": -1}),
            LlmFailure::new(LlmReason::Unknown, true, "who knows"),
        );
    }

    #[test]
    fn any_other_failure_is_the_components_own() {
        let failure = Failure::new(FailureCode::InvalidArgument, "no such tool");
        assert_eq!(llm_error(failure.clone()), LlmError::Guest(failure));
    }
}
