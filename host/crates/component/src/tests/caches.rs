//! The folder of compiled images as engines use it: other engines, damage, folders of others.

use std::path::Path;

use super::component;
use crate::cache::{CacheError, CacheFolder};
use crate::{Engine, EngineOptions, LoadedComponent, MetadataMode};

fn engine(folder: &Path, slots: u32) -> Engine {
    Engine::new(EngineOptions {
        slots,
        cache_folder: Some(folder.to_owned()),
        ..EngineOptions::default()
    })
}

/// Hits and misses of a new engine that compiles one component.
async fn compiled(folder: &Path, slots: u32) -> (u64, u64) {
    let counts = used(folder, slots).await.cache_counts();
    (counts.hits, counts.misses)
}

/// A new engine that has compiled one component.
async fn used(folder: &Path, slots: u32) -> Engine {
    let engine = engine(folder, slots);
    let bytes = component("(func (export \"f\"))", &[("f", "")]);
    let loaded = LoadedComponent::load(&engine, "a", bytes, MetadataMode::Run);
    loaded.await.unwrap().compile(&engine).await.unwrap();
    engine
}

fn images(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .filter(|path| path.extension().is_some_and(|kind| kind == "image"))
        .collect()
}

#[tokio::test]
async fn another_engine_compiles_once_for_itself_and_leaves_the_entry_of_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache");
    assert_eq!(compiled(&path, 4).await, (0, 1));
    assert_eq!(compiled(&path, 4).await, (1, 0));
    // So many slots that its memory comes on demand, for which code is compiled otherwise.
    assert_eq!(compiled(&path, u32::MAX).await, (0, 1));
    assert_eq!(compiled(&path, u32::MAX).await, (1, 0));
    assert_eq!(compiled(&path, 4).await, (1, 0));
    assert_eq!(images(&path).len(), 2);
}

#[tokio::test]
async fn what_was_compiled_for_another_engine_is_compiled_anew_once_and_that_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache");
    // Nothing is told of a first time.
    for _ in 0..2 {
        assert_eq!(used(&path, 4).await.notice(), None);
    }
    let first = used(&path, u32::MAX).await.notice().unwrap();
    assert!(
        first.contains("; 1 component was compiled anew, once: "),
        "{first}"
    );
    let second = used(&path, u32::MAX).await.notice().unwrap();
    assert!(!second.contains("anew"), "{second}");
}

#[tokio::test]
async fn a_damaged_entry_and_one_of_another_engine_under_its_name_are_compiled_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache");
    compiled(&path, 4).await;
    let own = images(&path).remove(0);
    let mut bytes = std::fs::read(&own).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&own, bytes).unwrap();
    assert_eq!(compiled(&path, 4).await, (0, 1));
    assert_eq!(compiled(&path, 4).await, (1, 0));

    compiled(&path, u32::MAX).await;
    let other = images(&path).into_iter().find(|image| *image != own);
    std::fs::rename(other.unwrap(), &own).unwrap();
    assert_eq!(compiled(&path, 4).await, (0, 1));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_folder_that_cannot_be_written_or_belongs_to_another_user_is_refused_by_name() {
    // Nobody can make a file there, not even the administrator.
    let opened = CacheFolder::open(Path::new("/sys/kernel"));
    assert!(matches!(opened, Err(CacheError::Open { .. })));
    let engine = engine(Path::new("/sys/kernel"), 4);
    let bytes = component("(func (export \"f\"))", &[("f", "")]);
    let error = LoadedComponent::load(&engine, "a", bytes, MetadataMode::Run).await;
    let said = error.unwrap_err().to_string();
    assert_eq!(said, "the cache folder `/sys/kernel` cannot be opened");

    let folder = tempfile::tempdir().unwrap();
    // Only the superuser can give a folder away.
    if std::os::unix::fs::chown(folder.path(), Some(12_345), None).is_ok() {
        let opened = CacheFolder::open(folder.path());
        let Err(CacheError::NotPrivate { what, .. }) = opened else {
            panic!("it was opened");
        };
        assert_eq!(what, "it belongs to user 12345");
    }
}
