//! Builds components by the tools of other languages, as their authors would.
//!
//! What was built is kept in `target/foreign` under the hash of its sources and of the tools.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, ensure};
use openprogram_component::digest_of;
use wit_bindgen_core::{Files, wit_parser};
use wit_component::ComponentEncoder;

use crate::guests::root;

/// What makes a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Toolchain {
    /// cargo, with wit-bindgen and nothing of OpenProgram.
    Rust,
    /// jco, with QuickJS inside.
    QuickJs,
    /// componentize-js, with StarlingMonkey inside.
    StarlingMonkey,
    /// componentize-py.
    Python,
    /// zig's clang, with wit-bindgen.
    C,
}

/// The sources of a component: one file named after the world, and its WIT in the folder `wit`.
#[derive(Clone, Debug)]
pub struct Sources {
    /// The name of the world, and of the file of the program without its ending.
    world: String,
    /// Paths and contents.
    files: BTreeMap<String, Vec<u8>>,
}

/// The folder of the installed parts; `None`, with a printed reason, where they are not installed.
///
/// # Panics
/// Under `CI`, where no part may be missing.
#[must_use]
pub fn parts() -> Option<PathBuf> {
    let folder = root().join("target/parts");
    if folder.join("installed").exists() {
        return Some(folder);
    }
    assert!(
        std::env::var_os("CI").is_none(),
        "the parts are not installed; run `tests/parts/install`"
    );
    skipped("run `tests/parts/install` to have the parts that this needs");
    None
}

#[expect(
    clippy::print_stdout,
    reason = "a skipped test says so where the runner shows it"
)]
fn skipped(why: &str) {
    println!("skipped: {why}");
}

impl Sources {
    /// No files yet.
    #[must_use]
    pub fn new(world: &str) -> Self {
        Self {
            world: world.to_owned(),
            files: BTreeMap::new(),
        }
    }

    /// Adds a file.
    pub fn file(&mut self, path: &str, content: impl Into<Vec<u8>>) {
        self.files.insert(path.to_owned(), content.into());
    }

    fn write(&self, folder: &Path) -> Result<()> {
        for (path, content) in &self.files {
            let path = folder.join(path);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::write(path, content)?;
        }
        Ok(())
    }
}

impl Toolchain {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Rust,
        Self::QuickJs,
        Self::StarlingMonkey,
        Self::Python,
        Self::C,
    ];

    /// The file of the component; `None`, with a printed reason, where the tools are not installed.
    ///
    /// # Errors
    /// What the tools said.
    pub fn build(self, sources: &Sources) -> Result<Option<PathBuf>> {
        let Some(parts) = parts() else {
            return Ok(None);
        };
        // One at a time: the tools share their caches.
        static BUILDING: Mutex<()> = Mutex::new(());
        let _building = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
        self.built(&parts, sources).map(Some)
    }

    fn built(self, parts: &Path, sources: &Sources) -> Result<PathBuf> {
        let folder = root().join("target/foreign");
        let mut inputs = fs::read(parts.join("installed"))?;
        inputs.extend(include_bytes!("toolchain.rs"));
        if self == Self::Rust {
            inputs.extend(fs::read(root().join(LOCK))?);
        }
        for (path, content) in &sources.files {
            inputs.extend(path.as_bytes());
            inputs.extend(content);
        }
        let digest = digest_of(&inputs).replace("sha256:", "");
        let name = format!("{}-{self:?}-{}", sources.world, &digest[..16]);
        let kept = folder.join(name.to_lowercase() + ".wasm");
        if kept.exists() {
            return Ok(kept);
        }
        fs::create_dir_all(&folder)?;
        let work = tempfile::tempdir_in(&folder)?;
        sources.write(work.path())?;
        let made = work.path().join("made.wasm");
        let world = &sources.world;
        match self {
            Self::Rust => build_rust(work.path(), world, &made)?,
            Self::QuickJs => build_quickjs(parts, work.path(), world, &made)?,
            Self::StarlingMonkey => build_starling_monkey(parts, work.path(), world, &made)?,
            Self::Python => build_python(parts, work.path(), world, &made)?,
            Self::C => build_c(parts, work.path(), sources, &made)?,
        }
        fs::rename(&made, &kept)?;
        Ok(kept)
    }
}

/// The versions of what a component in Rust is built with.
const LOCK: &str = "tests/guests/Cargo.lock";

fn build_rust(work: &Path, world: &str, made: &Path) -> Result<()> {
    let manifest = format!(
        "[package]\nname = \"{world}\"\nedition = \"2024\"\n\n\
         [lib]\npath = \"{world}.rs\"\ncrate-type = [\"cdylib\"]\n\n\
         [dependencies]\nwit-bindgen = \"=0.61.1\"\n\n[workspace]\n"
    );
    fs::write(work.join("Cargo.toml"), manifest)?;
    fs::copy(root().join(LOCK), work.join("Cargo.lock"))?;
    let target = root().join("target/foreign/rust");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--release", "--quiet", "--target", "wasm32-wasip2"]);
    cargo.arg("--target-dir").arg(&target);
    // Of the build of these tests nothing is meant for another one.
    for name in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_TARGET"] {
        cargo.env_remove(name);
    }
    run(cargo.current_dir(work))?;
    let built = target.join("wasm32-wasip2/release");
    fs::rename(built.join(format!("{world}.wasm")), made)?;
    Ok(())
}

/// What wit-bindgen makes for C: paths and contents.
///
/// # Errors
/// When the WIT is wrong, or holds what the generator does not have.
pub fn c_bindings(sources: &Sources) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut resolve = wit_parser::Resolve::default();
    let mut packages: Vec<_> = sources.files.iter().collect();
    // What others need comes first.
    packages.sort_by_key(|(path, _)| !path.starts_with("wit/deps/"));
    let mut last = None;
    for (path, text) in packages {
        if path.ends_with(".wit") {
            let text = String::from_utf8_lossy(text);
            last = Some(resolve.push_source(path, &text)?);
        }
    }
    let package = last.context("there is no WIT")?;
    let world = resolve.select_world(&[package], Some(&sources.world))?;
    let mut files = Files::default();
    let generator = std::panic::catch_unwind(move || {
        let mut generator = wit_bindgen_c::Opts::default().build();
        generator.generate(&mut resolve, world, &mut files)?;
        Ok::<_, anyhow::Error>(files)
    });
    let files = generator.map_err(|panic| {
        let said = panic.downcast_ref::<&str>().map(ToString::to_string);
        let said = said.or_else(|| panic.downcast_ref::<String>().cloned());
        anyhow::anyhow!("wit-bindgen: {}", said.unwrap_or_default())
    })??;
    let files = files.iter();
    Ok(files
        .map(|(name, text)| (name.to_owned(), text.to_vec()))
        .collect())
}

/// How zig's clang makes the module of a component, before its sources; the README says it too.
pub const C_FLAGS: &str = "--target=wasm32-wasi -mexec-model=reactor -Os -o core.wasm -I.";

fn build_c(parts: &Path, work: &Path, sources: &Sources, made: &Path) -> Result<()> {
    for (name, content) in c_bindings(sources)? {
        // The source of the author has the name of the world too.
        let name = match name.strip_suffix(".c") {
            Some(stem) => format!("{stem}_bindings.c"),
            None => name,
        };
        fs::write(work.join(name), content)?;
    }
    let world = &sources.world;
    let mut zig = Command::new(parts.join("venv/bin/python"));
    zig.args(["-m", "ziglang", "cc"]).args(C_FLAGS.split(' '));
    zig.args([format!("{world}.c"), format!("{world}_bindings.c")]);
    zig.arg(format!("{world}_component_type.o"));
    zig.env("ZIG_GLOBAL_CACHE_DIR", root().join("target/foreign/zig"));
    zig.env("ZIG_LOCAL_CACHE_DIR", work.join("zig"));
    run(zig.current_dir(work))?;
    let module = fs::read(work.join("core.wasm"))?;
    let mut encoder = ComponentEncoder::default().validate(true).module(&module)?;
    fs::write(made, encoder.encode().context("the component")?)?;
    Ok(())
}

fn build_quickjs(parts: &Path, work: &Path, world: &str, made: &Path) -> Result<()> {
    let mut jco = Command::new(parts.join("node/node_modules/.bin/jco"));
    jco.args(["componentize", &format!("{world}.js"), "--wit", "wit"]);
    jco.args(["-n", world, "--backend", "quickjs", "-o"]);
    jco.arg(made);
    jco.args(["--backend-qjs-stub-wasi", "--backend-qjs-disable-async"]);
    run(jco.current_dir(work))
}

fn build_starling_monkey(parts: &Path, work: &Path, world: &str, made: &Path) -> Result<()> {
    let mut node = Command::new("node");
    node.arg(root().join("tests/foreign/starling-monkey.mjs"));
    node.arg(parts.join("node/node_modules/@bytecodealliance/componentize-js/src/componentize.js"));
    node.arg(world).arg(made);
    run(node.current_dir(work))
}

fn build_python(parts: &Path, work: &Path, world: &str, made: &Path) -> Result<()> {
    let mut python = Command::new(parts.join("venv/bin/componentize-py"));
    python.args(["-d", "wit", "-w", world]);
    python.args(["componentize", world, "-o"]);
    run(python.arg(made).current_dir(work))
}

fn run(command: &mut Command) -> Result<()> {
    let name = command.get_program().to_owned();
    let output = command.output();
    let output = output.with_context(|| format!("`{}`", Path::new(&name).display()))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let program = Path::new(&name).file_name().unwrap_or(OsStr::new("it"));
    ensure!(
        output.status.success(),
        "`{}` failed: {said}{}",
        program.display(),
        String::from_utf8_lossy(&output.stdout)
    );
    Ok(())
}
