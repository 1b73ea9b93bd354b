//! The ladder of a decision: the best way that the provider has for this menu, and why a better one
//! was passed over.
//!
//! Which rung it is depends on the provider and the menu alone and is known before anything is
//! asked. A rung that fails is an error: nothing falls to the next one.

use openprogram_core::JsonObject;
use openprogram_core::decision::{Menu, MenuOption, pick_schema};
use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::llm::{Provider, check_native};
use openprogram_core::structured::{ResponseFormat, StructuredCode, StructuredError};

use crate::complete::Asker;
use crate::open_pick::{OpenPick, PlannedDecision, method};
use crate::weigh::weigh;
use crate::write::write;

/// The fact of a request that says which better ways were passed over, and why.
const PASSED_OVER: &str = "passed_over";
/// What providers call the shape of a pick.
const SHAPE_NAME: &str = "pick";

/// Asks once for a pick from a menu, by the best way there is. The pick of a provider that weighs
/// has no arguments yet where its option takes some and the provider writes.
///
/// # Errors
/// Those of the rung, recorded.
pub(crate) async fn ask_once<'a>(
    asker: Asker<'a>,
    planned: &PlannedDecision,
    menu: &Menu,
    facts: JsonObject,
) -> Result<OpenPick<'a>, Failure> {
    let mut passed_over = JsonObject::new();
    match weighs(asker.provider, menu, planned) {
        Weighs::Yes => return weigh(asker, planned, menu, facts).await,
        Weighs::No => {}
        Weighs::NotThis(why) if asker.provider.abilities().text => {
            passed_over.insert(method::ENDPOINT.to_owned(), why.into());
        }
        Weighs::NotThis(why) => {
            let name = asker.provider.name();
            let message = format!(
                "`{name}` cannot make this decision: {why}; {}name a model that writes",
                if has_media(planned) {
                    ""
                } else {
                    "group the options, or "
                }
            );
            return Err(Failure::new(FailureCode::NoProvider, message).with("model", name));
        }
    }
    write_in_shape(asker, planned, menu, passed_over, facts).await
}

/// Asks for the arguments of an option that is picked already.
///
/// # Errors
/// Those of the rung, recorded.
pub(crate) async fn ask_for_arguments<'a>(
    asker: Asker<'a>,
    planned: &PlannedDecision,
    option: &MenuOption,
    facts: JsonObject,
) -> Result<OpenPick<'a>, Failure> {
    let menu = Menu::new(vec![option.clone()]).map_err(|error| error.to_failure())?;
    write_in_shape(asker, planned, &menu, JsonObject::new(), facts).await
}

/// Lets the provider write, held to the shape of a pick where that is known to work.
async fn write_in_shape<'a>(
    asker: Asker<'a>,
    planned: &PlannedDecision,
    menu: &Menu,
    mut passed_over: JsonObject,
    mut facts: JsonObject,
) -> Result<OpenPick<'a>, Failure> {
    let shape = shape_of(asker.provider, menu, false, &mut passed_over);
    note_passed_over(passed_over, &mut facts);
    write(asker, planned, menu, shape.as_ref(), facts).await
}

/// The shape of a pick, where the provider is known to hold its replies to it. Where it holds them
/// to others only, that is passed over, with the reason.
pub(crate) fn shape_of(
    provider: &dyn Provider,
    menu: &Menu,
    has_tools: bool,
    passed_over: &mut JsonObject,
) -> Option<ResponseFormat> {
    provider
        .format_ability()
        .filter(|ability| ability.is_held)?;
    let shape = ResponseFormat::of_schema(SHAPE_NAME, pick_schema(menu)).and_then(|shape| {
        let ability = check_native(provider, &shape, has_tools)?;
        if !ability.keeps_order && menu.options().iter().any(MenuOption::takes_arguments) {
            // Arguments that are written before the name are written for no option.
            let message = format!(
                "`{}` is not known to write the name of an option before its arguments",
                provider.name()
            );
            return Err(StructuredError::new(StructuredCode::Unsupported, message));
        }
        Ok(shape)
    });
    match shape {
        Ok(shape) => Some(shape),
        Err(error) => {
            passed_over.insert(method::CONSTRAINED.to_owned(), error.message.into());
            None
        }
    }
}

/// Adds to the record of a request which better ways were passed over.
pub(crate) fn note_passed_over(passed_over: JsonObject, facts: &mut JsonObject) {
    if !passed_over.is_empty() {
        facts.insert(PASSED_OVER.to_owned(), passed_over.into());
    }
}

/// Whether a provider weighs the options of a menu.
#[derive(Debug, PartialEq)]
enum Weighs {
    Yes,
    /// It weighs none, or writing is as good: with one option there is nothing to weigh.
    No,
    /// It weighs others, and writes what it cannot weigh.
    NotThis(String),
}

fn has_media(planned: &PlannedDecision) -> bool {
    !planned.media.content.is_empty()
}

fn weighs(provider: &dyn Provider, menu: &Menu, planned: &PlannedDecision) -> Weighs {
    let (abilities, limits) = (provider.abilities(), provider.decision_limits());
    let count = menu.options().len();
    if !abilities.decide || (abilities.text && count == 1) {
        return Weighs::No;
    }
    if has_media(planned) {
        let told = "it weighs options by words alone, and the decision shows a file";
        return Weighs::NotThis(told.to_owned());
    }
    let (least, most) = (limits.options_min, limits.options_max);
    if (least..=most).contains(&count) {
        return Weighs::Yes;
    }
    Weighs::NotThis(format!(
        "it weighs {least} to {most} options, and the menu has {count}"
    ))
}
