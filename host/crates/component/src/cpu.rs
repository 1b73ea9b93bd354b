//! Time of the guest: what a call computed, inside itself and in imports that end at once, without
//! waiting in imports and without the time that the machine or the guest itself gave to others.
//!
//! A call is polled; while it waits, its thread does something else. So time in an import counts as
//! long as nothing that is measured here was polled since: neither this call again nor one below it,
//! which counts for itself.

use std::cell::Cell;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use openprogram_core::guest::ComponentTotals;
use wasmtime::CallHook;

use crate::limits::{LimitReached, Limits};

/// Fed by the call hook, read by the epoch callback.
#[derive(Debug)]
pub(crate) struct CpuMeter {
    since: Duration,
    in_guest: bool,
    /// Imports that go on, one inside of another.
    imports: u32,
    /// The poll in which the last change was.
    poll: u64,
    used: Duration,
    beside: Beside,
    limit: Duration,
    /// What of `used` is in `totals` already.
    told: Duration,
    totals: Arc<ComponentTotals>,
    run_limit: Duration,
    resumed: Arc<AtomicU64>,
}

/// Time that a call computes on other threads, where what waits for the disk runs. Clones count
/// together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Beside(Arc<AtomicU64>);

impl Beside {
    /// Does this on this thread, and counts the time that it takes to compute.
    pub(crate) fn counted<T>(&self, work: impl FnOnce() -> T) -> T {
        let start = thread_time();
        let done = work();
        let took = nanos(thread_time().saturating_sub(start));
        self.0.fetch_add(took, Ordering::Relaxed);
        done
    }

    fn take(&self) -> Duration {
        Duration::from_nanos(self.0.swap(0, Ordering::Relaxed))
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// In [`CpuMeter::resumed`]: the guest gave nothing to others since the last look.
const NOT_RESUMED: u64 = u64::MAX;

impl CpuMeter {
    pub(crate) fn new(limits: &Limits, totals: Arc<ComponentTotals>) -> Self {
        Self {
            since: thread_time(),
            in_guest: false,
            imports: 0,
            poll: POLL.get(),
            used: Duration::ZERO,
            beside: Beside::default(),
            limit: Duration::from_millis(limits.cpu_ms),
            told: Duration::ZERO,
            totals,
            run_limit: Duration::from_millis(limits.run_cpu_ms),
            resumed: Arc::new(AtomicU64::new(NOT_RESUMED)),
        }
    }

    /// Counts from nothing again, for another call in the same store.
    pub(crate) fn begin(&mut self, totals: Arc<ComponentTotals>) {
        self.settle();
        self.tell();
        self.used = Duration::ZERO;
        self.told = Duration::ZERO;
        self.in_guest = false;
        self.imports = 0;
        self.totals = totals;
    }

    /// Counts the time since the last change to whoever had it.
    pub(crate) fn hook(&mut self, hook: CallHook) {
        self.settle();
        // Lowering arguments and lifting results run `realloc` of the guest, which has hooks of
        // its own, so both directions must be looked at.
        self.in_guest = hook.exiting_host();
        match hook {
            CallHook::CallingHost => self.imports += 1,
            CallHook::ReturningFromHost => self.imports = self.imports.saturating_sub(1),
            CallHook::CallingWasm | CallHook::ReturningFromWasm => {}
        }
    }

    /// Fails when the guest has used its time, or its component that of the run.
    pub(crate) fn check(&mut self) -> Result<(), LimitReached> {
        self.settle();
        let of_run = self.tell();
        let ms = |limit: Duration| u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        if self.used > self.limit {
            let limit = ms(self.limit);
            let message = format!("the function computed longer than {limit} ms");
            return Err(LimitReached::new("cpu_ms", limit, message));
        }
        if of_run > self.run_limit {
            let limit = ms(self.run_limit);
            let message = format!("the component computed longer than {limit} ms in one run");
            return Err(LimitReached::new("run_cpu_ms", limit, message));
        }
        Ok(())
    }

    /// Adds what is new to the time of the run; gives all of it.
    fn tell(&mut self) -> Duration {
        let more = self.used.saturating_sub(self.told);
        self.told = self.used;
        let more = nanos(more);
        let before = self.totals.cpu_ns.fetch_add(more, Ordering::Relaxed);
        Duration::from_nanos(before.saturating_add(more))
    }

    /// Lets other tasks run. The guest may go on in another thread, whose clock is another.
    pub(crate) fn pause(&self) -> impl Future<Output = ()> + Send + use<> {
        let resumed = Arc::clone(&self.resumed);
        async move {
            tokio::task::yield_now().await;
            let now = u64::try_from(thread_time().as_nanos()).unwrap_or(NOT_RESUMED - 1);
            resumed.store(now, Ordering::Relaxed);
        }
    }

    /// Where what the call computes on other threads is counted.
    pub(crate) fn beside(&self) -> Beside {
        self.beside.clone()
    }

    pub(crate) fn used(&mut self) -> Duration {
        self.settle();
        self.used
    }

    fn settle(&mut self) {
        let now = thread_time();
        // Only the pause of this very guest writes it, and that has ended.
        let resumed = self.resumed.load(Ordering::Relaxed);
        if resumed != NOT_RESUMED {
            self.resumed.store(NOT_RESUMED, Ordering::Relaxed);
            self.since = Duration::from_nanos(resumed);
        }
        let poll = POLL.get();
        let is_at_once = self.imports > 0 && self.poll == poll;
        if self.in_guest || is_at_once {
            self.used += now.saturating_sub(self.since);
        }
        self.used += self.beside.take();
        self.since = now;
        self.poll = poll;
    }
}

impl Drop for CpuMeter {
    /// What a call computed after its last look counts as well: many short ones come to much.
    fn drop(&mut self) {
        self.settle();
        self.tell();
    }
}

thread_local! {
    /// The poll of a call that this thread is in, or was in last. No two polls have the same number.
    static POLL: Cell<u64> = Cell::new(first_poll());
}

/// Each thread has numbers of its own, more than it comes to use.
fn first_poll() -> u64 {
    static THREADS: AtomicU64 = AtomicU64::new(0);
    THREADS.fetch_add(1, Ordering::Relaxed) << 44
}

/// Counts how often the future of a call is polled.
pub(crate) async fn polled<T>(call: impl Future<Output = T>) -> T {
    let mut call = pin!(call);
    std::future::poll_fn(|cx| {
        let next = || POLL.set(POLL.get().wrapping_add(1));
        next();
        let done = call.as_mut().poll(cx);
        // What is polled next by the same thread is not this call any more.
        next();
        done
    })
    .await
}

/// Time that this thread computed. A guest is inside its calls on one thread between two looks.
#[cfg(unix)]
fn thread_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// Time that passed, where the clock of a thread is not at hand: a busy machine counts as computing.
#[cfg(not(unix))]
fn thread_time() -> Duration {
    static START: std::sync::LazyLock<std::time::Instant> =
        std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meter(cpu_ms: u64) -> CpuMeter {
        let limits = Limits {
            cpu_ms,
            ..Limits::default()
        };
        CpuMeter::new(&limits, Arc::default())
    }

    fn spin(time: Duration) {
        let start = thread_time();
        while thread_time().saturating_sub(start) < time {
            std::hint::spin_loop();
        }
    }

    #[test]
    #[cfg(unix)]
    fn time_that_the_machine_gives_to_others_is_not_the_guests() {
        let mut meter = meter(20);
        meter.hook(CallHook::CallingWasm);
        // As a thread that waits for a core does.
        std::thread::sleep(Duration::from_millis(60));
        meter.check().unwrap();
        spin(Duration::from_millis(25));
        assert_eq!(meter.check().unwrap_err().which, "cpu_ms");
    }

    #[test]
    fn time_in_imports_that_end_at_once_is_the_guests() {
        let mut meter = meter(20);
        meter.hook(CallHook::CallingWasm);
        for _ in 0..10 {
            meter.hook(CallHook::CallingHost);
            spin(Duration::from_millis(1));
            // What comes back is put into its memory by a function of its own.
            meter.hook(CallHook::CallingWasm);
            meter.hook(CallHook::ReturningFromWasm);
            spin(Duration::from_millis(2));
            meter.hook(CallHook::ReturningFromHost);
        }
        assert_eq!(meter.check().unwrap_err().which, "cpu_ms");
    }

    #[test]
    fn time_in_the_host_and_before_a_resumption_is_not_the_guests() {
        let mut meter = meter(20);
        spin(Duration::from_millis(30));
        meter.hook(CallHook::CallingWasm);
        meter.hook(CallHook::CallingHost);
        // The import waits, and another call runs meanwhile.
        let mut other = Box::pin(polled(async { spin(Duration::from_millis(30)) }));
        let waker = std::task::Waker::noop();
        let ended = other
            .as_mut()
            .poll(&mut std::task::Context::from_waker(waker));
        assert!(ended.is_ready());
        meter.check().unwrap();
        meter.hook(CallHook::ReturningFromHost);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let pause = meter.pause();
        runtime.block_on(async {
            spin(Duration::from_millis(30));
            pause.await;
        });
        meter.check().unwrap();
    }

    #[test]
    fn what_is_computed_on_other_threads_is_the_guests() {
        let mut meter = meter(20);
        meter.hook(CallHook::CallingWasm);
        meter.hook(CallHook::CallingHost);
        let beside = meter.beside();
        let work = move || beside.counted(|| spin(Duration::from_millis(25)));
        std::thread::spawn(work).join().unwrap();
        assert_eq!(meter.check().unwrap_err().which, "cpu_ms");
    }

    #[test]
    fn calls_of_a_component_in_one_run_compute_so_long_together() {
        let limits = Limits {
            cpu_ms: 20,
            run_cpu_ms: 30,
            ..Limits::default()
        };
        let totals = Arc::<ComponentTotals>::default();
        let call = |ms| {
            let mut meter = CpuMeter::new(&limits, Arc::clone(&totals));
            meter.check().map_err(|reached| reached.which)?;
            meter.hook(CallHook::CallingWasm);
            spin(Duration::from_millis(ms));
            // It ends before anybody looks.
            Ok(())
        };
        assert_eq!(
            [call(16), call(16), call(1)],
            [Ok(()), Ok(()), Err("run_cpu_ms")]
        );
    }
}
