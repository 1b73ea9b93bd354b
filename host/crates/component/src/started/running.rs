//! The turns of one call, polled beside its function.

use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// A turn with what it does at its end.
type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The turns of one call that are not over. Clones are the same turns.
#[derive(Clone, Default)]
pub(crate) struct RunningTurns(Arc<Mutex<Turns>>);

#[derive(Default)]
struct Turns {
    n_started: u64,
    /// By the order in which they were started, in which they are polled.
    by_number: BTreeMap<u64, Turn>,
}

struct Turn {
    work: Work,
    alarm: Arc<Alarm>,
}

/// Tells which turn can go on, and wakes the task of the call.
struct Alarm {
    is_rung: AtomicBool,
    task: Mutex<Waker>,
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.is_rung.store(true, Ordering::Release);
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner);
        task.wake_by_ref();
    }
}

impl RunningTurns {
    /// Adds a turn, which begins when the function waits or pauses next.
    pub(crate) fn add(&self, work: Work) -> u64 {
        let mut turns = self.turns();
        turns.n_started += 1;
        let number = turns.n_started;
        let alarm = Arc::new(Alarm {
            is_rung: AtomicBool::new(true),
            task: Mutex::new(Waker::noop().clone()),
        });
        turns.by_number.insert(number, Turn { work, alarm });
        number
    }

    /// Cancels a turn, unless it is over.
    pub(crate) fn remove(&self, number: u64) {
        let removed = self.turns().by_number.remove(&number);
        drop(removed);
    }

    /// Does the work of the function with its turns beside it. Turns that are not over then are
    /// cancelled.
    pub(crate) async fn beside<T>(&self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        let done = poll_fn(|cx| match work.as_mut().poll(cx) {
            Poll::Ready(done) => Poll::Ready(done),
            Poll::Pending => {
                self.poll_all(cx);
                Poll::Pending
            }
        });
        let done = done.await;
        let cancelled = std::mem::take(&mut self.turns().by_number);
        drop(cancelled);
        done
    }

    /// Polls every turn that can go on. Only the task of the call gets here and to the others, so
    /// nobody waits for the lock.
    fn poll_all(&self, cx: &Context<'_>) {
        let mut turns = self.turns();
        turns.by_number.retain(|_, turn| {
            {
                let task = turn.alarm.task.lock();
                let mut task = task.unwrap_or_else(PoisonError::into_inner);
                task.clone_from(cx.waker());
            }
            if !turn.alarm.is_rung.swap(false, Ordering::Acquire) {
                return true;
            }
            let waker = Waker::from(Arc::clone(&turn.alarm));
            let polled = turn.work.as_mut().poll(&mut Context::from_waker(&waker));
            polled.is_pending()
        });
    }

    fn turns(&self) -> MutexGuard<'_, Turns> {
        // An insertion, a removal and a poll leave the map whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::sync::{Notify, oneshot};
    use tokio::time::{sleep, timeout};

    use super::*;

    /// Sets its flag when it is dropped.
    struct Flag(Arc<AtomicBool>);

    impl Drop for Flag {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    #[tokio::test]
    async fn turns_go_on_while_the_function_waits_and_end_with_it() {
        let turns = RunningTurns::default();
        let (first, second) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let is_dropped = Arc::new(AtomicBool::new(false));
        let flag = Flag(Arc::clone(&is_dropped));
        let done = turns.beside(async {
            let (told, heard) = oneshot::channel();
            let (a, b) = (Arc::clone(&first), Arc::clone(&second));
            turns.add(Box::pin(async move {
                a.notified().await;
                sleep(Duration::from_millis(1)).await;
                b.notify_one();
            }));
            let b = Arc::clone(&second);
            turns.add(Box::pin(async move {
                b.notified().await;
                told.send(7).unwrap();
            }));
            turns.add(Box::pin(async move {
                let _flag = flag;
                std::future::pending::<()>().await;
            }));
            first.notify_one();
            heard.await.unwrap()
        });
        assert_eq!(timeout(Duration::from_secs(10), done).await, Ok(7));
        assert!(is_dropped.load(Ordering::Relaxed));
        assert!(turns.turns().by_number.is_empty());
    }

    #[tokio::test]
    async fn a_removed_turn_is_dropped_at_once() {
        let turns = RunningTurns::default();
        let is_dropped = Arc::new(AtomicBool::new(false));
        let flag = Flag(Arc::clone(&is_dropped));
        let work = async {
            let number = turns.add(Box::pin(async move {
                let _flag = flag;
                std::future::pending::<()>().await;
            }));
            tokio::task::yield_now().await;
            assert!(!is_dropped.load(Ordering::Relaxed));
            turns.remove(number);
            assert!(is_dropped.load(Ordering::Relaxed));
        };
        turns.beside(work).await;
    }
}
