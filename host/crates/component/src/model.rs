//! A component writes: one call of its export `model`.

use std::sync::Arc;

use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::llm::{
    ErrorSigns, EventSink, LlmError, LlmFailure, LlmReason, ModelReply, ModelRequest, classify,
};
use wasmtime::component::Resource;

use crate::guest::{Guest, gone};
use crate::handles::{Mailbox, SinkHandle};
use crate::imports::from_wire;
use crate::instance::Stop;
use crate::prompt::prompt;

/// Lets a component answer a request, and hands over every piece as soon as it is there.
pub(crate) async fn complete(
    guest: &Guest,
    request: &ModelRequest,
    sink: &dyn EventSink,
) -> Result<ModelReply, LlmError> {
    let mailbox = Mailbox::default();
    let asked = prompt(request);
    let reply = SinkHandle::new(Arc::clone(&guest.limits), mailbox.clone());
    let work = guest.call(&request.totals, async |prepared, store| {
        let indices = prepared.model.as_ref().ok_or_else(|| gone("model"))?;
        let instance = prepared.pre.instantiate_async(&mut *store).await?;
        let exports = indices.load(&mut *store, &instance)?;
        let table = &mut store.data_mut().table;
        let asked = table.push(asked).map_err(wasmtime::Error::from)?;
        let reply = table.push(reply).map_err(wasmtime::Error::from)?;
        let lent = (
            Resource::new_borrow(asked.rep()),
            Resource::new_borrow(reply.rep()),
        );
        let completed = exports.call_complete(&mut *store, lent.0, lent.1).await?;
        let table = &mut store.data_mut().table;
        let reply = table.delete(reply).map_err(wasmtime::Error::from)?;
        Ok::<_, Stop>(completed.map(|()| reply.into_reply()))
    });
    let completed = mailbox.deliver(work, sink).await?;
    completed.map_err(|failure| llm_error(from_wire(failure)))
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
    failed.transport_exhausted =
        detail("transport_exhausted").and_then(serde_json::Value::as_bool) == Some(true);
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
            "cut",
            json!({"reason": "transport", "transport_exhausted": true}),
            LlmFailure::new(LlmReason::Transport, true, "cut").transport_exhausted(),
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
            json!({"reason": "of-tomorrow", "http_status": "401", "retry_after_ms": -1,
                   "transport_exhausted": "yes"}),
            LlmFailure::new(LlmReason::Unknown, true, "who knows"),
        );
    }

    #[test]
    fn any_other_failure_is_the_components_own() {
        let failure = Failure::new(FailureCode::InvalidArgument, "no such tool");
        assert_eq!(llm_error(failure.clone()), LlmError::Guest(failure));
    }
}
