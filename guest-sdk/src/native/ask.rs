//! Questions to a person, answered by a script.

use std::cell::RefCell;
use std::time::Duration;

use super::script::{Response, Script};
use super::{ambient, head, list, with_script};
use crate::bindings::openprogram::agentic::types;
use crate::testing::{MockQuestion, MockQuestionKind as Kind};
use crate::{Failure, Value, failure};

/// One or several prompts that are answered together.
#[derive(Debug, Default)]
pub(crate) struct Card {
    prompts: RefCell<Vec<MockQuestion>>,
    timeout: RefCell<Option<Duration>>,
}

impl Card {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn add_prompt(&self, text: &str) {
        let prompt = MockQuestion::new(Kind::Prompt, text);
        self.prompts.borrow_mut().push(prompt);
    }

    fn set(&self, change: impl FnOnce(&mut MockQuestion)) {
        if let Some(prompt) = self.prompts.borrow_mut().last_mut() {
            change(prompt);
        }
    }

    pub(crate) fn add_option(&self, text: &str) {
        self.set(|prompt| prompt.options.push(text.to_owned()));
    }

    pub(crate) fn set_multiple(&self, allowed: bool) {
        self.set(|prompt| prompt.multiple = allowed);
    }

    pub(crate) fn set_free_text(&self, allowed: bool) {
        self.set(|prompt| prompt.free_text = allowed);
    }

    pub(crate) fn set_default(&self, answer: &[String]) {
        self.set(|prompt| prompt.default = Some(answer.into()));
    }

    pub(crate) fn set_timeout_ms(&self, timeout_ms: u64) {
        *self.timeout.borrow_mut() = Some(Duration::from_millis(timeout_ms));
    }
}

/// The answer to a card.
#[derive(Debug)]
pub(crate) struct Answer {
    replies: Vec<Vec<String>>,
    is_default: bool,
}

impl Answer {
    pub(crate) fn replies(&self) -> Vec<Vec<String>> {
        self.replies.clone()
    }

    pub(crate) fn is_default(&self) -> bool {
        self.is_default
    }
}

pub(crate) fn can_ask() -> bool {
    ambient().is_some_and(|runtime| !runtime.script.borrow().is_nobody_there)
}

pub(crate) fn ask(card: &Card) -> Result<Answer, types::Failure> {
    let mut prompts = card.prompts.borrow().clone();
    for prompt in &mut prompts {
        prompt.timeout = *card.timeout.borrow();
    }
    let Some(first) = prompts.first() else {
        let failed = Failure::invalid_argument("card", "the card asks nothing");
        return Err(failure::to_host(failed));
    };
    with_script(&what(first), |script| {
        script.told.questions.extend(prompts.iter().cloned());
        let mut replies = Vec::new();
        for prompt in &prompts {
            match script.reply(prompt) {
                Response::Texts(texts) => replies.push(checked(prompt, texts)),
                Response::Fail(failed) => return Err(failure::to_host(failed)),
                Response::Nothing => return defaults(&prompts, script.is_nobody_there),
                Response::Yes(_) | Response::Form(_) => mismatched(prompt, "`answer`"),
            }
        }
        Ok(Answer {
            replies,
            is_default: false,
        })
    })
}

pub(crate) fn confirm(
    prompt: &str,
    default: Option<bool>,
    timeout_ms: Option<u64>,
) -> Result<bool, types::Failure> {
    let mut question = MockQuestion::new(Kind::Confirm, prompt);
    question.default = default.map(Value::Bool);
    question.timeout = timeout_ms.map(Duration::from_millis);
    with_script(&what(&question), |script| {
        script.told.questions.push(question.clone());
        match script.reply(&question) {
            Response::Yes(yes) => Ok(yes),
            Response::Fail(failed) => Err(failure::to_host(failed)),
            Response::Nothing => default.ok_or_else(|| unanswered(script.is_nobody_there)),
            Response::Texts(_) | Response::Form(_) => mismatched(&question, "`confirm`"),
        }
    })
}

pub(crate) fn form(
    prompt: &str,
    fields: &str,
    timeout_ms: Option<u64>,
) -> Result<String, types::Failure> {
    let mut question = MockQuestion::new(Kind::Form, prompt);
    question.fields = serde_json::from_str(fields).unwrap_or_default();
    question.timeout = timeout_ms.map(Duration::from_millis);
    with_script(&what(&question), |script| {
        script.told.questions.push(question.clone());
        match script.reply(&question) {
            Response::Form(values) => Ok(values.to_string()),
            Response::Fail(failed) => Err(failure::to_host(failed)),
            Response::Nothing => form_defaults(&question.fields)
                .map(|values| values.to_string())
                .ok_or_else(|| unanswered(script.is_nobody_there)),
            Response::Texts(_) | Response::Yes(_) => mismatched(&question, "`form`"),
        }
    })
}

impl Script {
    /// Takes what a person says to a question.
    fn reply(&mut self, question: &MockQuestion) -> Response {
        if self.is_nobody_there {
            return Response::Nothing;
        }
        self.replies.pop_front().unwrap_or_else(|| {
            panic!(
                "{}, and no answer is prepared for that; add one to the `MockRuntime` with {}",
                what(question),
                match question.kind {
                    Kind::Prompt if question.multiple => "`answer_all`",
                    Kind::Prompt => "`answer`",
                    Kind::Confirm => "`confirm`",
                    Kind::Form => "`form`",
                }
            )
        })
    }
}

/// The question, in words.
fn what(question: &MockQuestion) -> String {
    let kind = match question.kind {
        Kind::Prompt => "a person is asked",
        Kind::Confirm => "a person is asked for a yes or a no",
        Kind::Form => "a person is given a form",
    };
    format!("{kind} (\"{}\")", head(&question.prompt))
}

fn mismatched(question: &MockQuestion, how: &str) -> ! {
    panic!(
        "{}, and the next prepared answer is one to another kind of question; prepare it with {how}",
        what(question)
    )
}

/// The texts, if they can answer the prompt; anything else is a mistake.
fn checked(prompt: &MockQuestion, texts: Vec<String>) -> Vec<String> {
    if !prompt.multiple && texts.len() != 1 {
        panic!(
            "{}, which has one answer, and {} are prepared",
            what(prompt),
            list(&texts)
        );
    }
    let is_free = prompt.free_text || prompt.options.is_empty();
    let stranger = texts.iter().find(|text| !prompt.options.contains(text));
    if let Some(stranger) = stranger.filter(|_| !is_free) {
        panic!(
            "{}, and `{stranger}` is prepared; the options are {}",
            what(prompt),
            list(&prompt.options)
        );
    }
    texts
}

fn defaults(prompts: &[MockQuestion], is_nobody_there: bool) -> Result<Answer, types::Failure> {
    let default = |prompt: &MockQuestion| {
        let texts = prompt.default.as_ref()?.as_array()?;
        let text = |value: &Value| value.as_str().map(str::to_owned);
        texts.iter().map(text).collect::<Option<Vec<_>>>()
    };
    match prompts.iter().map(default).collect() {
        Some(replies) => Ok(Answer {
            replies,
            is_default: true,
        }),
        None => Err(unanswered(is_nobody_there)),
    }
}

/// The defaults of a form of which every field has one or may stay empty.
fn form_defaults(fields: &Value) -> Option<Value> {
    let mut values = serde_json::Map::new();
    for (name, field) in fields.as_object()? {
        match field.get("default") {
            Some(value) => {
                values.insert(name.clone(), value.clone());
            }
            None if field["required"] == Value::Bool(false) => {}
            None => return None,
        }
    }
    Some(Value::Object(values))
}

fn unanswered(is_nobody_there: bool) -> types::Failure {
    failure::to_host(if is_nobody_there {
        Failure::new("nobody-there", "there is nobody to ask")
    } else {
        Failure::new("ask-timeout", "nobody answered in time")
    })
}
