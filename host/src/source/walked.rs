//! What a JavaScript or Python project is made of: its files, without those that tools write.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::{BINDINGS_FOLDER, OUTPUT_FOLDER};

/// Folders and files that tools write or that no build reads; those that begin with a dot are passed
/// over too.
const PASSED_OVER: [&str; 7] = [
    BINDINGS_FOLDER,
    OUTPUT_FOLDER,
    "node_modules",
    "target",
    "__pycache__",
    "openprogram.toml",
    "openprogram.lock",
];

/// The files of a project and the folders that they are in, without its own folder: what programs
/// write beside the sources is no change of them. `None` when there are more than `most`.
pub(super) fn files(folder: &Path, most: usize) -> Option<BTreeSet<PathBuf>> {
    let mut found = BTreeSet::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).ok()?.flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with('.') || PASSED_OVER.contains(&&*name) {
                continue;
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
            }
            found.insert(entry.path());
            if found.len() > most {
                return None;
            }
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tools_write_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        for name in [
            "package.json",
            "src/a.js",
            "src/deep/b.js",
            "src/__pycache__/a.pyc",
            "node_modules/x/index.js",
            ".venv/lib.py",
            "dist/desk.wasm",
            "bindings/wit_world/__init__.py",
            "openprogram.lock",
        ] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let found = files(folder.path(), 100).unwrap();
        let found: Vec<_> = found
            .iter()
            .map(|path| path.strip_prefix(folder.path()).unwrap().to_str().unwrap())
            .collect();
        let expected = [
            "package.json",
            "src",
            "src/a.js",
            "src/deep",
            "src/deep/b.js",
        ];
        assert_eq!(found, expected);
        assert_eq!(files(folder.path(), 4), None);
    }
}
