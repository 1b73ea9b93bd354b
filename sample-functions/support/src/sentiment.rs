//! The mood of a message, by a small list of words.
//!
//! A baseline that anyone can check: each known word has a weight, a negation before it turns the
//! weight around, a strengthening word raises it. It reads English only and knows no irony.

use crate::support::{Mood, Sentiment};
use crate::text::words;

/// Known words and their weights, from -3 to 3.
const WEIGHTS: [(&str, f64); 72] = [
    ("amazing", 3.0),
    ("awesome", 3.0),
    ("excellent", 3.0),
    ("fantastic", 3.0),
    ("perfect", 3.0),
    ("wonderful", 3.0),
    ("love", 3.0),
    ("loved", 3.0),
    ("best", 2.5),
    ("brilliant", 2.5),
    ("delighted", 2.5),
    ("great", 2.5),
    ("impressed", 2.5),
    ("beautiful", 2.0),
    ("enjoy", 2.0),
    ("enjoyed", 2.0),
    ("friendly", 2.0),
    ("good", 2.0),
    ("happy", 2.0),
    ("helpful", 2.0),
    ("pleased", 2.0),
    ("recommend", 2.0),
    ("reliable", 2.0),
    ("satisfied", 2.0),
    ("thank", 1.5),
    ("thanks", 1.5),
    ("appreciate", 1.5),
    ("fast", 1.5),
    ("glad", 1.5),
    ("like", 1.5),
    ("nice", 1.5),
    ("smooth", 1.5),
    ("easy", 1.0),
    ("fine", 1.0),
    ("okay", 0.5),
    ("well", 1.0),
    ("slow", -1.0),
    ("expensive", -1.0),
    ("difficult", -1.0),
    ("confusing", -1.5),
    ("delayed", -1.5),
    ("late", -1.5),
    ("missing", -1.5),
    ("problem", -1.5),
    ("problems", -1.5),
    ("unhappy", -2.0),
    ("annoyed", -2.0),
    ("annoying", -2.0),
    ("bad", -2.0),
    ("broken", -2.0),
    ("complaint", -2.0),
    ("damaged", -2.0),
    ("disappointed", -2.0),
    ("disappointing", -2.0),
    ("fail", -2.0),
    ("failed", -2.0),
    ("frustrated", -2.0),
    ("frustrating", -2.0),
    ("ignored", -2.0),
    ("poor", -2.0),
    ("rude", -2.5),
    ("unacceptable", -2.5),
    ("useless", -2.5),
    ("angry", -2.5),
    ("awful", -3.0),
    ("disgusting", -3.0),
    ("hate", -3.0),
    ("horrible", -3.0),
    ("scam", -3.0),
    ("terrible", -3.0),
    ("worst", -3.0),
    ("furious", -3.0),
];

const NEGATIONS: [&str; 12] = [
    "not", "no", "never", "don't", "doesn't", "didn't", "isn't", "wasn't", "can't", "couldn't",
    "won't", "hardly",
];

const STRENGTHENING: [&str; 8] = [
    "very",
    "really",
    "so",
    "extremely",
    "absolutely",
    "totally",
    "too",
    "incredibly",
];

/// How many words before a known word may turn or strengthen it.
const REACH: usize = 3;

/// A turned word says less than its opposite: "not good" is milder than "bad".
const TURNED: f64 = -0.75;

const STRENGTHENED: f64 = 1.5;

/// The sum of weights at which the score is about 0.7: some three clear words.
const SPREAD: f64 = 6.0;

/// Below this distance from 0 the mood counts as neutral.
const NEUTRAL: f64 = 0.15;

/// Measures the mood of a message.
pub(crate) fn analyze(message: &str) -> Sentiment {
    let words = words(message);
    let mut sum = 0.0;
    let mut because_of = Vec::new();
    for (index, word) in words.iter().enumerate() {
        let Some((_, weight)) = WEIGHTS.iter().find(|(known, _)| known == word) else {
            continue;
        };
        let before = &words[index.saturating_sub(REACH)..index];
        let any = |list: &[&str]| before.iter().any(|word| list.contains(&word.as_str()));
        let turned = if any(&NEGATIONS) { TURNED } else { 1.0 };
        let strengthened = if any(&STRENGTHENING) {
            STRENGTHENED
        } else {
            1.0
        };
        sum += weight * turned * strengthened;
        because_of.push(if turned < 0.0 {
            format!("not {word}")
        } else {
            word.clone()
        });
    }
    let score = sum / (sum * sum + SPREAD * SPREAD).sqrt();
    let score = (score * 100.0).round() / 100.0;
    let mood = match score {
        score if score >= NEUTRAL => Mood::Positive,
        score if score <= -NEUTRAL => Mood::Negative,
        _ => Mood::Neutral,
    };
    Sentiment {
        mood,
        score,
        because_of,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moods_follow_the_words_and_what_stands_before_them() {
        let cases = [
            (
                "I love it, the staff was very friendly!",
                Mood::Positive,
                0.71,
            ),
            ("The food was not good.", Mood::Negative, -0.24),
            ("It was never a problem.", Mood::Positive, 0.18),
            (
                "The worst service, absolutely terrible and rude.",
                Mood::Negative,
                -0.88,
            ),
            ("Where is my parcel?", Mood::Neutral, 0.0),
            ("Good food, bad service.", Mood::Neutral, 0.0),
            ("", Mood::Neutral, 0.0),
        ];
        for (message, mood, score) in cases {
            let found = analyze(message);
            assert_eq!((found.mood, found.score), (mood, score), "{message}");
        }
        assert_eq!(
            analyze("Not good, I am FURIOUS").because_of,
            ["not good", "furious"]
        );
    }

    #[test]
    fn scores_stay_in_bounds_and_words_are_listed_once() {
        let found = analyze(&"terrible ".repeat(10_000));
        assert_eq!((found.score, found.because_of.len()), (-1.0, 10_000));
        for (index, (word, weight)) in WEIGHTS.iter().enumerate() {
            assert!(weight.abs() <= 3.0, "{word}");
            assert!(
                WEIGHTS[..index].iter().all(|(earlier, _)| earlier != word),
                "{word}"
            );
        }
    }
}
