//! A decider without a model: it prefers the option that shares most words with the prompt.
//!
//! A baseline, for machines without a key and for tests: always the same answer to the same
//! question, no sense of meaning or irony, English endings only. It picks and cannot write.

mod terms;

use std::collections::BTreeSet;

use openprogram_guest::Failure;
use openprogram_guest::decider::{Choice, Decider, State, Weight};

/// The decider of this component.
struct LexicalModel;

openprogram_guest::export_decider!(LexicalModel);

/// What a word of the name counts, against 1 for a word of the description: names are short and
/// say what an option is, descriptions also say when.
const NAME_WEIGHT: f64 = 2.0;

/// Shared words beyond the first count less and less towards the preference; at this sum of their
/// rarity the preference is about 2.7 times as strong as for an option that shares nothing.
const TEMPERATURE: f64 = 0.8;

impl Decider for LexicalModel {
    fn decide(state: &State) -> Result<Vec<Weight>, Failure> {
        if state.choices.is_empty() {
            return Err(Failure::invalid_argument(
                "choices",
                "there is nothing to choose from",
            ));
        }
        Ok(weigh(&state.prompt, &state.choices))
    }
}

/// The words of one option.
struct Profile {
    name: BTreeSet<String>,
    description: BTreeSet<String>,
}

impl Profile {
    fn of(choice: &Choice) -> Self {
        let name = terms::of(&choice.name);
        let description = &terms::of(&choice.description) - &name;
        Profile { name, description }
    }

    fn has(&self, term: &str) -> bool {
        self.name.contains(term) || self.description.contains(term)
    }
}

/// Gives each choice a probability. Without any shared word, all are alike.
fn weigh(prompt: &str, choices: &[Choice]) -> Vec<Weight> {
    let prompt = terms::of(prompt);
    let profiles: Vec<Profile> = choices.iter().map(Profile::of).collect();
    // A word that many options have tells little about any of them.
    let rarity = |term: &String| {
        let owners = profiles.iter().filter(|profile| profile.has(term)).count();
        (profiles.len() as f64 / owners.max(1) as f64).ln()
    };
    let shared = |terms: &BTreeSet<String>| terms.intersection(&prompt).map(rarity).sum::<f64>();
    let scores: Vec<f64> = profiles
        .iter()
        .map(|profile| NAME_WEIGHT * shared(&profile.name) + shared(&profile.description))
        .collect();
    // The largest score is taken off first, so that no power overflows.
    let largest = scores.iter().copied().fold(0.0, f64::max);
    let powers: Vec<f64> = scores
        .iter()
        .map(|score| ((score - largest) / TEMPERATURE).exp())
        .collect();
    let sum: f64 = powers.iter().sum();
    let weight = |(choice, power): (&Choice, f64)| Weight {
        option: choice.name.clone(),
        probability: power / sum,
    };
    choices.iter().zip(powers).map(weight).collect()
}

#[cfg(test)]
mod tests {
    use openprogram_guest::{Json, json};

    use super::*;

    fn choices(options: &[(&str, &str)]) -> Vec<Choice> {
        let choice = |(name, description): &(&str, &str)| Choice {
            name: (*name).to_owned(),
            description: (*description).to_owned(),
            parameters: Json::from(json!({"type": "object"})),
        };
        options.iter().map(choice).collect()
    }

    fn workshop() -> Vec<Choice> {
        choices(&[
            (
                "book_repair",
                "Books a repair of a bicycle: flat tyre, broken chain, loose brakes.",
            ),
            (
                "sell_parts",
                "Sells parts: tyres, chains, lamps, saddles. Tells prices.",
            ),
            ("opening_hours", "Tells when the workshop is open."),
            ("goodbye", "Ends the talk when nothing is left to do."),
        ])
    }

    #[test]
    fn the_option_with_most_shared_words_is_preferred() {
        let cases = [
            ("My brakes are broken, can you repair them?", "book_repair"),
            ("What is the price of a lamp?", "sell_parts"),
            ("When do you open on Saturdays?", "opening_hours"),
            ("That was all, goodbye!", "goodbye"),
            ("The chain broke and I got a flat tyre", "book_repair"),
        ];
        for (prompt, expected) in cases {
            let state = State::new(prompt, workshop());
            let weights = LexicalModel::decide(&state).unwrap();
            let best = weights
                .iter()
                .max_by(|a, b| a.probability.total_cmp(&b.probability));
            assert_eq!(best.unwrap().option, expected, "{prompt}: {weights:?}");
        }
    }

    #[test]
    fn every_answer_is_a_distribution_over_the_options_in_their_order() {
        let long = "broken chain ".repeat(20_000);
        for prompt in [
            "",
            "zzz",
            "broken",
            &long,
            "book repair opening hours goodbye sell parts",
        ] {
            let weights = weigh(prompt, &workshop());
            let sum: f64 = weights.iter().map(|weight| weight.probability).sum();
            assert!((sum - 1.0).abs() < 1e-9, "{prompt:.20}: {sum}");
            assert!(
                weights
                    .iter()
                    .all(|weight| (0.0..=1.0).contains(&weight.probability))
            );
            let names: Vec<&str> = weights
                .iter()
                .map(|weight| weight.option.as_str())
                .collect();
            assert_eq!(
                names,
                ["book_repair", "sell_parts", "opening_hours", "goodbye"]
            );
            assert_eq!(weights, weigh(prompt, &workshop()));
        }
    }

    #[test]
    fn without_a_shared_word_all_options_are_alike() {
        let weights = weigh("quantum", &choices(&[("a", "first"), ("b", "second")]));
        let probabilities: Vec<f64> = weights.iter().map(|weight| weight.probability).collect();
        assert_eq!(probabilities, [0.5, 0.5]);
    }

    #[test]
    fn no_options_are_refused_by_name() {
        let failure = LexicalModel::decide(&State::new("x", Vec::new())).unwrap_err();
        assert_eq!(failure.code(), "invalid-argument");
    }
}
