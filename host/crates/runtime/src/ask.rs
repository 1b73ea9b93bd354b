//! Lets a model pick: alone, in stages, by votes, by the best way its provider has; and settles what
//! becomes of the pick.
//!
//! Nothing runs here. Every request is a node, closed with the method and what came of it.

use openprogram_core::JsonObject;
use openprogram_core::decision::{Menu, PickError};
use openprogram_core::failure::Failure;
use openprogram_core::llm::Operation;

use crate::chosen_provider::provider_of;
use crate::complete::{Asker, Rejected};
use crate::deadline::Deadline;
use crate::events::Event;
use crate::frame::Frame;
use crate::ladder::ask_for_arguments;
use crate::media::tell_mismatches;
use crate::open_pick::{Picked, PlannedDecision, only_option, tell_picked};
use crate::ports::Ports;
use crate::single::pick_only;
use crate::stages::pick_in_stages;
use crate::write::write_again;

/// Lets a model pick.
///
/// # Errors
/// `no-provider`, `llm` when the model cannot be asked, `decision` when it gives no valid pick or
/// none that is sure enough.
pub(crate) async fn ask(
    ports: &Ports,
    frame: &Frame,
    planned: &PlannedDecision,
) -> Result<Picked, Failure> {
    tell_asked(frame, &planned.menu);
    tell_mismatches(frame, &planned.media.mismatches);
    let picked = match only_option(&planned.menu) {
        Some(option) => pick_only(ports, frame, planned, option).await?,
        None => ask_model(ports, frame, planned).await?,
    };
    tell_picked(frame, &picked);
    Ok(picked)
}

async fn ask_model(
    ports: &Ports,
    frame: &Frame,
    planned: &PlannedDecision,
) -> Result<Picked, Failure> {
    let deadline = Deadline::start(&ports.parts, None);
    let rejected = Rejected::default();
    let asker = Asker {
        rejected: Some(&rejected),
        watcher: None,
        ..asker(ports, frame, planned, &deadline)?
    };
    let open = pick_in_stages(asker, planned).await?;
    let lacks_arguments = open.lacks_arguments;
    let picked = open.settle(planned).await?;
    if !lacks_arguments || picked.handed_off.is_some() {
        return Ok(picked);
    }
    let option = &planned.menu.options()[picked.pick.index];
    let mut facts = JsonObject::new();
    facts.insert("arguments_of".to_owned(), picked.turn.as_str().into());
    let filled = ask_for_arguments(asker, planned, option, facts).await?;
    let filled = filled.on(&planned.menu);
    let (pick, n_asked, stop) = (filled.pick.clone(), filled.n_asked, filled.open.stop);
    Ok(Picked {
        pick,
        turn: filled.close_alone().await?,
        n_asked: picked.n_asked + n_asked,
        stop,
        ..picked
    })
}

/// Asks about a reply that came from elsewhere and held no valid pick.
///
/// # Errors
/// When the provider does not write.
pub(crate) async fn ask_about(
    ports: &Ports,
    frame: &Frame,
    planned: &PlannedDecision,
    reply: &str,
    error: &PickError,
) -> Result<Picked, Failure> {
    let deadline = Deadline::start(&ports.parts, None);
    let asker = asker(ports, frame, planned, &deadline)?;
    tell_asked(frame, &planned.menu);
    let open = write_again(asker, planned, reply, error).await?;
    let picked = open.settle(planned).await?;
    tell_picked(frame, &picked);
    Ok(picked)
}

fn asker<'a>(
    ports: &'a Ports,
    frame: &'a Frame,
    planned: &PlannedDecision,
    deadline: &'a Deadline,
) -> Result<Asker<'a>, Failure> {
    Ok(Asker {
        ports,
        frame,
        provider: provider_of(ports, frame, planned.runtime)?,
        runtime: planned.runtime,
        operation: Operation::Decision,
        deadline,
        rejected: None,
        watcher: None,
    })
}

/// Tells that a decision is put to a model.
pub(crate) fn tell_asked(frame: &Frame, menu: &Menu) {
    frame.run.emit(|| Event::DecisionAsked {
        caller: frame.node.clone(),
        options: menu.options().iter().map(|o| o.name.clone()).collect(),
    });
}
