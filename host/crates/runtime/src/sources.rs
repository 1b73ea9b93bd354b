//! Where times, waits and ids come from: passed in, so that a test can fix them.

use std::collections::hash_map::RandomState;
use std::future::{Future, poll_fn};
use std::hash::{BuildHasher, Hasher};
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::task::Poll;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use openprogram_core::id::Timestamp;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// Tells the time.
pub trait Clock: Send + Sync {
    /// The time now.
    fn now(&self) -> Timestamp;
}

/// Gives the random bits of ids.
pub trait Ids: Send + Sync {
    /// 64 bits that have not been given before.
    fn bits(&self) -> u64;
}

/// Measures and waits. Not a clock: it never goes back and has no date.
#[async_trait]
pub trait Timer: Send + Sync {
    /// The time since some moment that stays the same.
    fn elapsed(&self) -> Duration;

    /// Waits. Dropping the future ends the wait.
    async fn sleep(&self, time: Duration);
}

/// The clock of the machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}

/// The timer of tokio. Where no tokio runtime is entered, every wait has a thread of its own.
#[derive(Clone, Copy, Debug)]
pub struct TokioTimer {
    start: Instant,
}

impl Default for TokioTimer {
    fn default() -> Self {
        Self {
            start: Instant::now(),
        }
    }
}

#[async_trait]
impl Timer for TokioTimer {
    fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    async fn sleep(&self, time: Duration) {
        if Handle::try_current().is_ok() {
            tokio::time::sleep(time).await;
            return;
        }
        // The thread waits for the end of the time or of this future, whichever comes first.
        let (alive, gone) = mpsc::channel::<()>();
        let (wake, woken) = oneshot::channel();
        let waiting = std::thread::Builder::new().spawn(move || {
            if gone.recv_timeout(time) == Err(mpsc::RecvTimeoutError::Timeout) {
                // Nobody to wake is a future that was dropped a moment ago.
                let _ = wake.send(());
            }
        });
        // Without a thread, or should it die, the wait is over at once.
        if waiting.is_ok() {
            let _ = woken.await;
        }
        drop(alive);
    }
}

/// Random ids, keyed by the operating system. Unlikely to collide; not secret.
#[derive(Debug, Default)]
pub struct RandomIds {
    keys: RandomState,
    given: AtomicU64,
}

impl Ids for RandomIds {
    fn bits(&self) -> u64 {
        let mut hasher = self.keys.build_hasher();
        hasher.write_u64(self.given.fetch_add(1, Ordering::Relaxed));
        hasher.finish()
    }
}

/// Drives `work` to its end, or drops it when `stop` is ready first.
pub(crate) async fn until<T>(
    work: impl Future<Output = T>,
    stop: impl Future<Output = ()>,
) -> Option<T> {
    let mut work = pin!(work);
    let mut stop = pin!(stop);
    poll_fn(|cx| {
        if let Poll::Ready(done) = work.as_mut().poll(cx) {
            return Poll::Ready(Some(done));
        }
        stop.as_mut().poll(cx).map(|()| None)
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_wait_outside_of_tokio_ends_too() {
        let timer = TokioTimer::default();
        let before = timer.elapsed();
        pollster::block_on(timer.sleep(Duration::from_millis(2)));
        assert!(timer.elapsed() - before >= Duration::from_millis(2));
    }

    #[test]
    fn random_ids_of_two_processes_do_not_meet() {
        let sources = [RandomIds::default(), RandomIds::default()];
        let given = (0..2_000).map(|number| sources[number % 2].bits());
        assert_eq!(given.collect::<HashSet<_>>().len(), 2_000);
    }
}
