//! What a build of a source folder reads or runs, so that no function changes it: builds run code as
//! the person who builds.
//!
//! A build script may read anything. What is found here is what cargo, npm, Node.js and Python
//! themselves look at, and the folders that manifests name by their path.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::manifest::{JavaScript, Python, from_toml, read};
use super::{OUTPUT_FOLDER, names_file};

/// Most folders that are followed from one source.
const FOLDERS_MAX: usize = 100;
/// What cargo, rustup, npm and Node.js look for in a folder and in all above it.
const ABOVE: [&str; 8] = [
    "Cargo.toml",
    "Cargo.lock",
    ".cargo",
    "rust-toolchain",
    "rust-toolchain.toml",
    "package.json",
    "node_modules",
    ".npmrc",
];
/// What a package holds beside these, where it is not kept whole.
const PACKAGE: [&str; 12] = [
    "build.rs",
    "build",
    "src",
    "target",
    "SKILL.md",
    "sdk",
    "wit",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "pyproject.toml",
    ".venv",
    OUTPUT_FOLDER,
];
/// The endings of sources that lie in the folder of a package itself: modules of its build script,
/// and those of a project without a folder for them.
const SOURCES: [&str; 5] = ["rs", "js", "mjs", "cjs", "py"];

/// The files and folders, there or not, that decide what building this source does; for a file, that
/// file. A folder is among them whole, unless the project lies in it: then it is what a package holds
/// by custom, and what its manifest names.
#[must_use]
pub fn inputs(source: &Path, project_folder: &Path) -> Vec<PathBuf> {
    if names_file(source) || source.is_file() {
        return vec![source.to_owned()];
    }
    let project = real(project_folder);
    let mut found = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut folders = vec![real(source)];
    while let Some(folder) = folders.pop() {
        if seen.len() >= FOLDERS_MAX || !seen.insert(folder.clone()) {
            continue;
        }
        if project.starts_with(&folder) {
            found.extend(ABOVE.iter().chain(&PACKAGE).map(|name| folder.join(name)));
            found.extend(scripts(&folder));
            found.extend(named_by_manifests(&folder));
        } else {
            found.insert(folder.clone());
        }
        for above in folder.ancestors().skip(1) {
            found.extend(ABOVE.iter().map(|name| above.join(name)));
            if above.join("Cargo.toml").is_file() {
                found.insert(above.join("target"));
                follow(above, &project, &mut folders, &mut found);
            }
        }
        follow(&folder, &project, &mut folders, &mut found);
    }
    found.into_iter().collect()
}

/// Adds what the manifest in a folder names by its path.
fn follow(
    folder: &Path,
    project: &Path,
    folders: &mut Vec<PathBuf>,
    found: &mut BTreeSet<PathBuf>,
) {
    for named in named_paths(&folder.join("Cargo.toml")) {
        let path = real(&folder.join(named));
        if !path.is_file() {
            folders.push(path);
            continue;
        }
        // A build script has modules beside it.
        if let Some(beside) = path.parent()
            && !project.starts_with(beside)
        {
            found.insert(beside.to_owned());
        }
        found.insert(path);
    }
}

/// What the manifest of a JavaScript or Python project names: its WIT, and the folder of its main
/// module, where that is not the folder of the project.
fn named_by_manifests(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    if let Ok(manifest) = JavaScript::read(folder) {
        found.push(manifest.project.wit);
        let main = folder.join(manifest.main);
        found.extend(main.parent().filter(|at| *at != folder).map(Path::to_owned));
        found.push(main);
    }
    if let Ok(manifest) = Python::read(folder) {
        found.push(manifest.project.wit);
    }
    found
}

/// The texts under `path` and `build` in a manifest; none where it cannot be read.
fn named_paths(manifest: &Path) -> Vec<String> {
    let Ok(Some(table)) = read::<toml::Table>(manifest, from_toml) else {
        return Vec::new();
    };
    let mut named = Vec::new();
    let mut tables = vec![table];
    while let Some(table) = tables.pop() {
        for (key, value) in table {
            match value {
                toml::Value::String(path) if matches!(&*key, "path" | "build") => named.push(path),
                toml::Value::Table(inner) => tables.push(inner),
                toml::Value::Array(items) => {
                    tables.extend(items.into_iter().filter_map(|item| match item {
                        toml::Value::Table(inner) => Some(inner),
                        _ => None,
                    }));
                }
                _ => {}
            }
        }
    }
    named
}

/// Sources that lie in a folder itself.
fn scripts(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| {
            let ending = path.extension().and_then(|ending| ending.to_str());
            ending.is_some_and(|ending| SOURCES.contains(&ending))
        })
        .collect()
}

/// A path without links and `..`, as far as it is there.
fn real(path: &Path) -> PathBuf {
    path.ancestors()
        .find_map(|above| {
            let rest = path.strip_prefix(above).ok()?;
            let real = above.canonicalize().ok()?;
            Some(if rest.as_os_str().is_empty() {
                real
            } else {
                real.join(rest)
            })
        })
        .unwrap_or_else(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(source: &str, files: &[(&str, &str)]) -> Vec<String> {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        for (file, text) in files {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        fs::create_dir_all(root.join("project")).unwrap();
        let found = inputs(&root.join("project").join(source), &root.join("project"));
        let below = found
            .iter()
            .filter_map(|path| path.strip_prefix(&root).ok());
        below.map(|path| path.display().to_string()).collect()
    }

    fn names(folder: &str, more: &[&str]) -> Vec<String> {
        let names = ABOVE.iter().chain(more);
        names.map(|name| format!("{folder}{name}")).collect()
    }

    #[test]
    fn a_source_in_the_project_is_kept_whole_with_all_that_it_is_built_from() {
        let manifest = "[package]\nbuild = \"../scripts/b.rs\"\n[dependencies]\n\
                        a = { path = \"../../a\" }\n[target.'cfg(unix)'.dependencies.b]\n\
                        path = \"../b\"\n[[bin]]\npath = \"src/x.rs\"";
        let found = shown(
            "tool",
            &[
                ("project/tool/Cargo.toml", manifest),
                ("project/tool/src/x.rs", ""),
                ("project/scripts/b.rs", ""),
                ("a/Cargo.toml", "[dependencies]\nc = { path = \"../c\" }"),
                (
                    "project/b/Cargo.toml",
                    "[dependencies]\ntool = { path = \"../tool\" }",
                ),
            ],
        );
        let mut expected: Vec<String> = ["a", "c", "project/b", "project/scripts"]
            .map(str::to_owned)
            .to_vec();
        expected.extend(
            ["project/scripts/b.rs", "project/tool", "project/tool/src"].map(str::to_owned),
        );
        expected.push("project/tool/src/x.rs".to_owned());
        expected.extend(names("", &[]));
        expected.extend(names("project/", &[]));
        expected.sort();
        let mut found = found;
        found.sort();
        assert_eq!(found, expected);
    }

    #[test]
    fn of_a_source_that_is_the_project_what_a_package_holds_is_kept() {
        let mut found = shown(".", &[("project/Cargo.toml", ""), ("project/extra.rs", "")]);
        found.sort();
        let mut expected = names("project/", &PACKAGE);
        expected.push("project/extra.rs".to_owned());
        expected.extend(names("", &[]));
        expected.sort();
        assert_eq!(found, expected);
    }

    #[test]
    fn what_other_languages_are_built_from_is_kept() {
        let package = r#"{"name": "desk", "main": "lib/index.js", "openprogram": {"wit": "api"}}"#;
        let files = [("project/package.json", package), ("project/extra.mjs", "")];
        let found = shown(".", &files);
        for name in [
            "api",
            "lib",
            "lib/index.js",
            "extra.mjs",
            "node_modules",
            "sdk",
            ".npmrc",
        ] {
            assert!(
                found.contains(&format!("project/{name}")),
                "{name}: {found:?}"
            );
        }
        // Node.js looks for modules in every folder above.
        for name in ["node_modules", "package.json", ".npmrc"] {
            assert!(found.contains(&name.to_owned()), "{name}: {found:?}");
        }
        let pyproject = "[project]\nname = \"desk\"\n[dependency-groups]\n\
                         build = [\"componentize-py==0.25.1\"]\n[tool.openprogram]\nwit = \"api\"";
        let found = shown(
            ".",
            &[
                ("project/pyproject.toml", pyproject),
                ("project/app.py", ""),
            ],
        );
        for name in [
            "api",
            "app.py",
            "src",
            "sdk",
            ".venv",
            "dist",
            "pyproject.toml",
        ] {
            assert!(
                found.contains(&format!("project/{name}")),
                "{name}: {found:?}"
            );
        }
    }

    #[test]
    fn what_is_not_there_and_what_is_a_file_are_kept_too() {
        assert_eq!(shown("tool.wasm", &[]), ["project/tool.wasm"]);
        assert_eq!(shown("tool", &[("project/tool", "")]), ["project/tool"]);
        assert!(shown("deep/tool", &[]).contains(&"project/deep/tool".to_owned()));
    }
}
