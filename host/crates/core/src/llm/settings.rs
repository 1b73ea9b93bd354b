//! Numbers about asking models as people write them, read tolerantly.

use std::num::NonZeroU32;
use std::time::Duration;

/// The most tries that a text names; `None` when it is not a whole number. Less than one try is
/// one.
#[must_use]
pub fn attempts_of(setting: &str) -> Option<NonZeroU32> {
    let number = setting.trim().parse::<i64>().ok()?.max(1);
    NonZeroU32::new(u32::try_from(number).unwrap_or(u32::MAX))
}

/// The sleep before the second try that a text names, in seconds; `None` when it is not a number
/// or less than zero.
#[must_use]
pub fn backoff_of(setting: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(setting.trim().parse().ok()?).ok()
}

/// The time budget of one exec: what the call says, else `OPENPROGRAM_EXEC_TIMEOUT_S`, else none.
///
/// Zero, negative numbers and text that is not a number count as absent.
#[must_use]
pub fn timeout_of(argument_s: Option<f64>, setting: Option<&str>) -> Option<Duration> {
    let given = |seconds: f64| {
        let time = Duration::try_from_secs_f64(seconds).ok()?;
        (!time.is_zero()).then_some(time)
    };
    let argument = argument_s.and_then(given);
    argument.or_else(|| given(setting?.trim().parse().ok()?))
}
