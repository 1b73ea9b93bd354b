//! Exact arithmetic on the text of JSON numbers, so that no integer passes through a float.

use super::limits::NUMBER_DIGITS_MAX;

/// The parts of a JSON number.
struct Parts<'a> {
    negative: bool,
    whole: &'a str,
    fraction: &'a str,
    exponent: i64,
    plain: bool,
}

fn digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

impl<'a> Parts<'a> {
    fn read(text: &'a str) -> Option<Self> {
        let (negative, rest) = text
            .strip_prefix('-')
            .map_or((false, text), |rest| (true, rest));
        let (mantissa, exponent) = match rest.find(['e', 'E']) {
            Some(at) => (&rest[..at], Some(&rest[at + 1..])),
            None => (rest, None),
        };
        let (whole, fraction) = match mantissa.split_once('.') {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (mantissa, None),
        };
        let leading_zero = whole.len() > 1 && whole.starts_with('0');
        if !digits(whole) || leading_zero || fraction.is_some_and(|f| !digits(f)) {
            return None;
        }
        let exponent_value = match exponent {
            Some(text) => {
                let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
                if !digits(unsigned) {
                    return None;
                }
                // An exponent beyond any number of digits is as good as the largest one.
                let size = unsigned.parse::<i64>().unwrap_or(i64::MAX / 4);
                let size = size.min(i64::MAX / 4);
                if text.starts_with('-') { -size } else { size }
            }
            None => 0,
        };
        Some(Self {
            negative,
            whole,
            fraction: fraction.unwrap_or(""),
            exponent: exponent_value,
            plain: fraction.is_none() && exponent.is_none(),
        })
    }
}

/// What a number is, seen as a whole number.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Whole {
    /// Written as a whole number, in digits.
    Plain,
    /// Written `-0`.
    NegativeZero,
    /// Whole, but written with a fraction or an exponent, such as `3.0` or `1e3`.
    Written(String),
    /// Not whole.
    Fractional,
    /// Not a JSON number.
    NotANumber,
    /// More digits than [`NUMBER_DIGITS_MAX`].
    TooLong,
}

/// Reads the text of a number as a whole number, exactly.
pub(super) fn whole(text: &str) -> Whole {
    if text.len() > NUMBER_DIGITS_MAX {
        return Whole::TooLong;
    }
    let Some(parts) = Parts::read(text) else {
        return Whole::NotANumber;
    };
    if parts.plain {
        return if text == "-0" {
            Whole::NegativeZero
        } else {
            Whole::Plain
        };
    }
    let all = format!("{}{}", parts.whole, parts.fraction);
    let significant = all.trim_end_matches('0');
    if significant.trim_start_matches('0').is_empty() {
        return Whole::Written("0".to_owned());
    }
    // The number is 0.<significant> times ten to the power of `point`.
    let point = length(parts.whole).saturating_add(parts.exponent);
    let zeros = point.saturating_sub(length(significant));
    if zeros < 0 {
        return Whole::Fractional;
    }
    match usize::try_from(zeros) {
        Ok(zeros) if zeros <= NUMBER_DIGITS_MAX => {
            let significant = significant.trim_start_matches('0');
            let sign = if parts.negative { "-" } else { "" };
            Whole::Written(format!("{sign}{significant}{}", "0".repeat(zeros)))
        }
        _ => Whole::TooLong,
    }
}

fn length(text: &str) -> i64 {
    i64::try_from(text.len()).unwrap_or(i64::MAX)
}

/// Whether a whole number in plain digits lies within the bounds.
pub(super) fn within(digits: &str, (low, high): (i128, i128)) -> bool {
    digits
        .parse::<i128>()
        .is_ok_and(|value| (low..=high).contains(&value))
}

/// Whether the text is one JSON number.
pub(crate) fn is_number(text: &str) -> bool {
    Parts::read(text).is_some()
}

/// Whether two number texts have the same value, as far as `f64` and exact integers tell.
pub(super) fn numbers_equal(a: &str, b: &str) -> bool {
    if a == b {
        return true;
    }
    let digits = |text: &str| match whole(text) {
        Whole::Plain => Some(text.to_owned()),
        Whole::NegativeZero => Some("0".to_owned()),
        Whole::Written(digits) => Some(digits),
        _ => None,
    };
    match (digits(a), digits(b)) {
        (Some(a), Some(b)) => a == b,
        (None, None) => match (a.parse::<f64>(), b.parse::<f64>()) {
            (Ok(a), Ok(b)) => a.is_finite() && a == b,
            _ => false,
        },
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_read_exactly() {
        let written = |text: &str| Whole::Written(text.to_owned());
        for (text, expected) in [
            ("0", Whole::Plain),
            ("-0", Whole::NegativeZero),
            ("-12", Whole::Plain),
            ("18446744073709551615", Whole::Plain),
            ("3.0", written("3")),
            ("1e3", written("1000")),
            ("-1.50e1", written("-15")),
            ("0.001e3", written("1")),
            ("0.0e-999999999999999999999", written("0")),
            ("100e-2", written("1")),
            ("3.5", Whole::Fractional),
            ("1e-1", Whole::Fractional),
            ("1e999999999999999999999", Whole::TooLong),
            ("01", Whole::NotANumber),
            ("+1", Whole::NotANumber),
            ("1.", Whole::NotANumber),
            (".5", Whole::NotANumber),
            ("1e", Whole::NotANumber),
            ("", Whole::NotANumber),
            ("NaN", Whole::NotANumber),
        ] {
            assert_eq!(whole(text), expected, "{text}");
        }
        assert_eq!(whole(&"9".repeat(NUMBER_DIGITS_MAX + 1)), Whole::TooLong);
    }

    #[test]
    fn equal_numbers_may_be_written_differently() {
        for (a, b, equal) in [
            ("2", "2.0", true),
            ("1e2", "100", true),
            ("0.5", "5e-1", true),
            ("9007199254740993", "9007199254740992", false),
            ("0.5", "1", false),
        ] {
            assert_eq!(numbers_equal(a, b), equal, "{a} and {b}");
        }
    }
}
