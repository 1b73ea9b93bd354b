//! Scopes: where in the session a node can be seen.
//!
//! `expose` says what callers see of a function. Seen from one place that is a question about
//! every function between the place and the node. Put the other way round it has one answer per
//! node that never changes: the nearest function around the node that hides it. Only frames
//! inside that function see the node. A store keeps this answer with each node, so that a
//! frame can read what it may see without looking at anything else.

use super::node::NodeKind;
use crate::function::Expose;

/// Where a node and the nodes right below it can be seen. `K` is how a store names a node.
///
/// `None` is everywhere in the session; a key is only inside that function, at any depth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope<K> {
    /// The node itself.
    pub own: Option<K>,
    /// The model turns right below it.
    pub turns: Option<K>,
    /// Everything else right below it.
    pub calls: Option<K>,
}

impl<K: Clone> Scope<K> {
    /// The scope of a new node from the scope of its caller, `None` for a node at the top.
    pub fn of(key: &K, kind: NodeKind, expose: Expose, caller: Option<&Self>) -> Self {
        let outside = |is_turn: bool| {
            let caller = caller?;
            if is_turn {
                caller.turns.clone()
            } else {
                caller.calls.clone()
            }
        };
        let inside = || Some(key.clone());
        match (kind, expose) {
            // Neither a person's words nor a turn hide anything: what a turn causes belongs to
            // the function whose turn it is.
            (NodeKind::User | NodeKind::Llm, _) => Self {
                own: outside(kind == NodeKind::Llm),
                turns: outside(true),
                calls: outside(false),
            },
            (NodeKind::Code, Expose::Io) => Self {
                own: outside(false),
                turns: inside(),
                calls: inside(),
            },
            // The turns stand in for the call, so they are seen where the call would be.
            (NodeKind::Code, Expose::Llm) => Self {
                own: inside(),
                turns: outside(false),
                calls: inside(),
            },
            (NodeKind::Code, Expose::Full) => Self {
                own: outside(false),
                turns: outside(false),
                calls: outside(false),
            },
            (NodeKind::Code, Expose::Hidden) => Self {
                own: inside(),
                turns: inside(),
                calls: inside(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The scopes of a chain of nodes, outermost first, as `own turns calls` with `-` for everywhere.
    fn check(chain: &[(NodeKind, Expose)], last: &str) {
        let mut scope: Option<Scope<usize>> = None;
        for (key, (kind, expose)) in chain.iter().enumerate() {
            scope = Some(Scope::of(&key, *kind, *expose, scope.as_ref()));
        }
        let scope = scope.unwrap();
        let shown = [scope.own, scope.turns, scope.calls]
            .map(|key| key.map_or("-".to_owned(), |key| key.to_string()))
            .join(" ");
        assert_eq!(shown, last, "{chain:?}");
    }

    #[test]
    fn a_node_is_seen_inside_the_nearest_function_that_hides_it() {
        use Expose::{Full, Hidden, Io, Llm};
        let code = |expose| (NodeKind::Code, expose);
        let turn = (NodeKind::Llm, Io);
        let user = (NodeKind::User, Io);

        check(&[user], "- - -");
        check(&[turn], "- - -");
        check(&[code(Io)], "- 0 0");
        check(&[code(Llm)], "0 - 0");
        check(&[code(Full)], "- - -");
        check(&[code(Hidden)], "0 0 0");

        check(&[code(Io), turn], "0 0 0");
        check(&[code(Llm), turn], "- - 0");
        check(&[code(Llm), turn, code(Io)], "0 2 2");
        check(&[code(Llm), user], "0 - 0");
        check(&[code(Full), turn], "- - -");
        check(&[code(Hidden), turn], "0 0 0");

        // Nothing below `io` at any depth, whatever stands between.
        check(&[code(Io), code(Full), turn, code(Full), turn], "0 0 0");
        // The turns of a call below `llm` are not the turns of that function.
        check(&[code(Llm), code(Full), turn], "0 0 0");
        check(&[code(Llm), code(Llm), turn], "0 0 1");
        check(&[code(Full), code(Llm), turn], "- - 1");
        check(&[code(Full), code(Io)], "- 1 1");
        check(&[code(Full), code(Hidden), code(Full)], "1 1 1");
    }
}
