//! New projects: a folder that builds, is tested and runs, wherever it stands.
//!
//! What is written are the files of `host/templates` with the facts of this binary filled in, the
//! SDK that it carries, and the versions that go with it. Nothing that exists is written over.

mod name;
mod template;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::sdk::{self, Language};

/// The version of a new component.
const VERSION: &str = "0.1.0";

/// Why there is no new project, or no new SDK in one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScaffoldError {
    /// The folder has a name that a component cannot have.
    #[error("`{name}` cannot be the name of a project: {reason}")]
    Name {
        /// The name.
        name: String,
        /// What is wrong with it, and what would be right.
        reason: String,
    },
    /// The path does not end in a name.
    #[error("`{}` does not end in the name of a project; write for example `desk` or `../desk`", .0.display())]
    NoName(PathBuf),
    /// Something is there.
    #[error(
        "`{}` exists already and is not written over; choose another name, or move it away",
        .0.display()
    )]
    Exists(PathBuf),
    /// A part of the way to the folder is a file.
    #[error("`{}` is not a folder, so no project can be made in it", .0.display())]
    NotAFolder(PathBuf),
    /// The folder of the SDK was not written by this program.
    #[error(
        "`{}` holds no SDK that `openprogram new` wrote, so there is nothing to update; name the \
         folder of a project that has one",
        .0.display()
    )]
    NoSdk(PathBuf),
    /// A file or folder cannot be written.
    #[error("cannot write `{}`", path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// A project that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Created {
    /// Its name, which is that of its component.
    pub name: String,
    /// Its folder.
    pub folder: PathBuf,
    /// Its files without the SDK, by path below the folder.
    pub files: Vec<String>,
}

/// Makes a project in a folder that does not exist; the last part of the path is its name.
///
/// The folder appears complete or not at all.
///
/// # Errors
/// When the name cannot be used, something is there, or a file cannot be written.
pub fn create(path: &Path, lang: Language) -> Result<Created, ScaffoldError> {
    let name = path
        .file_name()
        .ok_or_else(|| ScaffoldError::NoName(path.to_owned()))?;
    let name = name.to_string_lossy().into_owned();
    name::check(&name, lang).map_err(|reason| ScaffoldError::Name {
        name: name.clone(),
        reason,
    })?;
    // A link that leads nowhere is there too.
    if path.symlink_metadata().is_ok() {
        return Err(ScaffoldError::Exists(path.to_owned()));
    }
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    if let Some(nearest) = parent.ancestors().find(|path| path.exists())
        && !nearest.is_dir()
    {
        return Err(ScaffoldError::NotAFolder(nearest.to_owned()));
    }
    fs::create_dir_all(parent).map_err(io_error(parent))?;
    let files = template::files(lang, &name, VERSION);
    let aside = parent.join(format!(".{name}.new-{}", std::process::id()));
    let written = sdk::write_files(&aside, &files)
        .and_then(|()| sdk::write(&aside, lang))
        .and_then(|()| fs::rename(&aside, path).map_err(|error| (path.to_owned(), error)));
    if let Err((at, source)) = written {
        // The failure that is reported is the one that came first.
        let _ = fs::remove_dir_all(&aside);
        // People know the folder they asked for, not the one beside it.
        let at = at
            .strip_prefix(&aside)
            .map_or(at.clone(), |below| path.join(below));
        return Err(ScaffoldError::Io { path: at, source });
    }
    Ok(Created {
        name,
        folder: path.to_owned(),
        files: files.into_iter().map(|(name, _)| name).collect(),
    })
}

/// Writes the SDK of this binary into a project that has one, and gives its folder.
///
/// # Errors
/// When the project has none that this program wrote, or a file cannot be written.
pub fn update_sdk(project: &Path) -> Result<PathBuf, ScaffoldError> {
    if sdk::state(project) == sdk::SdkState::None {
        return Err(ScaffoldError::NoSdk(project.to_owned()));
    }
    let language = sdk::Language::of_copy(project);
    sdk::write(project, language).map_err(|(path, source)| ScaffoldError::Io { path, source })?;
    Ok(project.join(sdk::SDK_FOLDER))
}

fn io_error(path: &Path) -> impl FnOnce(io::Error) -> ScaffoldError {
    let path = path.to_owned();
    move |source| ScaffoldError::Io { path, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_has_every_file_and_no_gap_is_left_in_one() {
        for lang in [Language::Rust, Language::JavaScript, Language::Python] {
            check_created(lang);
        }
    }

    fn check_created(lang: Language) {
        let base = tempfile::tempdir().unwrap();
        let folder = base.path().join("deep/desk");
        let created = create(&folder, lang).unwrap();
        assert_eq!(created.name, "desk");
        for file in created
            .files
            .iter()
            .map(String::as_str)
            .chain(["sdk/sdk.toml"])
        {
            let text = fs::read_to_string(folder.join(file)).unwrap();
            assert!(!text.contains("{{"), "{file}: {text}");
        }
        let beside: Vec<_> = fs::read_dir(folder.parent().unwrap()).unwrap().collect();
        assert_eq!(beside.len(), 1, "{beside:?}");
    }

    #[test]
    fn what_exists_is_left_as_it_is() {
        let base = tempfile::tempdir().unwrap();
        let path = |name: &str| base.path().join(name);
        fs::create_dir(path("folder")).unwrap();
        fs::write(path("file"), "mine").unwrap();
        for name in ["folder", "file"] {
            let error = create(&path(name), Language::Rust).unwrap_err();
            assert!(matches!(error, ScaffoldError::Exists(at) if at == path(name)));
        }
        assert_eq!(fs::read_to_string(path("file")).unwrap(), "mine");
        // A parent that is a file cannot hold a project.
        for below in ["file/desk", "file/deep/desk"] {
            let error = create(&path(below), Language::Rust).unwrap_err();
            assert!(matches!(error, ScaffoldError::NotAFolder(at) if at == path("file")));
        }
        let error = update_sdk(&path("folder")).unwrap_err();
        assert!(matches!(error, ScaffoldError::NoSdk(at) if at == path("folder")));
        assert_eq!(fs::read_dir(base.path()).unwrap().count(), 2);
    }

    #[test]
    fn new_components_are_built_like_the_samples() {
        let profile = |text: &str| {
            let manifest: toml::Table = text.parse().unwrap();
            manifest["profile"].clone()
        };
        let samples = include_str!("../../../sample-functions/Cargo.toml");
        assert_eq!(profile(template::RUST[0].1), profile(samples));
    }
}
