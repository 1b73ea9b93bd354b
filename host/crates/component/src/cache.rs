//! The private folder of compiled images and learned facts, by digest.
//!
//! An image is native code: whoever can write it runs as us. So the folder must belong to us and
//! be writable by nobody else, and every entry carries the SHA-256 of its name and content, which
//! also finds entries that a crash or a full disk left damaged, or a copy put under another name.
//! Such an entry counts as absent.

use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};
use sha2::{Digest as _, Sha256};

/// Begins every entry; changes with its layout.
const MAGIC: &[u8; 8] = b"opcache2";
/// The largest entry that is read; a longer file was not written by us.
const ENTRY_BYTES_MAX: u64 = 1 << 30;
/// What the folder holds at most; the oldest entries go when a new one would exceed it.
const FOLDER_BYTES_MAX: u64 = 2 << 30;

/// Why the cache folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// It cannot be made or opened.
    #[error("the cache folder `{folder}` cannot be opened")]
    Open {
        /// The folder.
        folder: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Others can write it.
    #[error(
        "the cache folder `{folder}` is not private ({what}); compiled code is kept there, so \
         make it yours alone with `chmod 700` or name another folder"
    )]
    NotPrivate {
        /// The folder.
        folder: String,
        /// What is wrong.
        what: String,
    },
}

/// The opened folder.
pub(crate) struct CacheFolder {
    dir: Dir,
    written: AtomicU64,
}

impl CacheFolder {
    /// Opens the folder, making it when it is missing, and checks that it is private.
    pub(crate) fn open(folder: &Path) -> Result<Self, CacheError> {
        let shown = folder.display().to_string();
        let open = || -> io::Result<Dir> {
            create_private(folder)?;
            Dir::open_ambient_dir(folder, ambient_authority())
        };
        let dir = open().map_err(|source| CacheError::Open {
            folder: shown.clone(),
            source,
        })?;
        let cache = Self {
            dir,
            written: AtomicU64::new(0),
        };
        match cache.privacy() {
            Ok(None) => Ok(cache),
            Ok(Some(what)) => Err(CacheError::NotPrivate {
                folder: shown,
                what,
            }),
            Err(source) => Err(CacheError::Open {
                folder: shown,
                source,
            }),
        }
    }

    /// What keeps the opened folder from being private, if anything.
    #[cfg(unix)]
    fn privacy(&self) -> io::Result<Option<String>> {
        use cap_std::fs::MetadataExt as _;
        let folder = self.dir.dir_metadata()?;
        if folder.mode() & 0o022 != 0 {
            let mode = folder.mode() & 0o777;
            return Ok(Some(format!("others can write it, mode {mode:o}")));
        }
        // A file that we make belongs to us, which tells who we are.
        let name = self.temporary_name();
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        let probe = self.dir.open_with(&name, &options)?.metadata()?;
        self.dir.remove_file(&name)?;
        if probe.uid() != folder.uid() {
            return Ok(Some(format!("it belongs to user {}", folder.uid())));
        }
        Ok(None)
    }

    #[cfg(not(unix))]
    fn privacy(&self) -> io::Result<Option<String>> {
        // Folders below the profile of a user are private by default on these systems.
        Ok(None)
    }

    /// The content of an entry; `None` when it is absent, damaged or unreadable.
    pub(crate) fn read(&self, name: &str) -> Option<Vec<u8>> {
        // Opening a pipe would wait for someone at its other end.
        if !self.dir.symlink_metadata(name).ok()?.is_file() {
            return None;
        }
        let file = self.dir.open(name).ok()?;
        if file.metadata().ok()?.len() > ENTRY_BYTES_MAX {
            return None;
        }
        let mut entry = Vec::new();
        file.take(ENTRY_BYTES_MAX).read_to_end(&mut entry).ok()?;
        let (magic, rest) = entry.split_at_checked(MAGIC.len())?;
        let (recorded, content) = rest.split_at_checked(32)?;
        if magic != MAGIC || checksum(name, content) != recorded {
            return None;
        }
        entry.drain(..MAGIC.len() + 32);
        Some(entry)
    }

    /// Writes an entry, whole or not at all. Other processes may write the same one meanwhile.
    pub(crate) fn write(&self, name: &str, content: &[u8]) -> io::Result<()> {
        let temporary = self.temporary_name();
        let written = self.write_temporary(&temporary, name, content);
        let renamed = written.and_then(|()| self.dir.rename(&temporary, &self.dir, name));
        if renamed.is_err() {
            // The first error is the one to tell; a leftover is only untidy.
            let _ = self.dir.remove_file(&temporary);
        }
        self.prune(FOLDER_BYTES_MAX);
        renamed
    }

    /// Removes the oldest entries until the rest fits. Entries that vanish meanwhile, because
    /// another process does the same, are as good as removed.
    fn prune(&self, bytes_max: u64) {
        let Ok(entries) = self.dir.entries() else {
            return;
        };
        let mut known: Vec<_> = entries
            .flatten()
            .filter_map(|entry| {
                let metadata = entry.metadata().ok()?;
                Some((metadata.modified().ok()?, metadata.len(), entry.file_name()))
            })
            .collect();
        let mut bytes: u64 = known.iter().map(|(_, size, _)| size).sum();
        known.sort_by_key(|(modified, ..)| *modified);
        for (_, size, name) in known {
            if bytes <= bytes_max {
                return;
            }
            // An entry that cannot be removed is tried again next time.
            let _ = self.dir.remove_file(name);
            bytes -= size;
        }
    }

    fn write_temporary(&self, temporary: &str, name: &str, content: &[u8]) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        let mut file = self.dir.open_with(temporary, &options)?;
        file.write_all(MAGIC)?;
        file.write_all(&checksum(name, content))?;
        file.write_all(content)
    }

    fn temporary_name(&self) -> String {
        let count = self.written.fetch_add(1, Ordering::Relaxed);
        format!(".{}-{count}.tmp", std::process::id())
    }
}

/// What an entry carries: names hold no zero byte, so the two parts cannot be shifted.
fn checksum(name: &str, content: &[u8]) -> [u8; 32] {
    let hash = Sha256::new().chain_update(name).chain_update([0]);
    hash.chain_update(content).finalize().into()
}

#[cfg(unix)]
fn create_private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true).mode(0o700).create(folder)
}

#[cfg(not(unix))]
fn create_private(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_read_as_it_was_written_and_not_at_all_when_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cache");
        let cache = CacheFolder::open(&path).unwrap();
        assert_eq!(cache.read("a"), None);
        cache.write("a", b"content").unwrap();
        cache.write("a", b"changed").unwrap();
        assert_eq!(cache.read("a").as_deref(), Some(&b"changed"[..]));

        let whole = std::fs::read(path.join("a")).unwrap();
        let mut flipped = whole.clone();
        *flipped.last_mut().unwrap() ^= 1;
        for damaged in [&whole[..whole.len() - 1], &flipped, &whole[..20], b""] {
            std::fs::write(path.join("a"), damaged).unwrap();
            assert_eq!(cache.read("a"), None, "{} bytes", damaged.len());
        }
        // Under another name it is another component's.
        std::fs::write(path.join("a"), &whole).unwrap();
        assert_eq!(cache.read("a").as_deref(), Some(&b"changed"[..]));
        std::fs::rename(path.join("a"), path.join("b")).unwrap();
        assert_eq!(cache.read("b"), None);
        assert_eq!(std::fs::read_dir(&path).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_others_can_write_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        for (mode, refused) in [(0o700, false), (0o755, false), (0o770, true), (0o777, true)] {
            std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(mode)).unwrap();
            let opened = CacheFolder::open(folder.path());
            let is_refused = matches!(opened, Err(CacheError::NotPrivate { .. }));
            assert_eq!(is_refused, refused, "mode {mode:o}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_new_folder_is_made_private() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/cache");
        CacheFolder::open(&path).unwrap();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }

    #[test]
    fn the_oldest_entries_go_when_the_folder_is_full() {
        let folder = tempfile::tempdir().unwrap();
        let cache = CacheFolder::open(folder.path()).unwrap();
        let day = |n: u64| std::time::UNIX_EPOCH + std::time::Duration::from_secs(n * 86_400);
        for (name, modified) in [("b", day(2)), ("a", day(1)), ("c", day(3))] {
            cache.write(name, &[0; 60]).unwrap();
            let path = folder.path().join(name);
            let file = std::fs::File::options().write(true).open(path).unwrap();
            file.set_modified(modified).unwrap();
        }
        cache.prune(200);
        let left = ["a", "b", "c"].map(|name| cache.read(name).is_some());
        assert_eq!(left, [false, true, true]);
    }

    #[test]
    fn a_file_in_place_of_the_folder_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, b"").unwrap();
        assert!(matches!(
            CacheFolder::open(&path),
            Err(CacheError::Open { .. })
        ));
    }
}
