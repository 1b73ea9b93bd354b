//! Reads a request for a refund: the order, the amount and what went wrong.
//!
//! It takes only what is written there and asks for the rest; nothing is guessed.

use crate::support::{Currency, Money, RefundReason, RefundRequest};
use crate::text::{contains_phrase, words};

/// Reasons and the words or phrases that tell them, the clearest first.
const REASONS: [(RefundReason, &[&str]); 4] = [
    (
        RefundReason::ChargedTwice,
        &[
            "charged twice",
            "paid twice",
            "double charge",
            "charged me twice",
            "billed twice",
        ],
    ),
    (
        RefundReason::NotReceived,
        &[
            "never arrived",
            "not arrived",
            "never came",
            "not received",
            "never received",
            "hasn't arrived",
            "didn't arrive",
            "lost",
        ],
    ),
    (
        RefundReason::WrongItem,
        &[
            "wrong",
            "different item",
            "something else",
            "not what i ordered",
        ],
    ),
    (
        RefundReason::Damaged,
        &[
            "broken",
            "broke",
            "cracked",
            "damaged",
            "defective",
            "doesn't work",
            "faulty",
            "torn",
        ],
    ),
];

/// Reads the request out of a message.
pub(crate) fn request(message: &str) -> RefundRequest {
    let words = words(message);
    let tells = |phrases: &&[&str]| phrases.iter().any(|phrase| contains_phrase(&words, phrase));
    let reason = REASONS.iter().find(|(_, phrases)| tells(phrases));
    let reason = reason.map_or(RefundReason::Other, |(reason, _)| *reason);
    let (order, amount) = (order_number(message), amount(message));
    let mut questions = Vec::new();
    if order.is_none() {
        questions.push("What is the number of your order?".to_owned());
    }
    if reason == RefundReason::Other {
        questions.push("What is wrong with the order?".to_owned());
    }
    RefundRequest {
        order,
        amount,
        reason,
        questions,
    }
}

/// The number of an order: what follows `order`, `#` or `no.`, with at least three digits.
fn order_number(message: &str) -> Option<String> {
    let tokens: Vec<&str> = message.split_whitespace().collect();
    tokens.iter().enumerate().find_map(|(index, token)| {
        let trimmed = token.trim_matches(|c: char| !c.is_alphanumeric() && c != '#');
        let announced = tokens[index.saturating_sub(2)..index].iter().any(|before| {
            let before = before
                .trim_matches(|c: char| !c.is_alphanumeric())
                .to_lowercase();
            ["order", "orders", "ticket"].contains(&before.as_str())
        });
        let number = trimmed.strip_prefix('#').or(announced.then_some(trimmed))?;
        let shaped = number
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '-');
        let digits = number.chars().filter(char::is_ascii_digit).count();
        let money =
            money_before(token) || tokens.get(index + 1).is_some_and(|t| currency(t).is_some());
        (shaped && digits >= 3 && !money).then(|| number.to_uppercase())
    })
}

/// Whether a token begins with the sign of a currency.
fn money_before(token: &str) -> bool {
    token.trim_start_matches('(').starts_with(['$', '€', '£'])
}

/// The first amount of money, written with a sign or a name before or after it.
fn amount(message: &str) -> Option<Money> {
    // A sign of its own token: `$12`, `12€` and `12 €` are read alike.
    let mut spaced = message.to_owned();
    for sign in ["$", "€", "£"] {
        spaced = spaced.replace(sign, &format!(" {sign} "));
    }
    let tokens: Vec<&str> = spaced.split_whitespace().collect();
    tokens.iter().enumerate().find_map(|(index, token)| {
        let cents = cents(token)?;
        let before = index.checked_sub(1).and_then(|before| tokens.get(before));
        let beside = [before, tokens.get(index + 1)];
        let currency = beside
            .into_iter()
            .flatten()
            .find_map(|token| currency(token))?;
        Some(Money { cents, currency })
    })
}

fn currency(token: &str) -> Option<Currency> {
    let name = token
        .trim_matches(|c: char| c.is_ascii_punctuation() && c != '$')
        .to_lowercase();
    match name.as_str() {
        "$" | "usd" | "dollar" | "dollars" => Some(Currency::Usd),
        "€" | "eur" | "euro" | "euros" => Some(Currency::Eur),
        "£" | "gbp" | "pound" | "pounds" => Some(Currency::Gbp),
        _ => None,
    }
}

/// Reads `1,234.50`, `12,50` and `20` as hundredths.
fn cents(token: &str) -> Option<u64> {
    let number = token.trim_matches(|c: char| !c.is_ascii_digit());
    if number.is_empty()
        || !number
            .chars()
            .all(|c| c.is_ascii_digit() || c == '.' || c == ',')
    {
        return None;
    }
    // Two digits after the last mark are hundredths; all other marks part thousands.
    let (whole, part) = match number.rfind(['.', ',']) {
        Some(mark) if number.len() - mark == 3 => (&number[..mark], &number[mark + 1..]),
        _ => (number, "0"),
    };
    let whole: u64 = whole.replace(['.', ','], "").parse().ok()?;
    whole.checked_mul(100)?.checked_add(part.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usd(cents: u64) -> Option<Money> {
        Some(Money {
            cents,
            currency: Currency::Usd,
        })
    }

    fn eur(cents: u64) -> Option<Money> {
        Some(Money {
            cents,
            currency: Currency::Eur,
        })
    }

    #[test]
    fn orders_and_amounts_are_read_where_they_are_written() {
        let cases = [
            ("Refund order #A-1234 please", Some("A-1234"), None),
            (
                "my order number 98765, it cost $49.90.",
                Some("98765"),
                usd(4990),
            ),
            (
                "order a1234: I want the 1,234.50 dollars back",
                Some("A1234"),
                usd(123_450),
            ),
            ("Ich zahlte 12,50 € (order no. 555)", Some("555"), eur(1250)),
            ("give me 20€ back", None, eur(2000)),
            ("I ordered 2 shirts for 500 euros", None, eur(50_000)),
            ("my order 500 euros was lost", None, eur(50_000)),
            ("#12", None, None),
            ("", None, None),
            ("$99999999999999999999999", None, None),
            ("$ . , € #", None, None),
        ];
        for (message, order, money) in cases {
            let found = request(message);
            assert_eq!(
                (found.order.as_deref(), found.amount),
                (order, money),
                "{message}"
            );
        }
    }

    #[test]
    fn the_reason_is_told_or_asked() {
        let cases = [
            ("The cup arrived broken", RefundReason::Damaged, 1),
            (
                "You charged me twice for order 4711",
                RefundReason::ChargedTwice,
                0,
            ),
            ("order 4711 never arrived", RefundReason::NotReceived, 0),
            ("I got the wrong size", RefundReason::WrongItem, 1),
            ("I want my money back", RefundReason::Other, 2),
        ];
        for (message, reason, questions) in cases {
            let found = request(message);
            assert_eq!(
                (found.reason, found.questions.len()),
                (reason, questions),
                "{message}"
            );
        }
    }
}
