//! Loading a component and making its first call: compiled, and from the cache.

use std::sync::Arc;

use anyhow::Result;
use openprogram_component::{
    ComponentHost, Engine, EngineOptions, Limits, LoadedComponent, MetadataMode,
};
use openprogram_tests::guests;

use crate::table::{heading, line, time_async, wanted};

pub(super) async fn measure() -> Result<()> {
    heading("Loading a component, metadata read");
    for name in ["healthy", "support", "every-type"] {
        let bytes: Arc<[u8]> = guests::bytes(name).into();
        let kib = bytes.len() / 1024;
        let cold = time_async(10, || {
            let bytes = Arc::clone(&bytes);
            async move {
                let folder = tempfile::tempdir().expect("a folder");
                load(name, &bytes, folder.path()).await.expect("it loads");
            }
        })
        .await;
        line(&format!("{name}, {kib} KiB: compiled"), cold, None);
        let folder = tempfile::tempdir()?;
        load(name, &bytes, folder.path()).await?;
        let path = folder.path();
        let cached = time_async(50, || {
            let bytes = Arc::clone(&bytes);
            async move {
                load(name, &bytes, path).await.expect("it loads");
            }
        })
        .await;
        line(
            &format!("{name}, {kib} KiB: from the cache"),
            cached,
            Some(cold),
        );
    }
    wanted("from the cache at most 2 ms per 2 MB (engine start included here)");
    Ok(())
}

async fn load(name: &str, bytes: &Arc<[u8]>, cache: &std::path::Path) -> Result<()> {
    let engine = Engine::new(EngineOptions {
        cache_folder: Some(cache.join("cache")),
        ..EngineOptions::default()
    });
    let component =
        LoadedComponent::load(&engine, name, Arc::clone(bytes), MetadataMode::Run).await?;
    let mut host = ComponentHost::new(engine, Limits::default());
    host.add(component);
    std::hint::black_box(&host);
    Ok(())
}
