//! A started turn, all of which is known from the beginning.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use serde_json::json;

use super::decision::{Picked, picked_of};
use super::list;
use super::poll::Pollable;
use super::runtime::{Reply, Runtime, TurnEvent, reply_of};
use super::script::{Ended, Ending, Happening, Script, what};
use crate::bindings::openprogram::agentic::types;
use crate::testing::{MockKind, MockLocalCall, MockRequest};
use crate::{Failure, Usage, Value, failure};

#[derive(Debug)]
pub(crate) struct Turn {
    script: Rc<RefCell<Script>>,
    /// The place of its request among those of the script.
    place: usize,
    events: RefCell<VecDeque<TurnEvent>>,
    /// The local calls that wait for their answers.
    waiting: RefCell<BTreeMap<String, Value>>,
    gave: Result<Gave, Failure>,
    is_over: Cell<bool>,
}

/// What a turn gave.
#[derive(Debug)]
enum Gave {
    Reply(Reply),
    Pick(Picked),
}

impl Turn {
    pub(super) fn new(
        runtime: &Runtime,
        place: usize,
        asked: &MockRequest,
        before: Vec<Happening>,
        ended: Ended,
    ) -> Self {
        let mut events = Events::new(asked, runtime.max_retries());
        before
            .into_iter()
            .for_each(|happening| events.happen(happening));
        if let Ending::Reply(pieces) = &ended.ending {
            pieces.iter().for_each(|piece| events.text("text", piece));
        }
        if let Ending::Structured(value) = &ended.ending {
            events.text("text", &value.to_string());
        }
        if let Some(usage) = ended.usage {
            events.usage(usage);
        }
        events.push("done", "", &json!({}));
        let gave = match asked.kind {
            MockKind::Turn => reply_of(asked, ended).map(Gave::Reply),
            _ => picked_of(asked, ended.ending).map(Gave::Pick),
        };
        Turn {
            script: Rc::clone(&runtime.script),
            place,
            events: RefCell::new(events.list),
            waiting: RefCell::default(),
            gave,
            is_over: Cell::new(false),
        }
    }

    /// What the turn gave, none of whose events were taken.
    pub(super) fn ending(self) -> Result<Reply, types::Failure> {
        self.reply()
    }

    /// What the turn picked, none of whose events were taken.
    pub(super) fn pick(self) -> Result<Picked, types::Failure> {
        self.option()
    }

    fn reply(&self) -> Result<Reply, types::Failure> {
        match &self.gave {
            Ok(Gave::Reply(reply)) => Ok(reply.clone()),
            Ok(Gave::Pick(picked)) => panic!("the turn picked `{}`", picked.name()),
            Err(failed) => Err(failure::to_host(failed.clone())),
        }
    }

    fn option(&self) -> Result<Picked, types::Failure> {
        match &self.gave {
            Ok(Gave::Pick(picked)) => Ok(picked.clone()),
            Ok(Gave::Reply(_)) => panic!("the turn answered, and did not pick"),
            Err(failed) => Err(failure::to_host(failed.clone())),
        }
    }

    pub(crate) fn next(&self) -> Option<TurnEvent> {
        let next = self.events.borrow_mut().pop_front()?;
        if next.kind == "local-call" {
            let call: Value = serde_json::from_str(&next.details).unwrap_or_default();
            let id = call["id"].as_str().unwrap_or_default().to_owned();
            self.waiting.borrow_mut().insert(id, call);
        }
        self.is_over.set(next.kind == "done");
        Some(next)
    }

    pub(crate) fn subscribe(&self) -> Pollable {
        Pollable
    }

    pub(crate) fn answer(
        &self,
        id: &str,
        answer: Result<&str, &types::Failure>,
    ) -> Result<(), types::Failure> {
        let Some(call) = self.waiting.borrow_mut().remove(id) else {
            let message = format!("no call `{id}` waits for an answer");
            return Err(failure::to_host(Failure::new("not-found", message)));
        };
        let answer = answer.map(|text| serde_json::from_str::<Value>(text).unwrap_or_default());
        let answer = answer.map_err(|failed| failure::from_host(failed.clone()));
        let result = result_event(id, &answer);
        self.events.borrow_mut().push_front(result);
        let mut script = self.script.borrow_mut();
        if let Some(request) = script.told.requests.get_mut(self.place) {
            request.local_calls.push(MockLocalCall {
                name: call["name"].as_str().unwrap_or_default().to_owned(),
                arguments: call["arguments"].clone(),
                result: answer,
            });
        }
        Ok(())
    }

    pub(crate) fn outcome(&self) -> Option<Result<Reply, types::Failure>> {
        self.is_over.get().then(|| self.reply())
    }

    /// What the turn picked, once it is over.
    pub(super) fn picked(&self) -> Option<Result<Picked, types::Failure>> {
        self.is_over.get().then(|| self.option())
    }
}

/// The events of a turn, as they are told.
struct Events<'a> {
    asked: &'a MockRequest,
    attempts_max: u32,
    n_attempts: u32,
    n_calls: usize,
    list: VecDeque<TurnEvent>,
}

impl<'a> Events<'a> {
    fn new(asked: &'a MockRequest, attempts_max: u32) -> Self {
        Events {
            asked,
            attempts_max,
            n_attempts: 0,
            n_calls: 0,
            list: VecDeque::new(),
        }
    }

    fn push(&mut self, kind: &str, text: &str, details: &Value) {
        self.list.push_back(event(kind, text, details));
    }

    fn text(&mut self, kind: &str, text: &str) {
        self.push(kind, text, &json!({}));
    }

    fn usage(&mut self, usage: Usage) {
        let details = json!({
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "cache_read": usage.cache_read,
            "cache_create": usage.cache_create,
        });
        self.push("usage", "", &details);
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::Thinking(text) => self.text("thinking", &text),
            Happening::Retry { pieces, failure } => self.retry(&pieces, &failure),
            Happening::ToolCall {
                name,
                arguments,
                result,
            } => {
                let id = self.call(&name, &arguments, "tool");
                self.list.push_back(result_event(&id, &result));
            }
            Happening::LocalCall { name, arguments } => {
                if !self.asked.local_tools.contains(&name) {
                    panic!(
                        "{}, and the prepared call is of the local tool `{name}`; it has {}",
                        what(self.asked),
                        list(&self.asked.local_tools)
                    );
                }
                let id = self.call(&name, &arguments, "local");
                let details = json!({"id": id, "name": name, "arguments": arguments});
                self.push("local-call", "", &details);
            }
        }
    }

    /// Tells that the model asks for a call, and gives its id, in which the name stands last.
    fn call(&mut self, name: &str, arguments: &Value, kind: &str) -> String {
        if matches!(self.asked.kind, MockKind::Decision | MockKind::Parse) {
            panic!(
                "{}, and a call of `{name}` is prepared; a decision has no tools",
                what(self.asked)
            );
        }
        let id = format!("{kind}_{}:{name}", self.n_calls);
        self.n_calls += 1;
        let details = json!({"id": id, "name": name, "arguments": arguments.to_string()});
        self.push("tool-use", "", &details);
        id
    }

    fn retry(&mut self, pieces: &[String], failed: &Failure) {
        let restarts = self.asked.restarts && !pieces.is_empty();
        if restarts {
            pieces.iter().for_each(|piece| self.text("text", piece));
        }
        self.n_attempts += 1;
        let reason = failed.detail("reason").unwrap_or_else(|| "unknown".into());
        let details = json!({
            "attempt": self.n_attempts,
            "attempts_max": self.attempts_max,
            "sleep_s": 0.0,
            "reason": reason,
            "http_status": failed.detail("http_status"),
            "retry_after_s": failed.detail("retry_after_s"),
            "elapsed_s": 0.0,
            "error_name": failed.code(),
            "error": failed.message(),
            "had_image": !self.asked.media.is_empty(),
            "model": self.asked.model,
            "restarts": restarts,
        });
        self.push("retry", "", &details);
    }
}

fn event(kind: &str, text: &str, details: &Value) -> TurnEvent {
    TurnEvent {
        kind: kind.to_owned(),
        text: text.to_owned(),
        details: details.to_string(),
    }
}

/// The answer to a call, whose id ends with the name of the tool.
fn result_event(id: &str, result: &Result<Value, Failure>) -> TurnEvent {
    let name = id.split_once(':').map_or("", |(_, name)| name);
    let text = match result {
        Ok(Value::String(text)) => text.clone(),
        Ok(value) => value.to_string(),
        Err(failed) => failed.to_string(),
    };
    let details = json!({"id": id, "name": name, "is_error": result.is_err()});
    event("tool-result", &text, &details)
}
