//! Builds a JavaScript project: npm installs what its lock file pins, componentize-js makes the
//! component, with StarlingMonkey inside.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use openprogram_component::Wit;
use serde::Deserialize;

use super::manifest::{JavaScript, PACKAGE_JSON};
use super::tools::{Tool, command, run, run_renamed};
use super::words::make;
use super::{BuildError, Built, check_sdk};

const INSTALL: &str = "install Node.js 20 or newer, which brings npm, from https://nodejs.org";
const NODE: Tool = Tool {
    name: "node",
    install: INSTALL,
    // The oldest one that the toolchain and the tests of a new project run on.
    least: Some((20, 6)),
};
const NPM: Tool = Tool {
    name: "npm",
    install: INSTALL,
    least: None,
};
/// What a build needs to be there.
pub(super) static TOOLS: [Tool; 2] = [NODE, NPM];
/// The toolchain, as npm names it.
const TOOLCHAIN: &str = "@bytecodealliance/componentize-js";
const LOCK: &str = "package-lock.json";

/// The packages of a lock file, by place below the folder; the folder itself is "".
#[derive(Default, Deserialize)]
struct Packages {
    #[serde(default)]
    packages: BTreeMap<String, Package>,
}

#[derive(Deserialize)]
struct Package {
    version: Option<String>,
    /// Made for some machines only.
    #[serde(default)]
    optional: bool,
}

/// The manifest of the toolchain, as far as it says how to start it.
#[derive(Deserialize)]
struct Started {
    bin: BTreeMap<String, PathBuf>,
}

/// Builds the component of a folder, given from the root. What is done besides is told to `words`.
pub(super) fn build(folder: &Path, words: &mut dyn Write) -> Result<Built, BuildError> {
    let manifest = JavaScript::read(folder)?;
    let project = &manifest.project;
    check_sdk(folder, words)?;
    let wit = Wit::read(&project.wit, project.world.as_deref())?;
    if !folder.join(&manifest.main).is_file() {
        return Err(BuildError::Manifest {
            path: folder.join(PACKAGE_JSON),
            message: format!("its `main`, `{}`, is not there", manifest.main.display()),
        });
    }
    NODE.check(folder)?;
    // It tells the place of a mistake better than the toolchain.
    let shown = format!("node --check {}", manifest.main.display());
    let mut check = command(NODE.name, folder);
    run(check.arg("--check").arg(&manifest.main), NODE, &shown)?;
    install(folder, words)?;

    make(project, &wit, |made| {
        let mut node = command(NODE.name, folder);
        node.arg(started(folder)?).arg(&manifest.main);
        node.arg("--wit").arg(&project.wit);
        node.args(["--world-name", wit.world()]);
        node.args(["--disable", "fetch-event"]);
        if !manifest.fetch {
            node.args(["--disable", "http"]);
        }
        node.arg("--out").arg(made);
        let shown = format!("componentize-js {}", manifest.main.display());
        let main = format!("\"{}\"", manifest.main.display());
        run_renamed(&mut node, NODE, &shown, &[("\"source.js\"", &main)])
    })
}

/// Has npm install the packages of the lock file when others are there, or none.
fn install(folder: &Path, words: &mut dyn Write) -> Result<(), BuildError> {
    if is_installed(folder) {
        return Ok(());
    }
    let verb = if folder.join(LOCK).is_file() {
        "ci"
    } else {
        "install"
    };
    // Words that cannot be written are no reason to fail: nobody is there to read them.
    let _ = writeln!(
        words,
        "installing the toolchain into `{}` with `npm {verb}`",
        folder.join("node_modules").display()
    );
    let mut npm = command(NPM.name, folder);
    npm.args([verb, "--include=dev", "--ignore-scripts"]);
    npm.args(["--no-audit", "--no-fund", "--loglevel=error"]);
    run(&mut npm, NPM, &format!("npm {verb}"))
}

/// Whether every package of the lock file is there in its version.
fn is_installed(folder: &Path) -> bool {
    let read =
        |path: PathBuf| -> Option<Packages> { serde_json::from_slice(&fs::read(path).ok()?).ok() };
    let Some(wanted) = read(folder.join(LOCK)) else {
        return false;
    };
    let Some(found) = read(folder.join("node_modules/.package-lock.json")) else {
        return false;
    };
    let mut needed = wanted
        .packages
        .iter()
        .filter(|(place, package)| !place.is_empty() && !package.optional);
    needed.all(|(place, package)| {
        let there = found.packages.get(place);
        there.is_some_and(|there| there.version == package.version)
    })
}

/// The file that starts the toolchain.
fn started(folder: &Path) -> Result<PathBuf, BuildError> {
    let package = folder.join("node_modules").join(TOOLCHAIN);
    let text = fs::read(package.join(PACKAGE_JSON)).ok();
    let manifest = text.and_then(|text| serde_json::from_slice::<Started>(&text).ok());
    let file = manifest.and_then(|manifest| manifest.bin.into_values().next());
    let file = file.ok_or_else(|| BuildError::Manifest {
        path: folder.join(PACKAGE_JSON),
        message: format!(
            "its dependencies bring no `{TOOLCHAIN}`; run `npm install --save-dev --save-exact \
             {TOOLCHAIN}` in that folder"
        ),
    })?;
    Ok(package.join(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_installed_is_compared_with_the_lock_file() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let installed = "node_modules/.package-lock.json";
        let lock = r#"{"packages": {"": {"version": "1.0.0"}, "node_modules/a": {"version": "2.0.0"},
            "node_modules/b": {"version": "1.0.0", "optional": true}}}"#;
        assert!(!is_installed(folder.path()));
        write(LOCK, lock);
        assert!(!is_installed(folder.path()));
        write(installed, r#"{"packages": {}}"#);
        assert!(!is_installed(folder.path()));
        let more =
            r#"{"packages": {"node_modules/a": {"version": "2.0.0"}, "node_modules/c": {}}}"#;
        write(installed, more);
        assert!(is_installed(folder.path()));
        write(LOCK, &lock.replace("2.0.0", "2.0.1"));
        assert!(!is_installed(folder.path()));
        write(LOCK, "no JSON");
        assert!(!is_installed(folder.path()));
    }
}
