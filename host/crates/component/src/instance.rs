//! One call: one store, one instance, all limits set, thrown away afterwards.
//!
//! The component model forbids entering an instance that waits, and a fresh one cannot see
//! anything of an earlier call.

use std::sync::Arc;
use std::time::{Duration, Instant};

use openprogram_core::guest::{CallError, CallReport, ComponentTotals, HostServices};
use wasmtime::Store;

use crate::cpu;
use crate::engine::{Engine, Lane};
use crate::limits::{LimitReached, Limits};
use crate::reach::Reach;
use crate::state::{self, CallState};
use crate::trap;

/// A call to be made.
pub(crate) struct Job {
    pub(crate) limits: Arc<Limits>,
    pub(crate) services: Option<Arc<dyn HostServices>>,
    /// What the component may touch.
    pub(crate) reach: Arc<Reach>,
    pub(crate) lane: Lane,
    /// What the calls of its component did in the same run.
    pub(crate) totals: Arc<ComponentTotals>,
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
    let folders = match job.reach.folders.open() {
        Ok(folders) => folders,
        Err(error) => return failed(error),
    };
    let mut store = state::store(
        &built.wasmtime,
        job.limits,
        job.services,
        &job.reach,
        folders,
        job.totals,
    );
    within(&mut store, started, wall, work).await
}

/// Runs `work` in a store that is there, within the limits of one call which started then.
pub(crate) async fn within<T>(
    store: &mut Store<CallState>,
    started: Instant,
    wall: u64,
    work: impl AsyncFnOnce(&mut Store<CallState>) -> Result<T, Stop>,
) -> (Result<T, CallError>, CallReport) {
    // A short call ends before it is looked at, so one without any time left is not begun.
    if let Err(reached) = store.data_mut().check_cpu() {
        return failed(reached.into());
    }
    let turns = store.data().turns.clone();
    let left = Duration::from_millis(wall).saturating_sub(started.elapsed());
    let work = turns.beside(cpu::polled(work(store)));
    let timed = tokio::time::timeout(left, work).await;
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
