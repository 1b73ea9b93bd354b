//! Installing, updating and removing components: what is done to the lock file and the store.
//!
//! Building and loading take long and come first; the lock file is read again, checked and written
//! while no other process may change it.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use openprogram_component::{LoadedComponent, MetadataMode, contract_of};
use openprogram_core::function::Function;

use super::components::{Loader, refused};
use super::{App, catalog};
use crate::install::{
    Difference, InstallError, Lock, LockEntry, difference, local_path, locked_source,
};
use crate::settings::check_component_name;
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

/// What updating one component did.
#[derive(Debug)]
pub struct Updated {
    /// Its name.
    pub name: String,
    /// What it was.
    pub old: LockEntry,
    /// What it is now; the same as it was when the source has not changed.
    pub new: LockEntry,
    /// What changed in its functions; `None` when it is not known what they were.
    pub difference: Option<Difference>,
    functions: Vec<Function>,
}

impl Updated {
    /// Whether the source has changed.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        self.old != self.new
    }

    /// The functions as they are now.
    #[must_use]
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }
}

/// What removing a component did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// Its entry in the lock file, which is gone.
    pub entry: LockEntry,
    /// Whether the project file still grants something to it, and refuses to work until that goes.
    pub has_grants: bool,
}

/// A source as it is now, checked.
struct Candidate {
    component: LoadedComponent,
    entry: LockEntry,
    bytes: Arc<[u8]>,
}

impl App {
    /// Installs a component from a `.wasm` file or a source folder, which is built.
    ///
    /// # Errors
    /// When there is nothing, it is refused, or its name or one of its functions is taken.
    pub async fn add(
        &self,
        source: &str,
        name: Option<&str>,
        words: &mut dyn Write,
    ) -> anyhow::Result<Added> {
        let given = local_path(source, &self.settings.current_folder)?;
        if let Some(name) = name {
            check_component_name(name).map_err(|message| InstallError::Name {
                name: name.to_owned(),
                message,
            })?;
        }
        // A broken lock file is told before anything is built.
        Lock::read(&self.settings.project_folder)?;
        let loader = Loader::new(self, StateFolder::create(&self.settings.state_folder)?);
        let shown = name.map_or_else(|| name_of(&given), str::to_owned);
        let file = loader.built(&shown, &given, words)?;
        // What a folder builds to has the name that its author chose.
        let name = name.map_or_else(|| name_of(&file), str::to_owned);
        if self.settings.component(&name).is_some() {
            return Err(InstallError::InProject { name }.into());
        }
        let locked = locked_source(&given, &self.settings.project_folder)?;
        let candidate = loader.check(&name, &file, locked).await?;

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

    /// Takes what the sources of all installed components, or of one, are now. Either all of them
    /// are updated or none.
    ///
    /// # Errors
    /// When nothing of that name is installed, a source is gone, or what it is now is refused.
    pub async fn update(
        &self,
        name: Option<&str>,
        words: &mut dyn Write,
    ) -> anyhow::Result<Vec<Updated>> {
        let project_folder = &self.settings.project_folder;
        let lock = Lock::read(project_folder)?;
        let chosen: Vec<_> = match name {
            Some(name) => vec![(name.to_owned(), self.locked(&lock, name)?.clone())],
            None => lock.components.into_iter().collect(),
        };
        let loader = Loader::new(self, StateFolder::create(&self.settings.state_folder)?);
        let mut candidates = Vec::new();
        for (name, old) in chosen {
            let file = loader.built(&name, &project_folder.join(&old.source), words)?;
            let candidate = loader.check(&name, &file, old.source.clone()).await?;
            candidates.push((name, old, candidate));
        }

        let _guard = loader.store.guard()?;
        let mut lock = Lock::read(project_folder)?;
        let before = lock.clone();
        let components: Vec<_> = candidates.iter().map(|(_, _, c)| &c.component).collect();
        self.check_names(&loader, &lock, &components)?;
        for (name, _, candidate) in &candidates {
            // Removed by another process meanwhile: it stays removed.
            lock.entry(name)?;
            loader
                .store
                .put(&candidate.entry.digest, &candidate.bytes)?;
            let entry = candidate.entry.clone();
            lock.components.insert(name.clone(), entry);
        }
        if lock != before {
            lock.write(project_folder)?;
        }
        let mut updated = Vec::new();
        for (name, old, candidate) in candidates {
            let before = loader.known(&name, &old)?;
            let functions = candidate.component.functions().to_vec();
            let difference = before.map(|before| difference(before.functions(), &functions));
            self.forget(&loader, &lock, &old.digest)?;
            updated.push(Updated {
                name,
                old,
                new: candidate.entry,
                difference,
                functions,
            });
        }
        Ok(updated)
    }

    /// Removes an installed component from the lock file, and its bytes from the state folder.
    ///
    /// # Errors
    /// When nothing of that name is installed.
    pub fn remove(&self, name: &str) -> anyhow::Result<Removed> {
        let project_folder = &self.settings.project_folder;
        self.locked(&Lock::read(project_folder)?, name)?;
        let loader = Loader::new(self, StateFolder::create(&self.settings.state_folder)?);
        let _guard = loader.store.guard()?;
        let mut lock = Lock::read(project_folder)?;
        let entry = self.locked(&lock, name)?.clone();
        lock.components.remove(name);
        lock.write(project_folder)?;
        self.forget(&loader, &lock, &entry.digest)?;
        Ok(Removed {
            entry,
            has_grants: self.settings.grants_of_installed.contains_key(name),
        })
    }

    /// The entry of an installed component.
    fn locked<'a>(&self, lock: &'a Lock, name: &str) -> Result<&'a LockEntry, InstallError> {
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
    fn forget(&self, loader: &Loader, lock: &Lock, digest: &str) -> Result<(), InstallError> {
        let own = self.settings.state_folder.parent();
        if lock.holds(digest) || own != Some(&self.settings.project_folder) {
            return Ok(());
        }
        loader.store.remove(digest)
    }
}

impl Loader {
    /// Loads and compiles what a file holds now, as the component of this name.
    async fn check(&self, name: &str, file: &Path, source: String) -> anyhow::Result<Candidate> {
        let bytes = self.read(name, file)?;
        let (engine, mode) = (&self.engine, MetadataMode::Run);
        let load = async {
            let component = LoadedComponent::load(engine, name, Arc::clone(&bytes), mode).await?;
            component.compile(engine).await?;
            Ok(component)
        };
        let component = load.await.map_err(|source| refused(name, source))?;
        let entry = LockEntry {
            source,
            digest: component.digest().to_owned(),
            size: bytes.len() as u64,
            contract: contract_of(&bytes),
        };
        Ok(Candidate {
            component,
            entry,
            bytes,
        })
    }
}
