//! `openprogram add`: a component becomes part of the project.

use openprogram_core::grant::GrantKind;
use serde_json::json;

use super::console::Console;
use super::described::component_told;
use super::functions::functions_to_json;
use super::inspect::{grants, served_told};
use crate::app::{App, Standing};
use crate::install::LockEntry;

/// Installs a component and shows its functions
///
/// SOURCE is a `.wasm` file, a source folder, which is built, `https://…`, or
/// `oci://REGISTRY/REPOSITORY:TAG` (or `@sha256:…`). The component is checked, and asked
/// for its descriptions once, in a sandbox without any grant. Everything that models will read of it is
/// shown before it is installed. Its bytes are copied into the state
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
    let pending = app.check_add(&args.source, name, console.words()).await?;
    if !args.json {
        console.text(&component_told(pending.component()))?;
    }
    let added = app.add(pending)?;
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
    say_origin(entry, console);
    // These are imported by many that never use them.
    let is_meant =
        |kind: &GrantKind| !matches!(kind, GrantKind::Dirs | GrantKind::Env | GrantKind::Models);
    let implied = grants(component).into_iter().filter(is_meant);
    let implied: Vec<_> = implied.map(GrantKind::option).collect();
    if !implied.is_empty() {
        console.say(&format!(
            "note: what it imports may want grants, and it has none until `openprogram grant {name}` \
             gives them: {}",
            implied.join(", ")
        ));
    }
    for served in app.served(component)? {
        console.say(&format!("note: {}", served_told(&served)));
    }
    let granted = app.granted(Some(name)).unwrap_or_default();
    if granted
        .iter()
        .any(|granted| matches!(granted.standing, Standing::Unbound(_)))
    {
        console.say(&format!(
            "note: openprogram.toml grants something to `{name}` already, which counts when \
             `openprogram grant {name}` has shown it and you have confirmed it"
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
    }
    Ok(())
}

/// Who signed it, and what of its source should not be a secret.
fn say_origin(entry: &LockEntry, console: &mut Console) {
    if let Some(key) = &entry.signed_by {
        console.say(&format!("signed with the key {key}"));
    }
    if entry.source.starts_with("http") && entry.source.contains('?') {
        console.say(
            "note: what stands behind `?` in the URL is kept in openprogram.lock; nothing there may be \
             a secret",
        );
    }
}
