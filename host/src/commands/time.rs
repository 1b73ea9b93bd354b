//! Times and durations as people read them.

use std::time::Duration;

use openprogram_core::id::Timestamp;

const MS_PER_DAY: i64 = 86_400_000;

/// A moment in UTC, to the second: `2026-01-31 09:05:00Z`.
pub(crate) fn moment(timestamp: Timestamp) -> String {
    let days = timestamp.0.div_euclid(MS_PER_DAY);
    let seconds = timestamp.0.rem_euclid(MS_PER_DAY) / 1_000;
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}Z")
}

/// A duration with a unit that fits it: `0 ms`, `850 ms`, `12.3 s`, `4 min 10 s`.
pub(crate) fn duration(ms: i64) -> String {
    let ms = ms.max(0);
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        _ => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1_000),
    }
}

/// A duration to the second below: `0 s`, `12 s`, `4 min 10 s`.
pub(crate) fn whole_seconds(duration: Duration) -> String {
    match duration.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

/// Year, month and day of a day counted from 1970-01-01, in the Gregorian calendar.
///
/// Years are counted from March, so that the leap day is the last day of its year; 400 of them
/// have 146,097 days.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days.saturating_add(719_468);
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_shown_in_utc() {
        for (ms, shown) in [
            (0, "1970-01-01 00:00:00Z"),
            (-1, "1969-12-31 23:59:59Z"),
            (951_782_399_999, "2000-02-28 23:59:59Z"),
            (951_782_400_000, "2000-02-29 00:00:00Z"),
            (951_868_800_000, "2000-03-01 00:00:00Z"),
            (1_709_164_800_000, "2024-02-29 00:00:00Z"),
            (1_796_046_138_000, "2026-11-30 13:42:18Z"),
            (4_107_542_400_000, "2100-03-01 00:00:00Z"),
        ] {
            assert_eq!(moment(Timestamp(ms)), shown, "{ms}");
        }
        // The ends of the range have no sensible date and must not panic.
        moment(Timestamp(i64::MIN));
        moment(Timestamp(i64::MAX));
    }

    #[test]
    fn a_duration_has_a_unit_that_fits() {
        for (ms, shown) in [
            (-5, "0 ms"),
            (999, "999 ms"),
            (1_000, "1.0 s"),
            (59_999, "59.9 s"),
            (250_000, "4 min 10 s"),
        ] {
            assert_eq!(duration(ms), shown, "{ms}");
        }
    }
}
