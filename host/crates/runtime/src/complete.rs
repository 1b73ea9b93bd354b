//! One model request: select, render, ask, record.
//!
//! The node is opened before the request and handed back open with the reply, so that what the
//! caller makes of the reply is recorded with it. A failed request is closed here.

use openprogram_core::content::Message;
use openprogram_core::context::{ContextRead, FrameView, read_context};
use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::function::{Expose, RenderRange, RuntimeRole};
use openprogram_core::id::NodeId;
use openprogram_core::llm::{DecisionState, LlmError, ModelRequest, NoEvents, Provider, Weight};
use openprogram_core::session::{NewNode, NodeEnd, NodeKind, NodeStatus, Usage};
use openprogram_core::{Json, JsonObject};

use crate::events::Event;
use crate::frame::Frame;
use crate::ports::Ports;
use crate::recorder::{OpenNode, store_failure};

/// One turn put to a model.
#[derive(Debug)]
pub(crate) struct Turn {
    /// The runtime it is made with.
    pub(crate) role: RuntimeRole,
    /// What is said.
    pub(crate) text: String,
    /// What is known before the request.
    pub(crate) facts: JsonObject,
}

/// A turn whose reply has come and whose node is still open.
pub(crate) struct OpenTurn<'a> {
    ports: &'a Ports,
    frame: &'a Frame,
    model: String,
    node: OpenNode,
    usage: Option<Usage>,
}

/// The provider behind a role, if there is one.
pub(crate) fn provider_of(ports: &Ports, role: RuntimeRole) -> Result<&dyn Provider, Failure> {
    let provider = ports.parts.providers.of(role);
    provider.map(AsRef::as_ref).ok_or_else(|| {
        let message = format!(
            "no model is configured for `{}`; name one with `--model PROVIDER:MODEL` or with \
             `model = \"PROVIDER:MODEL\"` in openprogram.toml",
            role.parameter()
        );
        Failure::new(FailureCode::NoProvider, message).with("runtime", role.parameter())
    })
}

/// Asks for text, with the context that the frame reads.
///
/// # Errors
/// `no-provider` when the provider does not write text; `llm` and `limit-reached` when it could
/// not be asked or its reply cannot be taken; these two are recorded.
pub(crate) async fn complete_text<'a>(
    ports: &'a Ports,
    frame: &'a Frame,
    provider: &dyn Provider,
    turn: Turn,
) -> Result<(OpenTurn<'a>, String), Failure> {
    if !provider.abilities().text {
        let message = format!(
            "`{}` does not write text; name a model that does with `--model PROVIDER:MODEL`",
            provider.name()
        );
        return Err(Failure::new(FailureCode::NoProvider, message).with("model", provider.name()));
    }
    let view = FrameView {
        session: frame.run.session.clone(),
        frame: frame.node.clone(),
        range: frame.render_range(),
    };
    let read = read_context(ports.recorder.store(), &view).await;
    let context: ContextRead = read.map_err(|error| store_failure(&error))?;
    let reads = context.reads.clone();
    let messages: Vec<Message> = context.finish(&turn.text);
    let system = frame.system(turn.role);
    let open = OpenTurn::begin(ports, frame, provider, turn, reads).await?;
    let request = ModelRequest::new(system, messages, frame.run.session.clone());
    match provider.complete(&request, &NoEvents).await {
        Ok(reply) => {
            let mut open = open;
            open.usage = reply.usage;
            let text = reply.text();
            let longest = ports.parts.limits.reply_bytes;
            if text.len() as u64 > longest {
                let message = format!(
                    "the reply of `{}` is longer than {longest} bytes",
                    open.model
                );
                let failure = Failure::limit("reply_bytes", longest, message);
                return Err(open.fail(failure).await);
            }
            Ok((open, text))
        }
        Err(error) => Err(open.fail_with(&error).await),
    }
}

/// Lets a provider weigh the options of a decision. It is given the prompt and the options only.
///
/// # Errors
/// `llm` when it could not be asked, recorded.
pub(crate) async fn weigh_options<'a>(
    ports: &'a Ports,
    frame: &'a Frame,
    provider: &dyn Provider,
    turn: Turn,
    state: &DecisionState,
) -> Result<(OpenTurn<'a>, Vec<Weight>), Failure> {
    let open = OpenTurn::begin(ports, frame, provider, turn, Vec::new()).await?;
    match provider.decide(state).await {
        Ok(weights) => Ok((open, weights)),
        Err(error) => Err(open.fail_with(&error).await),
    }
}

impl<'a> OpenTurn<'a> {
    async fn begin(
        ports: &'a Ports,
        frame: &'a Frame,
        provider: &dyn Provider,
        turn: Turn,
        reads: Vec<NodeId>,
    ) -> Result<OpenTurn<'a>, Failure> {
        frame.run.count_model_turn(&ports.parts.limits)?;
        let predecessor = match frame.node {
            Some(_) => None,
            None => ports.recorder.newest_at_top(&frame.run.session).await?,
        };
        let model = provider.name().to_owned();
        let mut facts = turn.facts;
        facts.insert("runtime".to_owned(), turn.role.parameter().into());
        if let Some(system) = frame.system(turn.role) {
            facts.insert("system".to_owned(), system.into());
        }
        let new = NewNode {
            id: ports.recorder.new_node_id(),
            session: frame.run.session.clone(),
            kind: NodeKind::Llm,
            name: model.clone(),
            caller: frame.node.clone(),
            predecessor,
            reads,
            input: turn.text.into(),
            expose: Expose::default(),
            render_range: RenderRange::default(),
            doc: None,
            facts,
            started_at: ports.recorder.now(),
        };
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
            usage: None,
        })
    }

    pub(crate) fn id(&self) -> &NodeId {
        self.node.id()
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

    async fn fail_with(self, error: &LlmError) -> Failure {
        let failure = error.to_failure(&self.model);
        self.fail(failure).await
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
        let end = NodeEnd {
            status,
            output,
            failure,
            usage: self.usage,
            attempts: Vec::new(),
            facts,
            finished_at: self.ports.recorder.now(),
        };
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
