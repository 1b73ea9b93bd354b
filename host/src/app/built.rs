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
    let engine = Engine::new(EngineOptions {
        slots: 1,
        ..EngineOptions::default()
    });
    LoadedComponent::load_file(&engine, &name_of(path), path, MetadataMode::Run).await
}
