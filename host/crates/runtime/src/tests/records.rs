//! What happens to a run when its record cannot be written.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use openprogram_core::JsonObject;
use openprogram_core::guest::Closing;
use openprogram_core::id::{NodeId, SessionId};
use openprogram_core::session::{
    MemoryStore, NewNode, Node, NodeEnd, NodeQuery, NodeStatus, SeenNode, Session, SessionStore,
    StoreError,
};
use serde_json::json;

use super::desk::{desk, model, routing};
use super::{nodes, run, runtime_with, told};
use crate::{Providers, RunRequest, Runtime, TurnRequest};

/// A store whose writes of nodes fail after so many.
struct FailingStore {
    kept: MemoryStore,
    n_left: AtomicU64,
}

impl FailingStore {
    fn write(&self) -> Result<(), StoreError> {
        let spend = |left: u64| left.checked_sub(1);
        let spent = self
            .n_left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend);
        spent
            .map(|_| ())
            .map_err(|_| StoreError::Backend("the disk is full".into()))
    }
}

#[async_trait]
impl SessionStore for FailingStore {
    async fn create_session(&self, session: Session) -> Result<(), StoreError> {
        self.kept.create_session(session).await
    }

    async fn session(&self, id: &SessionId) -> Result<Option<Session>, StoreError> {
        self.kept.session(id).await
    }

    async fn sessions(&self, limit: u64) -> Result<Vec<Session>, StoreError> {
        self.kept.sessions(limit).await
    }

    async fn open_node(&self, node: NewNode) -> Result<u64, StoreError> {
        self.write()?;
        self.kept.open_node(node).await
    }

    async fn close_node(&self, id: &NodeId, end: NodeEnd) -> Result<(), StoreError> {
        self.write()?;
        self.kept.close_node(id, end).await
    }

    async fn append_node(&self, node: NewNode, end: NodeEnd) -> Result<u64, StoreError> {
        self.write()?;
        self.kept.append_node(node, end).await
    }

    async fn node(&self, id: &NodeId) -> Result<Option<Node>, StoreError> {
        self.kept.node(id).await
    }

    async fn nodes(&self, session: &SessionId, query: NodeQuery) -> Result<Vec<Node>, StoreError> {
        self.kept.nodes(session, query).await
    }

    async fn seen_nodes(
        &self,
        session: &SessionId,
        inside: &[NodeId],
        query: NodeQuery,
    ) -> Result<Vec<SeenNode>, StoreError> {
        self.kept.seen_nodes(session, inside, query).await
    }

    async fn chain(&self, session: &SessionId, node: &NodeId) -> Result<Vec<SeenNode>, StoreError> {
        self.kept.chain(session, node).await
    }
}

#[tokio::test]
async fn a_result_that_cannot_be_recorded_is_not_given_out() {
    let open = NodeStatus::Open;
    let done = NodeStatus::Completed;
    // The writes of a run: open `route`, open and close the turn, open and close `wait`, close `route`.
    for (n_writes, left) in [
        (0, vec![]),
        (1, vec![open]),
        (2, vec![open, open]),
        (3, vec![open, done]),
        (4, vec![open, done, open]),
        (5, vec![open, done, done]),
    ] {
        let runtime = runtime_with(desk(routing()), |parts| {
            parts.providers = Providers::all(model(["{\"call\": \"later\"}"]));
            parts.store = Arc::new(FailingStore {
                kept: MemoryStore::default(),
                n_left: AtomicU64::new(n_writes),
            });
        });
        let outcome = run(&runtime, "route", json!({})).await;
        let expected = json!({
            "code": "internal",
            "message": "the session store failed: the disk is full",
            "details": {},
        });
        assert_eq!(told(&outcome), expected, "after {n_writes} writes");
        let recorded = nodes(&runtime, &outcome).await;
        let statuses: Vec<_> = recorded.iter().map(Node::status).collect();
        assert_eq!(statuses, left, "after {n_writes} writes");
    }
}

#[test]
fn a_run_can_move_between_threads() {
    fn check<T: Send>(_: &T) {}
    fn check_runtime(runtime: &Runtime) {
        check(&runtime.run_function(RunRequest::new("f")));
        check(&runtime.exec(TurnRequest::text("t")));
        let closing = Closing {
            options: Vec::new(),
            context: JsonObject::new(),
        };
        check(&runtime.exec_closing(TurnRequest::text("t"), closing));
    }
    let _ = check_runtime;
}
