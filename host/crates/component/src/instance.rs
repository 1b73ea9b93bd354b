//! One call: one store, one instance, all limits set, thrown away afterwards.
//!
//! The component model forbids entering an instance that waits, and a fresh one cannot see
//! anything of an earlier call.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use openprogram_core::guest::{CallError, CallReport, HostServices};
use wasmtime::component::ResourceTable;
use wasmtime::{Store, UpdateDeadline};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

use crate::engine::{Built, Engine, Lane};
use crate::limits::{CpuMeter, LimitReached, Limits, MemoryMeter};
use crate::log::Log;
use crate::trap;

/// Host memory that a handle of a table may take before the limit on handles is reached.
fn capacity(limit: u64) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}

/// The state of one store.
pub(crate) struct CallState {
    pub(crate) table: ResourceTable,
    pub(crate) limits: Arc<Limits>,
    /// `None` for a guest without any grant.
    pub(crate) services: Option<Arc<dyn HostServices>>,
    wasi: WasiCtx,
    cpu: CpuMeter,
    memory: MemoryMeter,
    log: Log,
    /// Time that the guest gave to others since the last look, in nanoseconds.
    yielded: Arc<AtomicU64>,
}

impl WasiView for CallState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}

impl CallState {
    fn new(limits: Arc<Limits>, services: Option<Arc<dyn HostServices>>) -> Self {
        let log = Log::new(limits.log_bytes);
        let mut wasi = WasiCtx::builder();
        wasi.stdout(log.clone()).stderr(log.clone());
        wasi.max_random_size(limits.random_bytes);
        let mut table = ResourceTable::new();
        table.set_max_capacity(capacity(limits.handles));
        Self {
            table,
            services,
            wasi: wasi.build(),
            cpu: CpuMeter::new(limits.cpu_ms),
            memory: MemoryMeter::new(&limits),
            log,
            yielded: Arc::new(AtomicU64::new(0)),
            limits,
        }
    }

    /// The first growth of memory that was refused.
    pub(crate) fn memory_refused(&self) -> Option<&LimitReached> {
        self.memory.refused()
    }

    fn check_cpu(&mut self) -> Result<(), LimitReached> {
        let yielded = self.yielded.swap(0, Ordering::Relaxed);
        self.cpu.check(Duration::from_nanos(yielded))
    }

    fn report(&mut self, started: Instant) -> CallReport {
        let yielded = Duration::from_nanos(self.yielded.swap(0, Ordering::Relaxed));
        let (log, log_bytes) = self.log.take();
        CallReport {
            cpu_us: micros(self.cpu.used(yielded)),
            wall_us: micros(started.elapsed()),
            memory_bytes: self.memory.bytes_most(),
            log,
            log_bytes,
        }
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// A call to be made.
pub(crate) struct Job {
    pub(crate) limits: Arc<Limits>,
    pub(crate) services: Option<Arc<dyn HostServices>>,
    pub(crate) lane: Lane,
}

/// Runs `work` in a fresh store, with a slot and within the limits.
///
/// `work` instantiates and calls; its wasmtime errors come back as the limit or trap they mean.
/// Dropping the future stops the guest and frees its slot.
pub(crate) async fn run<T>(
    engine: &Engine,
    job: Job,
    work: impl AsyncFnOnce(&mut Store<CallState>) -> Result<T, Stop>,
) -> (Result<T, CallError>, CallReport) {
    let built = match engine.built() {
        Ok(built) => built,
        Err(error) => return failed(CallError::Internal(error.to_string())),
    };
    let _slot = match engine.slot(job.lane).await {
        Ok(slot) => slot,
        Err(reached) => return failed(reached.into()),
    };
    let _running = built.running();
    let started = Instant::now();
    let wall = job.limits.wall_ms;
    let mut store = store(built, job);
    let timed = tokio::time::timeout(Duration::from_millis(wall), work(&mut store)).await;
    let result = match timed {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(Stop::Call(error))) => Err(error),
        Ok(Err(Stop::Wasmtime(error))) => Err(trap::call_error(&error, store.data())),
        Err(_) => Err(LimitReached::new(
            "wall_ms",
            wall,
            format!("the function took longer than {wall} ms"),
        )
        .into()),
    };
    let report = store.data_mut().report(started);
    (result, report)
}

/// Why a call stopped before it had a result.
pub(crate) enum Stop {
    /// Known already.
    Call(CallError),
    /// To be explained by the state of the store.
    Wasmtime(wasmtime::Error),
}

impl From<wasmtime::Error> for Stop {
    fn from(error: wasmtime::Error) -> Self {
        Self::Wasmtime(error)
    }
}

impl From<CallError> for Stop {
    fn from(error: CallError) -> Self {
        Self::Call(error)
    }
}

fn failed<T>(error: CallError) -> (Result<T, CallError>, CallReport) {
    (Err(error), CallReport::default())
}

fn store(built: &Built, job: Job) -> Store<CallState> {
    let state = CallState::new(job.limits, job.services);
    let (hostcall_bytes, handles) = (state.limits.hostcall_bytes, state.limits.handles);
    let mut store = Store::new(&built.wasmtime, state);
    store.limiter(|state| &mut state.memory);
    store.set_hostcall_fuel(capacity(hostcall_bytes));
    store.set_max_component_handles(capacity(handles));
    store.call_hook(|mut cx, hook| {
        let state = cx.data_mut();
        let yielded = state.yielded.load(Ordering::Relaxed);
        if yielded > 0 {
            // Only the yield of this very guest adds to it, and that has ended.
            state.yielded.store(0, Ordering::Relaxed);
        }
        state.cpu.hook(hook, Duration::from_nanos(yielded));
        Ok(())
    });
    // An epoch is only the occasion to look at the meter: its deadline counts time in imports.
    store.set_epoch_deadline(1);
    store.epoch_deadline_callback(|mut cx| {
        let state = cx.data_mut();
        state.check_cpu()?;
        let pause = pause(Arc::clone(&state.yielded));
        Ok(UpdateDeadline::YieldCustom(1, Box::pin(pause)))
    });
    store
}

/// Lets other tasks run, and counts the time they take, so that it is not the guest's.
fn pause(yielded: Arc<AtomicU64>) -> impl Future<Output = ()> + Send {
    let since = Instant::now();
    async move {
        tokio::task::yield_now().await;
        let nanos = u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX);
        yielded.fetch_add(nanos, Ordering::Relaxed);
    }
}
