//! The one deadline of a turn or decision, and work that ends early.
//!
//! Everything that a turn does counts against one budget: requests, waits between tries, calls,
//! re-asks. Work is cut by dropping it.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use crate::ports::RuntimeParts;
use crate::sources::Timer;
pub(crate) use crate::sources::until;

/// A budget of time that runs.
#[derive(Clone)]
pub(crate) struct Deadline {
    timer: Arc<dyn Timer>,
    started: Duration,
    timeout: Option<Duration>,
}

impl Deadline {
    /// Starts the clock. Zero milliseconds count as not said.
    pub(crate) fn start(parts: &RuntimeParts, timeout_ms: Option<u64>) -> Self {
        let asked = timeout_ms.filter(|ms| *ms > 0).map(Duration::from_millis);
        Self {
            started: parts.timer.elapsed(),
            timer: Arc::clone(&parts.timer),
            timeout: asked.or(parts.exec_timeout),
        }
    }

    /// The whole budget; `None` for no end.
    pub(crate) fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    /// The time since the start.
    pub(crate) fn elapsed(&self) -> Duration {
        self.timer.elapsed().saturating_sub(self.started)
    }

    /// The time that is left; `None` for no end.
    pub(crate) fn left(&self) -> Option<Duration> {
        let timeout = self.timeout?;
        Some(timeout.saturating_sub(self.elapsed()))
    }

    /// Waits, whatever is left; who sleeps asks first whether the sleep would cross the deadline.
    pub(crate) async fn sleep(&self, time: Duration) {
        self.timer.sleep(time).await;
    }

    /// Does the work, or drops it when the time is up and gives `None`.
    pub(crate) async fn cut<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        match self.left() {
            None => Some(work.await),
            Some(left) if left.is_zero() => None,
            Some(left) => until(work, self.timer.sleep(left)).await,
        }
    }
}
