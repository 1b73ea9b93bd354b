//! `openprogram update`: installed components become what their sources are now.

use openprogram_core::Json;
use serde_json::json;

use super::console::Console;
use crate::app::{App, Updated};
use crate::text::one_line;

/// Takes what the sources of installed components are now, and shows what changed
///
/// Each source is read, or built when it is a folder, and checked as by `openprogram add`. When one
/// is refused, nothing is updated.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The component; all that are installed when there is none
    name: Option<String>,
    /// Print {"components": [{"name", "old_digest", "digest", "changed", "functions": {"added",
    /// "removed", "changed": [{"name", "what"}]}}]}; "functions" is null when it is not known what
    /// they were
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) async fn run(args: &Args, app: &App, console: &mut Console) -> anyhow::Result<()> {
    let updated = app.update(args.name.as_deref(), console.words()).await?;
    if args.json {
        let components: Vec<_> = updated.iter().map(to_json).collect();
        console.json(&json!({"components": components}))?;
        return Ok(());
    }
    if updated.is_empty() {
        console.say("no component is installed; `openprogram add SOURCE` installs one");
    }
    for component in &updated {
        let name = &component.name;
        if component.is_changed() {
            console.say(&format!("updated `{name}` to {}", component.new.digest));
            console.text(&to_text(component))?;
        } else {
            console.say(&format!("`{name}` is what its source is; nothing changed"));
        }
    }
    Ok(())
}

fn to_text(updated: &Updated) -> String {
    let mut lines = vec![updated.name.clone()];
    match &updated.difference {
        Some(difference) => {
            let line =
                |sign: char| move |name: &String| format!("    {sign} {}", one_line(name, 300));
            lines.extend(difference.added.iter().map(line('+')));
            lines.extend(difference.removed.iter().map(line('-')));
            for (name, what) in &difference.changed {
                lines.push(format!("{}: {}", line('~')(name), what.join(", ")));
            }
            if lines.len() == 1 {
                lines.push("    the functions are as they were".to_owned());
            }
        }
        None => {
            lines.push("    it is not known what its functions were; now they are".to_owned());
            let names = updated.functions().iter().map(|f| f.name.to_string());
            lines.extend(names.map(|name| format!("    {}", one_line(&name, 300))));
        }
    }
    lines.join("\n")
}

fn to_json(updated: &Updated) -> Json {
    let functions = updated.difference.as_ref().map(|difference| {
        let changed = difference.changed.iter();
        let changed: Vec<_> = changed
            .map(|(name, what)| json!({"name": name, "what": what}))
            .collect();
        json!({
            "added": difference.added,
            "removed": difference.removed,
            "changed": changed,
        })
    });
    json!({
        "name": updated.name,
        "old_digest": updated.old.digest,
        "digest": updated.new.digest,
        "changed": updated.is_changed(),
        "functions": functions,
    })
}
