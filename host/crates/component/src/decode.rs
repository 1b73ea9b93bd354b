//! Reads the signatures of a component from its bytes, without compiling or running it.
//!
//! wit-parser keeps what wasmtime's own reflection loses: names of types, the alias `json`, docs.

mod resources;

use std::collections::{BTreeMap, BTreeSet};

use wit_parser::decoding::{DecodedWasm, decode};
use wit_parser::{Function, Resolve, TypeDefKind, TypeId, World, WorldItem};

use crate::async_types::AsyncTypes;
use crate::contract_types::{self, Side};
use crate::decode_types::{OwnResources, TypeReader};
use crate::docs::{PackageDocs, Sections};
use crate::error::LoadError;
use crate::facts::{FunctionFact, ImportFact, OWN_PACKAGE, Signature, is_link, short_name};
use crate::link_facts::LinkReader;

/// Functions of one component.
const FUNCTIONS_MAX: usize = 1_000;
/// Notices of one component that are told one by one.
const NOTICES_MAX: usize = 10;

/// Reads the signatures of a component, and the words of its `package-docs` sections.
///
/// # Errors
/// When the bytes are no component, one that needs async types, or one of another contract.
pub(crate) fn signature(bytes: &[u8]) -> Result<Signature, LoadError> {
    let sections = Sections::find(bytes);
    let hidden = sections.hidden(bytes);
    let decoded = decode(hidden.as_deref().unwrap_or(bytes))
        .map_err(|error| LoadError::Malformed(first_line(&error)))?;
    let DecodedWasm::Component(resolve, world) = decoded else {
        return Err(LoadError::WitPackage);
    };
    let world = &resolve.worlds[world];
    let (docs, notices) = words(&resolve, world, &sections);
    let mut async_types = AsyncTypes::new(&resolve);
    let reading = Reading {
        resolve: &resolve,
        docs: &docs,
        resources: resources::exported(&resolve, world),
    };
    let mut signature = Signature {
        notices,
        ..Signature::default()
    };
    read_imports(&resolve, world, &mut async_types, &mut signature)?;
    for (key, item) in &world.exports {
        if let Some(what) = async_types.name_in(key, item) {
            return Err(LoadError::AsyncTypes(what));
        }
        let name = resolve.name_world_key(key);
        match item {
            WorldItem::Interface { id, .. } if !name.starts_with(OWN_PACKAGE) => {
                let interface = &resolve.interfaces[*id];
                let more = resources::functions_of(&reading, &name, interface);
                signature.functions.extend(more);
            }
            WorldItem::Function(function) => {
                signature.functions.push(reading.function(None, function));
            }
            WorldItem::Interface { id, .. } => {
                contract_types::check(&resolve, &name, *id, Side::Exports)?;
            }
            WorldItem::Type { .. } => {}
        }
        signature.exports.push(name);
    }
    signature.notices.extend(docs.notice());
    cap_notices(&mut signature.notices);
    check_count(&signature)?;
    Ok(signature)
}

/// Reads what a component imports, and refuses what no host has for it.
fn read_imports(
    resolve: &Resolve,
    world: &World,
    async_types: &mut AsyncTypes<'_>,
    signature: &mut Signature,
) -> Result<(), LoadError> {
    let mut links = LinkReader::new(resolve);
    for (key, item) in &world.imports {
        if let Some(what) = async_types.name_in(key, item) {
            return Err(LoadError::AsyncTypes(what));
        }
        if let WorldItem::Interface { id, .. } = item {
            let name = resolve.name_world_key(key);
            contract_types::check(resolve, &name, *id, Side::Imports)?;
        }
        if !imports_types_only(resolve, item) {
            let functions = match item {
                WorldItem::Interface { id, .. } => {
                    let functions = &resolve.interfaces[*id].functions;
                    functions.keys().cloned().collect()
                }
                WorldItem::Function(_) | WorldItem::Type { .. } => Vec::new(),
            };
            let name = resolve.name_world_key(key);
            if let WorldItem::Interface { id, .. } = item
                && is_link(&name)
            {
                links.read(&name, *id)?;
            }
            signature.imports.push(ImportFact { name, functions });
        }
    }
    signature.links = links.facts;
    Ok(())
}

fn check_count(signature: &Signature) -> Result<(), LoadError> {
    let count = signature.functions.len();
    match count > FUNCTIONS_MAX {
        true => Err(LoadError::TooManyFunctions {
            count,
            max: FUNCTIONS_MAX,
        }),
        false => Ok(()),
    }
}

/// A hostile component may give a reason for very many of them.
pub(crate) fn cap_notices(notices: &mut Vec<String>) {
    let more = notices.len().saturating_sub(NOTICES_MAX);
    if more > 0 {
        notices.truncate(NOTICES_MAX);
        notices.push(format!("there are {more} more notices of this kind"));
    }
}

fn first_line(error: &impl std::fmt::Display) -> String {
    let text = format!("{error:#}");
    text.lines()
        .next()
        .unwrap_or("")
        .chars()
        .take(300)
        .collect()
}

/// An import of types alone needs nothing from the host.
fn imports_types_only(resolve: &Resolve, item: &WorldItem) -> bool {
    match item {
        WorldItem::Interface { id, .. } => {
            let interface = &resolve.interfaces[*id];
            let is_resource = |id: &TypeId| resolve.types[*id].kind == TypeDefKind::Resource;
            interface.functions.is_empty() && !interface.types.values().any(is_resource)
        }
        WorldItem::Type { .. } => true,
        WorldItem::Function(_) => false,
    }
}

/// What the sections say, and why some of it is ignored.
fn words(resolve: &Resolve, world: &World, sections: &Sections<'_>) -> (PackageDocs, Vec<String>) {
    let (mut docs, mut notices) = sections.read();
    let interfaces = world.exports.iter().filter_map(|(key, item)| match item {
        WorldItem::Interface { .. } => Some(resolve.name_world_key(key)),
        WorldItem::Function(_) | WorldItem::Type { .. } => None,
    });
    for twice in named_twice(interfaces) {
        if docs.forget(&twice) {
            notices.push(format!(
                "what is said of `{twice}` is ignored: several packages have an interface of this \
                 name"
            ));
        }
    }
    (docs, notices)
}

/// The short names that interfaces of several packages share.
fn named_twice(interfaces: impl Iterator<Item = String>) -> BTreeSet<String> {
    let mut owners: BTreeMap<String, String> = BTreeMap::new();
    let mut twice = BTreeSet::new();
    for interface in interfaces {
        let short = short_name(&interface).to_owned();
        let unversioned = interface.split('@').next().unwrap_or_default().to_owned();
        let first = owners
            .entry(short.clone())
            .or_insert_with(|| unversioned.clone());
        if *first != unversioned {
            twice.insert(short);
        }
    }
    twice
}

/// What the facts of functions are read from.
struct Reading<'a> {
    resolve: &'a Resolve,
    docs: &'a PackageDocs,
    resources: OwnResources,
}

impl Reading<'_> {
    /// The facts of one function, under its name in WIT.
    fn function(&self, interface: Option<&str>, function: &Function) -> FunctionFact {
        let mut reader = TypeReader::new(self.resolve, self.docs, &self.resources);
        let mut fact = reader.function(interface, function);
        if let Some(leftover) = leftover(interface, function) {
            fact.refused = Some(leftover);
        }
        fact
    }
}

/// Why a function is no function of the author's, where its name and parameters tell.
fn leftover(interface: Option<&str>, function: &Function) -> Option<String> {
    let name = function.name.as_str();
    // Functions that start an interpreter take what only its toolchain knows; an author's own
    // `init` takes something else.
    let starts = |parameter| name == "init" && function.params.iter().any(|p| p.name == parameter);
    let unversioned = interface.map(|name| name.split('@').next().unwrap_or(name));
    match unversioned {
        None if starts("script") || name.starts_with("cabi-") => {
            Some("it was left behind by the toolchain".to_owned())
        }
        Some("exports") if starts("symbols") => {
            Some("it was left behind by the toolchain".to_owned())
        }
        Some("wasi:cli/run") => Some("it is the entry point of a command".to_owned()),
        _ => None,
    }
}
