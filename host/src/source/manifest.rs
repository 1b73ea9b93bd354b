//! The manifests of JavaScript and Python projects, as far as a build needs them.
//!
//! A project is marked by a part of its own in the manifest that its language has anyway.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::{BuildError, name_of};

/// The manifest of a JavaScript project.
pub(super) const PACKAGE_JSON: &str = "package.json";
/// The manifest of a Python project.
pub(super) const PYPROJECT: &str = "pyproject.toml";
/// The toolchain of Python, pinned in the dependency group `build`.
const COMPONENTIZE_PY: &str = "componentize-py";
/// Largest manifest that is read.
const MANIFEST_BYTES_MAX: u64 = 1024 * 1024;

/// What both languages have.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Project {
    pub(super) folder: PathBuf,
    /// The name of the package.
    pub(super) name: String,
    /// The file or folder of its WIT.
    pub(super) wit: PathBuf,
    /// The world, where it is named.
    pub(super) world: Option<String>,
}

/// A JavaScript project.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct JavaScript {
    pub(super) project: Project,
    /// The module whose exports are those of the component, below the folder.
    pub(super) main: PathBuf,
    /// Whether `fetch` is wanted, which makes the component import the network.
    pub(super) fetch: bool,
}

/// A Python project.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Python {
    pub(super) project: Project,
    /// The module whose classes are the interfaces of the component.
    pub(super) module: String,
    /// The pinned version of the toolchain.
    pub(super) toolchain: String,
    /// All that is installed for a build, the toolchain first.
    pub(super) requirements: Vec<String>,
}

#[derive(Deserialize)]
struct PackageJson {
    name: Option<String>,
    main: Option<PathBuf>,
    openprogram: Option<JavaScriptPart>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JavaScriptPart {
    wit: Option<PathBuf>,
    world: Option<String>,
    #[serde(default)]
    fetch: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct PyProject {
    project: Option<PyPackage>,
    #[serde(default)]
    dependency_groups: Groups,
    #[serde(default)]
    tool: Tools,
}

#[derive(Deserialize)]
struct PyPackage {
    name: String,
    #[serde(default)]
    dependencies: Vec<String>,
}

#[derive(Default, Deserialize)]
struct Groups {
    #[serde(default)]
    build: Vec<String>,
}

#[derive(Default, Deserialize)]
struct Tools {
    openprogram: Option<PythonPart>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PythonPart {
    module: Option<String>,
    wit: Option<PathBuf>,
    world: Option<String>,
}

/// Whether a folder holds the marked manifest of a JavaScript project.
///
/// # Errors
/// When the manifest is there and cannot be read.
pub(super) fn is_javascript(folder: &Path) -> Result<bool, BuildError> {
    let found: Option<PackageJson> = read(&folder.join(PACKAGE_JSON), from_json)?;
    Ok(found.is_some_and(|manifest| manifest.openprogram.is_some()))
}

/// Whether a folder holds the marked manifest of a Python project.
///
/// # Errors
/// When the manifest is there and cannot be read.
pub(super) fn is_python(folder: &Path) -> Result<bool, BuildError> {
    let found: Option<PyProject> = read(&folder.join(PYPROJECT), from_toml)?;
    Ok(found.is_some_and(|manifest| manifest.tool.openprogram.is_some()))
}

impl JavaScript {
    /// Reads `package.json`.
    ///
    /// # Errors
    /// When it cannot be used.
    pub(super) fn read(folder: &Path) -> Result<Self, BuildError> {
        let path = folder.join(PACKAGE_JSON);
        let no_package = || BuildError::NoPackage(folder.to_owned());
        let manifest: PackageJson = read(&path, from_json)?.ok_or_else(no_package)?;
        let part = manifest.openprogram.ok_or_else(no_package)?;
        let main = manifest.main.ok_or_else(|| BuildError::Manifest {
            path: path.clone(),
            message: "it names no `main`, the module that exports the functions; add for example \
                      `\"main\": \"src/index.js\"`"
                .to_owned(),
        })?;
        let name = manifest.name.ok_or_else(|| nameless(&path))?;
        Ok(Self {
            project: Project::new(folder, name, part.wit, part.world),
            main: inside(&path, "main", main)?,
            fetch: part.fetch,
        })
    }
}

impl Python {
    /// Reads `pyproject.toml`.
    ///
    /// # Errors
    /// When it cannot be used.
    pub(super) fn read(folder: &Path) -> Result<Self, BuildError> {
        let path = folder.join(PYPROJECT);
        let no_package = || BuildError::NoPackage(folder.to_owned());
        let manifest: PyProject = read(&path, from_toml)?.ok_or_else(no_package)?;
        let part = manifest.tool.openprogram.ok_or_else(no_package)?;
        let package = manifest.project.ok_or_else(|| nameless(&path))?;
        let build = manifest.dependency_groups.build;
        let toolchain = build.iter().find_map(|line| {
            let version = line.trim().strip_prefix(COMPONENTIZE_PY)?.trim();
            Some(version.strip_prefix("==")?.trim().to_owned())
        });
        let toolchain = toolchain.ok_or_else(|| BuildError::Manifest {
            path: path.clone(),
            message: format!(
                "its dependency group `build` pins no `{COMPONENTIZE_PY}`; add \
                 `build = [\"{COMPONENTIZE_PY}==0.25.1\"]` under `[dependency-groups]`"
            ),
        })?;
        let requirements = build.into_iter().chain(package.dependencies);
        Ok(Self {
            project: Project::new(folder, package.name, part.wit, part.world),
            module: part.module.unwrap_or_else(|| "app".to_owned()),
            toolchain,
            requirements: requirements.collect(),
        })
    }
}

impl Project {
    fn new(folder: &Path, name: String, wit: Option<PathBuf>, world: Option<String>) -> Self {
        Self {
            wit: folder.join(wit.unwrap_or_else(|| PathBuf::from("wit"))),
            folder: folder.to_owned(),
            name,
            world,
        }
    }

    /// Where its component is built to.
    pub(super) fn component(&self) -> PathBuf {
        // A name with a scope, as npm has them, is no name of a file.
        let name = self.name.rsplit('/').next().unwrap_or(&self.name);
        let file = format!("{}.wasm", name_of(Path::new(&format!("{name}.wasm"))));
        self.folder.join(super::OUTPUT_FOLDER).join(file)
    }
}

fn nameless(path: &Path) -> BuildError {
    BuildError::Manifest {
        path: path.to_owned(),
        message: "it gives the package no name; add one".to_owned(),
    }
}

/// A path below the folder of a manifest.
fn inside(manifest: &Path, key: &str, path: PathBuf) -> Result<PathBuf, BuildError> {
    let is_inside = path.components().all(|part| {
        matches!(
            part,
            std::path::Component::Normal(_) | std::path::Component::CurDir
        )
    });
    match is_inside {
        true => Ok(path),
        false => Err(BuildError::Manifest {
            path: manifest.to_owned(),
            message: format!("`{key}` must be a file below its folder"),
        }),
    }
}

fn from_json<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

pub(super) fn from_toml<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    // The first line names the place.
    toml::from_str(text).map_err(|error| {
        let text = error.to_string();
        let place = text.lines().next().unwrap_or_default();
        format!("{place}: {}", error.message())
    })
}

/// The manifest; `None` where there is no such file.
///
/// # Errors
/// When it is there and cannot be read.
pub(super) fn read<T>(
    path: &Path,
    parse: fn(&str) -> Result<T, String>,
) -> Result<Option<T>, BuildError> {
    let refused = |message: String| BuildError::Manifest {
        path: path.to_owned(),
        message,
    };
    let mut text = String::new();
    match File::open(path) {
        Ok(file) => file
            .take(MANIFEST_BYTES_MAX)
            .read_to_string(&mut text)
            .map_err(|error| refused(error.to_string()))?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(refused(error.to_string())),
    };
    parse(&text).map(Some).map_err(refused)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use expect_test::{Expect, expect};

    use super::*;

    fn check(file: &str, text: &str, expected: Expect) {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(file), text).unwrap();
        let shown = match file {
            PACKAGE_JSON => JavaScript::read(folder.path()).map(|it| format!("{it:?}")),
            _ => Python::read(folder.path()).map(|it| format!("{it:?}")),
        };
        let shown = shown.unwrap_or_else(|error| error.to_string());
        let shown = shown.replace(&folder.path().display().to_string(), "<project>");
        expected.assert_eq(&shown);
    }

    #[test]
    fn what_a_package_json_says_is_read() {
        check(
            PACKAGE_JSON,
            r#"{"name": "@acme/my-desk", "main": "src/a.js", "openprogram": {}, "more": 1}"#,
            expect![[
                r#"JavaScript { project: Project { folder: "<project>", name: "@acme/my-desk", wit: "<project>/wit", world: None }, main: "src/a.js", fetch: false }"#
            ]],
        );
        check(
            PACKAGE_JSON,
            r#"{"name": "desk", "main": "a.js", "openprogram": {"wit": "w", "world": "x", "fetch": true}}"#,
            expect![[
                r#"JavaScript { project: Project { folder: "<project>", name: "desk", wit: "<project>/w", world: Some("x") }, main: "a.js", fetch: true }"#
            ]],
        );
        for (text, expected) in [
            (
                "{",
                expect![
                    "`<project>/package.json` cannot be used: EOF while parsing an object at line 1 column 1"
                ],
            ),
            (
                r#"{"name": "desk", "main": "a.js"}"#,
                expect![
                    "`<project>` holds no Cargo.toml, no package.json with an `openprogram` part and no pyproject.toml with a `[tool.openprogram]` part, so there is nothing to build"
                ],
            ),
            (
                r#"{"name": "desk", "openprogram": {}}"#,
                expect![[
                    r#"`<project>/package.json` cannot be used: it names no `main`, the module that exports the functions; add for example `"main": "src/index.js"`"#
                ]],
            ),
            (
                r#"{"main": "a.js", "openprogram": {}}"#,
                expect![
                    "`<project>/package.json` cannot be used: it gives the package no name; add one"
                ],
            ),
            (
                r#"{"name": "desk", "main": "../a.js", "openprogram": {}}"#,
                expect![
                    "`<project>/package.json` cannot be used: `main` must be a file below its folder"
                ],
            ),
            (
                r#"{"name": "desk", "main": "a.js", "openprogram": {"word": "x"}}"#,
                expect![
                    "`<project>/package.json` cannot be used: unknown field `word`, expected one of `wit`, `world`, `fetch` at line 1 column 55"
                ],
            ),
        ] {
            check(PACKAGE_JSON, text, expected);
        }
    }

    #[test]
    fn what_a_pyproject_says_is_read() {
        let project = "[project]\nname = \"desk\"\n";
        let part = "[tool.openprogram]\nmodule = \"main\"\n";
        let group = "[dependency-groups]\nbuild = [\"componentize-py == 0.25.1\"]\n";
        let whole = format!("{project}dependencies = [\"six\"]\n{group}{part}");
        check(
            PYPROJECT,
            &whole,
            expect![[
                r#"Python { project: Project { folder: "<project>", name: "desk", wit: "<project>/wit", world: None }, module: "main", toolchain: "0.25.1", requirements: ["componentize-py == 0.25.1", "six"] }"#
            ]],
        );
        check(
            PYPROJECT,
            "[project",
            expect![
                "`<project>/pyproject.toml` cannot be used: TOML parse error at line 1, column 9: unclosed table, expected `]`"
            ],
        );
        check(
            PYPROJECT,
            project,
            expect![
                "`<project>` holds no Cargo.toml, no package.json with an `openprogram` part and no pyproject.toml with a `[tool.openprogram]` part, so there is nothing to build"
            ],
        );
        check(
            PYPROJECT,
            &format!("{group}{part}"),
            expect![
                "`<project>/pyproject.toml` cannot be used: it gives the package no name; add one"
            ],
        );
        check(
            PYPROJECT,
            &format!("{project}{part}"),
            expect![[
                r#"`<project>/pyproject.toml` cannot be used: its dependency group `build` pins no `componentize-py`; add `build = ["componentize-py==0.25.1"]` under `[dependency-groups]`"#
            ]],
        );
        let unpinned = group.replace("==", ">=");
        check(
            PYPROJECT,
            &format!("{project}{unpinned}{part}"),
            expect![[
                r#"`<project>/pyproject.toml` cannot be used: its dependency group `build` pins no `componentize-py`; add `build = ["componentize-py==0.25.1"]` under `[dependency-groups]`"#
            ]],
        );
        check(
            PYPROJECT,
            &format!("{whole}word = 1\n"),
            expect![
                "`<project>/pyproject.toml` cannot be used: TOML parse error at line 8, column 1: unknown field `word`, expected one of `module`, `wit`, `world`"
            ],
        );
    }

    #[test]
    fn a_component_has_a_name_that_a_file_can_have() {
        let at = |name: &str| {
            let project = Project::new(Path::new("/p"), name.to_owned(), None, None);
            project.component().display().to_string()
        };
        assert_eq!(at("@acme/my-desk"), "/p/dist/my-desk.wasm");
        assert_eq!(at("my_desk.v2"), "/p/dist/my-desk-v2.wasm");
        assert_eq!(at("../x"), "/p/dist/x.wasm");
    }
}
