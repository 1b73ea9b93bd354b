//! Loading a component up to the end of its first call: compiled, and from the cache.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use openprogram_component::{
    ComponentHost, Engine, EngineOptions, Limits, LoadedComponent, MetadataMode,
};
use openprogram_core::JsonObject;
use openprogram_core::guest::{FunctionCall, FunctionHost};
use openprogram_tests::guests;

use crate::calls::NoServices;
use crate::table::{heading, line, time_async, wanted};

pub(super) async fn measure() -> Result<()> {
    heading("Loading a component, metadata read, and calling it once");
    for (name, function) in [
        ("endless-growth", "pages"),
        ("caller", "leaf"),
        ("every-type", "nothing"),
    ] {
        let bytes: Arc<[u8]> = guests::bytes(name).into();
        let kib = bytes.len() / 1024;
        let load = |engine: Engine| {
            let bytes = Arc::clone(&bytes);
            async move {
                load_and_call(&engine, name, function, bytes)
                    .await
                    .expect("it loads")
            }
        };
        let cold = time_async(10, || async {
            let folder = tempfile::tempdir().expect("a folder");
            load(engine(folder.path())).await;
        })
        .await;
        line(
            &format!("{name}, {kib} KiB: engine started, compiled"),
            cold,
            None,
        );
        let folder = tempfile::tempdir()?;
        let engine = engine(folder.path());
        load(engine.clone()).await;
        let cached = time_async(100, || load(engine.clone())).await;
        line(
            &format!("{name}, {kib} KiB: from the cache"),
            cached,
            Some(cold),
        );
    }
    wanted("from the cache at most 2 ms per 2 MB");
    Ok(())
}

fn engine(folder: &Path) -> Engine {
    Engine::new(EngineOptions {
        cache_folder: Some(folder.join("cache")),
        ..EngineOptions::default()
    })
}

async fn load_and_call(
    engine: &Engine,
    name: &str,
    function: &str,
    bytes: Arc<[u8]>,
) -> Result<()> {
    let component = LoadedComponent::load(engine, name, bytes, MetadataMode::Run).await?;
    let mut functions = component.functions().iter();
    let function = functions.find(|known| known.name.function == function);
    let function = Arc::new(function.context("the function")?.clone());
    // A component that takes all the memory it is given would measure just that.
    let limits = Limits {
        memory_bytes: 4 << 20,
        ..Limits::default()
    };
    let mut host = ComponentHost::new(engine.clone(), limits);
    host.add(component);
    let call = FunctionCall {
        function,
        arguments: JsonObject::new(),
        services: Arc::new(NoServices),
        depth: 0,
    };
    std::hint::black_box(host.call(call).await.result?);
    Ok(())
}
