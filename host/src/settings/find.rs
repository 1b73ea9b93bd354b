//! Finds the project: the nearest folder from the current one upwards that holds a project file or
//! a lock file. Reads the project file.

use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use super::SettingsError;
use crate::input::open_found;

/// The name of the project file.
pub const PROJECT_FILE: &str = "openprogram.toml";
/// The name of the lock file, which is written beside the project file.
pub const LOCK_FILE: &str = "openprogram.lock";
/// Largest project file. A thousand components with grants fit; more is not written by hand.
pub const PROJECT_FILE_BYTES_MAX: u64 = 1024 * 1024;

/// A project file and its text.
type Found = Option<(PathBuf, String)>;

/// The nearest project folder, and its project file if it has one; the current folder where there
/// is no project.
pub(super) fn project(current_folder: &Path) -> Result<(PathBuf, Found), SettingsError> {
    for folder in current_folder.ancestors() {
        let file = project_file(folder, current_folder)?;
        if file.is_some() {
            return Ok((folder.to_owned(), file));
        }
        let lock = folder.join(LOCK_FILE);
        let Ok(metadata) = lock.metadata() else {
            continue;
        };
        if metadata.is_file() {
            if !speaks_for(&metadata, current_folder) {
                return Err(SettingsError::NotYours { path: lock });
            }
            return Ok((folder.to_owned(), None));
        }
    }
    Ok((current_folder.to_owned(), None))
}

fn project_file(folder: &Path, current_folder: &Path) -> Result<Found, SettingsError> {
    let path = folder.join(PROJECT_FILE);
    let unreadable = |source| SettingsError::Unreadable {
        path: path.clone(),
        source,
    };
    let file = match open_found(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        // A folder of that name is not a project file.
        Err(_) if path.is_dir() => return Ok(None),
        Err(error) => return Err(unreadable(error)),
    };
    let metadata = file.metadata().map_err(unreadable)?;
    if metadata.is_dir() {
        return Ok(None);
    }
    if !speaks_for(&metadata, current_folder) {
        return Err(SettingsError::NotYours { path });
    }
    let mut text = String::new();
    file.take(PROJECT_FILE_BYTES_MAX + 1)
        .read_to_string(&mut text)
        .map_err(unreadable)?;
    if text.len() as u64 > PROJECT_FILE_BYTES_MAX {
        return Err(SettingsError::TooLarge { path });
    }
    Ok(Some((path, text)))
}

/// Whether the file may speak for the person who works in this folder.
///
/// Project files and lock files make the host build source folders, and builds run code outside any
/// sandbox.
/// So a file that another user left in a shared parent folder, such as `/tmp`, is refused:
/// it must belong to the owner of the current folder, or to the administrator.
#[cfg(unix)]
#[must_use]
pub fn speaks_for(file: &std::fs::Metadata, current_folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    let owner = std::fs::metadata(current_folder).map(|folder| folder.uid());
    file.uid() == 0 || owner.is_ok_and(|owner| owner == file.uid())
}

#[cfg(not(unix))]
#[must_use]
pub fn speaks_for(_file: &std::fs::Metadata, _current_folder: &Path) -> bool {
    true
}
