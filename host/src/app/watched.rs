//! The sources of components that a person edits: files and folders, and nothing that is installed.

use std::io::Write;
use std::path::{Path, PathBuf};

use openprogram_core::catalog::Catalog;

use super::components::Origin;
use super::{App, AppError};

/// Nothing can be watched: the component is installed by its digest, or no component has a source.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}; name a source folder or file with `--component`", self.what())]
pub struct NoSource(Option<String>);

impl NoSource {
    fn what(&self) -> String {
        match &self.0 {
            Some(name) => format!("`{name}` is installed by its digest and does not change"),
            None => "no component of the project has a source that could change".to_owned(),
        }
    }
}

impl App {
    /// The sources that are worth watching for a run of `function`: `component` alone, or those that
    /// the project file names.
    ///
    /// # Errors
    /// When there are none, or the function is known to be one of an installed component.
    pub async fn sources(
        &self,
        component: Option<&Path>,
        function: &str,
        words: &mut dyn Write,
    ) -> anyhow::Result<Vec<PathBuf>> {
        if let Some(path) = component {
            return Ok(vec![self.settings.current_folder.join(path)]);
        }
        let available = self.available()?;
        // What is not known yet is found when it runs.
        let listing = self.listing(false, words).await?;
        let mut catalog = Catalog::default();
        for component in listing.components() {
            catalog
                .add(component.name(), component.functions().to_vec())
                .map_err(|source| AppError::Add {
                    name: component.name().to_owned(),
                    source,
                })?;
        }
        let found = catalog.resolve(function, None).ok();
        let of = found.as_ref().map(|function| &*function.name.component);
        let is_installed = |name: &str| {
            let mut installed = listing.known.iter().filter(|listed| listed.is_installed);
            installed.any(|listed| listed.component.name() == name)
        };
        if let Some(name) = of.filter(|name| is_installed(name)) {
            return Err(AppError::NoSource(NoSource(Some(name.to_owned()))).into());
        }
        let paths = available
            .into_iter()
            .filter_map(|component| match component.origin {
                Origin::Path(path) => Some(path),
                Origin::Installed(_) => None,
            });
        let paths: Vec<_> = paths.collect();
        match paths.is_empty() {
            true => Err(AppError::NoSource(NoSource(None)).into()),
            false => Ok(paths),
        }
    }
}
