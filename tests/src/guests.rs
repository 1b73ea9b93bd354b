//! The components that tests load, by name.
//!
//! A guest is a folder in `tests/guests`: a package that the build script has compiled, or a core
//! module in text form (`module.wat`) with its interface (`world.wit`), for what no compiler makes.
//! Or it is one file in `tests/guests/wat`: a whole component in text form, for what no tool makes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};

use anyhow::{Context, Result};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

/// The components that the build script has compiled: name and file.
const COMPILED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/components.rs"));

/// The root of the repository.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The names of the guests and samples that the build script has compiled.
pub fn compiled() -> impl Iterator<Item = &'static str> {
    COMPILED.iter().map(|(name, _)| *name)
}

/// The bytes of a guest or sample.
///
/// # Panics
/// When there is none of that name or it is not well formed.
#[must_use]
pub fn bytes(name: &str) -> Vec<u8> {
    static KNOWN: LazyLock<Mutex<BTreeMap<String, Vec<u8>>>> = LazyLock::new(Mutex::default);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(bytes) = known.get(name) {
        return bytes.clone();
    }
    let bytes = read(name).unwrap_or_else(|error| panic!("guest `{name}`: {error:#}"));
    known.insert(name.to_owned(), bytes.clone());
    bytes
}

fn read(name: &str) -> Result<Vec<u8>> {
    if let Some((_, path)) = COMPILED.iter().find(|(compiled, _)| *compiled == name) {
        return fs::read(path).context("its file");
    }
    let whole = root().join(format!("tests/guests/wat/{name}.wat"));
    if whole.exists() {
        let text = fs::read_to_string(whole).context("its file")?;
        return wat::parse_str(text).context("its text");
    }
    let folder = root().join("tests/guests").join(name);
    let wit = fs::read_to_string(folder.join("world.wit")).context("its `world.wit`")?;
    let wat = fs::read_to_string(folder.join("module.wat")).context("its `module.wat`")?;
    assemble(&wit, &wat)
}

/// Makes a component from a world and a core module in text form. The world may use the contract.
///
/// # Errors
/// When one of the texts is wrong or they do not fit each other.
pub fn assemble(wit: &str, wat: &str) -> Result<Vec<u8>> {
    let mut resolve = Resolve::default();
    resolve
        .push_dir(root().join("wit"))
        .context("the contract")?;
    assemble_in(resolve, wit, wat)
}

/// The same over another version of WASI 0.2, for example `0.2.6`, as a toolchain with it would do.
///
/// # Errors
/// As for [`assemble`], and when the contract cannot be read.
pub fn assemble_on_wasi(version: &str, wit: &str, wat: &str) -> Result<Vec<u8>> {
    const OLDEST: &str = "@0.2.0";
    let newer = format!("@{version}");
    let folder = root().join("wit");
    let read = |path: &Path| -> Result<String> {
        let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
        Ok(text.replace(OLDEST, &newer))
    };
    let mut contract = String::from("package openprogram:agentic@0.1.0;\n");
    let mut files = fs::read_dir(&folder)?.collect::<std::io::Result<Vec<_>>>()?;
    files.sort_by_key(fs::DirEntry::path);
    for file in files.iter().map(fs::DirEntry::path) {
        if file.extension().is_some_and(|extension| extension == "wit") {
            let text = read(&file)?;
            let lines = text.lines().filter(|line| !line.starts_with("package "));
            lines.for_each(|line| contract.extend([line, "\n"]));
        }
    }
    let mut resolve = Resolve::default();
    let poll = read(&folder.join("deps/io/poll.wit"))?;
    resolve.push_source("poll.wit", &poll).context("WASI")?;
    let pushed = resolve.push_source("contract.wit", &contract);
    pushed.context("the contract")?;
    assemble_in(resolve, wit, wat)
}

fn assemble_in(mut resolve: Resolve, wit: &str, wat: &str) -> Result<Vec<u8>> {
    let package = resolve.push_source("world.wit", wit).context("the world")?;
    let world = resolve.select_world(&[package], None)?;
    let mut module = wat::parse_str(wat).context("the module")?;
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8)?;
    let mut encoder = ComponentEncoder::default().validate(true).module(&module)?;
    encoder.encode().context("the component")
}
