//! Numbers of JSON as exact decimals: comparing, whole or not, multiples. Linear in the text.

use std::cmp::Ordering;

use crate::Json;

/// The largest significand of a `multipleOf`, so that the remainder fits in 128 bits.
const DIVISOR_DIGITS_MAX: usize = 18;

/// `0.digits` times ten to the power of `point`, without zeros at either end; zero has no digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    negative: bool,
    digits: String,
    point: i64,
}

impl Decimal {
    /// Reads a number; `None` for a value that is none.
    pub(super) fn of(value: &Json) -> Option<Self> {
        match value {
            Json::Number(number) => Some(Self::read(&number.to_string())),
            _ => None,
        }
    }

    /// Reads the text of a JSON number.
    fn read(text: &str) -> Self {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        let digits = all.trim_start_matches('0');
        let n_leading = length(&all) - length(digits);
        let digits = digits.trim_end_matches('0');
        if digits.is_empty() {
            return Self {
                negative: false,
                digits: String::new(),
                point: 0,
            };
        }
        // An exponent beyond any number of digits is as good as the largest one.
        let far = i64::MAX / 4;
        let unsigned = exponent.trim_start_matches(['+', '-']);
        let size = unsigned.parse::<i64>().unwrap_or(far).min(far);
        let exponent = if exponent.starts_with('-') {
            -size
        } else {
            size
        };
        Self {
            negative,
            digits: digits.to_owned(),
            point: length(whole) - n_leading + exponent,
        }
    }

    pub(super) fn is_whole(&self) -> bool {
        self.digits.is_empty() || self.point >= length(&self.digits)
    }

    /// The same text for equal numbers.
    pub(super) fn canonical(&self) -> String {
        let sign = if self.negative { "-" } else { "" };
        format!("{sign}{}e{}", self.digits, self.point)
    }

    /// Whether it can be divided by, in [`Decimal::is_multiple_of`].
    pub(super) fn can_divide(&self) -> bool {
        !self.digits.is_empty() && self.digits.len() <= DIVISOR_DIGITS_MAX
    }

    /// Whether it is a multiple of a divisor that [can divide](Decimal::can_divide).
    pub(super) fn is_multiple_of(&self, divisor: &Self) -> bool {
        if self.digits.is_empty() {
            return true;
        }
        let Ok(modulus) = divisor.digits.parse::<u128>() else {
            return false;
        };
        let lowest = |number: &Self| number.point - length(&number.digits);
        // Digits end in no zero, so more decimal places than the divisor's make a fraction.
        let Ok(zeros) = u64::try_from(lowest(self) - lowest(divisor)) else {
            return false;
        };
        let digit = |byte: u8| u128::from(byte - b'0');
        let bytes = self.digits.bytes();
        let rest = bytes.fold(0, |rest, byte| (rest * 10 + digit(byte)) % modulus);
        (rest * power_of_ten(zeros, modulus)).is_multiple_of(modulus)
    }
}

/// Ten to a power, modulo a number of at most [`DIVISOR_DIGITS_MAX`] digits.
fn power_of_ten(mut power: u64, modulus: u128) -> u128 {
    let (mut result, mut base) = (1 % modulus, 10 % modulus);
    while power > 0 {
        if power % 2 == 1 {
            result = result * base % modulus;
        }
        base = base * base % modulus;
        power /= 2;
    }
    result
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let sign = |number: &Self| match (number.digits.is_empty(), number.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        };
        let size = |a: &Self, b: &Self| a.point.cmp(&b.point).then_with(|| a.digits.cmp(&b.digits));
        match (sign(self), sign(other)) {
            (-1, -1) => size(other, self),
            (1, 1) => size(self, other),
            (own, others) => own.cmp(&others),
        }
    }
}

fn length(text: &str) -> i64 {
    i64::try_from(text.len()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::of(&serde_json::from_str(text).unwrap()).unwrap()
    }

    #[test]
    fn numbers_compare_by_value_whatever_their_size_and_form() {
        let ascending = [
            "-1e400",
            "-12",
            "-1.5",
            "-1e-9",
            "0",
            "1e-9",
            "0.1",
            "1",
            "1.5",
            "9",
            "10",
            "12.0001",
            "9007199254740993",
            "1e400",
        ];
        for (at, text) in ascending.iter().enumerate() {
            for (other_at, other) in ascending.iter().enumerate() {
                assert_eq!(decimal(text).cmp(&decimal(other)), at.cmp(&other_at));
            }
        }
        for (text, same) in [
            ("1", "1.0"),
            ("100", "1e2"),
            ("-0", "0"),
            ("0.5e1", "5"),
            ("1E+2", "100.00"),
            ("0e999999999999999999999", "0"),
        ] {
            assert_eq!(decimal(text).canonical(), decimal(same).canonical());
        }
    }

    #[test]
    fn whole_numbers_and_multiples_are_exact() {
        for (text, whole) in [
            ("3.0", true),
            ("3.5", false),
            ("1e3", true),
            ("15e-1", false),
            ("0.0", true),
            ("100000000000000000000", true),
        ] {
            assert_eq!(decimal(text).is_whole(), whole, "{text}");
        }
        for (text, divisor, expected) in [
            ("9", "3", true),
            ("10", "3", false),
            ("0.3", "0.1", true),
            ("1.05", "0.01", true),
            ("1.055", "0.01", false),
            ("0", "7", true),
            ("1e1000000000", "7", false),
            ("7e1000000000", "7", true),
            ("-4", "2", true),
            ("0.75", "0.5", false),
            ("1e-20", "0.01", false),
            ("30", "1.5", true),
        ] {
            let divisor = decimal(divisor);
            assert!(divisor.can_divide());
            assert_eq!(decimal(text).is_multiple_of(&divisor), expected, "{text}");
        }
        assert!(!decimal("1234567890123456789").can_divide());
    }
}
