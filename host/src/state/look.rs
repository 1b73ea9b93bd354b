//! The state folder as it is, looked at without creating or changing anything that stays.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{BIRTH_FILE, StateError, StateFolder, birth_mark, io_error, is_open, refuse_links};

/// Folders below the cache that are gone into.
const DEPTH_MAX: u32 = 8;
/// How the files of compiled components end.
const IMAGE_EXTENSION: &str = "image";

/// What there is in a state folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateFacts {
    /// Whether there is one.
    pub exists: bool,
    /// Whether its cache was made in this very place and is believed.
    pub is_believed: bool,
    /// A folder of the cache that others can write, which is refused.
    pub open_to_others: Option<PathBuf>,
    /// The compiled components.
    pub n_images: u64,
    /// The size of everything in the cache.
    pub cache_bytes: u64,
}

impl StateFolder {
    /// Looks at the folder.
    ///
    /// # Errors
    /// When a command that needs it would be refused: it is a link or no folder, holds a link, is
    /// open to others, or cannot be written.
    pub fn look(path: &Path) -> Result<StateFacts, StateError> {
        let found = match fs::symlink_metadata(path) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(StateFacts::default());
            }
            Err(error) => return Err(io_error(path)(error)),
        };
        if found.is_symlink() {
            return Err(StateError::Link {
                path: path.to_owned(),
            });
        }
        let mut entries = fs::read_dir(path).map_err(io_error(path))?;
        if is_open(&found) && entries.next().is_some() {
            return Err(StateError::NotPrivate {
                path: path.to_owned(),
            });
        }
        refuse_links(path)?;
        probe(path).map_err(io_error(path))?;
        let state = Self::at(path);
        let mut facts = StateFacts {
            exists: true,
            is_believed: state.is_believed(),
            ..StateFacts::default()
        };
        facts.count(&state.cache(), DEPTH_MAX);
        Ok(facts)
    }

    fn is_believed(&self) -> bool {
        let mark = fs::read_to_string(self.path.join(BIRTH_FILE));
        let expected = birth_mark(&self.path);
        mark.is_ok_and(|mark| expected.is_ok_and(|expected| mark == expected))
    }
}

impl StateFacts {
    /// Counts what is below a folder; what cannot be read counts as nothing. Links are not followed.
    fn count(&mut self, folder: &Path, depth: u32) {
        let Ok(entries) = fs::read_dir(folder) else {
            return;
        };
        if fs::metadata(folder).is_ok_and(|found| is_writable_by_others(&found)) {
            self.open_to_others.get_or_insert_with(|| folder.to_owned());
        }
        for entry in entries.flatten() {
            let Ok(found) = entry.metadata() else {
                continue;
            };
            if found.is_dir() && depth > 0 {
                self.count(&entry.path(), depth - 1);
            } else if found.is_file() {
                self.cache_bytes = self.cache_bytes.saturating_add(found.len());
                let is_image = entry
                    .path()
                    .extension()
                    .is_some_and(|e| e == IMAGE_EXTENSION);
                self.n_images += u64::from(is_image);
            }
        }
    }
}

/// Whether a file can be made in the folder; it is gone again afterwards.
fn probe(folder: &Path) -> io::Result<()> {
    let path = folder.join(format!(".probe.{}", std::process::id()));
    fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&path)?;
    fs::remove_file(path)
}

#[cfg(unix)]
fn is_writable_by_others(found: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    found.permissions().mode() & 0o022 != 0
}

#[cfg(not(unix))]
fn is_writable_by_others(_found: &fs::Metadata) -> bool {
    false
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn open(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn looking_creates_nothing_and_counts_what_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        assert_eq!(StateFolder::look(&path).unwrap(), StateFacts::default());
        assert!(!path.exists());

        let state = StateFolder::create(&path).unwrap();
        let components = state.cache().join("components");
        fs::create_dir(&components).unwrap();
        open(&components, 0o700);
        let before = StateFolder::look(&path).unwrap();
        assert!(before.exists && before.is_believed, "{before:?}");
        for name in ["a.image", "b.image", "a.facts"] {
            fs::write(components.join(name), [0; 100]).unwrap();
        }
        let after = StateFolder::look(&path).unwrap();
        let expected = StateFacts {
            n_images: 2,
            cache_bytes: before.cache_bytes + 300,
            ..before
        };
        assert_eq!(after, expected);

        open(&components, 0o777);
        let shared = StateFolder::look(&path).unwrap();
        assert_eq!(shared.open_to_others, Some(components));
    }

    #[test]
    fn what_a_run_would_refuse_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        StateFolder::create(&path).unwrap();
        open(&path, 0o755);
        let refused = StateFolder::look(&path);
        assert!(
            matches!(refused, Err(StateError::NotPrivate { .. })),
            "{refused:?}"
        );
        open(&path, 0o700);
        fs::write(path.join(BIRTH_FILE), "elsewhere").unwrap();
        assert!(!StateFolder::look(&path).unwrap().is_believed);

        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let refused = StateFolder::look(&link);
        assert!(
            matches!(refused, Err(StateError::Link { .. })),
            "{refused:?}"
        );
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let refused = StateFolder::look(&file);
        assert!(matches!(refused, Err(StateError::Io { .. })), "{refused:?}");
    }
}
