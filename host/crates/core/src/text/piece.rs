//! The cleaning itself, of a whole text and of one that arrives in pieces.

use super::escape;
use super::hidden::{Sight, flag, sight, waits_for_more};

/// Most bytes of an unfinished escape sequence that wait for the rest; titles and links are shorter.
pub(super) const HELD_BYTES_MAX: usize = 256;

/// Cleans a text that arrives in pieces: a sequence that is cut between two of them is removed too.
#[derive(Debug, Default)]
pub struct PieceCleaner {
    held: String,
    /// The last character that was shown.
    before: Option<char>,
}

impl PieceCleaner {
    /// What can be shown of the text so far and was not given before.
    pub fn push(&mut self, piece: &str) -> String {
        self.held.push_str(piece);
        let mut cleaned = String::with_capacity(self.held.len());
        let done = clean_into(&self.held, &mut cleaned, &mut self.before, true);
        if self.held.len() - done > HELD_BYTES_MAX {
            clean_into(&self.held[done..], &mut cleaned, &mut self.before, false);
            self.held.clear();
        } else {
            self.held.drain(..done);
        }
        cleaned
    }

    /// The rest of a text that goes no further.
    pub fn finish(&mut self) -> String {
        let mut cleaned = String::with_capacity(self.held.len());
        clean_into(&self.held, &mut cleaned, &mut self.before, false);
        *self = Self::default();
        cleaned
    }
}

/// Cleans a text and gives the place up to which that was done: its end, or where something begins
/// that is not finished, when the text `may_go_on`. `before` is the last character that was shown.
pub(super) fn clean_into(
    text: &str,
    cleaned: &mut String,
    before: &mut Option<char>,
    may_go_on: bool,
) -> usize {
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if let Some(is_finished) = escape::skip(c, &mut chars) {
            if may_go_on && !is_finished {
                return at;
            }
            continue;
        }
        let after = &text[at + c.len_utf8()..];
        if may_go_on && waits_for_more(*before, c, after) {
            return at;
        }
        if let Some(flag) = flag(*before, &text[at..]) {
            cleaned.push_str(flag);
            *before = flag.chars().next_back();
            while chars.next_if(|(next, _)| *next < at + flag.len()).is_some() {}
            continue;
        }
        let shown = match sight(*before, c, after) {
            Sight::Shown => c,
            Sight::LineBreak => '\n',
            Sight::Hidden => continue,
        };
        cleaned.push(shown);
        *before = Some(shown);
    }
    text.len()
}
