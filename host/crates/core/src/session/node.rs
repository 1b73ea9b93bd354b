//! Nodes and their three edges: caller, predecessor, reads. They are never mixed.

use super::fork::Base;
use crate::Json;
use crate::failure::Failure;
use crate::function::{Expose, RenderRange};
use crate::id::{NodeId, SessionId, Timestamp};

/// What a node records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NodeKind {
    /// Something a person said.
    User,
    /// One model request and its reply; retries of the request share the node.
    Llm,
    /// One call of a function.
    Code,
}

impl NodeKind {
    /// The word for it: `user`, `llm` or `code`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Llm => "llm",
            Self::Code => "code",
        }
    }

    /// The kind of a word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        let mut all = [Self::User, Self::Llm, Self::Code].into_iter();
        all.find(|kind| kind.as_str() == word)
    }
}

/// How far a node has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NodeStatus {
    /// Opened and not closed: it runs, or its process died and its outcome is unknown.
    Open,
    /// It gave its output.
    Completed,
    /// It failed; the failure says why.
    Failed,
    /// It was cancelled.
    Cancelled,
}

impl NodeStatus {
    /// The word for it: `open`, `completed`, `failed` or `cancelled`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// The status of a word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        let all = [Self::Open, Self::Completed, Self::Failed, Self::Cancelled];
        all.into_iter().find(|status| status.as_str() == word)
    }
}

/// A session: one graph of nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// When it was created.
    pub created_at: Timestamp,
    /// What a list shows: the name of the first function or the head of the first message.
    pub title: String,
    /// Where it goes on from another session; only a fork has one.
    pub base: Option<Base>,
}

/// Tokens used by one model request, as far as the provider tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens of the request.
    pub input_tokens: u64,
    /// Tokens of the reply.
    pub output_tokens: u64,
    /// Tokens of the request that were read from a cache.
    pub cache_read: u64,
    /// Tokens of the request that were written to a cache.
    pub cache_create: u64,
}

impl Usage {
    /// Both together.
    #[must_use]
    pub fn plus(self, more: Self) -> Self {
        Self {
            input_tokens: self.input_tokens.saturating_add(more.input_tokens),
            output_tokens: self.output_tokens.saturating_add(more.output_tokens),
            cache_read: self.cache_read.saturating_add(more.cache_read),
            cache_create: self.cache_create.saturating_add(more.cache_create),
        }
    }

    /// As one JSON object with the names of the fields.
    #[must_use]
    pub fn to_json(&self) -> Json {
        serde_json::json!({
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cache_read": self.cache_read,
            "cache_create": self.cache_create,
        })
    }
}

/// One failed try of a model request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// When the try began.
    pub started_at: Timestamp,
    /// Why it failed.
    pub failure: Failure,
}

/// What is known when a node is opened.
#[derive(Clone, Debug, PartialEq)]
pub struct NewNode {
    /// Its id, unique in the store.
    pub id: NodeId,
    /// The session it belongs to.
    pub session: SessionId,
    /// What it records.
    pub kind: NodeKind,
    /// The full name of the function, or the name of the model.
    pub name: String,
    /// The frame that caused it; `None` at the top.
    pub caller: Option<NodeId>,
    /// The node before it in the order of the conversation; top-level nodes only.
    pub predecessor: Option<NodeId>,
    /// The nodes whose content it was given; always filled for model requests.
    pub reads: Vec<NodeId>,
    /// Arguments of a call as an object, text of a user or model turn as a string; null for a
    /// turn that only goes on with the results of its calls.
    pub input: Json,
    /// What callers see of it.
    pub expose: Expose,
    /// How much its own turns read.
    pub render_range: RenderRange,
    /// The doc of the function.
    pub doc: Option<String>,
    /// Further facts by key, for example `digest` of the component or `system` of a request.
    /// [`NewNode::HIDDEN_ARGUMENTS`] and [`super::CallAnswer::FACT`] are read for rendering.
    pub facts: crate::JsonObject,
    /// When it was opened.
    pub started_at: Timestamp,
}

impl NewNode {
    /// The fact that lists the arguments of a call which no model may see, an array of names.
    pub const HIDDEN_ARGUMENTS: &'static str = "hidden_arguments";
}

/// What is known when a node is closed.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeEnd {
    /// How it ended; never [`NodeStatus::Open`].
    pub status: NodeStatus,
    /// Its output. Text of a model turn is a string. `None` when it gave none.
    pub output: Option<Json>,
    /// Why it failed or was cancelled.
    pub failure: Option<Failure>,
    /// Tokens used.
    pub usage: Option<Usage>,
    /// The tries that failed, the last one of a failed request included.
    pub attempts: Vec<Attempt>,
    /// Facts learned while it ran, for example `method` and `pick` of a decision.
    pub facts: crate::JsonObject,
    /// When it was closed.
    pub finished_at: Timestamp,
}

/// One node as it stands in the store.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Its place in the order of the session, from 1 without gaps.
    pub seq: u64,
    /// What was known when it was opened.
    pub opened: NewNode,
    /// What was known when it was closed; `None` while it is open.
    pub end: Option<NodeEnd>,
}

impl Node {
    /// The same node as it stood before it ended.
    #[must_use]
    pub fn still_open(self) -> Self {
        Self { end: None, ..self }
    }

    /// How far it has come.
    #[must_use]
    pub fn status(&self) -> NodeStatus {
        self.end.as_ref().map_or(NodeStatus::Open, |end| end.status)
    }
}

/// What the context of a model turn needs of a node, and no more.
///
/// The edge `reads` is left out on purpose: over a long session it is the square of its length.
#[derive(Clone, Debug, PartialEq)]
pub struct SeenNode {
    /// Its place in the order of the session.
    pub seq: u64,
    /// Its id.
    pub id: NodeId,
    /// What it records.
    pub kind: NodeKind,
    /// The full name of the function, or the name of the model.
    pub name: String,
    /// The frame that caused it; `None` at the top.
    pub caller: Option<NodeId>,
    /// The function inside which alone it can be seen; `None` when it is seen everywhere.
    pub scope: Option<NodeId>,
    /// Arguments of a call as an object, text of a user or model turn as a string.
    pub input: Json,
    /// The doc of the function.
    pub doc: Option<String>,
    /// The facts known when it was opened.
    pub facts: crate::JsonObject,
    /// How far it has come.
    pub status: NodeStatus,
    /// Its output; `None` when it gave none.
    pub output: Option<Json>,
    /// Why it failed or was cancelled.
    pub failure: Option<Failure>,
}

impl SeenNode {
    /// The same node as it stood before it ended.
    #[must_use]
    pub fn still_open(self) -> Self {
        Self {
            status: NodeStatus::Open,
            output: None,
            failure: None,
            ..self
        }
    }

    /// What a context needs of a node.
    #[must_use]
    pub fn of(node: &Node, scope: Option<NodeId>) -> Self {
        Self {
            seq: node.seq,
            id: node.opened.id.clone(),
            kind: node.opened.kind,
            name: node.opened.name.clone(),
            caller: node.opened.caller.clone(),
            scope,
            input: node.opened.input.clone(),
            doc: node.opened.doc.clone(),
            facts: node.opened.facts.clone(),
            status: node.status(),
            output: node.end.as_ref().and_then(|end| end.output.clone()),
            failure: node.end.as_ref().and_then(|end| end.failure.clone()),
        }
    }
}
