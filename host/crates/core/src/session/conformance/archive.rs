//! Sessions are forked and deleted.

use super::sample::{end, fail, node, node_id, session, session_id, with_sessions};
use crate::id::Timestamp;
use crate::session::{
    Base, FORK_DEPTH_MAX, ForkPoint, NewNode, NodeEnd, NodeKind, NodeQuery, NodeStatus, Session,
    SessionArchive, SessionStore, StoreError,
};

/// A moment of the node `n`; none of another node lies between two of them.
fn at(n: u64, moment: i64) -> Timestamp {
    Timestamp(i64::try_from(n).unwrap_or(i64::MAX) * 10 + moment)
}

/// Appends closed nodes to a session, `n` and the number of the caller, 0 for none.
pub(super) async fn append(store: &impl SessionStore, session: u64, nodes: &[(u64, u64)]) {
    for (n, caller) in nodes {
        let node = NewNode {
            caller: (*caller > 0).then(|| node_id(*caller)),
            started_at: at(*n, 0),
            ..node(session, *n, NodeKind::Code)
        };
        // A call ends with the last one that it made.
        let below = nodes.iter().filter(|(_, caller)| caller == n);
        let last = below.map(|(below, _)| *below).max().unwrap_or(*n);
        let end = NodeEnd {
            finished_at: at(last, 5),
            ..end("done")
        };
        let appended = store.append_node(node, end).await;
        appended.unwrap_or_else(fail);
    }
}

/// `seq id status` of what a session reads, by all nodes and by those seen.
async fn lines(store: &impl SessionStore, session: u64) -> Vec<String> {
    let all = NodeQuery::default();
    let nodes = store.nodes(&session_id(session), all).await;
    let nodes = nodes.unwrap_or_else(fail);
    let line = |seq: u64, id: &str, status| {
        let id = id.trim_start_matches(['n', '-', '0']);
        let open = if status == NodeStatus::Open {
            " open"
        } else {
            ""
        };
        format!("{seq} {id}{open}")
    };
    let lines: Vec<String> = nodes
        .iter()
        .map(|node| line(node.seq, node.opened.id.as_str(), node.status()))
        .collect();
    for last in 0..=nodes.len() as u64 + 1 {
        let query = NodeQuery {
            last: Some(last),
            ..all
        };
        let some = store.nodes(&session_id(session), query).await;
        let some = some.unwrap_or_else(fail);
        let left_out = nodes.len().saturating_sub(some.len());
        assert_eq!(some, nodes[left_out..], "the last {last}");
        assert_eq!(some.len() as u64, last.min(nodes.len() as u64));
    }
    for (n, node) in nodes.iter().enumerate() {
        // What is read one by one is what is read together.
        let one = NodeQuery {
            after: Some(node.seq - 1),
            before: Some(node.seq + 1),
            last: None,
        };
        let found = store.nodes(&session_id(session), one).await;
        assert_eq!(found.unwrap_or_else(fail), std::slice::from_ref(node));
        let chain = store.chain(&session_id(session), &node.opened.id).await;
        let chain = chain.unwrap_or_else(fail);
        assert_eq!(chain[0].status, node.status(), "{}", lines[n]);
    }
    let inside: Vec<_> = nodes.iter().map(|node| node.opened.id.clone()).collect();
    for last in [None, Some(nodes.len() as u64), Some(u64::MAX)] {
        let query = NodeQuery { last, ..all };
        let seen = store.seen_nodes(&session_id(session), &inside, query).await;
        let seen = seen.unwrap_or_else(fail);
        let seen: Vec<String> = seen
            .iter()
            .map(|node| line(node.seq, node.id.as_str(), node.status))
            .collect();
        assert_eq!(seen, lines, "inside every function everything is seen");
    }
    lines
}

pub(super) async fn fork(store: &impl SessionArchive, fork: u64, from: u64, point: ForkPoint) {
    let from = session_id(from);
    let forked = store.fork_session(session(fork, 5), &from, point).await;
    forked.unwrap_or_else(fail);
}

pub(super) async fn a_fork_reads_its_base_and_goes_on_alone(store: &impl SessionArchive) {
    with_sessions(store, 1).await;
    append(store, 1, &[(1, 0), (2, 0), (3, 2), (4, 0)]).await;
    fork(store, 2, 1, ForkPoint::After(2)).await;
    assert_eq!(lines(store, 2).await, ["1 1", "2 2", "3 3"]);
    let found = store.session(&session_id(2)).await.unwrap_or_else(fail);
    let expected = Session {
        base: Some(Base {
            session: session_id(1),
            seq: 3,
            open: Vec::new(),
        }),
        ..session(2, 5)
    };
    assert_eq!(found, Some(expected.clone()));
    let listed = store.sessions(9).await.unwrap_or_else(fail);
    assert_eq!(listed, [expected, session(1, 0)]);

    // Both go on by themselves, and the fork counts on from its place.
    append(store, 1, &[(5, 4)]).await;
    append(store, 2, &[(6, 2), (7, 6)]).await;
    assert_eq!(lines(store, 1).await, ["1 1", "2 2", "3 3", "4 4", "5 5"]);
    assert_eq!(lines(store, 2).await, ["1 1", "2 2", "3 3", "4 6", "5 7"]);
    let chain = store.chain(&session_id(2), &node_id(7)).await;
    let chain: Vec<u64> = chain
        .unwrap_or_else(fail)
        .iter()
        .map(|node| node.seq)
        .collect();
    assert_eq!(chain, [5, 4, 2]);
    // Every edge may lead into the base, and none into the other branch.
    let reading = NewNode {
        predecessor: Some(node_id(1)),
        reads: vec![node_id(1), node_id(3), node_id(7)],
        ..node(2, 8, NodeKind::Llm)
    };
    let opened = store.open_node(reading.clone()).await;
    assert_eq!(opened.unwrap_or_else(fail), 6);
    let stored = store.node(&node_id(8)).await.unwrap_or_else(fail);
    assert_eq!(stored.map(|node| node.opened), Some(reading));
    for edge in ["caller", "predecessor", "reads"] {
        let mut bad = node(2, 9, NodeKind::Llm);
        let other = node_id(4);
        match edge {
            "caller" => bad.caller = Some(other),
            "predecessor" => bad.predecessor = Some(other),
            _ => bad.reads = vec![other],
        }
        let refused = store.open_node(bad).await;
        assert!(
            matches!(&refused, Err(StoreError::BadEdge { edge: named, .. }) if *named == edge),
            "{edge}: {refused:?}"
        );
    }
    let other = store.chain(&session_id(2), &node_id(4)).await;
    assert!(matches!(other, Err(StoreError::NoNode(id)) if id == node_id(4)));
}

pub(super) async fn a_fork_reads_what_ran_as_open(store: &impl SessionArchive) {
    with_sessions(store, 1).await;
    let outer = store.open_node(node(1, 1, NodeKind::Code)).await;
    outer.unwrap_or_else(fail);
    append(store, 1, &[(2, 1), (3, 1)]).await;
    fork(store, 2, 1, ForkPoint::After(2)).await;
    let later = NodeEnd {
        finished_at: at(9, 0),
        ..end("later")
    };
    let closed = store.close_node(&node_id(1), later).await;
    closed.unwrap_or_else(fail);
    fork(store, 3, 1, ForkPoint::Before(3)).await;
    fork(store, 4, 1, ForkPoint::After(3)).await;
    fork(store, 5, 1, ForkPoint::After(1)).await;
    assert_eq!(lines(store, 1).await, ["1 1", "2 2", "3 3"]);
    assert_eq!(lines(store, 2).await, ["1 1 open", "2 2"]);
    assert_eq!(lines(store, 3).await, ["1 1 open", "2 2"]);
    assert_eq!(lines(store, 4).await, ["1 1 open", "2 2", "3 3"]);
    assert_eq!(lines(store, 5).await, ["1 1", "2 2", "3 3"]);
}

pub(super) async fn forks_stand_on_forks(store: &impl SessionArchive) {
    with_sessions(store, 1).await;
    append(store, 1, &[(1, 0), (2, 0)]).await;
    fork(store, 2, 1, ForkPoint::After(1)).await;
    append(store, 2, &[(3, 0)]).await;
    fork(store, 3, 2, ForkPoint::After(2)).await;
    append(store, 3, &[(4, 3), (5, 0)]).await;
    // At a place that belongs to the base of the base.
    fork(store, 4, 3, ForkPoint::Before(2)).await;
    append(store, 4, &[(6, 1)]).await;
    fork(store, 5, 4, ForkPoint::Before(1)).await;
    append(store, 5, &[(7, 0)]).await;
    assert_eq!(lines(store, 3).await, ["1 1", "2 3", "3 4", "4 5"]);
    assert_eq!(lines(store, 4).await, ["1 1", "2 6"]);
    assert_eq!(lines(store, 5).await, ["1 7"]);

    let mut last = 5;
    loop {
        let (next, from) = (session(last + 1, 0), session_id(last));
        let forked = store.fork_session(next, &from, ForkPoint::Before(1)).await;
        match forked {
            Ok(()) => last += 1,
            Err(StoreError::TooManyForks(id)) => {
                assert_eq!(id, session_id(last));
                break;
            }
            Err(error) => fail(error),
        }
        append(store, last, &[(100 + last, 0)]).await;
        assert!(last < 100);
    }
    assert_eq!(last as usize, FORK_DEPTH_MAX + 1);
}

pub(super) async fn what_cannot_be_forked_is_named(store: &impl SessionArchive) {
    with_sessions(store, 1).await;
    append(store, 1, &[(1, 0)]).await;
    let from = session_id(1);
    for point in [
        ForkPoint::After(0),
        ForkPoint::Before(0),
        ForkPoint::After(2),
        ForkPoint::After(u64::MAX),
    ] {
        let refused = store.fork_session(session(2, 0), &from, point).await;
        assert!(
            matches!(refused, Err(StoreError::NoPlace { .. })),
            "{point:?}"
        );
    }
    let nobody = session_id(9);
    let refused = store.fork_session(session(2, 0), &nobody, ForkPoint::After(1));
    assert!(matches!(refused.await, Err(StoreError::NoSession(id)) if id == nobody));
    let refused = store.fork_session(session(1, 0), &from, ForkPoint::After(1));
    assert!(matches!(refused.await, Err(StoreError::SessionExists(id)) if id == from));
    let based = Session {
        base: Some(Base {
            session: from.clone(),
            seq: 1,
            open: Vec::new(),
        }),
        ..session(2, 0)
    };
    let refused = store.create_session(based.clone()).await;
    assert!(matches!(refused, Err(StoreError::IsFork(id)) if id == session_id(2)));
    let refused = store.fork_session(based.clone(), &from, ForkPoint::After(1));
    assert!(matches!(refused.await, Err(StoreError::IsFork(_))));
    let refused = store.import_session(based, Vec::new()).await;
    assert!(matches!(refused, Err(StoreError::IsFork(_))));
    assert_eq!(
        store.sessions(9).await.unwrap_or_else(fail),
        [session(1, 0)]
    );
}

pub(super) async fn a_deleted_session_is_gone(store: &impl SessionArchive) {
    with_sessions(store, 2).await;
    append(store, 1, &[(1, 0), (2, 1)]).await;
    append(store, 2, &[(3, 0)]).await;
    fork(store, 4, 2, ForkPoint::After(1)).await;
    let deleted = store.delete_session(&session_id(2)).await;
    assert!(
        matches!(&deleted, Err(StoreError::HasFork { session, fork })
            if *session == session_id(2) && *fork == session_id(4)),
        "{deleted:?}"
    );
    for session in [4, 1] {
        let deleted = store.delete_session(&session_id(session)).await;
        deleted.unwrap_or_else(fail);
    }
    let left = store.sessions(9).await.unwrap_or_else(fail);
    assert_eq!(left, [session(2, 0)]);
    for n in [1, 2] {
        assert_eq!(store.node(&node_id(n)).await.unwrap_or_else(fail), None);
        let closed = store.close_node(&node_id(n), end("done")).await;
        assert!(matches!(closed, Err(StoreError::NoNode(_))));
    }
    let gone = store.delete_session(&session_id(1)).await;
    assert!(matches!(gone, Err(StoreError::NoSession(id)) if id == session_id(1)));
    let refused = store.open_node(node(1, 5, NodeKind::User)).await;
    assert!(matches!(refused, Err(StoreError::NoSession(_))));
    let refused = store.nodes(&session_id(1), NodeQuery::default()).await;
    assert!(matches!(refused, Err(StoreError::NoSession(_))));
    assert_eq!(lines(store, 2).await, ["1 3"]);

    // The id may be used again, as may those of the nodes.
    let created = store.create_session(session(1, 7)).await;
    created.unwrap_or_else(fail);
    append(store, 1, &[(2, 0)]).await;
    assert_eq!(lines(store, 1).await, ["1 2"]);
}
