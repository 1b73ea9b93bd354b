//! Compilations: how many there are at once, and how long each may take.
//!
//! A compilation cannot be stopped. One that takes too long is given up by those who wait for it,
//! and its thread goes on to its end; until then it counts among those at once, so that components
//! that never finish cannot take all processors.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::error::LoadError;
use crate::source::blocking;

/// Runs compilations away from the async threads.
pub(crate) struct Compilations {
    permits: Arc<Semaphore>,
    at_once: u32,
    time: Duration,
    /// How many run that nobody waits for. It may be negative for a moment.
    given_up: Arc<AtomicI64>,
}

impl Compilations {
    /// At most `at_once` of them, and at least one; each within `time` (`compile_ms`).
    pub(crate) fn new(at_once: u32, time: Duration) -> Self {
        let at_once = at_once.max(1);
        let permits = (at_once as usize).min(Semaphore::MAX_PERMITS);
        Self {
            permits: Arc::new(Semaphore::new(permits)),
            at_once,
            time,
            given_up: Arc::default(),
        }
    }

    /// Runs one when it is its turn.
    ///
    /// # Errors
    /// What the work says; [`LoadError::CompileTime`] when it takes too long, and
    /// [`LoadError::CompileBusy`] when others that do hold all places.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, LoadError> + Send + 'static,
    ) -> Result<T, LoadError> {
        let permit = self.permit().await?;
        let waiting = Waiting(Arc::clone(&self.given_up));
        let running = Running(Arc::clone(&self.given_up));
        let compiled = blocking(move || {
            // Both go before anyone can see that it has ended.
            let _held = (permit, running);
            work()
        });
        let result = timeout(self.time, compiled).await;
        drop(waiting);
        result.unwrap_or_else(|_| {
            Err(LoadError::CompileTime {
                limit_ms: self.limit_ms(),
            })
        })
    }

    async fn permit(&self) -> Result<OwnedSemaphorePermit, LoadError> {
        loop {
            let permit = Arc::clone(&self.permits).acquire_owned();
            match timeout(self.time, permit).await {
                Ok(Ok(permit)) => return Ok(permit),
                // Others are waited for that somebody waits for: they end in time.
                Err(_) if self.given_up.load(Ordering::SeqCst) < i64::from(self.at_once) => {}
                Ok(Err(_)) | Err(_) => {
                    return Err(LoadError::CompileBusy {
                        at_once: self.at_once,
                        limit_ms: self.limit_ms(),
                    });
                }
            }
        }
    }

    fn limit_ms(&self) -> u64 {
        u64::try_from(self.time.as_millis()).unwrap_or(u64::MAX)
    }
}

/// Whoever waits for a compilation. One that has ended took itself out of the count already, or
/// does so later: both count once, so that the order does not matter.
struct Waiting(Arc<AtomicI64>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// The compilation itself, until its end.
struct Running(Arc<AtomicI64>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    const LONG: Duration = Duration::from_secs(600);
    const SHORT: Duration = Duration::from_millis(10);

    /// Work that ends when the sender goes.
    fn stuck() -> (
        mpsc::Sender<()>,
        impl FnOnce() -> Result<(), LoadError> + Send + 'static,
    ) {
        let (sender, receiver) = mpsc::channel::<()>();
        let work = move || {
            // It never gets anything.
            let _ = receiver.recv();
            Ok(())
        };
        (sender, work)
    }

    async fn settled(compilations: &Compilations) {
        while compilations.permits.available_permits() < compilations.at_once as usize {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    #[tokio::test]
    async fn one_that_takes_too_long_is_given_up_and_keeps_its_place_until_it_ends() {
        let compilations = Compilations::new(1, SHORT);
        let (end, work) = stuck();
        let error = compilations.run(work).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "compiling the component takes longer than 10 ms (`compile_ms`), so it is not used; \
             split it up, or build it with optimisations"
        );
        let error = compilations.run(|| Ok(())).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "all 1 places for compiling (`compilations`) are held by components that take longer \
             than 10 ms and cannot be stopped; try again when they have ended"
        );
        drop(end);
        settled(&compilations).await;
        let compilations = Compilations {
            time: LONG,
            ..compilations
        };
        assert_eq!(compilations.run(|| Ok(7)).await.unwrap(), 7);
        assert_eq!(compilations.given_up.load(Ordering::SeqCst), 0);
    }

    #[tokio::test]
    async fn one_that_others_wait_for_is_waited_for() {
        let compilations = Arc::new(Compilations::new(1, LONG));
        let (end, work) = stuck();
        let first = Arc::clone(&compilations);
        let first = tokio::spawn(async move { first.run(work).await });
        while compilations.permits.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        // More than the time of one that is given up: it is not.
        let second = Compilations {
            permits: Arc::clone(&compilations.permits),
            given_up: Arc::clone(&compilations.given_up),
            at_once: 1,
            time: SHORT,
        };
        let waiting = timeout(SHORT * 5, second.run(|| Ok(()))).await;
        assert!(waiting.is_err());
        drop(end);
        first.await.unwrap().unwrap();
        assert_eq!(compilations.given_up.load(Ordering::SeqCst), 0);
    }

    #[tokio::test]
    async fn whoever_goes_away_gives_up_and_a_panic_frees_the_place() {
        let compilations = Compilations::new(1, LONG);
        let (end, work) = stuck();
        assert!(timeout(SHORT, compilations.run(work)).await.is_err());
        assert_eq!(compilations.given_up.load(Ordering::SeqCst), 1);
        drop(end);
        settled(&compilations).await;
        let broken = compilations.run(|| -> Result<(), _> { std::panic::panic_any(1) });
        assert!(matches!(broken.await, Err(LoadError::Malformed(_))));
        settled(&compilations).await;
        while compilations.given_up.load(Ordering::SeqCst) != 0 {
            tokio::task::yield_now().await;
        }
    }
}
