//! Models that answer from a script and check every request they get.

use std::collections::VecDeque;
use std::future::pending;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use openprogram_core::content::{ContentBlock, ToolCall};
use openprogram_core::llm::{
    Abilities, DecisionLimits, DecisionReply, DecisionState, EventSink, FormatAbility, LlmError,
    LlmFailure, LlmReason, ModelEvent, ModelReply, ModelRequest, Provider, StopReason, Weight,
};
use openprogram_core::session::Usage;

use super::requests::{check_texts, check_tools, check_turns};

/// A request larger than this is a mistake of the code under test, unless the test says otherwise.
const REQUEST_BYTES_MAX: usize = 256 * 1024;

/// One prepared answer.
#[derive(Clone, Debug)]
pub enum ScriptedReply {
    /// The model writes this.
    Text(String),
    /// The model answers with this: texts, calls, a reason to stop, usage.
    Reply(ModelReply),
    /// The request fails.
    Error(LlmError),
    /// These pieces arrive, and then the request fails.
    Broken(Vec<ModelEvent>, LlmError),
    /// The answer comes after this time, by the clock of tokio.
    Late(Duration, Box<ScriptedReply>),
    /// The model never answers.
    Silence,
}

impl ScriptedReply {
    /// The same answer, after this time.
    #[must_use]
    pub fn after(self, time: Duration) -> Self {
        Self::Late(time, Box::new(self))
    }

    /// The model writes a text, which may be empty, and asks for calls: id, name, arguments.
    pub fn calls<'a>(
        text: &str,
        calls: impl IntoIterator<Item = (&'a str, &'a str, &'a str)>,
    ) -> Self {
        let text = (!text.is_empty()).then(|| ContentBlock::Text(text.to_owned()));
        let calls = calls.into_iter().map(|(id, name, arguments)| {
            ContentBlock::ToolCall(ToolCall {
                id: id.to_owned(),
                name: name.to_owned(),
                arguments: arguments.to_owned(),
            })
        });
        Self::Reply(ModelReply {
            content: text.into_iter().chain(calls).collect(),
            stop: StopReason::ToolUse,
            usage: None,
        })
    }

    /// The same reply, ended for this reason.
    ///
    /// # Panics
    /// When this is no reply.
    #[must_use]
    pub fn stopped(mut self, stop: StopReason) -> Self {
        self.reply_mut().stop = stop;
        self
    }

    /// The same reply at this cost.
    ///
    /// # Panics
    /// When this is no reply.
    #[must_use]
    pub fn costing(mut self, usage: Usage) -> Self {
        self.reply_mut().usage = Some(usage);
        self
    }

    fn reply_mut(&mut self) -> &mut ModelReply {
        if let Self::Text(text) = self {
            *self = Self::Reply(ModelReply::text_only(std::mem::take(text)));
        }
        match self {
            Self::Reply(reply) => reply,
            other => panic!("{other:?} is no reply"),
        }
    }
}

impl From<&str> for ScriptedReply {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for ScriptedReply {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<LlmError> for ScriptedReply {
    fn from(error: LlmError) -> Self {
        Self::Error(error)
    }
}

/// A model that writes prepared replies in order and checks every request.
///
/// Each request must begin and end with the user, or end with a reply that was paused, roles must alternate, no message or block may be
/// empty, every tool call must be answered right after its message, once and in order, and have an
/// id of its own; tools must be sorted and have names that every provider takes, and calls need
/// tools. None of the forbidden texts may appear, and the whole must be of sensible size. A request
/// that breaks one of these panics.
#[derive(Debug)]
pub struct ScriptedProvider {
    name: String,
    forbidden: Vec<String>,
    request_bytes_max: usize,
    format_ability: Option<FormatAbility>,
    holds_tools: bool,
    replies: Mutex<VecDeque<ScriptedReply>>,
    requests: Mutex<Vec<ModelRequest>>,
    was_paused: AtomicBool,
}

impl ScriptedProvider {
    /// A model named `scripted:text` with these replies.
    pub fn new<R: Into<ScriptedReply>>(replies: impl IntoIterator<Item = R>) -> Self {
        Self {
            name: "scripted:text".to_owned(),
            forbidden: Vec::new(),
            request_bytes_max: REQUEST_BYTES_MAX,
            format_ability: None,
            holds_tools: false,
            replies: Mutex::new(replies.into_iter().map(Into::into).collect()),
            requests: Mutex::default(),
            was_paused: AtomicBool::new(false),
        }
    }

    /// The same model under another name.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
    }

    /// The same model, said to hold its replies to a format. The replies are given as they are
    /// prepared all the same.
    #[must_use]
    pub fn held_to_formats(mut self, ability: FormatAbility) -> Self {
        self.format_ability = Some(ability);
        self
    }

    /// The same model, said to hold the arguments of strict tools to their schemas.
    #[must_use]
    pub fn held_to_tools(mut self) -> Self {
        self.holds_tools = true;
        self
    }

    /// Texts that no request may hold, for example hidden values and hidden parameter names.
    #[must_use]
    pub fn forbids<'a>(mut self, texts: impl IntoIterator<Item = &'a str>) -> Self {
        self.forbidden.extend(texts.into_iter().map(str::to_owned));
        self
    }

    /// The largest request in bytes of text.
    #[must_use]
    pub fn request_bytes_max(mut self, bytes: usize) -> Self {
        self.request_bytes_max = bytes;
        self
    }

    /// The requests so far, in order.
    pub fn requests(&self) -> Vec<ModelRequest> {
        lock(&self.requests).clone()
    }

    /// How many replies have not been asked for.
    pub fn n_left(&self) -> usize {
        lock(&self.replies).len()
    }

    fn check(&self, request: &ModelRequest) {
        let wanted = request.response_format.as_ref();
        assert!(
            wanted.is_none() || self.format_ability.is_some(),
            "a format for a model that holds to none: {wanted:?}"
        );
        check_turns(&request.messages, self.was_paused.load(Ordering::Relaxed));
        check_tools(request);
        let is_strict = request.tools.iter().any(|tool| tool.strict);
        assert!(
            !is_strict || self.holds_tools,
            "a strict tool for a model that holds to none"
        );
        check_texts(request, &self.forbidden, self.request_bytes_max);
    }
}

#[async_trait]
impl Provider for ScriptedProvider {
    fn name(&self) -> &str {
        &self.name
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            text: true,
            decide: false,
        }
    }

    fn format_ability(&self) -> Option<FormatAbility> {
        self.format_ability
    }

    fn holds_tools(&self) -> bool {
        self.holds_tools
    }

    async fn complete(
        &self,
        request: &ModelRequest,
        sink: &dyn EventSink,
    ) -> Result<ModelReply, LlmError> {
        self.check(request);
        lock(&self.requests).push(request.clone());
        let mut reply = lock(&self.replies).pop_front();
        while let Some(ScriptedReply::Late(time, then)) = reply {
            tokio::time::sleep(time).await;
            reply = Some(*then);
        }
        match reply {
            Some(ScriptedReply::Text(text)) => {
                sink.event(ModelEvent::Text(text.clone()));
                Ok(ModelReply::text_only(text))
            }
            Some(ScriptedReply::Reply(reply)) => {
                let is_paused = reply.stop == StopReason::Paused;
                self.was_paused.store(is_paused, Ordering::Relaxed);
                reply.tell(sink);
                Ok(reply)
            }
            Some(ScriptedReply::Error(error)) => Err(error),
            Some(ScriptedReply::Broken(pieces, error)) => {
                for piece in pieces {
                    sink.event(piece);
                }
                Err(error)
            }
            Some(ScriptedReply::Silence | ScriptedReply::Late(..)) => pending().await,
            None => Err(ran_out(&self.name)),
        }
    }
}

/// A model that weighs options as prepared and does not write.
#[derive(Debug)]
pub struct ScriptedDecider {
    answers: Mutex<VecDeque<Result<DecisionReply, LlmError>>>,
    states: Mutex<Vec<DecisionState>>,
    limits: DecisionLimits,
    writer: Option<ScriptedProvider>,
}

impl ScriptedDecider {
    /// A model named `scripted:decider` with these distributions.
    pub fn new<'a, D>(distributions: impl IntoIterator<Item = D>) -> Self
    where
        D: IntoIterator<Item = (&'a str, f64)>,
    {
        let weights = |distribution: D| {
            let weight = |(option, probability): (&str, f64)| Weight {
                option: option.to_owned(),
                probability,
            };
            let weights = distribution.into_iter().map(weight).collect();
            Ok(DecisionReply::of(weights))
        };
        Self::answering(distributions.into_iter().map(weights).collect())
    }

    /// A model with these answers.
    pub fn answering(answers: Vec<Result<DecisionReply, LlmError>>) -> Self {
        Self {
            answers: Mutex::new(answers.into()),
            states: Mutex::default(),
            limits: DecisionLimits::default(),
            writer: None,
        }
    }

    /// The same model, asked for such decisions only.
    #[must_use]
    pub fn limited(mut self, limits: DecisionLimits) -> Self {
        self.limits = limits;
        self
    }

    /// The same model, which also writes as this one does.
    #[must_use]
    pub fn writing(mut self, writer: ScriptedProvider) -> Self {
        self.writer = Some(writer);
        self
    }

    /// The requests for text so far, in order.
    pub fn requests(&self) -> Vec<ModelRequest> {
        let writer = self.writer.as_ref();
        writer.map(ScriptedProvider::requests).unwrap_or_default()
    }

    /// A model that fails once.
    pub fn failing(error: LlmError) -> Self {
        Self::answering(vec![Err(error)])
    }

    /// The decisions so far, in order.
    pub fn states(&self) -> Vec<DecisionState> {
        lock(&self.states).clone()
    }
}

#[async_trait]
impl Provider for ScriptedDecider {
    fn name(&self) -> &'static str {
        "scripted:decider"
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            text: self.writer.is_some(),
            decide: true,
        }
    }

    async fn complete(
        &self,
        request: &ModelRequest,
        sink: &dyn EventSink,
    ) -> Result<ModelReply, LlmError> {
        let writer = self.writer.as_ref();
        let writer = writer.expect("a decider that does not write is never asked for text");
        writer.complete(request, sink).await
    }

    fn format_ability(&self) -> Option<FormatAbility> {
        self.writer.as_ref()?.format_ability()
    }

    fn decision_limits(&self) -> DecisionLimits {
        self.limits
    }

    async fn decide(&self, state: &DecisionState) -> Result<DecisionReply, LlmError> {
        lock(&self.states).push(state.clone());
        let answer = lock(&self.answers).pop_front();
        answer.unwrap_or_else(|| Err(ran_out(self.name())))
    }
}

fn ran_out(model: &str) -> LlmError {
    let message = format!("`{model}` has no reply left");
    LlmError::Failed(LlmFailure::new(LlmReason::Provider, false, message))
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
