//! Opens the connections to one database file: private, in write-ahead mode, on the newest version.

use std::fs::{DirBuilder, OpenOptions};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::error::OpenError;
use crate::migrate::{check_version, migrate};

/// How long one append waits for those of other processes. An append takes far less than a
/// millisecond, so whoever waits this long waits for a process that hangs.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// How often the change to write-ahead mode is tried again while other processes open the file.
const MODE_RETRY: Duration = Duration::from_millis(2);

/// The most bytes that the write-ahead file keeps once its content is in the database.
const WAL_BYTES_KEPT: i64 = 16 << 20;

/// Statements that a connection keeps prepared; the store has fewer.
const STATEMENTS_KEPT: usize = 32;

/// What survives when the power fails. The end of the process loses nothing in either.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// A power cut may lose the last appends; what is left is whole and in order.
    #[default]
    Normal,
    /// Every append is on the disk when it returns; it costs about ten times as much.
    Full,
}

/// Opens a connection that writes; makes the file, private to its owner, when there is none.
pub(crate) fn open_writer(path: &Path, durability: Durability) -> Result<Connection, OpenError> {
    make_private(path).map_err(|source| OpenError::Unreadable {
        path: path.to_owned(),
        source,
    })?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let failed = |source| OpenError::from_sqlite(path, source);
    let mut connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    configure(&connection).map_err(failed)?;
    check_version(&mut connection, path, false)?;
    set_write_ahead(&connection).map_err(failed)?;
    let synchronous = match durability {
        Durability::Normal => "NORMAL",
        Durability::Full => "FULL",
    };
    connection
        .pragma_update(None, "synchronous", synchronous)
        .and_then(|()| connection.pragma_update(None, "journal_size_limit", WAL_BYTES_KEPT))
        .map_err(failed)?;
    migrate(&mut connection, path)?;
    Ok(connection)
}

/// Opens a connection that only reads.
pub(crate) fn open_reader(path: &Path) -> Result<Connection, OpenError> {
    if !path.exists() {
        let path = path.to_owned();
        return Err(OpenError::Missing { path });
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let failed = |source| OpenError::from_sqlite(path, source);
    let mut connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    configure(&connection).map_err(failed)?;
    check_version(&mut connection, path, true)?;
    Ok(connection)
}

fn configure(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
    connection.pragma_update(None, "foreign_keys", true)?;
    // A file from elsewhere may carry triggers and views; they run nothing beyond plain SQL.
    connection.pragma_update(None, "trusted_schema", false)
}

/// Switches the file to write-ahead mode, in which reading and appending do not stop each other.
///
/// The switch needs the file alone for a moment and does not wait as statements do, so it is tried
/// again while several processes open a new file at once.
fn set_write_ahead(connection: &Connection) -> rusqlite::Result<()> {
    let begun = Instant::now();
    loop {
        let set = connection
            .pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0));
        match set {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && begun.elapsed() < BUSY_TIMEOUT =>
            {
                std::thread::sleep(MODE_RETRY);
            }
            other => return other.map(|_| ()),
        }
    }
}

/// Makes the folder and the file when they are missing, and takes the file from everybody else.
///
/// A file that exists is never opened here: closing it would give up the locks that other
/// connections of this process hold on it (POSIX locks belong to the process, not to the handle).
fn make_private(path: &Path) -> std::io::Result<()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);

    let mut folder = DirBuilder::new();
    folder.recursive(true);
    let mut file = OpenOptions::new();
    file.create_new(true).write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
        folder.mode(0o700);
        file.mode(0o600);
    }
    if let Some(parent) = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
    {
        folder.create(parent)?;
    }
    match file.open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => take_from_others(path),
        Err(error) => Err(error),
    }
}

/// The files beside the database take their mode from it.
#[cfg(unix)]
fn take_from_others(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mut permissions = std::fs::metadata(path)?.permissions();
    if permissions.mode() & 0o077 != 0 {
        permissions.set_mode(permissions.mode() & 0o700);
        std::fs::set_permissions(path, permissions)?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn take_from_others(_path: &Path) -> std::io::Result<()> {
    Ok(())
}
