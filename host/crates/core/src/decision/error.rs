//! A decision that ended without a valid pick.

use super::pick::{PickError, PickErrorKind};
use crate::failure::{Failure, FailureCode};

/// How many characters of the last reply a failed decision shows.
const REPLY_HEAD_CHARS: usize = 200;

/// The model never made a valid pick.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no valid pick after {}: {message}", attempts_in_words(*attempts))]
pub struct DecisionError {
    /// The kind of the last error.
    pub kind: PickErrorKind,
    /// What was wrong with the last reply.
    pub message: String,
    /// How many times the model was asked.
    pub attempts: u32,
    /// The first 200 characters of the last reply.
    pub reply_head: String,
}

fn attempts_in_words(attempts: u32) -> String {
    match attempts {
        1 => "1 attempt".to_owned(),
        n => format!("{n} attempts"),
    }
}

impl DecisionError {
    /// The error after the last attempt.
    #[must_use]
    pub fn new(error: PickError, attempts: u32, reply: &str) -> Self {
        Self {
            kind: error.kind,
            message: error.message,
            attempts,
            reply_head: reply.chars().take(REPLY_HEAD_CHARS).collect(),
        }
    }

    /// The error as guests and callers see it: code `decision`, with the details `kind`,
    /// `attempts` and `reply_head`.
    #[must_use]
    pub fn to_failure(&self) -> Failure {
        Failure::new(FailureCode::Decision, self.to_string())
            .with("kind", self.kind.as_str())
            .with("attempts", self.attempts)
            .with("reply_head", self.reply_head.clone())
    }
}
