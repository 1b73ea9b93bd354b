//! Whether a runtime is open, and what is released once it is not.
//!
//! Providers are released once, when nothing runs any more: by `close`, by the end of the last run
//! after it, or by the last handle.

use std::sync::{Mutex, MutexGuard, PoisonError};

use openprogram_core::failure::{Failure, FailureCode};
use tokio::sync::watch;

/// The life of one runtime.
pub(crate) struct Life {
    state: Mutex<State>,
    /// Tells the runs that are under way.
    is_closed: watch::Sender<bool>,
}

struct State {
    is_closed: bool,
    n_running: usize,
    /// Releases what the runtime holds; `None` once it has.
    release: Option<Release>,
}

/// Releases what a runtime holds. It does not panic.
pub(crate) type Release = Box<dyn FnOnce() + Send>;

/// One run under way. Providers are not released before it is dropped.
pub(crate) struct Running<'a>(&'a Life);

impl Life {
    /// The life of a runtime, which begins, and what ends with it.
    pub(crate) fn new(release: Release) -> Self {
        Self {
            state: Mutex::new(State {
                is_closed: false,
                n_running: 0,
                release: Some(release),
            }),
            is_closed: watch::Sender::new(false),
        }
    }

    /// Begins a run.
    ///
    /// # Errors
    /// `closed`, once the runtime is.
    pub(crate) fn enter(&self) -> Result<Running<'_>, Failure> {
        let mut state = self.state();
        if state.is_closed {
            let message = "the runtime is closed; make another one";
            return Err(Failure::new(FailureCode::Closed, message));
        }
        state.n_running += 1;
        Ok(Running(self))
    }

    /// Is ready once the runtime is closed.
    pub(crate) async fn closed(&self) {
        let mut closed = self.is_closed.subscribe();
        // The sender is in `self`, so it is there as long as somebody waits.
        let _ = closed.wait_for(|is_closed| *is_closed).await;
    }

    /// Closes the runtime: nothing begins any more, and what runs is told to stop.
    pub(crate) fn close(&self) {
        let release = {
            let mut state = self.state();
            state.is_closed = true;
            state.unused()
        };
        self.is_closed.send_replace(true);
        if let Some(release) = release {
            release();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Counts and one assignment leave it whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// What releases everything, once nobody uses it any more.
    fn unused(&mut self) -> Option<Release> {
        if self.is_closed && self.n_running == 0 {
            return self.release.take();
        }
        None
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let release = {
            let mut state = self.0.state();
            state.n_running -= 1;
            state.unused()
        };
        if let Some(release) = release {
            release();
        }
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        self.close();
    }
}
