//! One request and its reply: the loop between transport, events and a protocol's decoder.
//!
//! A reply is complete when the decoder has seen the protocol's own end mark, and not before:
//! a connection that ends early is an error, however much came. What ends late is cut.

use std::time::Duration;

use openprogram_core::llm::{EventSink, LlmFailure, ModelReply};

use crate::failure;
use crate::redact::{self, Redacting};
use crate::sse::{SseDecoder, SseEvent};
use crate::transport::{Post, Reply, Transport};

/// How long the end of the connection is awaited after the reply is complete, so that the
/// connection can be used again.
const AFTER_CLOSE: Duration = Duration::from_millis(50);
/// How long more is awaited after the end mark where usage may still come.
const AFTER_END: Duration = Duration::from_secs(5);

/// Reads the replies of one protocol.
pub(crate) trait Decoder: Send {
    /// Takes one event of a streamed reply and shows what it brings.
    fn event(&mut self, event: &SseEvent, sink: &dyn EventSink) -> Result<(), LlmFailure>;

    /// Takes a reply that came as one JSON document.
    fn whole(&mut self, body: &[u8], sink: &dyn EventSink) -> Result<(), LlmFailure>;

    /// Whether the reply is complete. Usage may still come.
    fn has_ended(&self) -> bool;

    /// Whether nothing can come any more.
    fn is_closed(&self) -> bool;

    /// The reply. Called once, after its end.
    fn finish(self, sink: &dyn EventSink) -> Result<ModelReply, LlmFailure>;
}

/// Sends a request and reads its reply. Nothing that comes of it tells the key, wherever the server
/// put it.
pub(crate) async fn exchange<D: Decoder>(
    transport: &Transport,
    post: Post<'_>,
    decoder: D,
    sink: &dyn EventSink,
) -> Result<ModelReply, LlmFailure> {
    let key = post.key;
    let forms = redact::forms_of(key);
    let redacting = Redacting::new(&forms, sink);
    match reply_to(transport, post, decoder, &redacting).await {
        Ok(reply) => {
            redacting.finish();
            Ok(redact::without_key(reply, &forms))
        }
        Err(failure) => Err(failure::without_key(failure, key)),
    }
}

async fn reply_to<D: Decoder>(
    transport: &Transport,
    post: Post<'_>,
    mut decoder: D,
    sink: &dyn EventSink,
) -> Result<ModelReply, LlmFailure> {
    let mut reply = transport.post(post).await?;
    match reply.media_type().as_str() {
        "application/json" => decoder.whole(&reply.whole().await?, sink)?,
        "text/html" => {
            let why = "the server answers with a web page; check the base URL";
            return Err(failure::refused(why));
        }
        _ => read_stream(&mut reply, &mut decoder, sink).await?,
    }
    if !decoder.has_ended() {
        return Err(failure::truncated());
    }
    decoder.finish(sink)
}

async fn read_stream<D: Decoder>(
    reply: &mut Reply,
    decoder: &mut D,
    sink: &dyn EventSink,
) -> Result<(), LlmFailure> {
    let mut events = SseDecoder::new();
    loop {
        let next = if decoder.is_closed() {
            tokio::time::timeout(AFTER_CLOSE, reply.next()).await
        } else if decoder.has_ended() {
            tokio::time::timeout(AFTER_END, reply.next()).await
        } else {
            Ok(reply.next().await)
        };
        let chunk = match next {
            Ok(Ok(Some(chunk))) => chunk,
            Ok(Ok(None)) => break,
            // What breaks after the end mark takes nothing away from the reply.
            Ok(Err(_)) | Err(_) if decoder.has_ended() => return Ok(()),
            Ok(Err(failure)) => return Err(failure),
            Err(_) => return Err(failure::truncated()),
        };
        if decoder.is_closed() {
            return Ok(());
        }
        for event in events.push(chunk.as_ref()).map_err(failure::too_large)? {
            decoder.event(&event, sink)?;
        }
    }
    match events.finish().map_err(failure::too_large)? {
        Some(event) => decoder.event(&event, sink),
        None => Ok(()),
    }
}

#[cfg(test)]
pub(crate) mod testing {
    //! Decodes recorded bytes without a connection.

    use std::path::Path;
    use std::sync::Mutex;

    use openprogram_core::content::{ContentBlock, ToolCall};
    use openprogram_core::llm::{LlmDetail, ModelEvent};

    use super::*;

    /// Fewer recorded replies show the easy part of a protocol alone.
    const SCENARIOS_MIN: usize = 20;

    /// Keeps what it is shown; neighbouring pieces of one kind are joined.
    #[derive(Default)]
    struct Shown(Mutex<Vec<ModelEvent>>);

    impl EventSink for Shown {
        fn event(&self, event: ModelEvent) {
            let mut shown = self.0.lock().unwrap();
            match (shown.last_mut(), event) {
                (Some(ModelEvent::Text(last)), ModelEvent::Text(more)) => last.push_str(&more),
                (Some(ModelEvent::Thinking(last)), ModelEvent::Thinking(more)) => {
                    last.push_str(&more);
                }
                (_, event) => shown.push(event),
            }
        }
    }

    impl Shown {
        fn take(self) -> Vec<ModelEvent> {
            self.0.into_inner().unwrap()
        }
    }

    /// A reply and what was shown on the way.
    type Decoded = (Result<ModelReply, LlmFailure>, Vec<ModelEvent>);

    fn stream<D: Decoder>(
        mut decoder: D,
        chunks: &mut dyn Iterator<Item = &[u8]>,
        sink: &Shown,
    ) -> Result<ModelReply, LlmFailure> {
        let mut events = SseDecoder::new();
        for chunk in chunks {
            for event in events.push(chunk).map_err(failure::too_large)? {
                decoder.event(&event, sink)?;
            }
        }
        if let Some(event) = events.finish().map_err(failure::too_large)? {
            decoder.event(&event, sink)?;
        }
        if !decoder.has_ended() {
            return Err(failure::truncated());
        }
        decoder.finish(sink)
    }

    /// Decodes a stream whole and in chunks of 1 to 17 bytes; all of them must agree.
    fn decode<D: Decoder>(bytes: &[u8], decoder: &dyn Fn() -> D) -> Decoded {
        let decode = |size: usize| -> Decoded {
            let shown = Shown::default();
            let reply = stream(decoder(), &mut bytes.chunks(size), &shown);
            (reply, shown.take())
        };
        let whole = decode(bytes.len().max(1));
        for size in 1..=17 {
            assert_eq!(decode(size), whole, "in chunks of {size}");
        }
        whole
    }

    /// Cuts a good reply at every byte of a short one, else at a thousand places: what is left is
    /// an error, or the same reply.
    fn check_cuts<D: Decoder>(bytes: &[u8], whole: &ModelReply, decoder: &dyn Fn() -> D) {
        for end in (0..bytes.len()).step_by(bytes.len() / 1000 + 1) {
            let mut chunks = std::iter::once(&bytes[..end]);
            match stream(decoder(), &mut chunks, &Shown::default()) {
                Ok(reply) => {
                    let same = (&reply.content, reply.stop) == (&whole.content, whole.stop);
                    assert!(same, "cut at {end}: {reply:?}");
                }
                Err(failure) => assert_eq!(failure, failure::truncated(), "cut at {end}"),
            }
        }
    }

    /// Decodes a reply that came as one document.
    fn decode_whole<D: Decoder>(bytes: &[u8], mut decoder: D) -> Decoded {
        let shown = Shown::default();
        let reply = decoder.whole(bytes, &shown).and_then(|()| {
            if decoder.has_ended() {
                decoder.finish(&shown)
            } else {
                Err(failure::truncated())
            }
        });
        (reply, shown.take())
    }

    fn block_line(block: &ContentBlock) -> String {
        match block {
            ContentBlock::Text(text) => format!("text {text:?}"),
            ContentBlock::ToolCall(call) => call_line(call),
            other => format!("{other:?}"),
        }
    }

    fn call_line(call: &ToolCall) -> String {
        format!("call `{}` `{}` {}", call.id, call.name, call.arguments)
    }

    /// What was shown, then the reply or the failure, a line each.
    fn lines_of((reply, shown): &Decoded) -> Vec<String> {
        let mut lines = vec!["shown:".to_owned()];
        lines.extend(shown.iter().map(|event| match event {
            ModelEvent::Text(text) => format!("  text {text:?}"),
            ModelEvent::Thinking(text) => format!("  thinking {text:?}"),
            ModelEvent::ToolUse(call) => format!("  {}", call_line(call)),
            other => format!("  {other:?}"),
        }));
        match reply {
            Ok(reply) => {
                lines.push(format!("reply: {:?}", reply.stop));
                let blocks = reply.content.iter().map(block_line);
                lines.extend(blocks.map(|line| format!("  {line}")));
                lines.extend(reply.usage.map(|usage| format!("  {usage:?}")));
            }
            Err(failure) => {
                let detail = failure.detail.map_or("", LlmDetail::as_str);
                lines.push(format!(
                    "failure: {} {detail} retryable={}",
                    failure.reason.as_str(),
                    failure.retryable
                ));
                lines.push(format!("  {}", failure.message));
            }
        }
        lines
    }

    /// Decodes every recorded reply of a protocol: `reply.sse` as a stream, `reply.json` as one
    /// document. What comes out is in `decoded.txt` beside it.
    pub(crate) fn check_recorded<D: Decoder>(protocol: &str, decoder: &dyn Fn() -> D) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/wire");
        let folder = folder.join(protocol);
        let mut n_checked = 0;
        for scenario in std::fs::read_dir(&folder).unwrap() {
            let scenario = scenario.unwrap().path();
            let decoded = match std::fs::read(scenario.join("reply.sse")) {
                Ok(bytes) => {
                    let decoded = decode(&bytes, decoder);
                    if let Ok(whole) = &decoded.0 {
                        check_cuts(&bytes, whole, decoder);
                    }
                    decoded
                }
                Err(_) => {
                    let bytes = std::fs::read(scenario.join("reply.json")).unwrap();
                    decode_whole(&bytes, decoder())
                }
            };
            let text = lines_of(&decoded).join("\n") + "\n";
            let expected = scenario.join("decoded.txt");
            expect_test::expect_file![expected].assert_eq(&text);
            n_checked += 1;
        }
        assert!(
            n_checked >= SCENARIOS_MIN,
            "`{}` holds {n_checked} scenarios; record at least {SCENARIOS_MIN}, with calls, \
             refusals, cuts and errors",
            folder.display()
        );
    }
}
