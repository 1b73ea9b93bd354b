//! What is installed: the lock file of a project, and the bytes of its components by digest. And what
//! the grants of components were given to.
//!
//! The lock file says which bytes a project means and is kept in version control; the bytes lie in
//! the state folder and are fetched from their source where they are missing. Nothing here loads or
//! runs a component.

mod binding;
mod difference;
mod lock;
mod origin;
mod store;

use std::io;
use std::path::{Path, PathBuf};

use openprogram_core::failure::FailureCode;

use crate::fetch::FetchError;
use crate::signature::SignatureError;

pub use binding::{Binding, Unbound, check_binding};
pub use difference::{Difference, difference};
pub use lock::{LOCK_FILE_BYTES_MAX, Lock, LockEntry, write_project_file};
pub use origin::{Place, locked_source};
pub use store::{ComponentStore, InstallGuard};

/// Why something cannot be installed, updated, removed or used as it is installed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstallError {
    /// It cannot be fetched.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// A signature is none.
    #[error("`{name}` cannot be trusted")]
    Signature {
        /// The component.
        name: String,
        /// Why.
        source: SignatureError,
    },
    /// It is not signed, and has to be.
    #[error(
        "denied: `{name}` is not signed, and `signatures.required` in `openprogram.toml` wants \
         that; {remedy}"
    )]
    Unsigned {
        /// The component.
        name: String,
        /// What to do.
        remedy: &'static str,
    },
    /// It was installed signed, and is not any more.
    #[error(
        "`{name}` was signed with the key `{signed_by}` when it was installed, and its source \
         `{source_text}` has no signature that can be checked now; put the signature and its key in \
         `signatures.keys` back, or `openprogram remove {name}` and add it again"
    )]
    NoLongerSigned {
        /// The component.
        name: String,
        /// Its source.
        source_text: String,
        /// The key.
        signed_by: String,
    },
    /// The key that signed it does not count any more.
    #[error(
        "denied: `{name}` was signed with the key `{signed_by}`, which is none of \
         `signatures.keys` in `openprogram.toml` any more; `openprogram update {name}` looks for \
         another signature"
    )]
    KeyGone {
        /// The component.
        name: String,
        /// The key.
        signed_by: String,
    },
    /// The lock file contradicts itself.
    #[error(
        "the bytes of `{name}` have the digest in the lock file, and are {found} bytes where it \
         says {locked}; take the lock file from version control, or `openprogram update {name}`"
    )]
    WrongSize {
        /// The component.
        name: String,
        /// The size in the lock file.
        locked: u64,
        /// The size of the bytes.
        found: u64,
    },
    /// A path that is no text cannot stand in a lock file.
    #[error("the path `{}` is not UTF-8 text, so it cannot stand in the lock file", .0.display())]
    PathNotText(PathBuf),
    /// The name is not one.
    #[error("`{name}` cannot be installed under that name: {message}")]
    Name {
        /// The name.
        name: String,
        /// What a name looks like.
        message: String,
    },
    /// The name stands for other bytes.
    #[error(
        "`{name}` is installed already, with other bytes (`{locked}`, and these are `{found}`); \
         `openprogram update {name}` takes what its source is now, `openprogram remove {name}` \
         frees the name, and `--name` chooses another one"
    )]
    Taken {
        /// The name.
        name: String,
        /// The digest in the lock file.
        locked: String,
        /// The digest of what was to be added.
        found: String,
    },
    /// The name stands for a source of the project file.
    #[error(
        "`{name}` names a source under `[components]` in `openprogram.toml`; choose another name \
         with `--name`, or remove the source there"
    )]
    InProject {
        /// The name.
        name: String,
    },
    /// The project file and the lock file both say where a component comes from.
    #[error(
        "`{name}` has a source in `openprogram.toml` and is installed in `openprogram.lock` too; \
         remove the source there, or `openprogram remove {name}`"
    )]
    Twice {
        /// The name.
        name: String,
    },
    /// The project file grants something to what is not there.
    #[error(
        "`components.{name}` in `openprogram.toml` has no `source`, and no component `{name}` is \
         installed; write its `source`, install it with `openprogram add`, or take the grants away \
         with `openprogram revoke {name} --all`"
    )]
    GrantsToNobody {
        /// The name.
        name: String,
    },
    /// The component is granted something that nobody said yes to as it is now.
    #[error(
        "the grants of `{name}` are not confirmed as they are now ({why}); `openprogram grant \
         {name}` shows them and asks"
    )]
    Unbound {
        /// The component.
        name: String,
        /// What is different from what was confirmed.
        why: Unbound,
    },
    /// What a person looked at was changed before it could be written.
    #[error("`{}` was changed meanwhile; do it once more", .0.display())]
    Meanwhile(PathBuf),
    /// Nothing of this name is installed.
    #[error("no component `{name}` is installed{}", installed(known))]
    NotInstalled {
        /// The name.
        name: String,
        /// What is.
        known: Vec<String>,
    },
    /// The project file names the source, which is used as it is.
    #[error(
        "`{name}` is not installed: `openprogram.toml` names its source, which is used as it is; \
         to remove it, remove it there"
    )]
    NotLocked {
        /// The name.
        name: String,
    },
    /// Neither the bytes nor the source are there.
    #[error(
        "the bytes of `{name}` are not in the state folder, and its source `{source_text}` is not \
         there; put it back, or `openprogram remove {name}`"
    )]
    Gone {
        /// The component.
        name: String,
        /// Its source.
        source_text: String,
    },
    /// The bytes of what is built are not there.
    #[error(
        "the bytes of `{name}` are not in the state folder, and its source `{source_text}` is a \
         folder: to build it runs its code with every right that you have, so only a command of \
         yours does; `openprogram update {name}` builds it"
    )]
    NotBuilt {
        /// The component.
        name: String,
        /// Its source.
        source_text: String,
    },
    /// A file was installed, and a folder is in its place.
    #[error(
        "the source `{source_text}` of `{name}` was a file when it was installed, and is a folder \
         now, which is not built: that would run its code with every right that you have; put the \
         file back, or `openprogram remove {name}` and add the folder"
    )]
    FolderForFile {
        /// The component.
        name: String,
        /// Its source.
        source_text: String,
    },
    /// Grants were given to a file, and a folder is in its place.
    #[error(
        "the source of `{name}` was a file when its grants were confirmed, and is a folder now, \
         which is not built: that would run its code with every right that you have; put the file \
         back, or, if the folder is yours, `openprogram grant {name}` says so"
    )]
    FolderForGrants {
        /// The component.
        name: String,
    },
    /// The source is not what was installed.
    #[error(
        "wrong digest: the bytes of `{name}` are not in the state folder, and its source \
         `{source_text}` is `{found}` now, where `{locked}` is installed; put the source back, or \
         `openprogram update {name}` takes what it is now"
    )]
    SourceChanged {
        /// The component.
        name: String,
        /// Its source.
        source_text: String,
        /// The digest in the lock file.
        locked: String,
        /// The digest of the source.
        found: String,
    },
    /// The stored bytes are not what was installed.
    #[error(
        "wrong digest: the stored bytes of `{name}` are `{found}`, where `{locked}` is installed; \
         remove `{}`, and they are fetched from the source again", path.display()
    )]
    StoreChanged {
        /// The component.
        name: String,
        /// The file that holds them.
        path: PathBuf,
        /// The digest in the lock file.
        locked: String,
        /// The digest of the stored bytes.
        found: String,
    },
    /// The lock file does not have the form of one.
    #[error(
        "`{}` is not a valid lock file; mend it, or take it from version control", path.display()
    )]
    LockForm {
        /// The file.
        path: PathBuf,
        /// What is wrong and where.
        source: LockFormError,
    },
    /// The lock file is larger than it can be.
    #[error("`{}` is larger than {LOCK_FILE_BYTES_MAX} bytes", path.display())]
    LockTooLarge {
        /// The file.
        path: PathBuf,
    },
    /// A link stands where something of ours should be written.
    #[error("`{}` is a link, and nothing is written through it; remove it", .0.display())]
    Link(PathBuf),
    /// A file or folder cannot be read.
    #[error("cannot read `{}`", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file or folder cannot be written.
    #[error("cannot write `{}`", path.display())]
    Unwritable {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl InstallError {
    /// Whether a server was asked and could not be reached.
    #[must_use]
    pub fn is_unreachable(&self) -> bool {
        matches!(self, Self::Fetch(FetchError::Unreachable { .. }))
    }

    /// The code under which the error is known to programs.
    #[must_use]
    pub fn code(&self) -> FailureCode {
        match self {
            Self::Fetch(error) => error.code(),
            Self::NotInstalled { .. } => FailureCode::NotFound,
            Self::Unbound { .. }
            | Self::Unsigned { .. }
            | Self::KeyGone { .. }
            | Self::FolderForFile { .. }
            | Self::FolderForGrants { .. } => FailureCode::Denied,
            Self::Unwritable { .. } => FailureCode::Internal,
            _ => FailureCode::InvalidArgument,
        }
    }
}

/// What is wrong with the text of a lock file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LockFormError(String);

fn installed(known: &[String]) -> String {
    if known.is_empty() {
        return "; `openprogram add SOURCE` installs one".to_owned();
    }
    let known: Vec<_> = known.iter().map(|name| format!("`{name}`")).collect();
    format!("; installed are {}", known.join(", "))
}

fn unreadable(path: &Path) -> impl FnOnce(io::Error) -> InstallError {
    let path = path.to_owned();
    move |source| InstallError::Unreadable { path, source }
}

fn unwritable(path: &Path) -> impl FnOnce(io::Error) -> InstallError {
    let path = path.to_owned();
    move |source| InstallError::Unwritable { path, source }
}
