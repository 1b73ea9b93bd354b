//! What can go wrong with a database file, each with its path and what to do about it.

use std::path::{Path, PathBuf};

use openprogram_core::session::StoreError;
use rusqlite::ErrorCode;

/// Why a database could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// There is no such file, and it was to be opened for reading only.
    #[error("there is no session database at `{path}`; the first run makes it")]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The file or its folder cannot be made or read.
    #[error(
        "the session database `{path}` cannot be opened; check that the file and its folder may \
         be read and written by you"
    )]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// A newer version of this program wrote the file.
    #[error(
        "the session database `{path}` has version {found} and this program knows versions up to \
         {known}; update the program, or choose another database"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The newest known version.
        known: i64,
    },
    /// An older version wrote the file, and it was to be opened for reading only.
    #[error(
        "the session database `{path}` has the old version {found} and is not changed when it is \
         only read; the next run brings it to version {known}"
    )]
    Older {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The newest known version.
        known: i64,
    },
    /// The file is a database of some other program.
    #[error("`{path}` is a database of another program; choose another file for the sessions")]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The file is no database, or it is damaged.
    #[error(
        "`{path}` is not a database or is damaged; restore it from a copy, or move it and its \
         `-wal` file away to begin a new one"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What the database said.
        #[source]
        source: rusqlite::Error,
    },
    /// The database failed otherwise.
    #[error(transparent)]
    Failed(UseError),
}

impl OpenError {
    pub(crate) fn from_sqlite(path: &Path, source: rusqlite::Error) -> Self {
        if is_damage(&source) {
            let path = path.to_owned();
            Self::Damaged { path, source }
        } else {
            Self::Failed(UseError::new(path, source))
        }
    }
}

/// Why an open database did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[error("the session database `{path}` {remedy}")]
pub struct UseError {
    path: PathBuf,
    remedy: &'static str,
    source: rusqlite::Error,
}

impl UseError {
    pub(crate) fn new(path: &Path, source: rusqlite::Error) -> Self {
        let remedy = match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                "is held by another process for too long; end that process or try again"
            }
            Some(ErrorCode::DiskFull) => "does not fit on its disk; free some space",
            Some(ErrorCode::ReadOnly) => "is open for reading only, or its file may not be written",
            Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                "cannot be opened; check that the file and its folder may be read and written by you"
            }
            Some(ErrorCode::SystemIoFailure) => {
                "could not be read or written; check the disk and its connection"
            }
            Some(ErrorCode::TooBig) => "cannot keep a value of this size",
            _ => "did not do what it was asked",
        };
        let path = path.to_owned();
        Self {
            path,
            remedy,
            source,
        }
    }
}

/// What happens inside one method of the store, before it has a path.
#[derive(Debug)]
pub(crate) enum Problem {
    Sqlite(rusqlite::Error),
    Store(StoreError),
}

impl From<rusqlite::Error> for Problem {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Problem {
    /// The error of the port, with the path where the port's own words do not say enough.
    pub(crate) fn at(self, path: &Path) -> StoreError {
        match self {
            Self::Sqlite(source) if is_damage(&source) => StoreError::Corrupt(format!(
                "`{}` is damaged ({source}); restore it from a copy, or move it and its `-wal` \
                 file away to begin a new one",
                path.display()
            )),
            Self::Sqlite(source) => StoreError::Backend(Box::new(UseError::new(path, source))),
            Self::Store(StoreError::Corrupt(what)) => {
                StoreError::Corrupt(format!("{what}, in `{}`", path.display()))
            }
            Self::Store(error) => error,
        }
    }
}

fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
    )
}
