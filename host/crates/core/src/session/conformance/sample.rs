//! Sessions and nodes to check with.

use crate::failure::{Failure, FailureCode};
use crate::function::{Expose, RenderRange};
use crate::id::{NodeId, SessionId, Timestamp};
use crate::session::{
    Attempt, NewNode, Node, NodeEnd, NodeKind, NodeQuery, NodeStatus, Session, SessionStore,
    StoreError, Usage,
};
use crate::{Json, JsonObject};

pub(super) async fn with_sessions(store: &impl SessionStore, count: u64) {
    for bits in 1..=count {
        let created = store.create_session(session(bits, 0)).await;
        created.unwrap_or_else(fail);
    }
}

pub(super) fn session_id(bits: u64) -> SessionId {
    SessionId::from_bits(bits)
}

pub(super) fn node_id(bits: u64) -> NodeId {
    NodeId::from_bits(bits)
}

pub(super) fn session(bits: u64, at: i64) -> Session {
    Session {
        id: session_id(bits),
        created_at: Timestamp(at),
        title: "a session".to_owned(),
        base: None,
    }
}

pub(super) fn node(session: u64, n: u64, kind: NodeKind) -> NewNode {
    NewNode {
        id: node_id(n),
        session: session_id(session),
        kind,
        name: "name".to_owned(),
        caller: None,
        predecessor: None,
        reads: Vec::new(),
        input: Json::Null,
        expose: Expose::Io,
        render_range: RenderRange::default(),
        doc: None,
        facts: JsonObject::new(),
        started_at: Timestamp(0),
    }
}

pub(super) fn end(output: &str) -> NodeEnd {
    NodeEnd {
        status: NodeStatus::Completed,
        output: Some(output.into()),
        failure: None,
        usage: None,
        attempts: Vec::new(),
        facts: JsonObject::new(),
        finished_at: Timestamp(1),
    }
}

/// JSON that careless stores change: key order, number texts, rare characters, nesting.
pub(super) fn difficult_json() -> Json {
    let text = r#"{
        "zuletzt": 1, "a": -0.0, "exact": 123456789012345678901234567890, "u64": 18446744073709551615,
        "decimal": 1.10, "exponent": 1e400, "": null, "rare": "\u0000 \u001f ' \" \\ ä 漢 😀 \u2028",
        "nested": [[], {}, [{"b": [true, false]}]]
    }"#;
    serde_json::from_str(text).unwrap_or_else(|_| Json::Null)
}

/// A node with every field set. It belongs to the session of [`with_scopes`] as well.
pub(super) fn full_node() -> NewNode {
    NewNode {
        name: "demo:ähm/größe.größer — 漢字".to_owned(),
        caller: Some(node_id(1)),
        predecessor: Some(node_id(2)),
        reads: [3, 1, 2, 2].map(node_id).to_vec(),
        input: difficult_json(),
        render_range: RenderRange {
            callers: Some(0),
            subcalls: Some(u64::MAX),
        },
        doc: Some("Line one.\n\n\tLine three; 'quoted' \"twice\".".to_owned()),
        facts: difficult_json().as_object().cloned().unwrap_or_default(),
        started_at: Timestamp(i64::MAX),
        ..node(1, 1_000, NodeKind::Code)
    }
}

pub(super) fn full_end() -> NodeEnd {
    let failure = Failure::new(FailureCode::Llm, "did not answer ✗").with("more", difficult_json());
    NodeEnd {
        status: NodeStatus::Failed,
        output: Some(difficult_json()),
        failure: Some(failure.clone()),
        usage: Some(Usage {
            input_tokens: 1,
            output_tokens: 0,
            cache_read: 3,
            cache_create: 4,
        }),
        attempts: vec![
            Attempt {
                started_at: Timestamp(-1),
                failure: failure.clone(),
            },
            Attempt {
                started_at: Timestamp(0),
                failure,
            },
        ],
        facts: difficult_json().as_object().cloned().unwrap_or_default(),
        finished_at: Timestamp(i64::MIN),
    }
}

/// The node is the same by id and in its place.
pub(super) async fn check_reads_back(store: &impl SessionStore, written: &Node) {
    let by_id = store.node(&written.opened.id).await.unwrap_or_else(fail);
    assert_eq!(by_id.as_ref(), Some(written));
    let query = NodeQuery {
        after: Some(written.seq - 1),
        before: Some(written.seq + 1),
        last: None,
    };
    let in_place = store.nodes(&written.opened.session, query).await;
    assert_eq!(in_place.unwrap_or_else(fail), std::slice::from_ref(written));
    // Equal numbers may still be written differently.
    let text = by_id.map(|node| node.opened.input.to_string());
    assert_eq!(text, Some(written.opened.input.to_string()));
}

/// Ends the check with the error in the message.
pub(super) fn fail<T>(error: StoreError) -> T {
    panic!("the store refused what it must accept: {error} ({error:?})")
}
