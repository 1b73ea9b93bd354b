//! What a turn asks of the store does not depend on what it does not read.

use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use pollster::block_on;

use super::{Graph, node_id, session_id};
use crate::context::{FrameView, read_context};
use crate::function::Expose::{self, Full, Hidden, Io, Llm};
use crate::function::RenderRange;
use crate::id::{NodeId, SessionId};
use crate::session::{
    MemoryStore, NewNode, Node, NodeEnd, NodeQuery, SeenNode, Session, SessionStore, StoreError,
};

/// Counts the nodes that a store gives, each call as one more.
struct CountingStore {
    inner: MemoryStore,
    count: AtomicU64,
}

impl CountingStore {
    fn counted(&self, nodes: Vec<SeenNode>) -> Vec<SeenNode> {
        self.count
            .fetch_add(nodes.len() as u64 + 1, Ordering::Relaxed);
        nodes
    }
}

/// What rendering has no need of.
fn unused<T>() -> T {
    panic!("reading a context asks for what is seen and for the chain, and nothing else")
}

#[async_trait]
impl SessionStore for CountingStore {
    async fn seen_nodes(
        &self,
        session: &SessionId,
        inside: &[NodeId],
        query: NodeQuery,
    ) -> Result<Vec<SeenNode>, StoreError> {
        let seen = self.inner.seen_nodes(session, inside, query).await?;
        Ok(self.counted(seen))
    }

    async fn chain(&self, session: &SessionId, id: &NodeId) -> Result<Vec<SeenNode>, StoreError> {
        Ok(self.counted(self.inner.chain(session, id).await?))
    }

    async fn create_session(&self, _: Session) -> Result<(), StoreError> {
        unused()
    }

    async fn session(&self, _: &SessionId) -> Result<Option<Session>, StoreError> {
        unused()
    }

    async fn sessions(&self, _: u64) -> Result<Vec<Session>, StoreError> {
        unused()
    }

    async fn open_node(&self, _: NewNode) -> Result<u64, StoreError> {
        unused()
    }

    async fn close_node(&self, _: &NodeId, _: NodeEnd) -> Result<(), StoreError> {
        unused()
    }

    async fn append_node(&self, _: NewNode, _: NodeEnd) -> Result<u64, StoreError> {
        unused()
    }

    async fn node(&self, _: &NodeId) -> Result<Option<Node>, StoreError> {
        unused()
    }

    async fn nodes(&self, _: &SessionId, _: NodeQuery) -> Result<Vec<Node>, StoreError> {
        unused()
    }
}

/// A frame behind `n` older nodes, with a child that made `n` turns nobody outside sees.
fn cost(n: u64, expose: Expose, callers: Option<u64>, subcalls: Option<u64>) -> u64 {
    let mut graph = Graph::new();
    for _ in 0..n {
        graph.turn(None, "older");
    }
    let frame = graph.running_call(None, "frame", expose);
    let child = graph.call(Some(frame), "child", Io);
    for _ in 0..n {
        graph.turn(Some(child), "below io");
    }
    graph.turn(Some(frame), "last");

    let store = CountingStore {
        inner: graph.store,
        count: AtomicU64::new(0),
    };
    let view = FrameView {
        session: session_id(),
        frame: Some(node_id(frame)),
        range: RenderRange { callers, subcalls },
        hidden: Vec::new(),
    };
    block_on(read_context(&store, &view)).unwrap();
    store.count.into_inner()
}

#[test]
fn a_bounded_range_costs_the_same_in_a_long_session() {
    for expose in [Io, Llm, Full, Hidden] {
        for (callers, subcalls) in [(0, None), (0, Some(1)), (5, Some(5)), (5, None)] {
            let short = cost(10, expose, Some(callers), subcalls);
            let long = cost(10_000, expose, Some(callers), subcalls);
            assert_eq!(long, short, "{expose:?}, {callers}, {subcalls:?}");
            assert!(short < 30, "{short}");
        }
    }
}
