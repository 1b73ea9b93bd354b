//! The functions of a project from what is known of its components: nothing is built, compiled or
//! run, unless a person asks to learn what is not known.

use std::io::Write;

use openprogram_component::{
    ComponentSource, LoadedComponent, MetadataMode, contract_hash, digest_of,
};
use openprogram_core::catalog::Catalog;
use openprogram_core::failure::FailureCode;

use super::App;
use super::components::{Available, Loader, Origin, refused};
use super::linking::link_all;
use crate::source::built_before;
use crate::state::StateFolder;

/// The components of a project, as far as they are known.
#[derive(Debug, Default)]
pub struct Listing {
    /// Those whose functions are known, by name.
    pub known: Vec<Listed>,
    /// The others.
    pub unknown: Vec<Unknown>,
    /// Whether the engine that compiles and runs components was needed.
    pub engine_was_built: bool,
}

impl Listing {
    /// The components whose functions are known.
    pub(super) fn components(&self) -> Vec<LoadedComponent> {
        let known = self.known.iter();
        known.map(|listed| listed.component.clone()).collect()
    }

    /// Takes out what cannot be used because nobody serves its imports. Where a component is not
    /// known, it may be the one that does.
    fn leave_out_unlinked(&mut self) {
        let links = link_all(&self.components());
        let some_unknown = !self.unknown.is_empty();
        for (listed, links) in std::mem::take(&mut self.known).into_iter().zip(links) {
            match links {
                Err(error) if !(some_unknown && error.code() == FailureCode::NotFound) => {
                    let name = listed.component.name();
                    self.unknown.push(Unknown::unusable(name, &error.into()));
                }
                _ => self.known.push(listed),
            }
        }
        self.unknown.sort_by(|a, b| a.name.cmp(&b.name));
    }
}

/// A component whose functions are known.
#[derive(Debug)]
pub struct Listed {
    /// What is known of it.
    pub component: LoadedComponent,
    /// Whether it is installed; otherwise the project file names it.
    pub is_installed: bool,
    /// Its file or source folder, as the project file or the lock file has it.
    pub source: String,
}

/// A component whose functions are not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// Its name.
    pub name: String,
    /// Why they are not.
    pub reason: String,
    /// What a person can do about it, where the reason does not say.
    pub remedy: Option<String>,
    is_learnable: bool,
}

impl Unknown {
    fn learnable(component: &Available, reason: impl Into<String>) -> Self {
        Self {
            name: component.name.clone(),
            reason: reason.into(),
            remedy: Some("`openprogram functions --learn` looks at it".to_owned()),
            is_learnable: true,
        }
    }

    fn unusable(name: &str, error: &anyhow::Error) -> Self {
        let mut causes: Vec<String> = error.chain().map(ToString::to_string).collect();
        causes.dedup_by(|cause, before| before.ends_with(cause.as_str()));
        Self {
            name: name.to_owned(),
            reason: causes.join(": "),
            remedy: None,
            is_learnable: false,
        }
    }
}

impl App {
    /// The components of the project and their functions. With `learn`, what is not known is
    /// fetched or built, checked, and asked for its metadata.
    ///
    /// # Errors
    /// When the project file or the lock file cannot be used. What is wrong with one component is
    /// listed with it.
    pub async fn listing(&self, learn: bool, words: &mut dyn Write) -> anyhow::Result<Listing> {
        let available = self.available()?;
        let folder = &self.settings.state_folder;
        // A list leaves no traces where nothing was ever run.
        if !learn && !folder.exists() {
            let unknown = available.iter().map(|c| Unknown::learnable(c, NOT_SEEN));
            return Ok(Listing {
                unknown: unknown.collect(),
                ..Listing::default()
            });
        }
        let loader = Loader::new(self, StateFolder::create(folder)?);
        let mut listing = Listing::default();
        let mut catalog = Catalog::default();
        for component in available {
            let found = loader.recall(&component);
            let found = match found {
                Ok(Err(unknown)) if learn && unknown.is_learnable => loader
                    .load(&component, MetadataMode::Run, words)
                    .await
                    .map(Ok),
                found => found,
            };
            let name = &component.name;
            let found = found.unwrap_or_else(|error| Err(Unknown::unusable(name, &error)));
            let found = found.and_then(|loaded| {
                let functions = loaded.functions().to_vec();
                let added = catalog.add(loaded.name(), functions);
                added.map_err(|error| Unknown::unusable(name, &error.into()))?;
                Ok(loaded)
            });
            match found {
                Ok(loaded) => listing.known.push(self.listed(component.origin, loaded)),
                Err(unknown) => listing.unknown.push(unknown),
            }
        }
        listing.leave_out_unlinked();
        listing.engine_was_built = loader.engine.is_built();
        Ok(listing)
    }

    fn listed(&self, origin: Origin, component: LoadedComponent) -> Listed {
        let (is_installed, source) = match origin {
            Origin::Path(path) => {
                let shown = path.strip_prefix(&self.settings.project_folder);
                (false, shown.unwrap_or(&path).display().to_string())
            }
            Origin::Installed(entry) => (true, entry.source),
        };
        Listed {
            component,
            is_installed,
            source,
        }
    }
}

const NOT_SEEN: &str = "it was not looked at yet";

impl Loader {
    /// A component from what is known of it, or why nothing is. Neither an engine nor a tool is
    /// started.
    pub(super) fn recall(
        &self,
        component: &Available,
    ) -> anyhow::Result<Result<LoadedComponent, Unknown>> {
        let name = &component.name;
        let unknown = |reason: &str| Ok(Err(Unknown::learnable(component, reason)));
        let source = match &component.origin {
            Origin::Installed(entry) => {
                let other = entry.contract.as_deref();
                if other.is_some_and(|contract| contract != contract_hash()) {
                    return Ok(Err(Unknown {
                        name: name.clone(),
                        reason: "it was built with another contract".to_owned(),
                        remedy: Some(format!(
                            "rebuild it with this SDK, and `openprogram update {name}`"
                        )),
                        is_learnable: false,
                    }));
                }
                return match self.known(name, entry)? {
                    Some(known) => Ok(Ok(known)),
                    None if self.store.has(&entry.digest)? => unknown(NOT_SEEN),
                    None => unknown("its bytes are not in the state folder"),
                };
            }
            Origin::Path(source) => source,
        };
        let file = if source.is_file() {
            source.clone()
        } else if !source.is_dir() {
            return Ok(Err(Unknown {
                name: name.clone(),
                reason: format!("there is no file or folder `{}`", source.display()),
                remedy: Some("put it back, or change its `source` in openprogram.toml".to_owned()),
                is_learnable: false,
            }));
        } else if let Some(file) = built_before(source, &self.state.cache()) {
            file
        } else {
            return unknown("its source folder is not built, or has changed since");
        };
        let digest = digest_of(&self.read(name, &file)?);
        let source = ComponentSource::File(file);
        let known = LoadedComponent::from_cache(&self.engine, name, &digest, source);
        match known.map_err(|source| refused(name, source))? {
            Some(known) => self.as_set(Ok(known)).map(Ok),
            None => unknown(NOT_SEEN),
        }
    }
}
