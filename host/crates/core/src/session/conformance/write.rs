//! What is written comes back, and what must not be written is refused.

use super::sample::{
    check_reads_back, end, fail, full_end, full_node, node, node_id, session, session_id,
    with_sessions,
};
use crate::function::Expose;
use crate::id::SessionId;
use crate::session::{
    NewNode, Node, NodeEnd, NodeKind, NodeQuery, NodeStatus, Session, SessionStore, StoreError,
};

pub(super) async fn sessions_are_kept_and_listed_newest_first(store: &impl SessionStore) {
    let titled = |bits: u64, at: i64, title: &str| Session {
        title: title.to_owned(),
        ..session(bits, at)
    };
    let older = titled(1, 1_000, "älter ✓");
    let newer = titled(2, 2_000, "");
    let same_moment = titled(3, 2_000, "created after the second");
    assert_eq!(store.sessions(9).await.unwrap_or_else(fail), []);
    for session in [&newer, &older, &same_moment] {
        let created = store.create_session(session.clone()).await;
        created.unwrap_or_else(fail);
    }

    let all = [same_moment, newer.clone(), older.clone()];
    for limit in [0, 1, 2, 3, 4, u64::MAX] {
        let listed = store.sessions(limit).await.unwrap_or_else(fail);
        let expected = usize::try_from(limit).unwrap_or(usize::MAX).min(all.len());
        assert_eq!(listed, all[..expected], "limit {limit}");
    }
    let found = store.session(&older.id).await.unwrap_or_else(fail);
    assert_eq!(found, Some(older.clone()));
    let found = store.session(&SessionId::from_bits(99)).await;
    assert_eq!(found.unwrap_or_else(fail), None);

    let again = store.create_session(titled(1, 5_000, "other")).await;
    assert!(matches!(again, Err(StoreError::SessionExists(id)) if id == older.id));
    let found = store.session(&older.id).await.unwrap_or_else(fail);
    assert_eq!(found, Some(older), "the first one stays as it was");
}

pub(super) async fn a_node_comes_back_as_it_was_written(store: &impl SessionStore) {
    with_sessions(store, 1).await;
    for n in 1..=3 {
        let plain = node(1, n, NodeKind::User);
        assert_eq!(store.open_node(plain).await.unwrap_or_else(fail), n);
    }
    let full = full_node();
    let open = Node {
        seq: 4,
        opened: full.clone(),
        end: None,
    };
    assert_eq!(store.open_node(full.clone()).await.unwrap_or_else(fail), 4);
    check_reads_back(store, &open).await;
    let closed = Node {
        end: Some(full_end()),
        ..open
    };
    let done = store.close_node(&full.id, full_end()).await;
    done.unwrap_or_else(fail);
    check_reads_back(store, &closed).await;

    // Every kind, setting and status there is.
    let mut n = 4;
    for (kind, expose, status) in [
        (NodeKind::User, Expose::Io, NodeStatus::Completed),
        (NodeKind::Llm, Expose::Llm, NodeStatus::Failed),
        (NodeKind::Code, Expose::Full, NodeStatus::Cancelled),
        (NodeKind::Code, Expose::Hidden, NodeStatus::Completed),
    ] {
        n += 1;
        let node = NewNode {
            expose,
            ..node(1, n, kind)
        };
        let end = NodeEnd {
            status,
            ..end("done")
        };
        let seq = store.append_node(node.clone(), end.clone()).await;
        assert_eq!(seq.unwrap_or_else(fail), n);
        let written = Node {
            seq: n,
            opened: node,
            end: Some(end),
        };
        check_reads_back(store, &written).await;
    }
}

pub(super) async fn seq_counts_from_one_in_each_session(store: &impl SessionStore) {
    with_sessions(store, 2).await;
    for (session, n, seq) in [(1, 1, 1), (2, 2, 1), (1, 3, 2), (1, 4, 3), (2, 5, 2)] {
        let given = store.open_node(node(session, n, NodeKind::User)).await;
        assert_eq!(given.unwrap_or_else(fail), seq);
    }
    // What was refused leaves no gap.
    let refused = store.open_node(node(2, 1, NodeKind::User)).await;
    assert!(matches!(refused, Err(StoreError::NodeExists(_))));
    let given = store.open_node(node(2, 6, NodeKind::User)).await;
    assert_eq!(given.unwrap_or_else(fail), 3);
}

pub(super) async fn an_append_is_refused_as_a_whole(store: &impl SessionStore) {
    with_sessions(store, 1).await;
    let unfinished = NodeEnd {
        status: NodeStatus::Open,
        ..end("not an end")
    };
    let bad_edge = NewNode {
        caller: Some(node_id(99)),
        ..node(1, 2, NodeKind::Code)
    };
    let refused = store
        .append_node(node(1, 1, NodeKind::Llm), unfinished.clone())
        .await;
    assert!(matches!(refused, Err(StoreError::NotAnEnd(id)) if id == node_id(1)));
    let refused = store.append_node(bad_edge, end("done")).await;
    assert!(matches!(refused, Err(StoreError::BadEdge { .. })));
    let all = store.nodes(&session_id(1), NodeQuery::default()).await;
    assert_eq!(all.unwrap_or_else(fail), []);

    let open = store.open_node(node(1, 3, NodeKind::Llm)).await;
    assert_eq!(open.unwrap_or_else(fail), 1);
    let refused = store.close_node(&node_id(3), unfinished).await;
    assert!(matches!(refused, Err(StoreError::NotAnEnd(id)) if id == node_id(3)));
    let node = store.node(&node_id(3)).await.unwrap_or_else(fail);
    assert_eq!(node.and_then(|node| node.end), None);
}

pub(super) async fn edges_stay_inside_the_session(store: &impl SessionStore) {
    with_sessions(store, 2).await;
    for (session, n) in [(1, 1), (2, 2)] {
        let opened = store.open_node(node(session, n, NodeKind::Code)).await;
        opened.unwrap_or_else(fail);
    }
    // A node that does not exist, one of another session, and the new node itself.
    for stranger in [99, 2, 3] {
        let stranger = || node_id(stranger);
        for edge in ["caller", "predecessor", "reads"] {
            let mut bad = node(1, 3, NodeKind::Llm);
            match edge {
                "caller" => bad.caller = Some(stranger()),
                "predecessor" => bad.predecessor = Some(stranger()),
                _ => bad.reads = vec![node_id(1), stranger()],
            }
            let refused = store.open_node(bad).await;
            let named = matches!(
                &refused,
                Err(StoreError::BadEdge { node, edge: named }) if *node == node_id(3) && *named == edge
            );
            assert!(named, "`{edge}` to `{}` gave {refused:?}", stranger());
        }
    }
    let good = NewNode {
        caller: Some(node_id(1)),
        predecessor: Some(node_id(1)),
        reads: vec![node_id(1), node_id(1)],
        ..node(1, 3, NodeKind::Llm)
    };
    let seq = store.open_node(good.clone()).await;
    assert_eq!(seq.unwrap_or_else(fail), 2);
    let stored = store.node(&node_id(3)).await.unwrap_or_else(fail);
    assert_eq!(stored.map(|node| node.opened), Some(good));
}

pub(super) async fn a_closed_node_never_changes(store: &impl SessionStore) {
    with_sessions(store, 1).await;
    let appended = store.append_node(node(1, 1, NodeKind::Llm), end("first"));
    appended.await.unwrap_or_else(fail);
    let opened = store.open_node(node(1, 2, NodeKind::Llm)).await;
    opened.unwrap_or_else(fail);
    let closed = store.close_node(&node_id(2), end("first")).await;
    closed.unwrap_or_else(fail);

    for n in [1, 2] {
        let again = store.close_node(&node_id(n), end("second")).await;
        assert!(matches!(again, Err(StoreError::NodeClosed(id)) if id == node_id(n)));
        let again = store.open_node(node(1, n, NodeKind::Llm)).await;
        assert!(matches!(again, Err(StoreError::NodeExists(id)) if id == node_id(n)));
        let again = store.append_node(node(1, n, NodeKind::Llm), end("second"));
        let again = again.await;
        assert!(matches!(again, Err(StoreError::NodeExists(id)) if id == node_id(n)));
        let node = store.node(&node_id(n)).await.unwrap_or_else(fail);
        assert_eq!(node.and_then(|node| node.end), Some(end("first")));
    }
}
