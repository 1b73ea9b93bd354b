//! Replies that came from elsewhere: read as a decision would, and asked about where possible.

use openprogram_core::JsonObject;
use openprogram_core::decision::{DecisionError, DecisionSettings, Menu, PickError, parse_reply};
use openprogram_core::failure::Failure;
use openprogram_core::function::{RuntimeRef, RuntimeRole};
use openprogram_core::guest::{DecisionRequest, PickedOption};
use openprogram_core::schema::CheckMode;

use crate::ask::ask_about;
use crate::chosen_provider::{lent_provider, provider_of};
use crate::decide::{as_option, as_read, asks_model, can_run, check, shown};
use crate::frame::Frame;
use crate::menu::menu_in_frame;
use crate::open_pick::{PlannedDecision, method};
use crate::ports::Ports;
use crate::request::{DecideRequest, DecidedPick};

/// Reads a reply that came from elsewhere, and asks the model of `frame` again where that is
/// possible.
pub(crate) async fn parse_for_frame(
    ports: &Ports,
    frame: &Frame,
    reply: &str,
    request: DecisionRequest,
) -> Result<PickedOption, Failure> {
    if let Some(named) = request.runtime {
        frame.check_usable(named)?;
    }
    let menu = menu_in_frame(ports, frame, request.options)?;
    let error = match parse_reply(&menu, reply, CheckMode::Strict) {
        Ok(pick) => {
            return Ok(PickedOption {
                name: pick.name,
                arguments: pick.arguments,
                how: method::TEXT.to_owned(),
                confidence: None,
                handed_off: None,
                turn: None,
            });
        }
        Err(error) => error,
    };
    let runtime = request.runtime.or(frame.ambient);
    let writes = |runtime: &RuntimeRef| {
        let provider = provider_of(ports, frame, *runtime);
        provider.is_ok_and(|provider| provider.abilities().text)
    };
    let runtime = runtime.filter(|runtime| request.max_retries > 0 && writes(runtime));
    let Some(runtime) = runtime else {
        return Err(DecisionError::new(error, 1, reply).to_failure());
    };
    let planned = PlannedDecision {
        runtime,
        prompt: String::new(),
        media: shown(ports, request.media)?,
        menu,
        context: JsonObject::new(),
        // The first of them is asked for at once.
        max_retries: request.max_retries - 1,
        settings: DecisionSettings::default(),
    };
    check(ports, &planned)?;
    let picked = ask_about(ports, frame, &planned, reply, &error).await?;
    Ok(as_option(picked))
}

/// A reply as it is read at the top.
pub(crate) enum ReadAtTop {
    /// It picks.
    Picked(DecidedPick),
    /// It does not, and the model can be asked about it.
    AskAbout(PlannedDecision, PickError),
}

/// Reads a reply at the top. A model is needed only when it has to be asked.
pub(crate) fn read_at_top(
    ports: &Ports,
    reply: &str,
    request: &DecideRequest,
) -> Result<ReadAtTop, Failure> {
    let menu = Menu::new(request.options.clone()).map_err(|error| error.to_failure())?;
    let error = match parse_reply(&menu, reply, CheckMode::Strict) {
        Ok(pick) => {
            return Ok(ReadAtTop::Picked(as_read(&menu, pick, method::TEXT)));
        }
        Err(error) => error,
    };
    // The first question is asked at once.
    let Some(max_retries) = request.max_retries.checked_sub(1) else {
        return Err(DecisionError::new(error, 1, reply).to_failure());
    };
    let planned = can_run(PlannedDecision {
        runtime: RuntimeRole::Main.into(),
        prompt: String::new(),
        media: shown(ports, request.media.clone())?,
        menu,
        context: request.context.clone(),
        max_retries,
        settings: DecisionSettings::default(),
    })?;
    check(ports, &planned)?;
    if asks_model(&planned) && request.provider.is_none() {
        lent_provider(ports, RuntimeRole::Main)?;
    }
    Ok(ReadAtTop::AskAbout(planned, error))
}
