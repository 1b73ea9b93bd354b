//! When a person or the system wants a run to end.

use tokio::signal;

use super::exit::Exit;

/// What the process is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// Ctrl-C: to stop what it does.
    Interrupt,
    /// SIGTERM: to end.
    Terminate,
}

/// What the process is asked for, one after the other, for commands that go on after the first.
/// While this is there no signal ends the process by itself.
pub(super) struct Signals {
    #[cfg(unix)]
    interrupt: Option<signal::unix::Signal>,
    #[cfg(unix)]
    terminate: Option<signal::unix::Signal>,
}

#[cfg(unix)]
impl Signals {
    /// Listens from now on. A signal that cannot be listened to ends the process as it does without
    /// us.
    pub(super) fn listen() -> Self {
        use signal::unix::{SignalKind, signal};

        Self {
            interrupt: signal(SignalKind::interrupt()).ok(),
            terminate: signal(SignalKind::terminate()).ok(),
        }
    }

    /// Waits for the next one. None is lost when the future is dropped.
    pub(super) async fn next(&mut self) -> Asked {
        async fn of(signal: &mut Option<signal::unix::Signal>) {
            match signal {
                // The stream of a signal has no end.
                Some(signal) => drop(signal.recv().await),
                None => std::future::pending().await,
            }
        }
        tokio::select! {
            () = of(&mut self.interrupt) => Asked::Interrupt,
            () = of(&mut self.terminate) => Asked::Terminate,
        }
    }
}

#[cfg(not(unix))]
impl Signals {
    /// Listens when it is waited for.
    pub(super) fn listen() -> Self {
        Self {}
    }

    /// Waits for the next one.
    pub(super) async fn next(&mut self) -> Asked {
        interrupted().await;
        Asked::Interrupt
    }
}

/// Is ready when the process is asked to end: Ctrl-C, or SIGTERM. Listens from the call on, not from
/// when it is waited for first.
///
/// A second request ends the process at once; what is open then stays open in the graph.
pub(super) fn asked() -> impl Future<Output = ()> {
    let mut signals = Signals::listen();
    async move {
        signals.next().await;
        tokio::spawn(async move {
            signals.next().await;
            std::process::exit(Exit::Stopped as i32);
        });
    }
}

#[cfg(not(unix))]
async fn interrupted() {
    if signal::ctrl_c().await.is_err() {
        // Nobody can ask this way; the run ends by itself.
        std::future::pending().await
    }
}
