//! How much lives on: the handles of an instance, and the instances of a session and of all.

use openprogram_core::id::SessionId;
use tokio::sync::OwnedSemaphorePermit;

use super::{LiveCall, OF_SESSION_MAX, Place};
use crate::engine::LIVE_INSTANCES;
use crate::limits::LimitReached;

/// How many handles the instance may give yet.
pub(super) fn room(with: &LiveCall<'_>, place: &Place) -> usize {
    let most = usize::try_from(with.limits.live_handles).unwrap_or(usize::MAX);
    most.saturating_sub(place.record().book.len())
}

/// Refuses a call that gives handles where there is room for none.
pub(super) fn check_room(with: &LiveCall<'_>, place: &Place) -> Result<(), LimitReached> {
    match with.function.gives_handles && room(with, place) == 0 {
        true => Err(too_many(with.limits.live_handles)),
        false => Ok(()),
    }
}

pub(super) fn too_many(max: u64) -> LimitReached {
    let message = format!("the component holds more than {max} handles; release some first");
    LimitReached::new("live_handles", max, message)
}

/// A place for one more instance. One of another session makes room when its run is over.
pub(super) fn permit(
    with: &LiveCall<'_>,
    session: &SessionId,
) -> Result<OwnedSemaphorePermit, LimitReached> {
    let alive = with
        .all
        .iter()
        .filter(|other| other.instances.is_alive(session));
    if alive.count() >= OF_SESSION_MAX {
        let message = format!(
            "{OF_SESSION_MAX} components have an instance that lives on in this session, and that is \
             the most"
        );
        return Err(LimitReached::new(
            "live_instances",
            OF_SESSION_MAX as u64,
            message,
        ));
    }
    if let Some(permit) = with.engine.live_permit() {
        return Ok(permit);
    }
    let spare = with
        .all
        .iter()
        .filter_map(|other| other.instances.spare(session));
    if let Some((_, place)) = spare.min_by_key(|(used, _)| *used) {
        place.end_if_idle("its run was over, and another session needed its place");
    }
    with.engine.live_permit().ok_or_else(|| {
        let message = format!(
            "{LIVE_INSTANCES} instances live on in all sessions together, and that is the most"
        );
        LimitReached::new("live_instances", LIVE_INSTANCES.into(), message)
    })
}
