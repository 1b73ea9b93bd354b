//! The reply of a model component as it gives it, piece by piece, within bounds.
//!
//! Every piece is also handed over at once, by a mailbox of one place that both sides poll.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;

use openprogram_core::content::{ContentBlock, ToolCall};
use openprogram_core::llm::{EventSink, ModelEvent, ModelReply, StopReason};
use openprogram_core::session::Usage;

use crate::limits::{LimitReached, Limits};

/// The reply as far as it was given.
#[expect(unreachable_pub, reason = "the generated bindings re-export it")]
pub struct SinkHandle {
    content: Vec<ContentBlock>,
    bytes: u64,
    calls: u64,
    usage: Option<Usage>,
    /// The parts of the input that were read from a cache and written to one.
    cached: (u64, u64),
    stop: Option<StopReason>,
    limits: Arc<Limits>,
    mailbox: Mailbox,
}

impl SinkHandle {
    /// An empty reply, whose pieces go to this mailbox too.
    pub(crate) fn new(limits: Arc<Limits>, mailbox: Mailbox) -> Self {
        Self {
            content: Vec::new(),
            bytes: 0,
            calls: 0,
            usage: None,
            cached: (0, 0),
            stop: None,
            limits,
            mailbox,
        }
    }

    /// Where the pieces go.
    pub(crate) fn mailbox(&self) -> Mailbox {
        self.mailbox.clone()
    }

    pub(crate) fn text(&mut self, text: String) -> Result<Piece, LimitReached> {
        self.pay(text.len())?;
        if text.is_empty() {
            return Ok(None);
        }
        match self.content.last_mut() {
            Some(ContentBlock::Text(last)) => last.push_str(&text),
            _ => self.content.push(ContentBlock::Text(text.clone())),
        }
        Ok(Some(ModelEvent::Text(text)))
    }

    pub(crate) fn thinking(&mut self, text: String) -> Result<Piece, LimitReached> {
        self.pay(text.len())?;
        Ok((!text.is_empty()).then_some(ModelEvent::Thinking(text)))
    }

    pub(crate) fn tool_call(&mut self, call: ToolCall) -> Result<Piece, LimitReached> {
        let ToolCall {
            id,
            name,
            arguments,
        } = &call;
        self.pay(id.len() + name.len() + arguments.len())?;
        self.calls += 1;
        let max = self.limits.reply_calls;
        if self.calls > max {
            let message = format!("the reply of the model asks for more than {max} calls");
            return Err(LimitReached::new("reply_calls", max, message));
        }
        self.content.push(ContentBlock::ToolCall(call.clone()));
        Ok(Some(ModelEvent::ToolUse(call)))
    }

    pub(crate) fn usage(&mut self, input_tokens: u64, output_tokens: u64) {
        self.usage = Some(Usage {
            input_tokens,
            output_tokens,
            ..Usage::default()
        });
    }

    pub(crate) fn cached_input(&mut self, read: u64, create: u64) {
        self.cached = (read, create);
    }

    pub(crate) fn stop(&mut self, reason: &str) {
        self.stop = Some(match reason {
            "end" => StopReason::End,
            "tool_use" => StopReason::ToolUse,
            "length" => StopReason::Length,
            "refusal" => StopReason::Refusal,
            _ => StopReason::Other,
        });
    }

    /// The whole reply.
    pub(crate) fn into_reply(self) -> ModelReply {
        let (cache_read, cache_create) = self.cached;
        let usual = match self.calls {
            0 => StopReason::End,
            _ => StopReason::ToolUse,
        };
        ModelReply {
            content: self.content,
            stop: self.stop.unwrap_or(usual),
            usage: self.usage.map(|usage| Usage {
                cache_read,
                cache_create,
                ..usage
            }),
        }
    }

    fn pay(&mut self, bytes: usize) -> Result<(), LimitReached> {
        self.bytes = self.bytes.saturating_add(bytes as u64);
        let max = self.limits.reply_bytes;
        if self.bytes <= max {
            return Ok(());
        }
        let message = format!("the reply of the model is longer than {max} bytes");
        Err(LimitReached::new("reply_bytes", max, message))
    }
}

/// What is shown of a piece; nothing for an empty one.
pub(crate) type Piece = Option<ModelEvent>;

/// One place for a piece on its way from a guest to whoever waits for the reply.
#[derive(Clone, Default)]
pub(crate) struct Mailbox(Arc<Mutex<Option<ModelEvent>>>);

impl Mailbox {
    /// Puts a piece there and waits until it was taken.
    pub(crate) async fn put(&self, event: ModelEvent) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(event);
        poll_fn(|context| match self.is_empty() {
            true => Poll::Ready(()),
            false => {
                // Whoever takes it polls again in any case; this reaches through what lies between.
                context.waker().wake_by_ref();
                Poll::Pending
            }
        })
        .await;
    }

    /// Runs the work of a guest, and hands every piece over as soon as it is there.
    pub(crate) async fn deliver<T>(
        &self,
        work: impl Future<Output = T>,
        sink: &dyn EventSink,
    ) -> T {
        let mut work = pin!(work);
        poll_fn(|context| {
            loop {
                let polled = work.as_mut().poll(context);
                match (self.take(), polled) {
                    (None, polled) => return polled,
                    (Some(event), Poll::Pending) => sink.event(event),
                    (Some(event), polled) => {
                        sink.event(event);
                        return polled;
                    }
                }
            }
        })
        .await
    }

    fn take(&self) -> Option<ModelEvent> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn is_empty(&self) -> bool {
        let place = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        place.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new_sink() -> SinkHandle {
        let limits = Limits {
            reply_bytes: 12,
            reply_calls: 2,
            ..Limits::default()
        };
        SinkHandle::new(Arc::new(limits), Mailbox::default())
    }

    fn call(id: &str) -> ToolCall {
        ToolCall {
            id: id.to_owned(),
            name: "f".to_owned(),
            arguments: "{}".to_owned(),
        }
    }

    #[test]
    fn what_was_given_is_the_reply_in_its_order() {
        let mut sink = new_sink();
        let shown = [
            sink.text("a".into()),
            sink.text(String::new()),
            sink.thinking("hm".into()),
            sink.text("b".into()),
            sink.tool_call(call("1")),
            sink.text("c".into()),
        ]
        .map(|piece| piece.unwrap());
        sink.usage(1, 2);
        sink.usage(3, 4);
        sink.cached_input(2, 1);
        let text = |text: &str| Some(ModelEvent::Text(text.into()));
        assert_eq!(
            shown,
            [
                text("a"),
                None,
                Some(ModelEvent::Thinking("hm".into())),
                text("b"),
                Some(ModelEvent::ToolUse(call("1"))),
                text("c"),
            ]
        );
        let expected = ModelReply {
            content: vec![
                ContentBlock::Text("ab".into()),
                ContentBlock::ToolCall(call("1")),
                ContentBlock::Text("c".into()),
            ],
            stop: StopReason::ToolUse,
            usage: Some(Usage {
                input_tokens: 3,
                output_tokens: 4,
                cache_read: 2,
                cache_create: 1,
            }),
        };
        assert_eq!(sink.into_reply(), expected);
    }

    #[test]
    fn reasons_to_stop_are_read_and_guessed_where_none_was_given() {
        for (reason, stop) in [
            (None, StopReason::End),
            (Some("end"), StopReason::End),
            (Some("tool_use"), StopReason::ToolUse),
            (Some("length"), StopReason::Length),
            (Some("refusal"), StopReason::Refusal),
            (Some("tired"), StopReason::Other),
        ] {
            let mut sink = new_sink();
            if let Some(reason) = reason {
                sink.stop(reason);
            }
            assert_eq!(sink.into_reply().stop, stop, "{reason:?}");
        }
    }

    #[test]
    fn a_reply_that_is_too_large_ends_by_its_limit() {
        let mut sink = new_sink();
        assert!(sink.thinking("0123456789".into()).is_ok());
        let which = |reached: LimitReached| (reached.which, reached.limit);
        let told = sink.text("012".into()).map_err(which);
        assert_eq!(told, Err(("reply_bytes", 12)));
        let mut sink = new_sink();
        let calls = ["1", "2", "3"].map(|id| sink.tool_call(call(id)));
        let told = calls.map(|told| told.map(|_| ()).map_err(which));
        assert_eq!(told, [Ok(()), Ok(()), Err(("reply_calls", 2))]);
    }

    #[tokio::test]
    async fn every_piece_is_handed_over_before_the_next_is_given() {
        struct Shown(Mutex<Vec<String>>);
        impl EventSink for Shown {
            fn event(&self, event: ModelEvent) {
                self.0.lock().unwrap().push(format!("{event:?}"));
            }
        }
        let (mailbox, shown) = (Mailbox::default(), Shown(Mutex::default()));
        let work = async {
            for number in 1..=3 {
                mailbox.put(ModelEvent::Text(number.to_string())).await;
                let seen = shown.0.lock().unwrap().len();
                assert_eq!(seen, number);
                tokio::task::yield_now().await;
            }
            "done"
        };
        assert_eq!(mailbox.deliver(work, &shown).await, "done");
        let shown = shown.0.lock().unwrap().join(" ");
        assert_eq!(shown, r#"Text("1") Text("2") Text("3")"#);
    }
}
