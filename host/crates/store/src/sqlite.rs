//! The store on one SQLite file.
//!
//! Every method is one transaction on this thread: an append takes less time than handing it to
//! another thread would. Appends begin with the write lock, so `seq` follows the order in which
//! processes get it. Reading has a connection of its own and does not wait for appends.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use openprogram_core::id::{NodeId, SessionId};
use openprogram_core::session::{
    ForkPoint, NewNode, Node, NodeEnd, NodeQuery, SeenNode, Session, SessionArchive, SessionSize,
    SessionStore, StoreError,
};
use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::archive;
use crate::error::{OpenError, Problem};
use crate::open::{self, Durability};
use crate::statement;

/// Keeps sessions in one SQLite file.
///
/// Any number of these, in any number of processes, may stand on the same file.
#[derive(Debug)]
pub struct SqliteStore {
    path: PathBuf,
    /// Closed before the writer: the last connection to close empties the write-ahead file, and one
    /// that only reads cannot.
    reader: Mutex<Connection>,
    /// Held for one method at a time, never across an await.
    writer: Mutex<Connection>,
}

impl SqliteStore {
    /// Opens the file, makes it when there is none, and brings it to the newest version.
    ///
    /// # Errors
    /// When the file cannot be made or read, is damaged, or is not one of ours.
    pub fn open(path: impl AsRef<Path>, durability: Durability) -> Result<Self, OpenError> {
        let path = path.as_ref();
        Ok(Self {
            writer: Mutex::new(open::open_writer(path, durability)?),
            reader: Mutex::new(open::open_reader(path)?),
            path: path.to_owned(),
        })
    }

    /// Opens a file that exists, to look at it. Everything that writes is refused.
    ///
    /// # Errors
    /// When there is no such file, it cannot be read, is damaged, or is not one of ours.
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        let path = path.as_ref();
        Ok(Self {
            writer: Mutex::new(open::open_reader(path)?),
            reader: Mutex::new(open::open_reader(path)?),
            path: path.to_owned(),
        })
    }

    /// Runs one transaction that may write.
    fn write<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Problem>,
    ) -> Result<T, StoreError> {
        self.transact(&self.writer, TransactionBehavior::Immediate, work)
    }

    /// Runs one transaction that reads, over one state of the file.
    fn read<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Problem>,
    ) -> Result<T, StoreError> {
        self.transact(&self.reader, TransactionBehavior::Deferred, work)
    }

    fn transact<T>(
        &self,
        connection: &Mutex<Connection>,
        behavior: TransactionBehavior,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Problem>,
    ) -> Result<T, StoreError> {
        // A transaction that a panic left behind was rolled back when it was dropped.
        let mut connection: MutexGuard<'_, Connection> =
            connection.lock().unwrap_or_else(PoisonError::into_inner);
        let result = connection
            .transaction_with_behavior(behavior)
            .map_err(Problem::from)
            .and_then(|transaction| {
                let value = work(&transaction)?;
                transaction.commit()?;
                Ok(value)
            });
        result.map_err(|problem| problem.at(&self.path))
    }
}

#[async_trait]
impl SessionStore for SqliteStore {
    async fn create_session(&self, session: Session) -> Result<(), StoreError> {
        self.write(|database| statement::insert_session(database, &session))
    }

    async fn session(&self, id: &SessionId) -> Result<Option<Session>, StoreError> {
        self.read(|database| statement::session(database, id))
    }

    async fn sessions(&self, limit: u64) -> Result<Vec<Session>, StoreError> {
        self.read(|database| statement::sessions(database, limit))
    }

    async fn open_node(&self, node: NewNode) -> Result<u64, StoreError> {
        self.write(|database| statement::insert_node(database, &node, None))
    }

    async fn close_node(&self, id: &NodeId, end: NodeEnd) -> Result<(), StoreError> {
        self.write(|database| statement::close_node(database, id, &end))
    }

    async fn append_node(&self, node: NewNode, end: NodeEnd) -> Result<u64, StoreError> {
        self.write(|database| statement::insert_node(database, &node, Some(&end)))
    }

    async fn node(&self, id: &NodeId) -> Result<Option<Node>, StoreError> {
        self.read(|database| statement::node(database, id))
    }

    async fn nodes(&self, session: &SessionId, query: NodeQuery) -> Result<Vec<Node>, StoreError> {
        self.read(|database| statement::nodes(database, session, query))
    }

    async fn seen_nodes(
        &self,
        session: &SessionId,
        inside: &[NodeId],
        query: NodeQuery,
    ) -> Result<Vec<SeenNode>, StoreError> {
        self.read(|database| statement::seen_nodes(database, session, inside, query))
    }

    async fn chain(&self, session: &SessionId, id: &NodeId) -> Result<Vec<SeenNode>, StoreError> {
        self.read(|database| statement::chain(database, session, id))
    }
}

#[async_trait]
impl SessionArchive for SqliteStore {
    async fn fork_session(
        &self,
        fork: Session,
        from: &SessionId,
        point: ForkPoint,
    ) -> Result<(), StoreError> {
        self.write(|database| archive::fork_session(database, &fork, from, point))
    }

    async fn import_session(&self, session: Session, nodes: Vec<Node>) -> Result<(), StoreError> {
        self.write(|database| archive::import_session(database, &session, nodes))
    }

    async fn search(
        &self,
        text: &str,
        session: Option<&SessionId>,
        limit: u64,
    ) -> Result<Vec<(SessionId, u64)>, StoreError> {
        self.read(|database| archive::search(database, text, session, limit))
    }

    async fn sizes(&self) -> Result<Vec<SessionSize>, StoreError> {
        self.read(|database| archive::sizes(database))
    }

    async fn delete_session(&self, id: &SessionId) -> Result<(), StoreError> {
        self.write(|database| archive::delete_session(database, id))
    }

    /// Writes the file anew, and has it alone for as long as that takes.
    async fn compact(&self) -> Result<u64, StoreError> {
        // What was written last may still stand in the write-ahead file alone.
        let mut ahead = self.path.clone().into_os_string();
        ahead.push("-wal");
        let size = || {
            let files = [self.path.as_os_str(), &ahead].into_iter();
            let sizes = files.filter_map(|file| std::fs::metadata(file).ok());
            sizes.map(|file| file.len()).sum::<u64>()
        };
        let before = size();
        let connection = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        // A checkpoint answers with one row, which is of no interest here.
        let compacted = connection
            .execute_batch("VACUUM")
            .and_then(|()| connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())));
        compacted.map_err(|error| Problem::from(error).at(&self.path))?;
        Ok(before.saturating_sub(size()))
    }
}
