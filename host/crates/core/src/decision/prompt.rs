//! What a model reads besides the menu: the re-ask and the instruction to end with a pick.

use super::menu::Menu;
use super::pick::PickError;
use crate::text::{clean, set_in};

/// How many characters of the previous reply a re-ask repeats from its beginning.
const HEAD_CHARS: usize = 500;
/// How many from its end, where the pick stands.
const TAIL_CHARS: usize = 500;

/// The one instruction that a turn with options to choose from gets besides the menu.
#[must_use]
pub fn finish_instruction() -> &'static str {
    "First do the work. When it is done, end your last message with exactly one JSON object that \
     picks one of the options below, in the form of its `Call:` line, and write nothing after it."
}

/// The text with which a model is asked again after an invalid pick.
#[must_use]
pub fn render_retry(menu: &Menu, reply: &str, error: &PickError) -> String {
    format!(
        "Your previous reply gave no valid pick.\n\n\
         Previous reply:\n{}\n\n\
         Problem: {}\n\n\
         Options:\n\n{}\n\
         Pick one of the options. Reply with one JSON object in the form of its `Call:` line and \
         nothing else.",
        quoted(reply),
        error.message,
        menu.text(),
    )
}

/// A reply, set in: it may repeat what it read, menus included.
fn quoted(reply: &str) -> String {
    match clean(reply) {
        reply if reply.trim().is_empty() => "(empty)".to_owned(),
        reply => set_in(head_and_tail(&reply).trim_end()),
    }
}

/// The beginning and the end of a reply, what lies between named by its length.
fn head_and_tail(reply: &str) -> String {
    let count = reply.chars().count();
    if count <= HEAD_CHARS + TAIL_CHARS {
        return reply.to_owned();
    }
    let head: String = reply.chars().take(HEAD_CHARS).collect();
    let tail: String = reply.chars().skip(count - TAIL_CHARS).collect();
    let left_out = count - HEAD_CHARS - TAIL_CHARS;
    format!("{head}\n[… {left_out} characters left out …]\n{tail}")
}
