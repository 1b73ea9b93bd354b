//! The engine that compiles and runs components: configuration, the pool of slots, the ticker.
//!
//! Nothing is built before the first compilation or call, so that lists cost nothing. When the
//! system has no room for the pool, the engine falls back to memory on demand and says so.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};
use wasmtime::component::Linker;
use wasmtime::{Config, InstanceAllocationStrategy, PoolingAllocationConfig};

use crate::cache::CacheFolder;
use crate::compile::Compilations;
use crate::error::EngineError;
use crate::limits::{LimitReached, Limits};
use crate::linking;
use crate::state::CallState;
use crate::ticker::{Running, Ticker};

/// Slots of their own for guests that call nothing (deciders, metadata), so that they can wait
/// for one without ever waiting for themselves.
const LEAF_SLOTS: u32 = 16;
/// Instances that live on between calls, of all sessions. Each keeps its memory.
pub(crate) const LIVE_INSTANCES: u32 = 16;
/// Address space of one memory where the pool does not fit.
const SMALL_RESERVATION: u64 = 64 << 20;
/// Native stack of a guest. Hosts see recursion beyond it as a trap.
const GUEST_STACK_BYTES: usize = 512 << 10;
/// Stack of the fiber on which guest and host functions run; the host has the difference.
const FIBER_STACK_BYTES: usize = 2 << 20;
/// Memories, tables and core instances per slot. Components of one language need 1, 1 and 4.
const MEMORIES_PER_SLOT: u32 = 2;
const TABLES_PER_SLOT: u32 = 4;
const CORE_INSTANCES_PER_SLOT: u32 = 8;
/// Elements of one table; limits of single calls are cut to it.
const TABLE_ELEMENTS_MAX: u32 = 100_000;
/// Host bytes that describe one instance; interpreters of other languages need up to 10 MiB.
const INSTANCE_BYTES_MAX: usize = 10 << 20;

/// How the engine is set up.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// Calls alive at once, those that wait in an import included. Top-level calls beyond it
    /// wait, nested ones fail with the limit `instances`.
    pub slots: u32,
    /// The largest memory of a component; limits of single calls are cut to it.
    pub memory_bytes_max: u64,
    /// The folder of compiled images and learned facts. `None` keeps nothing.
    pub cache_folder: Option<PathBuf>,
    /// The largest component that is compiled, in bytes.
    pub component_bytes_max: u64,
    /// Components that are compiled at once.
    pub compilations: u32,
    /// How long one compilation may take (`compile_ms`).
    pub compile_time: Duration,
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self {
            slots: 64,
            memory_bytes_max: 256 << 20,
            cache_folder: None,
            // Interpreters of other languages ship 10 to 40 MiB.
            component_bytes_max: 64 << 20,
            compilations: 2,
            // The largest interpreters take some seconds; a build without optimisations of this
            // program, on a busy machine, many times that.
            compile_time: Duration::from_secs(120),
        }
    }
}

/// How often the cache helped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheCounts {
    /// Images that were found and taken.
    pub hits: u64,
    /// Images that were compiled.
    pub misses: u64,
}

/// What an engine has given out and not got back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InUse {
    /// Calls that hold a slot, guests that call nothing included.
    pub calls: usize,
    /// Core instances in the pool; 0 where memory comes on demand, as for the next ones.
    pub core_instances: u64,
    /// Component instances in the pool.
    pub component_instances: u64,
    /// Memories in the pool.
    pub memories: usize,
    /// Tables in the pool.
    pub tables: usize,
    /// Stacks in the pool.
    pub stacks: usize,
}

/// Compiles and runs components. Clones share everything.
#[derive(Clone)]
pub struct Engine(Arc<Inner>);

struct Inner {
    options: EngineOptions,
    built: OnceLock<Result<Built, EngineError>>,
    cache: OnceLock<Result<Option<CacheFolder>, EngineError>>,
    top: Semaphore,
    leaf: Semaphore,
    live: Arc<Semaphore>,
    compile: Compilations,
    hits: AtomicU64,
    misses: AtomicU64,
    /// Components that were compiled though there is an image of them for another engine.
    renewed: AtomicU64,
}

/// What exists once something was compiled or called.
pub(crate) struct Built {
    pub(crate) wasmtime: wasmtime::Engine,
    pub(crate) linker: Linker<CallState>,
    ticker: Ticker,
    notice: Option<String>,
}

/// Which slots a call takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    /// A call without a caller: it waits for a slot.
    Top,
    /// A call below another one: its caller holds a slot, so it may not wait.
    Nested,
    /// A guest that cannot call anything: it waits for one of the slots kept for these.
    Leaf,
}

impl Engine {
    /// An engine that is built when it is first needed.
    #[must_use]
    pub fn new(options: EngineOptions) -> Self {
        let permits = |n: u32| Semaphore::new((n as usize).clamp(1, Semaphore::MAX_PERMITS));
        Self(Arc::new(Inner {
            top: permits(options.slots),
            leaf: permits(LEAF_SLOTS),
            live: Arc::new(permits(LIVE_INSTANCES)),
            compile: Compilations::new(options.compilations, options.compile_time),
            options,
            built: OnceLock::new(),
            cache: OnceLock::new(),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
            renewed: AtomicU64::new(0),
        }))
    }

    /// What a person should know about this engine, once it was built: that it runs without the
    /// pool and why, and that components were compiled anew.
    #[must_use]
    pub fn notice(&self) -> Option<String> {
        let built = self.0.built.get()?.as_ref().ok()?;
        let renewed = match self.0.renewed.load(Ordering::Relaxed) {
            0 => None,
            1 => Some("1 component was".to_owned()),
            n => Some(format!("{n} components were")),
        };
        let renewed = renewed.map(|which| {
            format!(
                "{which} compiled anew, once: what was compiled before is for another version or other \
                 settings of the engine"
            )
        });
        let notices: Vec<_> = built.notice.iter().cloned().chain(renewed).collect();
        (!notices.is_empty()).then(|| notices.join("; "))
    }

    /// Whether something was compiled or called, or tried to be.
    #[must_use]
    pub fn is_built(&self) -> bool {
        self.0.built.get().is_some()
    }

    /// Builds the engine now, which the first call would do otherwise. It blocks for some
    /// milliseconds.
    ///
    /// # Errors
    /// When the system has no room for it.
    pub fn start(&self) -> Result<(), EngineError> {
        self.built().map(drop)
    }

    /// How often the cache of compiled images helped.
    #[must_use]
    pub fn cache_counts(&self) -> CacheCounts {
        CacheCounts {
            hits: self.0.hits.load(Ordering::Relaxed),
            misses: self.0.misses.load(Ordering::Relaxed),
        }
    }

    /// What is given out now. Nothing, when nothing runs.
    #[must_use]
    pub fn in_use(&self) -> InUse {
        let inner = &self.0;
        let taken = |all: u32, free: &Semaphore| {
            (all.max(1) as usize).saturating_sub(free.available_permits())
        };
        let calls = taken(inner.options.slots, &inner.top) + taken(LEAF_SLOTS, &inner.leaf);
        let built = inner.built.get().and_then(|built| built.as_ref().ok());
        let pool = built.and_then(|built| built.wasmtime.pooling_allocator_metrics());
        let Some(pool) = pool else {
            return InUse {
                calls,
                ..InUse::default()
            };
        };
        InUse {
            calls,
            core_instances: pool.core_instances(),
            component_instances: pool.component_instances(),
            memories: pool.memories(),
            tables: pool.tables(),
            stacks: pool.stacks(),
        }
    }

    /// The limits as this engine can hold them: a slot of the pool has a size.
    pub(crate) fn held(&self, mut limits: Limits) -> Arc<Limits> {
        limits.memory_bytes = limits.memory_bytes.min(self.0.options.memory_bytes_max);
        limits.table_elements = limits.table_elements.min(TABLE_ELEMENTS_MAX.into());
        Arc::new(limits)
    }

    /// How the engine is set up.
    #[must_use]
    pub fn options(&self) -> &EngineOptions {
        &self.0.options
    }

    /// The engine itself; built by the first caller, which blocks for some milliseconds.
    pub(crate) fn built(&self) -> Result<&Built, EngineError> {
        let built = self.0.built.get_or_init(|| build(&self.0.options));
        built.as_ref().map_err(Clone::clone)
    }

    /// The cache folder, opened and checked by the first caller.
    pub(crate) fn cache(&self) -> Result<Option<&CacheFolder>, EngineError> {
        let opened = self.0.cache.get_or_init(|| {
            let folder = self.0.options.cache_folder.as_deref();
            let opened = folder.map(CacheFolder::open).transpose();
            opened.map_err(|error| EngineError::Cache(Arc::new(error)))
        });
        opened.as_ref().map(Option::as_ref).map_err(Clone::clone)
    }

    pub(crate) fn count_hit(&self) {
        self.0.hits.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a component of which there is an image for another engine.
    pub(crate) fn count_renewed(&self) {
        self.0.renewed.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_miss(&self) {
        self.0.misses.fetch_add(1, Ordering::Relaxed);
    }

    /// The compilations of this engine.
    pub(crate) fn compilations(&self) -> &Compilations {
        &self.0.compile
    }

    /// Takes a slot for one call.
    pub(crate) async fn slot(&self, lane: Lane) -> Result<SemaphorePermit<'_>, LimitReached> {
        let full = || {
            let slots = u64::from(self.0.options.slots);
            let message = format!("all {slots} slots for running functions are taken");
            LimitReached::new("instances", slots, message)
        };
        match lane {
            Lane::Top => self.0.top.acquire().await.map_err(|_| full()),
            Lane::Nested => self.0.top.try_acquire().map_err(|_| full()),
            Lane::Leaf => self.0.leaf.acquire().await.map_err(|_| full()),
        }
    }

    /// A place for one more instance that lives on; `None` when all are taken.
    pub(crate) fn live_permit(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.0.live).try_acquire_owned().ok()
    }
}

impl Built {
    /// Keeps the ticker going while the guard lives.
    pub(crate) fn running(&self) -> Running<'_> {
        self.ticker.running()
    }
}

fn build(options: &EngineOptions) -> Result<Built, EngineError> {
    let (wasmtime, notice) = match wasmtime::Engine::new(&pooled(options)) {
        Ok(engine) => (engine, None),
        Err(pool) => {
            let notice = format!(
                "no room for a pool of {} slots ({}); running with memory on demand, which is \
                 slower",
                options.slots,
                first_line(&pool)
            );
            let engine = wasmtime::Engine::new(&on_demand())
                .map_err(|error| EngineError::Start(first_line(&error)))?;
            (engine, Some(notice))
        }
    };
    let linker =
        linking::linker(&wasmtime).map_err(|error| EngineError::Start(first_line(&error)))?;
    let ticker = Ticker::start(&wasmtime).map_err(|error| EngineError::Start(error.to_string()))?;
    Ok(Built {
        wasmtime,
        linker,
        ticker,
        notice,
    })
}

fn first_line(error: &wasmtime::Error) -> String {
    format!("{error:#}").lines().next().unwrap_or("").to_owned()
}

/// What every engine of ours has in common.
fn common() -> Config {
    let mut config = Config::new();
    config.concurrency_support(false);
    config.epoch_interruption(true);
    config.wasm_component_model_map(true);
    config.wasm_component_model_fixed_length_lists(true);
    config.max_wasm_stack(GUEST_STACK_BYTES);
    config.async_stack_size(FIBER_STACK_BYTES);
    config
}

fn pooled(options: &EngineOptions) -> Config {
    let slots = options.slots.saturating_add(LEAF_SLOTS + LIVE_INSTANCES);
    let memory_bytes = usize::try_from(options.memory_bytes_max).unwrap_or(usize::MAX);
    let mut pool = PoolingAllocationConfig::default();
    pool.total_component_instances(slots);
    pool.total_stacks(slots);
    pool.total_core_instances(slots.saturating_mul(CORE_INSTANCES_PER_SLOT));
    pool.total_memories(slots.saturating_mul(MEMORIES_PER_SLOT));
    pool.total_tables(slots.saturating_mul(TABLES_PER_SLOT));
    pool.max_memory_size(memory_bytes);
    pool.max_component_instance_size(INSTANCE_BYTES_MAX);
    pool.max_core_instance_size(INSTANCE_BYTES_MAX);
    pool.table_elements(TABLE_ELEMENTS_MAX as usize);
    pool.max_tables_per_module(4);
    let mut config = common();
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    config
}

fn on_demand() -> Config {
    let mut config = common();
    config.memory_reservation(SMALL_RESERVATION);
    config.memory_reservation_for_growth(SMALL_RESERVATION);
    config
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_built_before_it_is_needed() {
        let engine = Engine::new(EngineOptions::default());
        assert!(!engine.is_built());
        assert_eq!(engine.notice(), None);
    }

    #[test]
    fn without_room_for_the_pool_memory_comes_on_demand_with_a_notice() {
        let engine = Engine::new(EngineOptions {
            slots: u32::MAX,
            ..EngineOptions::default()
        });
        assert!(engine.built().is_ok());
        let notice = engine.notice().unwrap();
        assert!(
            notice.starts_with("no room for a pool of 4294967295 slots ("),
            "{notice}"
        );
    }
}
