//! The default store: keeps everything in memory, for one process.
//!
//! Nodes of a session stand in a list in the order of `seq`, so a place in the order is an index
//! and reading the last of them costs what is read. A fork has a list of its own that goes on from
//! a place in another one. One std mutex guards all of it; it is held for one method at a time and
//! never across an await.

mod archive;
mod branch;

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use self::branch::Branch;
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
    /// By number, in the order of creation.
    sessions: BTreeMap<usize, Graph>,
    session_at: HashMap<SessionId, usize>,
    node_at: HashMap<NodeId, Place>,
    next_number: usize,
}

#[derive(Debug)]
struct Graph {
    session: Session,
    /// Its own nodes, from the place after its base.
    nodes: Vec<Held>,
    /// The indices of its own nodes that are seen inside one function only, or everywhere.
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
    fn branch(&self, session: &SessionId) -> Result<Branch<'_>, StoreError> {
        let mut branch = Branch {
            parts: Vec::new(),
            numbers: Vec::new(),
        };
        let mut next = Some((session, u64::MAX));
        while let Some((id, upto)) = next {
            let number = self.session_at.get(id).copied();
            let graph = number.and_then(|number| self.sessions.get(&number));
            let (Some(number), Some(graph)) = (number, graph) else {
                return Err(StoreError::NoSession(id.clone()));
            };
            branch.parts.push((graph, upto));
            branch.numbers.push(number);
            let base = graph.session.base.as_ref();
            next = base.map(|base| (&base.session, base.seq.min(upto)));
        }
        Ok(branch)
    }

    /// The node of this id, if the branch reads it.
    fn held<'a>(&'a self, branch: &Branch<'a>, id: &NodeId) -> Option<&'a Held> {
        let place = self.node_at.get(id)?;
        let part = branch
            .numbers
            .iter()
            .position(|number| *number == place.session)?;
        let (graph, upto) = branch.parts[part];
        graph
            .nodes
            .get(place.index)
            .filter(|held| held.node.seq <= upto)
    }

    /// What must be so before a node is written.
    fn check(&self, node: &NewNode, end: Option<&NodeEnd>) -> Result<(), StoreError> {
        let branch = self.branch(&node.session)?;
        if self.node_at.contains_key(&node.id) {
            return Err(StoreError::NodeExists(node.id.clone()));
        }
        for (edge, ends) in [
            ("caller", node.caller.as_slice()),
            ("predecessor", node.predecessor.as_slice()),
            ("reads", node.reads.as_slice()),
        ] {
            if ends.iter().any(|id| self.held(&branch, id).is_none()) {
                let node = node.id.clone();
                return Err(StoreError::BadEdge { node, edge });
            }
        }
        match end {
            Some(end) if end.status == NodeStatus::Open => {
                Err(StoreError::NotAnEnd(node.id.clone()))
            }
            _ => Ok(()),
        }
    }

    fn append(&mut self, node: NewNode, end: Option<NodeEnd>) -> Result<u64, StoreError> {
        self.check(&node, end.as_ref())?;
        let branch = self.branch(&node.session)?;
        let number = branch.numbers[0];
        let caller = node.caller.as_ref().and_then(|id| self.held(&branch, id));
        let scope = Scope::of(
            &node.id,
            node.kind,
            node.expose,
            caller.map(|held| &held.scope),
        );
        let Some(graph) = self.sessions.get_mut(&number) else {
            return Err(StoreError::NoSession(node.session));
        };
        let index = graph.nodes.len();
        let seq = graph.seq_of(index);
        let seen_in = graph.by_scope.entry(scope.own.clone()).or_default();
        seen_in.push(index);
        self.node_at.insert(
            node.id.clone(),
            Place {
                session: number,
                index,
            },
        );
        let opened = node;
        graph.nodes.push(Held {
            node: Node { seq, opened, end },
            scope,
        });
        Ok(seq)
    }

    fn create(&mut self, session: Session) -> Result<(), StoreError> {
        if self.session_at.contains_key(&session.id) {
            return Err(StoreError::SessionExists(session.id));
        }
        let number = self.next_number;
        self.next_number += 1;
        self.session_at.insert(session.id.clone(), number);
        self.sessions.insert(
            number,
            Graph {
                session,
                nodes: Vec::new(),
                by_scope: HashMap::new(),
            },
        );
        Ok(())
    }

    fn delete(&mut self, id: &SessionId) -> Result<(), StoreError> {
        let bases = self.sessions.values().map(|graph| &graph.session);
        let mut forks = bases.filter(|session| {
            let base = session.base.as_ref();
            base.is_some_and(|base| base.session == *id)
        });
        if let Some(fork) = forks.next() {
            return Err(StoreError::HasFork {
                session: id.clone(),
                fork: fork.id.clone(),
            });
        }
        let number = self.session_at.remove(id);
        let graph = number.and_then(|number| self.sessions.remove(&number));
        let graph = graph.ok_or_else(|| StoreError::NoSession(id.clone()))?;
        for held in &graph.nodes {
            self.node_at.remove(&held.node.opened.id);
        }
        Ok(())
    }
}

impl Graph {
    /// The last `seq` that is not its own.
    fn before_first(&self) -> u64 {
        self.session.base.as_ref().map_or(0, |base| base.seq)
    }

    fn seq_of(&self, index: usize) -> u64 {
        self.before_first() + index as u64 + 1
    }

    /// The indices of its own nodes that a query asks for, before `last` is looked at, up to this
    /// `seq`.
    fn between(&self, query: NodeQuery, upto: u64) -> Range<usize> {
        let own = |count: u64| {
            let index = count.saturating_sub(self.before_first());
            index.min(self.nodes.len() as u64) as usize
        };
        let start = own(query.after.unwrap_or(0));
        let end = own(query
            .before
            .map_or(upto, |seq| seq.saturating_sub(1).min(upto)));
        start..end.max(start)
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
        if session.base.is_some() {
            return Err(StoreError::IsFork(session.id));
        }
        self.state().create(session)
    }

    async fn session(&self, id: &SessionId) -> Result<Option<Session>, StoreError> {
        let state = self.state();
        let number = state.session_at.get(id);
        let graph = number.and_then(|number| state.sessions.get(number));
        Ok(graph.map(|graph| graph.session.clone()))
    }

    async fn sessions(&self, limit: u64) -> Result<Vec<Session>, StoreError> {
        let state = self.state();
        let mut newest: Vec<&Session> = state.sessions.values().map(|g| &g.session).collect();
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
        let missing = || StoreError::NoNode(id.clone());
        let place = state.node_at.get(id).copied().ok_or_else(missing)?;
        let graph = state.sessions.get_mut(&place.session);
        let held = graph.and_then(|graph| graph.nodes.get_mut(place.index));
        let node = &mut held.ok_or_else(missing)?.node;
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
        let Some(place) = state.node_at.get(id) else {
            return Ok(None);
        };
        let graph = state.sessions.get(&place.session);
        let held = graph.and_then(|graph| graph.nodes.get(place.index));
        Ok(held.map(|held| held.node.clone()))
    }

    async fn nodes(&self, session: &SessionId, query: NodeQuery) -> Result<Vec<Node>, StoreError> {
        let state = self.state();
        let branch = state.branch(session)?;
        let mut nodes: Vec<Node> = Vec::new();
        for (graph, upto) in &branch.parts {
            let left = query
                .last
                .map(|last| last.saturating_sub(nodes.len() as u64));
            let held = last_of(&graph.nodes[graph.between(query, *upto)], left);
            nodes.splice(0..0, held.iter().map(|held| branch.read(&held.node)));
        }
        Ok(nodes)
    }

    async fn seen_nodes(
        &self,
        session: &SessionId,
        inside: &[NodeId],
        query: NodeQuery,
    ) -> Result<Vec<SeenNode>, StoreError> {
        let state = self.state();
        let branch = state.branch(session)?;
        let mut scopes: Vec<Option<NodeId>> = inside.iter().cloned().map(Some).collect();
        scopes.push(None);
        scopes.sort_unstable();
        scopes.dedup();

        let mut seen: Vec<&Held> = Vec::new();
        for (graph, upto) in &branch.parts {
            let between = graph.between(query, *upto);
            for scope in &scopes {
                let all = graph.by_scope.get(scope).map_or(&[][..], Vec::as_slice);
                let start = all.partition_point(|&index| index < between.start);
                let end = all.partition_point(|&index| index < between.end);
                // No scope gives more than `last`, so this never looks at more than is asked for.
                let own = last_of(&all[start..end.max(start)], query.last);
                seen.extend(own.iter().map(|&index| &graph.nodes[index]));
            }
            if query.last.is_some_and(|last| seen.len() as u64 >= last) {
                break;
            }
        }
        seen.sort_unstable_by_key(|held| held.node.seq);
        let seen = last_of(&seen, query.last).iter();
        Ok(seen.map(|held| branch.seen(held)).collect())
    }

    async fn chain(&self, session: &SessionId, id: &NodeId) -> Result<Vec<SeenNode>, StoreError> {
        let state = self.state();
        let branch = state.branch(session)?;
        let mut chain = Vec::new();
        let mut next = Some(id);
        while let Some(id) = next {
            let held = state.held(&branch, id);
            let held = held.ok_or_else(|| StoreError::NoNode(id.clone()))?;
            chain.push(branch.seen(held));
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
        pollster::block_on(conformance::check_archive(MemoryStore::default));
    }
}
