//! Text of models and guests, made safe and short for a terminal.
//!
//! Whatever a model or a component says may hold escape sequences that recolour, retitle or drive
//! a terminal, or characters that reorder what is read. Everything that people see passes here.

/// Most bytes of an unfinished escape sequence that wait for the rest; titles and links are shorter.
const HELD_BYTES_MAX: usize = 256;

/// Removes escape sequences, control characters and reordering marks; keeps line breaks and tabs.
#[must_use]
pub fn clean(text: &str) -> String {
    let mut cleaned = String::with_capacity(text.len());
    clean_into(text, &mut cleaned, false);
    cleaned
}

/// Cleans a text that arrives in pieces: a sequence that is cut between two of them is removed too.
#[derive(Debug, Default)]
pub struct PieceCleaner {
    held: String,
}

impl PieceCleaner {
    /// What can be shown of the text so far and was not given before.
    pub fn push(&mut self, piece: &str) -> String {
        self.held.push_str(piece);
        let mut cleaned = String::with_capacity(self.held.len());
        let done = clean_into(&self.held, &mut cleaned, true);
        if self.held.len() - done > HELD_BYTES_MAX {
            cleaned.push_str(&clean(&self.held[done..]));
            self.held.clear();
        } else {
            self.held.drain(..done);
        }
        cleaned
    }

    /// The rest of a text that goes no further.
    pub fn finish(&mut self) -> String {
        clean(&std::mem::take(&mut self.held))
    }
}

/// Cleans a text and gives the place up to which that was done: its end, or where a sequence begins
/// that is not finished, when one `may_go_on`.
fn clean_into(text: &str, cleaned: &mut String, may_go_on: bool) -> usize {
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let is_finished = match c {
            '\u{1b}' => skip_escape(&mut chars),
            // The same introducers as single characters: CSI, and the strings DCS, SOS, OSC, PM, APC.
            '\u{9b}' => skip_sequence(&mut chars),
            '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => skip_string(&mut chars),
            '\n' | '\t' => {
                cleaned.push(c);
                true
            }
            c => {
                // The `\r` of a line break of other systems is unsafe too.
                if !is_unsafe(c) {
                    cleaned.push(c);
                }
                true
            }
        };
        if may_go_on && !is_finished {
            return at;
        }
    }
    text.len()
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

/// JSON text in which characters that a terminal acts on are written as `\u` escapes. The value
/// stays the same: such characters only stand inside strings.
#[must_use]
pub fn escape_json(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        if is_unsafe(c) && c != '\n' {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                escaped.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            escaped.push(c);
        }
    }
    escaped
}

/// Whether a terminal may act on the character, or show the text in another order.
fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

type Rest<'a> = std::iter::Peekable<std::str::CharIndices<'a>>;

/// What follows ESC: a sequence, a string, or intermediate characters and one final one. Says whether
/// its end was found, as the functions below do.
fn skip_escape(chars: &mut Rest) -> bool {
    match chars.peek() {
        Some((_, '[')) => {
            chars.next();
            skip_sequence(chars)
        }
        Some((_, ']' | 'P' | 'X' | '^' | '_')) => {
            chars.next();
            skip_string(chars)
        }
        _ => {
            while chars.next_if(|(_, c)| matches!(c, ' '..='/')).is_some() {}
            chars.next_if(|(_, c)| matches!(c, '0'..='~')).is_some() || chars.peek().is_some()
        }
    }
}

/// Parameters and intermediate characters up to the final one. Anything else ends the sequence.
fn skip_sequence(chars: &mut Rest) -> bool {
    while chars.next_if(|(_, c)| matches!(c, ' '..='?')).is_some() {}
    chars.next_if(|(_, c)| matches!(c, '@'..='~')).is_some() || chars.peek().is_some()
}

/// A string up to its terminator. Without one on the line it is no string, and its text is shown.
fn skip_string(chars: &mut Rest) -> bool {
    let mut ahead = chars.clone();
    while let Some((_, c)) = ahead.next() {
        match c {
            '\u{7}' | '\u{9c}' => {}
            '\u{1b}' => match ahead.next() {
                Some((_, '\\')) => {}
                // Another opening ends the search, so that many openings cost linear time.
                Some(_) => return true,
                None => return false,
            },
            '\n' | '\u{90}' | '\u{98}' | '\u{9b}' | '\u{9d}'..='\u{9f}' => return true,
            _ => continue,
        }
        *chars = ahead;
        return true;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_drives_a_terminal_is_removed() {
        for (text, cleaned) in [
            ("plain\n\ttext é 日本", "plain\n\ttext é 日本"),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{1b}]0;title\u{7}after", "after"),
            ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{9b}2Jcleared", "cleared"),
            ("\u{9d}0;title\u{9c}after", "after"),
            ("\u{1b}Pq#1\u{1b}\\after", "after"),
            ("\u{1b}(Bafter\u{1b}cx", "afterx"),
            ("\u{1b}]no end\nnext", "no end\nnext"),
            ("\u{1b}[", ""),
            ("\u{1b}", ""),
            ("a\u{8}\u{0}\u{7f}b\u{85}c", "abc"),
            ("dos\r\nmac\rend", "dos\nmacend"),
            ("\u{202e}evil\u{2066}\u{200f}", "evil"),
        ] {
            assert_eq!(clean(text), cleaned, "{text:?}");
        }
    }

    #[test]
    fn a_text_in_pieces_is_cleaned_as_a_whole() {
        for text in [
            "plain é\n\ttext",
            "\u{1b}[31mred\u{1b}[0m.",
            "\u{1b}]0;title\u{7}after",
            "\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\.",
            "\u{9d}0;title\u{9c}after\u{9b}2J!",
            "\u{1b}]no end\nnext",
            "\u{1b}(Bafter\u{1b}cx\u{1b}",
            "\u{1b}[",
        ] {
            let mut cleaner = PieceCleaner::default();
            let mut cleaned = String::new();
            for c in text.chars() {
                cleaned += &cleaner.push(c.encode_utf8(&mut [0; 4]));
            }
            cleaned += &cleaner.finish();
            assert_eq!(cleaned, clean(text), "{text:?}");
        }
        // A string without an end is held for a while only.
        let mut cleaner = PieceCleaner::default();
        let shown = cleaner.push(&format!("\u{1b}]{}", "x".repeat(HELD_BYTES_MAX)));
        assert_eq!(shown, "x".repeat(HELD_BYTES_MAX));
    }

    #[test]
    fn many_openings_without_an_end_cost_linear_time() {
        for opening in ["\u{1b}]", "\u{9d}", "\u{1b}[", "\u{9b}"] {
            assert_eq!(clean(&opening.repeat(1_000_000)), "");
        }
    }

    #[test]
    fn a_line_is_joined_and_cut() {
        for (text, chars_max, line) in [
            ("a\n  b\tc", 10, "a b c"),
            ("abcdef", 6, "abcdef"),
            ("abcdefg", 6, "abcde…"),
            ("日本語日本語", 4, "日本語…"),
            ("", 4, ""),
            ("\u{1b}[31ma", 4, "a"),
        ] {
            assert_eq!(one_line(text, chars_max), line, "{text:?}");
        }
        assert_eq!(one_line(&" x".repeat(1_000_000), 6), "x x x…");
    }

    #[test]
    fn json_keeps_its_value_without_characters_a_terminal_acts_on() {
        let value = serde_json::json!({"a\u{9b}": "\u{202e}x\u{7f}é"});
        let text = serde_json::to_string_pretty(&value).unwrap();
        let escaped = escape_json(&text);
        assert_eq!(escaped, "{\n  \"a\\u009b\": \"\\u202ex\\u007fé\"\n}");
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&escaped).unwrap(),
            value
        );
    }
}
