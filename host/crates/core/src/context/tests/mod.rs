//! What frames read, as whole messages.

mod cost;
mod expose;
mod property;
mod range;
mod text;

use pollster::block_on;

use super::{ContextRead, FrameView, read_context};
use crate::content::{Message, Role};
use crate::function::{Expose, RenderRange};
use crate::id::{NodeId, SessionId, Timestamp};
use crate::session::{MemoryStore, NewNode, NodeEnd, NodeKind, NodeStatus, Session, SessionStore};
use crate::{Json, JsonObject};

/// A session under construction. Nodes are named by their `seq`.
struct Graph {
    store: MemoryStore,
    seq: u64,
}

fn session_id() -> SessionId {
    SessionId::from_bits(1)
}

fn node_id(seq: u64) -> NodeId {
    NodeId::from_bits(seq)
}

/// A reply, as its node ends.
fn said(text: &str) -> Option<NodeEnd> {
    Some(NodeEnd {
        status: NodeStatus::Completed,
        output: Some(text.into()),
        failure: None,
        usage: None,
        attempts: Vec::new(),
        facts: JsonObject::new(),
        finished_at: Timestamp(0),
    })
}

impl Graph {
    fn new() -> Self {
        let store = MemoryStore::default();
        let session = Session {
            id: session_id(),
            created_at: Timestamp(0),
            title: String::new(),
            base: None,
        };
        block_on(store.create_session(session)).unwrap();
        Self { store, seq: 0 }
    }

    fn node(&self, kind: NodeKind, name: &str, caller: Option<u64>) -> NewNode {
        NewNode {
            id: node_id(self.seq + 1),
            session: session_id(),
            kind,
            name: name.to_owned(),
            caller: caller.map(node_id),
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

    fn add(&mut self, node: NewNode, end: Option<NodeEnd>) -> u64 {
        self.seq = match end {
            Some(end) => block_on(self.store.append_node(node, end)).unwrap(),
            None => block_on(self.store.open_node(node)).unwrap(),
        };
        self.seq
    }

    fn user(&mut self, text: &str) -> u64 {
        let mut node = self.node(NodeKind::User, "user", None);
        node.input = text.into();
        self.add(node, said(""))
    }

    fn turn(&mut self, caller: Option<u64>, reply: &str) -> u64 {
        let node = self.node(NodeKind::Llm, "model", caller);
        self.add(node, said(reply))
    }

    fn running_turn(&mut self, caller: Option<u64>) -> u64 {
        let node = self.node(NodeKind::Llm, "model", caller);
        self.add(node, None)
    }

    fn call(&mut self, caller: Option<u64>, name: &str, expose: Expose) -> u64 {
        let node = NewNode {
            expose,
            ..self.node(NodeKind::Code, name, caller)
        };
        self.add(node, said(&format!("result of {name}")))
    }

    fn running_call(&mut self, caller: Option<u64>, name: &str, expose: Expose) -> u64 {
        let node = NewNode {
            expose,
            ..self.node(NodeKind::Code, name, caller)
        };
        self.add(node, None)
    }

    fn read(&self, frame: Option<u64>, callers: Option<u64>, subcalls: Option<u64>) -> ContextRead {
        let view = FrameView {
            session: session_id(),
            frame: frame.map(node_id),
            range: RenderRange { callers, subcalls },
            hidden: Vec::new(),
        };
        block_on(read_context(&self.store, &view)).unwrap()
    }
}

/// Messages as text: the role, then the blocks. A line break in a block is shown as `/`.
fn shown(messages: &[Message]) -> String {
    let mut text = String::new();
    for message in messages {
        for (n, block) in message.content.iter().enumerate() {
            let role = match (n, message.role) {
                (0, Role::User) => "user:",
                (0, Role::Assistant) => "assistant:",
                _ => " +",
            };
            let block = block.as_text().unwrap().replace('\n', " / ");
            text.push_str(&format!("{role} {block}\n"));
        }
    }
    text
}

/// What was read: the messages, then the places of the nodes.
fn shown_read(read: &ContextRead) -> String {
    let seqs = read.reads.iter().map(|id| {
        let bits = id.as_str().trim_start_matches("n-");
        u64::from_str_radix(bits, 16).unwrap().to_string()
    });
    let seqs: Vec<String> = seqs.collect();
    format!("{}reads {}\n", shown(&read.messages), seqs.join(" "))
}
