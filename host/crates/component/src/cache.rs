//! The private folder of compiled images and learned facts, by digest.
//!
//! An image is native code: whoever can write it runs as us. So the folder must belong to us and
//! be writable by nobody else, and only plain files that are ours alone are read from it. Every
//! entry ends with its name and a checksum, which find what a crash, a full disk or a slip left
//! behind; such an entry counts as absent. Entries are mapped, so none is ever changed in place.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{self, Read, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata, OpenOptions};
use twox_hash::XxHash3_64;

/// Ends every entry, before its checksum; changes with the layout.
const MAGIC: &[u8; 8] = b"opcache3";
/// The largest entry that is read; a longer file was not written by us.
const ENTRY_BYTES_MAX: u64 = 1 << 30;
/// What the folder holds at most; the oldest entries go when a new one would exceed it.
const FOLDER_BYTES_MAX: u64 = 2 << 30;
/// How much of an entry is read at once, so that it is still near when its checksum is made.
const PART_BYTES: usize = 128 << 10;

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
    /// The user that entries must belong to, where systems have such a thing.
    owner: Option<u32>,
}

/// A compiled image that was found whole.
pub(crate) struct Image {
    file: std::fs::File,
    content_bytes: u64,
}

impl Image {
    /// A path by which this very file can be mapped, whatever its name stands for by now; `None`
    /// where systems have no such path. It holds as long as the image.
    #[cfg(unix)]
    pub(crate) fn path(&self) -> Option<PathBuf> {
        use std::os::fd::AsRawFd as _;
        Some(format!("/dev/fd/{}", self.file.as_raw_fd()).into())
    }

    #[cfg(not(unix))]
    pub(crate) fn path(&self) -> Option<PathBuf> {
        None
    }

    /// What the image holds.
    pub(crate) fn bytes(&self) -> io::Result<Vec<u8>> {
        let mut file = &self.file;
        file.rewind()?;
        let mut bytes = Vec::new();
        file.take(self.content_bytes).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

impl CacheFolder {
    /// Opens the folder, making it when it is missing, and checks that it is private.
    pub(crate) fn open(folder: &Path) -> Result<Self, CacheError> {
        let shown = folder.display().to_string();
        let open = || -> io::Result<Dir> {
            create_private(folder)?;
            Dir::open_ambient_dir(folder, ambient_authority())
        };
        let opened = open().and_then(|dir| Ok((privacy(&dir)?, dir)));
        match opened {
            Ok((Ok(owner), dir)) => Ok(Self { dir, owner }),
            Ok((Err(what), _)) => Err(CacheError::NotPrivate {
                folder: shown,
                what,
            }),
            Err(source) => Err(CacheError::Open {
                folder: shown,
                source,
            }),
        }
    }

    /// The content of an entry; `None` when it is absent, damaged, unreadable or not ours alone.
    pub(crate) fn read(&self, name: &str) -> Option<Vec<u8>> {
        let mut content = Vec::new();
        self.checked(name, |part| content.extend_from_slice(part))?;
        Some(content)
    }

    /// An entry that is to be mapped; `None` as for [`CacheFolder::read`].
    pub(crate) fn image(&self, name: &str) -> Option<Image> {
        let (file, content_bytes) = self.checked(name, |_| {})?;
        Some(Image {
            file,
            content_bytes,
        })
    }

    /// Whether there is an entry whose name begins like this one and is another.
    pub(crate) fn has_other(&self, start: &str, name: &str) -> bool {
        let Ok(entries) = self.dir.entries() else {
            return false;
        };
        let mut names = entries.flatten().map(|entry| entry.file_name());
        names.any(|found| {
            let found = found.to_str();
            let is_image = |found: &str| found.starts_with(start) && found.ends_with(".image");
            found.is_some_and(|found| is_image(found) && found != name)
        })
    }

    /// Opens an entry, gives its content in parts, and tells whether it was whole.
    fn checked(&self, name: &str, mut part: impl FnMut(&[u8])) -> Option<(std::fs::File, u64)> {
        let (mut file, size) = self.open_entry(name)?;
        let seal_bytes = (name.len() + MAGIC.len() + size_of::<u64>()) as u64;
        let content_bytes = size.checked_sub(seal_bytes)?;
        let mut checksum = XxHash3_64::new();
        let mut buffer = vec![0; PART_BYTES];
        let mut content = (&mut file).take(content_bytes);
        loop {
            let count = content.read(&mut buffer).ok()?;
            if count == 0 {
                break;
            }
            checksum.write(&buffer[..count]);
            part(&buffer[..count]);
        }
        let mut found = Vec::new();
        let rest = (&mut file).take(seal_bytes + 1).read_to_end(&mut found);
        rest.ok()?;
        (found == seal(name, checksum)).then_some((file, content_bytes))
    }

    /// Opens an entry that is a plain file of ours alone. Links are not followed, and nothing that
    /// has another name is read: through that it could change while it is mapped.
    fn open_entry(&self, name: &str) -> Option<(std::fs::File, u64)> {
        // Opening a pipe would wait for someone at its other end. Nobody else can put another file
        // there meanwhile.
        if !self.dir.symlink_metadata(name).ok()?.is_file() {
            return None;
        }
        let file = self.dir.open(name).ok()?;
        let metadata = file.metadata().ok()?;
        let is_ours = metadata.is_file() && self.is_ours_alone(&metadata);
        let is_fine = is_ours && metadata.len() <= ENTRY_BYTES_MAX;
        is_fine.then(|| (file.into_std(), metadata.len()))
    }

    #[cfg(unix)]
    fn is_ours_alone(&self, entry: &Metadata) -> bool {
        use cap_std::fs::MetadataExt as _;
        let is_private = entry.mode() & 0o022 == 0 && entry.nlink() == 1;
        is_private && self.owner == Some(entry.uid())
    }

    #[cfg(not(unix))]
    fn is_ours_alone(&self, _: &Metadata) -> bool {
        self.owner.is_none()
    }

    /// Writes an entry, whole or not at all. Other processes may write the same one meanwhile.
    pub(crate) fn write(&self, name: &str, content: &[u8]) -> io::Result<()> {
        let temporary = temporary_name();
        let written = self.write_temporary(&temporary, name, content);
        let renamed = written.and_then(|()| self.dir.rename(&temporary, &self.dir, name));
        if renamed.is_err() {
            // The first error is the one to tell; a leftover is only untidy.
            let _ = self.dir.remove_file(&temporary);
        }
        self.prune(FOLDER_BYTES_MAX);
        renamed
    }

    fn write_temporary(&self, temporary: &str, name: &str, content: &[u8]) -> io::Result<()> {
        let mut file = self.dir.open_with(temporary, &new_private())?;
        let mut checksum = XxHash3_64::new();
        checksum.write(content);
        file.write_all(content)?;
        file.write_all(&seal(name, checksum))
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
}

/// What ends an entry after its content, of which `checksum` was made: that it has this name and
/// this layout, and the checksum of all that.
fn seal(name: &str, mut checksum: XxHash3_64) -> Vec<u8> {
    let mut seal = [name.as_bytes(), MAGIC].concat();
    checksum.write(&seal);
    seal.extend(checksum.finish().to_le_bytes());
    seal
}

/// A name that no other writer has, in this process or another one, now or before a crash.
fn temporary_name() -> String {
    let random = RandomState::new().build_hasher().finish();
    format!(".{}-{random:016x}.tmp", std::process::id())
}

/// The owner of an opened folder, or what keeps it from being private.
#[cfg(unix)]
fn privacy(dir: &Dir) -> io::Result<Result<Option<u32>, String>> {
    use cap_std::fs::MetadataExt as _;
    let folder = dir.dir_metadata()?;
    if folder.mode() & 0o022 != 0 {
        let mode = folder.mode() & 0o777;
        return Ok(Err(format!("others can write it, mode {mode:o}")));
    }
    // A file that we make belongs to us, which tells who we are.
    let name = temporary_name();
    let probe = dir.open_with(&name, &new_private())?.metadata()?;
    dir.remove_file(&name)?;
    if probe.uid() != folder.uid() {
        return Ok(Err(format!("it belongs to user {}", folder.uid())));
    }
    Ok(Ok(Some(probe.uid())))
}

#[cfg(not(unix))]
fn privacy(_: &Dir) -> io::Result<Result<Option<u32>, String>> {
    // Folders below the profile of a user are private by default on these systems.
    Ok(Ok(None))
}

/// Makes a file that was not there, for nobody else to write or to read.
fn new_private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    cap_std::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
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

    fn folder() -> (tempfile::TempDir, PathBuf, CacheFolder) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cache");
        let cache = CacheFolder::open(&path).unwrap();
        (folder, path, cache)
    }

    /// What is read of an entry, and of the same entry as an image.
    fn both(cache: &CacheFolder, name: &str) -> Option<Vec<u8>> {
        let read = cache.read(name);
        let image = cache.image(name);
        assert_eq!(read, image.map(|image| image.bytes().unwrap()));
        read
    }

    #[test]
    fn an_entry_is_read_as_it_was_written_and_not_at_all_when_damaged() {
        let (_folder, path, cache) = folder();
        assert_eq!(both(&cache, "a"), None);
        let large = vec![7; 3 * PART_BYTES + 1];
        for content in [&b"content"[..], b"", &large, b"changed"] {
            cache.write("a", content).unwrap();
            assert_eq!(both(&cache, "a").as_deref(), Some(content));
        }

        let whole = std::fs::read(path.join("a")).unwrap();
        for at in 0..whole.len() {
            let mut flipped = whole.clone();
            flipped[at] ^= 1;
            std::fs::write(path.join("a"), flipped).unwrap();
            assert_eq!(both(&cache, "a"), None, "byte {at}");
            std::fs::write(path.join("a"), &whole[..at]).unwrap();
            assert_eq!(both(&cache, "a"), None, "{at} bytes");
        }
        std::fs::write(path.join("a"), [&whole[..], &[0]].concat()).unwrap();
        assert_eq!(both(&cache, "a"), None);
        cache.write("a", b"healed").unwrap();
        assert_eq!(both(&cache, "a").as_deref(), Some(&b"healed"[..]));
        assert_eq!(std::fs::read_dir(&path).unwrap().count(), 1);
    }

    #[test]
    fn an_entry_under_the_name_of_another_one_counts_as_absent() {
        let (_folder, path, cache) = folder();
        cache.write("a", b"of a").unwrap();
        std::fs::rename(path.join("a"), path.join("b")).unwrap();
        assert_eq!(both(&cache, "b"), None);
    }

    #[cfg(unix)]
    #[test]
    fn only_a_plain_file_that_is_ours_alone_is_read() {
        use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
        let (_folder, path, cache) = folder();
        let entry = path.join("a");
        let spoil: [(&str, &dyn Fn()); 4] = [
            ("a link", &|| {
                std::fs::rename(&entry, path.join("elsewhere")).unwrap();
                symlink("elsewhere", &entry).unwrap();
            }),
            ("a second name", &|| {
                std::fs::hard_link(&entry, path.join("second")).unwrap();
            }),
            ("others can write it", &|| {
                let open = std::fs::Permissions::from_mode(0o622);
                std::fs::set_permissions(&entry, open).unwrap();
            }),
            ("a folder", &|| {
                std::fs::remove_file(&entry).unwrap();
                std::fs::create_dir(&entry).unwrap();
            }),
        ];
        for (what, spoil) in spoil {
            cache.write("a", b"content").unwrap();
            assert!(both(&cache, "a").is_some(), "{what}");
            spoil();
            assert_eq!(both(&cache, "a"), None, "{what}");
        }
        std::fs::remove_dir(&entry).unwrap();
        cache.write("a", b"content").unwrap();
        // Only the superuser can give a file away.
        if chown(&entry, Some(12_345), None).is_ok() {
            assert_eq!(both(&cache, "a"), None);
        }
    }

    #[test]
    fn writers_at_once_leave_a_whole_entry_of_one_of_them() {
        let (_folder, path, _) = folder();
        let write = |byte: u8| {
            let cache = CacheFolder::open(&path).unwrap();
            for _ in 0..50 {
                cache.write("a", &vec![byte; 100_000]).unwrap();
            }
        };
        std::thread::scope(|scope| {
            let writers = [1, 2, 3].map(|byte| scope.spawn(move || write(byte)));
            let cache = CacheFolder::open(&path).unwrap();
            while !writers
                .iter()
                .all(std::thread::ScopedJoinHandle::is_finished)
            {
                // Between two of them it is there from the first one on.
                let Some(content) = cache.read("a") else {
                    continue;
                };
                assert_eq!(content.len(), 100_000);
                assert!(content.iter().all(|byte| *byte == content[0]));
            }
        });
        assert_eq!(std::fs::read_dir(&path).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn an_opened_image_stays_what_it_was_when_its_name_gets_another_one() {
        let (_folder, _, cache) = folder();
        cache.write("a", b"first").unwrap();
        let image = cache.image("a").unwrap();
        cache.write("a", b"second").unwrap();
        assert_eq!(image.bytes().unwrap(), b"first");
        let mapped = std::fs::read(image.path().unwrap()).unwrap();
        assert!(mapped.starts_with(b"first"), "{mapped:?}");
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
        // Each has 17 bytes more than its content; two of them fit.
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
