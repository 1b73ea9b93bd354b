//! The bytes of installed components, in the state folder, by digest.
//!
//! A file may have been changed by anyone who can write it, so whoever reads one compares the
//! digest; nothing here is believed for its name.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::PathBuf;

use super::lock::write_whole;
use super::{InstallError, unreadable, unwritable};
use crate::state::create_private;

/// Guards changes of the lock file.
const GUARD_FILE: &str = "guard";

/// The folder of the bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComponentStore {
    folder: PathBuf,
}

/// Held by one process at a time: between reading a lock file to change it and writing it.
#[derive(Debug)]
pub struct InstallGuard {
    /// Held for its lock, which ends with the process however it ends.
    _file: File,
}

impl ComponentStore {
    /// The store in this folder, which may not exist. Reads and writes nothing.
    #[must_use]
    pub fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The file that holds the bytes with this digest, where it is there.
    #[must_use]
    pub fn file(&self, digest: &str) -> PathBuf {
        let hash = digest.strip_prefix("sha256:").unwrap_or(digest);
        self.folder.join(format!("{hash}.wasm"))
    }

    /// Whether there are bytes under this digest. Whether they are right is seen when they are read.
    ///
    /// # Errors
    /// When a link stands where the folder should be.
    pub fn has(&self, digest: &str) -> Result<bool, InstallError> {
        self.check_folder()?;
        // A link or a folder of that name was not put here by us, and is written anew.
        Ok(fs::symlink_metadata(self.file(digest)).is_ok_and(|found| found.is_file()))
    }

    /// Puts bytes in, whole or not at all.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn put(&self, digest: &str, bytes: &[u8]) -> Result<(), InstallError> {
        self.create_folder()?;
        write_whole(&self.file(digest), bytes)
    }

    /// Removes the bytes with this digest; bytes that are not there are removed already.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn remove(&self, digest: &str) -> Result<(), InstallError> {
        self.check_folder()?;
        let file = self.file(digest);
        match fs::remove_file(&file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(unwritable(&file)(error)),
            _ => Ok(()),
        }
    }

    /// Waits until no other process changes what is installed, and keeps others waiting.
    ///
    /// # Errors
    /// When the folder cannot be written or the file system has no locks.
    pub fn guard(&self) -> Result<InstallGuard, InstallError> {
        self.create_folder()?;
        let path = self.folder.join(GUARD_FILE);
        let is_other = |found: fs::Metadata| !found.is_file();
        if fs::symlink_metadata(&path).is_ok_and(is_other) {
            return Err(InstallError::Link(path));
        }
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .and_then(|file| file.lock().map(|()| file))
            .map_err(unwritable(&path))?;
        Ok(InstallGuard { _file: file })
    }

    fn create_folder(&self) -> Result<(), InstallError> {
        self.check_folder()?;
        create_private(&self.folder).map_err(unwritable(&self.folder))
    }

    /// A link can come with a clone; what it leads to is not ours.
    fn check_folder(&self) -> Result<(), InstallError> {
        match fs::symlink_metadata(&self.folder) {
            Ok(found) if found.is_symlink() => Err(InstallError::Link(self.folder.clone())),
            Ok(_) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(unreadable(&self.folder)(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_put_in_found_and_removed_by_digest() {
        let folder = tempfile::tempdir().unwrap();
        let store = ComponentStore::at(folder.path().join("deep/components"));
        let digest = "sha256:00ff";
        assert!(!store.has(digest).unwrap());
        store.remove(digest).unwrap();
        for content in ["first", "second"] {
            store.put(digest, content.as_bytes()).unwrap();
            assert!(store.has(digest).unwrap());
            assert_eq!(fs::read_to_string(store.file(digest)).unwrap(), content);
        }
        store.remove(digest).unwrap();
        assert!(!store.has(digest).unwrap());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_place_of_the_folder_or_of_a_file_is_not_followed() {
        use std::os::unix::fs::symlink;

        let folder = tempfile::tempdir().unwrap();
        let precious = folder.path().join("precious");
        fs::create_dir(&precious).unwrap();
        let linked = folder.path().join("linked");
        symlink(&precious, &linked).unwrap();
        let store = ComponentStore::at(linked);
        for outcome in [
            store.has("sha256:0").map(|_| ()),
            store.put("sha256:0", b"x"),
            store.remove("sha256:0"),
            store.guard().map(|_| ()),
        ] {
            assert!(matches!(outcome, Err(InstallError::Link(_))), "{outcome:?}");
        }
        assert_eq!(fs::read_dir(&precious).unwrap().count(), 0);

        let store = ComponentStore::at(folder.path().join("own"));
        store.create_folder().unwrap();
        let victim = precious.join("victim");
        fs::write(&victim, "kept").unwrap();
        symlink(&victim, store.file("sha256:1")).unwrap();
        assert!(!store.has("sha256:1").unwrap());
        store.put("sha256:1", b"new").unwrap();
        assert!(store.has("sha256:1").unwrap());
        assert_eq!(fs::read_to_string(victim).unwrap(), "kept");
    }

    #[test]
    fn only_one_holds_the_guard() {
        let folder = tempfile::tempdir().unwrap();
        let store = ComponentStore::at(folder.path().to_owned());
        let guard = store.guard().unwrap();
        let other = File::open(folder.path().join(GUARD_FILE)).unwrap();
        assert!(other.try_lock().is_err());
        drop(guard);
        assert!(other.try_lock().is_ok());
    }
}
