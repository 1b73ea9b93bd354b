//! Why there is no component, as people read it.

use std::io;
use std::path::{Path, PathBuf};

use super::{WASM_TARGET, word};
use crate::sdk;

/// Why there is no component.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// Nothing is there.
    #[error("there is no file or folder `{}`", .0.display())]
    Missing(PathBuf),
    /// It is a pipe or a device.
    #[error("`{}` is neither a file nor a folder; give a `.wasm` file or a source folder", .0.display())]
    NoFile(PathBuf),
    /// What gets the words of its WIT is no file.
    #[error("`{}` is no file; give the component that was made from this WIT", .0.display())]
    NoComponentFile(PathBuf),
    /// A folder is in the place of a component file.
    #[error(
        "`{}` is a folder with the name of a component file, and such a folder is never built; put \
         the file back, or give the folder another name", .0.display()
    )]
    NamedAsFile(PathBuf),
    /// The folder holds no package.
    #[error(
        "`{}` holds no Cargo.toml, no package.json with an `openprogram` part and no pyproject.toml \
         with a `[tool.openprogram]` part, so there is nothing to build", .0.display()
    )]
    NoPackage(PathBuf),
    /// The manifest of a project cannot be used.
    #[error("`{}` cannot be used: {message}", path.display())]
    Manifest {
        /// The file.
        path: PathBuf,
        /// Why, and what to do.
        message: String,
    },
    /// The WIT of a project cannot be used, or does not fit its component.
    #[error(transparent)]
    Wit(#[from] openprogram_component::WitError),
    /// The package makes no component.
    #[error(
        "`{}` makes no component; add `crate-type = [\"cdylib\"]` under `[lib]` in its Cargo.toml",
        .0.display()
    )]
    NoComponent(PathBuf),
    /// The folder makes several where one is needed.
    #[error(
        "`{}` makes several components ({}); name the folder of one of them",
        folder.display(), packages.join(", ")
    )]
    Several {
        /// The folder.
        folder: PathBuf,
        /// The packages that make one, in backticks.
        packages: Vec<String>,
    },
    /// A tool cannot be started.
    #[error("cannot run `{tool}`, which builds components; {install}")]
    NoTool {
        /// The tool.
        tool: &'static str,
        /// How it is installed.
        install: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// A tool is too old.
    #[error(
        "`{tool}` is version {found}, and at least {least} is needed to build components; {install}"
    )]
    OldTool {
        /// The tool.
        tool: &'static str,
        /// Its version.
        found: String,
        /// The oldest that works.
        least: String,
        /// How it is installed.
        install: &'static str,
    },
    /// The target is missing and there is no rustup to add it.
    #[error(
        "this Rust toolchain cannot build for `{WASM_TARGET}`, and there is no rustup to add it; \
         add that target with the tool that installed Rust"
    )]
    NoTarget,
    /// A tool failed; it has said why on stderr.
    #[error("`{command}` failed")]
    Failed {
        /// The command.
        command: String,
    },
    /// The SDK in the project is for another contract, so the host would refuse the component.
    #[error(
        "the SDK in `{}` was written by openprogram {version} for another contract (`{found}`) than \
         the one of this openprogram (`{own}`); run `openprogram new --update-sdk {}`, or build \
         with the openprogram that wrote it",
        project.join(sdk::SDK_FOLDER).display(), word(project)
    )]
    OtherContract {
        /// The project.
        project: PathBuf,
        /// The version that wrote the SDK.
        version: String,
        /// The start of the hash of its contract.
        found: String,
        /// The start of the hash of the contract of this host.
        own: String,
    },
    /// The SDK in the project cannot be told.
    #[error(
        "`{}` cannot be read: {message}; run `openprogram new --update-sdk {}` to write the SDK anew",
        project.join(sdk::SDK_FOLDER).join(sdk::MARKER).display(), word(project)
    )]
    BrokenSdk {
        /// The project.
        project: PathBuf,
        /// Why.
        message: String,
    },
    /// The skill beside a source is none.
    #[error("`{}` is no skill: {message}", path.display())]
    Skill {
        /// The file.
        path: PathBuf,
        /// Why, and what to do.
        message: String,
    },
    /// The component cannot be given its skill.
    #[error("`{}` cannot be packed into the component", path.display())]
    Pack {
        /// The file of the skill.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file of the build cannot be read or written.
    #[error("cannot use `{}`", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A tool answered something that cannot be understood.
    #[error("`{tool}` answered something unexpected: {message}")]
    Unexpected {
        /// The tool.
        tool: &'static str,
        /// What is odd about it.
        message: String,
    },
}

impl BuildError {
    /// What the system said of this file.
    pub(super) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }
}
