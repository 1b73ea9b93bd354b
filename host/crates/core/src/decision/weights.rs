//! From the distribution of a decider to a checked pick. Nothing of its answer is trusted.

use super::menu::Menu;
use super::pick::{Pick, PickError, make_pick};
use crate::JsonObject;
use crate::schema::quoted;

/// How far the sum of the weights may be from 1.
pub const WEIGHT_SUM_TOLERANCE: f64 = 0.001;

/// How much less than the heaviest option the choice of a provider may weigh: by what its sums are
/// rounded.
const CHOICE_TOLERANCE: f64 = 1e-5;

/// What is wrong with the answer of a decider.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WeightsError {
    /// It weighs nothing.
    #[error("the answer weighs no option")]
    Empty,
    /// A weight is no number.
    #[error("the weight of {option} is {weight}, not a finite number")]
    NotFinite {
        /// The name, quoted and cut.
        option: String,
        /// The weight.
        weight: f64,
    },
    /// A weight is no probability.
    #[error("the weight of {option} is {weight}, not from 0 to 1")]
    OutOfRange {
        /// The name, quoted and cut.
        option: String,
        /// The weight.
        weight: f64,
    },
    /// A weight names no option of the menu.
    #[error("{option} is not one of the options")]
    UnknownOption {
        /// The name, quoted and cut.
        option: String,
    },
    /// An option is weighed twice.
    #[error("{option} is weighed twice")]
    Twice {
        /// The name, quoted and cut.
        option: String,
    },
    /// The weights are no distribution.
    #[error("the weights sum to {sum}, not to 1")]
    Sum {
        /// Their sum.
        sum: f64,
    },
}

/// A distribution over a menu that was checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Weighed {
    /// The place of the option with the largest weight; among equals the first of the menu.
    pub index: usize,
    /// Its weight.
    pub probability: f64,
    /// The weight of every option, in menu order.
    pub weights: Vec<f64>,
}

impl Weighed {
    /// The same with the provider's own choice, where no option weighs more than that.
    #[must_use]
    pub fn preferring(mut self, menu: &Menu, choice: Option<&str>) -> Self {
        let chosen = choice.and_then(|name| menu.find(name));
        let weight = |index: usize| self.weights.get(index).copied();
        if let Some((index, _)) = chosen
            && let Some(weight) = weight(index)
            && weight >= self.probability - CHOICE_TOLERANCE
        {
            self.index = index;
            self.probability = weight;
        }
        self
    }
}

/// Reads the answer of a decider.
///
/// Options that are left out have the weight 0.
///
/// # Errors
/// When the answer is no distribution over the menu.
pub fn read_weights<'a>(
    menu: &Menu,
    weights: impl IntoIterator<Item = (&'a str, f64)>,
) -> Result<Weighed, WeightsError> {
    let mut known: Vec<Option<f64>> = vec![None; menu.options().len()];
    let mut sum = 0.0;
    for (name, weight) in weights {
        let option = || quoted(name);
        let (index, _) = menu
            .find(name)
            .ok_or_else(|| WeightsError::UnknownOption { option: option() })?;
        if !weight.is_finite() {
            let option = option();
            return Err(WeightsError::NotFinite { option, weight });
        }
        if !(0.0..=1.0).contains(&weight) {
            let option = option();
            return Err(WeightsError::OutOfRange { option, weight });
        }
        if known[index].replace(weight).is_some() {
            return Err(WeightsError::Twice { option: option() });
        }
        sum += weight;
    }
    if known.iter().all(Option::is_none) {
        return Err(WeightsError::Empty);
    }
    if (sum - 1.0).abs() > WEIGHT_SUM_TOLERANCE {
        return Err(WeightsError::Sum { sum });
    }
    let weights: Vec<f64> = known.into_iter().map(Option::unwrap_or_default).collect();
    let (index, probability) = heaviest(&weights);
    Ok(Weighed {
        index,
        probability,
        weights,
    })
}

/// The first of the largest weights, and its place.
fn heaviest(weights: &[f64]) -> (usize, f64) {
    let mut best = (0, 0.0);
    for (index, weight) in weights.iter().copied().enumerate() {
        if weight > best.1 {
            best = (index, weight);
        }
    }
    best
}

/// The pick of an option by a model that cannot give arguments.
///
/// # Errors
/// When the option needs an argument, or the menu has no such option.
pub fn pick_without_arguments(menu: &Menu, name: &str) -> Result<Pick, PickError> {
    make_pick(menu, name, JsonObject::new()).map_err(|error| {
        // Whoever reads it must see that no argument was ever possible.
        let message = format!(
            "{} was picked by a model that only picks and cannot give arguments: {error}; use a \
             model that writes",
            quoted(name)
        );
        PickError {
            kind: error.kind,
            message,
        }
    })
}
