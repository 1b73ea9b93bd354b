//! Tickets for people: how urgent a message is, and why.

use crate::support::{Ticket, Urgency};
use crate::text::{contains_phrase, head, words};

/// Words and phrases that make a ticket urgent.
const SIGNALS: [(Urgency, &[&str]); 2] = [
    (
        Urgency::Immediate,
        &[
            "accident",
            "burned",
            "court",
            "danger",
            "dangerous",
            "fire",
            "fraud",
            "hacked",
            "hospital",
            "hurt",
            "injured",
            "injury",
            "lawsuit",
            "lawyer",
            "legal",
            "police",
            "smoke",
            "sue",
            "unsafe",
        ],
    ),
    (
        Urgency::High,
        &[
            "again and again",
            "complaint",
            "immediately",
            "manager",
            "nobody answers",
            "no answer",
            "no reply",
            "ignored",
            "still waiting",
            "supervisor",
            "third time",
            "unacceptable",
            "urgent",
            "weeks",
        ],
    ),
];

/// How much of the message a ticket shows.
const SUMMARY: usize = 160;

/// Makes a ticket out of a message.
pub(crate) fn ticket(message: &str) -> Ticket {
    let words = words(message);
    let mut urgency = Urgency::Normal;
    let mut signals = Vec::new();
    for (level, phrases) in SIGNALS {
        for phrase in phrases
            .iter()
            .filter(|phrase| contains_phrase(&words, phrase))
        {
            urgency = urgency.max(level);
            signals.push((*phrase).to_owned());
        }
    }
    if is_shouted(message) {
        urgency = urgency.max(Urgency::High);
        signals.push("written in capitals".to_owned());
    }
    Ticket {
        urgency,
        signals,
        summary: head(message, SUMMARY),
    }
}

/// Whether most letters of a message of some length are capitals.
fn is_shouted(message: &str) -> bool {
    let letters = message
        .chars()
        .filter(|character| character.is_alphabetic())
        .count();
    let capitals = message
        .chars()
        .filter(|character| character.is_uppercase())
        .count();
    letters >= 12 && capitals * 10 >= letters * 7
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strongest_signal_decides() {
        let cases: [(&str, Urgency, &[&str]); 5] = [
            ("Please call me back", Urgency::Normal, &[]),
            ("Let me speak to a manager", Urgency::High, &["manager"]),
            (
                "My lawyer will write to your manager",
                Urgency::Immediate,
                &["lawyer", "manager"],
            ),
            ("ANSWER ME AT LAST", Urgency::High, &["written in capitals"]),
            ("", Urgency::Normal, &[]),
        ];
        for (message, urgency, signals) in cases {
            let ticket = ticket(message);
            assert_eq!(
                (ticket.urgency, ticket.summary.as_str()),
                (urgency, message),
                "{message}"
            );
            assert_eq!(ticket.signals, signals, "{message}");
        }
    }
}
