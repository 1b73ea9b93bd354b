//! The nodes of a turn: one for what a person says at the top, one for every model request.
//!
//! The node of a request is opened before it and stays open until its reply is understood, so that
//! what was made of the reply is recorded with it.

use openprogram_core::failure::Failure;
use openprogram_core::function::{Expose, RenderRange, RuntimeRef};
use openprogram_core::id::NodeId;
use openprogram_core::llm::StopReason;
use openprogram_core::session::{
    AnsweredBy, CallAnswer, NewNode, NodeEnd, NodeKind, NodeStatus, Usage,
};
use openprogram_core::{Json, JsonObject};

use crate::budget::{Length, cost};
use crate::events::Event;
use crate::frame::Frame;
use crate::ports::Ports;
use crate::recorder::OpenNode;

/// How one request is recorded.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    /// What is said; null for a request that only goes on with the results of calls.
    pub(crate) input: Json,
    /// The nodes whose content it is given.
    pub(crate) reads: Vec<NodeId>,
    /// The system prompt.
    pub(crate) system: Option<String>,
    /// What is known before the request.
    pub(crate) facts: JsonObject,
}

/// A turn whose reply has come and whose node is still open.
pub(crate) struct OpenTurn<'a> {
    ports: &'a Ports,
    frame: &'a Frame,
    model: String,
    node: OpenNode,
    runtime: RuntimeRef,
    /// Tokens used, as far as the provider tells.
    pub(crate) usage: Option<Usage>,
    /// What was counted against a budget in place of them, where they cannot be.
    estimated: Option<u64>,
    /// Why the reply ended.
    pub(crate) stop: StopReason,
}

impl<'a> OpenTurn<'a> {
    /// Opens the node of a request.
    pub(crate) async fn begin(
        ports: &'a Ports,
        frame: &'a Frame,
        model: &str,
        runtime: RuntimeRef,
        turn: Turn,
    ) -> Result<Self, Failure> {
        if let Err(failure) = count_request(ports, frame, runtime) {
            let unmade = never_made(ports, frame, model, runtime, turn, failure);
            return Err(unmade.await);
        }
        let new = new_node(ports, frame, model, runtime, turn).await?;
        let model = model.to_owned();
        let node = ports.recorder.open(new).await?;
        frame.run.emit(|| Event::ModelRequestStarted {
            node: node.id().clone(),
            model: model.clone(),
        });
        Ok(OpenTurn {
            ports,
            frame,
            model,
            node,
            runtime,
            usage: None,
            estimated: None,
            stop: StopReason::End,
        })
    }

    /// Keeps the tokens that the provider tells, and spends of the budgets what the request cost.
    pub(crate) fn spend(
        &mut self,
        usage: Option<Usage>,
        lengths: impl FnOnce() -> (Length, Length),
    ) {
        self.usage = usage;
        self.frame.note_usage(self.runtime, usage);
        let mut budgets = self.frame.budgets(self.runtime).peekable();
        if budgets.peek().is_none() {
            return;
        }
        let (request, reply) = lengths();
        let cost = cost(usage, request, reply);
        self.estimated = cost.is_estimated.then_some(cost.tokens);
        budgets.for_each(|budget| budget.charge(cost.tokens));
    }

    pub(crate) fn id(&self) -> &NodeId {
        self.node.id()
    }

    /// The node of the request.
    pub(crate) fn node(&self) -> &OpenNode {
        &self.node
    }

    /// Records the reply, null for none, and what was made of it.
    pub(crate) async fn close(
        self,
        output: impl Into<Json>,
        facts: JsonObject,
    ) -> Result<(), Failure> {
        let output = Some(output.into()).filter(|output| !output.is_null());
        self.end(output, None, facts).await
    }

    /// Records that the request failed, and gives the failure back.
    pub(crate) async fn fail(self, failure: Failure) -> Failure {
        match self
            .end(None, Some(failure.clone()), JsonObject::new())
            .await
        {
            Ok(()) => failure,
            Err(unrecorded) => unrecorded,
        }
    }

    async fn end(
        self,
        output: Option<Json>,
        failure: Option<Failure>,
        facts: JsonObject,
    ) -> Result<(), Failure> {
        let status = match failure {
            None => NodeStatus::Completed,
            Some(_) => NodeStatus::Failed,
        };
        let node = self.node.id().clone();
        let mut facts = facts;
        if let Some(tokens) = self.estimated {
            facts.insert("tokens_estimated".to_owned(), tokens.into());
        }
        if let Some(unusual) = self.stop.unusual() {
            facts.insert("stop".to_owned(), unusual.into());
        }
        let end = NodeEnd {
            status,
            output,
            failure,
            usage: self.usage,
            attempts: Vec::new(),
            facts,
            finished_at: self.ports.recorder.now(),
        };
        self.frame.run.add_usage(self.usage);
        let closed = self.node.close(end).await;
        self.frame.run.emit(|| Event::ModelRequestEnded {
            node,
            model: self.model,
            status,
            usage: self.usage,
        });
        closed
    }
}

/// Counts a request against the budgets and limits that it has to fit.
fn count_request(ports: &Ports, frame: &Frame, runtime: RuntimeRef) -> Result<(), Failure> {
    for budget in frame.budgets(runtime) {
        budget.check()?;
    }
    frame.run.count_model_turn(&ports.parts.limits)
}

async fn new_node(
    ports: &Ports,
    frame: &Frame,
    model: &str,
    runtime: RuntimeRef,
    turn: Turn,
) -> Result<NewNode, Failure> {
    let predecessor = match frame.node {
        Some(_) => None,
        None => ports.recorder.newest_at_top(&frame.run.session).await?,
    };
    let mut facts = turn.facts;
    facts.insert("runtime".to_owned(), runtime.word().into());
    if let Some(system) = turn.system {
        facts.insert("system".to_owned(), system.into());
    }
    Ok(NewNode {
        id: ports.recorder.new_node_id(),
        session: frame.run.session.clone(),
        kind: NodeKind::Llm,
        name: model.to_owned(),
        caller: frame.node.clone(),
        predecessor,
        reads: turn.reads,
        input: turn.input,
        expose: Expose::default(),
        render_range: RenderRange::default(),
        doc: None,
        facts,
        started_at: ports.recorder.now(),
    })
}

/// Records a request that is not made, as failed, where it would have gone on with calls that have no
/// node: nothing else holds them. Gives the failure back.
pub(crate) async fn never_made(
    ports: &Ports,
    frame: &Frame,
    model: &str,
    runtime: RuntimeRef,
    turn: Turn,
    failure: Failure,
) -> Failure {
    let is_own = |answer: CallAnswer| matches!(answer.ran, AnsweredBy::Own(_));
    if !CallAnswer::of_facts(&turn.facts).any(is_own) {
        return failure;
    }
    let new = match new_node(ports, frame, model, runtime, turn).await {
        Ok(new) => new,
        Err(unrecorded) => return unrecorded,
    };
    let end = NodeEnd {
        status: NodeStatus::Failed,
        output: None,
        failure: Some(failure.clone()),
        usage: None,
        attempts: Vec::new(),
        facts: JsonObject::new(),
        finished_at: new.started_at,
    };
    let recorded = ports.recorder.append(new, end).await;
    recorded.map_or_else(|unrecorded| unrecorded, |_| failure)
}

/// Records what a person says at the top, after the context of the turn was read.
pub(crate) async fn say_at_top(
    ports: &Ports,
    frame: &Frame,
    content: Json,
) -> Result<NodeId, Failure> {
    let now = ports.recorder.now();
    let new = NewNode {
        id: ports.recorder.new_node_id(),
        session: frame.run.session.clone(),
        kind: NodeKind::User,
        name: "user".to_owned(),
        caller: None,
        predecessor: ports.recorder.newest_at_top(&frame.run.session).await?,
        reads: Vec::new(),
        input: content,
        expose: Expose::default(),
        render_range: RenderRange::default(),
        doc: None,
        facts: JsonObject::new(),
        started_at: now,
    };
    let id = new.id.clone();
    let end = NodeEnd {
        status: NodeStatus::Completed,
        output: None,
        failure: None,
        usage: None,
        attempts: Vec::new(),
        facts: JsonObject::new(),
        finished_at: now,
    };
    ports.recorder.append(new, end).await?;
    Ok(id)
}

/// What a reply said, null for nothing.
pub(crate) fn said_or_none(text: &str) -> Json {
    if text.trim().is_empty() {
        Json::Null
    } else {
        text.into()
    }
}
