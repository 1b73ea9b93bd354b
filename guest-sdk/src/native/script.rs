//! What a test has prepared, and what was asked for.

use std::collections::VecDeque;

use super::{head, same};
use crate::bindings::openprogram::agentic::types;
use crate::model::StopReason;
use crate::testing::{MockCall, MockKind, MockProgress, MockQuestion, MockRequest};
use crate::{Failure, Usage, Value, failure};

/// What a test has prepared, and what was asked for.
#[derive(Debug, Default)]
pub(crate) struct Script {
    pub(crate) answers: VecDeque<Answer>,
    pub(crate) results: Vec<(String, Result<Value, Failure>)>,
    pub(crate) replies: VecDeque<Response>,
    pub(crate) menus: VecDeque<String>,
    pub(crate) refused_models: Vec<(String, Failure)>,
    pub(crate) is_nobody_there: bool,
    pub(crate) told: Told,
}

/// What was asked for so far.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) requests: Vec<MockRequest>,
    pub(crate) calls: Vec<MockCall>,
    pub(crate) questions: Vec<MockQuestion>,
    pub(crate) progress: Vec<MockProgress>,
}

/// One prepared answer of a model, or what happens before one.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    Before(Happening),
    End(Ended),
}

/// How a turn or a decision ends, and what is told of it.
#[derive(Clone, Debug)]
pub(crate) struct Ended {
    pub(crate) ending: Ending,
    pub(crate) usage: Option<Usage>,
    pub(crate) stop: StopReason,
}

/// What happens in a turn before it ends.
#[derive(Clone, Debug)]
pub(crate) enum Happening {
    Thinking(String),
    Retry {
        pieces: Vec<String>,
        failure: Failure,
    },
    ToolCall {
        name: String,
        arguments: Value,
        result: Result<Value, Failure>,
    },
    LocalCall {
        name: String,
        arguments: Value,
    },
}

/// How a turn or a decision ends.
#[derive(Clone, Debug)]
pub(crate) enum Ending {
    Reply(Vec<String>),
    Structured(Value),
    Pick { option: String, arguments: Value },
    Fail(Failure),
}

/// One prepared answer of a person.
#[derive(Clone, Debug)]
pub(crate) enum Response {
    Texts(Vec<String>),
    Yes(bool),
    Form(Value),
    Nothing,
    Fail(Failure),
}

impl Script {
    /// Takes what happens in the next turn or decision, and how it ends.
    pub(super) fn next(&mut self, asked: &MockRequest) -> (Vec<Happening>, Ended) {
        let mut before = Vec::new();
        loop {
            match self.answers.pop_front() {
                Some(Answer::Before(happening)) => before.push(happening),
                Some(Answer::End(ended)) => return (before, ended),
                None => panic!(
                    "{}, and no answer is prepared for that; add one to the `MockRuntime` with {}",
                    what(asked),
                    match asked.kind {
                        MockKind::Turn if asked.response_format.is_some() => "`structured`",
                        MockKind::Turn => "`reply`",
                        MockKind::Choice | MockKind::Decision | MockKind::Parse => "`pick`",
                    }
                ),
            }
        }
    }

    /// The prepared result of a call, once.
    pub(super) fn result_of(
        &mut self,
        function: &str,
        arguments: &str,
    ) -> Result<String, types::Failure> {
        self.told.calls.push(MockCall {
            function: function.to_owned(),
            arguments: serde_json::from_str(arguments).unwrap_or_default(),
        });
        let is_meant = |name: &str| same(name, function) || same(name, last_part(function));
        let prepared = self.results.iter();
        let mut names = prepared.map(|(name, _)| name);
        let Some(at) = names.position(|name| is_meant(name)) else {
            panic!(
                "`{function}` is called with {}, and no result is prepared for that; add one with \
                 `MockRuntime::call`",
                head(arguments)
            );
        };
        let (_, result) = self.results.remove(at);
        let result = result.map(|value| value.to_string());
        result.map_err(failure::to_host)
    }
}

/// What a model is asked for, in words.
pub(super) fn what(asked: &MockRequest) -> String {
    let text = head(&asked.text());
    let options = super::list(&asked.options);
    match asked.kind {
        MockKind::Turn if asked.response_format.is_some() => {
            format!("a turn with a response format is made (\"{text}\")")
        }
        MockKind::Turn => format!("a turn is made (\"{text}\")"),
        MockKind::Choice => format!("a turn is made that picks one of {options} (\"{text}\")"),
        MockKind::Decision => format!("a decision between {options} is made (\"{text}\")"),
        MockKind::Parse => format!("a pick of {options} is read from a reply (\"{text}\")"),
    }
}

/// The name of a function without its interface.
fn last_part(function: &str) -> &str {
    function.rsplit('.').next().unwrap_or(function)
}
