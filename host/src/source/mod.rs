//! From a component as people name it, a file or a source folder, to a `.wasm` file.
//!
//! Sources are built by cargo, npm or Python, outside any sandbox: build scripts and tools run as the
//! person who builds.
//! So only folders that a person named, on the command line or in the project file, are built; what
//! a lock file names is built by `add` and `update` alone, and what is named as a file never.

mod cargo;
mod error;
mod fresh;
mod inputs;
mod javascript;
mod language;
mod lines;
mod manifest;
mod python;
mod skill;
mod toolchain;
mod tools;
mod walked;
mod words;

use std::io::Write;
use std::path::{Path, PathBuf};

use openprogram_core::grant::shell_word;

use self::cargo::Project;
pub use self::error::BuildError;
pub use self::inputs::inputs;
pub use self::language::language_of;
pub use self::lines::{Place, SourceText};
pub use self::toolchain::{Toolchain, ToolchainError};
pub use self::tools::Tool as BuildTool;
pub use self::words::{WIT_KEYWORDS, describe};
use crate::sdk::{self, Language, SdkState};

/// The target that components are built for.
const WASM_TARGET: &str = "wasm32-wasip2";

/// The folder of a JavaScript or Python project that its component is built into.
const OUTPUT_FOLDER: &str = "dist";

/// The folder of a Python project that what its WIT is in Python is written into.
const BINDINGS_FOLDER: &str = "bindings";

/// One component that was built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built {
    /// The package that it was built from.
    pub package: String,
    /// The folder of the package.
    pub folder: PathBuf,
    /// The `.wasm` file.
    pub path: PathBuf,
}

/// What there is where a component should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceState {
    /// Nothing.
    Missing,
    /// A file.
    File,
    /// A source folder, built since it last changed.
    Built,
    /// A source folder that is built before its component is used next.
    Unbuilt,
}

impl SourceState {
    /// Looks at the source of a component without building it; `cache` is that of
    /// [`component_file`].
    #[must_use]
    pub fn look(source: &Path, cache: &Path) -> Self {
        if source.is_file() {
            return Self::File;
        }
        if names_file(source) || !source.is_dir() {
            return Self::Missing;
        }
        match fresh::Stamp::of(source, cache).fresh_component() {
            Some(_) => Self::Built,
            None => Self::Unbuilt,
        }
    }
}

/// Builds all components of a folder: its package, or, in Rust, the members of its workspace.
///
/// What the tools say goes to stderr of this process; `words` gets what is done besides.
///
/// # Errors
/// When a tool is missing or fails, or nothing was built.
pub fn build(folder: &Path, words: &mut dyn Write) -> Result<Vec<Built>, BuildError> {
    if names_file(folder) && folder.is_dir() {
        return Err(BuildError::NamedAsFile(folder.to_owned()));
    }
    let built = match language_of(folder)? {
        Language::Rust => build_rust(folder, words)?,
        Language::JavaScript => vec![javascript::build(&absolute(folder), words)?],
        Language::Python => vec![python::build(&absolute(folder), words)?],
    };
    for component in &built {
        skill::pack(component)?;
    }
    Ok(built)
}

fn build_rust(folder: &Path, words: &mut dyn Write) -> Result<Vec<Built>, BuildError> {
    let project = Project::read(folder)?;
    check_sdk(project.root(), words)?;
    cargo::ensure_target(folder, words)?;
    project.build()
}

/// Refuses an SDK in the project with which nothing can be built that loads here, before time is
/// spent on it, and tells of one that is merely not this one.
fn check_sdk(project: &Path, words: &mut dyn Write) -> Result<(), BuildError> {
    let start = |hash: &str| hash.chars().take(8).collect();
    let project = project.to_owned();
    match sdk::state(&project) {
        SdkState::None | SdkState::Same => Ok(()),
        SdkState::Other => {
            // Words that cannot be written are no reason to fail: nobody is there to read them.
            let _ = writeln!(
                words,
                "note: `{}` is another SDK than the one of this openprogram; \
                 `openprogram new --update-sdk {}` brings that",
                project.join(sdk::SDK_FOLDER).display(),
                word(&project)
            );
            Ok(())
        }
        SdkState::OtherContract(marker) => Err(BuildError::OtherContract {
            project,
            version: marker.openprogram,
            found: start(&marker.contract),
            own: start(sdk::contract()),
        }),
        SdkState::Broken(message) => Err(BuildError::BrokenSdk { project, message }),
    }
}

/// The `.wasm` file of a component: the file itself, or what its source folder builds to.
///
/// A folder is built when its sources have changed since the last build; `cache` holds what was
/// seen then.
///
/// # Errors
/// When there is nothing, the build fails, or the folder makes several components.
pub fn component_file(
    source: &Path,
    cache: &Path,
    words: &mut dyn Write,
) -> Result<PathBuf, BuildError> {
    if source.is_file() {
        return Ok(source.to_owned());
    }
    if !source.is_dir() {
        return Err(match source.exists() {
            true => BuildError::NoFile(source.to_owned()),
            false => BuildError::Missing(source.to_owned()),
        });
    }
    if names_file(source) {
        return Err(BuildError::NamedAsFile(source.to_owned()));
    }
    let stamp = fresh::Stamp::of(source, cache);
    if let Some(path) = stamp.fresh_component() {
        return Ok(path);
    }
    // Words that cannot be written are no reason to fail: nobody is there to read them.
    let _ = writeln!(words, "building `{}`", source.display());
    let begun = std::time::SystemTime::now();
    let mut built = build(source, words)?;
    if built.len() > 1 {
        let packages = built.iter().map(|b| format!("`{}`", b.package)).collect();
        return Err(BuildError::Several {
            folder: source.to_owned(),
            packages,
        });
    }
    let path = built.swap_remove(0).path;
    stamp.note(&path, begun);
    Ok(path)
}

/// The `.wasm` file that a source folder was built to, when nothing has changed since. Starts no tool.
#[must_use]
pub fn built_before(folder: &Path, cache: &Path) -> Option<PathBuf> {
    if names_file(folder) {
        return None;
    }
    fresh::Stamp::of(folder, cache).fresh_component()
}

/// Whether a path names a component file, whatever is there. What is named so is loaded and never
/// built, so that nobody who can put a folder in the place of a file has code run outside the sandbox.
#[must_use]
pub fn names_file(path: &Path) -> bool {
    path.extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("wasm"))
}

/// Where a folder lies, as tools in other folders find it.
fn absolute(folder: &Path) -> PathBuf {
    std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned())
}

/// A path as one word of a command.
fn word(path: &Path) -> String {
    shell_word(&path.display().to_string())
}

/// The name of a component that is given as a file: its stem in kebab-case, without odd letters.
#[must_use]
pub fn name_of(file: &Path) -> String {
    let stem = file.file_stem().map_or_else(String::new, |stem| {
        stem.to_string_lossy().to_ascii_lowercase()
    });
    let words = stem
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty());
    let mut name = String::new();
    for word in words {
        // A word that begins with a digit is joined to the one before it: `v-2` is `v2`.
        if !name.is_empty() && !word.starts_with(|c: char| c.is_ascii_digit()) {
            name.push('-');
        }
        name.push_str(word);
    }
    let begins = name.find(|c: char| c.is_ascii_lowercase());
    let name = begins.map_or("", |at| &name[at..]);
    let name: String = name.chars().take(64).collect();
    match name.trim_end_matches('-') {
        "" => "component".to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::check_component_name;

    #[test]
    fn a_file_gives_its_component_a_name_that_is_allowed() {
        for (file, name) in [
            ("support.wasm", "support"),
            ("target/x/lexical_model.wasm", "lexical-model"),
            ("My Tool (v2).wasm", "my-tool-v2"),
            ("tool.v1.2.wasm", "tool-v12"),
            ("tool-1.wasm", "tool1"),
            ("42.wasm", "component"),
            ("1-2-x.wasm", "x"),
            ("日本.wasm", "component"),
            ("", "component"),
        ] {
            let given = name_of(Path::new(file));
            assert!(check_component_name(&given).is_ok(), "`{given}`");
            assert_eq!(given, name, "`{file}`");
        }
        let long = format!("{}.wasm", "ab-".repeat(40));
        assert!(check_component_name(&name_of(Path::new(&long))).is_ok());
    }

    #[test]
    fn an_sdk_for_another_contract_is_refused_and_another_one_is_told() {
        let project = tempfile::tempdir().unwrap();
        let check = |from: &str, to: &str| {
            sdk::write(project.path(), sdk::Language::Rust).unwrap();
            let marker = project.path().join(sdk::SDK_FOLDER).join(sdk::MARKER);
            let text = std::fs::read_to_string(&marker).unwrap();
            std::fs::write(&marker, text.replace(from, to)).unwrap();
            let mut words = Vec::new();
            let told = check_sdk(project.path(), &mut words);
            let told = told.map_or_else(|error| error.to_string(), |()| "built".to_owned());
            let words = String::from_utf8(words).unwrap();
            format!("{words}{told}").replace(&project.path().display().to_string(), "<project>")
        };
        assert_eq!(check("digest", "digest"), "built");
        assert_eq!(
            check("digest = \"", "digest = \"0"),
            "note: `<project>/sdk` is another SDK than the one of this openprogram; \
             `openprogram new --update-sdk <project>` brings that\nbuilt"
        );
        let own: String = sdk::contract().chars().take(8).collect();
        assert_eq!(
            check(sdk::contract(), "0123456789"),
            format!(
                "the SDK in `<project>/sdk` was written by openprogram 0.1.0 for another contract \
                 (`01234567`) than the one of this openprogram (`{own}`); run `openprogram new \
                 --update-sdk <project>`, or build with the openprogram that wrote it"
            )
        );
        assert!(check("digest", "digset").contains("unknown field `digset`"));
    }

    #[test]
    fn what_is_not_there_or_not_a_package_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let words = &mut Vec::new();
        let missing = folder.path().join("no");
        let error = component_file(&missing, folder.path(), words).unwrap_err();
        assert!(matches!(error, BuildError::Missing(path) if path == missing));
        let named = folder.path().join("tool.WASM");
        std::fs::create_dir(&named).unwrap();
        std::fs::write(named.join("Cargo.toml"), "").unwrap();
        for outcome in [
            component_file(&named, folder.path(), words).map(drop),
            build(&named, words).map(drop),
        ] {
            assert!(matches!(outcome, Err(BuildError::NamedAsFile(path)) if path == named));
        }
        let error = component_file(folder.path(), folder.path(), words).unwrap_err();
        assert!(matches!(error, BuildError::NoPackage(path) if path == folder.path()));
    }
}
