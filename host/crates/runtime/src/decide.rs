//! Decisions: a menu checked as a whole, put to a model, and the pick resolved.
//!
//! Nothing is asked before the menu is known to be good, and nothing runs before the pick is.

use std::sync::Arc;

use openprogram_core::Json;
use openprogram_core::content::ContentBlock;
use openprogram_core::decision::{Menu, Payload, Pick, hidden_values, resolve_value};
use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::function::{RuntimeRef, RuntimeRole};
use openprogram_core::guest::{DecisionRequest, PickedOption};

use crate::arguments::mismatch;
use crate::ask::ask;
use crate::chosen_provider::{lent_provider, provider_of};
use crate::frame::{Frame, overlaid};
use crate::limits::MENU_RETRIES_MAX;
use crate::media::settled;
use crate::menu::{menu_in_frame, of_option};
use crate::open_pick::{Picked, PlannedDecision, ShownMedia, only_option};
use crate::ports::Ports;
use crate::request::{DecideRequest, DecidedPick};
use crate::resolve::resolve;

/// Decides for the function of `frame` and resolves the pick into the result of the next step.
pub(crate) async fn make_decision(
    ports: &Arc<Ports>,
    frame: &Arc<Frame>,
    request: DecisionRequest,
) -> Result<Json, Failure> {
    let planned = plan_in_frame(ports, frame, request)
        .and_then(can_run)
        .inspect_err(|failure| frame.note_refusal(failure))?;
    let picked = ask(ports, frame, &planned).await?;
    resolve(ports, frame, planned, picked).await
}

/// Decides for the function of `frame` and runs nothing.
pub(crate) async fn pick_option(
    ports: &Ports,
    frame: &Frame,
    request: DecisionRequest,
) -> Result<PickedOption, Failure> {
    let planned =
        plan_in_frame(ports, frame, request).inspect_err(|failure| frame.note_refusal(failure))?;
    let picked = ask(ports, frame, &planned).await?;
    Ok(as_option(picked))
}

/// A pick as the function that asked for it is lent it.
pub(crate) fn as_option(picked: Picked) -> PickedOption {
    PickedOption {
        name: picked.pick.name,
        arguments: picked.pick.arguments,
        how: picked.method.to_owned(),
        confidence: picked.confidence,
        handed_off: picked.handed_off,
        turn: Some(picked.turn),
    }
}

/// Decides at the top, where nothing runs either.
pub(crate) async fn decide_at_top(
    ports: &Ports,
    frame: &Frame,
    planned: PlannedDecision,
) -> Result<DecidedPick, Failure> {
    let picked = ask(ports, frame, &planned).await?;
    Ok(as_decided(&planned, picked))
}

/// A pick as whoever decides at the top is told it.
pub(crate) fn as_decided(planned: &PlannedDecision, picked: Picked) -> DecidedPick {
    DecidedPick {
        confidence: picked.confidence,
        handed_off: picked.handed_off,
        probabilities: picked.weights.map(|weights| {
            let names = planned
                .menu
                .options()
                .iter()
                .map(|option| option.name.clone());
            names.zip(weights).collect()
        }),
        ..as_read(&planned.menu, picked.pick, picked.method)
    }
}

/// The same for a pick of which nobody said how sure it is.
pub(crate) fn as_read(menu: &Menu, pick: Pick, method: &'static str) -> DecidedPick {
    DecidedPick {
        value: resolve_value(menu, &pick),
        coerced: pick.coerced(),
        option: pick.name,
        arguments: pick.arguments,
        method,
        confidence: None,
        handed_off: None,
        probabilities: None,
    }
}

/// Decides at the top and resolves the pick into the result of the next step.
pub(crate) async fn make_at_top(
    ports: &Arc<Ports>,
    frame: &Arc<Frame>,
    planned: PlannedDecision,
) -> Result<Json, Failure> {
    let picked = ask(ports, frame, &planned).await?;
    resolve(ports, frame, planned, picked).await
}

/// Checks everything about a decision that can be checked without a model, for a function.
fn plan_in_frame(
    ports: &Ports,
    frame: &Frame,
    request: DecisionRequest,
) -> Result<PlannedDecision, Failure> {
    if let Some(named) = request.runtime {
        frame.check_usable(named)?;
    }
    let runtime = request.runtime.or(frame.ambient);
    let runtime = runtime.ok_or_else(no_runtime)?;
    plan_decision(ports, frame, runtime, request)
}

/// The same over a runtime that the frame may use; at the top as well.
pub(crate) fn plan_decision(
    ports: &Ports,
    frame: &Frame,
    runtime: RuntimeRef,
    request: DecisionRequest,
) -> Result<PlannedDecision, Failure> {
    let planned = PlannedDecision {
        runtime,
        prompt: request.prompt,
        media: shown(ports, request.media)?,
        menu: menu_in_frame(ports, frame, request.options)?,
        context: overlaid(&frame.context, &request.context),
        max_retries: request.max_retries,
        settings: request.settings,
    };
    check(ports, &planned)?;
    if asks_model(&planned) {
        provider_of(ports, frame, runtime)?;
    }
    Ok(planned)
}

/// The same for a decision at the top, whose functions are looked up already.
pub(crate) fn plan_at_top(
    ports: &Ports,
    request: &DecideRequest,
) -> Result<PlannedDecision, Failure> {
    let planned = PlannedDecision {
        runtime: RuntimeRole::Main.into(),
        prompt: request.prompt.clone(),
        media: shown(ports, request.media.clone())?,
        menu: Menu::new(request.options.clone()).map_err(|error| error.to_failure())?,
        context: request.context.clone(),
        max_retries: request.max_retries,
        settings: request.settings.clone(),
    };
    check(ports, &planned)?;
    if asks_model(&planned) && request.provider.is_none() {
        lent_provider(ports, RuntimeRole::Main)?;
    }
    can_run(planned)
}

/// The media of a decision, which holds nothing else.
pub(crate) fn shown(ports: &Ports, mut content: Vec<ContentBlock>) -> Result<ShownMedia, Failure> {
    if content.iter().any(|block| block.as_media().is_none()) {
        let message = "a decision is shown images, video and audio only; texts go into its prompt";
        let failure = Failure::new(FailureCode::InvalidArgument, message);
        return Err(failure.with("path", "media"));
    }
    let mismatches = settled(ports, &mut content)?;
    Ok(ShownMedia {
        content,
        mismatches,
    })
}

/// Checks that whatever is picked can run: what a model may not give is there already.
///
/// # Errors
/// `invalid-argument`, with the option, the function and the hidden parameter.
pub(crate) fn can_run(planned: PlannedDecision) -> Result<PlannedDecision, Failure> {
    for option in planned.menu.options() {
        if let Payload::Function(function) = &option.payload {
            hidden_values(function, &planned.context)
                .map_err(|error| of_option(&option.name, mismatch(function, &error)))?;
        }
    }
    Ok(planned)
}

/// Checks what does not depend on who asks.
pub(crate) fn check(ports: &Ports, planned: &PlannedDecision) -> Result<(), Failure> {
    let longest = ports.parts.limits.prompt_bytes;
    let length = planned.prompt.len() as u64;
    if length > longest {
        let message = format!("the prompt is {length} bytes long; the most is {longest}");
        return Err(Failure::limit("prompt_bytes", longest, message));
    }
    if planned.max_retries > MENU_RETRIES_MAX {
        let message = format!("a decision is asked again at most {MENU_RETRIES_MAX} times");
        let most = u64::from(MENU_RETRIES_MAX);
        return Err(Failure::limit("max_retries", most, message));
    }
    let checked = planned.settings.check(&planned.menu);
    checked.map(drop).map_err(|error| error.to_failure())
}

/// Whether there is anything to ask a model.
pub(crate) fn asks_model(planned: &PlannedDecision) -> bool {
    only_option(&planned.menu).is_none()
}

fn no_runtime() -> Failure {
    Failure::new(
        FailureCode::NoRuntime,
        "no function on the call chain declares a runtime; add a parameter `runtime: &Runtime` to \
         the function that decides or to one that calls it",
    )
}
