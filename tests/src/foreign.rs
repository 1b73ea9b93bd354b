//! Components that the toolchains of other languages make, from the sources in `tests/foreign`.
//!
//! Their authors never heard of OpenProgram: an own interface, nothing of the contract or the SDK.
//! Each is built when it is first asked for and kept in `target/foreign` until its sources or the
//! tools change.

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

/// One of them, by what makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foreign {
    /// `ruler`, in C, by zig's clang; its functions belong to the world.
    C,
    /// `planner`, in JavaScript, with QuickJS inside.
    QuickJs,
    /// `planner` with StarlingMonkey inside.
    StarlingMonkey,
    /// `planner`, in Python. Its toolchain is installed by `tests/parts/install long`.
    Python,
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

impl Foreign {
    /// The component; `None`, with a printed reason, where its toolchain is not installed.
    ///
    /// # Panics
    /// When it does not build.
    #[must_use]
    pub fn bytes(self) -> Option<Vec<u8>> {
        let parts = parts()?;
        if self == Self::Python && !parts.join("venv/bin/componentize-py").exists() {
            skipped("run `tests/parts/install long` to have the toolchain of Python");
            return None;
        }
        // One at a time: the tools share their caches.
        static BUILDING: Mutex<()> = Mutex::new(());
        let _building = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
        let built = self.built(&parts);
        Some(built.unwrap_or_else(|error| panic!("{self:?}: {error:#}")))
    }

    fn source(self) -> PathBuf {
        let name = if self == Self::C { "ruler" } else { "planner" };
        root().join("tests/foreign").join(name)
    }

    fn built(self, parts: &Path) -> Result<Vec<u8>> {
        let folder = root().join("target/foreign");
        let mut inputs = fs::read(parts.join("installed"))?;
        let mut files: Vec<_> = fs::read_dir(self.source())?.collect::<Result<_, _>>()?;
        files.sort_by_key(fs::DirEntry::file_name);
        for file in files {
            inputs.extend(fs::read(file.path())?);
        }
        let digest = digest_of(&inputs).replace("sha256:", "");
        let kept = folder.join(format!("{self:?}-{}.wasm", &digest[..16]).to_lowercase());
        if let Ok(bytes) = fs::read(&kept) {
            return Ok(bytes);
        }
        fs::create_dir_all(&folder)?;
        let work = tempfile::tempdir_in(&folder)?;
        let made = work.path().join("made.wasm");
        match self {
            Self::C => self.build_c(parts, work.path(), &made)?,
            Self::QuickJs => self.build_quickjs(parts, &made)?,
            Self::StarlingMonkey => self.build_starling_monkey(parts, &made)?,
            Self::Python => self.build_python(parts, work.path(), &made)?,
        }
        fs::rename(&made, &kept)?;
        Ok(fs::read(&kept)?)
    }

    fn build_c(self, parts: &Path, work: &Path, made: &Path) -> Result<()> {
        let mut resolve = wit_parser::Resolve::default();
        let package = resolve.push_path(self.source().join("ruler.wit"))?.0;
        let world = resolve.select_world(&[package], None)?;
        let mut files = Files::default();
        let mut generator = wit_bindgen_c::Opts::default().build();
        generator.generate(&mut resolve, world, &mut files)?;
        for (name, content) in files.iter() {
            fs::write(work.join(name), content)?;
        }
        let mut zig = Command::new(parts.join("venv/bin/python"));
        zig.args(["-m", "ziglang", "cc", "--target=wasm32-wasi"]);
        zig.args(["-mexec-model=reactor", "-Os", "-o", "core.wasm", "-I."]);
        zig.arg(self.source().join("ruler.c"));
        zig.args(["ruler.c", "ruler_component_type.o"]);
        zig.env("ZIG_GLOBAL_CACHE_DIR", root().join("target/foreign/zig"));
        zig.env("ZIG_LOCAL_CACHE_DIR", work.join("zig"));
        run(zig.current_dir(work))?;
        let module = fs::read(work.join("core.wasm"))?;
        let mut encoder = ComponentEncoder::default().validate(true).module(&module)?;
        fs::write(made, encoder.encode().context("the component")?)?;
        Ok(())
    }

    fn build_quickjs(self, parts: &Path, made: &Path) -> Result<()> {
        let mut jco = Command::new(parts.join("node/node_modules/.bin/jco"));
        jco.args(["componentize", "planner.js", "--wit", "planner.wit"]);
        jco.args(["-n", "planner", "--backend", "quickjs", "-o"]);
        jco.arg(made);
        jco.args(["--backend-qjs-stub-wasi", "--backend-qjs-disable-async"]);
        run(jco.current_dir(self.source()))
    }

    fn build_starling_monkey(self, parts: &Path, made: &Path) -> Result<()> {
        let mut node = Command::new("node");
        node.arg(root().join("tests/foreign/starling-monkey.mjs"));
        node.arg(
            parts.join("node/node_modules/@bytecodealliance/componentize-js/src/componentize.js"),
        );
        node.arg(made);
        run(node.current_dir(self.source()))
    }

    fn build_python(self, parts: &Path, work: &Path, made: &Path) -> Result<()> {
        // Python leaves compiled files beside its sources.
        for file in ["planner.py", "planner.wit"] {
            fs::copy(self.source().join(file), work.join(file))?;
        }
        let mut python = Command::new(parts.join("venv/bin/componentize-py"));
        python.args(["-d", "planner.wit", "-w", "planner"]);
        python.args(["componentize", "planner", "--stub-wasi", "-o"]);
        run(python.arg(made).current_dir(work))
    }
}

fn run(command: &mut Command) -> Result<()> {
    let name = command.get_program().to_owned();
    let output = command.output();
    let output = output.with_context(|| format!("`{}`", Path::new(&name).display()))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let program = Path::new(&name).file_name().unwrap_or(OsStr::new("it"));
    ensure!(
        output.status.success(),
        "`{}` failed: {said}",
        program.display()
    );
    Ok(())
}

/// A component with one more custom section at its end.
#[must_use]
pub fn with_section(component: &[u8], name: &str, content: &[u8]) -> Vec<u8> {
    let mut section = Vec::new();
    push_number(&mut section, name.len());
    section.extend(name.as_bytes());
    section.extend(content);
    let mut whole = component.to_vec();
    whole.push(0);
    push_number(&mut whole, section.len());
    whole.extend(section);
    whole
}

/// A number as WebAssembly writes it: seven bits per byte, the lowest first.
fn push_number(bytes: &mut Vec<u8>, mut number: usize) {
    loop {
        let low = u8::try_from(number & 0x7f).unwrap_or_default();
        number >>= 7;
        bytes.push(if number == 0 { low } else { low | 0x80 });
        if number == 0 {
            return;
        }
    }
}
