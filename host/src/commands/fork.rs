//! `openprogram fork`: another way to go on from a place in a session.

use openprogram_core::id::{NodeId, SessionId};
use openprogram_core::session::{ForkPoint, Session, SessionStore, StoreError};
use serde_json::json;

use super::chosen_session;
use super::console::Console;
use super::exit::Usage;
use crate::app::App;

/// Begins a session that goes on from a place in another one
///
/// It reads what had happened when NODE had ended, with all that NODE caused, and copies nothing;
/// what ran around NODE is open in it. Prints the id of the new session, which `chat --session` and
/// `run --session` go on in. The other session stays as it is and may go on as well.
///
/// To try a turn again or with other words, fork before it.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The session, `op-` and 16 hexadecimal digits
    session: String,
    /// The node: its number in `openprogram show`, or its id
    node: String,
    /// Go on from right before NODE, without it
    #[arg(long)]
    before: bool,
    /// Print {"session", "base": {"session", "seq"}}
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) async fn run(args: &Args, app: &App, console: &mut Console) -> anyhow::Result<()> {
    let (store, base) = chosen_session::session(Some(&args.session), app, console).await?;
    let from = base.id;
    let seq = seq_of(&*store, &from, &args.node).await?;
    drop(store);

    let fork = Session {
        id: app.new_session_id(),
        created_at: app.now(),
        title: base.title,
        base: None,
    };
    let id = fork.id.clone();
    let point = match args.before {
        true => ForkPoint::Before(seq),
        false => ForkPoint::After(seq),
    };
    let store = app.sessions_to_change()?;
    store.fork_session(fork, &from, point).await?;
    let base = store.session(&id).await?.and_then(|fork| fork.base);
    let seq = base.map(|base| base.seq);
    if args.json {
        let base = json!({"session": from.as_str(), "seq": seq});
        console.json(&json!({"session": id.as_str(), "base": base}))?;
        return Ok(());
    }
    console.say(&format!(
        "it goes on from {from} after node {}; `openprogram chat --session {id}` goes on in it",
        seq.unwrap_or_default()
    ));
    console.text(&format!("{id}\n"))?;
    Ok(())
}

/// The place of a node that a person names.
async fn seq_of(store: &dyn SessionStore, session: &SessionId, node: &str) -> anyhow::Result<u64> {
    if let Ok(seq) = node.parse() {
        return Ok(seq);
    }
    let wrong = || format!("`{node}` is no node: give its number in `openprogram show`, or its id");
    let id = NodeId::parse(node).ok_or_else(|| Usage(wrong()))?;
    let nodes = store.chain(session, &id).await?;
    let node = nodes.first().map(|node| node.seq);
    node.ok_or_else(|| StoreError::NoNode(id).into())
}
