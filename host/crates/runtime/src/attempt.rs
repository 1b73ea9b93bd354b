//! One model request with its tries: the one retry layer, under one deadline.
//!
//! When a failed try is followed by another one is decided by [`Tries`]; here it is asked, told
//! and slept. Nothing below retries. Each try waits for its place among the requests of all runs.

use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use openprogram_core::failure::Failure;
use openprogram_core::guest::{TurnEvent, TurnWatcher};
use openprogram_core::llm::{Asked, EventSink, FailedTry, LlmError, ModelEvent, RetryStep, Tries};
use openprogram_core::session::Attempt;

use crate::admission::Permit;
use crate::deadline::Deadline;
use crate::events::Event;
use crate::frame::Run;
use crate::ports::Ports;
use crate::recorder::OpenNode;

/// Where a request stands: its node, its run, its deadline.
#[derive(Clone, Copy)]
pub(crate) struct Asking<'a> {
    pub(crate) ports: &'a Ports,
    pub(crate) run: &'a Run,
    pub(crate) node: &'a OpenNode,
    pub(crate) deadline: &'a Deadline,
    pub(crate) watcher: Option<&'a dyn TurnWatcher>,
}

/// Asks until there is a reply, an error that no further try mends, or no time left. Every failed
/// try is noted with the node.
///
/// `watched` knows whether any piece of a reply has reached a watcher. Then the request is tried again
/// only when the watcher agreed to that, and it is told.
pub(crate) async fn ask_with_retries<T, F>(
    asking: Asking<'_>,
    asked: Asked,
    ask: impl Fn() -> F,
    watched: Option<&Watched<'_>>,
) -> Result<T, Failure>
where
    F: Future<Output = Result<T, LlmError>>,
{
    let Asking {
        ports, deadline, ..
    } = asking;
    let model = asked.model.clone();
    let mut tries = Tries::new(ports.parts.retry, deadline.timeout(), asked);
    loop {
        // Held for the request alone: whoever sleeps between tries or calls a tool keeps no place.
        let place = asking.admitted().await?;
        let started_at = ports.recorder.now();
        let tried = deadline.cut(ask()).await;
        drop(place);
        let stop = match tried {
            Some(Ok(reply)) => return Ok(reply),
            Some(Err(error)) => {
                asking.node.note_failed_try(Attempt {
                    started_at,
                    failure: error.to_failure(&model),
                });
                let shown = watched.filter(|watched| watched.has_shown());
                let restart = shown.and_then(|_| asking.run.watchers.restart());
                // Whoever started the turn has agreed to no restart.
                let was_taken = asking.watcher.is_some_and(TurnWatcher::has_shown);
                let counts = was_taken || (shown.is_some() && restart.is_none());
                let failed = FailedTry::new(&error, counts, deadline.elapsed());
                match tries.failed(failed, jitter(ports.parts.ids.bits())) {
                    RetryStep::Sleep(retry) => {
                        asking.run.watchers.tell_retry(asking.node.id(), &retry);
                        if let Some(watcher) = asking.watcher {
                            watcher.event(TurnEvent::Retry(Box::new(retry.clone())));
                        }
                        if let (Some(watched), Some(restart)) = (shown, restart) {
                            restart.tell(asking.node.id());
                            watched.begin_anew();
                        }
                        deadline.sleep(retry.sleep).await;
                        continue;
                    }
                    RetryStep::Stop(stop) => stop,
                }
            }
            None => {
                let stop = tries.timed_out(deadline.elapsed());
                asking.node.note_failed_try(Attempt {
                    started_at,
                    failure: stop.to_failure(&model),
                });
                stop
            }
        };
        return Err(stop.to_failure(&model));
    }
}

impl Asking<'_> {
    /// A place among the requests of all runs; none when there is no time left to use it.
    async fn admitted(&self) -> Result<Option<Permit>, Failure> {
        let left = self.deadline.left();
        if left.is_some_and(|left| left.is_zero()) {
            return Ok(None);
        }
        let admission = &self.ports.admission;
        admission.request(self.run.number, left).await.map(Some)
    }
}

/// A uniform number from 0 to 1, both included.
#[allow(
    clippy::cast_precision_loss,
    reason = "the upper 53 bits fit a float exactly"
)]
fn jitter(bits: u64) -> f64 {
    const STEPS: u64 = (1 << 53) - 1;
    (bits >> 11) as f64 / STEPS as f64
}

/// Hands the pieces of a reply to the watchers of the run and of the turn while they arrive.
///
/// A reply longer than the limit is refused when it is complete; its pieces end at the limit.
pub(crate) struct Watched<'a> {
    asking: Asking<'a>,
    longest: u64,
    n_bytes: AtomicU64,
    shown: AtomicBool,
}

impl<'a> Watched<'a> {
    pub(crate) fn new(asking: Asking<'a>) -> Self {
        Self {
            asking,
            longest: asking.ports.parts.limits.reply_bytes,
            n_bytes: AtomicU64::new(0),
            shown: AtomicBool::new(false),
        }
    }

    /// Forgets the pieces so far: the watcher takes them back.
    fn begin_anew(&self) {
        self.n_bytes.store(0, Ordering::Relaxed);
        self.shown.store(false, Ordering::Relaxed);
    }

    /// Whether the watcher has been given any piece.
    pub(crate) fn has_shown(&self) -> bool {
        self.shown.load(Ordering::Relaxed)
    }
}

impl EventSink for Watched<'_> {
    fn event(&self, event: ModelEvent) {
        // Calls are told when the whole reply is there and their ids are known to be unique.
        let (text, thinking) = match event {
            ModelEvent::Text(text) => (text, false),
            ModelEvent::Thinking(text) => (text, true),
            _ => return,
        };
        let length = text.len() as u64;
        let before = self.n_bytes.fetch_add(length, Ordering::Relaxed);
        if text.is_empty() || before.saturating_add(length) > self.longest {
            return;
        }
        let Asking {
            run, node, watcher, ..
        } = self.asking;
        if let Some(watcher) = watcher {
            let text = text.clone();
            watcher.event(match thinking {
                false => TurnEvent::Text(text),
                true => TurnEvent::Thinking(text),
            });
        }
        let node = node.id().clone();
        let shown = run.emit(|| match thinking {
            false => Event::Text { node, text },
            true => Event::Thinking { node, text },
        });
        if shown {
            self.shown.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jitter_reaches_both_ends() {
        let jitters = [0, 1 << 63, u64::MAX].map(jitter);
        assert!(jitters[0] == 0.0 && jitters[2] == 1.0, "{jitters:?}");
        assert!((jitters[1] - 0.5).abs() < 1e-12, "{jitters:?}");
    }
}
