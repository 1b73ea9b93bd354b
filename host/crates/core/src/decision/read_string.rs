//! Reads texts: JSON's, single-quoted ones, and ones with raw line breaks.

use std::borrow::Cow;

use super::read::{Ended, Reader, Stop};
use super::repair::Repair;

impl<'a> Reader<'a> {
    /// Reads the text that begins with the quote at the position.
    pub(super) fn string(&mut self, quote: u8) -> Result<Cow<'a, str>, Stop> {
        if quote == b'\'' {
            self.repairs.add(Repair::SingleQuotes);
        }
        let mut at = self.at + 1;
        let mut begin = at;
        let mut unescaped: Option<String> = None;
        loop {
            let rest = &self.bytes[at..];
            let stop = |byte: &u8| *byte == quote || *byte == b'\\' || *byte < 0x20;
            let Some(plain) = rest.iter().position(stop) else {
                return Err(Stop::End(Ended::Inside));
            };
            at += plain;
            match self.bytes[at] {
                b'\\' => {
                    let (character, length) = self.escape(at)?;
                    let text = unescaped.get_or_insert_default();
                    text.push_str(&self.text[begin..at]);
                    text.push(character);
                    at += length;
                    begin = at;
                }
                b'\n' | b'\r' | b'\t' if quote == b'"' => {
                    self.repairs.add(Repair::RawLineBreaks);
                    at += 1;
                }
                byte if byte == quote => break,
                _ => {
                    self.at = at;
                    return Err(Stop::Syntax);
                }
            }
        }
        self.at = at + 1;
        let rest = &self.text[begin..at];
        Ok(match unescaped {
            None => Cow::Borrowed(rest),
            Some(text) => Cow::Owned(text + rest),
        })
    }

    /// The character of the escape at a backslash, and the length of the escape.
    fn escape(&mut self, at: usize) -> Result<(char, usize), Stop> {
        let Some(&kind) = self.bytes.get(at + 1) else {
            return Err(Stop::End(Ended::Inside));
        };
        let character = match kind {
            b'"' | b'\\' | b'/' => char::from(kind),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'\'' => {
                self.repairs.add(Repair::SingleQuotes);
                '\''
            }
            b'u' => return self.unicode(at),
            _ => {
                self.at = at;
                return Err(Stop::Syntax);
            }
        };
        Ok((character, 2))
    }

    fn unicode(&mut self, at: usize) -> Result<(char, usize), Stop> {
        let unit = |at: usize| {
            let digits = self.bytes.get(at + 2..at + 6)?;
            let escape = self.bytes.get(at..at + 2)? == b"\\u";
            let hexadecimal = escape && digits.iter().all(u8::is_ascii_hexdigit);
            let digits = std::str::from_utf8(digits).ok().filter(|_| hexadecimal)?;
            u16::from_str_radix(digits, 16).ok()
        };
        let read = unit(at).and_then(|first| match char::from_u32(first.into()) {
            Some(character) => Some((character, 6)),
            None => {
                let pair = [first, unit(at + 6)?];
                let character = char::decode_utf16(pair).next()?.ok()?;
                Some((character, 12))
            }
        });
        read.ok_or_else(|| {
            self.at = at;
            let rest = &self.bytes[at..];
            let closed = || rest.iter().any(|byte| matches!(byte, b'"' | b'\''));
            if rest.len() < 12 && !closed() {
                Stop::End(Ended::Inside)
            } else {
                Stop::Syntax
            }
        })
    }
}
