//! Lists the files of the SDK, so that the binary carries them: what a new project is built with.
//!
//! The list is made from the folders, so a file that is added to the SDK is carried without
//! anything else to change. Tests of the SDK are left out.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Files and folders of the SDK, from the root of the repository. A copy keeps these places.
const PARTS: [&str; 9] = [
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "guest-sdk/Cargo.toml",
    "guest-sdk/js",
    "guest-sdk/macros/Cargo.toml",
    "guest-sdk/macros/src",
    "guest-sdk/python/openprogram_guest/__init__.py",
    "guest-sdk/src",
    "wit",
];

type Error = Box<dyn std::error::Error>;

fn main() -> Result<(), Error> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("..");
    let root = root.canonicalize()?;
    let mut files = Vec::new();
    for part in PARTS {
        println!("cargo::rerun-if-changed={}", root.join(part).display());
        collect(&root.join(part), &mut files)?;
    }
    files.sort();
    let mut table = String::from("&[\n");
    for file in files {
        let parts = file.strip_prefix(&root)?.iter();
        let name: Vec<_> = parts.map(|part| part.to_string_lossy()).collect();
        let name = name.join("/");
        let path = file.display().to_string();
        writeln!(table, "    ({name:?}, include_str!({path:?})),")?;
    }
    table.push_str("]\n");
    let out = env::var("OUT_DIR")?;
    fs::write(Path::new(&out).join("sdk_files.rs"), table)?;
    Ok(())
}

/// Adds a file, or all files below a folder.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), Error> {
    if path.is_file() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        collect(&entry?.path(), files)?;
    }
    Ok(())
}
