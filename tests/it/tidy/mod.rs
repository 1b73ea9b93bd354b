//! Promises about the repository itself: arrows, sizes, documentation, and that nothing is forgotten.
//!
//! Nothing here builds or runs the product; the sources are read as text and as tokens.

mod adapter_tables;
mod component_table;
mod contract;
mod files;
mod licenses;
mod modules;
mod packages;
mod readme;
mod runtime_table;
mod scan;
mod tables;
mod threats;

use std::fs;
use std::path::{Path, PathBuf};

/// The root of the repository.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap().to_path_buf()
}

/// Folders that hold nothing of ours.
const SKIPPED: [&str; 4] = ["target", ".git", ".openprogram", "node_modules"];

/// All files below `folder` whose names end in `.extension`, in order, by path from the root.
fn files_below(folder: &str, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![root().join(folder)];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && !SKIPPED.contains(&name.as_str()) {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == extension) && path.is_file() {
                found.push(path.strip_prefix(root()).unwrap().to_path_buf());
            }
        }
    }
    found.sort();
    found
}

/// The text of a file, by path from the root.
fn read(path: &Path) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Fails with all findings at once.
fn none(findings: &[String], rule: &str) {
    assert!(findings.is_empty(), "{rule}:\n  {}", findings.join("\n  "));
}
