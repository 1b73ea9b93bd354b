//! The store as its callers meet it: on files, beside other processes, after the worst.

mod crash;
mod files;
mod processes;
mod texts;

use std::path::Path;

use openprogram_core::function::{Expose, RenderRange};
use openprogram_core::id::{NodeId, SessionId, Timestamp};
use openprogram_core::session::{
    NewNode, Node, NodeEnd, NodeKind, NodeQuery, NodeStatus, Session, SessionStore, StoreError,
};
use openprogram_core::{Json, JsonObject};
use pollster::block_on;

use crate::{Durability, SqliteStore};

fn open(path: &Path) -> SqliteStore {
    SqliteStore::open(path, Durability::Normal).unwrap()
}

fn session_id() -> SessionId {
    SessionId::from_bits(1)
}

fn create_session(store: &SqliteStore) {
    let session = Session {
        id: session_id(),
        created_at: Timestamp(0),
        title: "a session".to_owned(),
        base: None,
    };
    block_on(store.create_session(session)).unwrap();
}

fn turn(n: u64) -> NewNode {
    NewNode {
        id: NodeId::from_bits(n),
        session: session_id(),
        kind: NodeKind::Llm,
        name: "model".to_owned(),
        caller: None,
        predecessor: None,
        reads: Vec::new(),
        input: Json::from(format!("turn {n} {}", "x".repeat(500))),
        expose: Expose::Io,
        render_range: RenderRange::default(),
        doc: None,
        facts: JsonObject::new(),
        started_at: Timestamp(0),
    }
}

fn end() -> NodeEnd {
    NodeEnd {
        status: NodeStatus::Completed,
        output: Some("a reply".into()),
        failure: None,
        usage: None,
        attempts: Vec::new(),
        facts: JsonObject::new(),
        finished_at: Timestamp(1),
    }
}

fn all_nodes(store: &SqliteStore) -> Vec<Node> {
    block_on(store.nodes(&session_id(), NodeQuery::default())).unwrap()
}

/// The text of an error, the folder taken out.
fn text_of(error: &dyn std::error::Error, folder: &Path) -> String {
    let folder = folder.display().to_string();
    error.to_string().replace(&folder, "FOLDER")
}

/// What the store says to one append.
fn append(store: &SqliteStore, n: u64) -> Result<u64, StoreError> {
    block_on(store.append_node(turn(n), end()))
}
