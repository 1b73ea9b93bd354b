//! When a turn that goes on and on is ended, each case by a limit of its own name.

use openprogram_core::failure::{Failure, FailureCode};

use crate::limits::RunLimits;
use crate::tool_call::{Answered, WantedCall};

/// From the third of the same call on, its answer tells the model that it repeats itself.
const REPEATS_WARNED: u32 = 3;
/// The fifth of the same call is not made any more: nothing new is to be expected. One more, and the
/// turn ends as `repeated_calls`.
const REPEATS_MAX: u32 = 5;
/// After so many replies cut inside a call the turn ends, as `cut_replies`.
const CUT_REPLIES_MAX: u32 = 2;

/// What a turn has used up.
#[derive(Default)]
pub(crate) struct UsedUp {
    calls: Vec<(WantedCall, u32)>,
    /// The most times that one call was asked for.
    n_repeats: u32,
    n_cut: u32,
    n_bytes: u64,
}

/// Which one of the same calls a call is, from 1: the same name with the same arguments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counted(u32);

impl Counted {
    /// What the model is told in place of another call.
    pub(crate) fn refusal(self) -> Option<String> {
        let before = self.0 - 1;
        (self.0 >= REPEATS_MAX).then(|| {
            format!(
                "Not run: the same call was asked for {before} times before. Do something else, or \
                 answer with what you have."
            )
        })
    }

    /// Tells the model that it repeats itself, in the answer to a call that was made.
    pub(crate) fn warn(self, answered: &mut Answered) {
        let count = self.0;
        if (REPEATS_WARNED..REPEATS_MAX).contains(&count) {
            let note = format!(
                "\n(This is call {count} of this kind with the same arguments. Do something else, \
                 or answer with what you have.)"
            );
            answered.result.text.push_str(&note);
        }
    }
}

impl UsedUp {
    /// Counts a reply of so many bytes.
    pub(crate) fn count_reply(&mut self, bytes: usize) {
        self.n_bytes = self.n_bytes.saturating_add(bytes as u64);
    }

    /// Counts a reply with calls that was cut off.
    pub(crate) fn count_cut(&mut self) {
        self.n_cut += 1;
    }

    /// Counts a call that could run.
    pub(crate) fn count_call(&mut self, wanted: &WantedCall) -> Counted {
        let known = self.calls.iter().position(|(call, _)| call.is_like(wanted));
        let at = known.unwrap_or_else(|| {
            self.calls.push((wanted.clone(), 0));
            self.calls.len() - 1
        });
        let count = &mut self.calls[at].1;
        *count += 1;
        self.n_repeats = self.n_repeats.max(*count);
        Counted(*count)
    }

    /// Counts the answer to a call.
    pub(crate) fn count_answer(&mut self, answered: &Answered) {
        let bytes = answered.result.text.len() as u64;
        self.n_bytes = self.n_bytes.saturating_add(bytes);
    }

    /// The limit that the turn has reached, if it has.
    pub(crate) fn limit_reached(&self, limits: &RunLimits) -> Option<Failure> {
        let limit = |which, most: u64, message| Some(Failure::limit(which, most, message));
        if self.n_repeats > REPEATS_MAX {
            let message =
                format!("the model went on to ask for the same call after {REPEATS_MAX} times");
            return limit("repeated_calls", REPEATS_MAX.into(), message);
        }
        if self.n_cut >= CUT_REPLIES_MAX {
            let message = format!("{CUT_REPLIES_MAX} replies were cut off inside a call");
            return limit("cut_replies", CUT_REPLIES_MAX.into(), message);
        }
        let most = limits.turn_bytes;
        if self.n_bytes > most {
            let message = format!("replies and results of the turn have more than {most} bytes");
            return limit("turn_bytes", most, message);
        }
        None
    }
}

/// The failure of a turn: one that ends at a limit of the run tells the last text.
pub(crate) fn ended_at(failure: Failure, last_text: &str) -> Failure {
    if failure.code == FailureCode::LimitReached && !last_text.is_empty() {
        return failure.with("partial", last_text);
    }
    failure
}
