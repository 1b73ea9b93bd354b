//! Which language a source folder is written in: the manifest in it tells.

use std::path::Path;

use super::BuildError;
use super::manifest::{is_javascript, is_python};
use crate::sdk::Language;

/// Looks for a `Cargo.toml`, a `package.json` with an `openprogram` part, and a `pyproject.toml` with a
/// `[tool.openprogram]` part, in this order; the first one that is there decides.
///
/// # Errors
/// When there is none, or no folder.
pub fn language_of(folder: &Path) -> Result<Language, BuildError> {
    if !folder.exists() {
        return Err(BuildError::Missing(folder.to_owned()));
    }
    // A file, a component for example, has nothing beside it to be made from.
    if !folder.is_dir() {
        return Err(BuildError::NoPackage(folder.to_owned()));
    }
    if folder.join("Cargo.toml").is_file() {
        Ok(Language::Rust)
    } else if is_javascript(folder)? {
        Ok(Language::JavaScript)
    } else if is_python(folder)? {
        Ok(Language::Python)
    } else {
        Err(BuildError::NoPackage(folder.to_owned()))
    }
}
