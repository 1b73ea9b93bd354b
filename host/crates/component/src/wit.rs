//! Reads the WIT that a component was made from, and puts its words into the component.
//!
//! Toolchains of other languages drop doc comments. Here they become a `package-docs` section of the
//! component, with what the component exports and nothing else.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use wit_parser::{
    InterfaceId, Resolve, SourceMap, TypeDefKind, TypeId, UnresolvedPackageGroup, WorldId,
    WorldItem,
};

use crate::decode::signature;
use crate::docs::{SECTION, TypeWords};
use crate::error::LoadError;
use crate::facts::{OWN_PACKAGE, short_name};
use crate::sections::with_section;
use crate::source::check_form;
use crate::structure;
use crate::wit_comments::only_docs;

/// The version of the format of the section.
const VERSION: u8 = 1;
/// Largest WIT file that is read.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// Why WIT cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WitError {
    /// A file or folder cannot be read.
    #[error("cannot read `{}`", path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file is too large.
    #[error("`{}` is larger than {FILE_BYTES_MAX} bytes", .0.display())]
    TooLarge(PathBuf),
    /// A folder holds no WIT.
    #[error("`{}` holds no `.wit` file", .0.display())]
    Nothing(PathBuf),
    /// A mistake in the WIT; the text names its place.
    #[error("the WIT in `{}` cannot be used: {message}", path.display())]
    Mistake {
        /// The file or folder that was read.
        path: PathBuf,
        /// The place and what is wrong there.
        message: String,
    },
    /// The component is none, or another one.
    #[error("this is no component that can be described: {0}")]
    Component(#[from] LoadError),
    /// The component exports nothing of what the world exports.
    #[error(
        "the world `{world}` exports nothing that the component exports; name the WIT it was made from"
    )]
    AnotherComponent {
        /// The world.
        world: String,
    },
}

/// The WIT of a component, with the world that it was made for.
#[derive(Debug)]
pub struct Wit {
    resolve: Resolve,
    world: WorldId,
}

/// What the section holds. Names are those that the author gave.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
struct Package {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    worlds: BTreeMap<String, World>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    interfaces: BTreeMap<String, Interface>,
}

#[derive(Debug, Default, PartialEq, Eq, Serialize)]
struct World {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    types: BTreeMap<String, TypeWords>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    interface_exports: BTreeMap<String, Interface>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    func_exports: BTreeMap<String, Words>,
}

#[derive(Debug, Default, PartialEq, Eq, Serialize)]
struct Interface {
    #[serde(skip_serializing_if = "Option::is_none")]
    docs: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    funcs: BTreeMap<String, Words>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    types: BTreeMap<String, TypeWords>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct Words {
    docs: String,
}

impl Wit {
    /// Reads a WIT file, or a folder of them with its dependencies in `deps`.
    ///
    /// `world` names one of the worlds of the package; it may be left out where there is one.
    ///
    /// # Errors
    /// When a file cannot be read or understood, or there is no such world.
    pub fn read(path: &Path, world: Option<&str>) -> Result<Self, WitError> {
        let mut resolve = Resolve::default();
        let main = source(path)?;
        let mut deps = Vec::new();
        for entry in entries(&path.join("deps"))? {
            if entry.is_dir() || has_ending(&entry, "wit") {
                deps.push(parse(source(&entry)?, path)?);
            } else if has_ending(&entry, "wasm") {
                resolve
                    .push_path(&entry)
                    .map_err(|error| mistake(path, format!("{error:#}")))?;
            }
        }
        let package = resolve.push_groups(parse(main, path)?, deps);
        let package = package.map_err(|error| mistake(path, error.render(&resolve.source_map)))?;
        let world = resolve
            .select_world(&[package], world)
            .map_err(|error| mistake(path, format!("{error:#}")))?;
        Ok(Self { resolve, world })
    }

    /// The name of the world.
    #[must_use]
    pub fn world(&self) -> &str {
        &self.resolve.worlds[self.world].name
    }

    /// The component with the words of this WIT, in place of those that it has.
    ///
    /// # Errors
    /// When the bytes are no component, or one that exports nothing of what the world exports.
    pub fn describe(&self, component: &[u8]) -> Result<Vec<u8>, WitError> {
        check_form(component, u64::MAX)?;
        structure::check(component)?;
        let exports = signature(component)?.exports;
        let own = &self.resolve.worlds[self.world].exports;
        let mut own = own.keys().map(|key| self.resolve.name_world_key(key));
        if own.len() > 0 && !own.any(|name| exports.contains(&name)) {
            return Err(WitError::AnotherComponent {
                world: self.world().to_owned(),
            });
        }
        let package = self.package();
        let content = (package != Package::default()).then(|| {
            let mut content = vec![VERSION];
            // Maps from text to text are always written.
            content.extend(serde_json::to_vec(&package).unwrap_or_default());
            content
        });
        Ok(with_section(component, SECTION, content.as_deref()))
    }

    fn package(&self) -> Package {
        let mut package = Package::default();
        let mut own = World::default();
        let world = &self.resolve.worlds[self.world];
        for (key, item) in world.imports.iter().chain(&world.exports) {
            let exported = world.exports.get(key) == Some(item);
            let name = self.resolve.name_world_key(key);
            match item {
                WorldItem::Interface { id, .. } if !is_of_the_host(&name) => {
                    let interface = self.interface(*id, exported);
                    // An interface that is written in the world itself has no package.
                    let is_inline = self.resolve.interfaces[*id].name.is_none();
                    let place = match is_inline {
                        true if exported => &mut own.interface_exports,
                        true => continue,
                        false => &mut package.interfaces,
                    };
                    add(
                        place.entry(short_name(&name).to_owned()).or_default(),
                        interface,
                    );
                }
                WorldItem::Interface { .. } => {}
                WorldItem::Function(function) => {
                    if let Some(docs) = function.docs.contents.clone().filter(|_| exported) {
                        own.func_exports.insert(name, Words { docs });
                    }
                }
                WorldItem::Type { id, .. } => {
                    own.types
                        .extend(self.type_words(*id).map(|words| (name, words)));
                }
            }
        }
        package
            .interfaces
            .retain(|_, it| *it != Interface::default());
        own.interface_exports
            .retain(|_, it| *it != Interface::default());
        if own != World::default() {
            package.worlds.insert(world.name.clone(), own);
        }
        package
    }

    /// The words of an interface; of one that is imported, its types alone, which exported
    /// functions may use.
    fn interface(&self, id: InterfaceId, exported: bool) -> Interface {
        let interface = &self.resolve.interfaces[id];
        let functions = interface.functions.iter().filter(|_| exported);
        let funcs = functions.filter_map(|(name, function)| {
            let docs = function.docs.contents.clone()?;
            Some((name.clone(), Words { docs }))
        });
        let types = interface.types.iter();
        let types = types.filter_map(|(name, id)| Some((name.clone(), self.type_words(*id)?)));
        Interface {
            docs: interface.docs.contents.clone().filter(|_| exported),
            funcs: funcs.collect(),
            types: types.collect(),
        }
    }

    fn type_words(&self, id: TypeId) -> Option<TypeWords> {
        let ty = &self.resolve.types[id];
        let member = |name: &String, docs: &Option<String>| Some((name.clone(), docs.clone()?));
        let items = match &ty.kind {
            TypeDefKind::Record(it) => {
                let fields = it.fields.iter();
                fields
                    .filter_map(|f| member(&f.name, &f.docs.contents))
                    .collect()
            }
            TypeDefKind::Variant(it) => {
                let cases = it.cases.iter();
                cases
                    .filter_map(|c| member(&c.name, &c.docs.contents))
                    .collect()
            }
            TypeDefKind::Enum(it) => {
                let cases = it.cases.iter();
                cases
                    .filter_map(|c| member(&c.name, &c.docs.contents))
                    .collect()
            }
            TypeDefKind::Flags(it) => {
                let flags = it.flags.iter();
                flags
                    .filter_map(|f| member(&f.name, &f.docs.contents))
                    .collect()
            }
            _ => BTreeMap::new(),
        };
        let docs = ty.docs.contents.clone();
        let words = TypeWords { docs, items };
        (words != TypeWords::default()).then_some(words)
    }
}

/// Whether an interface is one of the contract or of WASI, which describes itself.
fn is_of_the_host(name: &str) -> bool {
    name.starts_with(OWN_PACKAGE) || name.starts_with("wasi:")
}

/// Adds words; what was said before stays. Versions of one interface share a name.
fn add(known: &mut Interface, more: Interface) {
    known.docs = known.docs.take().or(more.docs);
    for (name, words) in more.funcs {
        known.funcs.entry(name).or_insert(words);
    }
    for (name, words) in more.types {
        known.types.entry(name).or_insert(words);
    }
}

fn mistake(path: &Path, message: String) -> WitError {
    WitError::Mistake {
        path: path.to_owned(),
        message,
    }
}

fn parse(source: SourceMap, path: &Path) -> Result<UnresolvedPackageGroup, WitError> {
    let parsed = source.parse();
    parsed.map_err(|(source, error)| mistake(path, error.render(&source)))
}

/// The text of one package: a file, or the files of a folder. Comments that are no docs are blank.
fn source(path: &Path) -> Result<SourceMap, WitError> {
    let files = if path.is_dir() {
        let mut files = entries(path)?;
        files.retain(|file| has_ending(file, "wit") && !file.is_dir());
        files
    } else {
        vec![path.to_owned()]
    };
    if files.is_empty() {
        return Err(WitError::Nothing(path.to_owned()));
    }
    let mut source = SourceMap::new();
    for file in files {
        let io = |error| WitError::Io {
            path: file.clone(),
            source: error,
        };
        if file.metadata().map_err(io)?.len() > FILE_BYTES_MAX {
            return Err(WitError::TooLarge(file));
        }
        let text = fs::read_to_string(&file).map_err(io)?;
        source.push(&file, only_docs(&text));
    }
    Ok(source)
}

/// What a folder holds, in the order of the names; nothing where there is no such folder.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, WitError> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let entries =
        fs::read_dir(folder).and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect());
    let mut entries: Vec<_> = entries.map_err(|source| WitError::Io {
        path: folder.to_owned(),
        source,
    })?;
    entries.sort();
    Ok(entries)
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|own| own == ending)
}

#[cfg(test)]
#[path = "tests/wit.rs"]
mod tests;
