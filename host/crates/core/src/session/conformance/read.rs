//! Queries give what they ask for, in order, and nothing else.

use super::sample::{end, fail, full_end, full_node, node, node_id, session_id, with_sessions};
use crate::function::Expose;
use crate::id::NodeId;
use crate::session::{NewNode, NodeKind, NodeQuery, SeenNode, SessionStore, StoreError};

pub(super) async fn queries_combine(store: &impl SessionStore) {
    with_sessions(store, 2).await;
    for n in 1..=6 {
        let opened = store.open_node(node(1, n, NodeKind::User)).await;
        opened.unwrap_or_else(fail);
    }
    let bounds = [
        None,
        Some(0),
        Some(1),
        Some(3),
        Some(6),
        Some(7),
        Some(u64::MAX),
    ];
    let counts = [None, Some(0), Some(1), Some(2), Some(6), Some(u64::MAX)];
    for (after, before) in bounds
        .iter()
        .flat_map(|a| bounds.iter().map(move |b| (*a, *b)))
    {
        for last in counts {
            let query = NodeQuery {
                after,
                before,
                last,
            };
            let mut expected: Vec<u64> = (1..=6)
                .filter(|seq| after.is_none_or(|after| *seq > after))
                .filter(|seq| before.is_none_or(|before| *seq < before))
                .collect();
            let last = last.and_then(|last| usize::try_from(last).ok());
            expected.drain(..expected.len().saturating_sub(last.unwrap_or(usize::MAX)));

            let nodes = store.nodes(&session_id(1), query).await;
            let nodes = nodes.unwrap_or_else(fail);
            let seqs: Vec<u64> = nodes.iter().map(|node| node.seq).collect();
            assert_eq!(seqs, expected, "{query:?}");
            let seen = store.seen_nodes(&session_id(1), &[], query).await;
            let seen = seen.unwrap_or_else(fail);
            let seqs: Vec<u64> = seen.iter().map(|node| node.seq).collect();
            assert_eq!(seqs, expected, "seen, {query:?}");
        }
    }
    let other = store.nodes(&session_id(2), NodeQuery::default()).await;
    assert_eq!(other.unwrap_or_else(fail), []);
}

pub(super) async fn what_does_not_exist_is_named(store: &impl SessionStore) {
    with_sessions(store, 2).await;
    let opened = store.open_node(node(1, 1, NodeKind::User)).await;
    opened.unwrap_or_else(fail);
    let nobody = session_id(99);
    let nothing = node_id(99);
    let all = NodeQuery::default();
    let is_no_session =
        |error: &StoreError| matches!(error, StoreError::NoSession(id) if *id == nobody);
    let is_no_node = |error: &StoreError| matches!(error, StoreError::NoNode(id) if *id == nothing);

    for (refused, is_right) in [
        (
            store.open_node(node(99, 7, NodeKind::User)).await.err(),
            &is_no_session as &dyn Fn(&StoreError) -> bool,
        ),
        (
            store
                .append_node(node(99, 7, NodeKind::User), end("done"))
                .await
                .err(),
            &is_no_session,
        ),
        (store.nodes(&nobody, all).await.err(), &is_no_session),
        (
            store.seen_nodes(&nobody, &[], all).await.err(),
            &is_no_session,
        ),
        (
            store.chain(&nobody, &node_id(1)).await.err(),
            &is_no_session,
        ),
        (
            store.chain(&session_id(1), &nothing).await.err(),
            &is_no_node,
        ),
        (
            store.close_node(&nothing, end("done")).await.err(),
            &is_no_node,
        ),
    ] {
        assert!(refused.as_ref().is_some_and(is_right), "{refused:?}");
    }
    let elsewhere = store.chain(&session_id(2), &node_id(1)).await;
    assert!(matches!(elsewhere, Err(StoreError::NoNode(id)) if id == node_id(1)));
    assert_eq!(store.node(&nothing).await.unwrap_or_else(fail), None);
}

/// Builds `1 code io > 2 llm > 3 code hidden > 4 llm`, `5 code llm > 6 llm`, `7 user`.
pub(super) async fn with_scopes(store: &impl SessionStore) {
    with_sessions(store, 1).await;
    for (n, kind, expose, caller) in [
        (1, NodeKind::Code, Expose::Io, None),
        (2, NodeKind::Llm, Expose::Io, Some(1)),
        (3, NodeKind::Code, Expose::Hidden, Some(2)),
        (4, NodeKind::Llm, Expose::Io, Some(3)),
        (5, NodeKind::Code, Expose::Llm, None),
        (6, NodeKind::Llm, Expose::Io, Some(5)),
        (7, NodeKind::User, Expose::Io, None),
    ] {
        let node = NewNode {
            expose,
            caller: caller.map(node_id),
            reads: (1..n).map(node_id).collect(),
            ..node(1, n, kind)
        };
        store.open_node(node).await.unwrap_or_else(fail);
    }
}

pub(super) async fn nodes_are_seen_in_their_scope(store: &impl SessionStore) {
    with_scopes(store).await;
    let query = |after, before, last| NodeQuery {
        after,
        before,
        last,
    };
    let all = query(None, None, None);
    for (inside, query, expected) in [
        (&[][..], all, &[1, 6, 7][..]),
        (&[1], all, &[1, 2, 6, 7]),
        (&[3, 1], all, &[1, 2, 3, 4, 6, 7]),
        (&[1, 3, 3, 1], all, &[1, 2, 3, 4, 6, 7]),
        (&[5], all, &[1, 5, 6, 7]),
        (&[99], all, &[1, 6, 7]),
        (&[3, 1], query(Some(1), Some(7), None), &[2, 3, 4, 6]),
        (&[3, 1], query(Some(1), Some(7), Some(2)), &[4, 6]),
        (&[3, 1], query(None, Some(4), Some(2)), &[2, 3]),
        (&[3, 1], query(None, None, Some(0)), &[]),
    ] {
        let inside: Vec<NodeId> = inside.iter().copied().map(node_id).collect();
        let seen = store.seen_nodes(&session_id(1), &inside, query).await;
        let seen = seen.unwrap_or_else(fail);
        let seqs: Vec<u64> = seen.iter().map(|node| node.seq).collect();
        assert_eq!(seqs, expected, "inside {inside:?}, {query:?}");
        for node in &seen {
            check_seen(store, node).await;
        }
    }
}

pub(super) async fn a_chain_leads_to_the_top(store: &impl SessionStore) {
    with_scopes(store).await;
    for (of, expected) in [(1, &[1][..]), (4, &[4, 3, 2, 1]), (6, &[6, 5]), (7, &[7])] {
        let chain = store.chain(&session_id(1), &node_id(of)).await;
        let chain = chain.unwrap_or_else(fail);
        let seqs: Vec<u64> = chain.iter().map(|node| node.seq).collect();
        assert_eq!(seqs, expected);
        for node in &chain {
            check_seen(store, node).await;
        }
    }

    // The rest of a node is seen as well.
    let done = store.append_node(full_node(), full_end()).await;
    done.unwrap_or_else(fail);
    let chain = store.chain(&session_id(1), &full_node().id).await;
    for node in &chain.unwrap_or_else(fail) {
        check_seen(store, node).await;
    }
}

/// A seen node says what the node says.
pub(super) async fn check_seen(store: &impl SessionStore, seen: &SeenNode) {
    let node = store.node(&seen.id).await.unwrap_or_else(fail);
    let expected = node.map(|node| SeenNode::of(&node, seen.scope.clone()));
    assert_eq!(Some(seen), expected.as_ref());
    let scope = match seen.seq {
        2 | 8 => Some(node_id(1)),
        3 | 4 => Some(node_id(3)),
        5 => Some(node_id(5)),
        _ => None,
    };
    assert_eq!(seen.scope, scope, "scope of {}", seen.id);
}
