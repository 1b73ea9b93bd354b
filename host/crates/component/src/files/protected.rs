//! Places that belong to this program, found again by what they are and not by their path.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

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

/// The places of this program, and the folders that they lie in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Protected {
    places: HashSet<Identity>,
    above: HashSet<Identity>,
}

impl Protected {
    /// These places, as far as they are there.
    pub(super) fn of(places: &[PathBuf]) -> Self {
        let mut protected = Self::default();
        for place in places {
            protected.places.extend(Identity::at(place));
            // The folder of a file that is a link, and that of what it leads to.
            let real = place.canonicalize().ok();
            for path in real.iter().chain([place]) {
                let above = path.ancestors().skip(1).filter_map(Identity::at);
                protected.above.extend(above);
            }
        }
        protected
    }

    pub(super) fn has(&self, identity: Option<Identity>) -> bool {
        identity.is_some_and(|identity| self.places.contains(&identity))
    }

    /// Whether one of the places lies below, so that it would move along.
    pub(super) fn lies_below(&self, identity: Option<Identity>) -> bool {
        identity.is_some_and(|identity| self.above.contains(&identity))
    }

    /// The first folder of a real path, itself included, that is one of the places.
    pub(super) fn holds(&self, real: &Path) -> bool {
        real.ancestors().any(|path| self.has(Identity::at(path)))
    }
}
