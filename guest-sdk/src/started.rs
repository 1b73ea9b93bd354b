//! Turns that go on while their function does: what they tell, and the closures that they call.

use std::cell::RefCell;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::decision::Fields;
use crate::decision::local::Closures;
use crate::ending::Ending;
use crate::host::{poll, runtime as raw};
use crate::{Answer, Failure, Json, Runtime, Usage, Value, failure, value};

/// Something that happened in a turn. Later versions may add kinds.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TurnEvent {
    /// More of the text of the reply.
    Text(String),
    /// More of the model's own thinking.
    Thinking(String),
    /// The model asks for a call.
    #[non_exhaustive]
    ToolUse {
        /// The id of the call.
        id: String,
        /// The name of the tool.
        name: String,
        /// The arguments as the model wrote them, not always JSON.
        arguments: String,
    },
    /// A call was answered.
    #[non_exhaustive]
    ToolResult {
        /// The id of the call.
        id: String,
        /// The name of the tool.
        name: String,
        /// The answer as the model reads it, cut at 4,000 bytes.
        text: String,
        /// Whether the call failed.
        is_error: bool,
    },
    /// A model request failed and is made again after a sleep. Pieces of its reply that were not told
    /// are gone; [`RetryInfo::restarts`] says what becomes of the others.
    Retry(RetryInfo),
    /// A model request ended, with the tokens that it used.
    Usage(Usage),
    /// So many events were not kept, because nobody took those before them.
    Missed(u64),
    /// A kind that this version does not know.
    Other(String),
}

/// A model request that failed and is made again. Later versions may add fields.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct RetryInfo {
    /// The number of the try that failed, from 1.
    pub attempt: u32,
    /// The most tries.
    pub attempts_max: u32,
    /// How long the sleep is.
    #[serde(rename = "sleep_s", deserialize_with = "seconds")]
    pub sleep: Duration,
    /// Why the try failed, as in [`FailureKind::Llm`](crate::FailureKind::Llm).
    pub reason: String,
    /// Its HTTP status, where there was one.
    pub http_status: Option<u16>,
    /// How long the provider asks to wait.
    #[serde(rename = "retry_after_s", default, deserialize_with = "some_seconds")]
    pub retry_after: Option<Duration>,
    /// The time since the turn began.
    #[serde(rename = "elapsed_s", deserialize_with = "seconds")]
    pub elapsed: Duration,
    /// The kind of the error.
    pub error_name: String,
    /// The error.
    pub error: String,
    /// Whether a picture was shown.
    pub had_image: bool,
    /// The name of the model.
    pub model: String,
    /// Whether the reply begins anew after pieces of it were told, as
    /// [`Request::restarts`](crate::Request::restarts) allows: all text and thinking since the last
    /// usage does not count any more.
    #[serde(default)]
    pub restarts: bool,
}

fn seconds<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    f64::deserialize(from).map(duration)
}

fn some_seconds<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    Option::<f64>::deserialize(from).map(|seconds| seconds.map(duration))
}

fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

/// What the function does while a turn goes on.
#[derive(Default)]
pub(crate) struct Watch<'a> {
    tools: Closures<'a>,
    on_stream: Option<RefCell<OnEvent<'a, TurnEvent>>>,
    on_retry: Option<RefCell<OnEvent<'a, RetryInfo>>>,
}

type OnEvent<'a, T> = Box<dyn FnMut(&T) + 'a>;

impl<'a> Watch<'a> {
    pub(crate) fn add_tool<F: Fields, R: Serialize>(
        &mut self,
        name: &str,
        mut run: impl FnMut(F) -> Result<R, Failure> + 'a,
    ) {
        self.tools.add(name, move |arguments| {
            let Value::Object(fields) = arguments else {
                return Err(Failure::invalid_argument("arguments", "not an object"));
            };
            Json::from_value(&run(F::read_fields(fields, "arguments")?)?)
        });
    }

    pub(crate) fn on_stream(&mut self, told: impl FnMut(&TurnEvent) + 'a) {
        self.on_stream = Some(RefCell::new(Box::new(told)));
    }

    pub(crate) fn on_retry(&mut self, told: impl FnMut(&RetryInfo) + 'a) {
        self.on_retry = Some(RefCell::new(Box::new(told)));
    }

    /// Whether there is nothing to do.
    pub(crate) fn is_empty(&self) -> bool {
        self.tools.is_empty() && self.on_stream.is_none() && self.on_retry.is_none()
    }

    /// Starts a turn, waits for its end and gives what it gave.
    pub(crate) fn make<End: Ending>(
        &self,
        runtime: &Runtime,
        request: &raw::Request,
        end: &End,
    ) -> Result<End::Output, Failure> {
        let turn = end.start(runtime.raw(), request)?;
        let ready = turn.subscribe();
        loop {
            match self.take(&turn) {
                Taken::Over => return end.outcome(&turn),
                Taken::Event(_) => {}
                Taken::Nothing => ready.block(),
            }
        }
    }

    /// Takes what the turn tells, runs what it calls for, and gives the first event that is told.
    fn take(&self, turn: &raw::Turn) -> Taken {
        while let Some(raw::TurnEvent {
            kind,
            text,
            details,
        }) = turn.next()
        {
            match kind.as_str() {
                "done" => return Taken::Over,
                "local-call" => self.run(turn, &details),
                _ => {
                    let event = read_event(&kind, text, &details);
                    self.tell(&event);
                    return Taken::Event(event);
                }
            }
        }
        Taken::Nothing
    }

    fn tell(&self, event: &TurnEvent) {
        // A callback that makes the same turn again is not told of that one.
        if let TurnEvent::Retry(retry) = event
            && let Some(Ok(mut told)) = self.on_retry.as_ref().map(RefCell::try_borrow_mut)
        {
            told(retry);
        }
        if let Some(Ok(mut told)) = self.on_stream.as_ref().map(RefCell::try_borrow_mut) {
            told(event);
        }
    }

    fn run(&self, turn: &raw::Turn, details: &str) {
        let Ok(call) = serde_json::from_str::<LocalCall>(details) else {
            return;
        };
        let unknown = || {
            let message = format!("there is no local tool `{}`", call.name);
            Err(Failure::invalid_argument("name", message))
        };
        let arguments = || Ok(call.arguments.clone());
        let ran = self.tools.run(&call.name, arguments);
        let answer = ran.unwrap_or_else(unknown).map(value::to_host);
        let answered = turn.answer(&call.id, answer.map_err(failure::to_host).as_deref());
        if let Err(refused) = answered {
            // The host does not take what the closure gave: the model is told, and that is short.
            let _ = turn.answer(&call.id, Err(&refused));
        }
    }
}

impl fmt::Debug for Watch<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Watch")
            .field("tools", &self.tools)
            .field("on_stream", &self.on_stream.is_some())
            .field("on_retry", &self.on_retry.is_some())
            .finish()
    }
}

#[derive(Deserialize)]
struct LocalCall {
    id: String,
    name: String,
    arguments: Value,
}

/// What there was to take.
enum Taken {
    Event(TurnEvent),
    Nothing,
    Over,
}

fn read_event(kind: &str, text: String, details: &str) -> TurnEvent {
    let known = || -> Option<TurnEvent> {
        let details: Value = serde_json::from_str(details).ok()?;
        let word = |name: &str| details[name].as_str().map(str::to_owned);
        let count = |name: &str| details[name].as_u64();
        Some(match kind {
            "text" => TurnEvent::Text(text),
            "thinking" => TurnEvent::Thinking(text),
            "tool-use" => TurnEvent::ToolUse {
                id: word("id")?,
                name: word("name")?,
                arguments: word("arguments")?,
            },
            "tool-result" => TurnEvent::ToolResult {
                id: word("id")?,
                name: word("name")?,
                text,
                is_error: details["is_error"].as_bool()?,
            },
            "retry" => TurnEvent::Retry(serde_json::from_value(details).ok()?),
            "usage" => TurnEvent::Usage(
                Usage::new(count("input_tokens")?, count("output_tokens")?)
                    .cached(count("cache_read")?, count("cache_create")?),
            ),
            "missed" => TurnEvent::Missed(count("count")?),
            _ => return None,
        })
    };
    known().unwrap_or_else(|| TurnEvent::Other(kind.to_owned()))
}

/// A turn that goes on while its function does, made by [`Runtime::start`].
///
/// Its closures run when what it tells is taken: in [`StartedTurn::poll`], [`StartedTurn::wait`],
/// [`StartedTurn::finish`], [`next_of`] and [`join_all`]. Dropping it cancels the turn.
#[derive(Debug)]
pub struct StartedTurn<'a, End = Answer> {
    raw: raw::Turn,
    watch: Watch<'a>,
    end: End,
    ready: poll::Pollable,
    is_over: bool,
}

impl<'a, End: Ending> StartedTurn<'a, End> {
    pub(crate) fn new(
        runtime: &Runtime,
        request: &raw::Request,
        watch: Watch<'a>,
        end: End,
    ) -> Result<Self, Failure> {
        let raw = end.start(runtime.raw(), request)?;
        let ready = raw.subscribe();
        Ok(StartedTurn {
            raw,
            watch,
            end,
            ready,
            is_over: false,
        })
    }

    /// Takes the next event, if there is one now. Never waits.
    pub fn poll(&mut self) -> Option<TurnEvent> {
        if self.is_over {
            return None;
        }
        match self.watch.take(&self.raw) {
            Taken::Event(event) => Some(event),
            Taken::Nothing => None,
            Taken::Over => {
                self.is_over = true;
                None
            }
        }
    }

    /// Waits for the next event; `None` when the turn is over.
    pub fn wait(&mut self) -> Option<TurnEvent> {
        loop {
            if let Some(event) = self.poll() {
                return Some(event);
            }
            if self.is_over {
                return None;
            }
            self.ready.block();
        }
    }

    /// Whether the turn is over and its last event was taken.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Waits for the end and gives what the turn gave: the reply; of a turn with choices the result of
    /// the picked option, which runs now.
    ///
    /// # Errors
    ///
    /// As for [`Runtime::exec`].
    pub fn finish(mut self) -> Result<End::Output, Failure> {
        while self.wait().is_some() {}
        self.end.outcome(&self.raw)
    }
}

/// Waits for the next event of any of these turns, and gives it with the place of its turn; `None`
/// when all are over.
pub fn next_of<End: Ending>(turns: &mut [StartedTurn<'_, End>]) -> Option<(usize, TurnEvent)> {
    loop {
        for (place, turn) in turns.iter_mut().enumerate() {
            if let Some(event) = turn.poll() {
                return Some((place, event));
            }
        }
        let open = turns.iter().filter(|turn| !turn.is_over);
        let waits: Vec<_> = open.map(|turn| &turn.ready).collect();
        if waits.is_empty() {
            return None;
        }
        poll::poll(&waits);
    }
}

/// Waits for the end of all these turns, which go on at once, and gives in order what they gave.
pub fn join_all<'a, End: Ending>(
    turns: impl IntoIterator<Item = StartedTurn<'a, End>>,
) -> Vec<Result<End::Output, Failure>> {
    let mut turns: Vec<_> = turns.into_iter().collect();
    while next_of(&mut turns).is_some() {}
    let outcome = |turn: &StartedTurn<'a, End>| turn.end.outcome(&turn.raw);
    turns.iter().map(outcome).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn events_are_read_and_what_is_not_known_is_passed_over() {
        let read =
            |kind: &str, details: Value| read_event(kind, "a".to_owned(), &details.to_string());
        assert_eq!(
            read("text", json!({"more": 1})),
            TurnEvent::Text("a".into())
        );
        let usage =
            json!({"input_tokens": 3, "output_tokens": 4, "cache_read": 1, "cache_create": 2});
        assert_eq!(
            read("usage", usage),
            TurnEvent::Usage(Usage::new(3, 4).cached(1, 2))
        );
        assert_eq!(read("missed", json!({"count": 7})), TurnEvent::Missed(7));
        for (kind, details) in [
            ("later", json!({})),
            ("usage", json!({})),
            ("retry", json!(1)),
        ] {
            assert_eq!(read(kind, details), TurnEvent::Other(kind.to_owned()));
        }
        let retry = read(
            "retry",
            json!({
                "attempt": 1, "attempts_max": 6, "sleep_s": 1.5, "reason": "rate_limit",
                "http_status": 429, "retry_after_s": null, "elapsed_s": 0.25,
                "error_name": "RateLimitError", "error": "429", "had_image": false, "model": "a:b",
            }),
        );
        let TurnEvent::Retry(retry) = retry else {
            panic!("{retry:?}");
        };
        assert_eq!(
            (retry.sleep, retry.retry_after),
            (Duration::from_millis(1_500), None)
        );
        assert_eq!(
            (retry.http_status, retry.reason.as_str()),
            (Some(429), "rate_limit")
        );
    }

    #[test]
    fn callbacks_are_told_and_retries_have_one_of_their_own() {
        let (mut events, mut retries) = (Vec::new(), 0);
        let mut watch = Watch::default();
        assert!(watch.is_empty());
        watch.on_stream(|event| events.push(event.clone()));
        watch.on_retry(|_| retries += 1);
        assert!(!watch.is_empty());
        watch.tell(&TurnEvent::Text("a".into()));
        drop(watch);
        assert_eq!((events, retries), (vec![TurnEvent::Text("a".into())], 0));
    }
}
