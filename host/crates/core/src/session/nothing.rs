//! The store of a runtime that records nothing: writes go nowhere, and there is nothing to read.
//!
//! Each turn stands alone then: what was said before is not there to be read.

use async_trait::async_trait;

use super::node::{NewNode, Node, NodeEnd, SeenNode, Session};
use super::store::{NodeQuery, SessionStore, StoreError};
use crate::id::{NodeId, SessionId};

/// Keeps nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoStore;

#[async_trait]
impl SessionStore for NoStore {
    fn keeps(&self) -> bool {
        false
    }

    async fn create_session(&self, _: Session) -> Result<(), StoreError> {
        Ok(())
    }

    async fn session(&self, _: &SessionId) -> Result<Option<Session>, StoreError> {
        Ok(None)
    }

    async fn sessions(&self, _: u64) -> Result<Vec<Session>, StoreError> {
        Ok(Vec::new())
    }

    /// Every node is the first one: none before it is there.
    async fn open_node(&self, _: NewNode) -> Result<u64, StoreError> {
        Ok(1)
    }

    async fn close_node(&self, _: &NodeId, _: NodeEnd) -> Result<(), StoreError> {
        Ok(())
    }

    async fn append_node(&self, _: NewNode, _: NodeEnd) -> Result<u64, StoreError> {
        Ok(1)
    }

    async fn node(&self, _: &NodeId) -> Result<Option<Node>, StoreError> {
        Ok(None)
    }

    async fn nodes(&self, _: &SessionId, _: NodeQuery) -> Result<Vec<Node>, StoreError> {
        Ok(Vec::new())
    }

    async fn seen_nodes(
        &self,
        _: &SessionId,
        _: &[NodeId],
        _: NodeQuery,
    ) -> Result<Vec<SeenNode>, StoreError> {
        Ok(Vec::new())
    }

    async fn chain(&self, _: &SessionId, _: &NodeId) -> Result<Vec<SeenNode>, StoreError> {
        Ok(Vec::new())
    }
}
