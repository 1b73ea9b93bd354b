//! What is told of an event on a line of its own.

use std::time::Duration;

use openprogram_core::content::{MediaMismatch, ToolCall};
use openprogram_core::llm::{RetryInfo, StopReason};
use openprogram_core::session::NodeStatus;
use openprogram_runtime::Event;

use crate::commands::refused::Refusal;
use crate::commands::time::duration;
use crate::text::one_line;

/// Characters of a name on a line.
const NAME_CHARS_MAX: usize = 80;
/// Characters of arguments, results and errors on a line; the whole is in the graph.
const VALUE_CHARS_MAX: usize = 120;
/// From this time on it is told how long something took.
const TOLD_FROM: Duration = Duration::from_secs(1);

/// How something looks on a terminal with colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    Faint,
    Bad,
}

/// What is said of a reply that was shown in part and comes again.
const RESTARTED: &str = "… the reply above broke off and begins anew";

/// The name of a function, a model or a tool, cleaned and cut.
pub(super) fn name(name: &str) -> String {
    one_line(name, NAME_CHARS_MAX)
}

fn value(value: &str) -> String {
    one_line(value, VALUE_CHARS_MAX)
}

/// The line of an event; many are not worth one. `took` is the time of what has ended.
pub(super) fn line(event: &Event, took: Option<Duration>) -> Option<(Tone, String)> {
    let time = took
        .filter(|took| *took >= TOLD_FROM)
        .map(|took| format!(" ({})", time(took)));
    let is_long = time.is_some();
    let time = time.unwrap_or_default();
    Some(match event {
        Event::CallStarted {
            function, depth, ..
        } => {
            let indent = "  ".repeat(usize::try_from(*depth).unwrap_or(0).min(20));
            (Tone::Faint, format!("{indent}→ {}", name(function)))
        }
        Event::CallEnded {
            function, status, ..
        } => match status {
            NodeStatus::Completed if is_long => {
                (Tone::Faint, format!("✓ {}{time}", name(function)))
            }
            NodeStatus::Completed => return None,
            _ => (Tone::Bad, format!("✗ {}{time}", name(function))),
        },
        Event::ModelRequestStarted { model, .. } => {
            (Tone::Faint, format!("… asking {}", name(model)))
        }
        Event::ModelRequestEnded { model, status, .. } if is_long => match status {
            NodeStatus::Completed => (Tone::Faint, format!("✓ {} answered{time}", name(model))),
            _ => (Tone::Bad, format!("✗ {}{time}", name(model))),
        },
        Event::MediaMismatch { mismatch, .. } => (Tone::Bad, mismatch_line(mismatch)),
        Event::ModelRetried { retry, .. } => (Tone::Bad, format!("… {}", retry_line(retry))),
        Event::ReplyRestarted { .. } => (Tone::Bad, RESTARTED.to_owned()),
        Event::ToolUse { call, .. } => (Tone::Faint, tool_line(call)),
        Event::ToolResult { result, .. } => {
            let (tone, mark) = match result.is_error {
                true => (Tone::Bad, '✗'),
                false => (Tone::Faint, '✓'),
            };
            (tone, format!("  {mark} {}{time}", value(&result.text)))
        }
        Event::Progress {
            message, percent, ..
        } => {
            let percent = percent.map(|percent| format!(" ({percent}%)"));
            let line = format!("• {}{}", value(message), percent.unwrap_or_default());
            (Tone::Plain, line)
        }
        Event::DecisionPicked { option, .. } => (Tone::Faint, format!("✓ picked {}", name(option))),
        Event::DecisionRetried {
            kind, retries_left, ..
        } => (Tone::Bad, asked_again(kind, *retries_left)),
        Event::AccessRefused {
            component, access, ..
        } => (
            Tone::Bad,
            format!("✗ {}", Refusal::of(component, access)?.words()),
        ),
        Event::AnswerNotKept { what, problem, .. } => {
            (Tone::Bad, format!("! {}", not_kept_line(what, problem)))
        }
        Event::TurnEnded { stop, .. } => (Tone::Bad, format!("! {}", stop_words(*stop)?)),
        Event::Missed { count } => (Tone::Faint, format!("… {count} steps not shown")),
        _ => return None,
    })
}

/// A call that a model asked for.
fn tool_line(call: &ToolCall) -> String {
    let line = format!("⚙ {} {}", name(&call.name), value(&call.arguments));
    line.trim_end().to_owned()
}

/// What is said of the end of a reply; nothing of the usual one.
pub(super) fn stop_words(stop: StopReason) -> Option<&'static str> {
    Some(match stop {
        StopReason::End | StopReason::ToolUse | StopReason::Paused => return None,
        StopReason::Length => "the reply was cut off at its length limit",
        StopReason::Refusal => "the model refused, or its provider held the reply back",
        StopReason::Other => "the reply ended for an unknown reason and may be incomplete",
    })
}

fn asked_again(kind: &str, retries_left: u32) -> String {
    format!("… no valid pick ({kind}), asking again, {retries_left} left")
}

/// What a part of the content was taken for.
fn mismatch_line(mismatch: &MediaMismatch) -> String {
    let MediaMismatch { part, said, found } = mismatch;
    format!(
        "! part {part} is {found}, not {}, and is sent so",
        value(said)
    )
}

/// An answer for good that holds once.
pub(super) fn not_kept_line(what: &str, problem: &str) -> String {
    let (what, problem) = (value(what), one_line(problem, 1_000));
    format!("your answer to `{what}` holds this once: {problem}")
}

/// What failed, and when it is tried again.
pub(super) fn retry_line(retry: &RetryInfo) -> String {
    let RetryInfo {
        attempt,
        attempts_max,
        reason,
        asked,
        ..
    } = retry;
    let status = retry.http_status.map(|status| format!(" {status}"));
    format!(
        "try {attempt} of {attempts_max} of {} failed ({}{}), again in {}: {}",
        name(&asked.model),
        reason.as_str(),
        status.unwrap_or_default(),
        time(retry.sleep),
        value(&retry.error)
    )
}

fn time(time: Duration) -> String {
    duration(i64::try_from(time.as_millis()).unwrap_or(i64::MAX))
}
