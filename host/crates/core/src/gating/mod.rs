//! What stands before a call of a function and what holds for it, as its author declares: who is
//! offered it and when, what a person approves, what is kept, how long it may take, what it does.
//!
//! These are values and rules; whoever offers and calls functions applies them. The default of each
//! is what holds for a function of which nothing is declared.

use std::time::Duration;

mod condition;

pub use condition::{
    CONDITION_DEPTH_MAX, CONDITIONS_MAX, Comparison, Condition, ConditionError, Holds, Situation,
};

/// How long a kept result holds when nothing else is declared.
pub const CACHE_TTL_DEFAULT: Duration = Duration::from_secs(300);

/// How a function is offered and called. The default declares nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gating {
    /// The presets of tools that it belongs to, besides those of the project.
    pub toolsets: Vec<String>,
    /// The sources, for example `telegram`, in whose turns models are not offered it.
    pub unsafe_in: Vec<String>,
    /// When it is offered to models; `None` always. What cannot be told means that it is not.
    pub available_if: Option<Condition>,
    /// Whether models have to look for it before they are shown its schema.
    pub deferred: Option<Deferred>,
    /// Whether a person approves each call that a model or another function makes, before it runs.
    pub requires_approval: Option<RequiredApproval>,
    /// Whether results of calls that models make are kept for the same arguments.
    pub cache: Option<Caching>,
    /// How long a call may take, everything that it waits for included; `None` for no end of its
    /// own.
    pub timeout: Option<Duration>,
}

/// That a function is found by looking for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deferred {
    /// Words by which it is found, besides those of its name and description; may be empty.
    pub words: String,
}

/// That a person approves a call before it runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequiredApproval {
    /// Why, in the words of the author.
    pub reason: Option<String>,
    /// The calls that need it; `None` all. What cannot be told needs it.
    pub when: Option<Condition>,
}

/// That results are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caching {
    /// For how long, from the end of the call that gave it.
    pub ttl: Duration,
}

impl Default for Caching {
    fn default() -> Self {
        Self {
            ttl: CACHE_TTL_DEFAULT,
        }
    }
}

/// What calls of a function do, as its author says. `None` says nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// It changes nothing outside of itself: calls of it that a model asks for in one reply may run
    /// at the same time.
    pub read_only: bool,
    /// Calling it again with the same arguments changes nothing more.
    pub idempotent: bool,
    /// It may remove or overwrite something.
    pub destructive: Option<bool>,
    /// It reaches what nobody here controls, such as the network.
    pub open_world: Option<bool>,
}
