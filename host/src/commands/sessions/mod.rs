//! `openprogram sessions`: the recorded sessions, newest first.

mod rm;

use std::collections::HashSet;

use openprogram_core::id::SessionId;
use openprogram_core::session::{NodeQuery, Session, SessionArchive, SessionStore};
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
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    action: Option<Action>,
    /// How many to list at most
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u64,
    /// Only those that hold this text in their title or id, or in a name, an input or an output
    ///
    /// ASCII letters match in either case. `openprogram show ID --search TEXT` shows where.
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
    /// Only those whose newest run ended so
    #[arg(long, value_name = "STATUS", value_parser = STATUSES)]
    status: Option<String>,
    /// Print {"sessions": [{"session", "title", "created_at_ms", "status", "nodes", "base":
    /// {"session", "seq"}}]}; only a fork has a base
    #[arg(long)]
    json: bool,
}

/// How the newest run of a session can have ended.
const STATUSES: [&str; 6] = [
    "completed",
    "failed",
    "cancelled",
    "running",
    "unknown",
    "empty",
];

#[derive(Debug, clap::Subcommand)]
enum Action {
    Rm(rm::Args),
}

impl Args {
    pub(super) fn is_json(&self) -> bool {
        match &self.action {
            Some(Action::Rm(args)) => args.json,
            None => self.json,
        }
    }
}

/// The most nodes that a search looks at; it tells of sessions, and newer ones come first.
const HITS_MAX: u64 = 100_000;

/// One line of the list.
struct Entry {
    session: Session,
    n_nodes: u64,
    status: &'static str,
}

pub(super) async fn run(args: &Args, app: &App, console: &mut Console) -> anyhow::Result<()> {
    if let Some(Action::Rm(args)) = &args.action {
        return rm::run(args, app, console).await;
    }
    let entries = match app.recorded_sessions()? {
        Some(store) => entries(args, &*store, app).await?,
        None => Vec::new(),
    };
    if args.json {
        let sessions: Vec<_> = entries.iter().map(Entry::to_json).collect();
        console.json(&json!({"sessions": sessions}))?;
        return Ok(());
    }
    if entries.is_empty() && args.is_filtered() {
        console.say("no session is so");
    } else if entries.is_empty() {
        console.say("there are no sessions yet; `openprogram run FUNCTION` records one");
    }
    for entry in &entries {
        console.text(&entry.to_line())?;
    }
    Ok(())
}

impl Args {
    fn is_filtered(&self) -> bool {
        self.search.is_some() || self.status.is_some()
    }
}

/// The sessions asked for, newest first.
async fn entries(args: &Args, store: &dyn SessionArchive, app: &App) -> anyhow::Result<Vec<Entry>> {
    let text = args.search.as_deref();
    let holding: HashSet<SessionId> = match text {
        Some(text) => {
            let found = store.search(text, None, HITS_MAX).await?;
            found.into_iter().map(|(session, _)| session).collect()
        }
        None => HashSet::new(),
    };
    let is_found = |session: &Session| {
        let text = text.map(str::to_ascii_lowercase);
        text.is_none_or(|text| {
            holding.contains(&session.id)
                || session.title.to_ascii_lowercase().contains(&text)
                || session.id.as_str().contains(&text)
        })
    };
    let limit = usize::try_from(args.limit).unwrap_or(usize::MAX);
    let read = if args.is_filtered() {
        u64::MAX
    } else {
        args.limit
    };
    let mut entries = Vec::new();
    for session in store.sessions(read).await? {
        if entries.len() == limit {
            break;
        }
        if !is_found(&session) {
            continue;
        }
        let entry = entry(store, app, session).await?;
        if args
            .status
            .as_deref()
            .is_none_or(|status| status == entry.status)
        {
            entries.push(entry);
        }
    }
    Ok(entries)
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
            "base": graph::base_to_json(&self.session),
        })
    }
}
