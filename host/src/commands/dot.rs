//! The session graph in the language of Graphviz.

use std::collections::HashMap;
use std::fmt::Write as _;

use openprogram_core::id::NodeId;

use super::graph::{Graph, status};
use crate::text::one_line;

impl Graph {
    /// The graph for Graphviz.
    pub(crate) fn to_dot(&self) -> String {
        let mut text = String::from("digraph session {\n  node [shape=box];\n");
        let places: HashMap<&NodeId, u64> = self
            .nodes
            .iter()
            .map(|node| (&node.opened.id, node.seq))
            .collect();
        for node in &self.nodes {
            let opened = &node.opened;
            let label = format!("{} {} {}", node.seq, opened.kind.as_str(), opened.name);
            let label = one_line(&label, 120);
            let label = label.replace('\\', "\\\\").replace('"', "\\\"");
            let status = status(node, self.running_since);
            let _ = writeln!(text, "  n{} [label=\"{label}\\n{status}\"];", node.seq);
            let edges = [
                (&opened.caller, ""),
                (&opened.predecessor, " [style=dotted]"),
            ];
            for (from, style) in edges {
                let from = from.as_ref().and_then(|from| places.get(from));
                if let Some(from) = from {
                    let _ = writeln!(text, "  n{from} -> n{}{style};", node.seq);
                }
            }
        }
        text.push_str("}\n");
        text
    }
}
