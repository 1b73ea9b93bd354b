//! One model request: select, render, ask, record.
//!
//! The node of the request is handed back open with the reply, so that what the caller makes of
//! the reply is recorded with it. A failed request is closed here.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openprogram_core::content::{ContentBlock, ThinkingLevel};
use openprogram_core::context::{ContextRead, FrameView, read_context};
use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::function::RuntimeRef;
use openprogram_core::guest::TurnWatcher;
use openprogram_core::id::NodeId;
use openprogram_core::llm::{
    Asked, DecisionReply, DecisionState, EventSink, LlmReason, ModelReply, ModelRequest, NoEvents,
    Operation, Provider,
};
use openprogram_core::session::Usage;
use openprogram_core::structured::ResponseFormat;
use openprogram_core::{Json, JsonObject};

use crate::attempt::{Asking, Watched, ask_with_retries};
use crate::budget::{Length, TokenBudget, bounded};
use crate::deadline::Deadline;
use crate::frame::Frame;
use crate::open_turn::{OpenTurn, Turn, never_made};
use crate::ports::Ports;
use crate::recorder::{OpenNode, store_failure};
use crate::reply::check_reply;
use crate::reserve::Reserved;
use crate::spans;

/// Who asks which model until when: what stays the same over the requests of one turn.
#[derive(Clone, Copy)]
pub(crate) struct Asker<'a> {
    pub(crate) ports: &'a Ports,
    pub(crate) frame: &'a Frame,
    pub(crate) provider: &'a dyn Provider,
    /// The runtime that the turn is made with.
    pub(crate) runtime: RuntimeRef,
    pub(crate) operation: Operation,
    pub(crate) deadline: &'a Deadline,
    /// The replies of a decision that held no valid pick, where some may have to be hidden.
    pub(crate) rejected: Option<&'a Rejected>,
    /// Who started the turn and goes on beside it.
    pub(crate) watcher: Option<&'a dyn TurnWatcher>,
}

/// The nodes of the replies of one decision that held no valid pick.
///
/// They are closed, so that asking again shows them; the votes after theirs must not read them.
#[derive(Debug, Default)]
pub(crate) struct Rejected {
    nodes: Mutex<Vec<NodeId>>,
    /// How many of them, from the first, are hidden.
    n_hidden: AtomicUsize,
}

impl Rejected {
    /// Adds the node of a reply, which the next requests read.
    pub(crate) fn add(&self, node: NodeId) {
        self.nodes().push(node);
    }

    /// Hides what is there from the requests that follow.
    pub(crate) fn hide(&self) {
        let count = self.nodes().len();
        self.n_hidden.store(count, Ordering::Relaxed);
    }

    /// Forgets what is there: the requests that follow read it.
    pub(crate) fn show(&self) {
        self.nodes().clear();
        self.n_hidden.store(0, Ordering::Relaxed);
    }

    fn hidden(&self) -> Vec<NodeId> {
        let count = self.n_hidden.load(Ordering::Relaxed);
        self.nodes().iter().take(count).cloned().collect()
    }

    fn nodes(&self) -> MutexGuard<'_, Vec<NodeId>> {
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a model is told in a turn, and told again when it is asked again.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    pub(crate) system: Option<String>,
    pub(crate) content: Vec<ContentBlock>,
}

impl Said {
    /// The content with a text after it, joined to a text that stands last.
    pub(crate) fn followed_by(&self, text: &str) -> Vec<ContentBlock> {
        let mut content = self.content.clone();
        match content.last_mut() {
            Some(ContentBlock::Text(last)) => {
                last.push_str("\n\n");
                last.push_str(text);
            }
            _ => content.push(ContentBlock::Text(text.to_owned())),
        }
        content
    }
}

/// The content of a turn as its node holds it: the texts, and what else there is in words.
pub(crate) fn recorded(content: &[ContentBlock]) -> Json {
    let texts: Vec<_> = content
        .iter()
        .filter(|block| !block.is_cache_mark())
        .map(|block| match block {
            ContentBlock::Text(text) => text.clone(),
            other => match other.as_media() {
                Some(media) => format!("[{}, {} bytes]", media.mime_type, media.data.len()),
                None => format!("{other:?}"),
            },
        })
        .collect();
    texts.join("\n\n").into()
}

impl<'a> Asker<'a> {
    /// What the turns of the frame read now.
    pub(crate) async fn read(&self) -> Result<ContextRead, Failure> {
        let view = FrameView {
            session: self.frame.run.session.clone(),
            frame: self.frame.node.clone(),
            range: self.frame.render_range(),
            hidden: self.rejected.map(Rejected::hidden).unwrap_or_default(),
        };
        let read = read_context(self.ports.recorder.store(), &view).await;
        read.map_err(|error| store_failure(&error))
    }

    /// Asks for text and no calls, with the context that the frame reads; for text of this format,
    /// where there is one that the provider holds to.
    ///
    /// # Errors
    /// As for [`Asker::ask`].
    pub(crate) async fn ask_for_text(
        &self,
        system: Option<String>,
        content: Vec<ContentBlock>,
        format: Option<&ResponseFormat>,
        facts: JsonObject,
    ) -> Result<(OpenTurn<'a>, String), Failure> {
        let context = self.read().await?;
        let turn = Turn {
            input: recorded(&content),
            reads: context.reads.clone(),
            system: None,
            facts,
        };
        let session = self.frame.run.session.clone();
        let messages = context.finish_with(content);
        let request = ModelRequest {
            response_format: format.cloned(),
            thinking: self.frame.thinking(self.runtime),
            totals: Arc::clone(&self.frame.run.totals),
            ..ModelRequest::new(system, messages, session)
        };
        let (open, reply) = self.ask(turn, &request, false).await?;
        Ok((open, reply.text()))
    }

    /// Puts one request to a model that writes. With `told`, the watcher of the run reads its reply.
    ///
    /// # Errors
    /// `llm` and `limit-reached` when it could not be asked or its reply cannot be taken, recorded.
    pub(crate) async fn ask(
        &self,
        turn: Turn,
        request: &ModelRequest,
        told: bool,
    ) -> Result<(OpenTurn<'a>, ModelReply), Failure> {
        let said = self.ports.parts.traces_content;
        let span = spans::model_request("chat", self.provider.name(), &self.frame.run.session);
        spans::record_request(&span, request, said);
        let asked = self.ask_in_span(turn, request, told);
        spans::in_span(span, asked, |span, (open, reply)| {
            spans::record_request_end(span, open.id(), open.usage);
            spans::record_reply(span, reply, said);
        })
        .await
    }

    async fn ask_in_span(
        &self,
        turn: Turn,
        request: &ModelRequest,
        told: bool,
    ) -> Result<(OpenTurn<'a>, ModelReply), Failure> {
        let mut turn = turn;
        turn.facts
            .extend(thinking_facts(self.provider, request.thinking)?);
        let mut open = self.begin(turn, &request.system).await?;
        let left = self.frame.budgets(self.runtime).map(TokenBudget::left);
        let request = &*bounded(request, left);
        let watched = Watched::new(self.asking(open.node()));
        let sink: &dyn EventSink = if told { &watched } else { &NoEvents };
        let asked = Asked::of(self.operation, self.provider.name(), request);
        let ask = || async {
            let budgets = self.frame.budgets(self.runtime);
            let reserved = Reserved::of(budgets, sink, || Length::of_request(request).tokens());
            let asked = self.provider.complete(request, &reserved).await;
            reserved.end(&asked);
            asked
        };
        let asking = self.asking(open.node());
        let tried = ask_with_retries(asking, asked, ask, Some(&watched)).await;
        let checked = tried.and_then(|reply| {
            open.stop = reply.stop;
            open.spend(reply.usage, || {
                (Length::of_request(request), Length::of_reply(&reply))
            });
            check_reply(self.ports, self.provider.name(), &reply)?;
            Ok(reply)
        });
        match checked {
            Ok(reply) => Ok((open, reply)),
            Err(failure) => Err(open.fail(failure).await),
        }
    }

    /// Lets the provider weigh the options of a decision, which was made of what these nodes hold.
    ///
    /// # Errors
    /// `llm` when it could not be asked, recorded.
    pub(crate) async fn weigh(
        &self,
        state: &DecisionState,
        reads: Vec<NodeId>,
        facts: JsonObject,
    ) -> Result<(OpenTurn<'a>, DecisionReply), Failure> {
        let span = spans::model_request("decide", self.provider.name(), &self.frame.run.session);
        let asked = self.weigh_in_span(state, reads, facts);
        spans::in_span(span, asked, |span, (open, _)| {
            spans::record_request_end(span, open.id(), open.usage);
        })
        .await
    }

    async fn weigh_in_span(
        &self,
        state: &DecisionState,
        reads: Vec<NodeId>,
        facts: JsonObject,
    ) -> Result<(OpenTurn<'a>, DecisionReply), Failure> {
        let turn = Turn {
            input: state.prompt.clone().into(),
            reads,
            system: None,
            facts,
        };
        let mut open = self.begin(turn, &state.system).await?;
        let asked = Asked {
            operation: self.operation,
            model: self.provider.name().to_owned(),
            had_image: false,
        };
        let ask = || async {
            let budgets = self.frame.budgets(self.runtime);
            let estimate = || Length::of_decision(state).tokens();
            let reserved = Reserved::of(budgets, &NoEvents, estimate);
            let asked = self.provider.decide(state).await;
            reserved.end(&asked);
            asked
        };
        match ask_with_retries(self.asking(open.node()), asked, ask, None).await {
            Ok(reply) => {
                // It writes nothing, whatever it counts as written.
                let lengths = || (Length::of_decision(state), Length::default());
                open.spend(reply.usage, lengths);
                Ok((open, reply))
            }
            Err(failure) => Err(open.fail(failure).await),
        }
    }

    async fn begin(&self, turn: Turn, system: &Option<String>) -> Result<OpenTurn<'a>, Failure> {
        let system = system.clone();
        let turn = Turn { system, ..turn };
        OpenTurn::begin(
            self.ports,
            self.frame,
            self.provider.name(),
            self.runtime,
            turn,
        )
        .await
    }

    /// Records what a request would have gone on with, when it is not made because of `failure`.
    /// Gives the failure back.
    pub(crate) async fn never_made(&self, turn: Turn, failure: Failure) -> Failure {
        let model = self.provider.name();
        never_made(self.ports, self.frame, model, self.runtime, turn, failure).await
    }

    fn asking<'b>(&'b self, node: &'b OpenNode) -> Asking<'b> {
        Asking {
            ports: self.ports,
            run: &self.frame.run,
            node,
            deadline: self.deadline,
            watcher: self.watcher,
        }
    }
}

/// What a node says about thinking: the level, and what the provider makes of it where that differs.
///
/// # Errors
/// `no-provider`, when the model has no such level.
pub(crate) fn thinking_facts(
    provider: &dyn Provider,
    level: ThinkingLevel,
) -> Result<JsonObject, Failure> {
    let applied = provider.thinking(level);
    let applied = applied.map_err(|error| error.to_failure(provider.name()))?;
    let mut facts = JsonObject::new();
    if level != ThinkingLevel::Off {
        facts.insert("thinking".to_owned(), level.as_str().into());
    }
    if let Some(applied) = applied {
        facts.insert("thinking_applied".to_owned(), applied.into());
    }
    Ok(facts)
}

/// The failure of a turn whose time ended while these tools ran.
pub(crate) fn out_of_time<'a>(
    asker: &Asker<'_>,
    mut tools: impl Iterator<Item = &'a str>,
) -> Failure {
    let elapsed = asker.deadline.elapsed();
    let budget = asker.deadline.timeout().unwrap_or(elapsed);
    let model = asker.provider.name();
    let first: String = tools.next().unwrap_or_default().chars().take(64).collect();
    let what = match tools.count() {
        0 => format!("the tool `{first}`"),
        more => format!("the tool `{first}` and {more} more"),
    };
    let message = format!("the time budget of {budget:.1?} ended while {what} ran");
    let mut failure = Failure::new(FailureCode::Llm, message)
        .with("reason", LlmReason::Timeout.as_str())
        .with("retryable", false);
    if let Some((provider, _)) = model.split_once(':') {
        failure = failure.with("provider", provider);
    }
    failure
        .with("elapsed_s", elapsed.as_secs_f64())
        .with("model", model)
}

/// The tokens of several requests, as far as providers tell.
pub(crate) fn summed(sum: Usage, more: Option<Usage>) -> Usage {
    more.map_or(sum, |more| sum.plus(more))
}
