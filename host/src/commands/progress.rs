//! Progress of a run on a terminal: what models write while they write it, and one line per call,
//! tool, pick, try and re-ask, on stderr.
//!
//! Nothing is told when no person looks at stderr. The text of models is streamed only where the
//! result goes to a terminal too: a script that takes the result has no use for it.

use std::io::{self, Write};

use openprogram_core::content::ToolCall;
use openprogram_core::id::NodeId;
use openprogram_core::llm::RetryInfo;
use openprogram_core::session::NodeStatus;
use openprogram_runtime::{Event, EventReceiver, EventSender, event_channel};
use tokio::task::JoinHandle;

use super::console::Console;
use super::time::duration;
use crate::text::{PieceCleaner, one_line};

/// Events a slow terminal may fall behind by; more are dropped and counted. Every piece of a text
/// that a model writes is one.
const EVENTS_HELD_MAX: usize = 1_024;
/// Characters of a name on a line.
const NAME_CHARS_MAX: usize = 80;
/// Characters of arguments, results and errors on a line; the whole is in the graph.
const VALUE_CHARS_MAX: usize = 120;

/// The progress of one run.
pub(super) struct Progress {
    sender: Option<EventSender>,
    printing: Option<JoinHandle<()>>,
}

/// Starts to tell progress when a person looks at stderr, else tells nothing.
pub(super) fn start(json: bool, colours: bool) -> Progress {
    if !Console::has_watcher() {
        return Progress {
            sender: None,
            printing: None,
        };
    }
    let screen = Screen {
        streams: Console::has_reader() && !json,
        ..Screen::new(io::stderr(), colours)
    };
    let (sender, receiver) = event_channel(EVENTS_HELD_MAX);
    Progress {
        sender: Some(sender),
        printing: Some(tokio::spawn(print(receiver, screen))),
    }
}

impl Progress {
    /// Where the run puts its events.
    pub(super) fn sender(&self) -> Option<EventSender> {
        self.sender.clone()
    }

    /// Waits until everything that was told is printed. The run must be over.
    pub(super) async fn finish(self) {
        drop(self.sender);
        if let Some(printing) = self.printing {
            // Progress that could not be printed is no reason to fail.
            let _ = printing.await;
        }
    }
}

async fn print<W: Write>(mut events: EventReceiver, mut screen: Screen<W>) {
    while let Some(event) = events.next().await {
        screen.show(&event);
    }
    screen.end_text();
}

/// How something looks on a terminal with colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tone {
    Plain,
    Faint,
    Bad,
}

/// What stands on the line of the cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
struct OpenText {
    node: NodeId,
    tone: Tone,
    ends_in_break: bool,
}

/// A terminal on which events are told.
struct Screen<W> {
    out: W,
    colours: bool,
    streams: bool,
    open: Option<OpenText>,
    cleaner: PieceCleaner,
    /// The call that begins next is one whose line is there already.
    is_told: bool,
}

impl<W: Write> Screen<W> {
    fn new(out: W, colours: bool) -> Self {
        Self {
            out,
            colours,
            streams: true,
            open: None,
            cleaner: PieceCleaner::default(),
            is_told: false,
        }
    }

    fn show(&mut self, event: &Event) {
        match event {
            Event::Text { node, text } => return self.piece(node, Tone::Plain, text),
            Event::Thinking { node, text } => return self.piece(node, Tone::Faint, text),
            Event::CallStarted { .. } if std::mem::take(&mut self.is_told) => return,
            Event::ToolUse { .. } => self.is_told = true,
            Event::ToolResult { .. } => self.is_told = false,
            Event::ModelRequestEnded { .. } | Event::TurnEnded { .. } => self.end_text(),
            _ => {}
        }
        if let Some((tone, line)) = line(event) {
            self.end_text();
            self.put(tone, &line);
            self.write("\n");
        }
    }

    /// The next piece of what a model writes; another node or tone begins a line of its own.
    fn piece(&mut self, node: &NodeId, tone: Tone, text: &str) {
        if !self.streams {
            return;
        }
        let goes_on = |open: &OpenText| open.node == *node && open.tone == tone;
        if !self.open.as_ref().is_some_and(goes_on) {
            self.end_text();
        }
        let cleaned = self.cleaner.push(text);
        let ends_in_break = match (&self.open, cleaned.chars().next_back()) {
            (_, Some(last)) => last == '\n',
            (Some(open), None) => open.ends_in_break,
            (None, None) => true,
        };
        self.put(tone, &cleaned);
        self.open = Some(OpenText {
            node: node.clone(),
            tone,
            ends_in_break,
        });
    }

    /// Ends what is being written, so that a line can follow.
    fn end_text(&mut self) {
        let Some(open) = self.open.take() else {
            return;
        };
        let rest = self.cleaner.finish();
        self.put(open.tone, &rest);
        let ends_in_break = match rest.chars().next_back() {
            Some(last) => last == '\n',
            None => open.ends_in_break,
        };
        if !ends_in_break {
            self.write("\n");
        }
    }

    fn put(&mut self, tone: Tone, text: &str) {
        if text.is_empty() {
            return;
        }
        let code = match tone {
            Tone::Faint if self.colours => "\u{1b}[2m",
            Tone::Bad if self.colours => "\u{1b}[31m",
            _ => return self.write(text),
        };
        self.write(&format!("{code}{text}\u{1b}[0m"));
    }

    fn write(&mut self, text: &str) {
        // Progress that cannot be written is no reason to fail: nobody is there to read it.
        let _ = self.out.write_all(text.as_bytes());
        let _ = self.out.flush();
    }
}

/// What is told of an event on a line of its own; many are not worth one.
fn line(event: &Event) -> Option<(Tone, String)> {
    let name = |name: &str| one_line(name, NAME_CHARS_MAX);
    let value = |value: &str| one_line(value, VALUE_CHARS_MAX);
    Some(match event {
        Event::CallStarted {
            function, depth, ..
        } => {
            let indent = "  ".repeat(usize::try_from(*depth).unwrap_or(0).min(20));
            (Tone::Faint, format!("{indent}→ {}", name(function)))
        }
        Event::CallEnded {
            function, status, ..
        } if *status != NodeStatus::Completed => (Tone::Bad, format!("✗ {}", name(function))),
        Event::ModelRequestStarted { model, .. } => {
            (Tone::Faint, format!("… asking {}", name(model)))
        }
        Event::ModelRetried { retry, .. } => (Tone::Bad, retry_line(retry)),
        Event::ToolUse { call, .. } => {
            let ToolCall {
                name: tool,
                arguments,
                ..
            } = call;
            let line = format!("⚙ {} {}", name(tool), value(arguments));
            (Tone::Faint, line.trim_end().to_owned())
        }
        Event::ToolResult { result, .. } if result.is_error => {
            (Tone::Bad, format!("  ✗ {}", value(&result.text)))
        }
        Event::ToolResult { result, .. } => (Tone::Faint, format!("  ✓ {}", value(&result.text))),
        Event::DecisionPicked { option, .. } => (Tone::Faint, format!("✓ picked {}", name(option))),
        Event::DecisionRetried {
            kind, retries_left, ..
        } => {
            let line = format!("… no valid pick ({kind}), asking again, {retries_left} left");
            (Tone::Bad, line)
        }
        Event::Missed { count } => (Tone::Faint, format!("… {count} steps not shown")),
        _ => return None,
    })
}

fn retry_line(retry: &RetryInfo) -> String {
    let RetryInfo {
        attempt,
        attempts_max,
        reason,
        ..
    } = retry;
    let status = retry.http_status.map(|status| format!(" {status}"));
    let sleep = duration(i64::try_from(retry.sleep.as_millis()).unwrap_or(i64::MAX));
    format!(
        "… try {attempt} of {attempts_max} failed ({}{}), again in {sleep}: {}",
        reason.as_str(),
        status.unwrap_or_default(),
        one_line(&retry.error, VALUE_CHARS_MAX)
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use expect_test::{Expect, expect};
    use openprogram_core::content::ToolResult;
    use openprogram_core::llm::{Asked, LlmReason};
    use openprogram_core::session::Usage;

    use super::*;

    fn node() -> NodeId {
        NodeId::from_bits(1)
    }

    fn text(text: &str) -> Event {
        Event::Text {
            node: node(),
            text: text.to_owned(),
        }
    }

    fn thinking(text: &str) -> Event {
        Event::Thinking {
            node: node(),
            text: text.to_owned(),
        }
    }

    fn asked() -> Event {
        Event::ModelRequestStarted {
            node: node(),
            model: "openai:m".to_owned(),
        }
    }

    fn tool(arguments: &str) -> Event {
        Event::ToolUse {
            node: node(),
            call: ToolCall {
                id: "1".to_owned(),
                name: "look_up\u{9b}0m".to_owned(),
                arguments: arguments.to_owned(),
            },
        }
    }

    fn called(depth: u32) -> Event {
        Event::CallStarted {
            node: node(),
            caller: None,
            function: "acme:shop/desk.look-up".to_owned(),
            depth,
        }
    }

    fn answered(text: &str, is_error: bool) -> Event {
        Event::ToolResult {
            node: node(),
            tool: "look_up".to_owned(),
            result: ToolResult {
                id: "1".to_owned(),
                text: text.to_owned(),
                is_error,
            },
        }
    }

    fn ended() -> Event {
        Event::TurnEnded {
            node: node(),
            usage: Usage::default(),
            n_requests: 1,
        }
    }

    fn retried() -> Event {
        Event::ModelRetried {
            node: node(),
            retry: Box::new(RetryInfo {
                attempt: 1,
                attempts_max: 6,
                sleep: Duration::from_millis(1_500),
                reason: LlmReason::RateLimit,
                http_status: Some(429),
                retry_after: None,
                elapsed: Duration::ZERO,
                error_name: "RateLimitError".to_owned(),
                error: "slow\ndown".to_owned(),
                asked: Asked::default(),
            }),
        }
    }

    fn shown(events: &[Event], colours: bool, streams: bool) -> String {
        let mut screen = Screen {
            streams,
            ..Screen::new(Vec::new(), colours)
        };
        for event in events {
            screen.show(event);
        }
        screen.end_text();
        String::from_utf8(screen.out).unwrap()
    }

    fn turn() -> Vec<Event> {
        vec![
            called(0),
            asked(),
            thinking("hm"),
            text("I look\u{1b}["),
            text("31m it "),
            text("up."),
            tool("{\"order\":\n \"A-1\"}"),
            called(1),
            called(2),
            answered("\u{1b}[2Jfound", false),
            tool(""),
            answered(&"no ".repeat(100), true),
            retried(),
            text("Done.\n"),
            ended(),
            Event::Missed { count: 3 },
        ]
    }

    fn check(streams: bool, expected: Expect) {
        expected.assert_eq(&shown(&turn(), false, streams));
    }

    #[test]
    fn a_turn_is_told_as_it_goes() {
        check(
            true,
            expect![[r#"
                → acme:shop/desk.look-up
                … asking openai:m
                hm
                I look it up.
                ⚙ look_up {"order": "A-1"}
                    → acme:shop/desk.look-up
                  ✓ found
                ⚙ look_up
                  ✗ no no no no no no no no no no no no no no no no no no no no no no no no no no no no no no no no no no no no no no no no…
                … try 1 of 6 failed (rate_limit 429), again in 1.5 s: slow down
                Done.
                … 3 steps not shown
            "#]],
        );
    }

    #[test]
    fn lines_alone_are_told_where_the_result_goes_to_a_program() {
        check(
            false,
            expect![[r#"
                → acme:shop/desk.look-up
                … asking openai:m
                ⚙ look_up {"order": "A-1"}
                    → acme:shop/desk.look-up
                  ✓ found
                ⚙ look_up
                  ✗ no no no no no no no no no no no no no no no no no no no no no no no no no no no no no no no no no no no no no no no no…
                … try 1 of 6 failed (rate_limit 429), again in 1.5 s: slow down
                … 3 steps not shown
            "#]],
        );
    }

    #[test]
    fn colours_change_nothing_else() {
        let coloured = shown(&turn(), true, true);
        assert!(coloured.contains("\u{1b}[2m⚙ look_up"), "{coloured}");
        let plain = coloured.replace("\u{1b}[2m", "").replace("\u{1b}[31m", "");
        assert_eq!(plain.replace("\u{1b}[0m", ""), shown(&turn(), false, true));
    }
}
