//! The components of a run: those of the project file, those that are installed, or one by its path.
//!
//! Code is loaded by the first call. What was learned of a component before is enough to list its
//! functions; what was never seen is fetched or built, checked, and asked for its metadata.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use anyhow::Context as _;
use openprogram_component::{
    ComponentSource, Engine, EngineOptions, LoadError, LoadedComponent, MetadataMode,
    read_component,
};
use openprogram_core::grant::Grants;

use super::fetching::check_signed;
use super::{App, AppError};
use crate::fetch::Fetcher;
use crate::install::{Binding, ComponentStore, InstallError, Lock, LockEntry, check_binding};
use crate::settings::{ComponentSettings, SignatureSettings};
use crate::source::{component_file, name_of, names_file};
use crate::state::StateFolder;

/// A component that functions may come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Available {
    pub(super) name: String,
    pub(super) origin: Origin,
    /// What it is granted.
    pub(super) grants: Grants,
    /// What a person said yes to.
    pub(super) bound: Option<Binding>,
}

/// Where its bytes are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// In a file, or in what a source folder builds to.
    Path(PathBuf),
    /// In the store, under the digest of the lock file.
    Installed(LockEntry),
}

impl Available {
    /// A component that is given by its path alone. It has no grants.
    pub(super) fn unnamed(path: PathBuf) -> Self {
        Self {
            name: name_of(&path),
            origin: Origin::Path(path),
            grants: Grants::default(),
            bound: None,
        }
    }

    fn of_project(component: &ComponentSettings, lock: &Lock) -> Self {
        Self {
            name: component.name.clone(),
            origin: Origin::Path(component.source.clone()),
            grants: component.grants.clone(),
            bound: lock.grants.get(&component.name).cloned(),
        }
    }

    /// Whether it is a source folder of the project file: code of the person, which builds with
    /// every right that the person has. Its bytes change with every edit, so a yes to one of them
    /// would be asked for all the time and protect nothing.
    ///
    /// A folder with the name of a component file is none: something has put it in the place of one.
    pub(super) fn is_own_code(&self) -> bool {
        matches!(&self.origin, Origin::Path(path) if !names_file(path) && path.is_dir())
    }

    /// Refuses to build what was a file when its grants were confirmed: nobody said yes to running
    /// the code of a folder in its place.
    fn check_kind(&self) -> Result<(), InstallError> {
        if self.bound.is_none() || !self.is_own_code() {
            return Ok(());
        }
        let name = self.name.clone();
        Err(InstallError::FolderForGrants { name })
    }

    /// Refuses grants that nobody said yes to for these bytes.
    ///
    /// # Errors
    /// What differs from what was confirmed, and the command that confirms.
    pub(super) fn check_bound(&self, digest: &str) -> Result<(), InstallError> {
        if self.is_own_code() {
            return Ok(());
        }
        let checked = check_binding(self.bound.as_ref(), digest, &self.grants);
        checked.map_err(|why| InstallError::Unbound {
            name: self.name.clone(),
            why,
        })
    }
}

impl App {
    /// Every component of the project, by name.
    ///
    /// # Errors
    /// When the lock file cannot be used, or it and the project file contradict each other.
    pub(super) fn available(&self) -> Result<Vec<Available>, InstallError> {
        let settings = &self.settings;
        let lock = Lock::read(&settings.project_folder)?;
        let is_locked = |name: &String| lock.components.contains_key(name);
        if let Some(name) = settings.grants_of_installed.keys().find(|n| !is_locked(n)) {
            return Err(InstallError::GrantsToNobody { name: name.clone() });
        }
        let is_twice = |component: &&ComponentSettings| is_locked(&component.name);
        if let Some(component) = settings.components.iter().find(is_twice) {
            let name = component.name.clone();
            return Err(InstallError::Twice { name });
        }
        for (name, entry) in &lock.components {
            check_signed(&settings.signatures, name, entry)?;
        }
        Ok(self.available_with(&lock))
    }

    /// Every component of the project file and of this lock, by name.
    pub(super) fn available_with(&self, lock: &Lock) -> Vec<Available> {
        let settings = &self.settings;
        let of_project = settings.components.iter();
        let of_project = of_project.map(|component| Available::of_project(component, lock));
        let installed = lock.components.iter().map(|(name, entry)| {
            let grants = settings.grants_of_installed.get(name).cloned();
            Available {
                name: name.clone(),
                origin: Origin::Installed(entry.clone()),
                grants: grants.unwrap_or_default(),
                bound: lock.grants.get(name).cloned(),
            }
        });
        let mut available: Vec<_> = of_project.chain(installed).collect();
        available.sort_by(|a, b| a.name.cmp(&b.name));
        available
    }

    /// The component of this name.
    ///
    /// # Errors
    /// As [`App::available`].
    pub(super) fn find(&self, name: &str) -> Result<Option<Available>, InstallError> {
        let mut available = self.available()?.into_iter();
        Ok(available.find(|component| component.name == name))
    }

    /// Loads one component: a name of the project, a file, or a source folder.
    ///
    /// # Errors
    /// When there is none, it does not build, or it is refused.
    pub async fn load_component(
        &self,
        given: &str,
        mode: MetadataMode,
        words: &mut dyn Write,
    ) -> anyhow::Result<LoadedComponent> {
        let state = StateFolder::create(&self.settings.state_folder)?;
        let loader = Loader::new(self, state);
        let path = self.settings.current_folder.join(given);
        let component = match self.find(given)? {
            Some(component) => component,
            None if path.exists() => Available::unnamed(path),
            None => {
                let known = self.available()?.into_iter().map(|c| c.name).collect();
                let name = given.to_owned();
                return Err(AppError::UnknownComponent { name, known }.into());
            }
        };
        loader.load(&component, mode, words).await
    }
}

/// Loads components for one command.
pub(super) struct Loader {
    pub(super) engine: Engine,
    pub(super) state: StateFolder,
    pub(super) store: ComponentStore,
    pub(super) project_folder: PathBuf,
    pub(super) fetcher: Arc<Fetcher>,
    pub(super) signatures: SignatureSettings,
    /// The components whose instances may live on.
    stateful: BTreeSet<String>,
    /// What is kept from functions that write to files; found once.
    pub(super) kept: OnceLock<Vec<PathBuf>>,
}

impl Loader {
    /// Builds nothing: the engine is made when something is compiled or called.
    pub(super) fn new(app: &App, state: StateFolder) -> Self {
        Self {
            engine: Engine::new(EngineOptions {
                cache_folder: Some(state.cache().join("components")),
                ..EngineOptions::default()
            }),
            store: ComponentStore::at(state.components()),
            state,
            project_folder: app.settings.project_folder.clone(),
            fetcher: Arc::clone(&app.fetcher),
            signatures: app.settings.signatures.clone(),
            stateful: app.settings.stateful.clone(),
            kept: OnceLock::new(),
        }
    }

    pub(super) async fn load(
        &self,
        component: &Available,
        mode: MetadataMode,
        words: &mut dyn Write,
    ) -> anyhow::Result<LoadedComponent> {
        let name = &component.name;
        match &component.origin {
            Origin::Path(source) => {
                component.check_kind()?;
                let file = self.built(name, source, words)?;
                let loaded = LoadedComponent::load_file(&self.engine, name, &file, mode);
                self.as_set(loaded.await.map_err(|source| refused(name, source)))
            }
            Origin::Installed(entry) => self.load_installed(name, entry, mode, words).await,
        }
    }

    /// Loads those of these components that can be used, and says of the others why they cannot.
    pub(super) async fn load_all(
        &self,
        components: Vec<Available>,
        left_out: &mut Vec<(String, anyhow::Error)>,
        words: &mut dyn Write,
    ) -> (Vec<Available>, Vec<LoadedComponent>) {
        let (mut usable, mut loaded) = (Vec::new(), Vec::new());
        for component in components {
            match self.load_bound(&component, words).await {
                Ok(one) => {
                    usable.push(component);
                    loaded.push(one);
                }
                Err(error) => left_out.push((component.name, error)),
            }
        }
        (usable, loaded)
    }

    /// Loads a component whose grants somebody said yes to.
    pub(super) async fn load_bound(
        &self,
        component: &Available,
        words: &mut dyn Write,
    ) -> anyhow::Result<LoadedComponent> {
        let loaded = self.load(component, MetadataMode::Run, words).await?;
        component.check_bound(loaded.digest())?;
        Ok(loaded)
    }

    async fn load_installed(
        &self,
        name: &str,
        entry: &LockEntry,
        mode: MetadataMode,
        words: &mut dyn Write,
    ) -> anyhow::Result<LoadedComponent> {
        if !self.store.has(&entry.digest)? {
            self.fetch(name, entry, words).await?;
        }
        if let Some(known) = self.known(name, entry)? {
            return Ok(known);
        }
        let bytes = self.stored(name, entry)?;
        let loaded = LoadedComponent::load(&self.engine, name, bytes, mode).await;
        self.as_set(loaded.map_err(|source| refused(name, source)))
    }

    /// A component that was loaded, with what the project file sets for it.
    pub(super) fn as_set<E>(
        &self,
        loaded: Result<LoadedComponent, E>,
    ) -> Result<LoadedComponent, E> {
        loaded.map(|loaded| match self.stateful.contains(loaded.name()) {
            true => loaded.with_state(),
            false => loaded,
        })
    }

    /// An installed component that was seen before; its bytes are not looked at.
    pub(super) fn known(
        &self,
        name: &str,
        entry: &LockEntry,
    ) -> anyhow::Result<Option<LoadedComponent>> {
        let source = ComponentSource::File(self.store.file(&entry.digest));
        let known = LoadedComponent::from_cache(&self.engine, name, &entry.digest, source);
        let known = known.map_err(|source| refused(name, source))?;
        known.map(|known| self.as_set(Ok(known))).transpose()
    }

    /// The `.wasm` file of a source, which is built when it is a folder that has changed.
    pub(super) fn built(
        &self,
        name: &str,
        source: &Path,
        words: &mut dyn Write,
    ) -> anyhow::Result<PathBuf> {
        component_file(source, &self.state.cache(), words)
            .with_context(|| format!("the component `{name}` cannot be loaded"))
    }

    /// The bytes of a file that may be a component.
    pub(super) fn read(&self, name: &str, file: &Path) -> anyhow::Result<Arc<[u8]>> {
        let max = self.engine.options().component_bytes_max;
        read_component(file, max).map_err(|source| refused(name, source))
    }

    /// Puts the bytes of a component into the store, from its source, when that is still the same.
    async fn fetch(
        &self,
        name: &str,
        entry: &LockEntry,
        words: &mut dyn Write,
    ) -> anyhow::Result<()> {
        let bytes = self.obtain_locked(name, entry, words).await?;
        self.store.put(&entry.digest, &bytes)?;
        // Words that cannot be written are no reason to fail: nobody is there to read them.
        let _ = writeln!(words, "fetched `{name}` from `{}`", entry.source);
        Ok(())
    }
}

/// The error of a component that is not loaded.
pub(super) fn refused(name: &str, source: LoadError) -> anyhow::Error {
    let name = name.to_owned();
    AppError::Load { name, source }.into()
}
