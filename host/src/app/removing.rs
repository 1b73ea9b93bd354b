//! Removing what is installed, with everything that was said of it.

use super::components::Loader;
use super::{AnswerChoice, App, LeftTable};
use crate::install::{Lock, LockEntry};
use crate::state::StateFolder;

/// What removing a component did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// Its entry in the lock file, which is gone.
    pub entry: LockEntry,
    /// What happened to its table in the project file.
    pub table: LeftTable,
    /// How many answers that held for good are forgotten.
    pub n_answers: usize,
}

impl App {
    /// Removes an installed component from the lock file, and its bytes and the answers that hold for
    /// good from the state folder.
    ///
    /// # Errors
    /// When nothing of that name is installed.
    pub fn remove(&self, name: &str) -> anyhow::Result<Removed> {
        let project_folder = &self.settings.project_folder;
        self.locked(&Lock::read(project_folder)?, name)?;
        let loader = Loader::new(self, StateFolder::create(&self.settings.state_folder)?);
        let _guard = loader.store.guard()?;
        let mut lock = Lock::read(project_folder)?;
        let entry = self.locked(&lock, name)?.clone();
        lock.components.remove(name);
        lock.grants.remove(name);
        lock.write(project_folder)?;
        self.forget(&loader, &lock, &entry.digest)?;
        Ok(Removed {
            entry,
            table: self.take_left_grants(name)?,
            n_answers: self.forget_answers(name, &AnswerChoice::All)?.len(),
        })
    }
}
