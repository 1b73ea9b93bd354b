//! Where the bytes of a component come from, and what bytes are no component at first sight.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use crate::error::LoadError;

/// Where the bytes of a component are when it is called for the first time.
#[derive(Clone, Debug)]
pub enum ComponentSource {
    /// In memory.
    Bytes(Arc<[u8]>),
    /// In a file, which is read and whose digest is checked when it is needed.
    File(PathBuf),
}

impl ComponentSource {
    /// The bytes, read and checked again when they are in a file of at most `max` bytes.
    pub(crate) fn bytes(&self, digest: &str, max: u64) -> Result<Arc<[u8]>, LoadError> {
        match self {
            Self::Bytes(bytes) => Ok(Arc::clone(bytes)),
            Self::File(path) => {
                let bytes = read_component(path, max)?;
                check_digest(path, &bytes, digest)?;
                Ok(bytes)
            }
        }
    }
}

/// The digest by which a component is known.
#[must_use]
pub fn digest_of(bytes: &[u8]) -> String {
    shown_digest(&Sha256::digest(bytes))
}

/// A hash of SHA-256 as text.
pub(crate) fn shown_digest(hash: &[u8]) -> String {
    let mut digest = "sha256:".to_owned();
    for byte in hash {
        digest.push_str(&format!("{byte:02x}"));
    }
    digest
}

/// Checks that the bytes of a file are those of the component with this digest.
///
/// # Errors
/// [`LoadError::WrongDigest`] when they are not.
pub fn check_digest(path: &Path, bytes: &[u8], digest: &str) -> Result<(), LoadError> {
    let found = digest_of(bytes);
    if found == digest {
        return Ok(());
    }
    Err(LoadError::WrongDigest {
        path: path.display().to_string(),
        expected: digest.to_owned(),
        found,
    })
}

/// Runs work that blocks away from the async threads. A panic of a decoder, which hostile bytes
/// may provoke, becomes an error.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, LoadError> + Send + 'static,
) -> Result<T, LoadError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(_) => Err(LoadError::Malformed("it cannot be decoded".to_owned())),
    }
}

/// Reads the bytes of a component from a file, at most `max`.
///
/// # Errors
/// [`LoadError::Read`] when that is not possible, [`LoadError::TooLarge`] when there are more.
pub fn read_component(path: &Path, max: u64) -> Result<Arc<[u8]>, LoadError> {
    use std::io::Read as _;
    let failed = |source| LoadError::Read {
        path: path.display().to_string(),
        source,
    };
    let file = std::fs::File::open(path).map_err(failed)?;
    let size = file.metadata().map_err(failed)?.len();
    if size > max {
        return Err(LoadError::TooLarge { bytes: size, max });
    }
    let mut bytes = Vec::new();
    let limit = max.saturating_add(1);
    file.take(limit).read_to_end(&mut bytes).map_err(failed)?;
    // It may have grown since its size was asked.
    let size = bytes.len() as u64;
    if size > max {
        return Err(LoadError::TooLarge { bytes: size, max });
    }
    Ok(bytes.into())
}

/// Tells what bytes are that are no component.
pub(crate) fn check_form(bytes: &[u8], max: u64) -> Result<(), LoadError> {
    let size = bytes.len() as u64;
    if size > max {
        return Err(LoadError::TooLarge { bytes: size, max });
    }
    if bytes.is_empty() {
        return Err(LoadError::Empty);
    }
    if wasmtime::Engine::detect_precompiled(bytes).is_some() {
        return Err(LoadError::Precompiled);
    }
    if !bytes.starts_with(b"\0asm") {
        let head = &bytes[..bytes.len().min(512)];
        // The cut may split the last character.
        let is_text = match std::str::from_utf8(head) {
            Ok(text) => !text.contains('\0'),
            Err(error) => error.error_len().is_none() && error.valid_up_to() > 0,
        };
        return Err(if is_text {
            LoadError::Text
        } else {
            LoadError::NotWasm
        });
    }
    match bytes.get(6..8) {
        Some([0, 0]) => Err(LoadError::CoreModule),
        Some(_) => Ok(()),
        None => Err(LoadError::Malformed("it ends within its header".to_owned())),
    }
}
