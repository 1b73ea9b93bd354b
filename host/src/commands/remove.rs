//! `openprogram remove`: a component is no longer part of the project.

use serde_json::json;

use super::console::Console;
use super::grant_lines::forgotten;
use crate::app::{App, LeftTable};

/// Removes an installed component
///
/// Its entry in `openprogram.lock`, its grants in openprogram.toml, and its bytes and your answers for
/// good in the state folder go; its source stays where it is, and so does what was recorded of its runs.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The name that it is installed by
    name: String,
    /// Print {"name", "digest", "source"}
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) fn run(args: &Args, app: &App, console: &mut Console) -> anyhow::Result<()> {
    let name = &args.name;
    // What keeps it from being known is no reason to keep the component.
    let importers = app.importers_of(name).unwrap_or_default();
    let removed = app.remove(name)?;
    console.say(&format!("removed `{name}`"));
    for importer in importers {
        console.say(&format!(
            "note: `{importer}` imports from it, and is left out of runs until another component \
             serves that"
        ));
    }
    match removed.table {
        LeftTable::None => {}
        LeftTable::Gone => console.say(&format!(
            "its grants are taken away: `[components.{name}]` is gone from openprogram.toml"
        )),
        LeftTable::Stays => console.say(&format!(
            "note: `[components.{name}]` in openprogram.toml says more than grants and stays; \
             no command that needs components works until `openprogram revoke {name} --all` takes it \
             away"
        )),
    }
    if let Some(words) = forgotten(removed.n_answers) {
        console.say(&words);
    }
    if args.json {
        let entry = &removed.entry;
        console.json(&json!({"name": name, "digest": entry.digest, "source": entry.source}))?;
    }
    Ok(())
}
