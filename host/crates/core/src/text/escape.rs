//! Escape sequences of terminals: where they begin and where they end (ECMA-48).

/// The characters that are left of a text.
pub(super) type Rest<'a> = std::iter::Peekable<std::str::CharIndices<'a>>;

/// Passes over the sequence that a character begins, and says whether its end was found; `None` when
/// the character begins none.
pub(super) fn skip(c: char, chars: &mut Rest) -> Option<bool> {
    match c {
        '\u{1b}' => Some(skip_escape(chars)),
        // The same introducers as single characters: CSI, and the strings DCS, SOS, OSC, PM, APC.
        '\u{9b}' => Some(skip_sequence(chars)),
        '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => Some(skip_string(chars)),
        _ => None,
    }
}

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
