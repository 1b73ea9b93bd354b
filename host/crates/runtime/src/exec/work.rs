//! The loop of one turn: what it said so far, and the next request.

use std::sync::Arc;

use openprogram_core::content::{ContentBlock, Role, add_said};
use openprogram_core::failure::Failure;
use openprogram_core::guest::TurnEvent;
use openprogram_core::id::NodeId;
use openprogram_core::llm::{FormatWay, ModelReply, ModelRequest, StopReason};
use openprogram_core::session::{CallAnswer, Usage};
use openprogram_core::structured::StructuredError;
use openprogram_core::tool::ToolChoice;
use openprogram_core::{Json, JsonObject};

use crate::complete::{Asker, recorded, summed};
use crate::ending::UsedUp;
use crate::frame::Frame;
use crate::open_turn::{OpenTurn, Turn, said_or_none, say_at_top};
use crate::ports::Ports;
use crate::reply::reply_bytes;
use crate::structured::{PlannedFormat, Read, misfit_fact};
use crate::tool_call::{Answered, Calling, WantedCall, answers_fact, calls_fact};
use crate::tools::choice_fact;
use crate::turn::PlannedTurn;

use super::acting::Acting;

/// The longest id of a call that is kept; those of providers have 40 bytes or less.
const ID_BYTES_MAX: usize = 128;

/// The loop of one turn.
pub(super) struct Work<'a> {
    ports: &'a Arc<Ports>,
    frame: &'a Arc<Frame>,
    asker: Asker<'a>,
    turn: &'a PlannedTurn,
    /// The next request; grows with every reply and its answers.
    request: ModelRequest,
    /// How the next request is recorded.
    next: Turn,
    /// Every node that the requests so far were given.
    reads: Vec<NodeId>,
    ids: Vec<String>,
    used_up: UsedUp,
    pub(super) usage: Usage,
    /// How often the value of the format was asked for again; counted apart from the requests.
    pub(super) n_repairs: u32,
}

impl<'a> Work<'a> {
    pub(super) async fn begin(
        ports: &'a Arc<Ports>,
        frame: &'a Arc<Frame>,
        asker: Asker<'a>,
        turn: &'a PlannedTurn,
        closing: Option<&str>,
    ) -> Result<Self, Failure> {
        let context = asker.read().await?;
        let mut reads = context.reads.clone();
        // What a person says at the top is read by the turns after this one.
        if frame.node.is_none() {
            reads.push(say_at_top(ports, frame, recorded(&turn.said.content)).await?);
        }
        let format = turn.format.as_ref();
        let instruction = format.and_then(PlannedFormat::instruction);
        let content = match closing.or(instruction.as_deref()) {
            None => turn.said.content.clone(),
            Some(closing) => turn.said.followed_by(closing),
        };
        let mut tools = turn.tools.specs();
        let mut facts = turn.facts.clone();
        if !tools.is_empty() {
            let names: Vec<_> = tools.iter().map(|tool| tool.name.clone()).collect();
            facts.insert("tools".to_owned(), names.into());
        }
        if let Some(choice) = choice_fact(&turn.choice) {
            facts.insert("tool_choice".to_owned(), choice);
        }
        if turn.web_search {
            facts.insert("web_search".to_owned(), true.into());
        }
        if let Some(planned) = format {
            let name = planned.format.name.clone();
            facts.insert("response_format".to_owned(), name.into());
            if planned.way != FormatWay::Native {
                let way = planned.way.as_str();
                facts.insert("response_format_by".to_owned(), way.into());
            }
        }
        if let Some(tool) = format.and_then(PlannedFormat::tool) {
            tools.push(tool);
            tools.sort_by(|a, b| a.name.cmp(&b.name));
        }
        let next = Turn {
            input: recorded(&content),
            facts,
            ..Turn::default()
        };
        let session = frame.run.session.clone();
        let system = turn.said.system.clone();
        let mut request = ModelRequest::new(system, context.finish_with(content), session);
        request.tools = tools;
        request.tool_choice = turn.choice.clone();
        request.parallel_tool_calls = turn.parallel;
        request.web_search = turn.web_search;
        request.thinking = frame.thinking(turn.runtime);
        request.totals = Arc::clone(&frame.run.totals);
        let native = format.and_then(PlannedFormat::native);
        request.response_format = native.or_else(|| turn.shape.clone());
        Ok(Self {
            ports,
            frame,
            asker,
            turn,
            request,
            next,
            reads,
            ids: Vec::new(),
            used_up: UsedUp::default(),
            usage: Usage::default(),
            n_repairs: 0,
        })
    }

    pub(super) async fn ask(&mut self) -> Result<(OpenTurn<'a>, ModelReply), Failure> {
        let mut turn = std::mem::take(&mut self.next);
        turn.reads.clone_from(&self.reads);
        let (open, reply) = self.asker.ask(turn, &self.request, true).await?;
        self.usage = summed(self.usage, reply.usage);
        self.turn
            .tell(|| TurnEvent::Usage(reply.usage.unwrap_or_default()));
        self.used_up.count_reply(reply_bytes(&reply));
        Ok((open, reply))
    }

    /// What a reply is to the format of the turn, where it has one.
    pub(super) fn read(&self, reply: &ModelReply) -> Option<Read> {
        let format = self.turn.format.as_ref()?;
        Some(format.read(reply, self.n_repairs > 0))
    }

    /// Gets a request for a better reply ready, or gives the failure of the turn.
    pub(super) async fn repair(
        &mut self,
        open: OpenTurn<'a>,
        calls: &[WantedCall],
        reply: &ModelReply,
        error: &StructuredError,
    ) -> Result<(), Failure> {
        let Some(planned) = &self.turn.format else {
            return Err(open.fail(error.to_failure()).await);
        };
        let most = planned.format.max_validation_retries;
        if !error.code.repairable() || self.n_repairs == most {
            return Err(open.fail(error.to_failure()).await);
        }
        self.n_repairs += 1;
        let (node, text) = (open.id().clone(), reply.text());
        let mut facts = JsonObject::new();
        facts.insert("misfit".to_owned(), misfit_fact(error));
        if !calls.is_empty() {
            facts.insert("calls".to_owned(), calls_fact(calls));
        }
        open.close(said_or_none(&text), facts).await?;
        let written = in_history(reply, calls);
        self.next = planned.ask_again(&mut self.request, written, error);
        let retry_of = Json::from(node.as_str());
        self.next.facts.insert("retry_of".to_owned(), retry_of);
        self.reads.push(node);
        Ok(())
    }

    /// The calls of a reply, each with an id of its own.
    pub(super) fn wanted(&mut self, reply: &ModelReply) -> Vec<WantedCall> {
        let mut wanted = Vec::new();
        for call in reply.tool_calls() {
            let mut call = call.clone();
            let mut number = self.ids.len();
            while !is_id(&call.id) || self.ids.contains(&call.id) {
                call.id = format!("call_{number}");
                number += 1;
            }
            self.ids.push(call.id.clone());
            wanted.push(WantedCall::read(call));
        }
        wanted
    }

    /// Answers the calls of a reply in order, and gets the next request ready. Gives the failure
    /// with which the turn ends, if it does.
    pub(super) async fn act(
        &mut self,
        node: &NodeId,
        calls: &[WantedCall],
        reply: &ModelReply,
        is_last: bool,
    ) -> Result<Option<Failure>, Failure> {
        // Arguments that can be read may be cut as well, and more calls may have been meant.
        let is_cut = reply.stop == StopReason::Length;
        let acting = Acting {
            ports: self.ports,
            asker: &self.asker,
            planned: self.turn,
            calling: Calling {
                ports: self.ports,
                frame: self.frame,
                tools: &self.turn.tools,
                turn: node,
            },
            beside: self.turn.parallel != Some(false),
        };
        let most = self.turn.iterations_max;
        let mut failed = None;
        let answers = if is_last {
            let text = format!("Not run: the turn has used up its {most} model requests.");
            acting.refuse(calls, &text)
        } else if is_cut {
            self.used_up.count_cut();
            acting.refuse(calls, CUT)
        } else if self.turn.choice == ToolChoice::None {
            acting.refuse(
                calls,
                "Not run: this turn may not call tools. Answer in text.",
            )
        } else {
            let answered = acting.answer(calls, &mut self.used_up).await;
            failed = answered.1;
            answered.0
        };
        let stop = if is_last {
            Some(self.max_iterations())
        } else {
            self.used_up.limit_reached(&self.ports.parts.limits)
        };
        self.go_on(node, calls, reply, answers);
        if let Some(failure) = failed {
            return Err(self.never_made(failure).await);
        }
        match stop {
            Some(failure) => Ok(Some(self.never_made(failure).await)),
            None => Ok(None),
        }
    }

    /// Records what the next request would have gone on with, which is not made.
    async fn never_made(&mut self, failure: Failure) -> Failure {
        let mut turn = std::mem::take(&mut self.next);
        turn.reads.clone_from(&self.reads);
        self.asker.never_made(turn, failure).await
    }

    /// Puts a reply that its provider paused into the next request, so that it goes on. Gives the
    /// failure with which the turn ends, if it does.
    pub(super) async fn go_on_paused(
        &mut self,
        open: OpenTurn<'a>,
        reply: &ModelReply,
        is_last: bool,
    ) -> Result<Option<Failure>, Failure> {
        let node = open.id().clone();
        let said = said_or_none(&reply.text());
        open.close(said, JsonObject::new()).await?;
        if is_last {
            return Ok(Some(self.max_iterations()));
        }
        // Where nothing came of it yet, the same is asked again.
        let content = in_history(reply, &[]);
        add_said(&mut self.request.messages, Role::Assistant, content);
        self.reads.push(node.clone());
        self.next
            .facts
            .insert("continues".to_owned(), node.as_str().into());
        Ok(self.used_up.limit_reached(&self.ports.parts.limits))
    }

    fn max_iterations(&self) -> Failure {
        let most = self.turn.iterations_max;
        let message = format!("the turn has not ended after {most} model requests");
        Failure::limit("max_iterations", most.into(), message)
    }

    /// Shows the model what it has looked for.
    fn add_looked_up(&mut self) {
        let known = &self.request.tools;
        let is_new = |name: &str| known.iter().all(|tool| tool.name != name);
        let new = self.turn.tools.looked_up(is_new);
        if new.is_empty() {
            return;
        }
        let names: Vec<_> = new.iter().map(|spec| spec.name.clone()).collect();
        self.next
            .facts
            .insert("tools_found".to_owned(), names.into());
        self.request.tools.extend(new);
        self.request.tools.sort_by(|a, b| a.name.cmp(&b.name));
    }

    /// Puts the reply and its answers into the next request.
    fn go_on(
        &mut self,
        node: &NodeId,
        calls: &[WantedCall],
        reply: &ModelReply,
        answers: Vec<Answered>,
    ) {
        // It may go on with a reply that was paused.
        let content = in_history(reply, calls);
        add_said(&mut self.request.messages, Role::Assistant, content);
        self.reads.push(node.clone());
        self.reads
            .extend(answers.iter().filter_map(|a| a.node().cloned()));
        self.next
            .facts
            .insert("continues".to_owned(), node.as_str().into());
        let results = answers.iter().map(|answered| answered.result.clone());
        let results = results.map(ContentBlock::ToolResult).collect();
        add_said(&mut self.request.messages, Role::User, results);
        self.next
            .facts
            .insert(CallAnswer::FACT.to_owned(), answers_fact(answers));
        self.add_looked_up();
        // What had to be called was called, or at least tried.
        if matches!(
            self.request.tool_choice,
            ToolChoice::Required | ToolChoice::Named(_)
        ) {
            self.request.tool_choice = ToolChoice::Auto;
        }
    }
}

/// A reply as it goes back to the model, with its calls as they were read.
fn in_history(reply: &ModelReply, calls: &[WantedCall]) -> Vec<ContentBlock> {
    let mut calls = calls.iter();
    let written = reply.content.iter().filter_map(|block| match block {
        ContentBlock::ToolCall(_) => {
            let call = calls.next()?.in_history();
            Some(ContentBlock::ToolCall(call))
        }
        ContentBlock::Text(text) if text.trim().is_empty() => None,
        other => Some(other.clone()),
    });
    written.collect()
}

/// The answer to calls of a reply that was cut off.
const CUT: &str = "Not run: your message was cut off at its length limit, so no call of it is made. \
                   Call again with shorter arguments, one call at a time.";

/// Whether an id can be sent back: it says something and is no longer than ids are.
fn is_id(id: &str) -> bool {
    !id.trim().is_empty() && id.len() <= ID_BYTES_MAX
}
