//! Which component of the project serves what another one imports from components.

use std::io::Write;
use std::sync::Arc;

use openprogram_component::{ImportedInterface, Link, LinkError, Links, LoadedComponent};

use super::components::{Available, Loader};
use super::{App, AppError, Components};
use crate::state::StateFolder;

/// An interface that a component imports from other components, and who serves it.
pub type Served = (ImportedInterface, Result<Link, LinkError>);

/// Who serves each of these components, or why one cannot be used: nobody serves what it imports, or
/// somebody does who cannot be used for that reason.
pub(super) fn link_all(components: &[LoadedComponent]) -> Vec<Result<Links, AppError>> {
    let mut refused: Vec<Option<AppError>> = components.iter().map(|_| None).collect();
    loop {
        let both = components.iter().zip(&refused);
        let usable = both.clone().filter(|(_, refused)| refused.is_none());
        let usable = usable.map(|(component, _)| component);
        let link = |(component, refused): (&LoadedComponent, &Option<AppError>)| match refused {
            None => component.link(usable.clone()),
            Some(_) => Ok(Links::default()),
        };
        let links: Vec<_> = both.clone().map(link).collect();
        if links.iter().all(Result::is_ok) {
            let links = links.into_iter().zip(refused);
            let outcome = |(links, refused): (Result<Links, LinkError>, Option<AppError>)| {
                refused.map_or_else(|| Ok(links.unwrap_or_default()), Err)
            };
            return links.map(outcome).collect();
        }
        let left_out: Vec<_> = both.filter(|(_, refused)| refused.is_some()).collect();
        let left_out: Vec<_> = left_out.into_iter().map(|(c, _)| c.clone()).collect();
        let parts = components.iter().zip(&mut refused).zip(links);
        for ((component, refused), links) in parts {
            if let Err(source) = links {
                *refused = Some(unlinked(component, source, &left_out));
            }
        }
    }
}

fn unlinked(
    component: &LoadedComponent,
    source: LinkError,
    left_out: &[LoadedComponent],
) -> AppError {
    let name = component.name().to_owned();
    if let LinkError::Nobody { interface, .. } = &source
        && let Some(Ok(link)) = component.link_interface(interface, left_out.iter())
    {
        return AppError::LinkedToLeftOut {
            name,
            interface: interface.clone(),
            exporter: link.component,
        };
    }
    let source = Box::new(source);
    AppError::Link { name, source }
}

/// Components that can be used together.
#[derive(Default)]
pub(super) struct Linked {
    pub(super) components: Vec<Available>,
    pub(super) loaded: Vec<LoadedComponent>,
    pub(super) links: Vec<Arc<Links>>,
    /// The component that the others are there for: the file that a run is of.
    pub(super) first: Option<String>,
}

impl Linked {
    /// Those of these components that can be used; why the others cannot is added to `left_out`, which
    /// is in the order of names.
    pub(super) fn of(
        (components, loaded): (Vec<Available>, Vec<LoadedComponent>),
        left_out: &mut Vec<(String, anyhow::Error)>,
    ) -> Self {
        let links = link_all(&loaded);
        let mut linked = Self::default();
        for ((component, loaded), links) in components.into_iter().zip(loaded).zip(links) {
            match links {
                Ok(links) => {
                    linked.components.push(component);
                    linked.loaded.push(loaded);
                    linked.links.push(Arc::new(links));
                }
                Err(error) => left_out.push((component.name, error.into())),
            }
        }
        left_out.sort_by(|a, b| a.0.cmp(&b.0));
        linked
    }

    /// The component of this name and those that serve it, and those that serve them.
    fn only(self, name: &str) -> Self {
        let mut wanted = vec![name.to_owned()];
        let mut next = 0;
        while let Some(name) = wanted.get(next) {
            let mut places = self.loaded.iter().zip(&self.links);
            let links = places.find(|(loaded, _)| loaded.name() == name);
            let exporters = links.iter().flat_map(|(_, links)| links.iter());
            let exporters: Vec<_> = exporters.map(|(_, link)| link.component.clone()).collect();
            for exporter in exporters {
                if !wanted.contains(&exporter) {
                    wanted.push(exporter);
                }
            }
            next += 1;
        }
        let mut only = Self {
            first: Some(name.to_owned()),
            ..Self::default()
        };
        let parts = self.components.into_iter().zip(self.loaded).zip(self.links);
        for ((component, loaded), links) in parts {
            if wanted.contains(&component.name) {
                only.components.push(component);
                only.loaded.push(loaded);
                only.links.push(links);
            }
        }
        only
    }
}

impl Loader {
    /// A component that is given by its path, with those of the project that serve its imports.
    ///
    /// # Errors
    /// When it cannot be loaded, or nobody serves what it imports.
    pub(super) async fn load_file_linked(
        &self,
        app: &App,
        given: Available,
        words: &mut dyn Write,
    ) -> anyhow::Result<Linked> {
        let name = given.name.clone();
        let loaded = self.load_bound(&given, words).await?;
        let (mut components, mut all) = (vec![given], vec![loaded]);
        let mut left_out = Vec::new();
        if all
            .iter()
            .any(|loaded| !loaded.imported_interfaces().is_empty())
        {
            let others = app
                .available()?
                .into_iter()
                .filter(|other| other.name != name);
            let others = self.load_all(others.collect(), &mut left_out, words).await;
            components.extend(others.0);
            all.extend(others.1);
        }
        let linked = Linked::of((components, all), &mut left_out);
        if let Some(place) = left_out.iter().position(|(left, _)| *left == name) {
            return Err(left_out.swap_remove(place).1);
        }
        Ok(linked.only(&name))
    }
}

impl App {
    /// The components of a run, each with who serves it; what is left out of the run goes to
    /// `left_out`.
    ///
    /// # Errors
    /// When the project file or the lock file cannot be used, or the one file that the run is of.
    pub(super) async fn load_linked(
        &self,
        loader: &Loader,
        components: &Components,
        left_out: &mut Vec<(String, anyhow::Error)>,
        words: &mut dyn Write,
    ) -> anyhow::Result<Linked> {
        match components {
            Components::Project => {
                let all = loader.load_all(self.available()?, left_out, words).await;
                Ok(Linked::of(all, left_out))
            }
            Components::File(path) => {
                let given = Available::unnamed(self.settings.current_folder.join(path));
                loader.load_file_linked(self, given, words).await
            }
            Components::None => Ok(Linked::default()),
        }
    }

    /// The interfaces that a component imports from other components, and who of the project serves
    /// them, as far as components are known. Builds and runs nothing.
    ///
    /// # Errors
    /// When the project file or the lock file cannot be used.
    pub fn served(&self, component: &LoadedComponent) -> anyhow::Result<Vec<Served>> {
        let imported = component.imported_interfaces();
        if imported.is_empty() {
            return Ok(Vec::new());
        }
        let mut known = self.known()?;
        known.retain(|other| other.name() != component.name());
        known.push(component.clone());
        let serve = |interface: ImportedInterface| {
            let link = component.link_interface(&interface.name, known.iter())?;
            Some((interface, link))
        };
        Ok(imported.into_iter().filter_map(serve).collect())
    }

    /// The components of the project that import something from this one.
    ///
    /// # Errors
    /// When the project file or the lock file cannot be used.
    pub fn importers_of(&self, exporter: &str) -> anyhow::Result<Vec<String>> {
        let known = self.known()?;
        let links = link_all(&known);
        let is_served = |links: &Result<Links, AppError>| {
            let mut links = links.iter().flat_map(Links::iter);
            links.any(|(_, link)| link.component == exporter)
        };
        let both = known.iter().map(LoadedComponent::name).zip(&links);
        let importers = both.filter(|(name, links)| *name != exporter && is_served(links));
        Ok(importers.map(|(name, _)| name.to_owned()).collect())
    }

    /// Why components of the project cannot be linked, as far as components are known, by name.
    ///
    /// # Errors
    /// When the project file or the lock file cannot be used.
    pub fn unlinked(&self) -> anyhow::Result<Vec<(String, AppError)>> {
        let known = self.known()?;
        let links = known.iter().zip(link_all(&known));
        let errors = links.filter_map(|(component, links)| {
            let name = component.name().to_owned();
            Some((name, links.err()?))
        });
        Ok(errors.collect())
    }

    /// The components of the project of which something is known. Builds and runs nothing, and leaves
    /// no traces where nothing was ever run.
    fn known(&self) -> anyhow::Result<Vec<LoadedComponent>> {
        let available = self.available()?;
        if !self.settings.state_folder.exists() {
            return Ok(Vec::new());
        }
        let loader = Loader::new(self, StateFolder::create(&self.settings.state_folder)?);
        let known = available
            .iter()
            .filter_map(|component| loader.recall(component).ok()?.ok());
        Ok(known.collect())
    }
}
