//! Installing, updating and removing components: what is done to the lock file and the store.
//!
//! Building and loading take long and come first; the lock file is read again, checked and written
//! while no other process may change it.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use openprogram_component::{LoadedComponent, MetadataMode, contract_of};

use super::components::{Loader, refused};
use super::fetching::{Obtained, check_still_signed};
use super::updated::Updated;
use super::{App, catalog};
use crate::install::{
    Binding, InstallError, Lock, LockEntry, Place, check_binding, difference, locked_source,
};
use crate::settings::{LOCK_FILE, check_component_name};
use crate::source::name_of;
use crate::state::StateFolder;

/// What adding a component did.
#[derive(Debug)]
pub struct Added {
    /// The component.
    pub component: LoadedComponent,
    /// Its entry in the lock file.
    pub entry: LockEntry,
    /// Whether it was there already, with the same bytes.
    pub was_there: bool,
    /// What a person should know about the engine that checked it.
    pub notice: Option<String>,
}

/// A component that was checked, and is not installed yet.
pub struct PendingAdd {
    loader: Loader,
    candidate: Candidate,
}

impl PendingAdd {
    /// The component.
    #[must_use]
    pub fn component(&self) -> &LoadedComponent {
        &self.candidate.component
    }
}

/// Updates that were checked, and are not carried out yet.
pub struct PendingUpdate {
    loader: Loader,
    candidates: Vec<Candidate>,
    updates: Vec<Updated>,
}

impl PendingUpdate {
    /// What it would do.
    #[must_use]
    pub fn updates(&self) -> &[Updated] {
        &self.updates
    }
}

/// A source as it is now, checked.
struct Candidate {
    component: LoadedComponent,
    entry: LockEntry,
    bytes: Arc<[u8]>,
}

impl App {
    /// Looks at what is to be installed from a `.wasm` file, a source folder, which is built, or a
    /// URL. Nothing is changed.
    ///
    /// # Errors
    /// When there is nothing, it is refused, or its name is taken.
    pub async fn check_add(
        &self,
        source: &str,
        name: Option<&str>,
        words: &mut dyn Write,
    ) -> anyhow::Result<PendingAdd> {
        let place = Place::of(source, &self.settings.current_folder)?;
        if let Some(name) = name {
            check_component_name(name).map_err(|message| InstallError::Name {
                name: name.to_owned(),
                message,
            })?;
        }
        // A broken lock file is told before anything is built.
        Lock::read(&self.settings.project_folder)?;
        let loader = Loader::new(self, StateFolder::create(&self.settings.state_folder)?);
        let candidate = self.candidate(&loader, &place, name, words).await?;
        Ok(PendingAdd { loader, candidate })
    }

    /// Installs what was looked at.
    ///
    /// # Errors
    /// When its name or one of its functions is taken.
    pub fn add(&self, pending: PendingAdd) -> anyhow::Result<Added> {
        let PendingAdd { loader, candidate } = pending;
        let name = candidate.component.name().to_owned();
        let _guard = loader.store.guard()?;
        let mut lock = Lock::read(&self.settings.project_folder)?;
        let there = lock.components.get(&name).cloned();
        let (found, bytes) = (&candidate.entry.digest, &candidate.bytes);
        let entry = match &there {
            Some(known) if known.digest != *found => {
                return Err(InstallError::Taken {
                    name,
                    locked: known.digest.clone(),
                    found: found.clone(),
                }
                .into());
            }
            Some(known) => {
                // Whatever became of the stored bytes, these are the right ones.
                loader.store.put(found, bytes)?;
                known.clone()
            }
            None => {
                self.check_names(&loader, &lock, &[&candidate.component])?;
                loader.store.put(found, bytes)?;
                lock.components.insert(name, candidate.entry.clone());
                lock.write(&self.settings.project_folder)?;
                candidate.entry
            }
        };
        Ok(Added {
            component: candidate.component,
            entry,
            was_there: there.is_some(),
            notice: loader.engine.notice(),
        })
    }

    /// Looks at what the sources of all installed components, or of one, are now. Nothing is changed.
    ///
    /// # Errors
    /// When nothing of that name is installed, a source is gone, or what it is now is refused.
    pub async fn check_update(
        &self,
        name: Option<&str>,
        words: &mut dyn Write,
    ) -> anyhow::Result<PendingUpdate> {
        let project_folder = &self.settings.project_folder;
        let lock = Lock::read(project_folder)?;
        let chosen: Vec<_> = match name {
            Some(name) => vec![(name.to_owned(), self.locked(&lock, name)?.clone())],
            None => lock.components.into_iter().collect(),
        };
        let loader = Loader::new(self, StateFolder::create(&self.settings.state_folder)?);
        let mut candidates = Vec::new();
        for (name, old) in chosen {
            let obtained = match Place::of(&old.source, project_folder)? {
                Place::Local(path) => {
                    if path.is_dir() && !old.built {
                        let source_text = old.source.clone();
                        return Err(InstallError::FolderForFile { name, source_text }.into());
                    }
                    let file = loader.built(&name, &path, words)?;
                    loader.obtain_file(&name, &path, &file)?
                }
                Place::Remote(remote) => loader.obtain_remote(&name, &remote, words).await?,
            };
            check_still_signed(&name, &old, obtained.signed_by.as_deref())?;
            let source = old.source.clone();
            let candidate = loader.check(&name, obtained, source, old.built).await?;
            candidates.push((name, old, candidate));
        }

        let bound = Lock::read(project_folder)?.grants;
        let (mut checked, mut updates) = (Vec::new(), Vec::new());
        for (name, old, candidate) in candidates {
            let before = loader.known(&name, &old)?;
            let functions = candidate.component.functions().to_vec();
            let grants = self.settings.grants_of_installed.get(&name);
            let grants = grants.cloned().unwrap_or_default();
            let imports = candidate.component.imports().iter();
            let is_new = |import: &&String| {
                let known = before.as_ref();
                known.is_some_and(|known| !known.imports().contains(import))
            };
            updates.push(Updated {
                new_imports: imports.filter(is_new).cloned().collect(),
                was_bound: check_binding(bound.get(&name), &old.digest, &grants).is_ok(),
                grants,
                difference: before
                    .as_ref()
                    .map(|before| difference(before.functions(), &functions)),
                skill_before: before.as_ref().and_then(|known| known.skill().cloned()),
                skill: candidate.component.skill().cloned(),
                before: before.map_or_else(Vec::new, |known| known.functions().to_vec()),
                functions,
                name,
                old,
                new: candidate.entry.clone(),
            });
            checked.push(candidate);
        }
        Ok(PendingUpdate {
            loader,
            candidates: checked,
            updates,
        })
    }

    /// Carries updates out, all of them or none. With `keeps_grants` what was confirmed for the old
    /// bytes counts for the new ones.
    ///
    /// # Errors
    /// When a component was changed since, or its functions do not stand beside those of others.
    pub fn update(
        &self,
        pending: PendingUpdate,
        keeps_grants: bool,
    ) -> anyhow::Result<Vec<Updated>> {
        let project_folder = &self.settings.project_folder;
        let PendingUpdate {
            loader,
            candidates,
            updates,
        } = pending;
        let _guard = loader.store.guard()?;
        let mut lock = Lock::read(project_folder)?;
        let before = lock.clone();
        let components: Vec<_> = candidates.iter().map(|c| &c.component).collect();
        self.check_names(&loader, &lock, &components)?;
        for (updated, candidate) in updates.iter().zip(&candidates) {
            let Updated { name, old, .. } = updated;
            // Removed by another process meanwhile: it stays removed.
            if lock.entry(name)?.digest != old.digest {
                return Err(InstallError::Meanwhile(project_folder.join(LOCK_FILE)).into());
            }
            loader
                .store
                .put(&candidate.entry.digest, &candidate.bytes)?;
            let entry = candidate.entry.clone();
            if keeps_grants && updated.has_grants() && updated.was_bound {
                let bound = Binding::new(&entry.digest, &updated.grants);
                lock.grants.insert(name.clone(), bound);
            }
            lock.components.insert(name.clone(), entry);
        }
        if lock != before {
            lock.write(project_folder)?;
        }
        for updated in &updates {
            self.forget(&loader, &lock, &updated.old.digest)?;
        }
        Ok(updates)
    }

    /// What a source is now, checked, under a name that is free in the project file.
    async fn candidate(
        &self,
        loader: &Loader,
        place: &Place,
        name: Option<&str>,
        words: &mut dyn Write,
    ) -> anyhow::Result<Candidate> {
        let free = |name: String| match self.settings.component(&name) {
            Some(_) => Err(InstallError::InProject { name }),
            None => Ok(name),
        };
        match place {
            Place::Local(given) => {
                let shown = name.map_or_else(|| name_of(given), str::to_owned);
                let file = loader.built(&shown, given, words)?;
                // What a folder builds to has the name that its author chose.
                let name = free(name.map_or_else(|| name_of(&file), str::to_owned))?;
                let source = locked_source(given, &self.settings.project_folder)?;
                let obtained = loader.obtain_file(&name, given, &file)?;
                loader.check(&name, obtained, source, &file != given).await
            }
            Place::Remote(remote) => {
                let of_file = || name_of(Path::new(remote.file_name()));
                let name = free(name.map_or_else(of_file, str::to_owned))?;
                let obtained = loader.obtain_remote(&name, remote, words).await?;
                loader
                    .check(&name, obtained, remote.to_string(), false)
                    .await
            }
        }
    }

    /// The entry of an installed component.
    pub(super) fn locked<'a>(
        &self,
        lock: &'a Lock,
        name: &str,
    ) -> Result<&'a LockEntry, InstallError> {
        lock.entry(name).map_err(|error| {
            let name = name.to_owned();
            match self.settings.component(&name) {
                Some(_) => InstallError::NotLocked { name },
                None => error,
            }
        })
    }

    /// Checks that the functions of these components stand beside those of all others that are
    /// known. What is not known is checked when it is.
    fn check_names(
        &self,
        loader: &Loader,
        lock: &Lock,
        components: &[&LoadedComponent],
    ) -> anyhow::Result<()> {
        let is_new = |name: &str| components.iter().any(|c| c.name() == name);
        let mut all = Vec::new();
        for component in self.available_with(lock) {
            if !is_new(&component.name)
                && let Ok(Ok(known)) = loader.recall(&component)
            {
                all.push(known);
            }
        }
        all.extend(components.iter().map(|&component| component.clone()));
        catalog(&all)?;
        Ok(())
    }

    /// Removes bytes that no entry names any more. A state folder that serves other projects too
    /// keeps them.
    pub(super) fn forget(
        &self,
        loader: &Loader,
        lock: &Lock,
        digest: &str,
    ) -> Result<(), InstallError> {
        let own = self.settings.state_folder.parent();
        if lock.holds(digest) || own != Some(&self.settings.project_folder) {
            return Ok(());
        }
        loader.store.remove(digest)
    }
}

impl Loader {
    /// Loads and compiles what a source is now, as the component of this name.
    async fn check(
        &self,
        name: &str,
        obtained: Obtained,
        source: String,
        built: bool,
    ) -> anyhow::Result<Candidate> {
        let Obtained {
            bytes,
            manifest,
            signed_by,
        } = obtained;
        let (engine, mode) = (&self.engine, MetadataMode::Run);
        let load = async {
            let component = LoadedComponent::load(engine, name, Arc::clone(&bytes), mode).await?;
            component.compile(engine).await?;
            Ok(component)
        };
        let component = self.as_set(load.await.map_err(|source| refused(name, source)))?;
        let entry = LockEntry {
            source,
            built,
            digest: component.digest().to_owned(),
            size: bytes.len() as u64,
            contract: contract_of(&bytes),
            manifest,
            signed_by,
        };
        Ok(Candidate {
            component,
            entry,
            bytes,
        })
    }
}
