//! The state folder: `sessions.db`, installed components, answers that hold for good, caches, and the
//! marks of running sessions.
//!
//! It is private to its owner. The cache holds machine code that is run without further checks,
//! so a state folder that came with a download or a clone must not be believed: a birth mark ties
//! it to this very folder on this machine, and without a fitting mark the cache is thrown away.

mod answers;
mod look;
mod marked;
mod running;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub use answers::{AnswersError, KeptAnswers};
pub use look::StateFacts;
pub use marked::MarkedStore;
pub use running::{RunMark, RunningSessions};

/// The file of the answers to approvals that hold for good.
const ANSWERS_FILE: &str = "approvals.json";
/// The file that holds the birth mark.
const BIRTH_FILE: &str = "birth";
/// The folder of the caches.
const CACHE_FOLDER: &str = "cache";
/// The file that tells tools, and this program, that a folder is a cache.
const CACHE_TAG_FILE: &str = "CACHEDIR.TAG";
/// The folder of the bytes of installed components.
const COMPONENTS_FOLDER: &str = "components";
/// The folder of the marks of running sessions.
const RUNNING_FOLDER: &str = "running";
/// The database of the sessions.
const SESSIONS_FILE: &str = "sessions.db";

/// Why the state folder cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// Reading or writing it failed.
    #[error("cannot use the state folder `{}`", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It leads somewhere else, where files of others could be cleared and written.
    #[error(
        "the state folder `{}` is a link; remove it, or let OPENPROGRAM_HOME name the folder itself",
        path.display()
    )]
    Link {
        /// The folder.
        path: PathBuf,
    },
    /// Something in it leads somewhere else.
    #[error(
        "`{}` is a link, and nothing of the state folder is read or written through one; remove it",
        path.display()
    )]
    LinkInside {
        /// The link.
        path: PathBuf,
    },
    /// It was not made by this program, and what is in it would be cleared.
    #[error(
        "`{}` was not made by openprogram, which would clear it; let OPENPROGRAM_HOME name a new \
         folder, or move it away",
        path.display()
    )]
    NotOurs {
        /// The folder that would be cleared.
        path: PathBuf,
    },
    /// Others can look into it.
    #[error(
        "the state folder `{}` is open to other users and holds files already; `chmod 700` it, \
         or let OPENPROGRAM_HOME name a new folder", path.display()
    )]
    NotPrivate {
        /// The folder.
        path: PathBuf,
    },
}

fn io_error(path: &Path) -> impl FnOnce(io::Error) -> StateError {
    let path = path.to_owned();
    move |source| StateError::Io { path, source }
}

/// The state folder: where things are in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateFolder {
    path: PathBuf,
}

impl StateFolder {
    /// The folder as it is, to look into; it may not exist.
    #[must_use]
    pub fn at(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
        }
    }

    /// Opens the folder and creates what is missing.
    ///
    /// # Errors
    /// When it cannot be created, is open to others and not empty, holds a link, or holds a folder
    /// of the name of the cache that is none.
    pub fn create(path: &Path) -> Result<Self, StateError> {
        // A link can come with a clone; what it leads to is not ours.
        if fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) {
            return Err(StateError::Link {
                path: path.to_owned(),
            });
        }
        create_private(path).map_err(io_error(path))?;
        make_private(path)?;
        refuse_links(path)?;
        let state = Self::at(path);
        state.believe_or_clear()?;
        for folder in [state.cache(), state.running()] {
            create_private(&folder).map_err(io_error(&folder))?;
        }
        // Caches are of no use in a backup; tools that know the mark leave the folder out.
        let tag = state.cache().join(CACHE_TAG_FILE);
        if !tag.exists() {
            fs::write(&tag, "Signature: 8a477f597d28d172789f06886806bc55\n")
                .map_err(io_error(&tag))?;
        }
        Ok(state)
    }

    /// The database of the sessions.
    #[must_use]
    pub fn sessions_file(&self) -> PathBuf {
        self.path.join(SESSIONS_FILE)
    }

    /// The folder of what can be made again: compiled images, metadata, build marks.
    #[must_use]
    pub fn cache(&self) -> PathBuf {
        self.path.join(CACHE_FOLDER)
    }

    /// The folder of the bytes of installed components.
    #[must_use]
    pub fn components(&self) -> PathBuf {
        self.path.join(COMPONENTS_FOLDER)
    }

    /// The answers to approvals that hold for good in this project.
    #[must_use]
    pub fn answers(&self, project_folder: &Path) -> KeptAnswers {
        KeptAnswers::new(self.path.clone(), project_folder.to_owned())
    }

    /// The marks of sessions that run now.
    #[must_use]
    pub fn running_sessions(&self) -> RunningSessions {
        RunningSessions::new(self.running())
    }

    fn running(&self) -> PathBuf {
        self.path.join(RUNNING_FOLDER)
    }

    fn believe_or_clear(&self) -> Result<(), StateError> {
        let file = self.path.join(BIRTH_FILE);
        let expected = birth_mark(&self.path).map_err(io_error(&self.path))?;
        // Only a plain file is read: a pipe would keep us waiting.
        let is_plain = fs::symlink_metadata(&file).is_ok_and(|found| found.is_file());
        if is_plain && fs::read_to_string(&file).is_ok_and(|mark| mark == expected) {
            return Ok(());
        }
        let cache = self.cache();
        // A variable may name a folder of other things, with a `cache` of its own.
        let is_tagged = cache.join(CACHE_TAG_FILE).is_file();
        let is_used = fs::read_dir(&cache).is_ok_and(|mut entries| entries.next().is_some());
        let is_link = fs::symlink_metadata(&cache).is_ok_and(|found| found.is_symlink());
        if is_used && !is_tagged && !is_link {
            return Err(StateError::NotOurs { path: cache });
        }
        let cleared = match fs::symlink_metadata(&cache) {
            Ok(found) if found.is_dir() => fs::remove_dir_all(&cache),
            Ok(_) => fs::remove_file(&cache),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        };
        cleared.map_err(io_error(&cache))?;
        write_new(&file, &expected).map_err(io_error(&file))
    }
}

/// Writes a file of its owner alone, whole or not at all. A new file takes the place of whatever has
/// the name; nothing is written through a link.
fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let mut new = path.as_os_str().to_owned();
    new.push(format!(".{}", std::process::id()));
    let new = PathBuf::from(new);
    // Left behind by a process that was killed between the two steps.
    let _ = fs::remove_file(&new);
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
        .open(&new)
        .and_then(|mut new| io::Write::write_all(&mut new, text.as_bytes()))
        .and_then(|()| fs::rename(&new, path))
}

/// Opens a file for its lock, and makes an empty one where there is none.
fn open_or_create(path: &Path) -> io::Result<fs::File> {
    if fs::symlink_metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(io::Error::other("it is not a plain file; remove it"));
    }
    fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
}

/// Refuses links in the state folder: they can come with a clone, and what they lead to would be
/// cleared or written over. The mark and the cache are replaced when they are links.
fn refuse_links(folder: &Path) -> Result<(), StateError> {
    for entry in fs::read_dir(folder).map_err(io_error(folder))? {
        let entry = entry.map_err(io_error(folder))?;
        let is_replaced = [BIRTH_FILE, CACHE_FOLDER].map(|name| entry.file_name() == name);
        let path = entry.path();
        if !is_replaced.contains(&true) && entry.file_type().map_err(io_error(&path))?.is_symlink()
        {
            return Err(StateError::LinkInside { path });
        }
    }
    Ok(())
}

/// Creates a folder that only its owner can enter, and its parents.
pub(crate) fn create_private(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.create(path)
}

/// Closes a folder to others. One that is open and already in use is refused instead: it was
/// named by mistake, or someone else may have put files into it.
#[cfg(unix)]
fn make_private(path: &Path) -> Result<(), StateError> {
    use std::os::unix::fs::PermissionsExt as _;

    if !is_open(&fs::metadata(path).map_err(io_error(path))?) {
        return Ok(());
    }
    if fs::read_dir(path).map_err(io_error(path))?.next().is_some() {
        return Err(StateError::NotPrivate {
            path: path.to_owned(),
        });
    }
    fs::set_permissions(path, fs::Permissions::from_mode(0o700)).map_err(io_error(path))
}

/// Whether others can look into a folder.
#[cfg(unix)]
fn is_open(found: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;

    found.permissions().mode() & 0o077 != 0
}

#[cfg(not(unix))]
fn is_open(_found: &fs::Metadata) -> bool {
    false
}

#[cfg(not(unix))]
fn make_private(_path: &Path) -> Result<(), StateError> {
    Ok(())
}

/// What only this folder on this machine has: device, inode, and time of birth where known.
#[cfg(unix)]
fn birth_mark(path: &Path) -> io::Result<String> {
    use std::os::unix::fs::MetadataExt as _;

    let metadata = fs::metadata(path)?;
    let born = metadata
        .created()
        .ok()
        .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok())
        .map_or(0, |born| born.as_nanos());
    Ok(format!("{} {} {born}\n", metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn birth_mark(path: &Path) -> io::Result<String> {
    let born = fs::metadata(path)?.created()?;
    Ok(format!("{} {born:?}\n", path.canonicalize()?.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        use std::os::unix::fs::PermissionsExt as _;
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn the_folder_is_private_and_opening_it_again_keeps_what_is_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/state");
        let state = StateFolder::create(&path).unwrap();
        let image = state.cache().join("image");
        fs::write(&image, "code").unwrap();
        assert_eq!((mode(&path), mode(&state.cache())), (0o700, 0o700));
        assert_eq!(StateFolder::create(&path).unwrap(), state);
        assert_eq!(fs::read_to_string(image).unwrap(), "code");
    }

    #[test]
    fn an_empty_open_folder_is_closed_and_a_used_one_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().unwrap();
        let open = |name: &str| {
            let path = folder.path().join(name);
            fs::create_dir(&path).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            path
        };
        let empty = open("empty");
        StateFolder::create(&empty).unwrap();
        assert_eq!(mode(&empty), 0o700);

        let used = open("used");
        fs::write(used.join("letter.txt"), "").unwrap();
        let error = StateFolder::create(&used).unwrap_err();
        assert!(matches!(error, StateError::NotPrivate { .. }), "{error}");
    }

    #[test]
    fn the_cache_of_a_copied_folder_is_thrown_away_and_its_sessions_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (made, copied) = (folder.path().join("made"), folder.path().join("copied"));
        let state = StateFolder::create(&made).unwrap();
        create_private(&copied.join(CACHE_FOLDER)).unwrap();
        make_private(&copied.join(CACHE_FOLDER)).unwrap();
        fs::copy(made.join(BIRTH_FILE), copied.join(BIRTH_FILE)).unwrap();
        fs::write(copied.join(SESSIONS_FILE), "sessions").unwrap();
        fs::write(copied.join(CACHE_FOLDER).join("image"), "hostile").unwrap();
        fs::write(copied.join(CACHE_FOLDER).join(CACHE_TAG_FILE), "").unwrap();

        let copy = StateFolder::create(&copied).unwrap();
        assert!(!copy.cache().join("image").exists());
        assert_eq!(
            fs::read_to_string(copy.sessions_file()).unwrap(),
            "sessions"
        );
        assert_ne!(state, copy);
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_cleared_or_written_through_a_link() {
        use std::os::unix::fs::symlink;

        let folder = tempfile::tempdir().unwrap();
        let precious = folder.path().join("home");
        fs::create_dir_all(precious.join("cache/precious")).unwrap();
        fs::set_permissions(
            &precious,
            std::os::unix::fs::PermissionsExt::from_mode(0o700),
        )
        .unwrap();
        let link = folder.path().join("linked");
        symlink(&precious, &link).unwrap();
        let refused = StateFolder::create(&link).unwrap_err();
        assert!(matches!(refused, StateError::Link { .. }), "{refused}");
        assert!(precious.join("cache/precious").exists());

        let victim = folder.path().join("victim");
        fs::write(&victim, "kept").unwrap();
        let state = folder.path().join("state");
        create_private(&state).unwrap();
        symlink(&victim, state.join(BIRTH_FILE)).unwrap();
        StateFolder::create(&state).unwrap();
        assert_eq!(fs::read_to_string(&victim).unwrap(), "kept");
        assert!(
            fs::symlink_metadata(state.join(BIRTH_FILE))
                .unwrap()
                .is_file()
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_the_folder_is_refused_and_what_it_leads_to_is_kept() {
        use std::os::unix::fs::symlink;

        let folder = tempfile::tempdir().unwrap();
        let precious = folder.path().join("precious");
        fs::create_dir(&precious).unwrap();
        fs::write(precious.join("letter"), "kept").unwrap();
        for name in [
            RUNNING_FOLDER,
            COMPONENTS_FOLDER,
            SESSIONS_FILE,
            "sessions.db-wal",
            "sessions.db-shm",
        ] {
            let path = folder.path().join(format!("state of {name}"));
            create_private(&path).unwrap();
            let at = path.join(name);
            symlink(&precious, &at).unwrap();
            let refused = StateFolder::create(&path).unwrap_err();
            assert!(
                matches!(&refused, StateError::LinkInside { path } if *path == at),
                "{name}: {refused}"
            );
            let seen = StateFolder::look(&path);
            assert!(
                matches!(&seen, Err(StateError::LinkInside { path }) if *path == at),
                "{name}: {seen:?}"
            );
            assert_eq!(fs::read_dir(&precious).unwrap().count(), 1, "{name}");
        }
    }

    #[test]
    fn a_cache_folder_of_something_else_is_not_cleared() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("home");
        let cache = path.join(CACHE_FOLDER);
        create_private(&cache).unwrap();
        fs::write(cache.join("letter"), "kept").unwrap();
        let refused = StateFolder::create(&path).unwrap_err();
        assert!(
            matches!(&refused, StateError::NotOurs { path } if *path == cache),
            "{refused}"
        );
        assert_eq!(fs::read_to_string(cache.join("letter")).unwrap(), "kept");
    }
}
