//! Gives finished components the words of their WIT, and writes components that were built.

use std::fs;
use std::path::Path;

use openprogram_component::Wit;

use super::{BuildError, Built, name_of};

/// Puts the doc comments of WIT into a component that another tool made, in place of the words that
/// it has. The component is written anew, whole or not at all.
///
/// # Errors
/// When the WIT or the component cannot be used, or do not belong together.
pub fn describe(component: &Path, wit: &Path, world: Option<&str>) -> Result<Built, BuildError> {
    if !component.exists() {
        return Err(BuildError::Missing(component.to_owned()));
    }
    if !component.is_file() {
        return Err(BuildError::NoComponentFile(component.to_owned()));
    }
    let wit = Wit::read(wit, world)?;
    place(component, &wit, component)?;
    Ok(Built {
        package: name_of(component),
        folder: component.parent().unwrap_or(component).to_owned(),
        path: component.to_owned(),
    })
}

/// Puts the words of `wit` into what a tool made, at its place. Nothing is written when all is as it
/// was.
pub(super) fn place(made: &Path, wit: &Wit, component: &Path) -> Result<(), BuildError> {
    let io = |path: &Path| {
        let path = path.to_owned();
        move |source| BuildError::Io { path, source }
    };
    let bytes = fs::read(made).map_err(io(made))?;
    let described = wit.describe(&bytes)?;
    if made == component && described == bytes {
        return Ok(());
    }
    let beside = component.with_extension("described");
    fs::write(&beside, described)
        .and_then(|()| fs::rename(&beside, component))
        .map_err(io(component))
}
