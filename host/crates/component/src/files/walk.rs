//! One path of a guest, from a folder that it holds: followed step by step, so that it is known
//! where it leads before anything is done there.
//!
//! Guests make no links, so nothing that was looked at can be turned into a way out meanwhile.

use std::io;

use cap_std::fs::{Dir, FileType};

use super::names::{is_bad_on_windows, is_own};
use super::protected::{Guard, Identity, Known};

/// Longest path, as on Linux.
const PATH_BYTES_MAX: usize = 4_096;
/// Most links on the way, as on Linux.
const LINKS_MAX: usize = 40;

/// Whether a link at the end of the path is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Last {
    Follow,
    Keep,
}

/// What is at the end of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Folder,
    Link,
    /// A pipe, a socket, a device.
    Special,
}

/// Where a path leads.
#[derive(Debug)]
pub(super) struct Walked {
    /// The folder that it ends in, open, where that is another one than the path began at. Another
    /// function may let folders change places meanwhile: this one is the one that was looked at.
    pub(super) parent: Option<Dir>,
    /// What it is called there, or `.` for the folder that the path began at.
    pub(super) name: String,
    /// What is there; `None` when nothing is, but its folder is.
    pub(super) kind: Option<Kind>,
    pub(super) identity: Option<Identity>,
    /// Whether it is, or lies in, what may be read and is not changed.
    pub(super) is_kept: bool,
    /// Whether the path asks for a folder, by a slash at its end.
    pub(super) is_folder_wanted: bool,
}

/// Why a path leads nowhere.
#[derive(Debug)]
pub(super) enum Astray {
    /// It leads out of its folder.
    Outside,
    /// It leads to what belongs to this program.
    Protected,
    /// It holds a name that this system reads as something else.
    BadName,
    TooLong,
    TooManyLinks,
    NotFound,
    NotAFolder,
    /// A link on the way is no text.
    NotText,
    System(io::Error),
}

impl From<io::Error> for Astray {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::NotFound,
            io::ErrorKind::NotADirectory => Self::NotAFolder,
            _ => Self::System(error),
        }
    }
}

/// Follows a path of a guest from `folder`.
pub(super) fn walk(
    folder: &Dir,
    path: &str,
    last: Last,
    protected: &Known,
) -> Result<Walked, Astray> {
    if path.is_empty() {
        return Err(Astray::NotFound);
    }
    let mut walk = Walk {
        pending: Vec::new(),
        done: Vec::new(),
        identities: Vec::new(),
        kept_from: None,
        is_folder_wanted: false,
        links: 0,
    };
    walk.push(path)?;
    let mut at = (Some(Kind::Folder), None);
    while let Some(step) = walk.pending.pop() {
        if at.0 != Some(Kind::Folder) {
            return Err(at.0.map_or(Astray::NotFound, |_| Astray::NotAFolder));
        }
        if step == ".." {
            walk.back()?;
            at = (Some(Kind::Folder), None);
            continue;
        }
        if is_own(&step) {
            return Err(Astray::Protected);
        }
        if cfg!(windows) && is_bad_on_windows(&step) {
            return Err(Astray::BadName);
        }
        let parent = match walk.identities.last() {
            None if !protected.is_empty() => Identity::of(&folder.dir_metadata()?),
            None => None,
            Some(known) => *known,
        };
        let named = protected.guard_of_name(parent, &step);
        walk.done.push(step);
        at = look(folder, &walk.path())?;
        walk.identities.push(at.1);
        match named.max(protected.guard(at.1)) {
            Some(Guard::Hidden) => return Err(Astray::Protected),
            Some(Guard::Kept) if walk.kept_from.is_none() => walk.kept_from = Some(walk.done.len()),
            _ => {}
        }
        let is_last = walk.pending.is_empty();
        if at.0 == Some(Kind::Link) && !(is_last && last == Last::Keep) {
            walk.follow(folder)?;
            at = (Some(Kind::Folder), None);
        }
    }
    let (kind, identity) = at;
    if walk.is_folder_wanted && kind.is_some_and(|kind| kind != Kind::Folder) {
        return Err(Astray::NotAFolder);
    }
    Ok(Walked {
        parent: walk.parent(folder)?,
        name: walk.done.pop().unwrap_or_else(|| ".".to_owned()),
        kind,
        identity,
        is_kept: walk.kept_from.is_some(),
        is_folder_wanted: walk.is_folder_wanted,
    })
}

struct Walk {
    /// Steps still to be made, the next one last.
    pending: Vec<String>,
    /// Steps made: none of them is a link.
    done: Vec<String>,
    /// What each of them was, as it was looked at.
    identities: Vec<Option<Identity>>,
    /// How many steps lead to the first of them that is kept.
    kept_from: Option<usize>,
    is_folder_wanted: bool,
    links: usize,
}

impl Walk {
    /// Puts the steps of a path before those that are pending.
    fn push(&mut self, path: &str) -> Result<(), Astray> {
        if path.len() > PATH_BYTES_MAX {
            return Err(Astray::TooLong);
        }
        if path.starts_with('/') {
            return Err(Astray::Outside);
        }
        let last = path.rsplit('/').next().unwrap_or(path);
        if self.pending.is_empty() && matches!(last, "" | "." | "..") {
            self.is_folder_wanted = true;
        }
        let steps = path.rsplit('/').filter(|step| !matches!(*step, "" | "."));
        self.pending.extend(steps.map(str::to_owned));
        Ok(())
    }

    /// Replaces the link that was come to by where it leads.
    fn follow(&mut self, folder: &Dir) -> Result<(), Astray> {
        self.links += 1;
        if self.links > LINKS_MAX {
            return Err(Astray::TooManyLinks);
        }
        let target = folder.read_link_contents(self.path())?;
        let target = target.into_os_string().into_string();
        self.back()?;
        self.push(&target.map_err(|_| Astray::NotText)?)
    }

    /// Takes the last step back.
    fn back(&mut self) -> Result<(), Astray> {
        self.done.pop().ok_or(Astray::Outside)?;
        self.identities.pop();
        let is_out = |from: &usize| self.done.len() < *from;
        if self.kept_from.as_ref().is_some_and(is_out) {
            self.kept_from = None;
        }
        Ok(())
    }

    /// The folder of the last step, open; nothing where that is the folder of the first one.
    fn parent(&self, folder: &Dir) -> Result<Option<Dir>, Astray> {
        let [above @ .., _] = self.done.as_slice() else {
            return Ok(None);
        };
        let Some(expected) = above.len().checked_sub(1) else {
            return Ok(None);
        };
        let parent = folder.open_dir(above.join("/"))?;
        // In its place may be another one by now, or a link to one.
        if Identity::of(&parent.dir_metadata()?) != self.identities[expected] {
            return Err(Astray::NotFound);
        }
        Ok(Some(parent))
    }

    fn path(&self) -> String {
        if self.done.is_empty() {
            ".".to_owned()
        } else {
            self.done.join("/")
        }
    }
}

/// What is at a path without links.
fn look(folder: &Dir, path: &str) -> Result<(Option<Kind>, Option<Identity>), Astray> {
    let metadata = match folder.symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((None, None)),
        Err(error) => return Err(error.into()),
    };
    Ok((Some(kind(metadata.file_type())), Identity::of(&metadata)))
}

fn kind(file_type: FileType) -> Kind {
    if file_type.is_dir() {
        Kind::Folder
    } else if file_type.is_file() {
        Kind::File
    } else if file_type.is_symlink() {
        Kind::Link
    } else {
        Kind::Special
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use cap_std::ambient_authority;

    use super::super::protected::Protected;
    use super::*;

    /// `in/` is the folder; `out/` lies beside it.
    fn folder() -> (tempfile::TempDir, Dir) {
        let outer = tempfile::tempdir().unwrap();
        let at = |path: &str| outer.path().join(path);
        fs::create_dir_all(at("in/a/b")).unwrap();
        fs::create_dir_all(at("in/state")).unwrap();
        fs::create_dir_all(at("out")).unwrap();
        fs::write(at("in/file"), "").unwrap();
        fs::write(at("in/a/b/deep"), "").unwrap();
        fs::write(at("out/secret"), "").unwrap();
        for (target, link) in [
            ("../out", "in/up"),
            ("/etc", "in/absolute"),
            ("a/b", "in/down"),
            ("down/deep", "in/twice"),
            ("circle", "in/circle"),
            ("nowhere", "in/dangling"),
            ("state", "in/alias"),
            ("openprogram.toml", "in/config"),
            ("file", "in/a/up-again"),
            ("..", "in/a/parent"),
        ] {
            symlink(target, at(link)).unwrap();
        }
        make_pipe(&at("in/pipe"));
        let dir = Dir::open_ambient_dir(at("in"), ambient_authority()).unwrap();
        (outer, dir)
    }

    fn make_pipe(path: &std::path::Path) {
        let made = std::process::Command::new("mkfifo").arg(path).status();
        assert!(made.unwrap().success());
    }

    /// The path of a folder below another one.
    fn path_of(above: &Dir, folder: &Dir) -> Option<String> {
        let wanted = Identity::of(&folder.dir_metadata().unwrap());
        let entries = above.entries().unwrap().map(Result::unwrap);
        let folders = entries.filter(|entry| entry.file_type().unwrap().is_dir());
        let mut found = folders.filter_map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            let below = entry.open_dir().unwrap();
            if Identity::of(&below.dir_metadata().unwrap()) == wanted {
                return Some(name);
            }
            Some(format!("{name}/{}", path_of(&below, folder)?))
        });
        found.next()
    }

    fn told(dir: &Dir, found: Result<Walked, Astray>) -> String {
        match found {
            Ok(walked) => {
                let kind = walked
                    .kind
                    .map_or("nothing".to_owned(), |k| format!("{k:?}"));
                let wanted = if walked.is_folder_wanted {
                    " as a folder"
                } else {
                    ""
                };
                let path = match &walked.parent {
                    None => walked.name.clone(),
                    Some(parent) => format!("{}/{}", path_of(dir, parent).unwrap(), walked.name),
                };
                format!("{path} {kind}{wanted}")
            }
            Err(astray) => format!("{astray:?}"),
        }
    }

    #[test]
    fn paths_lead_to_what_they_name_and_never_out_of_their_folder() {
        let (outer, dir) = folder();
        let state = [outer.path().join("in/state")];
        let protected = Protected::of(&state, &[], &[]).now();
        for (path, followed, kept) in [
            ("file", "file File", "file File"),
            (".", ". Folder as a folder", ". Folder as a folder"),
            ("./a//b/./deep", "a/b/deep File", "a/b/deep File"),
            ("a/..", ". Folder as a folder", ". Folder as a folder"),
            ("a/b/../../file", "file File", "file File"),
            ("new", "new nothing", "new nothing"),
            ("new/", "new nothing as a folder", "new nothing as a folder"),
            ("new/x", "NotFound", "NotFound"),
            ("new/..", "NotFound", "NotFound"),
            ("", "NotFound", "NotFound"),
            ("file/", "NotAFolder", "NotAFolder"),
            ("file/.", "NotAFolder", "NotAFolder"),
            ("file/..", "NotAFolder", "NotAFolder"),
            ("..", "Outside", "Outside"),
            ("../in/file", "Outside", "Outside"),
            ("a/../../out/secret", "Outside", "Outside"),
            ("/etc/passwd", "Outside", "Outside"),
            ("up", "Outside", "up Link"),
            ("up/", "Outside", "NotAFolder"),
            ("up/secret", "Outside", "Outside"),
            ("absolute", "Outside", "absolute Link"),
            ("absolute/passwd", "Outside", "Outside"),
            ("down", "a/b Folder", "down Link"),
            ("down/", "a/b Folder as a folder", "NotAFolder"),
            ("down/..", "a Folder as a folder", "a Folder as a folder"),
            ("down/../..", ". Folder as a folder", ". Folder as a folder"),
            ("down/../../..", "Outside", "Outside"),
            ("twice", "a/b/deep File", "twice Link"),
            ("a/parent/file", "file File", "file File"),
            ("a/parent/../file", "Outside", "Outside"),
            ("a/up-again", "a/file nothing", "a/up-again Link"),
            ("circle", "TooManyLinks", "circle Link"),
            ("dangling", "nowhere nothing", "dangling Link"),
            ("pipe", "pipe Special", "pipe Special"),
            ("state", "Protected", "Protected"),
            ("state/x", "Protected", "Protected"),
            ("alias", "Protected", "alias Link"),
            ("alias/x", "Protected", "Protected"),
            ("config", "Protected", "config Link"),
            ("OpenProgram.toml", "Protected", "Protected"),
            ("a/.openprogram/x", "Protected", "Protected"),
        ] {
            let follow = told(&dir, walk(&dir, path, Last::Follow, &protected));
            let keep = told(&dir, walk(&dir, path, Last::Keep, &protected));
            assert_eq!((follow.as_str(), keep.as_str()), (followed, kept), "{path}");
        }
    }

    #[test]
    fn paths_without_end_are_refused_before_they_are_walked() {
        let (_outer, dir) = folder();
        let long = "a/".repeat(5_000);
        let walked = walk(&dir, &long, Last::Follow, &Known::default());
        assert_eq!(told(&dir, walked), "TooLong");
    }
}
