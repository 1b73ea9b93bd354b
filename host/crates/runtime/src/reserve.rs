//! What a request may cost, charged against the budgets while it is under way.
//!
//! A provider is paid for what it was sent, whether or not anybody waits for its reply. So a request
//! that is given up, or whose reply is cut off, stays charged with what it and the pieces that came
//! probably cost; one that was answered is charged with what its reply says instead.

use std::sync::atomic::{AtomicUsize, Ordering};

use openprogram_core::llm::{EventSink, LlmError, LlmReason, ModelEvent};

use crate::budget::{TokenBudget, bytes_to_tokens};

/// The charge for one request that is under way. Dropped, it stays.
pub(crate) struct Reserved<'a> {
    budgets: Vec<&'a TokenBudget>,
    tokens: u64,
    sink: &'a dyn EventSink,
    /// Bytes of the reply so far.
    heard: AtomicUsize,
    is_released: bool,
}

impl<'a> Reserved<'a> {
    /// Charges what a request probably costs; the estimate is made only where there is a budget. The
    /// pieces of the reply go through it to `sink`.
    pub(crate) fn of(
        budgets: impl Iterator<Item = &'a TokenBudget>,
        sink: &'a dyn EventSink,
        estimate: impl FnOnce() -> u64,
    ) -> Self {
        let budgets: Vec<_> = budgets.collect();
        let tokens = if budgets.is_empty() { 0 } else { estimate() };
        budgets.iter().for_each(|budget| budget.charge(tokens));
        Self {
            budgets,
            tokens,
            sink,
            heard: AtomicUsize::new(0),
            is_released: false,
        }
    }

    /// Ends the charge as the outcome of the request says: one that was answered is charged by
    /// whoever reads its reply, and one that was refused or never arrived cost nothing.
    pub(crate) fn end<T>(mut self, asked: &Result<T, LlmError>) {
        let heard = self.heard.load(Ordering::Relaxed);
        self.is_released = match asked {
            Ok(_) | Err(LlmError::Unsupported(_)) => true,
            Err(LlmError::Failed(failed)) => {
                let is_refused = failed.http_status.is_some_and(|status| status >= 400);
                heard == 0 && (is_refused || failed.reason == LlmReason::Transport)
            }
            Err(_) => false,
        };
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        let heard = self.heard.load(Ordering::Relaxed);
        for budget in &self.budgets {
            if self.is_released {
                budget.refund(self.tokens);
            } else {
                budget.charge(bytes_to_tokens(heard));
            }
        }
    }
}

impl EventSink for Reserved<'_> {
    fn event(&self, event: ModelEvent) {
        let bytes = match &event {
            ModelEvent::Text(text) | ModelEvent::Thinking(text) => text.len(),
            ModelEvent::ToolUse(call) => call.name.len() + call.arguments.len(),
            _ => 0,
        };
        self.heard.fetch_add(bytes, Ordering::Relaxed);
        self.sink.event(event);
    }
}

#[cfg(test)]
mod tests {
    use openprogram_core::llm::{LlmFailure, NoEvents};

    use super::*;

    /// What is charged in the end for a request of 10 tokens that wrote 8 bytes before it ended so.
    fn charged(wrote: &str, ended: Option<Result<(), LlmError>>) -> u64 {
        let budget = TokenBudget::of_run(1_000);
        let reserved = Reserved::of([&budget].into_iter(), &NoEvents, || 10);
        assert_eq!(budget.spent(), 10);
        if !wrote.is_empty() {
            reserved.event(ModelEvent::Text(wrote.to_owned()));
        }
        match ended {
            Some(ended) => reserved.end(&ended),
            None => drop(reserved),
        }
        budget.spent()
    }

    #[test]
    fn a_request_stays_charged_unless_it_was_answered_or_cost_nothing() {
        let failed = |reason, status| {
            let failure = LlmFailure {
                http_status: status,
                ..LlmFailure::new(reason, true, "failed")
            };
            Some(Err(LlmError::Failed(failure)))
        };
        assert_eq!(charged("", Some(Ok(()))), 0);
        assert_eq!(charged("", failed(LlmReason::RateLimit, Some(429))), 0);
        assert_eq!(charged("", failed(LlmReason::Transport, None)), 0);
        // Given up, cut off in the middle, or silent for too long.
        assert_eq!(charged("", None), 10);
        assert_eq!(charged("8 bytes.", None), 12);
        assert_eq!(charged("8 bytes.", failed(LlmReason::Transport, None)), 12);
        assert_eq!(charged("", failed(LlmReason::Timeout, None)), 10);
    }
}
