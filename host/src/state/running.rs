//! Tells a run that goes on from one whose process is gone.
//!
//! Every run holds an advisory lock on a small file of its own for as long as it lives. The system
//! lets go of the lock when the process ends, however it ends, so an open node of a session
//! without a held lock has an unknown outcome. The name of the file says when the run began: nodes
//! that were opened before any living run began belong to a dead one.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use openprogram_core::id::{SessionId, Timestamp};

use super::open_or_create;

/// Guards creation and sweeping of marks, so that no mark is swept before it is locked.
const GUARD_FILE: &str = "guard";

/// The marks of runs, in one folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningSessions {
    folder: PathBuf,
}

/// The mark of one run. Dropping it ends the mark.
#[derive(Debug)]
pub struct RunMark {
    path: PathBuf,
    /// Held for its lock.
    _file: File,
}

impl RunningSessions {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Marks a run of this session as going on, and sweeps marks of runs that are gone.
    ///
    /// # Errors
    /// When the folder cannot be written or the file system has no locks.
    pub fn mark(&self, session: &SessionId, started_at: Timestamp) -> io::Result<RunMark> {
        let guard = open_or_create(&self.folder.join(GUARD_FILE))?;
        guard.lock()?;
        self.sweep()?;
        let mut attempt = 0_u64;
        loop {
            let name = format!("{session}.{}.{attempt}", started_at.0);
            let path = self.folder.join(name);
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => {
                    // Waits at most for a reader that is trying the lock at this moment.
                    file.lock()?;
                    return Ok(RunMark { path, _file: file });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => attempt += 1,
                Err(error) => return Err(error),
            }
        }
    }

    /// When the earliest living run of this session began; `None` when none lives.
    #[must_use]
    pub fn running_since(&self, session: &SessionId) -> Option<Timestamp> {
        let prefix = format!("{session}.");
        let entries = fs::read_dir(&self.folder).ok()?;
        entries
            .flatten()
            .filter_map(|entry| {
                let name = entry.file_name().into_string().ok()?;
                let started_at = name
                    .strip_prefix(&prefix)?
                    .split('.')
                    .next()?
                    .parse()
                    .ok()?;
                is_held(&entry.path()).then_some(Timestamp(started_at))
            })
            .min()
    }

    fn sweep(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.folder)?.flatten() {
            let path = entry.path();
            let is_mark = entry.file_name().to_str().is_some_and(is_mark_name);
            if is_mark && !is_held(&path) {
                // A mark that cannot be removed says nothing false: its lock is free.
                let _ = fs::remove_file(path);
            }
        }
        Ok(())
    }
}

impl Drop for RunMark {
    fn drop(&mut self) {
        // A mark that stays behind says nothing false: its lock is freed with the file.
        let _ = fs::remove_file(&self.path);
    }
}

/// Whether a file has the name of a mark. Nothing else is ever removed.
fn is_mark_name(name: &str) -> bool {
    let mut parts = name.split('.');
    let is_session = parts.next().is_some_and(|id| SessionId::parse(id).is_ok());
    let mut has_number = || parts.next().is_some_and(|part| part.parse::<i64>().is_ok());
    is_session && has_number() && has_number()
}

/// Whether someone holds the lock of this file. Readers share it, so they never see each other.
fn is_held(path: &Path) -> bool {
    // Opening a pipe would wait for someone at its other end.
    if !fs::symlink_metadata(path).is_ok_and(|found| found.is_file()) {
        return false;
    }
    match File::open(path).map(|file| file.try_lock_shared()) {
        Ok(Err(TryLockError::WouldBlock)) => true,
        Ok(Ok(()) | Err(TryLockError::Error(_))) | Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_lives_while_its_mark_is_held() {
        let folder = tempfile::tempdir().unwrap();
        let running = RunningSessions::new(folder.path().to_owned());
        let (session, other) = (SessionId::from_bits(1), SessionId::from_bits(2));
        assert_eq!(running.running_since(&session), None);

        let first = running.mark(&session, Timestamp(10)).unwrap();
        let second = running.mark(&session, Timestamp(20)).unwrap();
        assert_eq!(running.running_since(&session), Some(Timestamp(10)));
        assert_eq!(running.running_since(&other), None);

        drop(first);
        assert_eq!(running.running_since(&session), Some(Timestamp(20)));
        drop(second);
        assert_eq!(running.running_since(&session), None);
    }

    #[test]
    fn a_mark_without_a_process_counts_as_gone_and_is_swept() {
        let folder = tempfile::tempdir().unwrap();
        let running = RunningSessions::new(folder.path().to_owned());
        let session = SessionId::from_bits(1);
        let stale = folder.path().join(format!("{session}.5.0"));
        fs::write(&stale, "").unwrap();
        let other = folder.path().join("letter.txt");
        fs::write(&other, "kept").unwrap();
        assert_eq!(running.running_since(&session), None);
        let _mark = running.mark(&session, Timestamp(20)).unwrap();
        assert!(!stale.exists());
        assert!(other.exists());
        assert_eq!(running.running_since(&session), Some(Timestamp(20)));
    }
}
