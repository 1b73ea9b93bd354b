//! Answers decisions wrongly, in the way that the first word of the prompt names.

use openprogram_guest::Failure;
use openprogram_guest::decider::{Decider, State, Weight};

struct Bad;

impl Decider for Bad {
    fn decide(state: &State) -> Result<Vec<Weight>, Failure> {
        let first = state.choices[0].name.as_str();
        let weight = |option: &str, probability| Weight {
            option: option.to_owned(),
            probability,
        };
        let weights = match state.prompt.split([' ', ':']).next().unwrap_or_default() {
            "good" => vec![weight(first, 1.0)],
            "nan" => vec![weight(first, f64::NAN)],
            "infinite" => vec![weight(first, f64::INFINITY)],
            "negative" => vec![weight(first, -1.0)],
            "unknown" => vec![weight("not-on-the-menu", 1.0)],
            "half" => vec![weight(first, 0.5)],
            "double" => vec![weight(first, 1.0), weight(first, 1.0)],
            "twice" => vec![weight(first, 0.5), weight(first, 0.5)],
            "empty" => Vec::new(),
            "many" => (0..100_000)
                .map(|n| weight(&format!("o{n}"), 0.0))
                .collect(),
            "failure" => return Err(Failure::new("llm", "the decider gave up")),
            "trap" => std::process::abort(),
            "loop" => loop {
                std::hint::black_box(first);
            },
            other => panic!("no way to answer is called `{other}`"),
        };
        Ok(weights)
    }
}

openprogram_guest::export_decider!(Bad);
