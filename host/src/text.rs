//! Text of models and guests, made safe and short for a terminal.
//!
//! Whatever a model or a component says may hold escape sequences that recolour, retitle or drive
//! a terminal, or characters that reorder what is read. Everything that people see passes here.

/// Removes escape sequences, control characters and reordering marks; keeps line breaks and tabs.
#[must_use]
pub fn clean(text: &str) -> String {
    let mut cleaned = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_escape(&mut chars),
            // The same introducers as single characters: CSI, and the strings DCS, SOS, OSC, PM, APC.
            '\u{9b}' => skip_sequence(&mut chars),
            '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => skip_string(&mut chars),
            '\n' | '\t' => cleaned.push(c),
            // A line break of other systems is one line break.
            '\r' if chars.peek() == Some(&'\n') => {}
            c if is_unsafe(c) => {}
            c => cleaned.push(c),
        }
    }
    cleaned
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

/// What follows ESC: a sequence, a string, or intermediate characters and one final one.
fn skip_escape(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.peek() {
        Some('[') => {
            chars.next();
            skip_sequence(chars);
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            chars.next();
            skip_string(chars);
        }
        _ => {
            while chars.next_if(|c| matches!(c, ' '..='/')).is_some() {}
            chars.next_if(|c| matches!(c, '0'..='~'));
        }
    }
}

/// Parameters and intermediate characters up to the final one. Anything else ends the sequence.
fn skip_sequence(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    while chars.next_if(|c| matches!(c, ' '..='?')).is_some() {}
    chars.next_if(|c| matches!(c, '@'..='~'));
}

/// A string up to its terminator. Without one on the line it is no string, and its text is shown.
fn skip_string(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    let mut ahead = chars.clone();
    while let Some(c) = ahead.next() {
        match c {
            '\u{7}' | '\u{9c}' => {}
            '\u{1b}' if ahead.next_if_eq(&'\\').is_some() => {}
            // Another opening ends the search, so that many openings cost linear time.
            '\n' | '\u{1b}' | '\u{90}' | '\u{98}' | '\u{9b}' | '\u{9d}'..='\u{9f}' => return,
            _ => continue,
        }
        *chars = ahead;
        return;
    }
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
