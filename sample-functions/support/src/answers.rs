//! Prepared answers to common questions, and an honest one when none fits.

use crate::support::{Reply, Topic};
use crate::text::words;

/// Topics, the words that speak of them, and the answer to each. The earlier one wins a tie.
const ANSWERS: [(Topic, &[&str], &str); 4] = [
    (
        Topic::Delivery,
        &[
            "arrive",
            "courier",
            "deliver",
            "delivered",
            "delivery",
            "package",
            "parcel",
            "post",
            "shipped",
            "shipping",
            "tracking",
        ],
        "Parcels arrive within five working days. The tracking link is in the mail that we sent \
         when yours left our house; if it has not moved for two days, answer with your order number.",
    ),
    (
        Topic::Account,
        &[
            "account", "email", "log", "login", "password", "profile", "register", "sign",
            "username",
        ],
        "You can set a new password with \"Forgot password\" on the sign-in page. The link in that \
         mail works for one hour. If no mail comes, tell us the address you signed up with.",
    ),
    (
        Topic::Invoice,
        &["bill", "billing", "invoice", "receipt", "tax", "vat"],
        "Your invoices are under \"Orders\" in your account, as PDF. For a change of the billing \
         address, answer with the invoice number and the new address.",
    ),
    (
        Topic::OpeningHours,
        &[
            "call", "close", "closed", "closing", "hours", "open", "opening", "phone", "reach",
        ],
        "We are here from Monday to Friday, 9:00 to 17:00 (UTC), by phone and by mail.",
    ),
];

const UNCLEAR: &str = "Thank you for your message. We are not sure what you need: please tell us in \
                       a sentence, with your order number if there is one.";

/// Answers a message by the topic that most of its words speak of.
pub(crate) fn reply(message: &str) -> Reply {
    let words = words(message);
    let count = |known: &[&str]| {
        words
            .iter()
            .filter(|word| known.contains(&word.as_str()))
            .count()
    };
    // `max_by_key` gives the last of equals, so the table is read from its end.
    let best = ANSWERS
        .iter()
        .rev()
        .max_by_key(|(_, known, _)| count(known));
    match best.filter(|(_, known, _)| count(known) > 0) {
        Some((topic, _, text)) => Reply {
            topic: Some(*topic),
            text: (*text).to_owned(),
        },
        None => Reply {
            topic: None,
            text: UNCLEAR.to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_topic_with_most_words_is_answered() {
        let cases = [
            ("Where is my parcel?", Some(Topic::Delivery)),
            ("I forgot the PASSWORD of my account", Some(Topic::Account)),
            (
                "Can I get an invoice with VAT for the delivery?",
                Some(Topic::Invoice),
            ),
            (
                "When do you open, and can I call?",
                Some(Topic::OpeningHours),
            ),
            ("Is the shipping on the invoice?", Some(Topic::Delivery)),
            ("Hello?", None),
            ("", None),
        ];
        for (message, topic) in cases {
            let reply = reply(message);
            assert_eq!(reply.topic, topic, "{message}");
            assert!(!reply.text.contains("  "), "{message}");
        }
    }
}
