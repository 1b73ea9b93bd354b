//! Typed progress events of one run, for a terminal or a page that watches it.
//!
//! Events travel through a bounded channel. A run never waits for its watcher: what does not fit is
//! dropped and counted, and the watcher is told how much it missed. What a model writes and what
//! its calls give is told too, results cut; prompts and arguments of functions stay in the graph.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use openprogram_core::content::{MediaMismatch, ToolCall, ToolResult};
use openprogram_core::grant::Access;
use openprogram_core::id::NodeId;
use openprogram_core::llm::{RetryInfo, StopReason};
use openprogram_core::session::{NodeStatus, Usage};
use openprogram_core::text::cut;
use tokio::sync::mpsc;

/// The most bytes of the result of a call that an event holds; the whole is in the graph.
pub const EVENT_RESULT_BYTES_MAX: usize = 4_000;

/// One step of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A function begins.
    CallStarted {
        /// The node of the call.
        node: NodeId,
        /// The node of the calling function; `None` at the top.
        caller: Option<NodeId>,
        /// The full name of the function.
        function: String,
        /// How many calls are above this one.
        depth: u32,
    },
    /// A function has ended.
    CallEnded {
        /// The node of the call.
        node: NodeId,
        /// The full name of the function.
        function: String,
        /// How it ended.
        status: NodeStatus,
    },
    /// A decision is put to a model.
    DecisionAsked {
        /// The node of the deciding function; `None` for a decision made at the top.
        caller: Option<NodeId>,
        /// The names of the options in menu order.
        options: Vec<String>,
    },
    /// A decision has a valid pick.
    DecisionPicked {
        /// The node of the turn that made it.
        node: NodeId,
        /// The name of the option.
        option: String,
        /// How it came about: `single`, `decider`, `endpoint`, `constrained` or `text`.
        method: &'static str,
    },
    /// A reply held no valid pick and the model is asked again.
    DecisionRetried {
        /// The node of the model turn that failed.
        node: NodeId,
        /// The kind of the error, for example `unknown_call`.
        kind: &'static str,
        /// How many more times the model may be asked, this one included.
        retries_left: u32,
    },
    /// A piece of media of a turn is something else than it was said to be, and is sent as what it is.
    MediaMismatch {
        /// The node of the function whose turn it is; `None` for a turn at the top.
        caller: Option<NodeId>,
        /// What it was said to be and what it is.
        mismatch: MediaMismatch,
    },
    /// A model request begins.
    ModelRequestStarted {
        /// The node of the request.
        node: NodeId,
        /// The name of the model.
        model: String,
    },
    /// A model writes more of its reply.
    Text {
        /// The node of the request.
        node: NodeId,
        /// The next piece of the text.
        text: String,
    },
    /// A model thinks more, where its provider shows it.
    Thinking {
        /// The node of the request.
        node: NodeId,
        /// The next piece of the thinking.
        text: String,
    },
    /// A try of a model request has failed, and another one follows after a sleep.
    ModelRetried {
        /// The node of the request.
        node: NodeId,
        /// What failed and how long the sleep is.
        retry: Box<RetryInfo>,
    },
    /// The reply of a model ended before its end and begins anew: the pieces of this request that
    /// were told so far do not count any more. Told only to a watcher that agreed to it.
    ReplyRestarted {
        /// The node of the request.
        node: NodeId,
    },
    /// A model has asked for a call. Told when its reply is complete, before the call runs.
    ToolUse {
        /// The node of the request.
        node: NodeId,
        /// The call.
        call: ToolCall,
    },
    /// A call of a model is answered, by the function or by a refusal.
    ToolResult {
        /// The node of the request that asked for it.
        node: NodeId,
        /// The name as the model wrote it.
        tool: String,
        /// The answer, cut at [`EVENT_RESULT_BYTES_MAX`].
        result: ToolResult,
    },
    /// A function says how far it has come. Told a few times in a second at most.
    Progress {
        /// The node of its call.
        node: Option<NodeId>,
        /// The full name of the function.
        function: String,
        /// One clean line, at most 200 characters.
        message: String,
        /// How much is done, from 0 to 100, where the function says so.
        percent: Option<u8>,
    },
    /// A turn has ended with a text or a pick, which has not run yet.
    TurnEnded {
        /// The node of the last request.
        node: NodeId,
        /// Tokens used by all its requests.
        usage: Usage,
        /// How many requests it took, re-asks included and tries not.
        n_requests: u32,
        /// Why its last reply ended: it may be cut off or held back.
        stop: StopReason,
    },
    /// A model request has ended.
    ModelRequestEnded {
        /// The node of the request.
        node: NodeId,
        /// The name of the model.
        model: String,
        /// How it ended.
        status: NodeStatus,
        /// Tokens used, as far as the provider tells.
        usage: Option<Usage>,
    },
    /// A component reached for something that it is not granted. Told once in a run for each
    /// different refusal.
    AccessRefused {
        /// The node of the call that wanted it.
        node: Option<NodeId>,
        /// The component that would need the grant.
        component: String,
        /// What it wanted and why it was refused.
        access: Box<Access>,
    },
    /// An answer that a person gave for good could not be kept, and holds this once.
    AnswerNotKept {
        /// The node of the call that it is about.
        node: Option<NodeId>,
        /// What was wanted.
        what: String,
        /// Why it could not be kept.
        problem: String,
    },
    /// The watcher was too slow; so many events before this one are lost.
    Missed {
        /// How many.
        count: u64,
    },
}

/// Where a run puts its events.
#[derive(Clone, Debug)]
pub struct EventSender {
    events: mpsc::Sender<Event>,
    missed: Arc<AtomicU64>,
    takes_texts: bool,
    takes_restarts: bool,
}

/// A place in a channel that is kept for telling that a reply begins anew.
pub(crate) enum Restart<'a> {
    /// The place.
    Told(mpsc::Permit<'a, Event>),
    /// The watcher went away: there is nobody to tell.
    Nobody,
}

/// Where a watcher takes the events of one run.
#[derive(Debug)]
pub struct EventReceiver {
    events: mpsc::Receiver<Event>,
    missed: Arc<AtomicU64>,
    held_back: Option<Event>,
}

/// Makes a channel that holds at most `capacity` events that nobody has taken yet (at least 1).
#[must_use]
pub fn event_channel(capacity: usize) -> (EventSender, EventReceiver) {
    let (sender, receiver) = mpsc::channel(capacity.max(1));
    let missed = Arc::new(AtomicU64::new(0));
    let sender = EventSender {
        events: sender,
        missed: Arc::clone(&missed),
        takes_texts: true,
        takes_restarts: false,
    };
    let receiver = EventReceiver {
        events: receiver,
        missed,
        held_back: None,
    };
    (sender, receiver)
}

impl Event {
    /// The answer to a call, cut.
    pub(crate) fn tool_result(node: NodeId, tool: &str, result: &ToolResult) -> Self {
        Self::ToolResult {
            node,
            tool: tool.to_owned(),
            result: cut_result(result),
        }
    }
}

/// The answer to a call, cut at [`EVENT_RESULT_BYTES_MAX`].
pub(crate) fn cut_result(result: &ToolResult) -> ToolResult {
    ToolResult {
        id: result.id.clone(),
        text: cut(&result.text, EVENT_RESULT_BYTES_MAX).into_owned(),
        is_error: result.is_error,
    }
}

impl EventSender {
    /// The same channel for a watcher that shows no text of models: their pieces stay out of it.
    ///
    /// A reply that fails in its middle is tried again then, because nobody has seen its beginning.
    #[must_use]
    pub fn without_texts(mut self) -> Self {
        self.takes_texts = false;
        self
    }

    /// The same channel for a watcher that takes back what it has shown of a reply when it is told
    /// [`Event::ReplyRestarted`].
    ///
    /// A reply that fails in its middle is tried again then. Without this it is not, because its
    /// beginning would be read twice; and neither when the channel is too full to tell.
    #[must_use]
    pub fn accepting_restarts(mut self) -> Self {
        self.takes_restarts = true;
        self
    }

    /// A place to tell that a reply begins anew, if the watcher agreed to that and can be told.
    pub(crate) fn restart(&self) -> Option<Restart<'_>> {
        match self.events.try_reserve() {
            Ok(place) if self.takes_restarts => Some(Restart::Told(place)),
            Err(mpsc::error::TrySendError::Closed(())) => Some(Restart::Nobody),
            _ => None,
        }
    }

    /// Puts one event into the channel, or counts it as missed when the channel is full. Says
    /// whether the event is in the channel.
    pub(crate) fn send(&self, event: Event) -> bool {
        if !self.takes_texts && matches!(event, Event::Text { .. } | Event::Thinking { .. }) {
            return false;
        }
        match self.events.try_send(event) {
            Ok(()) => true,
            Err(mpsc::error::TrySendError::Full(_)) => {
                self.missed.fetch_add(1, Ordering::Relaxed);
                false
            }
            // A closed channel is a watcher that went away; the run goes on without it.
            Err(mpsc::error::TrySendError::Closed(_)) => false,
        }
    }
}

impl Restart<'_> {
    /// Tells it.
    pub(crate) fn tell(self, node: &NodeId) {
        if let Self::Told(place) = self {
            place.send(Event::ReplyRestarted { node: node.clone() });
        }
    }
}

impl EventReceiver {
    /// Waits for the next event; `None` when the run is over and all its events were taken.
    pub async fn next(&mut self) -> Option<Event> {
        if let Some(event) = self.held_back.take() {
            return Some(event);
        }
        let event = self.events.recv().await;
        match self.missed.swap(0, Ordering::Relaxed) {
            0 => event,
            count => {
                self.held_back = event;
                Some(Event::Missed { count })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started(number: u64) -> Event {
        Event::ModelRequestStarted {
            node: NodeId::from_bits(number),
            model: "m".to_owned(),
        }
    }

    #[tokio::test]
    async fn a_slow_watcher_is_told_how_much_it_missed_and_the_run_goes_on() {
        let (sender, mut receiver) = event_channel(2);
        for number in 1..=5 {
            sender.send(started(number));
        }
        drop(sender);
        let mut seen = Vec::new();
        while let Some(event) = receiver.next().await {
            seen.push(event);
        }
        let expected = vec![Event::Missed { count: 3 }, started(1), started(2)];
        assert_eq!(seen, expected);
    }

    #[tokio::test]
    async fn a_watcher_without_texts_is_given_no_piece_and_everything_else() {
        let (sender, mut receiver) = event_channel(2);
        let sender = sender.without_texts();
        let (node, text) = (NodeId::from_bits(1), "a".to_owned());
        let thinking = Event::Thinking {
            node: node.clone(),
            text: text.clone(),
        };
        assert!(!sender.send(Event::Text { node, text }) && !sender.send(thinking));
        assert!(sender.send(started(1)));
        drop(sender);
        let seen = (receiver.next().await, receiver.next().await);
        assert_eq!(seen, (Some(started(1)), None));
    }

    #[tokio::test]
    async fn a_reply_begins_anew_only_for_a_watcher_that_agreed_and_can_be_told() {
        let node = NodeId::from_bits(1);
        let (sender, mut receiver) = event_channel(1);
        assert!(sender.restart().is_none());
        let sender = sender.accepting_restarts();
        sender.restart().unwrap().tell(&node);
        assert!(sender.restart().is_none(), "the channel is full");
        assert_eq!(receiver.next().await, Some(Event::ReplyRestarted { node }));
        drop(receiver);
        assert!(matches!(sender.restart(), Some(Restart::Nobody)));
    }

    #[tokio::test]
    async fn a_watcher_that_went_away_is_not_missed() {
        let (sender, receiver) = event_channel(1);
        drop(receiver);
        sender.send(started(1));
        sender.send(started(2));
    }
}
