//! `openprogram sessions`: the recorded sessions, newest first.

use openprogram_core::id::SessionId;
use openprogram_core::session::{NodeQuery, Session, SessionStore};
use serde_json::json;

use super::console::Console;
use super::graph;
use super::time::moment;
use crate::app::App;
use crate::text::one_line;

/// Lists the recorded sessions, newest first
///
/// Prints the id, the time of its creation in UTC, how its newest run ended, the number of its
/// nodes and its title. A session whose process ended before its run did is `unknown`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How many to list at most
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u64,
    /// Print {"sessions": [{"session", "title", "created_at_ms", "status", "nodes"}]}
    #[arg(long)]
    pub(super) json: bool,
}

/// One line of the list.
struct Entry {
    session: Session,
    n_nodes: u64,
    status: &'static str,
}

pub(super) async fn run(args: &Args, app: &App, console: &mut Console) -> anyhow::Result<()> {
    let mut entries = Vec::new();
    if let Some(store) = app.recorded_sessions()? {
        for session in store.sessions(args.limit).await? {
            entries.push(entry(&*store, app, session).await?);
        }
    }
    if args.json {
        let sessions: Vec<_> = entries.iter().map(Entry::to_json).collect();
        console.json(&json!({"sessions": sessions}))?;
        return Ok(());
    }
    if entries.is_empty() {
        console.say("there are no sessions yet; `openprogram run FUNCTION` records one");
    }
    for entry in &entries {
        console.text(&entry.to_line())?;
    }
    Ok(())
}

async fn entry(store: &dyn SessionStore, app: &App, session: Session) -> anyhow::Result<Entry> {
    let (n_nodes, status) = newest_run(store, app, &session.id).await?;
    Ok(Entry {
        session,
        n_nodes,
        status,
    })
}

/// The number of nodes, and how the newest run ended. Reads the newest node and its callers only.
async fn newest_run(
    store: &dyn SessionStore,
    app: &App,
    session: &SessionId,
) -> anyhow::Result<(u64, &'static str)> {
    let newest = NodeQuery {
        last: Some(1),
        ..NodeQuery::default()
    };
    let Some(mut node) = store.nodes(session, newest).await?.pop() else {
        return Ok((0, "empty"));
    };
    let n_nodes = node.seq;
    while let Some(caller) = node.opened.caller.take() {
        match store.node(&caller).await? {
            // A caller comes before what it calls; anything else would go on for ever.
            Some(above) if above.seq < node.seq => node = above,
            _ => break,
        }
    }
    Ok((n_nodes, graph::status(&node, app.running_since(session))))
}

impl Entry {
    fn to_line(&self) -> String {
        format!(
            "{}  {}  {:<9}  {:>5} {}  {}",
            self.session.id,
            moment(self.session.created_at),
            self.status,
            self.n_nodes,
            if self.n_nodes == 1 { "node " } else { "nodes" },
            one_line(&self.session.title, 80),
        )
    }

    fn to_json(&self) -> openprogram_core::Json {
        json!({
            "session": self.session.id.as_str(),
            "title": self.session.title,
            "created_at_ms": self.session.created_at.0,
            "status": self.status,
            "nodes": self.n_nodes,
        })
    }
}
