//! Brings a database to the newest version. Each version is one file that is never changed again.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use crate::error::OpenError;

/// The steps from one version to the next; the version of a database is how many it has taken.
const STEPS: [&str; 3] = [
    include_str!("../migrations/sqlite/0001_sessions.sql"),
    include_str!("../migrations/sqlite/0002_texts.sql"),
    include_str!("../migrations/sqlite/0003_forks.sql"),
];

/// Marks the file as ours: `OPsg` in the header of the database.
const APPLICATION_ID: i64 = 0x4f50_7367;

/// What the header of a database file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing was ever written.
    Empty,
    /// Ours, after so many steps.
    Version(i64),
    /// Another program's.
    Foreign,
}

/// Refuses a database that this program must not touch, before anything is changed on it.
pub(crate) fn check_version(
    connection: &mut Connection,
    path: &Path,
    read_only: bool,
) -> Result<(), OpenError> {
    // One transaction: another process may be making the tables right now.
    let state = connection
        .transaction()
        .and_then(|transaction| state(&transaction))
        .map_err(|source| OpenError::from_sqlite(path, source))?;
    steps_taken(state, path, read_only).map(|_| ())
}

/// Takes the steps that are missing.
pub(crate) fn migrate(connection: &mut Connection, path: &Path) -> Result<(), OpenError> {
    let failed = |source| OpenError::from_sqlite(path, source);
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(failed)?;
    let taken = steps_taken(state(&transaction).map_err(failed)?, path, false)?;
    if taken == STEPS.len() {
        return Ok(());
    }
    for step in &STEPS[taken..] {
        transaction.execute_batch(step).map_err(failed)?;
    }
    transaction
        .pragma_update(None, "application_id", APPLICATION_ID)
        .and_then(|()| transaction.pragma_update(None, "user_version", STEPS.len() as i64))
        .and_then(|()| transaction.commit())
        .map_err(failed)
}

/// How many steps a database has taken, if it can be used.
fn steps_taken(state: State, path: &Path, read_only: bool) -> Result<usize, OpenError> {
    let known = STEPS.len() as i64;
    let path = path.to_owned();
    match state {
        State::Foreign => Err(OpenError::Foreign { path }),
        State::Version(found) if found > known => Err(OpenError::Newer { path, found, known }),
        State::Empty if read_only => Err(OpenError::Missing { path }),
        State::Version(found) if found < known && read_only => {
            Err(OpenError::Older { path, found, known })
        }
        State::Version(found) => Ok(usize::try_from(found).unwrap_or_default()),
        State::Empty => Ok(0),
    }
}

fn state(connection: &Connection) -> rusqlite::Result<State> {
    let number = |pragma| connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
    let application_id = number("application_id")?;
    let version = number("user_version")?;
    if application_id == APPLICATION_ID && version > 0 {
        return Ok(State::Version(version));
    }
    let count = "SELECT count(*) FROM sqlite_schema";
    let tables: i64 = connection.query_row(count, [], |row| row.get(0))?;
    if tables == 0 && application_id == 0 && version == 0 {
        Ok(State::Empty)
    } else {
        Ok(State::Foreign)
    }
}
