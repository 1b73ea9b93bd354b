//! Finds the picks that a reply holds.
//!
//! Every brace outside an object may begin one. Work is linear in the length of the reply: text is
//! read a second time only within a budget, after which a brace begun by accident swallows what
//! was read from it.

use std::collections::VecDeque;

use super::node::{Members, Node, has_member, into_object, repeated, shown_key};
use super::pick::{PickError, PickErrorKind};
use super::read::{Broken, CALL_KEYS, Ended, Read, Reader};
use super::repair::{Defect, Repair, Repairs};
use crate::{Json, JsonObject};

/// How long a reply may be, in bytes; a longer one is not read. Models stop long before.
pub const REPLY_BYTES_MAX: usize = 1024 * 1024;
/// How many picks of one reply are looked at, the last ones.
pub const CANDIDATES_MAX: usize = 256;

/// The keys under which a pick holds its arguments, the proper one first.
pub(super) const ARGUMENT_KEYS: [&str; 4] = ["args", "arguments", "parameters", "input"];

/// One complete object of a reply that names an option.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// What stands where the name of the option is expected; any JSON value.
    pub call: Json,
    /// Everything else in the object.
    pub rest: JsonObject,
    pub(super) repairs: Repairs,
    pub(super) defect: Option<Defect>,
}

impl Candidate {
    /// What had to be forgiven to read the object, in words.
    #[must_use]
    pub fn repairs(&self) -> Vec<String> {
        self.repairs.in_words()
    }
}

/// A [`Candidate`] that still points into the reply.
pub(super) struct Found<'a> {
    key: &'static str,
    members: Members<'a>,
    repairs: Repairs,
    defect: Option<Defect>,
    start: usize,
}

impl Found<'_> {
    /// The name of the option, where a name stands.
    pub(super) fn name(&self) -> Option<&str> {
        let mut members = self.members.iter().rev();
        match members.find(|(key, _)| key == self.key) {
            Some((_, Node::Text(name))) => Some(name),
            _ => None,
        }
    }

    pub(super) fn into_candidate(self) -> Candidate {
        // Of several names of an option the last one counts.
        let repeated = || repeated(&self.members, Some(self.key)).map(shown_key);
        let defect = self.defect.or_else(|| repeated().map(Defect::Repeated));
        let mut rest = into_object(self.members);
        Candidate {
            call: rest.shift_remove(self.key).unwrap_or_default(),
            rest,
            repairs: self.repairs,
            defect,
        }
    }
}

/// Finds the picks of a reply in the order in which they stand, at most [`CANDIDATES_MAX`] of them.
///
/// An object is a pick when it has one of the keys `call`, `action`, `function`, `tool`. Inside
/// another object only the key `call` counts, and nothing counts inside the arguments or other
/// members of a pick. What stands in a `<think>` block is not looked at.
///
/// # Errors
/// [`PickErrorKind::NoAction`] when there is none.
pub fn extract(reply: &str) -> Result<Vec<Candidate>, PickError> {
    let found = find(reply)?.into_iter();
    Ok(found.map(Found::into_candidate).collect())
}

/// [`extract`] without making values of what is found.
pub(super) fn find(reply: &str) -> Result<VecDeque<Found<'_>>, PickError> {
    if reply.len() > REPLY_BYTES_MAX {
        return Err(no_action(format!(
            "the reply has {} bytes, more than the limit of {REPLY_BYTES_MAX}",
            reply.len()
        )));
    }
    let mut scan = Scan {
        text: reply,
        reader: Reader::new(reply),
        at: 0,
        budget: reply.len(),
        candidates: VecDeque::new(),
        in_fence: false,
        thinking_since: None,
        open: 0,
        broken: Vec::new(),
        cut_off: false,
    };
    while scan.step() {}
    if scan.candidates.is_empty() {
        let what = if scan.cut_off {
            "the reply ends inside a JSON object"
        } else {
            "the reply holds no JSON object with the key \"call\""
        };
        return Err(no_action(what.to_owned()));
    }
    Ok(scan.candidates)
}

fn no_action(message: String) -> PickError {
    PickError {
        kind: PickErrorKind::NoAction,
        message,
    }
}

struct Scan<'a> {
    text: &'a str,
    reader: Reader<'a>,
    at: usize,
    /// How many bytes may still be read a second time.
    budget: usize,
    candidates: VecDeque<Found<'a>>,
    in_fence: bool,
    thinking_since: Option<usize>,
    /// How many braces of broken objects are still open.
    open: usize,
    /// The broken picks that are still open: where they began and how many braces were open then.
    broken: Vec<(usize, usize)>,
    cut_off: bool,
}

impl<'a> Scan<'a> {
    /// Goes to the next byte that means something, and past it; `false` at the end.
    fn step(&mut self) -> bool {
        let rest = &self.text.as_bytes()[self.at..];
        let means = |byte: &u8| matches!(byte, b'{' | b'}' | b'`' | b'<');
        let Some(next) = rest.iter().position(means) else {
            return false;
        };
        self.at += next;
        let rest = &rest[next..];
        match rest[0] {
            b'{' => return self.object(),
            b'}' => self.close_broken(),
            b'`' if rest.starts_with(b"```") => {
                self.in_fence = !self.in_fence;
                self.at += 2;
            }
            b'<' => self.tag(rest),
            _ => {}
        }
        self.at += 1;
        true
    }

    fn tag(&mut self, rest: &[u8]) {
        if rest.starts_with(b"<think>") || rest.starts_with(b"<thinking>") {
            self.thinking_since.get_or_insert(self.at);
        } else if rest.starts_with(b"</think>") || rest.starts_with(b"</thinking>") {
            // Some models are started inside the block, so that only its end is in the reply.
            let since = self.thinking_since.take().unwrap_or(0);
            self.forget_since(since);
        }
    }

    fn forget_since(&mut self, start: usize) {
        while self
            .candidates
            .back()
            .is_some_and(|last| last.start >= start)
        {
            self.candidates.pop_back();
        }
    }

    fn object(&mut self) -> bool {
        match self.reader.read_object(self.at) {
            Read::Object {
                members,
                end,
                mut repairs,
                defect,
            } => {
                if self.in_fence {
                    repairs.add(Repair::Fence);
                }
                self.add(members, repairs, defect);
                self.at = end;
                true
            }
            Read::Broken(broken) => self.skip(&broken),
        }
    }

    /// Goes on after an object that is none.
    fn skip(&mut self, broken: &Broken) -> bool {
        let read = match broken.ended {
            None => broken.at - self.at,
            Some(_) => self.text.len() - self.at,
        };
        let by_accident = broken.bare && broken.ended != Some(Ended::Between);
        if by_accident && read <= self.budget {
            self.budget -= read;
            self.open += 1;
            self.at += 1;
            return true;
        }
        if broken.ended.is_some() {
            self.cut_off = true;
            return false;
        }
        if broken.pick_like {
            self.broken.push((self.at, self.open));
        }
        self.open += broken.open;
        self.at = broken.at;
        true
    }

    /// A closing brace outside objects ends a broken one. What stood inside a broken pick may be
    /// part of its arguments and is no pick.
    fn close_broken(&mut self) {
        self.open = self.open.saturating_sub(1);
        while let Some((start, open)) = self.broken.last().copied() {
            if self.open > open {
                break;
            }
            self.broken.pop();
            self.forget_since(start);
        }
    }

    fn add(&mut self, members: Members<'a>, repairs: Repairs, defect: Option<Defect>) {
        let mut found = Vec::new();
        match CALL_KEYS.iter().find(|key| has_member(&members, key)) {
            Some(key) => found.push((*key, members)),
            None => find_nested(Node::Object(members), &mut found),
        }
        for (key, members) in found {
            if self.candidates.len() == CANDIDATES_MAX {
                self.candidates.pop_front();
            }
            self.candidates.push_back(Found {
                key,
                members,
                repairs,
                defect: defect.clone(),
                start: self.at,
            });
        }
    }
}

/// Finds picks inside an object that is none. The reader has bounded the depth.
fn find_nested<'a>(node: Node<'a>, found: &mut Vec<(&'static str, Members<'a>)>) {
    match node {
        Node::Object(members) if has_member(&members, CALL_KEYS[0]) => {
            found.push((CALL_KEYS[0], members));
        }
        Node::Object(members) => {
            for (key, node) in members {
                if !ARGUMENT_KEYS.contains(&&*key) {
                    find_nested(node, found);
                }
            }
        }
        Node::Array(items) => items.into_iter().for_each(|item| find_nested(item, found)),
        _ => {}
    }
}
