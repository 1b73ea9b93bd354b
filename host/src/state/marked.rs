//! A session store that marks sessions as running while this process writes to them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use openprogram_core::id::{NodeId, SessionId, Timestamp};
use openprogram_core::session::{
    NewNode, Node, NodeEnd, NodeQuery, SeenNode, Session, SessionStore, StoreError,
};

use super::running::{RunMark, RunningSessions};

/// Passes everything on to another store; the first node that is opened in a session marks it.
///
/// The marks end with the store, or with the process however it ends.
pub struct MarkedStore {
    store: Arc<dyn SessionStore>,
    running: RunningSessions,
    /// Held only to look up and insert.
    marks: Mutex<HashMap<SessionId, RunMark>>,
}

impl MarkedStore {
    /// Marks sessions in `running` that are written to in `store`.
    #[must_use]
    pub fn new(store: Arc<dyn SessionStore>, running: RunningSessions) -> Self {
        Self {
            store,
            running,
            marks: Mutex::default(),
        }
    }

    fn mark(&self, session: &SessionId, started_at: Timestamp) -> Result<(), StoreError> {
        let marks = self.marks.lock();
        // An insertion leaves the map whole, so a poisoned lock is no reason to lose it.
        let mut marks = marks.unwrap_or_else(PoisonError::into_inner);
        if !marks.contains_key(session) {
            let mark = self.running.mark(session, started_at);
            let mark = mark.map_err(|error| StoreError::Backend(Box::new(error)))?;
            marks.insert(session.clone(), mark);
        }
        Ok(())
    }
}

#[async_trait]
impl SessionStore for MarkedStore {
    async fn create_session(&self, session: Session) -> Result<(), StoreError> {
        self.store.create_session(session).await
    }

    async fn session(&self, id: &SessionId) -> Result<Option<Session>, StoreError> {
        self.store.session(id).await
    }

    async fn sessions(&self, limit: u64) -> Result<Vec<Session>, StoreError> {
        self.store.sessions(limit).await
    }

    async fn open_node(&self, node: NewNode) -> Result<u64, StoreError> {
        self.mark(&node.session, node.started_at)?;
        self.store.open_node(node).await
    }

    async fn close_node(&self, id: &NodeId, end: NodeEnd) -> Result<(), StoreError> {
        self.store.close_node(id, end).await
    }

    async fn append_node(&self, node: NewNode, end: NodeEnd) -> Result<u64, StoreError> {
        self.store.append_node(node, end).await
    }

    async fn node(&self, id: &NodeId) -> Result<Option<Node>, StoreError> {
        self.store.node(id).await
    }

    async fn nodes(&self, session: &SessionId, query: NodeQuery) -> Result<Vec<Node>, StoreError> {
        self.store.nodes(session, query).await
    }

    async fn seen_nodes(
        &self,
        session: &SessionId,
        inside: &[NodeId],
        query: NodeQuery,
    ) -> Result<Vec<SeenNode>, StoreError> {
        self.store.seen_nodes(session, inside, query).await
    }
    async fn chain(&self, session: &SessionId, id: &NodeId) -> Result<Vec<SeenNode>, StoreError> {
        self.store.chain(session, id).await
    }
}
