//! The session that a command is about: the one that is named, or the newest.

use std::sync::Arc;

use openprogram_core::id::SessionId;
use openprogram_core::session::{Session, SessionArchive, StoreError};

use super::console::Console;
use super::exit::Usage;
use crate::app::App;

/// The session of this name; without one the newest, which is told to the person.
pub(super) async fn session(
    name: Option<&str>,
    app: &App,
    console: &mut Console,
) -> anyhow::Result<(Arc<dyn SessionArchive>, Session)> {
    let store = app.recorded_sessions()?;
    let Some(name) = name else {
        let none = || {
            Usage("there are no sessions yet; `openprogram run FUNCTION` records one".to_owned())
        };
        let store = store.ok_or_else(none)?;
        let session = store.sessions(1).await?.pop().ok_or_else(none)?;
        console.say(&format!("the newest session, `{}`:", session.id));
        return Ok((store, session));
    };
    let id = SessionId::parse(name)?;
    let missing = || StoreError::NoSession(id.clone());
    let store = store.ok_or_else(missing)?;
    let session = store.session(&id).await?.ok_or_else(missing)?;
    Ok((store, session))
}
