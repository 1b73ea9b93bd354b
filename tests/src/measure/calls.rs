//! One call: bare wasmtime doing instantiate and call, against JSON in, fresh instance, JSON out.

use std::sync::Arc;

use anyhow::{Context, Result};
use async_trait::async_trait;
use openprogram_component::{ComponentHost, Limits};
use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::function::{FunctionRef, RuntimeRef};
use openprogram_core::guest::{
    CallScope, DecisionRequest, FunctionCall, FunctionHost, HostServices, PickedOption,
};
use openprogram_core::id::SessionId;
use openprogram_core::{Json, JsonObject};
use openprogram_tests::guests;
use openprogram_tests::host::{TestHost, engine, load};
use serde_json::json;
use wasmtime::component::Val;
use wasmtime_wasi::WasiCtx;

use crate::bare::Bare;
use crate::table::{Timing, heading, line, time_async, wanted};

/// Calls that are timed in each line.
const RUNS: usize = 5_000;

/// The interface, the function and the argument that both sides call.
const INTERFACE: &str = "test:every-type/echo@0.1.0";

async fn time_bare(function: &str, argument: Val) -> Result<Timing> {
    let bare = Bare::new(&guests::bytes("every-type"), INTERFACE, function)?;
    let (bare, arguments) = (&bare, &[argument]);
    Ok(time_async(RUNS, || async move {
        let wasi = WasiCtx::builder().build();
        let result = bare.call(wasi, arguments).await;
        std::hint::black_box(result.expect("a result"));
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
            totals: Arc::default(),
            scope: CallScope::top(SessionId::from_bits(0)),
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
