//! The answer to one question, whatever its form, and whether it can be believed.
//!
//! A distribution is passed on only when it is one: finite, from 0 to 1, over the options that were
//! asked about, each once, with a sum near 1, and with the server's own pick at its top.

use openprogram_core::Json;
use openprogram_core::llm::{DecisionState, LlmFailure, LlmReason, Weight};
use openprogram_core::session::Usage;

use super::QUESTION;

/// How far the sum may be from 1: servers round each probability.
const SUM_TOLERANCE: f64 = 0.02;
/// The same for every option, where that is more.
const SUM_TOLERANCE_EACH: f64 = 0.005;
/// The same whatever the number of options.
const SUM_TOLERANCE_MAX: f64 = 0.25;
/// How far a number that was computed may be above 1, or below another one that it equals.
const COMPUTED_TOLERANCE: f64 = 1e-6;
/// How much of a name an error shows.
const SHOWN_CHARS: usize = 64;

/// What a server says.
pub(super) struct Answer {
    /// Its own pick.
    pub(super) choice: Option<Json>,
    /// Its own confidence.
    pub(super) confidence: Option<Json>,
    /// Every option that it weighs, with its probability.
    pub(super) probabilities: Vec<(Json, Json)>,
    pub(super) usage: Option<Usage>,
}

/// Token counts under the names that OpenAI gives them; others took these over.
pub(super) fn usage(usage: &Json) -> Option<Usage> {
    let count = |path: &str| usage.pointer(path).and_then(Json::as_u64);
    Some(Usage {
        input_tokens: count("/input_tokens")?,
        output_tokens: count("/output_tokens").unwrap_or(0),
        cache_read: count("/input_tokens_details/cached_tokens").unwrap_or(0),
        cache_create: count("/input_tokens_details/cache_write_tokens").unwrap_or(0),
    })
}

impl Answer {
    /// The answer to the one question among answers by id.
    pub(super) fn by_id(answers: &Json, usage: Option<Usage>) -> Result<Self, LlmFailure> {
        let Some(answer) = answers.get(QUESTION) else {
            return Err(unusable("it does not answer the question"));
        };
        if let Some(kind) = answer.get("type").filter(|kind| **kind != "choice") {
            let kind = shown(kind);
            return Err(unusable(format!("its type is {kind}, not \"choice\"")));
        }
        let Some(Json::Object(probabilities)) = answer.get("probabilities") else {
            return Err(unusable("it holds no probabilities"));
        };
        let pair = |(name, value): (&String, &Json)| (name.as_str().into(), value.clone());
        Ok(Self {
            choice: answer.get("choice").cloned(),
            confidence: answer.get("confidence").cloned(),
            probabilities: probabilities.iter().map(pair).collect(),
            usage,
        })
    }

    /// The name of the option that it picks, if it names one; checked with the rest.
    pub(super) fn choice(&self) -> Option<String> {
        self.choice.as_ref()?.as_str().map(str::to_owned)
    }

    /// The checked distribution, in the order of the options, with the sum 1; and the server's own
    /// confidence.
    pub(super) fn check(
        self,
        state: &DecisionState,
    ) -> Result<(Vec<Weight>, Option<f64>), LlmFailure> {
        let choices = &state.choices;
        let place = |name: &Json| {
            let known = |name: &str| choices.iter().position(|choice| choice.name == name);
            let place = name.as_str().and_then(known);
            place.ok_or_else(|| unusable(format!("{} is not one of the options", shown(name))))
        };
        let mut weights: Vec<Option<f64>> = vec![None; choices.len()];
        for (name, probability) in &self.probabilities {
            let weight = &mut weights[place(name)?];
            let probability = probability_of(name, probability)?;
            if weight.replace(probability).is_some() {
                return Err(unusable(format!("{} is weighed twice", shown(name))));
            }
        }
        if self.probabilities.is_empty() {
            return Err(unusable("it weighs no option"));
        }
        let weights: Vec<f64> = weights.into_iter().map(Option::unwrap_or_default).collect();
        let sum: f64 = weights.iter().sum();
        if (sum - 1.0).abs() > sum_tolerance(choices.len()) {
            return Err(unusable(format!(
                "the probabilities sum to {sum}, not to 1"
            )));
        }
        if let Some(choice) = self.choice.as_ref().filter(|choice| !choice.is_null()) {
            let of_choice = weights[place(choice)?];
            if weights
                .iter()
                .any(|other| *other > of_choice + COMPUTED_TOLERANCE)
            {
                let choice = shown(choice);
                return Err(unusable(format!(
                    "it picks {choice} and weighs another more"
                )));
            }
        }
        let own_confidence = self.confidence.filter(|value| !value.is_null());
        let own_confidence = own_confidence.map(|value| match value.as_f64() {
            Some(number) if is_probability(number) => Ok(number.min(1.0)),
            _ => Err(unusable("its confidence is not a number from 0 to 1")),
        });
        let named = choices.iter().zip(weights);
        let weights = named.map(|(choice, weight)| Weight {
            option: choice.name.clone(),
            probability: weight / sum,
        });
        Ok((weights.collect(), own_confidence.transpose()?))
    }
}

fn probability_of(name: &Json, value: &Json) -> Result<f64, LlmFailure> {
    match value.as_f64() {
        Some(number) if is_probability(number) => Ok(number),
        Some(number) => {
            let name = shown(name);
            Err(unusable(format!(
                "the probability of {name} is {number}, not from 0 to 1"
            )))
        }
        None => Err(unusable(format!(
            "the probability of {} is not a number",
            shown(name)
        ))),
    }
}

/// JSON has no infinity, but a number may be too large for one that is finite.
fn is_probability(number: f64) -> bool {
    number.is_finite() && (0.0..=1.0 + COMPUTED_TOLERANCE).contains(&number)
}

fn sum_tolerance(n_options: usize) -> f64 {
    let each = u32::try_from(n_options).map_or(f64::MAX, f64::from) * SUM_TOLERANCE_EACH;
    each.clamp(SUM_TOLERANCE, SUM_TOLERANCE_MAX)
}

/// An answer that breaks the promise of its form. Another try would most likely give it again.
pub(super) fn unusable(why: impl std::fmt::Display) -> LlmFailure {
    let message = format!("the answer of the decision endpoint cannot be used: {why}");
    LlmFailure::new(LlmReason::Provider, false, message)
}

/// The server does not answer this question.
pub(super) fn declined(why: &str) -> LlmFailure {
    let message = format!("the decision endpoint does not answer: {why}");
    LlmFailure::new(LlmReason::Policy, false, message)
}

/// A value of the answer in an error: cut, in quotes where it is a name.
pub(super) fn shown(value: &Json) -> String {
    let text: String = value.to_string().chars().take(SHOWN_CHARS + 1).collect();
    match text.chars().count() {
        0..=SHOWN_CHARS => text,
        _ => text.chars().take(SHOWN_CHARS).chain(['…']).collect(),
    }
}
