//! When a person or the system wants a run to end.

use tokio::signal;

use super::exit::Exit;

/// Is ready when the process is asked to end: Ctrl-C, or SIGTERM.
///
/// A second request ends the process at once; what is open then stays open in the graph.
pub(super) async fn asked() {
    signalled().await;
    tokio::spawn(async {
        signalled().await;
        std::process::exit(Exit::Stopped as i32);
    });
}

#[cfg(unix)]
async fn signalled() {
    use signal::unix::{SignalKind, signal};

    // A signal that cannot be listened to ends the process as it does without us.
    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        return interrupted().await;
    };
    tokio::select! {
        () = interrupted() => {}
        _ = terminate.recv() => {}
    }
}

#[cfg(not(unix))]
async fn signalled() {
    interrupted().await;
}

async fn interrupted() {
    if signal::ctrl_c().await.is_err() {
        // Nobody can ask this way; the run ends by itself.
        std::future::pending().await
    }
}
