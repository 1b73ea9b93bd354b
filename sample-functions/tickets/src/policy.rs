//! The rules of the shop, found by the words that they share with a query.

use crate::tickets::Rule;

/// How many rules a search gives.
const FOUND_MAX: usize = 3;

/// A rule: title, text, and words that people use for it and that it does not hold itself.
type Entry = (&'static str, &'static str, &'static str);

const RULES: [Entry; 7] = [
    (
        "Damaged or faulty goods",
        "Within 30 days after delivery, an order that came damaged or does not work is refunded in \
         full. The customer keeps or throws away the item.",
        "broken broke cracked defective torn scratch refund repair",
    ),
    (
        "Wrong item",
        "When something else was sent than ordered, the order is refunded in full at any time.",
        "different mistake mixed up swapped refund",
    ),
    (
        "Lost parcels",
        "An order that the carrier lost is refunded in full. While it is still on its way, the \
         customer is asked to wait.",
        "missing arrive arrived never received late delivery shipping where track refund",
    ),
    (
        "Changed mind",
        "Within 14 days after delivery, an order may be sent back for a refund. Later it may not.",
        "return back unwanted like regret exchange",
    ),
    (
        "Large amounts",
        "A refund above 200 USD needs the approval of a person. Issue it as usual; it is marked.",
        "expensive money limit approve",
    ),
    (
        "Safety",
        "When somebody was hurt, or something burned or gave a shock, hand the ticket to a person.",
        "fire smoke injury injured dangerous electric lawyer legal",
    ),
    (
        "Everything else",
        "What no rule settles goes to a person. A ticket that asks for nothing is closed.",
        "question thanks thank hello other",
    ),
];

/// The rules that fit best, best first; the last rule when none does.
pub(crate) fn search(query: &str) -> Vec<Rule> {
    let wanted = words(query);
    let mut scored: Vec<(usize, &Entry)> = RULES
        .iter()
        .map(|rule| (score(rule, &wanted), rule))
        .filter(|(score, _)| *score > 0)
        .collect();
    // The sort is stable, so equals stay in the order of the book.
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    if scored.is_empty() {
        scored.extend(RULES.last().map(|rule| (0, rule)));
    }
    let rule = |(_, (title, text, _)): (usize, &Entry)| Rule {
        title: (*title).to_owned(),
        text: (*text).to_owned(),
    };
    scored.into_iter().take(FOUND_MAX).map(rule).collect()
}

/// A word of the title or of the people counts double.
fn score((title, text, people): &Entry, wanted: &[String]) -> usize {
    let (near, far) = (words(&format!("{title} {people}")), words(text));
    let points = |word: &String| match (near.contains(word), far.contains(word)) {
        (true, _) => 2,
        (false, true) => 1,
        (false, false) => 0,
    };
    wanted.iter().map(points).sum()
}

/// The words of a text, without small ones and without the endings of plurals, each once.
fn words(text: &str) -> Vec<String> {
    const SMALL: [&str; 22] = [
        "the", "and", "for", "was", "that", "this", "with", "not", "any", "all", "are", "can",
        "does", "has", "how", "its", "may", "what", "when", "who", "order", "item",
    ];
    let lower = text.to_lowercase();
    let mut words: Vec<String> = lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.len() > 2 && !SMALL.contains(word))
        .map(|word| word.strip_suffix('s').unwrap_or(word).to_owned())
        .collect();
    words.sort();
    words.dedup();
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_with_most_shared_words_comes_first() {
        for (query, first) in [
            ("damaged item", "Damaged or faulty goods"),
            ("the grinder arrived broken", "Damaged or faulty goods"),
            ("my parcel never arrived", "Lost parcels"),
            ("refund lost parcels", "Lost parcels"),
            ("return an unwanted order", "Changed mind"),
            ("WRONG ITEM SENT", "Wrong item"),
            ("it caught fire", "Safety"),
            ("refund above 200 USD", "Large amounts"),
            ("quantum physics", "Everything else"),
            ("", "Everything else"),
        ] {
            assert_eq!(search(query)[0].title, first, "{query}");
        }
    }

    #[test]
    fn few_rules_are_given_and_each_once() {
        let all = search("damaged wrong lost changed large safety refund fire person");
        let titles: Vec<_> = all.iter().map(|rule| rule.title.as_str()).collect();
        assert_eq!(titles.len(), FOUND_MAX, "{titles:?}");
        assert_eq!(search(&"refund ".repeat(10_000)).len(), FOUND_MAX);
    }
}
