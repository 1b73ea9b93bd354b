//! The recorded sessions: to look at and to change.

use std::sync::Arc;

use anyhow::Context as _;
use openprogram_core::id::{NodeId, SessionId, Timestamp};
use openprogram_core::session::SessionArchive;
use openprogram_runtime::{Clock as _, Ids as _, RandomIds, SystemClock};
use openprogram_store::{Durability, SqliteStore};

use super::App;
use crate::state::{RunningSessions, StateFolder};

impl App {
    /// The recorded sessions, to look at; `None` when nothing was ever recorded.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn recorded_sessions(&self) -> anyhow::Result<Option<Arc<dyn SessionArchive>>> {
        let file = StateFolder::at(&self.settings.state_folder).sessions_file();
        let is_there = file.try_exists().with_context(|| {
            format!(
                "cannot look for sessions in `{}`",
                self.settings.state_folder.display()
            )
        })?;
        if !is_there {
            return Ok(None);
        }
        Ok(Some(Arc::new(SqliteStore::open_read_only(file)?)))
    }

    /// When the earliest living run of this session began; `None` when none lives.
    #[must_use]
    pub fn running_since(&self, session: &SessionId) -> Option<Timestamp> {
        self.running_sessions().running_since(session)
    }

    pub(super) fn running_sessions(&self) -> RunningSessions {
        StateFolder::at(&self.settings.state_folder).running_sessions()
    }

    /// The recorded sessions, to change; the database is made when there is none.
    ///
    /// # Errors
    /// When the state folder or the database cannot be used.
    pub fn sessions_to_change(&self) -> anyhow::Result<Arc<dyn SessionArchive>> {
        let state = StateFolder::create(&self.settings.state_folder)?;
        let store = SqliteStore::open(state.sessions_file(), Durability::default())?;
        Ok(Arc::new(store))
    }

    /// An id for a session that is about to be made.
    #[must_use]
    pub fn new_session_id(&self) -> SessionId {
        SessionId::from_bits(RandomIds::default().bits())
    }

    /// Ids for nodes that are about to be written.
    pub fn new_node_ids(&self) -> impl Iterator<Item = NodeId> {
        let ids = RandomIds::default();
        std::iter::repeat_with(move || NodeId::from_bits(ids.bits()))
    }

    /// The time now.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        SystemClock.now()
    }
}
