//! The default store: keeps everything in memory, for one process.
//!
//! Nodes of a session stand in a list in the order of `seq`, so a place in the order is an index
//! and reading the last of them costs what is read. One std mutex guards all of it; it is held
//! for one method at a time and never across an await.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use super::node::{NewNode, Node, NodeEnd, NodeStatus, SeenNode, Session};
use super::scope::Scope;
use super::store::{NodeQuery, SessionStore, StoreError};
use crate::id::{NodeId, SessionId};

/// Keeps sessions in memory; gone with the process.
#[derive(Debug, Default)]
pub struct MemoryStore {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// In the order of creation.
    sessions: Vec<Graph>,
    session_at: HashMap<SessionId, usize>,
    node_at: HashMap<NodeId, Place>,
}

#[derive(Debug)]
struct Graph {
    session: Session,
    nodes: Vec<Held>,
    /// The indices of the nodes that are seen inside one function only, or everywhere.
    by_scope: HashMap<Option<NodeId>, Vec<usize>>,
}

#[derive(Debug)]
struct Held {
    node: Node,
    scope: Scope<NodeId>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    session: usize,
    index: usize,
}

impl MemoryStore {
    fn state(&self) -> MutexGuard<'_, State> {
        // No method leaves the state half changed: every check comes before the first change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn graph(&self, session: &SessionId) -> Result<&Graph, StoreError> {
        let at = self.session_at.get(session).copied();
        at.and_then(|at| self.sessions.get(at))
            .ok_or_else(|| StoreError::NoSession(session.clone()))
    }

    fn append(&mut self, node: NewNode, end: Option<NodeEnd>) -> Result<u64, StoreError> {
        let session = *self
            .session_at
            .get(&node.session)
            .ok_or_else(|| StoreError::NoSession(node.session.clone()))?;
        if self.node_at.contains_key(&node.id) {
            return Err(StoreError::NodeExists(node.id));
        }
        let inside = |id: &NodeId| self.node_at.get(id).filter(|at| at.session == session);
        for (edge, ends) in [
            ("caller", node.caller.as_slice()),
            ("predecessor", node.predecessor.as_slice()),
            ("reads", node.reads.as_slice()),
        ] {
            if ends.iter().any(|id| inside(id).is_none()) {
                let node = node.id;
                return Err(StoreError::BadEdge { node, edge });
            }
        }
        if matches!(&end, Some(end) if end.status == NodeStatus::Open) {
            return Err(StoreError::NotAnEnd(node.id));
        }

        let caller = node.caller.as_ref().and_then(inside).map(|at| at.index);
        let graph = &mut self.sessions[session];
        let caller = caller.map(|index| &graph.nodes[index].scope);
        let scope = Scope::of(&node.id, node.kind, node.expose, caller);
        let index = graph.nodes.len();
        let seq = index as u64 + 1;
        let seen_in = graph.by_scope.entry(scope.own.clone()).or_default();
        seen_in.push(index);
        self.node_at
            .insert(node.id.clone(), Place { session, index });
        let opened = node;
        graph.nodes.push(Held {
            node: Node { seq, opened, end },
            scope,
        });
        Ok(seq)
    }
}

impl Graph {
    /// The indices that a query asks for, before `last` is looked at.
    fn between(&self, query: NodeQuery) -> Range<usize> {
        let count = self.nodes.len() as u64;
        // The node of `seq` stands at the index before it.
        let start = query.after.unwrap_or(0).min(count);
        let end = query.before.map_or(count, |seq| seq.saturating_sub(1));
        start as usize..end.clamp(start, count) as usize
    }
}

impl Held {
    fn seen(&self) -> SeenNode {
        SeenNode::of(&self.node, self.scope.own.clone())
    }
}

/// The last items of a slice, all of them when no number is given.
fn last_of<T>(items: &[T], last: Option<u64>) -> &[T] {
    let last = last.and_then(|last| usize::try_from(last).ok());
    let left_out = items.len().saturating_sub(last.unwrap_or(usize::MAX));
    &items[left_out..]
}

#[async_trait]
impl SessionStore for MemoryStore {
    async fn create_session(&self, session: Session) -> Result<(), StoreError> {
        let mut state = self.state();
        if state.session_at.contains_key(&session.id) {
            return Err(StoreError::SessionExists(session.id));
        }
        let at = state.sessions.len();
        state.session_at.insert(session.id.clone(), at);
        state.sessions.push(Graph {
            session,
            nodes: Vec::new(),
            by_scope: HashMap::new(),
        });
        Ok(())
    }

    async fn session(&self, id: &SessionId) -> Result<Option<Session>, StoreError> {
        let state = self.state();
        let graph = state.session_at.get(id).map(|&at| &state.sessions[at]);
        Ok(graph.map(|graph| graph.session.clone()))
    }

    async fn sessions(&self, limit: u64) -> Result<Vec<Session>, StoreError> {
        let state = self.state();
        let mut newest: Vec<&Session> = state.sessions.iter().map(|g| &g.session).collect();
        newest.reverse();
        newest.sort_by_key(|session| std::cmp::Reverse(session.created_at));
        newest.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(newest.into_iter().cloned().collect())
    }

    async fn open_node(&self, node: NewNode) -> Result<u64, StoreError> {
        self.state().append(node, None)
    }

    async fn close_node(&self, id: &NodeId, end: NodeEnd) -> Result<(), StoreError> {
        let mut state = self.state();
        let place = state.node_at.get(id).copied();
        let place = place.ok_or_else(|| StoreError::NoNode(id.clone()))?;
        let node = &mut state.sessions[place.session].nodes[place.index].node;
        if node.end.is_some() {
            return Err(StoreError::NodeClosed(id.clone()));
        }
        if end.status == NodeStatus::Open {
            return Err(StoreError::NotAnEnd(id.clone()));
        }
        node.end = Some(end);
        Ok(())
    }

    async fn append_node(&self, node: NewNode, end: NodeEnd) -> Result<u64, StoreError> {
        self.state().append(node, Some(end))
    }

    async fn node(&self, id: &NodeId) -> Result<Option<Node>, StoreError> {
        let state = self.state();
        let place = state.node_at.get(id).copied();
        Ok(place.map(|at| state.sessions[at.session].nodes[at.index].node.clone()))
    }

    async fn nodes(&self, session: &SessionId, query: NodeQuery) -> Result<Vec<Node>, StoreError> {
        let state = self.state();
        let graph = state.graph(session)?;
        let held = last_of(&graph.nodes[graph.between(query)], query.last);
        Ok(held.iter().map(|held| held.node.clone()).collect())
    }

    async fn seen_nodes(
        &self,
        session: &SessionId,
        inside: &[NodeId],
        query: NodeQuery,
    ) -> Result<Vec<SeenNode>, StoreError> {
        let state = self.state();
        let graph = state.graph(session)?;
        let between = graph.between(query);
        let mut scopes: Vec<Option<NodeId>> = inside.iter().cloned().map(Some).collect();
        scopes.push(None);
        scopes.sort_unstable();
        scopes.dedup();

        let mut indices = Vec::new();
        for scope in &scopes {
            let all = graph.by_scope.get(scope).map_or(&[][..], Vec::as_slice);
            let start = all.partition_point(|&index| index < between.start);
            let end = all.partition_point(|&index| index < between.end);
            // No scope gives more than `last`, so this never looks at more than is asked for.
            indices.extend_from_slice(last_of(&all[start..end.max(start)], query.last));
        }
        indices.sort_unstable();
        let seen = last_of(&indices, query.last).iter();
        Ok(seen.map(|&index| graph.nodes[index].seen()).collect())
    }

    async fn chain(&self, session: &SessionId, id: &NodeId) -> Result<Vec<SeenNode>, StoreError> {
        let state = self.state();
        let graph = state.graph(session)?;
        let mut chain = Vec::new();
        let mut next = Some(id);
        while let Some(id) = next {
            let at = state.node_at.get(id).map(|at| at.index);
            let held = at.and_then(|index| graph.nodes.get(index));
            let held = held.filter(|held| held.node.opened.id == *id);
            let held = held.ok_or_else(|| StoreError::NoNode(id.clone()))?;
            chain.push(held.seen());
            next = held.node.opened.caller.as_ref();
        }
        Ok(chain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::conformance;

    #[test]
    fn the_memory_store_passes_the_conformance_suite() {
        pollster::block_on(conformance::check_store(MemoryStore::default));
    }
}
