//! What was built just now, looked at before anybody installs or runs it.

use std::path::Path;

use openprogram_component::{Engine, EngineOptions, LoadError, LoadedComponent, MetadataMode};

use crate::source::name_of;

/// Loads a component that was built, its metadata read. Nothing is kept: the next build makes another
/// one.
///
/// # Errors
/// When it would be refused wherever it is used.
pub async fn load_built(path: &Path) -> Result<LoadedComponent, LoadError> {
    let bytes = std::fs::read(path).map_err(|source| LoadError::Read {
        path: path.display().to_string(),
        source,
    })?;
    let engine = Engine::new(EngineOptions {
        slots: 1,
        ..EngineOptions::default()
    });
    LoadedComponent::load(&engine, &name_of(path), bytes, MetadataMode::Run).await
}
