//! Builds the guests and the samples for wasm, once per change of their sources.
//!
//! They are workspaces of their own with one target folder of their own, so that the lock of the
//! outer build is not taken and their dependencies are built once. It is the folder that
//! `openprogram build` uses for the samples, so what is tested there is not built again either. The
//! paths of what was built are handed to the harness as constants.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the components are compiled for.
const TARGET: &str = "wasm32-wasip2";

/// The workspaces of components, from the root of the repository.
const WORKSPACES: [&str; 2] = ["tests/guests", "sample-functions"];

/// What every component is made from, besides its own folder.
const SHARED: [&str; 5] = [
    "wit",
    "guest-sdk/src",
    "guest-sdk/Cargo.toml",
    "guest-sdk/macros/src",
    "guest-sdk/macros/Cargo.toml",
];

/// What the outer build says to its own compiler, and what must not reach the inner one.
const OUTER: [&str; 8] = [
    "RUSTFLAGS",
    "CARGO_ENCODED_RUSTFLAGS",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "CARGO_TARGET_DIR",
    "CARGO_BUILD_TARGET",
    "CARGO_BUILD_TARGET_DIR",
    "CARGO_BUILD_RUSTFLAGS",
];

type Error = Box<dyn std::error::Error>;

fn main() -> Result<(), Error> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("..");
    let root = root.canonicalize()?;
    for path in SHARED {
        println!("cargo::rerun-if-changed={}", root.join(path).display());
    }
    require_target()?;
    let mut table = String::from("&[\n");
    for workspace in WORKSPACES {
        let folder = root.join(workspace);
        build(&folder, &root)?;
        for (name, path) in components(&folder, &root)? {
            writeln!(table, "    ({name:?}, {:?}),", path.display().to_string())?;
        }
    }
    table.push_str("]\n");
    fs::write(
        Path::new(&env::var("OUT_DIR")?).join("components.rs"),
        table,
    )?;
    Ok(())
}

fn require_target() -> Result<(), Error> {
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let arguments = ["--print", "target-libdir", "--target", TARGET];
    let output = Command::new(rustc).args(arguments).output()?;
    let folder = String::from_utf8(output.stdout)?;
    if output.status.success() && Path::new(folder.trim()).is_dir() {
        Ok(())
    } else {
        Err(format!("`{TARGET}` is not installed; run `rustup target add {TARGET}`").into())
    }
}

fn build(folder: &Path, root: &Path) -> Result<(), Error> {
    let mut cargo = Command::new(env::var("CARGO")?);
    cargo.current_dir(folder);
    cargo.args(["build", "--workspace", "--release", "--target", TARGET]);
    cargo.arg("--target-dir").arg(target_folder(root));
    for name in OUTER {
        cargo.env_remove(name);
    }
    let status = cargo.status()?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("the components in `{}` cannot be built", folder.display()).into())
    }
}

fn target_folder(root: &Path) -> PathBuf {
    root.join("sample-functions/target/openprogram")
}

/// The components of one workspace: a folder with a manifest is a component of its name.
fn components(folder: &Path, root: &Path) -> Result<Vec<(String, PathBuf)>, Error> {
    println!(
        "cargo::rerun-if-changed={}",
        folder.join("Cargo.toml").display()
    );
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let source = entry?.path();
        if !source.join("Cargo.toml").exists() {
            continue;
        }
        println!(
            "cargo::rerun-if-changed={}",
            source.join("Cargo.toml").display()
        );
        println!("cargo::rerun-if-changed={}", source.join("src").display());
        let name = source.file_name().unwrap_or_default().to_string_lossy();
        let file = format!("{TARGET}/release/{}.wasm", name.replace('-', "_"));
        let built = target_folder(root).join(file);
        if !built.exists() {
            let message = format!(
                "the package in `{}` must have the name of its folder and be a `cdylib`",
                source.display()
            );
            return Err(message.into());
        }
        found.push((name.into_owned(), built));
    }
    found.sort();
    Ok(found)
}
