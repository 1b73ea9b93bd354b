//! `runtime.turn`: turns that go on while their function does.

use std::future::Future;
use std::sync::Arc;

use openprogram_core::Json;
use openprogram_core::content::{ToolCall, ToolResult};
use openprogram_core::failure::Failure;
use openprogram_core::guest::{Closing, ExecRequest, LocalCall, TurnEvent};
use openprogram_core::llm::RetryInfo;
use serde_json::json;
use wasmtime::component::Resource;
use wasmtime_wasi::p2::{DynPollable, subscribe};

use super::{from_wire, to_wire};
use crate::bindings::openprogram::agentic::runtime as wire;
use crate::bindings::openprogram::agentic::types;
use crate::handles::{ReplyHandle, TurnHandle, invalid};
use crate::started::{Gave, Inbox, Ready, Room, TurnNews};
use crate::state::CallState;

impl CallState {
    /// Starts a turn, which goes on beside the function from its next wait or pause.
    pub(super) async fn start_turn(
        &mut self,
        request: ExecRequest,
        takes_restarts: bool,
    ) -> Result<TurnHandle, Failure> {
        let inbox = self.new_inbox(takes_restarts)?;
        let turn = self.services()?.start(request, inbox.clone()).await?;
        let turn = async move { turn.await.map(Gave::Reply) };
        Ok(self.go_on_beside(inbox, turn).await)
    }

    /// Starts a turn that closes with a decision in the same way.
    pub(super) async fn start_choice(
        &mut self,
        (request, closing): (ExecRequest, Closing),
        takes_restarts: bool,
    ) -> Result<TurnHandle, Failure> {
        let inbox = self.new_inbox(takes_restarts)?;
        let services = self.services()?;
        let turn = services.start_picking(request, closing, inbox.clone());
        let turn = turn.await?;
        let turn = async move { turn.await.map(Gave::Pick) };
        Ok(self.go_on_beside(inbox, turn).await)
    }

    /// An inbox for one more turn, unless the function holds too many.
    fn new_inbox(&self, takes_restarts: bool) -> Result<Arc<Inbox>, Failure> {
        let max = self.limits.open_turns;
        if self.n_turns >= max {
            let message =
                format!("the function holds {max} turns already; drop those that it read");
            return Err(Failure::limit("open_turns", max, message));
        }
        let room = Room {
            events: self.limits.turn_events,
            bytes: self.limits.turn_event_bytes,
        };
        Ok(Inbox::new(room, takes_restarts))
    }

    async fn go_on_beside(
        &mut self,
        inbox: Arc<Inbox>,
        turn: impl Future<Output = Result<Gave, Failure>> + Send + 'static,
    ) -> TurnHandle {
        let end = Arc::clone(&inbox);
        let number = self.turns.add(Box::pin(async move { end.end(turn.await) }));
        self.n_turns += 1;
        // It begins before the function goes on.
        tokio::task::yield_now().await;
        TurnHandle { number, inbox }
    }

    pub(super) fn inbox(&self, turn: &Resource<TurnHandle>) -> wasmtime::Result<Arc<Inbox>> {
        Ok(Arc::clone(&self.table.get(turn)?.inbox))
    }

    /// What a function answers to a call, as far as the host takes it.
    fn local_answer(&self, answer: Result<String, types::Failure>) -> Result<LocalAnswer, Failure> {
        match answer {
            Ok(value) => {
                self.check_text("the answer", &value)?;
                let value = serde_json::from_str(&value).map_err(|error| {
                    invalid("answer", format!("the answer is not JSON: {error}"))
                })?;
                Ok(Ok(value))
            }
            Err(failure) => Ok(Err(from_wire(failure))),
        }
    }
}

type LocalAnswer = Result<Json, Failure>;

impl wire::HostTurn for CallState {
    async fn next(
        &mut self,
        turn: Resource<TurnHandle>,
    ) -> wasmtime::Result<Option<wire::TurnEvent>> {
        Ok(self.inbox(&turn)?.take().map(event))
    }

    async fn subscribe(
        &mut self,
        turn: Resource<TurnHandle>,
    ) -> wasmtime::Result<Resource<DynPollable>> {
        // It may outlive the handle of the turn.
        let ready = Ready(self.inbox(&turn)?);
        let ready = self.table.push(ready)?;
        subscribe(&mut self.table, ready)
    }

    async fn answer(
        &mut self,
        turn: Resource<TurnHandle>,
        id: String,
        answer: Result<String, types::Failure>,
    ) -> wasmtime::Result<Result<(), types::Failure>> {
        let inbox = self.inbox(&turn)?;
        let answered = self
            .local_answer(answer)
            .and_then(|answer| inbox.answer(&id, answer));
        Ok(answered.map_err(|failure| to_wire(&failure)))
    }

    async fn outcome(
        &mut self,
        turn: Resource<TurnHandle>,
    ) -> wasmtime::Result<Option<Result<Resource<ReplyHandle>, types::Failure>>> {
        let outcome = match self.inbox(&turn)?.outcome() {
            None => return Ok(None),
            Some(Ok(Gave::Reply(reply))) => Ok(ReplyHandle(reply)),
            Some(Ok(Gave::Pick(_))) => {
                let message = "the turn closes with a decision; `decision.pick-of` tells its pick";
                Err(invalid("turn", message.to_owned()))
            }
            Some(Err(failure)) => Err(failure),
        };
        self.pushed(outcome).map(Some)
    }

    async fn drop(&mut self, turn: Resource<TurnHandle>) -> wasmtime::Result<()> {
        let turn = self.table.delete(turn)?;
        self.n_turns -= 1;
        self.turns.remove(turn.number);
        turn.inbox.abandon();
        Ok(())
    }
}

/// News as the contract carries them.
fn event(news: TurnNews) -> wire::TurnEvent {
    let (kind, text, details) = match news {
        TurnNews::Event(event) => match event {
            TurnEvent::Text(text) => ("text", text, json!({})),
            TurnEvent::Thinking(text) => ("thinking", text, json!({})),
            TurnEvent::ToolUse(ToolCall {
                id,
                name,
                arguments,
            }) => {
                let details = json!({"id": id, "name": name, "arguments": arguments});
                ("tool-use", String::new(), details)
            }
            TurnEvent::ToolResult {
                tool,
                result: ToolResult { id, text, is_error },
            } => {
                let details = json!({"id": id, "name": tool, "is_error": is_error});
                ("tool-result", text, details)
            }
            TurnEvent::Retry(retry) => ("retry", String::new(), retry_to_json(&retry, false)),
            TurnEvent::Usage(usage) => ("usage", String::new(), usage.to_json()),
            // Without a word of its own in this contract.
            _ => ("other", String::new(), json!({})),
        },
        TurnNews::Restart(retry) => ("retry", String::new(), retry_to_json(&retry, true)),
        TurnNews::Call(LocalCall {
            id,
            name,
            arguments,
        }) => {
            let details = json!({"id": id, "name": name, "arguments": arguments});
            ("local-call", String::new(), details)
        }
        TurnNews::Missed(count) => ("missed", String::new(), json!({"count": count})),
        TurnNews::Done => ("done", String::new(), json!({})),
    };
    wire::TurnEvent {
        kind: kind.to_owned(),
        text,
        details: details.to_string(),
    }
}

fn retry_to_json(retry: &RetryInfo, restarts: bool) -> Json {
    json!({
        "attempt": retry.attempt,
        "attempts_max": retry.attempts_max,
        "sleep_s": retry.sleep.as_secs_f64(),
        "reason": retry.reason.as_str(),
        "http_status": retry.http_status,
        "retry_after_s": retry.retry_after.map(|time| time.as_secs_f64()),
        "elapsed_s": retry.elapsed.as_secs_f64(),
        "error_name": retry.error_name,
        "error": retry.error,
        "had_image": retry.asked.had_image,
        "model": retry.asked.model,
        "restarts": restarts,
    })
}
