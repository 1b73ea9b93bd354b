//! When a turn that goes on and on is ended, each case by a limit of its own name.

use openprogram_core::failure::{Failure, FailureCode};

use crate::limits::RunLimits;
use crate::tool_call::{Answered, WantedCall};

/// After so many failures of the same call the model is told to stop it.
const REPEATS_WARNED: u32 = 3;
/// After so many the turn ends, as `repeated_calls`: nothing new is to be expected.
const REPEATS_MAX: u32 = 5;
/// After so many replies cut inside a call the turn ends, as `cut_replies`.
const CUT_REPLIES_MAX: u32 = 2;

/// What a turn has used up.
#[derive(Default)]
pub(crate) struct UsedUp {
    failed: FailedCalls,
    /// The most failures of one call.
    n_repeats: u32,
    n_cut: u32,
    n_bytes: u64,
}

impl UsedUp {
    /// Counts a reply of so many bytes.
    pub(crate) fn count_reply(&mut self, bytes: usize) {
        self.n_bytes = self.n_bytes.saturating_add(bytes as u64);
    }

    /// Counts a reply that was cut inside a call.
    pub(crate) fn count_cut(&mut self) {
        self.n_cut += 1;
    }

    /// Counts the answer to a call that could run, and tells the model when it repeats itself.
    pub(crate) fn count_answer(&mut self, wanted: &WantedCall, answered: &mut Answered) {
        let repeats = self.failed.count(wanted, answered);
        self.n_repeats = self.n_repeats.max(repeats);
        let bytes = answered.result.text.len() as u64;
        self.n_bytes = self.n_bytes.saturating_add(bytes);
    }

    /// The limit that the turn has reached, if it has.
    pub(crate) fn limit_reached(&self, limits: &RunLimits) -> Option<Failure> {
        let limit = |which, most: u64, message| Some(Failure::limit(which, most, message));
        if self.n_repeats >= REPEATS_MAX {
            let message = format!("the model made the same failing call {REPEATS_MAX} times");
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

/// The calls of a turn that have failed, and how often.
#[derive(Default)]
struct FailedCalls(Vec<(WantedCall, u32)>);

impl FailedCalls {
    /// Counts an answer, and tells the model when the same call keeps failing. A success of the
    /// call begins the count again.
    fn count(&mut self, wanted: &WantedCall, answered: &mut Answered) -> u32 {
        let known = self.0.iter().position(|(call, _)| call.is_like(wanted));
        if !answered.result.is_error {
            known.map(|at| self.0.swap_remove(at));
            return 0;
        }
        let at = known.unwrap_or_else(|| {
            self.0.push((wanted.clone(), 0));
            self.0.len() - 1
        });
        self.0[at].1 += 1;
        let count = self.0[at].1;
        if count >= REPEATS_WARNED {
            let note = format!("\nThis call has failed {count} times. Do something else.");
            answered.result.text.push_str(&note);
        }
        count
    }
}

/// The failure of a turn: one that ends at a limit of the run tells the last text.
pub(crate) fn ended_at(failure: Failure, last_text: &str) -> Failure {
    if failure.code == FailureCode::LimitReached && !last_text.is_empty() {
        return failure.with("partial", last_text);
    }
    failure
}
