//! Reads one JSON object out of a text, forgiving slips that lose nothing.
//!
//! One pass with an explicit stack: time is linear in the bytes read, and neither nesting nor
//! length of a hostile text reaches the call stack. Truncated objects are never completed.

use std::borrow::Cow;

use super::node::{Members, Node, has_member};
use super::repair::{Defect, Repair, Repairs};
use crate::schema::is_number;

/// How many levels are built. Deeper parts are read over and reported as a [`Defect`], because
/// dropping a deeper value would recurse; arguments may only be half as deep.
const LEVELS_BUILT_MAX: usize = 2 * crate::schema::JSON_DEPTH_MAX;

/// The keys under which a pick names its option, the strongest first.
pub(super) const CALL_KEYS: [&str; 4] = ["call", "action", "function", "tool"];

/// What came of reading from a brace.
pub(super) enum Read<'a> {
    /// A complete object.
    Object {
        /// The object.
        members: Members<'a>,
        /// The position after it.
        end: usize,
        /// What was forgiven.
        repairs: Repairs,
        /// What the object holds that JSON or we cannot hold.
        defect: Option<Defect>,
    },
    /// The text is no object.
    Broken(Broken),
}

/// Where and how reading stopped.
pub(super) struct Broken {
    /// The position of the first byte that does not fit.
    pub(super) at: usize,
    /// How many braces were open there.
    pub(super) open: usize,
    /// Whether nothing but a brace and at most one token was read.
    pub(super) bare: bool,
    /// Whether one of the open objects has a key that names an option.
    pub(super) pick_like: bool,
    /// How the text ended, if it did.
    pub(super) ended: Option<Ended>,
}

/// How a text ended inside an object.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// Between tokens.
    Between,
    /// Inside a text or a comment, which may have begun by accident.
    Inside,
}

enum Frame<'a> {
    Object(Members<'a>, Option<Cow<'a, str>>),
    Array(Vec<Node<'a>>),
}

#[derive(Clone, Copy)]
enum Expect {
    Value,
    ValueOrEnd,
    KeyOrEnd,
    Colon,
    CommaOrEnd,
}

/// Why reading stopped.
pub(super) enum Stop {
    /// The byte at the position does not fit.
    Syntax,
    /// The text ended.
    End(Ended),
}

/// A position in the text and everything that is open there.
pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
    frames: Vec<Frame<'a>>,
    /// The closing brackets of containers that are too deep to build, innermost last.
    skipped: Vec<u8>,
    expect: Expect,
    after_comma: bool,
    pub(super) repairs: Repairs,
    defect: Option<Defect>,
}

impl<'a> Reader<'a> {
    /// A reader of a text; it may read many objects.
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            at: 0,
            frames: Vec::new(),
            skipped: Vec::new(),
            expect: Expect::KeyOrEnd,
            after_comma: false,
            repairs: Repairs::default(),
            defect: None,
        }
    }

    /// Reads the object that begins at the brace at `start`.
    pub(super) fn read_object(&mut self, start: usize) -> Read<'a> {
        self.at = start + 1;
        self.frames.clear();
        self.frames.push(Frame::Object(Vec::new(), None));
        self.skipped.clear();
        self.expect = Expect::KeyOrEnd;
        self.after_comma = false;
        self.repairs = Repairs::default();
        self.defect = None;
        loop {
            match self.step() {
                Ok(None) => {}
                Ok(Some(members)) => {
                    return Read::Object {
                        members,
                        end: self.at,
                        repairs: self.repairs,
                        defect: self.defect.take(),
                    };
                }
                Err(stop) => return Read::Broken(self.broken(&stop)),
            }
        }
    }

    fn broken(&self, stop: &Stop) -> Broken {
        let mut open = self.skipped.iter().filter(|close| **close == b'}').count();
        let mut pick_like = false;
        for frame in &self.frames {
            if let Frame::Object(members, key) = frame {
                open += 1;
                pick_like |= CALL_KEYS.iter().any(|name| has_member(members, name))
                    || key.as_deref().is_some_and(|key| CALL_KEYS.contains(&key));
            }
        }
        let bare = match self.frames.as_slice() {
            [Frame::Object(members, _)] => members.is_empty() && self.skipped.is_empty(),
            _ => false,
        };
        Broken {
            at: self.at,
            open,
            bare: bare && !pick_like,
            pick_like,
            ended: match stop {
                Stop::Syntax => None,
                Stop::End(ended) => Some(*ended),
            },
        }
    }

    /// Reads one token; the object when it was the last one.
    fn step(&mut self) -> Result<Option<Members<'a>>, Stop> {
        self.space()?;
        let Some(&byte) = self.bytes.get(self.at) else {
            return Err(Stop::End(Ended::Between));
        };
        match self.expect {
            Expect::KeyOrEnd if byte == b'}' => return self.close(byte),
            Expect::ValueOrEnd if byte == b']' => return self.close(byte),
            Expect::KeyOrEnd => self.key(byte)?,
            Expect::Value | Expect::ValueOrEnd => self.value(byte)?,
            Expect::Colon if byte == b':' => self.move_on(Expect::Value),
            Expect::CommaOrEnd if byte == b',' => {
                let in_object = self.closer() == b'}';
                self.move_on(if in_object {
                    Expect::KeyOrEnd
                } else {
                    Expect::ValueOrEnd
                });
                self.after_comma = true;
            }
            Expect::CommaOrEnd if byte == self.closer() => return self.close(byte),
            Expect::Colon | Expect::CommaOrEnd => return Err(Stop::Syntax),
        }
        Ok(None)
    }

    fn move_on(&mut self, expect: Expect) {
        self.at += 1;
        self.expect = expect;
        self.after_comma = false;
    }

    /// The bracket that closes the innermost open container.
    fn closer(&self) -> u8 {
        match (self.skipped.last(), self.frames.last()) {
            (Some(close), _) => *close,
            (None, Some(Frame::Array(_))) => b']',
            (None, _) => b'}',
        }
    }

    fn close(&mut self, byte: u8) -> Result<Option<Members<'a>>, Stop> {
        if byte != self.closer() {
            return Err(Stop::Syntax);
        }
        if self.after_comma {
            self.repairs.add(Repair::TrailingComma);
        }
        self.move_on(Expect::CommaOrEnd);
        if self.skipped.pop().is_some() {
            if self.skipped.is_empty() {
                self.finish(Node::Null);
            }
            return Ok(None);
        }
        match self.frames.pop() {
            Some(Frame::Object(members, _)) if self.frames.is_empty() => Ok(Some(members)),
            Some(Frame::Object(members, _)) => {
                self.finish(Node::Object(members));
                Ok(None)
            }
            Some(Frame::Array(items)) => {
                self.finish(Node::Array(items));
                Ok(None)
            }
            None => Err(Stop::Syntax),
        }
    }

    /// Puts a complete value into the container around it.
    fn finish(&mut self, value: Node<'a>) {
        self.expect = Expect::CommaOrEnd;
        if !self.skipped.is_empty() {
            return;
        }
        match self.frames.last_mut() {
            Some(Frame::Object(members, key)) => members.extend(key.take().map(|key| (key, value))),
            Some(Frame::Array(items)) => items.push(value),
            None => {}
        }
    }

    fn key(&mut self, byte: u8) -> Result<(), Stop> {
        if byte != b'"' && byte != b'\'' {
            return Err(Stop::Syntax);
        }
        let name = self.string(byte)?;
        if let (true, Some(Frame::Object(_, key))) =
            (self.skipped.is_empty(), self.frames.last_mut())
        {
            *key = Some(name);
        }
        self.expect = Expect::Colon;
        self.after_comma = false;
        Ok(())
    }

    fn value(&mut self, byte: u8) -> Result<(), Stop> {
        self.after_comma = false;
        let value = match byte {
            b'{' | b'[' => {
                self.open(byte == b'{');
                return Ok(());
            }
            b'"' | b'\'' => Node::Text(self.string(byte)?),
            b'-' | b'0'..=b'9' => self.number()?,
            _ => self.word()?,
        };
        self.finish(value);
        Ok(())
    }

    fn open(&mut self, object: bool) {
        self.move_on(if object {
            Expect::KeyOrEnd
        } else {
            Expect::ValueOrEnd
        });
        if !self.skipped.is_empty() || self.frames.len() == LEVELS_BUILT_MAX {
            // One byte for each level, so that a flood of brackets stays small.
            self.skipped.push(if object { b'}' } else { b']' });
            self.defect.get_or_insert(Defect::TooDeep);
        } else if object {
            self.frames.push(Frame::Object(Vec::new(), None));
        } else {
            self.frames.push(Frame::Array(Vec::new()));
        }
    }

    fn word(&mut self) -> Result<Node<'a>, Stop> {
        let rest = &self.bytes[self.at..];
        let length = rest.iter().take_while(|byte| is_word(**byte)).count();
        let (value, python) = match &rest[..length] {
            b"true" => (Node::Bool(true), false),
            b"false" => (Node::Bool(false), false),
            b"null" => (Node::Null, false),
            b"True" => (Node::Bool(true), true),
            b"False" => (Node::Bool(false), true),
            b"None" => (Node::Null, true),
            b"NaN" | b"Infinity" => {
                self.defect.get_or_insert(Defect::NotFinite);
                (Node::Null, false)
            }
            _ => return Err(self.syntax_or_end(length)),
        };
        if python {
            self.repairs.add(Repair::PythonLiterals);
        }
        self.at += length;
        Ok(value)
    }

    /// A token that reaches to the end of the text is cut off rather than wrong.
    fn syntax_or_end(&self, length: usize) -> Stop {
        if length > 0 && self.at + length == self.bytes.len() {
            Stop::End(Ended::Between)
        } else {
            Stop::Syntax
        }
    }

    fn number(&mut self) -> Result<Node<'a>, Stop> {
        let rest = &self.bytes[self.at..];
        if rest.starts_with(b"-I") {
            self.at += 1;
            return self.word();
        }
        let in_number = |byte: &&u8| is_word(**byte) || matches!(**byte, b'+' | b'-' | b'.');
        let length = rest.iter().take_while(in_number).count();
        let text = &self.text[self.at..self.at + length];
        if !is_number(text) {
            return Err(self.syntax_or_end(length));
        }
        self.at += length;
        Ok(Node::Number(text))
    }

    fn space(&mut self) -> Result<(), Stop> {
        loop {
            let rest = &self.bytes[self.at..];
            match rest {
                [b' ' | b'\t' | b'\n' | b'\r', ..] => self.at += 1,
                [b'/', b'*', rest @ ..] => {
                    let end = rest.windows(2).position(|pair| pair == b"*/");
                    let end = end.ok_or(Stop::End(Ended::Inside))?;
                    self.at += end + 4;
                    self.repairs.add(Repair::Comments);
                }
                [b'/', b'/', ..] | [b'#', ..] => {
                    let end = rest.iter().position(|byte| *byte == b'\n');
                    self.at += end.ok_or(Stop::End(Ended::Inside))?;
                    self.repairs.add(Repair::Comments);
                }
                _ => return Ok(()),
            }
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
