//! How a decision is made beyond asking once: confidence, votes, groups, a way out.
//!
//! Everything is off unless its author turns it on. What cannot hold is refused before any model
//! is asked.

use super::confidence::MinConfidence;
use super::group::{GroupError, GroupedMenu, OptionGroup};
use super::menu::Menu;
use super::option::{OptionKind, OptionSpec};
use super::pick::{PickErrorKind, make_pick};
use crate::failure::{Failure, FailureCode};
use crate::schema::quoted;
use crate::{Json, JsonObject};

/// How many times one decision may be put to the vote. More asks cost more than they tell.
pub const VOTES_MAX: u32 = 15;
/// The name of the option for none of the others, when its author gives none.
pub const EXIT_NAME: &str = "none_of_these";
/// What the menu says about it, when its author says nothing.
const EXIT_DESCRIPTION: &str = "None of the other options fits.";

/// How a decision is made; the default asks once and takes any valid pick.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DecisionSettings {
    /// How sure a pick must be, and what becomes of one that is not; `None` takes any pick.
    pub min_confidence: Option<MinConfidence>,
    /// How many times the model is asked, each time with the options in another order; the option
    /// with the most picks wins. `None` and 1 ask once.
    pub votes: Option<u32>,
    /// Groups of options: the model picks a group first and one of its options then. Empty shows
    /// all options at once.
    pub groups: Vec<OptionGroup>,
}

/// Why settings do not fit a menu.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SettingsError {
    /// The wanted confidence is no probability.
    #[error("the minimum confidence is {level}; use a number above 0 and at most 1")]
    Level {
        /// What was given.
        level: f64,
    },
    /// What unsure picks are handed to is not on the menu.
    #[error("{name}, which takes over unsure picks, is not one of the options; add it")]
    HandOff {
        /// The name, quoted and cut.
        name: String,
    },
    /// What unsure picks are handed to cannot be picked without a model.
    #[error("{name}, which takes over unsure picks, needs arguments; name an option without any")]
    HandOffArguments {
        /// The name, quoted and cut.
        name: String,
    },
    /// The number of votes is out of range.
    #[error("a decision is put to the vote {votes} times; use 1 to {VOTES_MAX}")]
    Votes {
        /// What was given.
        votes: u32,
    },
    /// The groups do not fit the menu.
    #[error(transparent)]
    Group(#[from] GroupError),
}

impl SettingsError {
    /// The error as guests and callers see it.
    #[must_use]
    pub fn to_failure(&self) -> Failure {
        let path = match self {
            Self::Level { .. } | Self::HandOff { .. } | Self::HandOffArguments { .. } => {
                "min_confidence"
            }
            Self::Votes { .. } => "votes",
            Self::Group(_) => "groups",
        };
        Failure::new(FailureCode::InvalidArgument, self.to_string()).with("path", path)
    }
}

impl DecisionSettings {
    /// Whether the model is asked once and any valid pick is taken.
    #[must_use]
    pub fn is_default(&self) -> bool {
        self.min_confidence.is_none() && self.n_votes() == 1 && self.groups.is_empty()
    }

    /// How many times the model is asked the same thing, at least 1.
    #[must_use]
    pub fn n_votes(&self) -> u32 {
        self.votes.unwrap_or(1)
    }

    /// Checks the settings against a menu, and makes the two stages of a menu with groups.
    ///
    /// # Errors
    /// The first setting that cannot hold.
    pub fn check(&self, menu: &Menu) -> Result<Option<GroupedMenu>, SettingsError> {
        if let Some(wanted) = &self.min_confidence {
            check_min_confidence(menu, wanted)?;
        }
        if let Some(votes) = self.votes
            && !(1..=VOTES_MAX).contains(&votes)
        {
            return Err(SettingsError::Votes { votes });
        }
        if self.groups.is_empty() {
            return Ok(None);
        }
        Ok(Some(GroupedMenu::new(menu, &self.groups)?))
    }
}

fn check_min_confidence(menu: &Menu, wanted: &MinConfidence) -> Result<(), SettingsError> {
    let level = wanted.level;
    if !(level > 0.0 && level <= 1.0) {
        return Err(SettingsError::Level { level });
    }
    let Some(name) = &wanted.hand_off else {
        return Ok(());
    };
    match make_pick(menu, name, JsonObject::new()) {
        Ok(_) => Ok(()),
        Err(error) if error.kind == PickErrorKind::UnknownCall => {
            Err(SettingsError::HandOff { name: quoted(name) })
        }
        Err(_) => Err(SettingsError::HandOffArguments { name: quoted(name) }),
    }
}

impl OptionSpec {
    /// The option for none of the others, to be added last. Its value is null.
    #[must_use]
    pub fn exit(name: Option<String>, description: Option<String>) -> Self {
        let given = description.filter(|text| !text.trim().is_empty());
        Self {
            name: name.unwrap_or_else(|| EXIT_NAME.to_owned()),
            description: Some(given.unwrap_or_else(|| EXIT_DESCRIPTION.to_owned())),
            kind: OptionKind::Value(Json::Null),
        }
    }
}
