//! `openprogram show`: what happened in one session.

use openprogram_core::session::NodeQuery;

use super::chosen_session;
use super::console::Console;
use super::graph::Graph;
use crate::app::App;

/// Shows what happened in a session, as a tree
///
/// Every node stands below the one that caused it, with its number in the order of the session, what
/// it is (`user`, `llm` or `code`), how it ended, its time and its tokens; below it its input and
/// output, cut to a line, the pick of a decision, and what a call used. A node is `running` while its process lives
/// and `unknown` when the process ended before the node did.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The session, `op-` and 16 hexadecimal digits; the newest one when there is none
    session: Option<String>,
    /// Print the whole graph: {"session", "title", "created_at_ms", "status", "usage",
    /// "runs": [{"node", "usage"}], "nodes": [...]}
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) async fn run(args: &Args, app: &App, console: &mut Console) -> anyhow::Result<()> {
    let (store, session) = chosen_session::session(args.session.as_deref(), app, console).await?;
    let id = session.id.clone();
    // Asked before the nodes are read: a run that ends between the two shows closed nodes, not
    // open ones without a process.
    let running_since = app.running_since(&id);
    let graph = Graph {
        session,
        nodes: store.nodes(&id, NodeQuery::default()).await?,
        running_since,
    };
    if args.json {
        console.json(&graph.to_json())?;
    } else {
        console.text(&graph.to_tree())?;
    }
    Ok(())
}
