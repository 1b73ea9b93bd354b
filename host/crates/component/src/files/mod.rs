//! Files of granted folders: the filesystem of WASI, by its own implementation in wasmtime, behind
//! the rules of this host.
//!
//! Every path is walked before it is handed on: it may not leave its folder, name what belongs to
//! this program, or open what is neither file nor folder. What was walked is what is handed on, free
//! of links and `..`. Functions make no links at all. Everything written and made is counted.

mod allowed;
mod descriptor;
mod folders;
mod listing;
mod names;
mod place;
mod protected;
mod stream;
mod view;
mod walk;
mod whole;

pub use allowed::AllowedFolder;
pub(crate) use folders::{Folders, OpenFolders};
pub(crate) use view::{Files, FilesView, GuestFiles};
