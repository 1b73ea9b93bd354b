//! What a component may touch on this machine: its grants with the folders and values that they
//! mean, and what is kept from it whatever it is granted.

use std::path::PathBuf;
use std::sync::Arc;

use openprogram_component::Permissions;
use openprogram_core::grant::{FolderAccess, FolderGrant, Grant};

use super::App;
use super::components::{Available, Loader};
use crate::install::{Lock, Place};
use crate::settings::{LOCK_FILE, PROJECT_FILE};
use crate::source::{inputs, names_file};

impl App {
    /// What a component may touch on this machine; `loader` is that of the command.
    pub(super) fn permissions(&self, component: &Available, loader: &Loader) -> Permissions {
        let (grants, settings) = (&component.grants, &self.settings);
        let value = |name: &String| {
            let value = settings.granted_values.get(name)?;
            Some((name.clone(), value.clone()))
        };
        let place = |grant: &Grant<FolderGrant>| settings.project_folder.join(&grant.what.path);
        let seen = grants
            .env
            .iter()
            .filter_map(|grant| value(&grant.what.name));
        let secrets = grants.secrets.iter();
        let own_limits = settings.component_limits.get(&component.name);
        let is_writing = |grant: &Grant<FolderGrant>| grant.what.access == FolderAccess::ReadWrite;
        let kept = if grants.dirs.iter().any(is_writing) {
            loader.kept.get_or_init(|| self.kept_places()).clone()
        } else {
            Vec::new()
        };
        let all_dirs = settings.all_grants().flat_map(|grants| &grants.dirs);
        Permissions {
            component: component.name.clone(),
            folders: grants
                .dirs
                .iter()
                .map(|grant| (grant.clone(), place(grant)))
                .collect(),
            protected: vec![
                settings.project_folder.join(PROJECT_FILE),
                settings.project_folder.join(LOCK_FILE),
                settings.state_folder.clone(),
            ],
            kept,
            anchors: all_dirs.map(place).collect(),
            project: settings.project_folder.clone(),
            variables: seen
                .map(|(name, v)| (name, v.expose().to_owned()))
                .collect(),
            secrets: secrets
                .filter_map(|grant| value(&grant.what.variable))
                .collect(),
            grants: Arc::new(grants.clone()),
            limits: own_limits.map(|own| own.limits.clone()),
            ..Permissions::default()
        }
    }

    /// What no function changes, since it decides what this program builds, runs or trusts: the
    /// sources of the project, what they are built from, the files of keys, and skills.
    fn kept_places(&self) -> Vec<PathBuf> {
        let settings = &self.settings;
        let folder = &settings.project_folder;
        // Whoever asks for permissions has read it, and tells what is wrong with it.
        let lock = Lock::read(folder).unwrap_or_default();
        // The bytes of an installed file are in the store already.
        let installed =
            lock.components
                .values()
                .filter_map(|entry| match Place::of(&entry.source, folder) {
                    Ok(Place::Local(path)) if !names_file(&path) => Some(path),
                    _ => None,
                });
        let sources = settings.components.iter().map(|c| c.source.clone());
        let mut kept: Vec<_> = sources
            .chain(installed)
            .flat_map(|source| inputs(&source, folder))
            .chain(settings.signatures.files.iter().cloned())
            .chain(settings.skills.folders.iter().map(|of| of.path.clone()))
            .collect();
        kept.sort();
        kept.dedup();
        kept
    }
}
