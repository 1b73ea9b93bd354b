//! `openprogram export`: a session as one file.

use std::fs::OpenOptions;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use openprogram_core::session::{NodeQuery, portable_lines};
use serde_json::json;

use super::chosen_session;
use super::console::Console;
use crate::app::App;

/// Writes a session as one file, which `openprogram import` takes in
///
/// The file is text: a line of JSON for the session and one for each of its nodes, with everything
/// that was recorded, arguments and results of functions among it. Of a fork, what it goes on from is
/// part of the file.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The session, `op-` and 16 hexadecimal digits
    session: String,
    /// The file to make, readable by you alone; stdout when there is none
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// With `--output`, print {"session", "nodes", "file"}
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) async fn run(args: &Args, app: &App, console: &mut Console) -> anyhow::Result<()> {
    let (store, session) = chosen_session::session(Some(&args.session), app, console).await?;
    let nodes = store.nodes(&session.id, NodeQuery::default()).await?;
    let lines = portable_lines(&session, &nodes);
    let Some(path) = &args.output else {
        for line in lines {
            console.text(&format!("{line}\n"))?;
        }
        return Ok(());
    };
    let path = app.settings().current_folder.join(path);
    write(&path, lines).with_context(|| format!("cannot write `{}`", path.display()))?;
    let count = nodes.len();
    let word = if count == 1 { "node" } else { "nodes" };
    if args.json {
        let file = path.display().to_string();
        console.json(&json!({"session": session.id.as_str(), "nodes": count, "file": file}))?;
        return Ok(());
    }
    console.say(&format!("wrote {count} {word} to {}", path.display()));
    Ok(())
}

/// Writes a file that is not there yet, and takes it away again when that fails.
fn write(path: &Path, lines: impl Iterator<Item = String>) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    let mut file = BufWriter::new(options.open(path)?);
    let mut lines = lines;
    let written = lines
        .try_for_each(|line| writeln!(file, "{line}"))
        .and_then(|()| file.flush());
    if written.is_err() {
        // The first error is the one to tell.
        let _ = std::fs::remove_file(path);
    }
    written
}
