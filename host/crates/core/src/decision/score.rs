//! How good decisions are, measured on cases whose right pick is known.
//!
//! Pure counting: asking models, and the clock, are elsewhere.

use std::collections::BTreeMap;

/// How many bins of equal width the expected calibration error sorts confidences into.
pub const CALIBRATION_BINS: usize = 10;

/// What became of one case.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScoredCase {
    /// The name of the right option.
    pub expected: String,
    /// The name of the picked option; `None` when no valid pick was made.
    pub picked: Option<String>,
    /// How many times the model was asked again.
    pub n_retries: u32,
    /// How sure the pick was, if anybody said; from 0 to 1.
    pub confidence: Option<f64>,
    /// The probability of each option, if the provider gave them. Options left out have 0.
    pub probabilities: Option<Vec<(String, f64)>>,
}

/// How good the decisions of all cases were. Shares are from 0 to 1, and 0 without cases.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Score {
    /// How many cases there were.
    pub n_cases: usize,
    /// The share with the right pick.
    pub accuracy: f64,
    /// The share without a valid pick.
    pub invalid_rate: f64,
    /// The share in which the model was asked again.
    pub retry_rate: f64,
    /// How often which option was picked where which one was right; `None` is no valid pick.
    pub confusion: BTreeMap<(String, Option<String>), usize>,
    /// The mean Brier score over all options, 0 (best) to 2; `None` without probabilities.
    pub brier: Option<f64>,
    /// The expected calibration error of the confidences, in [`CALIBRATION_BINS`] bins; `None`
    /// without confidences.
    pub calibration_error: Option<f64>,
}

/// Scores cases.
#[must_use]
pub fn score(cases: &[ScoredCase]) -> Score {
    let share = |count: usize| {
        if cases.is_empty() {
            0.0
        } else {
            count as f64 / cases.len() as f64
        }
    };
    let count = |is: fn(&ScoredCase) -> bool| cases.iter().filter(|case| is(case)).count();
    let mut confusion = BTreeMap::new();
    for case in cases {
        let pair = (case.expected.clone(), case.picked.clone());
        *confusion.entry(pair).or_insert(0) += 1;
    }
    Score {
        n_cases: cases.len(),
        accuracy: share(count(is_right)),
        invalid_rate: share(count(|case| case.picked.is_none())),
        retry_rate: share(count(|case| case.n_retries > 0)),
        confusion,
        brier: mean(cases.iter().filter_map(brier)),
        calibration_error: calibration_error(cases),
    }
}

fn is_right(case: &ScoredCase) -> bool {
    case.picked.as_ref() == Some(&case.expected)
}

/// The squared distance between the probabilities and what is right, over all options.
fn brier(case: &ScoredCase) -> Option<f64> {
    let probabilities = case.probabilities.as_ref()?;
    let mut sum = 0.0;
    let mut is_weighed = false;
    for (name, probability) in probabilities {
        let right = *name == case.expected;
        is_weighed |= right;
        let wanted = if right { 1.0 } else { 0.0 };
        sum += (probability - wanted) * (probability - wanted);
    }
    // The right option was left out, which gives it the probability 0.
    if !is_weighed {
        sum += 1.0;
    }
    Some(sum)
}

/// The distance between how sure picks were and how often they were right, weighted by bin.
fn calibration_error(cases: &[ScoredCase]) -> Option<f64> {
    let mut bins = [Bin::default(); CALIBRATION_BINS];
    let mut total = 0.0;
    for case in cases {
        let (Some(_), Some(confidence)) = (&case.picked, case.confidence) else {
            continue;
        };
        let place = (confidence * CALIBRATION_BINS as f64) as usize;
        let bin = &mut bins[place.min(CALIBRATION_BINS - 1)];
        bin.confidence += confidence;
        bin.right += if is_right(case) { 1.0 } else { 0.0 };
        total += 1.0;
    }
    let distance: f64 = bins
        .iter()
        .map(|bin| (bin.right - bin.confidence).abs())
        .sum();
    (total > 0.0).then(|| distance / total)
}

#[derive(Clone, Copy, Default)]
struct Bin {
    confidence: f64,
    right: f64,
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0.0);
    for value in values {
        sum += value;
        count += 1.0;
    }
    (count > 0.0).then(|| sum / count)
}
