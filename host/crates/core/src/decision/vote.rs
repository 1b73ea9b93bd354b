//! One decision put to the vote: the same question with the options in other orders.
//!
//! Models prefer what stands first or last; an option that wins in every order wins by itself.

use super::confidence::{Confidence, ConfidenceSource};
use super::menu::Menu;
use super::pick::Pick;
use crate::failure::{Failure, FailureCode};
use crate::schema::quoted;
use crate::{Json, JsonObject};

/// By how many places the options are rotated for one ask of a vote; the first ask is not rotated.
///
/// The rotations of a vote are spread over the menu.
#[must_use]
pub fn rotation(n_options: usize, vote: u32, votes: u32) -> usize {
    if n_options == 0 || votes == 0 {
        return 0;
    }
    let step = (n_options / votes as usize).max(1);
    (vote as usize).wrapping_mul(step) % n_options
}

/// The pick that won a vote.
#[derive(Clone, Debug, PartialEq)]
pub struct Elected {
    /// The pick. Of the arguments given for its option the most frequent ones, the earliest among
    /// equals.
    pub pick: Pick,
    /// The share of all asks that picked the option.
    pub confidence: Confidence,
    /// How many asks picked each option that was picked at all, in menu order.
    pub tally: Vec<(String, u32)>,
}

/// Several options got the most picks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the vote is tied between {}; ask an odd number of times or more often", self.in_words())]
pub struct Tie {
    /// The options with the most picks, in menu order; at least two.
    pub tied: Vec<String>,
    /// How many asks picked each option that was picked at all, in menu order.
    pub tally: Vec<(String, u32)>,
}

impl Tie {
    /// The word for this end of a decision in failures and records.
    pub const KIND: &'static str = "tie";

    fn in_words(&self) -> String {
        let names: Vec<_> = self.tied.iter().map(|name| quoted(name)).collect();
        names.join(" and ")
    }

    /// The error as guests and callers see it: code `decision`, kind `tie`.
    #[must_use]
    pub fn to_failure(&self) -> Failure {
        Failure::new(FailureCode::Decision, self.to_string())
            .with("kind", Self::KIND)
            .with("tied", self.tied.clone())
            .with("tally", tally_to_json(&self.tally))
    }
}

/// The count of a vote for records: `{"refund": 2, "close": 1}`.
#[must_use]
pub fn tally_to_json(tally: &[(String, u32)]) -> Json {
    let entries = tally
        .iter()
        .map(|(name, count)| (name.clone(), (*count).into()));
    Json::Object(entries.collect::<JsonObject>())
}

/// Counts the picks of a vote; `None` when there is none at all.
///
/// `picks` may come from rotated menus and are told by name. `n_asked` counts the asks that gave
/// no valid pick too.
///
/// # Errors
/// When several options have the most picks.
pub fn count_votes(menu: &Menu, picks: Vec<Pick>, n_asked: u32) -> Result<Option<Elected>, Tie> {
    let mut counts = vec![0_u32; menu.options().len()];
    let picks: Vec<_> = picks
        .into_iter()
        .filter_map(|pick| menu.adopt(pick))
        .collect();
    for pick in &picks {
        counts[pick.index] += 1;
    }
    let most = counts.iter().copied().max().unwrap_or(0);
    if most == 0 {
        return Ok(None);
    }
    let named = |(index, count): (usize, u32)| (menu.options()[index].name.clone(), count);
    let counted = || counts.iter().copied().enumerate();
    let tally: Vec<_> = counted().filter(|entry| entry.1 > 0).map(named).collect();
    let tied: Vec<_> = counted().filter(|entry| entry.1 == most).collect();
    let winner = match tied.as_slice() {
        [(winner, _)] => *winner,
        several => {
            let tied = several.iter().map(|entry| named(*entry).0).collect();
            return Err(Tie { tied, tally });
        }
    };
    let value = f64::from(most) / f64::from(n_asked.max(most));
    let won: Vec<_> = picks
        .into_iter()
        .filter(|pick| pick.index == winner)
        .collect();
    let pick = most_frequent(won);
    Ok(pick.map(|pick| Elected {
        pick,
        confidence: Confidence {
            value,
            source: ConfidenceSource::Votes,
        },
        tally,
    }))
}

/// The pick whose arguments occur most often, the earliest among equals.
fn most_frequent(picks: Vec<Pick>) -> Option<Pick> {
    let count = |pick: &Pick| {
        picks
            .iter()
            .filter(|p| p.arguments == pick.arguments)
            .count()
    };
    let most = picks.iter().map(count).max()?;
    let place = picks.iter().position(|pick| count(pick) == most)?;
    picks.into_iter().nth(place)
}
