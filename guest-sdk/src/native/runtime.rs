//! Runtimes, whose turns a script answers.

use std::cell::RefCell;
use std::rc::Rc;

use super::needed;
use super::script::{Ended, Ending, Script, what};
use super::turn::Turn as Started;
use crate::bindings::openprogram::agentic::types;
use crate::model::StopReason;
use crate::testing::MockRequest;
use crate::{Failure, Usage as Tokens, Value, failure};

pub(crate) use super::request::Request;
pub(crate) use super::turn::Turn;
pub(crate) use crate::bindings::openprogram::agentic::runtime::{
    ThinkingLevel, ToolChoice, TurnEvent,
};

/// How often a request is made at most.
const MAX_RETRIES: u32 = 6;

#[derive(Clone, Debug)]
pub(crate) struct Runtime {
    pub(crate) script: Rc<RefCell<Script>>,
    pub(crate) state: Rc<RefCell<State>>,
}

/// What a runtime is set to.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) model: String,
    system: Option<String>,
    thinking_level: ThinkingLevel,
    last_usage: Option<Tokens>,
    /// Whether the function has opened it; it was lent otherwise.
    is_opened: bool,
    is_closed: bool,
}

impl Runtime {
    /// A runtime that a test lends.
    pub(crate) fn lent(model: &str) -> Self {
        Self::over(Rc::default(), model, false)
    }

    fn over(script: Rc<RefCell<Script>>, model: &str, is_opened: bool) -> Self {
        let state = State {
            model: model.to_owned(),
            system: None,
            thinking_level: ThinkingLevel::Off,
            last_usage: None,
            is_opened,
            is_closed: false,
        };
        Self {
            script,
            state: Rc::new(RefCell::new(state)),
        }
    }

    pub(crate) fn open(model: &str) -> Result<Self, types::Failure> {
        let script = needed(&format!("the runtime `{model}` is opened")).script;
        let refused = {
            let refused = &script.borrow().refused_models;
            let found = refused.iter().find(|(name, _)| name == model);
            found.map(|(_, failure)| failure.clone())
        };
        match refused {
            Some(failed) => Err(failure::to_host(failed)),
            None => Ok(Self::over(script, model, true)),
        }
    }

    pub(crate) fn model(&self) -> String {
        self.state.borrow().model.clone()
    }

    pub(crate) fn system(&self) -> Option<String> {
        self.state.borrow().system.clone()
    }

    pub(crate) fn set_system(&self, text: Option<&str>) -> Result<(), types::Failure> {
        self.state.borrow_mut().system = text.map(str::to_owned);
        Ok(())
    }

    pub(crate) fn thinking_level(&self) -> ThinkingLevel {
        self.state.borrow().thinking_level
    }

    pub(crate) fn set_thinking_level(&self, level: ThinkingLevel) -> Result<(), types::Failure> {
        self.state.borrow_mut().thinking_level = level;
        Ok(())
    }

    pub(crate) fn max_retries(&self) -> u32 {
        MAX_RETRIES
    }

    pub(crate) fn last_usage(&self) -> Option<Usage> {
        self.state.borrow().last_usage.map(Usage)
    }

    pub(crate) fn session_id(&self) -> String {
        "op-0000000000000001".to_owned()
    }

    pub(crate) fn close(&self) -> Result<(), types::Failure> {
        let mut state = self.state.borrow_mut();
        if !state.is_opened {
            let message = "the function was lent this runtime, which ends with the call";
            let failed = Failure::invalid_argument("runtime", message);
            return Err(failure::to_host(failed));
        }
        state.is_closed = true;
        Ok(())
    }

    pub(crate) fn exec(&self, request: &Request) -> Result<Reply, types::Failure> {
        let turn = self.start(request)?;
        turn.ending()
    }

    pub(crate) fn start(&self, request: &Request) -> Result<Turn, types::Failure> {
        self.started(request.told.borrow().clone())
    }

    /// Asks the script, and gives what happens in the turn. The request is kept for the test.
    pub(super) fn started(&self, asked: MockRequest) -> Result<Turn, types::Failure> {
        let asked = self.completed(asked)?;
        let mut script = self.script.borrow_mut();
        script.told.requests.push(asked.clone());
        let (before, ended) = script.next(&asked);
        self.state.borrow_mut().last_usage = ended.usage;
        let place = script.told.requests.len() - 1;
        drop(script);
        Ok(Started::new(self, place, &asked, before, ended))
    }

    /// The request with what the runtime adds, unless it is closed.
    fn completed(&self, asked: MockRequest) -> Result<MockRequest, types::Failure> {
        let state = self.state.borrow();
        if state.is_closed {
            let message = format!("the runtime `{}` was closed", state.model);
            return Err(failure::to_host(Failure::new("closed", message)));
        }
        let mut asked = asked;
        asked.system = state.system.iter().cloned().chain(asked.system).collect();
        asked.model.clone_from(&state.model);
        asked.thinking_level = crate::ThinkingLevel::from_host(state.thinking_level);
        Ok(asked)
    }
}

/// What a turn of text gives; a pick is a mistake.
pub(super) fn reply_of(asked: &MockRequest, ended: Ended) -> Result<Reply, Failure> {
    let reply = |text: String, structured| Reply {
        text,
        structured,
        usage: ended.usage.unwrap_or_default(),
        stop: ended.stop,
    };
    match ended.ending {
        Ending::Reply(pieces) if asked.response_format.is_none() => {
            Ok(reply(pieces.concat(), None))
        }
        Ending::Structured(value) if asked.response_format.is_some() => {
            Ok(reply(value.to_string(), Some(value)))
        }
        Ending::Fail(failed) => Err(failed),
        Ending::Reply(_) => panic!(
            "{}, and the next prepared answer is a text; prepare the value with `structured`",
            what(asked)
        ),
        Ending::Structured(_) => panic!(
            "{}, and the next prepared answer is a value; prepare the text with `reply`",
            what(asked)
        ),
        Ending::Pick { option, .. } => panic!(
            "{}, and the next prepared answer picks `{option}`",
            what(asked)
        ),
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Reply {
    text: String,
    structured: Option<Value>,
    usage: Tokens,
    stop: StopReason,
}

impl Reply {
    pub(crate) fn text(&self) -> String {
        self.text.clone()
    }

    pub(crate) fn structured(&self) -> Option<String> {
        self.structured.as_ref().map(Value::to_string)
    }

    pub(crate) fn usage(&self) -> Usage {
        Usage(self.usage)
    }

    pub(crate) fn stop(&self) -> String {
        self.stop.as_str().to_owned()
    }
}

#[derive(Debug)]
pub(crate) struct Usage(Tokens);

impl Usage {
    pub(crate) fn input_tokens(&self) -> u64 {
        self.0.input_tokens
    }

    pub(crate) fn output_tokens(&self) -> u64 {
        self.0.output_tokens
    }

    pub(crate) fn cache_read(&self) -> u64 {
        self.0.cache_read
    }

    pub(crate) fn cache_create(&self) -> u64 {
        self.0.cache_create
    }
}
