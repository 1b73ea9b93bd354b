//! The limits of runs that the project file sets: `[limits]`.
//!
//! Every one has a ceiling, and none may be 0: a run that may do nothing is a slip.

use std::collections::BTreeMap;

use openprogram_component::Limits;
use serde::Deserialize;

/// The most tokens that can be set for a run: more than any model is paid for.
pub const MAX_TOKENS: u64 = 1_000_000_000_000;
/// The longest time in seconds that can be set for a run: thirty days.
pub const MAX_TIME_S: u64 = 30 * 24 * 60 * 60;
/// The most model requests that can be set for a run. Each is a node of the graph.
pub const MAX_TURNS: u64 = 1_000_000;
/// The most model requests at once that can be set. Each holds a connection.
pub const MAX_PROVIDER_CALLS: u64 = 1_000;

/// The limits of one component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComponentLimits {
    /// Those that the project file sets, by name.
    pub set: BTreeMap<String, u64>,
    /// All of them.
    pub limits: Limits,
}

impl ComponentLimits {
    /// What `[components.NAME.limits]` sets; `None` when it sets nothing.
    pub(super) fn of(set: BTreeMap<String, u64>) -> Result<Option<Self>, String> {
        if set.is_empty() {
            return Ok(None);
        }
        let limits = Limits::of_settings(&set).map_err(|error| error.to_string())?;
        Ok(Some(Self { set, limits }))
    }
}

/// What `[limits]` sets; what it does not set has its default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitsTable {
    /// Tokens of one `run`, input and output together, as `--max-tokens`.
    pub max_tokens: Option<u64>,
    /// Seconds of one `run`, as `--max-time`.
    pub max_time_s: Option<u64>,
    /// Model requests of one `run`, as `--max-turns`.
    pub max_turns: Option<u64>,
    /// Model requests that are under way at once, in whatever command.
    pub provider_calls: Option<u32>,
}

impl LimitsTable {
    /// Checks every value against its ceiling.
    ///
    /// # Errors
    /// The key, dotted, and what is right.
    pub(super) fn check(&self) -> Result<(), (String, String)> {
        let all = [
            ("max_tokens", self.max_tokens, MAX_TOKENS),
            ("max_time_s", self.max_time_s, MAX_TIME_S),
            ("max_turns", self.max_turns, MAX_TURNS),
            (
                "provider_calls",
                self.provider_calls.map(u64::from),
                MAX_PROVIDER_CALLS,
            ),
        ];
        for (key, value, most) in all {
            if let Some(value) = value.filter(|value| !(1..=most).contains(value)) {
                let message = format!("it must be from 1 to {most}, not {value}");
                return Err((format!("limits.{key}"), message));
            }
        }
        Ok(())
    }
}
