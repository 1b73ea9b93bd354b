//! The state of one store: what a guest holds, uses up and may ask.

use std::sync::Arc;
use std::time::{Duration, Instant};

use openprogram_core::function::RuntimeRef;
use openprogram_core::guest::{CallReport, ComponentTotals, HostServices};
use wasmtime::component::ResourceTable;
use wasmtime::{CallHook, Store, UpdateDeadline};
use wasmtime_wasi::filesystem::WasiFilesystemCtxView;
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};
use wasmtime_wasi_http::{WasiHttpCtxView, WasiHttpView};

use crate::counters::Counters;
use crate::cpu::CpuMeter;
use crate::files::{Files, FilesView, OpenFolders};
use crate::handles::RuntimeHandle;
use crate::http::{HttpCall, HttpState};
use crate::limits::{LimitReached, Limits, MemoryMeter};
use crate::links::Links;
use crate::log::Log;
use crate::reach::Reach;
use crate::started::RunningTurns;

/// The state of one store.
pub(crate) struct CallState {
    pub(crate) table: ResourceTable,
    pub(crate) limits: Arc<Limits>,
    /// `None` for a guest without any grant.
    pub(crate) services: Option<Arc<dyn HostServices>>,
    /// Who serves what it imports from other components.
    pub(crate) links: Arc<Links>,
    /// Bytes that the turns being prepared hold.
    pub(crate) turn_bytes: u64,
    /// The turns that go on beside the function.
    pub(crate) turns: RunningTurns,
    /// How many turns it holds, over or not.
    pub(crate) n_turns: u64,
    /// How much all menus and picks hold.
    pub(crate) menu_bytes: u64,
    /// What the call did beyond itself.
    pub(crate) counters: Counters,
    /// The number of the call, where the store has several.
    pub(crate) call: u64,
    host_calls: u64,
    wasi: WasiCtx,
    files: Files,
    http: HttpState,
    cpu: CpuMeter,
    memory: MemoryMeter,
    log: Log,
}

impl WasiView for CallState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}

impl WasiHttpView for CallState {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        self.http.view(&mut self.table)
    }
}

impl CallState {
    fn new(
        limits: Arc<Limits>,
        services: Option<Arc<dyn HostServices>>,
        reach: &Reach,
        folders: Arc<OpenFolders>,
        totals: Arc<ComponentTotals>,
    ) -> Self {
        let log = Log::new(limits.log_bytes);
        let mut wasi = WasiCtx::builder();
        wasi.stdout(log.clone()).stderr(log.clone());
        wasi.max_random_size(limits.random_bytes);
        // So it is without saying; sockets are refused before this is asked.
        wasi.allow_tcp(false);
        wasi.allow_udp(false);
        wasi.allow_ip_name_lookup(false);
        for (name, value) in &reach.permissions.variables {
            wasi.env(name, value);
        }
        note_env_uses(services.as_deref(), reach);
        let mut table = ResourceTable::new();
        table.set_max_capacity(whole(limits.handles));
        let counters = Counters::new(&limits, Arc::clone(&totals));
        let cpu = CpuMeter::new(&limits, Arc::clone(&totals));
        let files = Files::new(
            folders,
            counters.clone(),
            Arc::clone(&limits),
            services.clone(),
            cpu.beside(),
        );
        let http = HttpCall::new(
            &reach.permissions,
            &reach.patterns,
            Arc::clone(&limits),
            services.clone(),
            counters.clone(),
        );
        Self {
            table,
            services,
            links: Arc::clone(&reach.permissions.links),
            turn_bytes: 0,
            turns: RunningTurns::default(),
            n_turns: 0,
            menu_bytes: 0,
            counters,
            call: 0,
            host_calls: 0,
            wasi: wasi.build(),
            files,
            http: HttpState::new(http),
            cpu,
            memory: MemoryMeter::new(&limits, totals),
            log,
            limits,
        }
    }

    /// Begins another call in the same store: everything that holds for one call is that of the new
    /// one, and what the guest holds stays.
    pub(crate) fn begin(
        &mut self,
        services: Arc<dyn HostServices>,
        reach: &Reach,
        totals: Arc<ComponentTotals>,
    ) {
        note_env_uses(Some(&*services), reach);
        self.call += 1;
        self.host_calls = 0;
        self.log.begin();
        self.counters.begin(Arc::clone(&totals));
        self.cpu.begin(Arc::clone(&totals));
        self.memory.begin(totals);
        self.set_services(Some(services));
    }

    /// Ends a call after which the store goes on. Nobody is asked and told anything until the next one.
    pub(crate) fn end(&mut self) {
        self.set_services(None);
    }

    fn set_services(&mut self, services: Option<Arc<dyn HostServices>>) {
        self.files.begin(services.clone());
        self.http.call().begin(services.clone());
        self.services = services;
    }

    /// A handle of a runtime for this call.
    pub(crate) fn runtime_handle(&self, runtime: RuntimeRef) -> RuntimeHandle {
        RuntimeHandle {
            runtime,
            call: self.call,
        }
    }

    /// The files that it may reach.
    pub(crate) fn files(&mut self) -> FilesView<'_> {
        FilesView {
            wasi: WasiFilesystemCtxView {
                ctx: self.wasi.filesystem(),
                table: &mut self.table,
            },
            files: &mut self.files,
        }
    }

    /// The first growth of memory that was refused.
    pub(crate) fn memory_refused(&self) -> Option<&LimitReached> {
        self.memory.refused()
    }

    /// The end of what it has printed, in so many bytes.
    pub(crate) fn last_words(&self, bytes_max: usize) -> String {
        self.log.end(bytes_max)
    }

    /// Follows the guest in and out; a call of the host is counted.
    fn cross(&mut self, hook: CallHook) -> Result<(), LimitReached> {
        self.cpu.hook(hook);
        if !matches!(hook, CallHook::CallingHost) {
            return Ok(());
        }
        let max = self.limits.host_calls;
        if self.host_calls >= max {
            let message = format!("the function called the host more than {max} times");
            return Err(LimitReached::new("host_calls", max, message));
        }
        self.host_calls += 1;
        Ok(())
    }

    /// Fails when nothing is left of the time to compute.
    pub(crate) fn check_cpu(&mut self) -> Result<(), LimitReached> {
        self.cpu.check()
    }

    /// What the call cost so far.
    pub(crate) fn report(&mut self, started: Instant) -> CallReport {
        let (log, log_bytes) = self.log.take();
        CallReport {
            cpu_us: micros(self.cpu.used()),
            wall_us: micros(started.elapsed()),
            memory_bytes: self.memory.bytes_most(),
            log: self.http.call().clean(log),
            log_bytes,
            host_calls: self.host_calls,
            egress_bytes: self.counters.egress_bytes(),
            ingress_bytes: self.counters.ingress_bytes(),
            written_bytes: self.counters.written_bytes(),
        }
    }
}

/// A guest has its variables from the start, and what it looks at is not seen.
fn note_env_uses(services: Option<&dyn HostServices>, reach: &Reach) {
    if let Some(services) = services {
        let uses = reach.env_uses.iter();
        uses.for_each(|used| services.note(used.clone()));
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// A store with all its limits set.
pub(crate) fn store(
    engine: &wasmtime::Engine,
    limits: Arc<Limits>,
    services: Option<Arc<dyn HostServices>>,
    reach: &Reach,
    folders: Arc<OpenFolders>,
    totals: Arc<ComponentTotals>,
) -> Store<CallState> {
    let state = CallState::new(limits, services, reach, folders, totals);
    let (hostcall_bytes, handles) = (state.limits.hostcall_bytes, state.limits.handles);
    let mut store = Store::new(engine, state);
    store.limiter(|state| &mut state.memory);
    store.set_hostcall_fuel(whole(hostcall_bytes));
    store.set_max_component_handles(whole(handles));
    store.call_hook(|mut cx, hook| Ok(cx.data_mut().cross(hook)?));
    // An epoch is only the occasion to look at the meter: its deadline counts time in imports.
    store.set_epoch_deadline(1);
    store.epoch_deadline_callback(|mut cx| {
        let state = cx.data_mut();
        // The look itself crosses into the host, and is none of the guest's doing.
        state.host_calls = state.host_calls.saturating_sub(1);
        let cpu = &mut state.cpu;
        cpu.check()?;
        let pause = cpu.pause();
        Ok(UpdateDeadline::YieldCustom(1, Box::pin(pause)))
    });
    store
}

fn whole(limit: u64) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}
