//! Bytes of a reply to server-sent events.
//!
//! Own, because providers bend the format: the last event often lacks its blank line, and then it
//! is given all the same, marked as such. Lines and events have limits; time is linear in the
//! bytes however they are cut into chunks.

/// The longest line and the longest event. A reply of a model fits many times; an endless line is
/// an error named [`SseError`].
const EVENT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SseEvent {
    /// The field `event`; empty when there was none.
    pub(crate) name: String,
    /// The fields `data`, joined by line feeds.
    pub(crate) data: String,
    /// Whether the bytes ended before the blank line, so that `data` may be cut.
    pub(crate) unterminated: bool,
}

/// An event is longer than the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an event of the reply is longer than {0} bytes")]
pub(crate) struct SseError(usize);

/// Takes bytes as they come and gives events as they are complete.
#[derive(Debug)]
pub(crate) struct SseDecoder {
    limit: usize,
    /// The bytes of the line under way.
    line: Vec<u8>,
    /// Whether the last byte was a CR, so that an LF right after it ends no second line.
    after_cr: bool,
    /// Whether nothing has been read, so that a byte order mark may follow.
    at_start: bool,
    event: SseEvent,
    has_data: bool,
}

impl SseDecoder {
    pub(crate) fn new() -> Self {
        Self::with_limit(EVENT_BYTES_MAX)
    }

    fn with_limit(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            after_cr: false,
            at_start: true,
            event: SseEvent::default(),
            has_data: false,
        }
    }

    /// Takes the next bytes and gives the events that they complete.
    ///
    /// # Errors
    /// When a line or an event is over the limit.
    pub(crate) fn push(&mut self, mut bytes: &[u8]) -> Result<Vec<SseEvent>, SseError> {
        let mut events = Vec::new();
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_cr) && bytes[0] == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let part = &bytes[..end.unwrap_or(bytes.len())];
            if self.line.len() + part.len() > self.limit {
                return Err(SseError(self.limit));
            }
            self.line.extend_from_slice(part);
            let Some(end) = end else {
                break;
            };
            self.after_cr = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            events.extend(self.end_line()?);
        }
        Ok(events)
    }

    /// Takes the end of the bytes and gives the last event, if one was under way.
    ///
    /// # Errors
    /// When the event is over the limit.
    pub(crate) fn finish(mut self) -> Result<Option<SseEvent>, SseError> {
        if !self.line.is_empty() {
            self.end_line()?;
        }
        self.event.unterminated = true;
        Ok(self.has_data.then_some(self.event))
    }

    /// Takes the line under way as complete.
    fn end_line(&mut self) -> Result<Option<SseEvent>, SseError> {
        let bytes = std::mem::take(&mut self.line);
        let text = String::from_utf8_lossy(&bytes);
        let mut line = text.as_ref();
        if std::mem::take(&mut self.at_start) {
            line = line.strip_prefix('\u{feff}').unwrap_or(line);
        }
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            return Ok(std::mem::take(&mut self.has_data).then_some(event));
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                if self.event.data.len() + value.len() >= self.limit {
                    return Err(SseError(self.limit));
                }
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
            }
            "event" => value.clone_into(&mut self.event.name),
            // Comments have an empty field name; ids and reconnection times mean nothing here.
            _ => {}
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decodes bytes given in chunks of one size.
    fn decode(bytes: &[u8], chunk: usize) -> Vec<SseEvent> {
        let mut decoder = SseDecoder::new();
        let mut events = Vec::new();
        for part in bytes.chunks(chunk) {
            events.extend(decoder.push(part).unwrap());
        }
        events.extend(decoder.finish().unwrap());
        events
    }

    fn event(name: &str, data: &str) -> SseEvent {
        SseEvent {
            name: name.to_owned(),
            data: data.to_owned(),
            unterminated: false,
        }
    }

    /// Decodes at every chunk size, and cut in two at every byte.
    #[track_caller]
    fn check(text: &str, expected: &[SseEvent]) {
        let bytes = text.as_bytes();
        for chunk in 1..=bytes.len().max(1) {
            assert_eq!(
                decode(bytes, chunk),
                expected,
                "chunks of {chunk}: {text:?}"
            );
        }
        for cut in 0..=bytes.len() {
            let mut decoder = SseDecoder::new();
            let mut events = decoder.push(&bytes[..cut]).unwrap();
            events.extend(decoder.push(&[]).unwrap());
            events.extend(decoder.push(&bytes[cut..]).unwrap());
            events.extend(decoder.finish().unwrap());
            assert_eq!(events, expected, "cut at {cut}: {text:?}");
        }
    }

    #[test]
    fn lines_end_in_any_of_three_ways() {
        for end in ["\n", "\r\n", "\r"] {
            let text = ["event: a", "data: 1", "", "data:2", "", ""].join(end);
            check(&text, &[event("a", "1"), event("", "2")]);
        }
        check(
            "data: 1\r\r\ndata: 2\n\r",
            &[event("", "1"), event("", "2")],
        );
    }

    #[test]
    fn fields_are_read_by_the_letter() {
        check("data\n\n", &[event("", "")]);
        check("data:  two spaces\n\n", &[event("", " two spaces")]);
        check("data: a\ndata:\ndata: b\n\n", &[event("", "a\n\nb")]);
        check(
            ": comment\nid: 7\nretry: 10\nfoo: x\ndata: a:b\n\n",
            &[event("", "a:b")],
        );
        check("event: only a name\n\ndata: x\n\n", &[event("", "x")]);
        check("event: one\nevent: two\ndata: x\n\n", &[event("two", "x")]);
        check("\u{feff}data: x\n\n", &[event("", "x")]);
        check("\n\n\n", &[]);
        check("", &[]);
    }

    #[test]
    fn text_keeps_every_character() {
        let text = "data: grüße \u{2028}\u{2029}\u{85} 日本 🦀\n\n";
        check(text, &[event("", "grüße \u{2028}\u{2029}\u{85} 日本 🦀")]);
    }

    #[test]
    fn an_event_without_its_blank_line_is_given_at_the_end() {
        let last = SseEvent {
            unterminated: true,
            ..event("e", "x")
        };
        for text in [
            "event: e\ndata: x",
            "event: e\ndata: x\n",
            "event: e\r\ndata: x\r\n",
        ] {
            check(text, std::slice::from_ref(&last));
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        let mut decoder = SseDecoder::new();
        let events = decoder.push(b"data: a\xffb\n\n").unwrap();
        assert_eq!(events, [event("", "a\u{fffd}b")]);
    }

    #[test]
    fn endless_lines_and_events_are_refused() {
        let fits = |bytes: &[u8]| {
            let mut decoder = SseDecoder::with_limit(16);
            bytes
                .chunks(3)
                .try_for_each(|part| decoder.push(part).map(drop))
        };
        assert_eq!(fits(b"data: 0123456789"), Ok(()));
        assert_eq!(fits(b"data: 0123456789a"), Err(SseError(16)));
        assert_eq!(fits(b": 0123456789abcdef"), Err(SseError(16)));
        assert_eq!(
            fits(b"data: 12345678\ndata: 9\ndata: 123456\n"),
            Err(SseError(16))
        );
        assert_eq!(fits(&b"data: 1234567\n\n".repeat(9)), Ok(()));
    }
}
