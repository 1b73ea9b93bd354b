//! Holds the progress of a run back while a person is asked something.

use tokio::sync::{mpsc, oneshot};

/// Pauses that wait; questions come one at a time.
const WAITING_MAX: usize = 4;

/// Asks for pauses.
#[derive(Clone, Debug)]
pub(in crate::commands) struct Pauser(mpsc::Sender<Pause>);

/// Where the progress is told of them.
#[derive(Debug)]
pub(in crate::commands) struct Pauses(mpsc::Receiver<Pause>);

/// One pause that is wanted.
#[derive(Debug)]
pub(super) struct Pause {
    pub(super) begun: oneshot::Sender<()>,
    pub(super) over: oneshot::Receiver<()>,
}

/// A pause; it ends when this is dropped.
#[derive(Debug)]
pub(in crate::commands) struct Paused {
    _over: oneshot::Sender<()>,
}

/// The two ends.
pub(in crate::commands) fn pauses() -> (Pauser, Pauses) {
    let (sender, receiver) = mpsc::channel(WAITING_MAX);
    (Pauser(sender), Pauses(receiver))
}

impl Pauser {
    /// Waits until everything that was told is printed and nothing more is.
    pub(in crate::commands) async fn pause(&self) -> Paused {
        let (begun, has_begun) = oneshot::channel();
        let (over_sender, over) = oneshot::channel();
        // A progress that is over writes nothing and needs no pause.
        if self.0.send(Pause { begun, over }).await.is_ok() {
            let _ = has_begun.await;
        }
        Paused { _over: over_sender }
    }
}

impl Pauses {
    /// The next one; `None` when nobody can want one any more.
    pub(super) async fn next(&mut self) -> Option<Pause> {
        self.0.recv().await
    }
}
