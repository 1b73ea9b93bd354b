//! Appends turns to a session and says which of them are safe.
//!
//! `append FILE SESSION WRITER COUNT`: COUNT turns (0: until it is stopped), each opened and then
//! closed. Every line on stdout is written after the store has returned, so whatever it names must
//! be there even if this process is killed. The last line is the time of one append.

use std::io::Write;
use std::time::Instant;

use openprogram_core::JsonObject;
use openprogram_core::function::{Expose, RenderRange};
use openprogram_core::id::{NodeId, SessionId, Timestamp};
use openprogram_core::session::{
    NewNode, NodeEnd, NodeKind, NodeStatus, Session, SessionStore, StoreError,
};
use openprogram_store::{Durability, SqliteStore};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, session, writer, count] = arguments.as_slice() else {
        return Err("usage: append FILE SESSION WRITER COUNT".into());
    };
    let session = SessionId::from_bits(session.parse()?);
    let (writer, count): (u64, u64) = (writer.parse()?, count.parse()?);

    let store = SqliteStore::open(file, Durability::Normal)?;
    pollster::block_on(append(&store, session, writer, count))
}

async fn append(
    store: &SqliteStore,
    id: SessionId,
    writer: u64,
    count: u64,
) -> Result<(), Box<dyn std::error::Error>> {
    let session = Session {
        id: id.clone(),
        created_at: Timestamp(0),
        title: "appended".to_owned(),
        base: None,
    };
    match store.create_session(session).await {
        // Another process made it.
        Ok(()) | Err(StoreError::SessionExists(_)) => {}
        Err(error) => return Err(error.into()),
    }
    let mut out = std::io::stdout();
    let begun = Instant::now();
    let mut n = 0;
    while count == 0 || n < count {
        n += 1;
        let node = NodeId::from_bits((writer << 32) | n);
        let seq = store.open_node(turn(&id, node.clone())).await?;
        writeln!(out, "opened {seq} {node}")?;
        store.close_node(&node, end()).await?;
        writeln!(out, "closed {seq} {node}")?;
    }
    let each_us = begun.elapsed().as_micros() / u128::from(n * 2).max(1);
    writeln!(out, "{each_us} microseconds per append")?;
    Ok(())
}

fn turn(session: &SessionId, id: NodeId) -> NewNode {
    NewNode {
        id,
        session: session.clone(),
        kind: NodeKind::Llm,
        name: "model".to_owned(),
        caller: None,
        predecessor: None,
        reads: Vec::new(),
        input: "What is the sentiment of this message? ".repeat(10).into(),
        expose: Expose::Io,
        render_range: RenderRange::default(),
        doc: None,
        facts: JsonObject::new(),
        started_at: Timestamp(1),
    }
}

fn end() -> NodeEnd {
    NodeEnd {
        status: NodeStatus::Completed,
        output: Some("{\"call\": \"positive\"}".into()),
        failure: None,
        usage: None,
        attempts: Vec::new(),
        facts: JsonObject::new(),
        finished_at: Timestamp(2),
    }
}
