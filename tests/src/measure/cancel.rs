//! Cancelling: from the moment at which a run is told to stop to its closed nodes, and to the end of
//! its request as the server sees it.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use openprogram_core::session::{MemoryStore, NodeQuery, NodeStatus, SessionStore};
use openprogram_runtime::RunRequest;
use openprogram_tests::host::{TestHost, sqlite};
use openprogram_tests::waiting::WaitingServer;
use tokio::sync::oneshot;

use crate::table::{Timing, heading, line, wanted};

/// How many runs are cancelled, one after the other.
const RUNS: usize = 50;

pub(super) async fn measure() -> Result<()> {
    heading("A function waits on a model in the middle of its reply and is cancelled");
    let folder = tempfile::tempdir()?;
    cancelled("memory", Arc::new(MemoryStore::default())).await?;
    let path: &Path = &folder.path().join("sessions.db");
    cancelled("SQLite", sqlite(path)).await?;
    wanted("promptly: nobody waits for the model");
    Ok(())
}

async fn cancelled(name: &str, store: Arc<dyn SessionStore>) -> Result<()> {
    let mut server = WaitingServer::start().await;
    let host = TestHost::new().guest("turner").provider(server.model());
    let host = host.store(Arc::clone(&store)).start().await;
    let (mut to_closed, mut to_gone) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let (stop, stopped) = oneshot::channel::<()>();
        let runtime = host.runtime.clone();
        let running = tokio::spawn(async move {
            let mut request = RunRequest::new("ask");
            request.arguments.insert("prompt".into(), "x".into());
            // A sender that is dropped stops the run as well.
            let stopped = async { drop(stopped.await) };
            let outcome = runtime.run_function_until(request, stopped).await;
            (outcome, Instant::now())
        });
        server.asked().await;
        let start = Instant::now();
        drop(stop);
        let (outcome, closed) = running.await.context("the run")?;
        let gone = server.gone().await;
        to_closed.push(closed - start);
        to_gone.push(gone.saturating_duration_since(start).max(Duration::ZERO));
        let session = outcome.session.context("the run has a session")?;
        let nodes = store.nodes(&session, NodeQuery::default()).await?;
        let are_closed = nodes
            .iter()
            .all(|node| node.status() == NodeStatus::Cancelled);
        ensure!(are_closed && nodes.len() == 2, "nodes are left open");
    }
    line(
        &format!("{name}, to its closed nodes"),
        Timing::of(to_closed),
        None,
    );
    line(
        &format!("{name}, until the server sees it"),
        Timing::of(to_gone),
        None,
    );
    Ok(())
}
