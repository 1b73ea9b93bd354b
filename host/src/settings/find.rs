//! Finds and reads the project file: the nearest one from the current folder upwards.

use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use super::SettingsError;

/// The name of the project file.
pub const PROJECT_FILE: &str = "openprogram.toml";
/// Largest project file. A thousand components with grants fit; more is not written by hand.
pub const PROJECT_FILE_BYTES_MAX: u64 = 1024 * 1024;

/// The nearest project file and its text.
pub(super) fn project_file(
    current_folder: &Path,
) -> Result<Option<(PathBuf, String)>, SettingsError> {
    for folder in current_folder.ancestors() {
        let path = folder.join(PROJECT_FILE);
        let unreadable = |source| SettingsError::Unreadable {
            path: path.clone(),
            source,
        };
        let file = match std::fs::File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            // A folder of that name is not a project file.
            Err(_) if path.is_dir() => continue,
            Err(error) => return Err(unreadable(error)),
        };
        let metadata = file.metadata().map_err(unreadable)?;
        if metadata.is_dir() {
            continue;
        }
        if !is_trusted(&metadata, current_folder) {
            return Err(SettingsError::NotYours { path });
        }
        let mut text = String::new();
        file.take(PROJECT_FILE_BYTES_MAX + 1)
            .read_to_string(&mut text)
            .map_err(unreadable)?;
        if text.len() as u64 > PROJECT_FILE_BYTES_MAX {
            return Err(SettingsError::TooLarge { path });
        }
        return Ok(Some((path, text)));
    }
    Ok(None)
}

/// Whether the file may speak for the person who works in this folder.
///
/// A project file makes the host build source folders, and builds run code outside any sandbox.
/// So a file that another user left in a shared parent folder, such as `/tmp`, is refused:
/// it must belong to the owner of the current folder, or to the administrator.
#[cfg(unix)]
fn is_trusted(file: &std::fs::Metadata, current_folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    let owner = std::fs::metadata(current_folder).map(|folder| folder.uid());
    file.uid() == 0 || owner.is_ok_and(|owner| owner == file.uid())
}

#[cfg(not(unix))]
fn is_trusted(_file: &std::fs::Metadata, _current_folder: &Path) -> bool {
    true
}
