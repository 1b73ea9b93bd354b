//! `openprogram add`: a component becomes part of the project.

use serde_json::json;

use super::console::Console;
use super::functions::{component_to_text, functions_to_json};
use super::inspect::grants;
use crate::app::App;

/// Installs a component and shows its functions
///
/// SOURCE is a `.wasm` file, or a source folder, which is built. The component is checked, and asked
/// for its descriptions once, in a sandbox without any grant. Its bytes are copied into the state
/// folder, and its name, source and digest are written into `openprogram.lock`: it stays what it is
/// until `openprogram update`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to install
    source: String,
    /// The name to install it by, in place of the one of its file
    #[arg(long)]
    name: Option<String>,
    /// Print {"name", "digest", "source", "size", "added", "functions": [as for functions]}
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) async fn run(args: &Args, app: &App, console: &mut Console) -> anyhow::Result<()> {
    let name = args.name.as_deref();
    let added = app.add(&args.source, name, console.words()).await?;
    if let Some(notice) = &added.notice {
        console.say(&format!("note: {notice}"));
    }
    let (component, entry) = (&added.component, &added.entry);
    for notice in component.notices() {
        console.say(&format!("note: {notice}"));
    }
    let name = component.name();
    if added.was_there {
        console.say(&format!(
            "`{name}` is installed already, with the same bytes; nothing changed"
        ));
    } else {
        console.say(&format!(
            "installed `{name}` from `{}`, {} bytes, {}",
            entry.source, entry.size, entry.digest
        ));
    }
    if grants(component).contains(&"calls") {
        console.say(&format!(
            "note: it may call its own functions; to let it call others, name them in \
             openprogram.toml: `[components.{name}]`, `calls = [\"FUNCTION\"]`"
        ));
    }
    if args.json {
        console.json(&json!({
            "name": name,
            "digest": entry.digest,
            "source": entry.source,
            "size": entry.size,
            "added": !added.was_there,
            "functions": functions_to_json(component),
        }))?;
    } else {
        console.text(&component_to_text(component))?;
    }
    Ok(())
}
