//! How sure a pick is, who says so, and what becomes of a pick that is not sure enough.

use super::menu::Menu;
use super::pick::{Pick, make_pick};
use crate::JsonObject;
use crate::failure::{Failure, FailureCode};
use crate::schema::quoted;

/// Who says how sure a pick is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConfidenceSource {
    /// A component that weighs options.
    Decider,
    /// A provider's endpoint for decisions.
    Endpoint,
    /// The share of the asks that gave this pick.
    Votes,
    /// There was nothing else to pick.
    OnlyOption,
}

impl ConfidenceSource {
    /// The word in records and results.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Decider => "decider",
            Self::Endpoint => "endpoint",
            Self::Votes => "votes",
            Self::OnlyOption => "only_option",
        }
    }
}

/// How sure a pick is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Confidence {
    /// From 0 to 1.
    pub value: f64,
    /// Who says so. Values of different sources do not compare.
    pub source: ConfidenceSource,
}

/// How sure a pick must be.
#[derive(Clone, Debug, PartialEq)]
pub struct MinConfidence {
    /// Above 0, at most 1.
    pub level: f64,
    /// The option that is taken instead of an unsure pick; `None` makes it a failure.
    pub hand_off: Option<String>,
}

/// A pick that was not sure enough, or of unknown confidence, with no option to take over.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}", self.in_words())]
pub struct LowConfidence {
    /// The name of the picked option.
    pub name: String,
    /// How sure the pick was; `None` when nobody said.
    pub confidence: Option<Confidence>,
    /// How sure it had to be.
    pub level: f64,
}

impl LowConfidence {
    /// The word for this end of a decision in failures and records.
    pub const KIND: &'static str = "low_confidence";

    fn in_words(&self) -> String {
        let (name, level) = (quoted(&self.name), self.level);
        match self.confidence {
            Some(Confidence { value, source }) => format!(
                "the pick {name} has the confidence {value} ({}), less than the minimum of {level}",
                source.as_str()
            ),
            None => format!(
                "the pick {name} has no known confidence, and the minimum is {level}; ask for \
                 votes, or use a model that weighs options"
            ),
        }
    }

    /// The error as guests and callers see it: code `decision`, kind `low_confidence`.
    #[must_use]
    pub fn to_failure(&self) -> Failure {
        let failure = Failure::new(FailureCode::Decision, self.to_string())
            .with("kind", Self::KIND)
            .with("pick", self.name.clone())
            .with("min_confidence", self.level);
        match self.confidence {
            None => failure,
            Some(Confidence { value, source }) => failure
                .with("confidence", value)
                .with("confidence_source", source.as_str()),
        }
    }
}

/// What is carried out once the confidence of a pick was looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct Settled {
    /// The pick that counts.
    pub pick: Pick,
    /// The name of the option that was picked and not sure enough, when another one took over.
    pub handed_off: Option<String>,
}

/// Keeps a pick that is sure enough, and hands others to the option that takes over.
///
/// A pick of unknown confidence is not sure enough. The option that takes over is always kept.
///
/// # Errors
/// When the pick is not sure enough and nothing takes over.
pub fn settle(
    menu: &Menu,
    wanted: Option<&MinConfidence>,
    pick: Pick,
    confidence: Option<Confidence>,
) -> Result<Settled, LowConfidence> {
    let kept = |pick| Settled {
        pick,
        handed_off: None,
    };
    let Some(wanted) = wanted else {
        return Ok(kept(pick));
    };
    if confidence.is_some_and(|known| known.value >= wanted.level) {
        return Ok(kept(pick));
    }
    let other = wanted.hand_off.as_deref();
    let other = other.and_then(|name| make_pick(menu, name, JsonObject::new()).ok());
    match other {
        Some(other) if other.index == pick.index => Ok(kept(pick)),
        Some(other) => Ok(Settled {
            pick: other,
            handed_off: Some(pick.name),
        }),
        None => Err(LowConfidence {
            name: pick.name,
            confidence,
            level: wanted.level,
        }),
    }
}
