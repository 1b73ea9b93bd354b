//! A decision over groups: the model picks a group, then one of its options.

use openprogram_core::JsonObject;
use openprogram_core::decision::{Confidence, GroupedMenu, Menu, make_pick};
use openprogram_core::failure::{Failure, FailureCode};

use crate::complete::Asker;
use crate::open_pick::{OpenPick, PlannedDecision, only_option};
use crate::vote::elect;

/// Asks for a pick, in two stages where the menu has groups.
///
/// # Errors
/// Those of each stage, recorded.
pub(crate) async fn pick_in_stages<'a>(
    asker: Asker<'a>,
    planned: &PlannedDecision,
) -> Result<OpenPick<'a>, Failure> {
    let menu = &planned.menu;
    let grouped = planned.settings.check(menu);
    let Some(grouped) = grouped.map_err(|error| error.to_failure())? else {
        return elect(asker, planned, menu, JsonObject::new()).await;
    };
    if let Some(only) = only_group(&grouped) {
        return elect(asker, planned, only, JsonObject::new())
            .await
            .map(|open| open.on(menu));
    }
    let mut first = elect(asker, planned, grouped.first(), JsonObject::new()).await?;
    // They weigh groups, and not the options of the menu.
    first.weights = None;
    let Some(second) = grouped.second(&first.pick) else {
        return Ok(first.on(menu));
    };
    let group = first.pick.name.clone();
    let mut facts = JsonObject::new();
    facts.insert("group".to_owned(), group.into());
    if let Some(option) = only_option(second) {
        first.pick = make_pick(menu, &option.name, JsonObject::new())
            .map_err(|error| Failure::new(FailureCode::Internal, error.message))?;
        first.facts.extend(facts);
        return Ok(first);
    }
    let (n_asked, confidence) = (first.n_asked, first.confidence);
    first.close_alone().await?;
    let mut open = elect(asker, planned, second, facts).await?;
    open.weights = None;
    open.n_asked += n_asked;
    open.confidence = match second.options() {
        // Nothing was decided in this stage.
        [_] => confidence,
        _ => of_both(confidence, open.confidence),
    };
    Ok(open.on(menu))
}

/// The options of the only group, when there is nothing outside it.
fn only_group(grouped: &GroupedMenu) -> Option<&Menu> {
    let group = only_option(grouped.first())?;
    let pick = make_pick(grouped.first(), &group.name, JsonObject::new()).ok()?;
    grouped.second(&pick)
}

/// How sure a pick is that took two others.
fn of_both(first: Option<Confidence>, second: Option<Confidence>) -> Option<Confidence> {
    let (first, second) = (first?, second?);
    (first.source == second.source).then_some(Confidence {
        value: first.value * second.value,
        source: second.source,
    })
}
