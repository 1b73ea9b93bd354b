//! The SDK that this binary carries, as a folder that a project is built with.
//!
//! A project keeps its copy beside its sources, so that a clone of it builds on another machine with
//! nothing but cargo, npm or pip and their registry. Of Rust, the copy is a cargo workspace of its own
//! with the places of the repository; of other languages, a module or two, and the contract as WIT
//! among the dependencies of the project's own WIT. A marker in the copy tells which contract it is
//! for and whether it is this one.

mod language;
mod lock;
mod manifest;

use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::Deserialize;
use sha2::{Digest as _, Sha256};

pub use language::Language;
pub use lock::{lock_of, package_names};
pub use manifest::rust_facts;

/// The folder of a project that holds its copy.
pub const SDK_FOLDER: &str = "sdk";

/// Where a project keeps the contract for builds from WIT.
pub const CONTRACT_FOLDER: &str = "wit/deps/openprogram-agentic";

/// The marker of a copy.
pub const MARKER: &str = "sdk.toml";

/// The files of the SDK as they stand in the repository, by path from its root.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/sdk_files.rs"));

/// What a copy says about itself.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Marker {
    /// The version of the binary that wrote it.
    pub openprogram: String,
    /// The hash of the contract it is for, in hexadecimal.
    pub contract: String,
    /// The hash of its files.
    pub digest: String,
}

/// How the copy of a project stands to the SDK of this binary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SdkState {
    /// The project has none: its SDK comes from elsewhere, or it uses none.
    None,
    /// It is the SDK of this binary.
    Same,
    /// Another SDK for the same contract: components built with it load here.
    Other,
    /// An SDK for another contract: what is built with it is refused here.
    OtherContract(Marker),
    /// The folder has a marker that cannot be read.
    Broken(String),
}

/// The files of a copy, by path below its folder.
#[must_use]
pub fn files(language: Language) -> Vec<(String, String)> {
    let mut files = language.files();
    if language == Language::Rust {
        files.push(("Cargo.toml".to_owned(), manifest::of_copy()));
        files.push((".gitignore".to_owned(), "target/\nCargo.lock\n".to_owned()));
    }
    let marker = marker(&files);
    let text = format!(
        "# The SDK of OpenProgram, as `openprogram new` wrote it. Keep it with the project and change\n\
         # nothing here: `openprogram new --update-sdk` writes this folder anew.\n\
         openprogram = {:?}\ncontract = {:?}\ndigest = {:?}\n",
        marker.openprogram, marker.contract, marker.digest
    );
    files.push((MARKER.to_owned(), text));
    files
}

/// Tells how the copy of a project stands to the SDK of this binary.
#[must_use]
pub fn state(project: &Path) -> SdkState {
    let path = project.join(SDK_FOLDER).join(MARKER);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return SdkState::None,
        Err(error) => return SdkState::Broken(error.to_string()),
    };
    let found: Marker = match toml::from_str(&text) {
        Ok(found) => found,
        Err(error) => return SdkState::Broken(error.message().to_owned()),
    };
    let own = own_marker(Language::of_copy(project));
    if found.contract != own.contract {
        SdkState::OtherContract(found)
    } else if found.digest != own.digest {
        SdkState::Other
    } else {
        SdkState::Same
    }
}

/// Writes the SDK of this binary into the folder of a project, in place of what was there; of a
/// language that builds from WIT, the contract too.
///
/// A new copy is complete before the old one is touched.
///
/// # Errors
/// When a file cannot be written, with its path.
pub fn write(project: &Path, language: Language) -> Result<(), (PathBuf, io::Error)> {
    if language != Language::Rust {
        swap(&project.join(CONTRACT_FOLDER), &language::contract_files())?;
        // A project may have more of this package.
        if !project.join(language::POLL_FOLDER).exists() {
            swap(
                &project.join(language::POLL_FOLDER),
                &language::poll_files(),
            )?;
        }
    }
    swap(&project.join(SDK_FOLDER), &files(language))
}

/// Writes files as a folder, in place of what was there.
fn swap(target: &Path, files: &[(String, String)]) -> Result<(), (PathBuf, io::Error)> {
    let (fresh, old) = (aside(target, "new"), aside(target, "old"));
    let result = write_files(&fresh, files).and_then(|()| {
        let at = |path: &Path| {
            let path = path.to_owned();
            move |error| (path, error)
        };
        if target.exists() {
            fs::rename(target, &old).map_err(at(target))?;
        }
        fs::rename(&fresh, target).map_err(at(target))
    });
    if result.is_err() && old.exists() && !target.exists() {
        // The failure that is reported is the one that came first.
        let _ = fs::rename(&old, target);
    }
    for leftover in [&fresh, &old] {
        // What cannot be removed hurts nobody: it has a name of its own beside the copy.
        let _ = fs::remove_dir_all(leftover);
    }
    result
}

/// Writes files below a folder, making the folders in between.
///
/// # Errors
/// At the first file that cannot be written, with its path.
pub fn write_files(folder: &Path, files: &[(String, String)]) -> Result<(), (PathBuf, io::Error)> {
    for (name, text) in files {
        let path = folder.join(name);
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent)
            .and_then(|()| fs::write(&path, text))
            .map_err(|error| (path, error))?;
    }
    Ok(())
}

/// A place of this process beside a folder.
fn aside(folder: &Path, word: &str) -> PathBuf {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    folder.with_file_name(format!(".{name}.{word}-{}", std::process::id()))
}

/// The hash of the contract that the SDK of this binary is for, in hexadecimal.
#[must_use]
pub fn contract() -> &'static str {
    openprogram_component::contract_hash()
}

fn own_marker(language: Language) -> Marker {
    let mut files = files(language);
    files.retain(|(path, _)| path != MARKER);
    marker(&files)
}

fn marker(files: &[(String, String)]) -> Marker {
    let mut hasher = Sha256::new();
    for (path, text) in files {
        for part in [path, text] {
            hasher.update(part.len().to_le_bytes());
            hasher.update(part);
        }
    }
    let digest = hasher.finalize();
    Marker {
        openprogram: env!("CARGO_PKG_VERSION").to_owned(),
        contract: contract().to_owned(),
        digest: digest.iter().map(|byte| format!("{byte:02x}")).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_told_from_another_one_and_written_anew() {
        let project = tempfile::tempdir().unwrap();
        let path = |name: &str| project.path().join(SDK_FOLDER).join(name);
        assert_eq!(state(project.path()), SdkState::None);
        write(project.path(), Language::Rust).unwrap();
        assert_eq!(state(project.path()), SdkState::Same);

        let marker = fs::read_to_string(path(MARKER)).unwrap();
        let own = own_marker(Language::Rust);
        let change =
            |from: &str, to: &str| fs::write(path(MARKER), marker.replace(from, to)).unwrap();
        change(&own.digest, "another");
        assert_eq!(state(project.path()), SdkState::Other);
        change(&own.contract, "another");
        let expected = Marker {
            contract: "another".to_owned(),
            ..own
        };
        assert_eq!(state(project.path()), SdkState::OtherContract(expected));
        change("digest", "unknown");
        assert!(matches!(state(project.path()), SdkState::Broken(_)));

        fs::write(path("left-over.rs"), "").unwrap();
        write(project.path(), Language::Rust).unwrap();
        assert_eq!(state(project.path()), SdkState::Same);
        assert!(!path("left-over.rs").exists());
        let left: Vec<_> = fs::read_dir(project.path()).unwrap().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }
    #[test]
    fn a_copy_of_another_language_has_the_contract_beside_it() {
        for (language, file) in [
            (Language::JavaScript, "sdk/openprogram-guest.js"),
            (Language::Python, "sdk/openprogram_guest/__init__.py"),
        ] {
            let project = tempfile::tempdir().unwrap();
            let path = |name: &str| project.path().join(name);
            let poll = "wit/deps/io/poll.wit";
            fs::create_dir_all(path("wit/deps/io")).unwrap();
            fs::write(path(poll), "mine").unwrap();
            fs::create_dir_all(path(CONTRACT_FOLDER)).unwrap();
            fs::write(path("wit/deps/openprogram-agentic/old.wit"), "").unwrap();
            write(project.path(), language).unwrap();
            assert_eq!(Language::of_copy(project.path()), language);
            assert_eq!(state(project.path()), SdkState::Same);
            assert!(path(file).is_file());
            let contract = fs::read_dir(path(CONTRACT_FOLDER)).unwrap();
            let mut names: Vec<_> = contract.map(|file| file.unwrap().file_name()).collect();
            names.sort();
            let repository = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../wit")).unwrap();
            let mut expected: Vec<_> = repository.map(|file| file.unwrap().file_name()).collect();
            expected.retain(|name| name.to_string_lossy().ends_with(".wit"));
            expected.sort();
            assert_eq!(names, expected);
            assert_eq!(fs::read_to_string(path(poll)).unwrap(), "mine");
        }
    }
}
