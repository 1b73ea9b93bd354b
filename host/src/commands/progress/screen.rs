//! The terminal on which a run is told: lines, the text of models, and the line of what is running.

use std::io::Write;
use std::time::{Duration, Instant};

use openprogram_core::id::NodeId;
use openprogram_runtime::Event;

use super::lines::{Tone, line, not_kept_line, retry_line, stop_words};
use super::running::Running;
use crate::commands::bars::Bars;
use crate::commands::refused::Refusal;
use crate::text::PieceCleaner;

/// So long nothing is written before it is said what is running.
const SILENCE: Duration = Duration::from_secs(1);
/// Back to the begin of the line, and the rest of it away.
const CLEAR_LINE: &str = "\r\u{1b}[K";
/// A line that is longer than the terminal is wide must not go on below: it could not be cleared.
const WRAP_OFF: &str = "\u{1b}[?7l";
const WRAP_ON: &str = "\u{1b}[?7h";

/// What is told, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mode {
    /// Whether every step is told, or only that a request is tried again or a reply is not whole.
    pub(super) tells_all: bool,
    /// Whether the text of models is shown.
    pub(super) streams: bool,
    /// Whether colours are used.
    pub(super) colours: bool,
    /// Whether a line may be written over.
    pub(super) overwrites: bool,
    /// The columns of the terminal.
    pub(super) columns: usize,
}

/// What stands on the line of the cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
struct OpenText {
    node: NodeId,
    tone: Tone,
    ends_in_break: bool,
}

/// An output on which events are told.
pub(super) struct Screen<W> {
    out: W,
    mode: Mode,
    open: Option<OpenText>,
    cleaner: PieceCleaner,
    bars: Bars,
    /// The call that begins next is one whose line is there already.
    is_told: bool,
    /// The call of a tool, whose end is told by the line of its result.
    tool_call: Option<NodeId>,
    /// How long that call took.
    tool_took: Option<Duration>,
    running: Running,
    /// The line of what is running, where it stands.
    status: Option<String>,
    written_at: Instant,
    refusals: Vec<Refusal>,
}

impl<W: Write> Screen<W> {
    pub(super) fn new(out: W, mode: Mode, now: Instant) -> Self {
        Self {
            out,
            mode,
            open: None,
            cleaner: PieceCleaner::default(),
            bars: Bars::new(mode.columns),
            is_told: false,
            tool_call: None,
            tool_took: None,
            running: Running::default(),
            status: None,
            written_at: now,
            refusals: Vec::new(),
        }
    }

    /// Tells one event.
    pub(super) fn show(&mut self, event: &Event, now: Instant) {
        if let Event::AccessRefused {
            component, access, ..
        } = event
        {
            self.refusals.extend(Refusal::of(component, access));
        }
        if !self.mode.tells_all {
            let warning = match event {
                Event::ModelRetried { retry, .. } => Some(retry_line(retry)),
                Event::AnswerNotKept { what, problem, .. } => Some(not_kept_line(what, problem)),
                Event::TurnEnded { stop, .. } => stop_words(*stop).map(str::to_owned),
                _ => None,
            };
            if let Some(warning) = warning {
                self.put(Tone::Bad, &format!("warning: {warning}"));
                self.write("\n");
            }
            return;
        }
        let mut took = self.running.note(event, now);
        match event {
            Event::Text { node, text } => return self.piece(node, Tone::Plain, text, now),
            Event::Thinking { node, text } => return self.piece(node, Tone::Faint, text, now),
            Event::CallStarted { node, .. } if std::mem::take(&mut self.is_told) => {
                self.tool_call = Some(node.clone());
                return;
            }
            Event::ToolUse { .. } => self.is_told = true,
            Event::CallEnded { node, .. } if self.tool_call.as_ref() == Some(node) => {
                self.tool_took = took.take();
            }
            Event::ToolResult { .. } => {
                self.is_told = false;
                took = self.tool_took.take();
            }
            Event::ModelRequestEnded { .. } | Event::TurnEnded { .. } => self.end_text(),
            _ => {}
        }
        if let Some((tone, line)) = line(event, took) {
            self.end_text();
            self.clear_status();
            self.put(tone, &line);
            self.write("\n");
            self.written_at = now;
        }
    }

    /// Says what is running when nothing was written for a while. Call it several times a second.
    pub(super) fn tick(&mut self, now: Instant) {
        let is_inside_line = self.open.as_ref().is_some_and(|open| !open.ends_in_break);
        let is_silent = now.saturating_duration_since(self.written_at) >= SILENCE;
        if !self.mode.overwrites || is_inside_line || !is_silent {
            return;
        }
        let status = self.running.status(now);
        if status == self.status {
            return;
        }
        self.clear_status();
        if let Some(status) = &status {
            let line = self.coloured(Tone::Faint, &format!("· {status}"));
            self.write(&format!("{WRAP_OFF}{line}{WRAP_ON}"));
        }
        self.status = status;
    }

    /// Ends what stands on the line of the cursor, so that somebody else can write.
    pub(super) fn rest(&mut self) {
        self.end_text();
        self.clear_status();
    }

    /// Ends what stands on the line of the cursor, and gives what was refused.
    pub(super) fn finish(&mut self) -> Vec<Refusal> {
        self.rest();
        std::mem::take(&mut self.refusals)
    }

    /// The next piece of what a model writes, behind bars; another node or tone begins a line of its own.
    fn piece(&mut self, node: &NodeId, tone: Tone, text: &str, now: Instant) {
        if !self.mode.streams {
            return;
        }
        self.clear_status();
        self.written_at = now;
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
        let barred = self.bars.push(&cleaned);
        self.put(tone, &barred);
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
        if !rest.is_empty() {
            self.clear_status();
        }
        let barred = self.bars.push(&rest);
        self.put(open.tone, &barred);
        self.bars.end();
        let ends_in_break = match rest.chars().next_back() {
            Some(last) => last == '\n',
            None => open.ends_in_break,
        };
        if !ends_in_break {
            self.write("\n");
        }
    }

    fn clear_status(&mut self) {
        if self.status.take().is_some() {
            self.write(CLEAR_LINE);
        }
    }

    fn put(&mut self, tone: Tone, text: &str) {
        if !text.is_empty() {
            let coloured = self.coloured(tone, text);
            self.write(&coloured);
        }
    }

    fn coloured(&self, tone: Tone, text: &str) -> String {
        match tone {
            Tone::Faint if self.mode.colours => format!("\u{1b}[2m{text}\u{1b}[0m"),
            Tone::Bad if self.mode.colours => format!("\u{1b}[31m{text}\u{1b}[0m"),
            _ => text.to_owned(),
        }
    }

    fn write(&mut self, text: &str) {
        // Progress that cannot be written is no reason to fail: nobody is there to read it.
        let _ = self.out.write_all(text.as_bytes());
        let _ = self.out.flush();
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use openprogram_core::content::{ToolCall, ToolResult};
    use openprogram_core::llm::{Asked, LlmReason, RetryInfo, StopReason};
    use openprogram_core::session::{NodeStatus, Usage};

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
        ended_by(StopReason::End)
    }

    fn ended_by(stop: StopReason) -> Event {
        Event::TurnEnded {
            node: node(),
            usage: Usage::default(),
            n_requests: 1,
            stop,
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
                asked: Asked {
                    model: "openai:m".to_owned(),
                    ..Asked::default()
                },
            }),
        }
    }

    const ALL: Mode = Mode {
        tells_all: true,
        streams: true,
        colours: false,
        overwrites: true,
        columns: 80,
    };

    fn shown(events: &[Event], mode: Mode) -> String {
        let now = Instant::now();
        let mut screen = Screen::new(Vec::new(), mode, now);
        for event in events {
            screen.show(event, now);
            screen.tick(now);
        }
        screen.finish();
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

    fn check(mode: Mode, expected: Expect) {
        expected.assert_eq(&shown(&turn(), mode));
    }

    #[test]
    fn a_function_tells_how_far_it_is() {
        let report = |percent| Event::Progress {
            node: Some(node()),
            function: "acme:shop/desk.index".to_owned(),
            message: "Reading".to_owned(),
            percent,
        };
        let told = shown(&[text("So"), report(None), report(Some(40))], ALL);
        assert_eq!(told, "│ So\n• Reading\n• Reading (40%)\n");
    }

    #[test]
    fn an_answer_that_is_not_kept_is_told_in_every_mode() {
        let event = Event::AnswerNotKept {
            node: Some(node()),
            what: "call shop.refund\u{1b}[2J".to_owned(),
            problem: "the disk is full".to_owned(),
        };
        let told = "your answer to `call shop.refund` holds this once: the disk is full\n";
        assert_eq!(
            shown(std::slice::from_ref(&event), ALL),
            format!("! {told}")
        );
        let quiet = Mode {
            tells_all: false,
            ..ALL
        };
        assert_eq!(shown(&[event], quiet), format!("warning: {told}"));
    }

    #[test]
    fn a_turn_is_told_as_it_goes() {
        check(
            ALL,
            expect![[r#"
                → acme:shop/desk.look-up
                … asking openai:m
                │ hm
                │ I look it up.
                ⚙ look_up {"order": "A-1"}
                    → acme:shop/desk.look-up
                  ✓ found
                ⚙ look_up
                  ✗ no no no no no no no no no no no no no no no no no no no no no no no no no no no no no no no no no no no no no no no no…
                … try 1 of 6 of openai:m failed (rate_limit 429), again in 1.5 s: slow down
                │ Done.
                … 3 steps not shown
            "#]],
        );
    }

    #[test]
    fn a_reply_that_may_not_be_whole_is_told_to_be() {
        let quiet = Mode {
            tells_all: false,
            ..ALL
        };
        for (stop, words) in [
            (
                StopReason::Length,
                "the reply was cut off at its length limit",
            ),
            (
                StopReason::Refusal,
                "the model refused, or its provider held the reply back",
            ),
            (
                StopReason::Other,
                "the reply ended for an unknown reason and may be incomplete",
            ),
        ] {
            let events = [text("So"), ended_by(stop)];
            assert_eq!(shown(&events, ALL), format!("│ So\n! {words}\n"));
            assert_eq!(shown(&events, quiet), format!("warning: {words}\n"));
        }
        assert_eq!(shown(&[text("So"), ended()], ALL), "│ So\n");
        assert_eq!(shown(&[text("So"), ended()], quiet), "");
    }

    #[test]
    fn a_reply_that_begins_anew_is_told_below_its_beginning() {
        let events = [
            asked(),
            text("I lo"),
            retried(),
            Event::ReplyRestarted { node: node() },
            text("I look."),
            ended(),
        ];
        let expected = expect![[r#"
            … asking openai:m
            │ I lo
            … try 1 of 6 of openai:m failed (rate_limit 429), again in 1.5 s: slow down
            … the reply above broke off and begins anew
            │ I look.
        "#]];
        expected.assert_eq(&shown(&events, ALL));
    }

    #[test]
    fn lines_alone_are_told_where_the_result_goes_to_a_program() {
        check(
            Mode {
                streams: false,
                ..ALL
            },
            expect![[r#"
                → acme:shop/desk.look-up
                … asking openai:m
                ⚙ look_up {"order": "A-1"}
                    → acme:shop/desk.look-up
                  ✓ found
                ⚙ look_up
                  ✗ no no no no no no no no no no no no no no no no no no no no no no no no no no no no no no no no no no no no no no no no…
                … try 1 of 6 of openai:m failed (rate_limit 429), again in 1.5 s: slow down
                … 3 steps not shown
            "#]],
        );
    }

    #[test]
    fn colours_change_nothing_else() {
        let coloured = shown(
            &turn(),
            Mode {
                colours: true,
                ..ALL
            },
        );
        assert!(coloured.contains("\u{1b}[2m⚙ look_up"), "{coloured}");
        let plain = coloured.replace("\u{1b}[2m", "").replace("\u{1b}[31m", "");
        assert_eq!(plain.replace("\u{1b}[0m", ""), shown(&turn(), ALL));
    }

    #[test]
    fn only_tries_that_failed_are_told_where_nobody_watches() {
        let mode = Mode {
            tells_all: false,
            streams: false,
            ..ALL
        };
        check(
            mode,
            expect![[r#"
                warning: try 1 of 6 of openai:m failed (rate_limit 429), again in 1.5 s: slow down
            "#]],
        );
    }

    /// What is written while a run goes on that says nothing by itself, with control characters
    /// spelled out.
    fn silence(mode: Mode) -> String {
        let start = Instant::now();
        let at = |ms: u64| start + Duration::from_millis(ms);
        let mut screen = Screen::new(Vec::new(), mode, start);
        screen.show(&called(0), at(0));
        screen.show(&asked(), at(100));
        for ms in [500, 1_000, 1_100, 1_500, 2_100] {
            screen.tick(at(ms));
        }
        screen.show(&text("I think"), at(2_200));
        screen.tick(at(5_000));
        screen.show(&text(" so.\n"), at(5_100));
        screen.tick(at(7_000));
        let ended = Event::ModelRequestEnded {
            node: node(),
            model: "openai:m".to_owned(),
            status: NodeStatus::Completed,
            usage: None,
        };
        screen.show(&ended, at(7_500));
        screen.show(&tool(""), at(7_600));
        screen.show(&called(1), at(7_600));
        let ended = Event::CallEnded {
            node: node(),
            function: "f".to_owned(),
            status: NodeStatus::Completed,
        };
        screen.show(&ended, at(9_800));
        screen.show(&answered("found", false), at(9_800));
        screen.tick(at(11_000));
        screen.finish();
        let written = String::from_utf8(screen.out).unwrap();
        written
            .replace(CLEAR_LINE, "<clear>\n")
            .replace('\u{1b}', "<esc>")
    }

    #[test]
    fn a_silent_run_says_what_is_running_and_for_how_long() {
        expect![[r#"
            → acme:shop/desk.look-up
            … asking openai:m
            <esc>[?7l· asking openai:m, 1 s (in acme:shop/desk.look-up, 1 s)<esc>[?7h<clear>
            <esc>[?7l· asking openai:m, 2 s (in acme:shop/desk.look-up, 2 s)<esc>[?7h<clear>
            │ I think so.
            <esc>[?7l· asking openai:m, 6 s (in acme:shop/desk.look-up, 7 s)<esc>[?7h<clear>
            ✓ openai:m answered (7.4 s)
            ⚙ look_up
              ✓ found (2.2 s)
            <esc>[?7l· acme:shop/desk.look-up, 11 s<esc>[?7h<clear>
        "#]]
        .assert_eq(&silence(ALL));
    }

    #[test]
    fn nothing_is_written_over_where_that_is_not_possible() {
        let mode = Mode {
            overwrites: false,
            ..ALL
        };
        expect![[r#"
            → acme:shop/desk.look-up
            … asking openai:m
            │ I think so.
            ✓ openai:m answered (7.4 s)
            ⚙ look_up
              ✓ found (2.2 s)
        "#]]
        .assert_eq(&silence(mode));
    }
}
