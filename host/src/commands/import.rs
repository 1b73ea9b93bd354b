//! `openprogram import`: takes in a session that was written by `openprogram export`.

use std::collections::HashMap;
use std::path::PathBuf;

use anyhow::Context as _;
use openprogram_core::id::NodeId;
use openprogram_core::session::{Node, PortableReader, Session};
use serde_json::json;

use super::console::Console;
use crate::app::App;
use crate::input::{InputError, read_lines};

/// The longest line of a file, in bytes; a node is one line.
const LINE_BYTES_MAX: u64 = 64 << 20;

/// Takes in a session that `openprogram export` wrote
///
/// The session keeps its id, and is refused when it or one of its nodes is there already. Prints the
/// id. Nothing of it is run; what it holds is read by models once a run or a chat goes on in it.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The file; `-` is stdin
    file: String,
    /// Give the session and its nodes new ids
    #[arg(long)]
    copy: bool,
    /// Print {"session", "nodes"}
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) async fn run(args: &Args, app: &App, console: &mut Console) -> anyhow::Result<()> {
    let mut reader = PortableReader::default();
    let path = match args.file.as_str() {
        "-" => PathBuf::from("-"),
        file => app.settings().current_folder.join(file),
    };
    read_lines(&path, LINE_BYTES_MAX, |line| reader.line(line))?;
    let (mut session, mut nodes) = reader
        .end()
        .map_err(|problem| InputError::of(&path, &problem))?;
    if args.copy {
        copy(app, &mut session, &mut nodes);
    }
    let (id, count) = (session.id.clone(), nodes.len());
    let imported = app
        .sessions_to_change()?
        .import_session(session, nodes)
        .await;
    imported.with_context(|| match args.copy {
        true => "the session cannot be taken in".to_owned(),
        false => {
            "the session cannot be taken in; `--copy` gives it and its nodes new ids".to_owned()
        }
    })?;
    if args.json {
        console.json(&json!({"session": id.as_str(), "nodes": count}))?;
    } else {
        console.text(&format!("{id}\n"))?;
    }
    Ok(())
}

/// Gives the session and its nodes new ids, and their edges with them.
fn copy(app: &App, session: &mut Session, nodes: &mut [Node]) {
    let old = nodes.iter().map(|node| node.opened.id.clone());
    let new: HashMap<NodeId, NodeId> = old.zip(app.new_node_ids()).collect();
    // An edge that leads nowhere stays as it is, and is refused as such.
    let renew = |id: &mut NodeId| {
        if let Some(new) = new.get(id) {
            id.clone_from(new);
        }
    };
    session.id = app.new_session_id();
    for node in nodes {
        let opened = &mut node.opened;
        renew(&mut opened.id);
        opened.caller.iter_mut().for_each(renew);
        opened.predecessor.iter_mut().for_each(renew);
        opened.reads.iter_mut().for_each(renew);
    }
}
