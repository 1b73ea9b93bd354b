//! What a turn tells its function, kept until the function takes it, and the calls that wait for it.
//!
//! The turn never waits for the function: pieces of text are joined, and what finds no room is
//! counted in place of being kept. Calls of local tools and the end of the turn always find room;
//! how many of them there can be is bounded elsewhere.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use openprogram_core::Json;
use openprogram_core::content::ToolCall;
use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::guest::{ExecReply, LocalCall, PickedOption, TurnEvent, TurnWatcher};
use openprogram_core::llm::RetryInfo;
use tokio::sync::{Notify, oneshot};
use wasmtime_wasi::p2::Pollable;

/// What one turn may keep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// Events.
    pub(crate) events: u64,
    /// Bytes of their texts.
    pub(crate) bytes: u64,
}

/// What a function takes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TurnNews {
    Event(TurnEvent),
    /// A retry after pieces of the reply were taken, which do not count any more.
    Restart(Box<RetryInfo>),
    Call(LocalCall),
    Missed(u64),
    Done,
}

/// What a turn gave.
#[derive(Clone, Debug)]
pub(crate) enum Gave {
    Reply(ExecReply),
    Pick(PickedOption),
}

/// What a turn tells and its function has not taken, the calls that wait, and the end.
pub(crate) struct Inbox {
    room: Room,
    /// Whether its function agreed to forget pieces that it has taken.
    takes_restarts: bool,
    state: Mutex<State>,
    /// Wakes who waits for news.
    news: Notify,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<News>,
    bytes: u64,
    /// The number of the reply that arrives.
    reply: u64,
    /// Whether a piece of it was taken.
    has_shown: bool,
    calls: Vec<WaitingCall>,
    outcome: Option<Result<Gave, Failure>>,
    /// Nothing comes any more, and everything was taken.
    is_over: bool,
}

/// News, of which reply it is, and how much it counts.
struct News {
    news: TurnNews,
    reply: u64,
    bytes: u64,
}

struct WaitingCall {
    id: String,
    answer: oneshot::Sender<Result<Json, Failure>>,
}

type Answer = Result<Json, Failure>;

impl Inbox {
    pub(crate) fn new(room: Room, takes_restarts: bool) -> Arc<Self> {
        Arc::new(Self {
            room,
            takes_restarts,
            state: Mutex::default(),
            news: Notify::new(),
        })
    }

    /// Takes the next news, when there is some.
    pub(crate) fn take(&self) -> Option<TurnNews> {
        let mut state = self.state();
        let News { news, reply, bytes } = state.waiting.pop_front()?;
        state.bytes -= bytes;
        if is_piece(&news) && reply == state.reply {
            state.has_shown = true;
        }
        if news == TurnNews::Done {
            state.is_over = true;
        }
        Some(news)
    }

    /// Answers a call.
    ///
    /// # Errors
    /// `not-found`, when no call of this id waits.
    pub(crate) fn answer(&self, id: &str, answer: Answer) -> Result<(), Failure> {
        let mut state = self.state();
        let Some(at) = state.calls.iter().position(|call| call.id == id) else {
            let shown: String = id.chars().take(64).collect();
            let message = format!(
                "no call `{shown}` of this turn waits for an answer; each is answered once, by the id \
                 that `local-call` tells"
            );
            return Err(Failure::new(FailureCode::NotFound, message).with("name", shown));
        };
        let call = state.calls.swap_remove(at);
        // Answered before it was taken, it needs not be told any more.
        state.forget(id);
        drop(state);
        // The turn may have ended meanwhile, and then nobody is told.
        let _ = call.answer.send(answer);
        Ok(())
    }

    /// The end of the turn, which is told last.
    pub(crate) fn end(&self, outcome: Result<Gave, Failure>) {
        let mut state = self.state();
        state.outcome = Some(outcome);
        state.keep(TurnNews::Done, 0);
        drop(state);
        self.news.notify_waiters();
    }

    /// What the turn gave, once it is over.
    pub(crate) fn outcome(&self) -> Option<Result<Gave, Failure>> {
        self.state().outcome.clone()
    }

    /// Nobody takes anything any more.
    pub(crate) fn abandon(&self) {
        let mut state = self.state();
        state.waiting.clear();
        state.bytes = 0;
        state.calls.clear();
        state.is_over = true;
        drop(state);
        self.news.notify_waiters();
    }

    /// Waits until there is something to take, or nothing comes any more.
    async fn ready(&self) {
        loop {
            let mut news = pin!(self.news.notified());
            // Registered before the look, so that nothing is told in between.
            news.as_mut().enable();
            if self.state().is_ready() {
                return;
            }
            news.await;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Every critical section leaves the state whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn is_ready(&self) -> bool {
        self.is_over || !self.waiting.is_empty()
    }

    fn keep(&mut self, news: TurnNews, bytes: u64) {
        let reply = self.reply;
        self.bytes += bytes;
        self.waiting.push_back(News { news, reply, bytes });
    }

    /// Keeps an event, or counts it as missed.
    fn keep_within(&mut self, room: Room, event: TurnEvent) {
        let bytes = bytes_of(&event);
        let has_bytes = self.bytes.saturating_add(bytes) <= room.bytes;
        if has_bytes && self.join(&event, bytes) {
            return;
        }
        if has_bytes && (self.waiting.len() as u64) < room.events {
            return self.keep(TurnNews::Event(event), bytes);
        }
        match self.waiting.back_mut() {
            Some(News {
                news: TurnNews::Missed(count),
                ..
            }) => *count += 1,
            _ => self.keep(TurnNews::Missed(1), 0),
        }
    }

    /// Adds a piece to the piece of the same kind that waits last.
    fn join(&mut self, event: &TurnEvent, more: u64) -> bool {
        let Some(News { news, bytes, .. }) = self.waiting.back_mut() else {
            return false;
        };
        match (news, event) {
            (TurnNews::Event(TurnEvent::Text(last)), TurnEvent::Text(text))
            | (TurnNews::Event(TurnEvent::Thinking(last)), TurnEvent::Thinking(text)) => {
                last.push_str(text);
            }
            _ => return false,
        }
        *bytes += more;
        self.bytes += more;
        true
    }

    /// Takes back the pieces of the reply that arrives.
    fn take_back(&mut self) {
        let reply = self.reply;
        let mut bytes = 0;
        self.waiting.retain(|waiting| {
            let is_back = waiting.reply == reply && is_piece(&waiting.news);
            if is_back {
                bytes += waiting.bytes;
            }
            !is_back
        });
        self.bytes -= bytes;
        self.has_shown = false;
    }

    /// A call that was not taken yet is not told any more.
    fn forget(&mut self, id: &str) {
        let is_of = |news: &TurnNews| matches!(news, TurnNews::Call(call) if call.id == id);
        self.waiting.retain(|waiting| !is_of(&waiting.news));
    }
}

#[async_trait]
impl TurnWatcher for Inbox {
    fn event(&self, event: TurnEvent) {
        let mut state = self.state();
        if state.is_over {
            return;
        }
        let is_end = matches!(event, TurnEvent::Usage(_));
        match event {
            TurnEvent::Retry(retry) if state.has_shown => {
                state.take_back();
                // What was taken is to be forgotten, so this is told whatever there is room for.
                state.keep(TurnNews::Restart(retry), 0);
            }
            event => {
                if matches!(event, TurnEvent::Retry(_)) {
                    state.take_back();
                }
                state.keep_within(self.room, event);
            }
        }
        if is_end {
            state.reply += 1;
            state.has_shown = false;
        }
        drop(state);
        self.news.notify_waiters();
    }

    fn has_shown(&self) -> bool {
        !self.takes_restarts && self.state().has_shown
    }

    async fn call(&self, call: LocalCall) -> Result<Json, Failure> {
        let (answer, answered) = oneshot::channel();
        let _waits = Waits {
            inbox: self,
            id: call.id.clone(),
        };
        {
            let mut state = self.state();
            let id = call.id.clone();
            state.calls.push(WaitingCall { id, answer });
            state.keep(TurnNews::Call(call), 0);
        }
        self.news.notify_waiters();
        let gone = || Failure::new(FailureCode::Cancelled, "the turn was dropped");
        answered.await.unwrap_or_else(|_| Err(gone()))
    }
}

/// A call that waits; dropped, it waits no more.
struct Waits<'a> {
    inbox: &'a Inbox,
    id: String,
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        let mut state = self.inbox.state();
        state.calls.retain(|call| call.id != self.id);
        state.forget(&self.id);
    }
}

/// What a pollable waits for.
pub(crate) struct Ready(pub(crate) Arc<Inbox>);

#[async_trait]
impl Pollable for Ready {
    async fn ready(&mut self) {
        self.0.ready().await;
    }
}

fn is_piece(news: &TurnNews) -> bool {
    matches!(
        news,
        TurnNews::Event(TurnEvent::Text(_) | TurnEvent::Thinking(_))
    )
}

fn bytes_of(event: &TurnEvent) -> u64 {
    let bytes = match event {
        TurnEvent::Text(text) | TurnEvent::Thinking(text) => text.len(),
        TurnEvent::ToolUse(ToolCall {
            id,
            name,
            arguments,
        }) => id.len() + name.len() + arguments.len(),
        TurnEvent::ToolResult { tool, result } => tool.len() + result.text.len(),
        TurnEvent::Retry(retry) => retry.error.len(),
        _ => 0,
    };
    bytes as u64
}

#[cfg(test)]
mod tests {
    use openprogram_core::session::Usage;

    use super::*;

    const ROOM: Room = Room {
        events: 3,
        bytes: 10,
    };

    fn text(text: &str) -> TurnEvent {
        TurnEvent::Text(text.to_owned())
    }

    fn taken(inbox: &Inbox) -> Vec<TurnNews> {
        std::iter::from_fn(|| inbox.take()).collect()
    }

    fn call(id: &str) -> LocalCall {
        LocalCall {
            id: id.to_owned(),
            name: "add".to_owned(),
            arguments: openprogram_core::JsonObject::new(),
        }
    }

    #[test]
    fn pieces_are_joined_and_what_finds_no_room_is_counted() {
        let inbox = Inbox::new(ROOM, false);
        for piece in ["ab", "cd", "ef"] {
            inbox.event(text(piece));
        }
        inbox.event(TurnEvent::Thinking("gh".to_owned()));
        inbox.event(text("ijklm"));
        inbox.event(text("n"));
        inbox.event(TurnEvent::Usage(Usage::default()));
        inbox.end(Err(Failure::new(FailureCode::Llm, "no")));
        let expected = [
            TurnNews::Event(text("abcdef")),
            TurnNews::Event(TurnEvent::Thinking("gh".to_owned())),
            // The second piece would have found room in bytes.
            TurnNews::Missed(3),
            TurnNews::Done,
        ];
        assert_eq!(taken(&inbox), expected);
        assert_eq!(inbox.state().bytes, 0);
    }

    #[test]
    fn a_retry_takes_back_what_was_not_taken_of_the_reply_and_nothing_else() {
        let inbox = Inbox::new(ROOM, false);
        inbox.event(text("one"));
        inbox.event(TurnEvent::Usage(Usage::default()));
        inbox.event(text("two"));
        assert_eq!(inbox.take(), Some(TurnNews::Event(text("one"))));
        // It was a piece of the reply before.
        assert!(!inbox.has_shown());
        let mut state = inbox.state();
        state.take_back();
        drop(state);
        inbox.event(text("three"));
        let usage = TurnNews::Event(TurnEvent::Usage(Usage::default()));
        assert_eq!(taken(&inbox), [usage, TurnNews::Event(text("three"))]);
        assert!(inbox.has_shown());
    }

    fn retry() -> TurnEvent {
        TurnEvent::Retry(Box::new(RetryInfo {
            attempt: 1,
            attempts_max: 6,
            sleep: std::time::Duration::ZERO,
            reason: openprogram_core::llm::LlmReason::Transport,
            http_status: None,
            retry_after: None,
            elapsed: std::time::Duration::ZERO,
            error_name: "Cut".to_owned(),
            error: "cut".to_owned(),
            asked: openprogram_core::llm::Asked::default(),
        }))
    }

    #[test]
    fn who_agreed_to_restarts_is_told_to_forget_what_was_taken_whatever_there_is_room_for() {
        let inbox = Inbox::new(ROOM, true);
        inbox.event(text("one"));
        inbox.event(TurnEvent::Usage(Usage::default()));
        taken(&inbox);
        // Nothing of this reply was taken.
        inbox.event(text("a"));
        inbox.event(retry());
        let [TurnNews::Event(TurnEvent::Retry(_))] = &taken(&inbox)[..] else {
            panic!("a retry alone");
        };
        inbox.event(text("b"));
        inbox.take();
        assert!(!inbox.has_shown());
        for _ in 0..4 {
            inbox.event(TurnEvent::Thinking("c".to_owned()));
            inbox.event(text("d"));
        }
        inbox.event(retry());
        inbox.event(text("whole"));
        let told = taken(&inbox);
        assert!(
            matches!(
                &told[..],
                [
                    TurnNews::Missed(5),
                    TurnNews::Restart(_),
                    TurnNews::Event(_)
                ]
            ),
            "{told:?}"
        );
    }

    #[tokio::test]
    async fn a_call_waits_for_one_answer_and_is_forgotten_when_its_turn_gives_up() {
        let inbox = Inbox::new(ROOM, false);
        let asked = inbox.call(call("c1"));
        let answering = async {
            inbox.ready().await;
            assert_eq!(inbox.take(), Some(TurnNews::Call(call("c1"))));
            let unknown = inbox.answer("c2", Ok(1.into())).unwrap_err();
            assert_eq!(unknown.code, FailureCode::NotFound);
            inbox.answer("c1", Ok(3.into())).unwrap();
            inbox.answer("c1", Ok(4.into())).unwrap_err()
        };
        let (answer, twice) = tokio::join!(asked, answering);
        assert_eq!((answer, twice.code), (Ok(3.into()), FailureCode::NotFound));

        let given_up = tokio::time::timeout(std::time::Duration::ZERO, inbox.call(call("c3")));
        assert!(given_up.await.is_err());
        assert_eq!(inbox.take(), None);
        assert!(inbox.answer("c3", Ok(1.into())).is_err());
    }

    #[tokio::test]
    async fn a_turn_that_nobody_holds_is_ready_for_ever_and_fails_its_calls() {
        let inbox = Inbox::new(ROOM, false);
        let (answer, ()) = tokio::join!(inbox.call(call("c1")), async { inbox.abandon() });
        assert_eq!(answer.unwrap_err().code, FailureCode::Cancelled);
        inbox.event(text("late"));
        inbox.ready().await;
        assert_eq!(inbox.take(), None);
    }
}
