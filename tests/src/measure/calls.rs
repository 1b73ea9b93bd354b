//! One call: bare wasmtime doing instantiate and call, against JSON in, fresh instance, JSON out.

use std::sync::Arc;

use anyhow::{Context, Result, anyhow};
use async_trait::async_trait;
use openprogram_component::{ComponentHost, Limits};
use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::function::{FunctionRef, RuntimeRef};
use openprogram_core::guest::{
    DecisionRequest, FunctionCall, FunctionHost, HostServices, PickedOption,
};
use openprogram_core::{Json, JsonObject};
use openprogram_tests::guests;
use openprogram_tests::host::{TestHost, engine, load};
use serde_json::json;
use wasmtime::component::{Component, InstancePre, Linker, ResourceTable, Val};
use wasmtime::{Config, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, Store};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

use crate::table::{Timing, heading, line, time_async, wanted};

/// Calls that are timed in each line.
const RUNS: usize = 5_000;

/// The interface, the function and the argument that both sides call.
const INTERFACE: &str = "test:every-type/echo@0.1.0";

struct Bare {
    table: ResourceTable,
    wasi: WasiCtx,
}

impl WasiView for Bare {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}

/// The same component in an engine without limits, recording or JSON.
fn bare() -> Result<(Engine, InstancePre<Bare>)> {
    let mut config = Config::new();
    config.concurrency_support(false);
    config.wasm_component_model_map(true);
    config.wasm_component_model_fixed_length_lists(true);
    let pool = PoolingAllocationConfig::default();
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    let bare = |error: wasmtime::Error| anyhow!("bare wasmtime: {error:?}");
    let engine = Engine::new(&config).map_err(bare)?;
    let component = Component::from_binary(&engine, &guests::bytes("every-type")).map_err(bare)?;
    let mut linker = Linker::new(&engine);
    wasmtime_wasi::p2::add_to_linker_async(&mut linker).map_err(bare)?;
    linker
        .define_unknown_imports_as_traps(&component)
        .map_err(bare)?;
    let pre = linker.instantiate_pre(&component).map_err(bare)?;
    Ok((engine, pre))
}

async fn time_bare(function: &str, argument: Val) -> Result<Timing> {
    let (engine, pre) = bare()?;
    let (_, interface) = pre
        .component()
        .get_export(None, INTERFACE)
        .context("the interface")?;
    let index = pre
        .component()
        .get_export_index(Some(&interface), function)
        .context("the function")?;
    let arguments = [argument];
    Ok(time_async(RUNS, || async {
        let state = Bare {
            table: ResourceTable::new(),
            wasi: WasiCtx::builder().build(),
        };
        let mut store = Store::new(&engine, state);
        let instance = pre
            .instantiate_async(&mut store)
            .await
            .expect("an instance");
        let function = instance.get_func(&mut store, index).expect("a function");
        let mut results = [Val::Bool(false)];
        function
            .call_async(&mut store, &arguments, &mut results)
            .await
            .expect("a result");
        std::hint::black_box(&results);
    })
    .await)
}

async fn time_ours(function: &str, arguments: &str) -> Result<Timing> {
    let component = load("every-type", guests::bytes("every-type")).await?;
    let function: FunctionRef = component
        .functions()
        .iter()
        .find(|known| known.name.function == function)
        .cloned()
        .map(Arc::new)
        .context("the function")?;
    let mut host = ComponentHost::new(engine().clone(), Limits::default());
    host.add(component);
    let services: Arc<dyn HostServices> = Arc::new(NoServices);
    let (host, function, services) = (&host, &function, &services);
    Ok(time_async(RUNS, || async move {
        let arguments: JsonObject = serde_json::from_str(arguments).expect("arguments");
        let call = FunctionCall {
            function: Arc::clone(function),
            arguments,
            services: Arc::clone(services),
            depth: 0,
        };
        let outcome = host.call(call).await;
        std::hint::black_box(outcome.result.expect("a result").to_string());
    })
    .await)
}

async fn time_recorded(function: &str, arguments: &Json) -> Timing {
    let host = TestHost::new().guest("every-type").start().await;
    let host = &host;
    time_async(RUNS / 5, || async move {
        let result = host.call(function, arguments.clone()).await;
        std::hint::black_box(result.expect("a result"));
    })
    .await
}

pub(super) async fn measure() -> Result<()> {
    let corner = Val::Record(vec![
        ("x".to_owned(), Val::S32(1)),
        ("y".to_owned(), Val::S32(2)),
        ("type".to_owned(), Val::Option(None)),
    ]);
    for (title, function, argument, json) in [
        (
            "A call with a number",
            "echo-u32",
            Val::U32(7),
            json!({"value": 7}),
        ),
        (
            "A call with a record",
            "echo-record",
            corner,
            json!({"value": {"x": 1, "y": 2}}),
        ),
    ] {
        heading(title);
        let base = time_bare(function, argument).await?;
        line("bare wasmtime: instantiate, call", base, None);
        let ours = time_ours(function, &json.to_string()).await?;
        line(
            "JSON, fresh instance, call, JSON; limits and grants on",
            ours,
            Some(base),
        );
        let recorded = time_recorded(function, &json).await;
        line(
            "the same as a run: checked, recorded in memory",
            recorded,
            Some(base),
        );
    }
    wanted("JSON to JSON at most 2 times bare wasmtime");
    Ok(())
}

/// Services of functions that ask for nothing.
pub(super) struct NoServices;

fn nothing() -> Failure {
    Failure::new(FailureCode::Denied, "nothing is granted here")
}

#[async_trait]
impl HostServices for NoServices {
    fn model(&self, _: RuntimeRef) -> Result<String, Failure> {
        Err(nothing())
    }

    fn system(&self, _: RuntimeRef) -> Result<Option<String>, Failure> {
        Err(nothing())
    }

    fn set_system(&self, _: RuntimeRef, _: Option<String>) -> Result<(), Failure> {
        Err(nothing())
    }

    fn session_id(&self) -> String {
        String::new()
    }

    async fn make(&self, _: DecisionRequest) -> Result<Json, Failure> {
        Err(nothing())
    }

    async fn pick(&self, _: DecisionRequest) -> Result<PickedOption, Failure> {
        Err(nothing())
    }

    async fn call(&self, _: &str, _: Json) -> Result<Json, Failure> {
        Err(nothing())
    }
}
