//! What one component may touch, with everything that it takes to let it: made by the binary out of
//! grants, folders, variables and secrets.

use std::path::PathBuf;
use std::sync::Arc;

use openprogram_core::grant::{FolderGrant, Grant, Grants};
use openprogram_core::secret::Secret;

use crate::limits::Limits;
use crate::links::Links;
use crate::network::Network;

/// The permissions of one component. The default is none.
#[derive(Clone, Debug, Default)]
pub struct Permissions {
    /// The name under which the component is installed, for the commands in refusals.
    pub component: String,
    /// What a person granted.
    pub grants: Arc<Grants>,
    /// The granted folders with the folders of this machine that they mean.
    pub folders: Vec<(Grant<FolderGrant>, PathBuf)>,
    /// What is kept from the component also where it lies in a granted folder: the files and folders
    /// of this program.
    pub protected: Vec<PathBuf>,
    /// What the component does not change where it lies in a granted folder, and may read: what
    /// components are built from, and what decides whom this program trusts. It need not be there.
    pub kept: Vec<PathBuf>,
    /// The granted folders of all components: none of them is moved or removed by another one.
    pub anchors: Vec<PathBuf>,
    /// The folder of the project. No granted folder below it is reached through a link.
    pub project: PathBuf,
    /// The granted variables that are set, with their values.
    pub variables: Vec<(String, String)>,
    /// The granted secrets that are set, by the name of their variable.
    pub secrets: Vec<(String, Secret)>,
    /// Its own limits; those of the host when there are none.
    pub limits: Option<Limits>,
    /// Who serves what it imports from other components. Whether it may call them is decided by its
    /// grants, call by call.
    pub links: Arc<Links>,
    /// How granted names become addresses, and whose certificates are taken.
    pub network: Network,
}
