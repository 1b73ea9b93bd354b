//! Loading a component up to the end of its first call: compiled, and from the cache.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use openprogram_component::{
    ComponentHost, ComponentSource, Engine, EngineOptions, Limits, LoadedComponent, MetadataMode,
    digest_of,
};
use openprogram_core::JsonObject;
use openprogram_core::guest::{CallScope, FunctionCall, FunctionHost};
use openprogram_core::id::SessionId;
use openprogram_tests::foreign::Foreign;
use openprogram_tests::guests;
use serde_json::json;

use crate::calls::NoServices;
use crate::table::{heading, line, time_async, wanted};

/// Components above this are compiled fewer times: it takes seconds.
const LARGE_BYTES: usize = 4 << 20;

/// A component and how it is called.
struct Case {
    name: &'static str,
    bytes: Arc<[u8]>,
    function: &'static str,
    arguments: JsonObject,
    /// A component that takes all the memory it is given would measure just that.
    memory_bytes: u64,
}

pub(super) async fn measure() -> Result<()> {
    heading("Loading a component, metadata read, and calling it once");
    let mut cases: Vec<_> = [
        ("endless-growth", "pages"),
        ("caller", "leaf"),
        ("every-type", "nothing"),
    ]
    .map(|(name, function)| Case {
        name,
        bytes: guests::bytes(name).into(),
        function,
        arguments: JsonObject::new(),
        memory_bytes: 4 << 20,
    })
    .into();
    for (name, foreign, function, arguments) in [
        ("C", Foreign::C, "longest", json!({"lengths": []})),
        (
            "JavaScript (QuickJS)",
            Foreign::QuickJs,
            "most-important",
            json!({"among": ["low"]}),
        ),
        (
            "JavaScript (StarlingMonkey)",
            Foreign::StarlingMonkey,
            "most-important",
            json!({"among": ["low"]}),
        ),
        (
            "Python",
            Foreign::Python,
            "most-important",
            json!({"among": ["low"]}),
        ),
    ] {
        let Some(bytes) = foreign.bytes() else {
            continue;
        };
        cases.push(Case {
            name,
            bytes: bytes.into(),
            function,
            arguments: arguments.as_object().cloned().unwrap_or_default(),
            memory_bytes: 256 << 20,
        });
    }
    for case in &cases {
        measure_case(case).await?;
    }
    wanted("from the cache at most 2 ms per 2 MB");
    Ok(())
}

async fn measure_case(case: &Case) -> Result<()> {
    let is_large = case.bytes.len() > LARGE_BYTES;
    let load =
        |engine: Engine| async move { load_and_call(&engine, case).await.expect("it loads") };
    let cold = time_async(if is_large { 3 } else { 10 }, || async {
        let folder = tempfile::tempdir().expect("a folder");
        load(engine(folder.path())).await;
    })
    .await;
    let label = format!("{}, {} KiB", case.name, case.bytes.len() / 1024);
    line(&format!("{label}: engine started, compiled"), cold, None);
    let folder = tempfile::tempdir()?;
    let engine = engine(folder.path());
    let (host, call) = load(engine.clone()).await;
    let cached = time_async(if is_large { 20 } else { 100 }, || load(engine.clone())).await;
    line(&format!("{label}: from the cache"), cached, Some(cold));
    let digest = digest_of(&case.bytes);
    let installed = time_async(if is_large { 20 } else { 100 }, || async {
        let called = find_and_call(&engine, case, &digest).await;
        called.expect("it loads");
    });
    line(&format!("{label}: installed"), installed.await, Some(cold));
    let again = time_async(50, || host.call(call.clone())).await;
    line(&format!("{label}: the call alone"), again, Some(cold));
    let mut kept = 0;
    for entry in std::fs::read_dir(folder.path().join("cache"))? {
        kept += entry?.metadata()?.len();
    }
    let megabytes = case.bytes.len() as f64 / 1e6;
    let loaded = cached.p50.saturating_sub(again.p50).as_secs_f64() * 1e3;
    // Every begun 2 MB may take 2 ms.
    let allowed = 2.0 * (megabytes / 2.0).ceil();
    let report = host.call(call).await.report;
    println!(
        "  {megabytes:.2} MB, {:.1} MB kept, {loaded:.2} ms without the call ({allowed} ms wanted), \
         {:.1} MB of memory",
        kept as f64 / 1e6,
        report.memory_bytes as f64 / 1e6,
    );
    Ok(())
}

fn engine(folder: &Path) -> Engine {
    Engine::new(EngineOptions {
        cache_folder: Some(folder.join("cache")),
        ..EngineOptions::default()
    })
}

async fn load_and_call(engine: &Engine, case: &Case) -> Result<(ComponentHost, FunctionCall)> {
    let bytes = Arc::clone(&case.bytes);
    let component = LoadedComponent::load(engine, case.name, bytes, MetadataMode::Run).await?;
    first_call(engine, case, component).await
}

/// The same as an installed component is loaded: by its digest, which was checked when it came.
async fn find_and_call(engine: &Engine, case: &Case, digest: &str) -> Result<()> {
    let source = ComponentSource::Bytes(Arc::clone(&case.bytes));
    let known = LoadedComponent::from_cache(engine, case.name, digest, source)?;
    let component = known.context("it is in the cache")?;
    first_call(engine, case, component).await.map(|_| ())
}

async fn first_call(
    engine: &Engine,
    case: &Case,
    component: LoadedComponent,
) -> Result<(ComponentHost, FunctionCall)> {
    let mut functions = component.functions().iter();
    let function = functions.find(|known| known.name.function == case.function);
    let function = Arc::new(function.context("the function")?.clone());
    let limits = Limits {
        memory_bytes: case.memory_bytes,
        ..Limits::default()
    };
    let mut host = ComponentHost::new(engine.clone(), limits);
    host.add(component);
    let call = FunctionCall {
        function,
        arguments: case.arguments.clone(),
        services: Arc::new(NoServices),
        depth: 0,
        totals: Arc::default(),
        scope: CallScope::top(SessionId::from_bits(0)),
    };
    std::hint::black_box(host.call(call.clone()).await.result?);
    Ok((host, call))
}
