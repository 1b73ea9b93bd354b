//! Sessions are found, measured and imported.

use super::archive::{append, fork};
use super::sample::{
    check_reads_back, end, fail, full_end, full_node, node, node_id, session, session_id,
    with_sessions,
};
use crate::session::{ForkPoint, NewNode, Node, NodeKind, NodeQuery, SessionArchive, StoreError};

pub(super) async fn a_text_is_found_newest_first(store: &impl SessionArchive) {
    with_sessions(store, 2).await;
    let long = "filler ".repeat(2_000);
    for (session, n, input, output) in [
        (1, 1, "a \"quoted\" Ä line\nand more", "nothing"),
        (2, 2, "plain", "The QUOTED one, 100% sure"),
        (1, 3, "under_score", long.as_str()),
    ] {
        let node = NewNode {
            input: input.into(),
            name: format!("demo.name-{n}"),
            ..node(session, n, NodeKind::Code)
        };
        let appended = store.append_node(node, end(output)).await;
        appended.unwrap_or_else(fail);
    }
    fork(store, 3, 1, ForkPoint::After(1)).await;
    append(store, 3, &[(4, 0)]).await;
    type Case = (&'static str, Option<u64>, u64, &'static [(u64, u64)]);
    let cases: [Case; 14] = [
        ("quoted", None, 9, &[(2, 1), (1, 1)]),
        ("quoted", None, 1, &[(2, 1)]),
        ("quoted", None, 0, &[]),
        ("quoted", Some(1), 9, &[(1, 1)]),
        ("quoted", Some(3), 9, &[(1, 1)]),
        ("filler", Some(3), 9, &[]),
        ("FILLER FILLER", None, 9, &[(1, 2)]),
        ("\"quoted\"", None, 9, &[(1, 1)]),
        ("Ä line\nand", None, 9, &[(1, 1)]),
        ("100%", None, 9, &[(2, 1)]),
        ("1%0", None, 9, &[]),
        ("r_s", None, 9, &[(1, 2)]),
        ("name-2", None, 9, &[(2, 1)]),
        ("nowhere\\", None, 9, &[]),
    ];
    for (text, session, limit, expected) in cases {
        let session = session.map(session_id);
        let found = store.search(text, session.as_ref(), limit).await;
        let expected: Vec<_> = expected
            .iter()
            .map(|(s, seq)| (session_id(*s), *seq))
            .collect();
        assert_eq!(
            found.unwrap_or_else(fail),
            expected,
            "`{text}` in {session:?}"
        );
    }
    let nobody = session_id(9);
    let refused = store.search("a", Some(&nobody), 9).await;
    assert!(matches!(refused, Err(StoreError::NoSession(_))));
}

pub(super) async fn sizes_grow_and_the_longest_untouched_comes_first(store: &impl SessionArchive) {
    let sizes = || async {
        let sizes = store.sizes().await.unwrap_or_else(fail);
        let all = sizes.into_iter();
        all.map(|size| (size.session, size.touched_at.0, size.bytes))
            .collect::<Vec<_>>()
    };
    assert_eq!(sizes().await, []);
    with_sessions(store, 2).await;
    assert!(
        sizes()
            .await
            .iter()
            .all(|(_, touched, bytes)| (*touched, *bytes) == (0, 0))
    );
    append(store, 1, &[(1, 0), (2, 0)]).await;
    let found = sizes().await;
    assert_eq!((&found[0].0, found[0].2), (&session_id(2), 0));
    assert_eq!((&found[1].0, found[1].1), (&session_id(1), 20));
    let before = found[1].2;
    for (n, bytes) in [(3, 1_000), (4, 100_000)] {
        let node = NewNode {
            input: "x".repeat(bytes).into(),
            ..node(1, n, NodeKind::Code)
        };
        let appended = store.append_node(node, end("done")).await;
        appended.unwrap_or_else(fail);
    }
    let grown = sizes().await[1].2 - before;
    assert!((101_000..110_000).contains(&grown), "{grown}");
}

pub(super) async fn a_session_is_imported_whole_or_not_at_all(store: &impl SessionArchive) {
    with_sessions(store, 1).await;
    append(store, 1, &[(1, 0), (2, 1), (3, 0)]).await;
    let opened = store.open_node(full_node()).await;
    opened.unwrap_or_else(fail);
    let closed = store.close_node(&full_node().id, full_end()).await;
    closed.unwrap_or_else(fail);
    let opened = store.open_node(node(1, 77, NodeKind::Code)).await;
    opened.unwrap_or_else(fail);
    let from = session_id(1);
    let mut nodes = store
        .nodes(&from, NodeQuery::default())
        .await
        .unwrap_or_else(fail);
    let refused = store.import_session(session(2, 9), nodes.clone()).await;
    assert!(matches!(refused, Err(StoreError::NodeExists(_))));
    let refused = store.import_session(session(1, 9), Vec::new()).await;
    assert!(matches!(refused, Err(StoreError::SessionExists(_))));
    assert_eq!(
        store.sessions(9).await.unwrap_or_else(fail),
        [session(1, 0)]
    );

    let deleted = store.delete_session(&from).await;
    deleted.unwrap_or_else(fail);
    let check = |nodes: Vec<Node>, named: &'static str| async move {
        let refused = store.import_session(session(2, 9), nodes).await;
        let refused = format!("{refused:?}");
        assert!(refused.contains(named), "{refused}");
        assert_eq!(store.sessions(9).await.unwrap_or_else(fail), []);
    };
    let mut gap = nodes.clone();
    gap.remove(0);
    check(gap, "OutOfOrder").await;
    let mut twice = nodes.clone();
    twice[2].opened.id = node_id(1);
    check(twice, "NodeExists").await;
    let mut stranger = nodes.clone();
    stranger[1].opened.caller = Some(node_id(3));
    check(stranger, "BadEdge").await;

    let imported = store.import_session(session(2, 9), nodes.clone()).await;
    imported.unwrap_or_else(fail);
    for node in &mut nodes {
        node.opened.session = session_id(2);
        check_reads_back(store, node).await;
    }
    append(store, 2, &[(9, 77)]).await;
    let all = store.nodes(&session_id(2), NodeQuery::default()).await;
    assert_eq!(all.unwrap_or_else(fail).len(), nodes.len() + 1);
}
