//! A component in wasmtime as it comes: no limits, no accounting, no recording, no JSON.

use anyhow::{Context, Result, anyhow};
use wasmtime::component::{
    Component, ComponentExportIndex, InstancePre, Linker, ResourceTable, Val,
};
use wasmtime::{Config, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, Store};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

/// One function of a component that is ready to be instantiated.
pub(super) struct Bare {
    engine: Engine,
    pre: InstancePre<State>,
    function: ComponentExportIndex,
}

struct State {
    table: ResourceTable,
    wasi: WasiCtx,
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}

fn failed(error: wasmtime::Error) -> anyhow::Error {
    anyhow!("bare wasmtime: {error:?}")
}

impl Bare {
    /// Compiles the component with the engine settings that the host uses too.
    pub(super) fn new(bytes: &[u8], interface: &str, function: &str) -> Result<Self> {
        let mut config = Config::new();
        config.concurrency_support(false);
        config.wasm_component_model_map(true);
        config.wasm_component_model_fixed_length_lists(true);
        let pool = PoolingAllocationConfig::default();
        config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
        let engine = Engine::new(&config).map_err(failed)?;
        let component = Component::from_binary(&engine, bytes).map_err(failed)?;
        let mut linker = Linker::new(&engine);
        wasmtime_wasi::p2::add_to_linker_async(&mut linker).map_err(failed)?;
        // Imports of the contract are there for nothing: what is called here uses none of them. They
        // stand in the way of WASI in other patch versions, so they are made only where needed.
        if linker.instantiate_pre(&component).is_err() {
            linker
                .define_unknown_imports_as_traps(&component)
                .map_err(failed)?;
        }
        let pre = linker.instantiate_pre(&component).map_err(failed)?;
        let exported = pre.component();
        let (_, interface) = exported
            .get_export(None, interface)
            .context("the interface")?;
        let function = exported
            .get_export_index(Some(&interface), function)
            .context("the function")?;
        Ok(Self {
            engine,
            pre,
            function,
        })
    }

    /// A fresh store and instance, and one call.
    pub(super) async fn call(&self, wasi: WasiCtx, arguments: &[Val]) -> Result<Val> {
        let state = State {
            table: ResourceTable::new(),
            wasi,
        };
        let mut store = Store::new(&self.engine, state);
        let instance = self.pre.instantiate_async(&mut store).await;
        let instance = instance.map_err(failed)?;
        let function = instance.get_func(&mut store, self.function);
        let function = function.context("the function")?;
        let mut results = [Val::Bool(false)];
        let called = function
            .call_async(&mut store, arguments, &mut results)
            .await;
        called.map_err(failed)?;
        let [result] = results;
        Ok(result)
    }
}
