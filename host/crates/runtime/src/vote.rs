//! A decision put to the vote: asked several times with the options in other orders.
//!
//! The nodes of the asks stay open until all are there, and what is open is not read. A reply
//! without a pick is closed at once, for its own ask reads it when it is asked again; the asks
//! after that one do not. So no ask sees what an earlier one said.

use openprogram_core::JsonObject;
use openprogram_core::decision::{
    Confidence, ConfidenceSource, Menu, Pick, Tie, count_votes, rotation, tally_to_json,
};
use openprogram_core::failure::{Failure, FailureCode};

use crate::complete::Asker;
use crate::ladder::ask_once;
use crate::open_pick::{OpenPick, PlannedDecision};

/// Asks for a pick from a menu as often as the settings say; the option with the most picks wins.
///
/// An ask without a valid pick counts for nobody. Where the votes are tied and the provider weighs
/// options, the one with the most weight in all asks together wins.
///
/// # Errors
/// `llm` when one of the asks fails; `decision` when none gave a pick, or of the kind `tie`.
pub(crate) async fn elect<'a>(
    asker: Asker<'a>,
    planned: &PlannedDecision,
    menu: &Menu,
    facts: JsonObject,
) -> Result<OpenPick<'a>, Failure> {
    let votes = planned.settings.n_votes();
    if votes == 1 {
        return ask_once(asker, planned, menu, facts).await;
    }
    let Cast {
        mut made,
        without_pick,
    } = cast(asker, planned, menu, facts).await?;
    let mean = mean_weights(menu, &made);
    let picks = made.iter().map(|open| open.pick.clone()).collect();
    let (pick, confidence, tally) = match count_votes(menu, picks, votes) {
        Ok(Some(elected)) => (elected.pick, elected.confidence, elected.tally),
        Ok(None) => {
            return Err(without_pick
                .unwrap_or_else(|| Failure::new(FailureCode::Internal, "a vote without asks")));
        }
        Err(tie) => match heaviest_of(menu, &made, mean.as_deref(), &tie) {
            Some(pick) => {
                let count = made.iter().filter(|open| open.pick.index == pick.index);
                let confidence = Confidence {
                    value: count.count() as f64 / f64::from(votes),
                    source: ConfidenceSource::Votes,
                };
                (pick, confidence, tie.tally)
            }
            None => {
                close_all(made).await?;
                return Err(tie.to_failure());
            }
        },
    };
    let is_winner = |open: &OpenPick<'a>| {
        (open.pick.index, &open.pick.arguments) == (pick.index, &pick.arguments)
    };
    let place = made.iter().position(is_winner).unwrap_or_default();
    let mut winner = made.swap_remove(place);
    for other in &made {
        winner.n_asked += other.n_asked;
    }
    close_all(made).await?;
    winner.confidence = Some(confidence);
    winner.weights = mean;
    winner
        .facts
        .insert("tally".to_owned(), tally_to_json(&tally));
    Ok(winner)
}

/// The asks of a vote.
struct Cast<'a> {
    /// The picks, as ones of the menu.
    made: Vec<OpenPick<'a>>,
    /// Why the last ask without a pick gave none.
    without_pick: Option<Failure>,
}

async fn cast<'a>(
    asker: Asker<'a>,
    planned: &PlannedDecision,
    menu: &Menu,
    facts: JsonObject,
) -> Result<Cast<'a>, Failure> {
    let votes = planned.settings.n_votes();
    let mut made: Vec<OpenPick<'a>> = Vec::new();
    let mut without_pick = None;
    for vote in 0..votes {
        let by = rotation(menu.options().len(), vote, votes);
        let rotated = menu.rotated(by);
        let mut facts = facts.clone();
        facts.insert("vote".to_owned(), (vote + 1).into());
        facts.insert("votes".to_owned(), votes.into());
        let asked = ask_once(asker, planned, &rotated, facts).await;
        if let Some(rejected) = asker.rejected {
            rejected.hide();
        }
        match asked {
            Ok(mut open) => {
                if let Some(weights) = &mut open.weights {
                    weights.rotate_right(by);
                }
                made.push(open.on(menu));
            }
            Err(failure) if failure.code == FailureCode::Decision => without_pick = Some(failure),
            Err(failure) => {
                close_all(made).await?;
                return Err(failure);
            }
        }
    }
    if let Some(rejected) = asker.rejected {
        rejected.show();
    }
    Ok(Cast { made, without_pick })
}

async fn close_all(made: Vec<OpenPick<'_>>) -> Result<(), Failure> {
    for open in made {
        open.close_alone().await?;
    }
    Ok(())
}

/// The mean weight of every option, where every ask weighed them.
fn mean_weights(menu: &Menu, made: &[OpenPick<'_>]) -> Option<Vec<f64>> {
    let mut sums = vec![0.0; menu.options().len()];
    let mut count = 0.0;
    for open in made {
        count += 1.0;
        for (sum, weight) in sums.iter_mut().zip(open.weights.as_ref()?) {
            *sum += weight;
        }
    }
    (count > 0.0).then(|| sums.into_iter().map(|sum| sum / count).collect())
}

/// The tied option with the most weight, if one has more than the others.
fn heaviest_of(
    menu: &Menu,
    made: &[OpenPick<'_>],
    mean: Option<&[f64]>,
    tie: &Tie,
) -> Option<Pick> {
    let mean = mean?;
    let places = tie.tied.iter().filter_map(|name| menu.find(name));
    let mut places: Vec<usize> = places.map(|(index, _)| index).collect();
    places.sort_by(|a, b| mean[*b].total_cmp(&mean[*a]));
    let [first, second, ..] = *places.as_slice() else {
        return None;
    };
    if mean[first] <= mean[second] {
        return None;
    }
    let heaviest = made.iter().find(|open| open.pick.index == first);
    heaviest.map(|open| open.pick.clone())
}
