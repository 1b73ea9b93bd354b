//! `openprogram show`: what happened in one session.

use openprogram_core::id::SessionId;
use openprogram_core::session::{Node, NodeQuery, SessionArchive, StoreError};

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
    /// The newest N nodes alone
    #[arg(long, value_name = "N")]
    last: Option<u64>,
    /// Only nodes that hold this text in their name, input or output, the newest 1000
    ///
    /// ASCII letters match in either case.
    #[arg(long, value_name = "TEXT", conflicts_with = "last")]
    search: Option<String>,
    /// Print the graph in this form
    #[arg(long, value_name = "FORM", num_args = 0..=1, require_equals = true, default_missing_value = "tree")]
    graph: Option<Form>,
    /// Print the whole graph: {"session", "title", "created_at_ms", "status", "usage",
    /// "runs": [{"node", "usage"}], "base": {"session", "seq"}, "nodes": [...]}; only a fork has a base
    #[arg(long, conflicts_with = "graph")]
    json: bool,
}

/// The forms of a graph.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Form {
    /// The tree, as without this option
    Tree,
    /// DOT, for Graphviz: arrows lead from callers to what they caused, dotted ones to the next turn
    Dot,
    /// The same as `--json`
    Json,
}

/// The most nodes that a search shows.
const HITS_MAX: u64 = 1_000;

/// The nodes asked for, ascending.
async fn nodes(
    args: &Args,
    store: &dyn SessionArchive,
    id: &SessionId,
) -> Result<Vec<Node>, StoreError> {
    let Some(text) = &args.search else {
        let query = NodeQuery {
            last: args.last,
            ..NodeQuery::default()
        };
        return store.nodes(id, query).await;
    };
    let mut nodes = Vec::new();
    for (_, seq) in store
        .search(text, Some(id), HITS_MAX)
        .await?
        .into_iter()
        .rev()
    {
        let query = NodeQuery {
            after: seq.checked_sub(1),
            before: Some(seq.saturating_add(1)),
            last: None,
        };
        nodes.extend(store.nodes(id, query).await?);
    }
    Ok(nodes)
}

impl Args {
    pub(super) fn is_json(&self) -> bool {
        self.json || matches!(self.graph, Some(Form::Json))
    }
}

pub(super) async fn run(args: &Args, app: &App, console: &mut Console) -> anyhow::Result<()> {
    let (store, session) = chosen_session::session(args.session.as_deref(), app, console).await?;
    let id = session.id.clone();
    // Asked before the nodes are read: a run that ends between the two shows closed nodes, not
    // open ones without a process.
    let running_since = app.running_since(&id);
    let graph = Graph {
        session,
        nodes: nodes(args, &*store, &id).await?,
        running_since,
    };
    if args.is_json() {
        console.json(&graph.to_json())?;
    } else if matches!(args.graph, Some(Form::Dot)) {
        console.text(&graph.to_dot())?;
    } else {
        console.text(&graph.to_tree())?;
    }
    Ok(())
}
