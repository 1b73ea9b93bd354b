//! An observer of tries that failed, in the program that uses the runtime.
//!
//! It only looks: what it returns is dropped, and what goes wrong inside it changes nothing.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use openprogram_core::llm::RetryInfo;

/// Is told of every failed try of a model request that is followed by another one, before the wait
/// between the two; never of the last one, whose failure is the result.
///
/// It is called on the thread of the run and holds the run up while it works. A panic inside it is
/// swallowed, as is whatever it returns.
#[derive(Clone)]
pub struct OnRetry(Arc<dyn Fn(&RetryInfo) + Send + Sync>);

impl OnRetry {
    /// An observer that calls this closure.
    pub fn new<R>(observe: impl Fn(&RetryInfo) -> R + Send + Sync + 'static) -> Self {
        Self(Arc::new(move |retry| drop(observe(retry))))
    }

    /// Tells of a failed try.
    pub(crate) fn tell(&self, retry: &RetryInfo) {
        // Nothing of ours is touched inside, so nothing of ours can be left half changed.
        let _ = catch_unwind(AssertUnwindSafe(|| (self.0)(retry)));
    }
}

impl fmt::Debug for OnRetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnRetry")
    }
}
