//! What a function says about its progress, as the person who watches is told it.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use openprogram_core::text::one_line;

/// The characters of one report, as many as fit a line.
const CHARS_MAX: usize = 200;
/// The reports of one function in one span that are told; a person reads no more, and the channel
/// of events has room for others.
const TOLD_MAX: u32 = 10;
/// The span.
const SPAN: Duration = Duration::from_secs(1);

/// How often one function was told of lately.
#[derive(Debug, Default)]
pub(crate) struct ReportPace(Mutex<Lately>);

#[derive(Debug, Default)]
struct Lately {
    since: Duration,
    n_told: u32,
}

impl ReportPace {
    /// Whether a report is told now; `now` is the time since some moment that stays the same.
    pub(crate) fn admits(&self, now: Duration) -> bool {
        // Two assignments leave it whole.
        let mut lately = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lately.n_told == 0 || now.saturating_sub(lately.since) >= SPAN {
            *lately = Lately {
                since: now,
                n_told: 0,
            };
        }
        lately.n_told += 1;
        lately.n_told <= TOLD_MAX
    }
}

/// A report as one clean line, and how much is done in percent. No number is no part.
pub(crate) fn told(message: &str, fraction: Option<f64>) -> (String, Option<u8>) {
    let fraction = fraction.filter(|fraction| !fraction.is_nan());
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "from 0 to 100"
    )]
    let percent = fraction.map(|fraction| (fraction.clamp(0.0, 1.0) * 100.0).floor() as u8);
    (one_line(message, CHARS_MAX), percent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_some_of_many_reports_are_told_and_later_ones_again() {
        let pace = ReportPace::default();
        let at = |ms| pace.admits(Duration::from_millis(ms));
        let told = (0..100).filter(|ms| at(5_000 + ms)).count();
        assert_eq!((told, at(5_999), at(6_000)), (10, false, true));
    }

    #[test]
    fn a_report_is_one_clean_line_and_a_part_is_from_none_to_all() {
        let (line, percent) = told("a\n\u{1b}[31mb", Some(0.999));
        assert!(!line.contains(['\n', '\u{1b}']), "{line:?}");
        assert_eq!(percent, Some(99));
        assert_eq!(told(&"x".repeat(1_000), None).0.chars().count(), CHARS_MAX);
        for (fraction, percent) in [
            (-1.0, Some(0)),
            (f64::INFINITY, Some(100)),
            (f64::NAN, None),
            (0.25, Some(25)),
        ] {
            assert_eq!(told("x", Some(fraction)).1, percent, "{fraction}");
        }
    }
}
