//! Long texts stand apart, each once, and go with the last session that holds them.

use std::path::Path;

use openprogram_core::id::{NodeId, SessionId, Timestamp};
use openprogram_core::session::{
    ForkPoint, NewNode, NodeEnd, NodeQuery, Session, SessionArchive, SessionStore,
};
use pollster::block_on;
use rusqlite::Connection;

use super::{create_session, end, open, session_id, turn};
use crate::SqliteStore;

/// How many texts stand apart, and how many uses of them are noted.
fn counts(file: &Path) -> (i64, i64) {
    let database = Connection::open(file).unwrap();
    let count = |table: &str| {
        let sql = format!("SELECT count(*) FROM {table}");
        database.query_row(&sql, [], |row| row.get(0)).unwrap()
    };
    (count("texts"), count("text_uses"))
}

fn new_session(store: &SqliteStore, bits: u64) -> SessionId {
    let id = SessionId::from_bits(bits);
    let session = Session {
        id: id.clone(),
        created_at: Timestamp(0),
        title: String::new(),
        base: None,
    };
    block_on(store.create_session(session)).unwrap();
    id
}

/// A turn of any session with texts of this length everywhere.
fn long_turn(session: &SessionId, n: u64, bytes: usize) -> (NewNode, NodeEnd) {
    let text = |letter: &str| letter.repeat(bytes);
    let mut node = NewNode {
        session: session.clone(),
        input: text("i").into(),
        doc: Some(text("d")),
        ..turn(n)
    };
    node.facts.insert("system".to_owned(), text("s").into());
    let mut end = NodeEnd {
        output: Some(text("o").into()),
        ..end()
    };
    end.facts.insert("pick".to_owned(), text("p").into());
    (node, end)
}

#[test]
fn long_texts_are_kept_once_and_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sessions.db");
    let store = open(&file);
    create_session(&store);
    let other = new_session(&store, 2);
    for (n, session) in (1..).zip([&session_id(), &session_id(), &other]) {
        let (node, end) = long_turn(session, n, 10_000);
        block_on(store.open_node(node.clone())).unwrap();
        block_on(store.close_node(&node.id, end.clone())).unwrap();
        let kept = block_on(store.node(&node.id)).unwrap().unwrap();
        assert_eq!((kept.opened, kept.end), (node.clone(), Some(end.clone())));
        let chain = block_on(store.chain(session, &node.id)).unwrap();
        assert_eq!((&chain[0].doc, &chain[0].output), (&node.doc, &end.output));
    }
    // Five texts, held by two sessions.
    assert_eq!(counts(&file), (5, 10));
    let rows = "SELECT max(length(input) + length(facts) + length(doc) + length(output) + \
                length(end_facts)) FROM nodes";
    let database = Connection::open(&file).unwrap();
    let longest: i64 = database.query_row(rows, [], |row| row.get(0)).unwrap();
    assert!(longest < 100, "{longest}");

    block_on(store.delete_session(&session_id())).unwrap();
    assert_eq!(counts(&file), (5, 5));
    block_on(store.delete_session(&other)).unwrap();
    assert_eq!(counts(&file), (0, 0));
}

#[test]
fn short_texts_and_docs_that_look_like_keys_come_back_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sessions.db");
    let store = open(&file);
    create_session(&store);
    for (n, doc) in (1..).zip(["@1", "@", "@@", " @1", "plain"]) {
        let node = NewNode {
            doc: Some(doc.to_owned()),
            input: "@1".into(),
            ..turn(n)
        };
        block_on(store.append_node(node.clone(), end())).unwrap();
        assert_eq!(
            block_on(store.node(&node.id)).unwrap().unwrap().opened,
            node
        );
    }
    assert_eq!(counts(&file), (3, 3));
}

#[test]
fn a_fork_reads_long_texts_of_its_base_and_holds_only_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sessions.db");
    let store = open(&file);
    create_session(&store);
    let (node, ended) = long_turn(&session_id(), 1, 5_000);
    block_on(store.append_node(node.clone(), ended)).unwrap();
    let fork = Session {
        id: SessionId::from_bits(2),
        created_at: Timestamp(1),
        title: String::new(),
        base: None,
    };
    let fork_id = fork.id.clone();
    block_on(store.fork_session(fork, &session_id(), ForkPoint::After(1))).unwrap();
    assert_eq!(counts(&file), (5, 5));
    let read = block_on(store.nodes(&fork_id, NodeQuery::default())).unwrap();
    assert_eq!(read[0].opened.doc, node.doc);

    let (mut longer, ended) = long_turn(&fork_id, 2, 5_001);
    longer.caller = Some(NodeId::from_bits(1));
    block_on(store.append_node(longer, ended)).unwrap();
    assert_eq!(counts(&file), (10, 10));
    block_on(store.delete_session(&fork_id)).unwrap();
    assert_eq!(counts(&file), (5, 5));
}

#[test]
fn room_of_deleted_sessions_is_given_back_and_nothing_of_them_is_left_on_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sessions.db");
    let store = open(&file);
    create_session(&store);
    let kept = new_session(&store, 2);
    for n in 1..=20 {
        let (mut node, end) = long_turn(&session_id(), n, 50_000);
        node.input = format!("delicate {n} {}", "x".repeat(50_000)).into();
        block_on(store.append_node(node, end)).unwrap();
    }
    let (node, ended) = long_turn(&kept, 99, 10);
    block_on(store.append_node(node.clone(), ended)).unwrap();
    block_on(store.delete_session(&session_id())).unwrap();
    let freed = block_on(store.compact()).unwrap();
    assert!(freed > 500_000, "{freed}");
    for entry in folder.path().read_dir().unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        assert!(!bytes.windows(8).any(|part| part == b"delicate"));
    }
    assert_eq!(
        block_on(store.node(&node.id)).unwrap().unwrap().opened,
        node
    );
    assert_eq!(block_on(store.compact()).unwrap(), 0);
}
