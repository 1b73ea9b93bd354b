//! The port for session stores.

use async_trait::async_trait;

use super::fork::{FORK_DEPTH_MAX, ForkPoint};
use super::node::{NewNode, Node, NodeEnd, SeenNode, Session};
use crate::id::{NodeId, SessionId, Timestamp};

/// Why a store did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The session does not exist.
    #[error("there is no session `{0}`")]
    NoSession(SessionId),
    /// The session exists already.
    #[error("the session `{0}` exists already")]
    SessionExists(SessionId),
    /// The node does not exist.
    #[error("there is no node `{0}`")]
    NoNode(NodeId),
    /// A node of this id exists already.
    #[error("the node `{0}` exists already")]
    NodeExists(NodeId),
    /// The node is closed already; a closed node never changes.
    #[error("the node `{0}` is closed already")]
    NodeClosed(NodeId),
    /// The end of a node says that it is open.
    #[error("the node `{0}` cannot be closed with the status open")]
    NotAnEnd(NodeId),
    /// The caller or predecessor is not a node of the same session.
    #[error("`{edge}` of the node `{node}` is not a node of its session")]
    BadEdge {
        /// The node that was to be opened.
        node: NodeId,
        /// `caller`, `predecessor` or `reads`.
        edge: &'static str,
    },
    /// Another session goes on from it.
    #[error("`{fork}` goes on from the session `{session}`; delete it first")]
    HasFork {
        /// The session.
        session: SessionId,
        /// A fork of it.
        fork: SessionId,
    },
    /// A session that has a base is made as a fork of it, or from a file without any.
    #[error("the session `{0}` cannot be made with a base; fork the other session instead")]
    IsFork(SessionId),
    /// There is no such place in the session.
    #[error("the session `{session}` has no node {seq}")]
    NoPlace {
        /// The session.
        session: SessionId,
        /// The place in its order.
        seq: u64,
    },
    /// Too many forks stand on each other.
    #[error(
        "`{0}` is the last of {FORK_DEPTH_MAX} forks that stand on each other; export it and import \
         the file to begin anew"
    )]
    TooManyForks(SessionId),
    /// The nodes of a session do not follow each other from 1.
    #[error(
        "the node `{node}` does not have the place {seq} in the order, as the one before it says"
    )]
    OutOfOrder {
        /// The node.
        node: NodeId,
        /// Where it would have to stand.
        seq: u64,
    },
    /// The database failed.
    #[error("the session store failed: {0}")]
    Backend(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// What the database holds cannot be understood.
    #[error("the session store holds something unreadable: {0}")]
    Corrupt(String),
}

/// Which nodes of a session to read. Always answered in ascending order of `seq`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeQuery {
    /// Only nodes after this `seq`.
    pub after: Option<u64>,
    /// Only nodes before this `seq`.
    pub before: Option<u64>,
    /// Only the last so many of these.
    pub last: Option<u64>,
}

/// Keeps sessions and their nodes. Append-only: a node is opened once and closed once.
///
/// The store assigns `seq`; several processes may append to one store. Every method is one
/// transaction: when it returns, what it wrote survives the end of the process.
#[async_trait]
pub trait SessionStore: Send + Sync {
    /// Whether anything is kept; constant over its life. Only [`super::NoStore`] keeps nothing.
    fn keeps(&self) -> bool {
        true
    }

    /// Creates a session.
    async fn create_session(&self, session: Session) -> Result<(), StoreError>;

    /// One session, or `None`.
    async fn session(&self, id: &SessionId) -> Result<Option<Session>, StoreError>;

    /// The newest sessions first, at most `limit`.
    async fn sessions(&self, limit: u64) -> Result<Vec<Session>, StoreError>;

    /// Opens a node and gives its `seq`.
    async fn open_node(&self, node: NewNode) -> Result<u64, StoreError>;

    /// Closes an open node.
    async fn close_node(&self, id: &NodeId, end: NodeEnd) -> Result<(), StoreError>;

    /// Opens and closes a node in one transaction, and gives its `seq`.
    async fn append_node(&self, node: NewNode, end: NodeEnd) -> Result<u64, StoreError>;

    /// One node, or `None`.
    async fn node(&self, id: &NodeId) -> Result<Option<Node>, StoreError>;

    /// Nodes of a session, ascending by `seq`.
    async fn nodes(&self, session: &SessionId, query: NodeQuery) -> Result<Vec<Node>, StoreError>;

    /// The nodes of a session that can be seen from inside all of these functions, ascending by
    /// `seq`: those seen everywhere and those seen inside one of them only ([`super::Scope`]).
    /// The cost is that of the nodes given, not that of the session.
    async fn seen_nodes(
        &self,
        session: &SessionId,
        inside: &[NodeId],
        query: NodeQuery,
    ) -> Result<Vec<SeenNode>, StoreError>;

    /// A node of a session and everything that it was called by, innermost first.
    async fn chain(&self, session: &SessionId, id: &NodeId) -> Result<Vec<SeenNode>, StoreError>;
}

/// What a session takes up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionSize {
    /// The session.
    pub session: SessionId,
    /// About how many bytes its own nodes and their values take; what several sessions hold counts
    /// in each of them.
    pub bytes: u64,
    /// When its newest node was opened, or it was created.
    pub touched_at: Timestamp,
}

/// What is done to sessions as a whole. Every method is one transaction.
#[async_trait]
pub trait SessionArchive: SessionStore {
    /// Begins a session that goes on from another one. `fork` has no base; the store finds it.
    ///
    /// # Errors
    /// When `from` or the place does not exist, or `fork` does.
    async fn fork_session(
        &self,
        fork: Session,
        from: &SessionId,
        point: ForkPoint,
    ) -> Result<(), StoreError>;

    /// Writes a whole session, its nodes ascending from `seq` 1. `session` has no base, and all
    /// nodes are taken as its own.
    ///
    /// # Errors
    /// When the session or one of the nodes exists, or a node breaks a rule of appending.
    async fn import_session(&self, session: Session, nodes: Vec<Node>) -> Result<(), StoreError>;

    /// Where a text stands in names, inputs and outputs, newest first, at most `limit` nodes, as
    /// session and `seq`. ASCII letters match in either case. In one session, what it goes on from
    /// is looked through as well.
    async fn search(
        &self,
        text: &str,
        session: Option<&SessionId>,
        limit: u64,
    ) -> Result<Vec<(SessionId, u64)>, StoreError>;

    /// How large each session is and when something last happened in it; the longest untouched
    /// first.
    async fn sizes(&self) -> Result<Vec<SessionSize>, StoreError>;

    /// Deletes a session, its nodes, and all values that no other session holds.
    ///
    /// # Errors
    /// When it does not exist, or another session goes on from it.
    async fn delete_session(&self, id: &SessionId) -> Result<(), StoreError>;

    /// Gives the room of deleted sessions back, where a store keeps it, and tells how many bytes
    /// that were. What was deleted may be on the disk until then.
    ///
    /// # Errors
    /// When another process holds the store for too long.
    async fn compact(&self) -> Result<u64, StoreError> {
        Ok(0)
    }
}

/// A text as it stands inside a string of JSON, to look for in values that are kept as text.
#[must_use]
pub fn json_inside(text: &str) -> String {
    let quoted = crate::Json::from(text).to_string();
    let inside = quoted
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'));
    inside.unwrap_or(text).to_owned()
}
