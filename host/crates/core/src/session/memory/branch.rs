//! A session of the memory store as it is read: its own nodes, and those that it goes on from.

use super::{Graph, Held};
use crate::session::{Node, NodeQuery, SeenNode};

/// A session with everything that it goes on from.
pub(super) struct Branch<'a> {
    /// The parts, newest first, each with the last `seq` that is read of it.
    pub(super) parts: Vec<(&'a Graph, u64)>,
    /// The numbers of the graphs of `parts`.
    pub(super) numbers: Vec<usize>,
}

impl<'a> Branch<'a> {
    /// A node as this branch reads it.
    pub(super) fn read(&self, node: &Node) -> Node {
        let node = node.clone();
        if self.is_open(node.seq) {
            node.still_open()
        } else {
            node
        }
    }

    pub(super) fn seen(&self, held: &Held) -> SeenNode {
        let seen = SeenNode::of(&held.node, held.scope.own.clone());
        if self.is_open(seen.seq) {
            seen.still_open()
        } else {
            seen
        }
    }

    /// Whether a node had not ended where this branch begins.
    fn is_open(&self, seq: u64) -> bool {
        let bases = self
            .parts
            .iter()
            .filter_map(|(graph, _)| graph.session.base.as_ref());
        // A base tells of everything before it, so the nearest one that covers the node is enough.
        let mut covering = bases.filter(|base| seq <= base.seq);
        covering.any(|base| base.open.binary_search(&seq).is_ok())
    }

    /// All nodes, ascending.
    pub(super) fn held(&self) -> impl Iterator<Item = &'a Held> {
        self.parts.iter().rev().flat_map(|(graph, upto)| {
            let own = graph.between(NodeQuery::default(), *upto);
            graph.nodes[own].iter()
        })
    }
}
