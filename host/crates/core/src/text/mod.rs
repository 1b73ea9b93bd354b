//! Text of strangers: what guests, models, components and servers say, for models and for people.
//!
//! Whatever they say may hold escape sequences that drive a terminal, characters that nobody sees
//! and a model still reads, or characters that reorder what is read. It passes here before it is
//! shown or told: cleaned, bounded with a visible mark, and set off from our own words.

mod escape;
mod hidden;
mod piece;

use std::borrow::Cow;
use std::fmt::Write as _;

pub use piece::PieceCleaner;

/// How far the lines of a text stand in where it is set off from our own.
const INDENT: &str = "    ";
/// Ends a text of which only the beginning is shown.
const CUT: &str = " … [cut]";

/// Removes escape sequences, control characters, and what is invisible or reorders what is read;
/// keeps line breaks and tabs. Joiners and selectors stay where scripts and emoji need them.
#[must_use]
pub fn clean(text: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    if text.bytes().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut cleaned = String::with_capacity(text.len());
    piece::clean_into(text, &mut cleaned, &mut None, false);
    if cleaned == text {
        return Cow::Borrowed(text);
    }
    Cow::Owned(cleaned)
}

/// Whether cleaning leaves the text as it is: everything in it can be seen.
#[must_use]
pub fn is_clean(text: &str) -> bool {
    matches!(clean(text), Cow::Borrowed(_))
}

/// Whether the text can stand inside a line as it is: it is clean, and has no line breaks and tabs.
#[must_use]
pub fn is_clean_line(text: &str) -> bool {
    is_clean(text) && !text.contains(['\n', '\t'])
}

/// Cleaned text on one line of at most `chars_max` characters; a cut is shown as `…`.
#[must_use]
pub fn one_line(text: &str, chars_max: usize) -> String {
    // The head is enough: a reply may be megabytes long, and its white space is joined below.
    let head_bytes = text.floor_char_boundary(chars_max.saturating_mul(16).max(1024));
    let cleaned = clean(&text[..head_bytes]);
    let joined = cleaned.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_cut = head_bytes < text.len() || joined.chars().count() > chars_max;
    if !is_cut {
        return joined;
    }
    let mut cut: String = joined.chars().take(chars_max.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

/// JSON text in which characters that nobody would see as they are are written as `\u` escapes. The
/// value stays the same: such characters only stand inside strings.
#[must_use]
pub fn escape_json(json: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~' | b'\n');
    if json.bytes().all(is_plain) {
        return Cow::Borrowed(json);
    }
    let mut escaped = String::with_capacity(json.len());
    let mut before = None;
    let mut rest = json.chars();
    while let Some(c) = rest.next() {
        let is_shown = match c {
            '\n' => true,
            c if c.is_control() => false,
            c => hidden::sight(before, c, rest.as_str()) == hidden::Sight::Shown,
        };
        if is_shown {
            escaped.push(c);
            before = Some(c);
            continue;
        }
        let mut units = [0; 2];
        for unit in c.encode_utf16(&mut units) {
            // Writing to a string cannot fail.
            let _ = write!(escaped, "\\u{unit:04x}");
        }
        before = escaped.chars().next_back();
    }
    Cow::Owned(escaped)
}

/// The text, or its first 70 and last 30 percent around a line that says what is left out.
#[must_use]
pub fn cut(text: &str, bytes_max: usize) -> Cow<'_, str> {
    if text.len() <= bytes_max {
        return Cow::Borrowed(text);
    }
    let head = text.floor_char_boundary(bytes_max / 10 * 7);
    let tail = text.ceil_char_boundary(text.len() - bytes_max / 10 * 3);
    let left_out = tail - head;
    Cow::Owned(format!(
        "{}\n[… {left_out} bytes left out …]\n{}",
        &text[..head],
        &text[tail..]
    ))
}

/// The text, or its beginning and a mark that the rest is left out; both have at most `bytes_max`
/// bytes.
#[must_use]
pub fn head(text: &str, bytes_max: usize) -> Cow<'_, str> {
    if text.len() <= bytes_max {
        return Cow::Borrowed(text);
    }
    let end = text.floor_char_boundary(bytes_max.saturating_sub(CUT.len()));
    Cow::Owned(format!("{}{CUT}", &text[..end]))
}

/// A text behind a label of ours, such as `Result:`, so that no line of it can pass for ours: on the
/// line of the label, or below it with every line set in.
#[must_use]
pub fn set_off(label: &str, text: &str) -> String {
    let text = text.trim_end_matches('\n');
    if text.contains('\n') {
        format!("{label}\n{}", set_in(text))
    } else {
        format!("{label} {text}")
    }
}

/// The text with every line set in, empty ones excepted.
#[must_use]
pub fn set_in(text: &str) -> String {
    let lines = text.split('\n').map(|line| match line {
        "" => String::new(),
        line => format!("{INDENT}{line}"),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// How many bytes a text takes at most when every line of it is set in.
#[must_use]
pub fn set_in_bytes(text: &str) -> usize {
    let lines = text.bytes().filter(|byte| *byte == b'\n').count() + 1;
    text.len() + INDENT.len() * lines
}

#[cfg(test)]
mod tests;
