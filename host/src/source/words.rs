//! Gives finished components the words of their WIT, and writes components that were built.

use std::fs;
use std::path::Path;

use openprogram_component::Wit;

use super::manifest::Project;
use super::{BuildError, Built, OUTPUT_FOLDER, name_of};

/// Words that WIT keeps for itself, those of its newer versions included. As names they are written
/// with a per cent sign before them.
pub const WIT_KEYWORDS: [&str; 45] = [
    "as",
    "async",
    "bool",
    "borrow",
    "char",
    "constructor",
    "enum",
    "error-context",
    "export",
    "external-id",
    "f32",
    "f64",
    "flags",
    "from",
    "func",
    "future",
    "implements",
    "import",
    "include",
    "interface",
    "list",
    "map",
    "option",
    "own",
    "package",
    "record",
    "resource",
    "result",
    "s16",
    "s32",
    "s64",
    "s8",
    "static",
    "stream",
    "string",
    "tuple",
    "type",
    "u16",
    "u32",
    "u64",
    "u8",
    "use",
    "variant",
    "with",
    "world",
];

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

/// Has a tool make the component of a project at the path that it is given, and puts the component,
/// with the words of its WIT, where the project has it.
pub(super) fn make(
    project: &Project,
    wit: &Wit,
    tool: impl FnOnce(&Path) -> Result<(), BuildError>,
) -> Result<Built, BuildError> {
    let component = project.component();
    let made = component.with_extension("made");
    let output = project.folder.join(OUTPUT_FOLDER);
    fs::create_dir_all(&output).map_err(BuildError::io(&output))?;
    tool(&made)?;
    let placed = place(&made, wit, &component);
    // What is left over is made anew by the next build.
    let _ = fs::remove_file(&made);
    placed?;
    Ok(Built {
        package: name_of(&component),
        folder: project.folder.clone(),
        path: component,
    })
}

/// Puts the words of `wit` into what a tool made, at its place. Nothing is written when all is as it
/// was.
fn place(made: &Path, wit: &Wit, component: &Path) -> Result<(), BuildError> {
    let bytes = fs::read(made).map_err(BuildError::io(made))?;
    let described = wit.describe(&bytes)?;
    if made == component && described == bytes {
        return Ok(());
    }
    let beside = component.with_extension("described");
    fs::write(&beside, described)
        .and_then(|()| fs::rename(&beside, component))
        .map_err(BuildError::io(component))
}
