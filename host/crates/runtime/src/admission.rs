//! Admission over all runs of a runtime: how many model requests and calls at the top go on at once.
//!
//! Who comes when every place is taken waits. Runs with waiters are served in turn, the waiters of
//! one run in the order in which they came, so that a run with a thousand of them holds up no other.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use openprogram_core::failure::{Failure, FailureCode};
use tokio::sync::oneshot;

use crate::limits::AdmissionLimits;
use crate::sources::{Timer, until};

/// The number of a run in its runtime.
pub(crate) type RunNumber = u64;

/// The queues that all runs of a runtime share.
pub(crate) struct Admission {
    requests: Arc<FairQueue>,
    calls: Arc<FairQueue>,
    longest: Duration,
    timer: Arc<dyn Timer>,
    n_runs: AtomicU64,
}

impl Admission {
    /// Queues in which nobody waits.
    pub(crate) fn new(limits: &AdmissionLimits, timer: Arc<dyn Timer>) -> Self {
        let queue = |what, places| Arc::new(FairQueue::new(what, places, limits.queue));
        Self {
            requests: queue("model requests", limits.requests),
            calls: queue("calls", limits.calls),
            longest: Duration::from_millis(limits.queue_ms),
            timer,
            n_runs: AtomicU64::new(0),
        }
    }

    /// A number for a run that begins.
    pub(crate) fn next_run(&self) -> RunNumber {
        self.n_runs.fetch_add(1, Ordering::Relaxed)
    }

    /// A place for one model request, waited for no longer than `left`, the time left for it.
    ///
    /// # Errors
    /// `limit-reached`: `queue` when too many wait, `queue_ms` when the wait took too long.
    pub(crate) async fn request(
        &self,
        run: RunNumber,
        left: Option<Duration>,
    ) -> Result<Permit, Failure> {
        let longest = left.map_or(self.longest, |left| left.min(self.longest));
        self.requests.admit(run, longest, &*self.timer).await
    }

    /// A place for one call that stands below no other call. Calls below it need none: they would
    /// wait for what their callers hold.
    ///
    /// # Errors
    /// As for [`Admission::request`].
    pub(crate) async fn call(&self, run: RunNumber) -> Result<Permit, Failure> {
        self.calls.admit(run, self.longest, &*self.timer).await
    }
}

/// A number of places and a bounded, fair queue for them.
struct FairQueue {
    /// What takes the places, for refusals.
    what: &'static str,
    places: u64,
    most_waiting: u64,
    state: Mutex<QueueState>,
}

/// Held only for single steps, never across a wait or a wake. A place is free only when nobody
/// waits.
struct QueueState {
    free: u64,
    /// Who waits, by run and by when it came.
    waiting: BTreeMap<(RunNumber, u64), oneshot::Sender<Permit>>,
    next_ticket: u64,
    /// The run whose waiter was admitted last.
    served: RunNumber,
}

impl QueueState {
    /// The first waiter of the next run in turn: of the lowest number above the one served last, or
    /// of the lowest number.
    fn pop(&mut self) -> Option<oneshot::Sender<Permit>> {
        let after = (Bound::Excluded((self.served, u64::MAX)), Bound::Unbounded);
        let next = self.waiting.range(after).next();
        let key = *next.or_else(|| self.waiting.iter().next())?.0;
        self.served = key.0;
        self.waiting.remove(&key)
    }
}

impl FairQueue {
    /// At least one place.
    fn new(what: &'static str, places: u32, most_waiting: u64) -> Self {
        let places = u64::from(places.max(1));
        Self {
            what,
            places,
            most_waiting,
            state: Mutex::new(QueueState {
                free: places,
                waiting: BTreeMap::new(),
                next_ticket: 0,
                served: 0,
            }),
        }
    }

    /// Takes a place, or waits for one. Dropping the future gives the place in the queue up.
    async fn admit(
        self: &Arc<Self>,
        run: RunNumber,
        longest: Duration,
        timer: &dyn Timer,
    ) -> Result<Permit, Failure> {
        let mut waiter = match self.enter(run)? {
            Entered::Admitted(permit) => return Ok(permit),
            Entered::Waits(waiter) => waiter,
        };
        match until(&mut waiter.admitted, timer.sleep(longest)).await {
            Some(Ok(permit)) => Ok(permit),
            Some(Err(_)) => Err(Failure::new(
                FailureCode::Internal,
                format!("a waiter for {} was lost", self.what),
            )),
            None => {
                let longest = u64::try_from(longest.as_millis()).unwrap_or(u64::MAX);
                let (what, places) = (self.what, self.places);
                let message = format!(
                    "waited {longest} ms for one of the {places} places for {what}; try again when \
                     fewer are running"
                );
                Err(Failure::limit("queue_ms", longest, message))
            }
        }
    }

    fn enter(self: &Arc<Self>, run: RunNumber) -> Result<Entered, Failure> {
        let mut state = self.state();
        if state.free > 0 {
            state.free -= 1;
            drop(state);
            return Ok(Entered::Admitted(Permit(Some(Arc::clone(self)))));
        }
        if state.waiting.len() as u64 >= self.most_waiting {
            drop(state);
            let (what, places, most) = (self.what, self.places, self.most_waiting);
            let message = format!(
                "all {places} places for {what} are taken, and {most} wait for one; try again when \
                 fewer are running"
            );
            return Err(Failure::limit("queue", most, message));
        }
        let key = (run, state.next_ticket);
        state.next_ticket += 1;
        let (admit, admitted) = oneshot::channel();
        state.waiting.insert(key, admit);
        drop(state);
        Ok(Entered::Waits(Waiter {
            queue: Arc::clone(self),
            key,
            admitted,
        }))
    }

    /// Hands a place on to the next waiter, or frees it.
    fn release(self: Arc<Self>) {
        let mut queue = self;
        loop {
            let next = {
                let mut state = queue.state();
                let next = state.pop();
                if next.is_none() {
                    state.free += 1;
                }
                next
            };
            let Some(next) = next else { return };
            // A waiter that left at this moment gives the place back, for the one after it.
            match next.send(Permit(Some(queue))) {
                Ok(()) => return,
                Err(mut back) => match back.0.take() {
                    Some(back) => queue = back,
                    None => return,
                },
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, QueueState> {
        // Every critical section is a few assignments, so a poisoned state is still whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum Entered {
    Admitted(Permit),
    Waits(Waiter),
}

/// A place in the queue. A permit that arrives unseen is dropped with it, and so handed on.
struct Waiter {
    queue: Arc<FairQueue>,
    key: (RunNumber, u64),
    admitted: oneshot::Receiver<Permit>,
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let left = self.queue.state().waiting.remove(&self.key);
        // Outside of the lock, which a wake might want.
        drop(left);
    }
}

/// A place that is held; dropping it admits the next waiter. Empty only while it is handed on.
#[must_use = "the place is given up when this is dropped"]
pub(crate) struct Permit(Option<Arc<FairQueue>>);

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some(queue) = self.0.take() {
            queue.release();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::{Future, pending};
    use std::pin::Pin;
    use std::task::{Context, Poll, Waker};

    use async_trait::async_trait;
    use proptest::prelude::*;

    use super::*;

    /// A timer whose waits never end.
    struct Never;

    #[async_trait]
    impl Timer for Never {
        fn elapsed(&self) -> Duration {
            Duration::ZERO
        }

        async fn sleep(&self, _: Duration) {
            pending().await
        }
    }

    type Admitting<'a> = Pin<Box<dyn Future<Output = Result<Permit, Failure>> + Send + 'a>>;

    fn queue(places: u32, most_waiting: u64) -> Arc<FairQueue> {
        Arc::new(FairQueue::new("tests", places, most_waiting))
    }

    fn admitting(queue: &Arc<FairQueue>, run: RunNumber) -> Admitting<'_> {
        Box::pin(queue.admit(run, Duration::MAX, &Never))
    }

    fn polled(admitting: &mut Admitting<'_>) -> Option<Result<Permit, Failure>> {
        let mut context = Context::from_waker(Waker::noop());
        match admitting.as_mut().poll(&mut context) {
            Poll::Ready(end) => Some(end),
            Poll::Pending => None,
        }
    }

    /// One waiter as the tests see it.
    struct Seen<'a> {
        run: RunNumber,
        admitting: Admitting<'a>,
        /// How many of its own run waited when it came.
        ahead: u64,
        /// How many of each run were admitted when it came.
        before: [u64; RUNS],
    }

    const RUNS: usize = 4;

    #[derive(Clone, Debug)]
    enum Step {
        Come(usize),
        Leave(usize),
        /// A permit is dropped, and a waiter leaves before it looks, where the number says so.
        End(usize, Option<usize>),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            4 => (0..RUNS).prop_map(Step::Come),
            1 => any::<usize>().prop_map(Step::Leave),
            3 => (any::<usize>(), proptest::option::weighted(0.2, any::<usize>()))
                .prop_map(|(held, leaving)| Step::End(held, leaving)),
        ];
        proptest::collection::vec(step, 1..120)
    }

    proptest! {
        #[test]
        fn no_place_is_lost_and_no_run_overtakes_another(places in 1_u32..4, steps in steps()) {
            let queue = queue(places, 20);
            let mut held = Vec::new();
            let mut waiting: Vec<Seen<'_>> = Vec::new();
            let mut served = [0; RUNS];
            for step in steps {
                match step {
                    Step::Come(run) => {
                        let n_waiting = waiting.len();
                        let run_number = run as RunNumber;
                        let mut admitting = admitting(&queue, run_number);
                        match polled(&mut admitting) {
                            Some(Ok(permit)) => {
                                prop_assert!(n_waiting == 0, "nobody is overtaken");
                                held.push(permit);
                            }
                            Some(Err(failure)) => {
                                prop_assert_eq!(&failure.details["which"], "queue");
                                prop_assert_eq!(n_waiting, 20);
                            }
                            None => {
                                let own = waiting.iter().filter(|seen| seen.run == run_number);
                                let ahead = own.count() as u64;
                                let before = served;
                                waiting.push(Seen { run: run_number, admitting, ahead, before });
                            }
                        }
                    }
                    Step::Leave(which) if !waiting.is_empty() => {
                        drop(waiting.remove(which % waiting.len()));
                    }
                    Step::End(which, leaving) if !held.is_empty() => {
                        drop(held.swap_remove(which % held.len()));
                        if let Some(leaving) = leaving.filter(|_| !waiting.is_empty()) {
                            drop(waiting.remove(leaving % waiting.len()));
                        }
                    }
                    Step::Leave(_) | Step::End(..) => {}
                }
                let mut still = Vec::new();
                for mut seen in waiting {
                    let Some(end) = polled(&mut seen.admitting) else {
                        still.push(seen);
                        continue;
                    };
                    held.push(end.unwrap());
                    for run in (0..RUNS).filter(|run| *run as RunNumber != seen.run) {
                        let overtaking = served[run] - seen.before[run];
                        prop_assert!(overtaking <= seen.ahead + 1, "{} > {}", overtaking, seen.ahead);
                    }
                    let earlier = |other: &Seen<'_>| other.run == seen.run;
                    prop_assert!(!still.iter().any(earlier), "first come, first served");
                    served[usize::try_from(seen.run).unwrap()] += 1;
                }
                waiting = still;
                prop_assert!(held.len() <= places as usize);
                prop_assert!(waiting.is_empty() || held.len() == places as usize);
                prop_assert_eq!(queue.state().waiting.len(), waiting.len());
                prop_assert_eq!(queue.state().free, u64::from(places) - held.len() as u64);
            }
        }
    }

    #[test]
    fn threads_that_come_wait_and_leave_at_once_lose_no_place() {
        const PLACES: u32 = 3;
        let queue = queue(PLACES, 1_000);
        std::thread::scope(|scope| {
            for run in 0..8 {
                let queue = &queue;
                scope.spawn(move || {
                    for turn in 0..500 {
                        let mut admitting = admitting(queue, run);
                        if (turn + run) % 3 == 0 {
                            drop(polled(&mut admitting));
                        } else {
                            drop(pollster::block_on(admitting).unwrap());
                        }
                    }
                });
            }
        });
        assert_eq!(queue.state().free, u64::from(PLACES));
        assert!(queue.state().waiting.is_empty());
    }

    #[test]
    fn a_thousand_waiters_of_one_run_are_passed_by_the_one_of_another() {
        let queue = queue(1, 10_000);
        let first = polled(&mut admitting(&queue, 0));
        let mut many: Vec<_> = (0..1_000).map(|_| admitting(&queue, 0)).collect();
        assert!(many.iter_mut().all(|waiter| polled(waiter).is_none()));
        let mut small = admitting(&queue, 1);
        assert!(polled(&mut small).is_none());
        drop(first);
        assert!(matches!(polled(&mut small), Some(Ok(_))));
    }

    #[test]
    fn no_places_count_as_one() {
        let queue = queue(0, 0);
        let held = polled(&mut admitting(&queue, 0));
        assert!(matches!(held, Some(Ok(_))));
        let refused = polled(&mut admitting(&queue, 0)).unwrap().err().unwrap();
        assert_eq!(
            refused.to_string(),
            "all 1 places for tests are taken, and 0 wait for one; try again when fewer are running"
        );
    }
}
