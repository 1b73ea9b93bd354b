//! Places that functions do not touch, found again by what they are and by their name in the folder
//! that they lie in, and not by their path.
//!
//! They change while functions run: this program writes a file anew, a person edits one. So it is
//! looked at again before each path is followed and each write.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::names::folded;

/// What a file or folder is, whatever its path: its device and number. Windows tells neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Identity(u64, u64);

impl Identity {
    #[cfg(unix)]
    pub(super) fn of(metadata: &cap_std::fs::Metadata) -> Option<Self> {
        use cap_std::fs::MetadataExt as _;
        Some(Self(metadata.dev(), metadata.ino()))
    }

    #[cfg(not(unix))]
    pub(super) fn of(_: &cap_std::fs::Metadata) -> Option<Self> {
        None
    }

    #[cfg(unix)]
    pub(super) fn of_open(file: &std::fs::File) -> Option<Self> {
        use std::os::unix::fs::MetadataExt as _;
        let metadata = file.metadata().ok()?;
        Some(Self(metadata.dev(), metadata.ino()))
    }

    #[cfg(not(unix))]
    pub(super) fn of_open(_: &std::fs::File) -> Option<Self> {
        None
    }

    #[cfg(unix)]
    pub(super) fn at(path: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt as _;
        let metadata = path.metadata().ok()?;
        Some(Self(metadata.dev(), metadata.ino()))
    }

    #[cfg(not(unix))]
    pub(super) fn at(_: &Path) -> Option<Self> {
        None
    }
}

/// What is kept from functions at a place. The stronger one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Guard {
    /// It may be read, and is not changed, made, moved or removed.
    Kept,
    /// Nothing is done there at all.
    Hidden,
}

/// The places that are guarded, and the folders that stay where they are.
#[derive(Debug, Default)]
pub(crate) struct Protected {
    places: Vec<(PathBuf, Guard)>,
    anchors: Vec<PathBuf>,
    known: Mutex<Arc<Known>>,
}

/// How the places are at one time.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// What was there of each path, to see whether it is so still.
    found: Vec<Option<(usize, Identity)>>,
    places: HashMap<Identity, Guard>,
    /// Names that are guarded in a folder, also while nothing has them.
    names: HashMap<(Identity, String), Guard>,
    /// Folders that would take a place along, or a granted folder.
    above: HashSet<Identity>,
}

impl Protected {
    /// `hidden` and `kept` are guarded so; `anchors` are granted folders, which are neither moved
    /// nor removed from inside another one. None of them needs to be there.
    pub(super) fn of(hidden: &[PathBuf], kept: &[PathBuf], anchors: &[PathBuf]) -> Self {
        let hidden = hidden.iter().map(|path| (path.clone(), Guard::Hidden));
        let kept = kept.iter().map(|path| (path.clone(), Guard::Kept));
        Self {
            places: hidden.chain(kept).collect(),
            anchors: anchors.to_vec(),
            known: Mutex::default(),
        }
    }

    /// The places as they are now. It makes a call of the system for each.
    pub(super) fn now(&self) -> Arc<Known> {
        let places = self.places.iter().map(|(path, _)| path);
        let found: Vec<_> = places
            .chain(&self.anchors)
            .map(|path| found(path))
            .collect();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.found != found {
            *known = Arc::new(self.look(found));
        }
        Arc::clone(&known)
    }

    fn look(&self, found: Vec<Option<(usize, Identity)>>) -> Known {
        let mut known = Known {
            found,
            ..Known::default()
        };
        for (path, guard) in &self.places {
            if let Some(identity) = Identity::at(path) {
                raise(known.places.entry(identity).or_insert(*guard), *guard);
            }
            // The name of a place that is a link, and that of what it leads to.
            for path in forms(path) {
                known
                    .above
                    .extend(path.ancestors().skip(1).filter_map(Identity::at));
                if let Some((folder, name)) = first_name(&path) {
                    raise(known.names.entry((folder, name)).or_insert(*guard), *guard);
                }
            }
        }
        for path in self.anchors.iter().flat_map(|path| forms(path)) {
            known
                .above
                .extend(path.ancestors().filter_map(Identity::at));
        }
        known
    }
}

impl Known {
    /// Whether nothing is guarded, so that nobody has to look.
    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// How what has this identity is guarded.
    pub(super) fn guard(&self, identity: Option<Identity>) -> Option<Guard> {
        self.places.get(&identity?).copied()
    }

    /// How a name in a folder is guarded, whatever has it.
    pub(super) fn guard_of_name(&self, folder: Option<Identity>, name: &str) -> Option<Guard> {
        self.names.get(&(folder?, folded(name))).copied()
    }

    /// Whether a place or a granted folder lies there or below, so that it would move along.
    pub(super) fn lies_below(&self, identity: Option<Identity>) -> bool {
        identity.is_some_and(|identity| self.above.contains(&identity))
    }

    /// How a real path is guarded by one of its folders, itself included.
    pub(super) fn guard_of_path(&self, real: &Path) -> Option<Guard> {
        let guard = |path: &Path| {
            let by_name = path
                .parent()
                .zip(path.file_name())
                .and_then(|(folder, name)| {
                    self.guard_of_name(Identity::at(folder), &name.to_string_lossy())
                });
            by_name.max(self.guard(Identity::at(path)))
        };
        real.ancestors().filter_map(guard).max()
    }
}

/// Whether a place lies in a folder, or the folder in it. Others need no look when something is done
/// in that folder.
pub(super) fn concerns(place: &Path, folder: &Path) -> bool {
    forms(place)
        .iter()
        .any(|place| place.starts_with(folder) || folder.starts_with(place))
}

fn raise(known: &mut Guard, guard: Guard) {
    *known = guard.max(*known);
}

/// How many parts of a path are not there, and what the folder or file above them is.
fn found(path: &Path) -> Option<(usize, Identity)> {
    let mut above = path.ancestors().map(Identity::at).enumerate();
    above.find_map(|(missing, identity)| Some((missing, identity?)))
}

/// The deepest folder above a path that is there, and the name in it that leads on to the path.
fn first_name(path: &Path) -> Option<(Identity, String)> {
    let mut below = path;
    for folder in path.ancestors().skip(1) {
        if let Some(identity) = Identity::at(folder) {
            let name = below.file_name()?.to_string_lossy();
            return Some((identity, folded(&name)));
        }
        below = folder;
    }
    None
}

/// A path with the folders above it as they really are, and the path that it leads to.
fn forms(path: &Path) -> Vec<PathBuf> {
    let mut forms: Vec<PathBuf> = path.canonicalize().into_iter().collect();
    let mut above = path.ancestors().skip(1);
    let real = above.find_map(|folder| Some((folder, folder.canonicalize().ok()?)));
    if let Some((folder, real)) = real
        && let Ok(rest) = path.strip_prefix(folder)
    {
        forms.push(real.join(rest));
    }
    forms
}
