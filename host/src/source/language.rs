//! Which language a source folder is written in: the manifest in it tells.

use std::path::Path;

use super::BuildError;
use super::manifest::{is_javascript, is_python};

/// The language of a source folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    /// There is a `Cargo.toml`.
    Rust,
    /// There is a `package.json` with an `openprogram` part.
    JavaScript,
    /// There is a `pyproject.toml` with a `[tool.openprogram]` part.
    Python,
}

impl Language {
    /// Looks for the manifests in this order; the first one that is there decides.
    ///
    /// # Errors
    /// When there is none, or no folder.
    pub(super) fn of(folder: &Path) -> Result<Self, BuildError> {
        if !folder.exists() {
            return Err(BuildError::Missing(folder.to_owned()));
        }
        // A file, a component for example, has nothing beside it to be made from.
        if !folder.is_dir() {
            return Err(BuildError::NoPackage(folder.to_owned()));
        }
        if folder.join("Cargo.toml").is_file() {
            Ok(Self::Rust)
        } else if is_javascript(folder)? {
            Ok(Self::JavaScript)
        } else if is_python(folder)? {
            Ok(Self::Python)
        } else {
            Err(BuildError::NoPackage(folder.to_owned()))
        }
    }
}
