//! What the SDK is in each language.

use std::path::Path;

use super::{FILES, SDK_FOLDER};

/// Where a project keeps the part of WASI that the contract refers to.
pub(super) const POLL_FOLDER: &str = "wit/deps/io";
/// Files of the SDK of JavaScript, in the repository.
const JAVASCRIPT: &str = "guest-sdk/js/";
/// Files of the SDK of Python, in the repository.
const PYTHON: &str = "guest-sdk/python/";

/// The language of a project, and so of the SDK in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Language {
    /// Rust, built by cargo.
    Rust,
    /// JavaScript, built by componentize-js on Node.js.
    #[value(name = "js")]
    JavaScript,
    /// Python, built by componentize-py.
    Python,
}

impl Language {
    /// The language of the copy in a project, by what it holds.
    #[must_use]
    pub fn of_copy(project: &Path) -> Self {
        let copy = project.join(SDK_FOLDER);
        if copy.join("openprogram-guest.js").is_file() {
            Self::JavaScript
        } else if copy.join("openprogram_guest").is_dir() {
            Self::Python
        } else {
            Self::Rust
        }
    }

    /// The files of the repository that a copy holds, by path below its folder.
    pub(super) fn files(self) -> Vec<(String, String)> {
        let place = |path: &'static str| match self {
            Self::Rust => {
                let is_other = path.starts_with(JAVASCRIPT) || path.starts_with(PYTHON);
                (!is_other).then_some(path)
            }
            _ if path.starts_with("LICENSE") => Some(path),
            Self::JavaScript => path.strip_prefix(JAVASCRIPT),
            Self::Python => path.strip_prefix(PYTHON),
        };
        below(place)
    }
}

/// The contract, as WIT alone.
pub(super) fn contract_files() -> Vec<(String, String)> {
    below(|path| {
        let name = path.strip_prefix("wit/")?;
        (name.ends_with(".wit") && !name.contains('/')).then_some(name)
    })
}

/// The part of WASI that the contract refers to.
pub(super) fn poll_files() -> Vec<(String, String)> {
    below(|path| path.strip_prefix("wit/deps/io/"))
}

/// The files that have a place, with it.
fn below(place: impl Fn(&'static str) -> Option<&'static str>) -> Vec<(String, String)> {
    let placed = FILES
        .iter()
        .filter_map(|(path, text)| Some((place(path)?, text)));
    placed
        .map(|(path, text)| (path.to_owned(), (*text).to_owned()))
        .collect()
}
