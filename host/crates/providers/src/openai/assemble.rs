//! Pieces of tool calls to calls.
//!
//! Servers disagree on how pieces name the call they belong to: indexes that are all zero, absent
//! or start at one, ids that are absent, empty, late or new with every piece. The rules here put
//! together what each of them means; none guesses at the content of arguments.

use openprogram_core::content::ToolCall;

/// More calls than a model can mean; a reply that goes on is an error of the server.
pub(super) const CALLS_MAX: usize = 256;

/// One piece of a call.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Piece<'a> {
    pub(super) index: Option<u64>,
    /// The id, if it is not empty.
    pub(super) id: Option<&'a str>,
    /// The name, if it is not empty.
    pub(super) name: Option<&'a str>,
    pub(super) arguments: &'a str,
}

#[derive(Debug, Default)]
struct Slot {
    index: Option<u64>,
    id: Option<String>,
    name: String,
    arguments: String,
    scan: Scan,
}

/// Puts the pieces of one reply together.
#[derive(Debug, Default)]
pub(super) struct Assembler {
    slots: Vec<Slot>,
}

impl Assembler {
    /// Takes the next piece; `false` when there are too many calls.
    pub(super) fn push(&mut self, piece: Piece<'_>) -> bool {
        let slot = match self.find(piece) {
            Some(at) => &mut self.slots[at],
            None if self.slots.len() == CALLS_MAX => return false,
            None => {
                self.slots.push(Slot {
                    index: piece.index,
                    ..Slot::default()
                });
                let last = self.slots.len() - 1;
                &mut self.slots[last]
            }
        };
        slot.take(piece);
        true
    }

    /// The slot of a call under way that a piece continues.
    fn find(&self, piece: Piece<'_>) -> Option<usize> {
        let last_with = |test: &dyn Fn(&Slot) -> bool| self.slots.iter().rposition(test);
        let at = match (piece.index, piece.id) {
            (Some(index), _) => last_with(&|slot| slot.index == Some(index))?,
            (None, Some(id)) => last_with(&|slot| slot.id.as_deref() == Some(id))?,
            (None, None) if piece.name.is_some() => return None,
            (None, None) => self.slots.len().checked_sub(1)?,
        };
        (!self.slots[at].is_another(piece)).then_some(at)
    }

    /// The calls in the order of their indexes, else of their arrival. `turn` makes the ids of
    /// calls without one; it differs between the replies of one exec.
    pub(super) fn finish(self, turn: usize) -> Vec<ToolCall> {
        let mut slots = self.slots;
        slots.sort_by_key(|slot| slot.index.unwrap_or(0));
        let mut calls: Vec<ToolCall> = Vec::new();
        for (n, slot) in slots.into_iter().enumerate() {
            let wanted = slot.id.unwrap_or_else(|| format!("call_{turn}_{}", n + 1));
            let mut id = wanted.clone();
            for suffix in 2.. {
                if calls.iter().all(|call| call.id != id) {
                    break;
                }
                id = format!("{wanted}_{suffix}");
            }
            let arguments = match slot.arguments.trim() {
                "" => "{}".to_owned(),
                arguments => arguments.to_owned(),
            };
            calls.push(ToolCall {
                id,
                name: slot.name,
                arguments,
            });
        }
        calls
    }
}

impl Slot {
    /// Whether a piece that names this slot begins a call of its own all the same.
    fn is_another(&self, piece: Piece<'_>) -> bool {
        let new_id = match (self.id.as_deref(), piece.id) {
            (Some(own), Some(id)) => own != id,
            _ => false,
        };
        let new_name = piece.name.is_some_and(|name| name != self.name);
        let begins = piece.arguments.trim_start().starts_with('{');
        // A new id alone is not enough: some servers make one for every piece.
        (new_id && piece.name.is_some())
            || (new_name && !self.arguments.is_empty())
            || (self.scan.is_complete() && begins)
    }

    fn take(&mut self, piece: Piece<'_>) {
        if self.id.is_none() {
            self.id = piece.id.map(str::to_owned);
        }
        if let Some(name) = piece.name
            && self.arguments.is_empty()
            && self.name != name
        {
            self.name.push_str(name);
        }
        self.arguments.push_str(piece.arguments);
        self.scan.push(piece.arguments);
    }
}

/// Follows the braces of a JSON object as it arrives, in constant time for each byte.
#[derive(Debug, Default)]
struct Scan {
    depth: u64,
    in_string: bool,
    escaped: bool,
    complete: bool,
}

impl Scan {
    fn push(&mut self, text: &str) {
        for byte in text.bytes() {
            if self.in_string {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => self.in_string = false,
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.complete = self.depth == 0;
                }
                _ => {}
            }
        }
    }

    fn is_complete(&self) -> bool {
        self.complete && self.depth == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Given = (Option<u64>, &'static str, &'static str, &'static str);

    /// Pieces as (index, id, name, arguments) to calls as `id name arguments`.
    #[track_caller]
    fn check(pieces: &[Given], expected: &[&str]) {
        let mut assembler = Assembler::default();
        for (index, id, name, arguments) in pieces {
            let some = |text: &'static str| Some(text).filter(|text| !text.is_empty());
            assert!(assembler.push(Piece {
                index: *index,
                id: some(id),
                name: some(name),
                arguments,
            }));
        }
        let calls = assembler.finish(3);
        let calls: Vec<_> = calls
            .iter()
            .map(|call| format!("{} {} {}", call.id, call.name, call.arguments))
            .collect();
        assert_eq!(calls, expected);
    }

    #[test]
    fn pieces_by_the_book_are_joined_by_index() {
        check(
            &[
                (Some(0), "a", "f", ""),
                (Some(0), "", "", "{\"x\":"),
                (Some(1), "b", "g", ""),
                (Some(0), "", "", "1}"),
                (Some(1), "", "", "{}"),
            ],
            &["a f {\"x\":1}", "b g {}"],
        );
    }

    #[test]
    fn calls_that_all_have_index_zero_are_told_apart() {
        check(
            &[
                (Some(0), "a", "f", "{\"a\":1}"),
                (Some(0), "b", "f", "{\"b\":2}"),
            ],
            &["a f {\"a\":1}", "b f {\"b\":2}"],
        );
        check(
            &[
                (Some(0), "", "f", "{\"a\":1}"),
                (Some(0), "", "f", "{\"b\":2}"),
            ],
            &["call_3_1 f {\"a\":1}", "call_3_2 f {\"b\":2}"],
        );
        check(
            &[
                (Some(0), "", "", "{\"s\":\"}{\"}"),
                (Some(0), "", "", " {\"b\":{}}"),
            ],
            &["call_3_1  {\"s\":\"}{\"}", "call_3_2  {\"b\":{}}"],
        );
        check(
            &[(Some(0), "", "f", "{}"), (Some(0), "", "g", "")],
            &["call_3_1 f {}", "call_3_2 g {}"],
        );
    }

    #[test]
    fn an_id_may_be_absent_empty_late_or_new_with_every_piece() {
        check(
            &[(Some(0), "", "f", "{"), (Some(0), "late", "", "}")],
            &["late f {}"],
        );
        check(
            &[(Some(0), "a", "f", "{\"x\""), (Some(0), "b", "", ":1}")],
            &["a f {\"x\":1}"],
        );
    }

    #[test]
    fn an_index_may_be_absent_or_start_anywhere() {
        check(
            &[
                (None, "a", "f", ""),
                (None, "", "", "{\"x\":1}"),
                (None, "b", "g", "{"),
                (None, "b", "", "}"),
                (None, "", "h", ""),
            ],
            &["a f {\"x\":1}", "b g {}", "call_3_3 h {}"],
        );
        check(
            &[(Some(7), "b", "g", "{}"), (Some(1), "a", "f", "{}")],
            &["a f {}", "b g {}"],
        );
    }

    #[test]
    fn names_come_once_twice_or_in_parts() {
        check(
            &[(Some(0), "a", "look", ""), (Some(0), "a", "_up", "{}")],
            &["a look_up {}"],
        );
        check(
            &[
                (Some(0), "a", "f", ""),
                (Some(0), "a", "f", "{\"x\":"),
                (Some(0), "a", "f", "1}"),
            ],
            &["a f {\"x\":1}"],
        );
    }

    #[test]
    fn one_id_for_two_calls_is_made_two() {
        check(
            &[
                (Some(0), "a", "f", "{}"),
                (Some(1), "a", "g", "{}"),
                (Some(2), "a", "h", " \n"),
            ],
            &["a f {}", "a_2 g {}", "a_3 h {}"],
        );
    }

    #[test]
    fn calls_without_end_are_refused() {
        let mut assembler = Assembler::default();
        let mut push = |index| {
            assembler.push(Piece {
                index: Some(index),
                ..Piece::default()
            })
        };
        assert!((0..256).all(&mut push));
        assert!(push(255) && !push(256));
    }
}
