//! `openprogram update`: installed components become what their sources are now.

use openprogram_core::Json;
use serde_json::json;

use super::console::Console;
use super::described::{everything_told, skill_told};
use crate::app::{App, Updated};
use crate::text::one_line;

/// Takes what the sources of installed components are now, and shows what changed
///
/// Each source is read, or built when it is a folder, and checked as by `openprogram add`. When one
/// is refused, nothing is updated.
///
/// What a component says of its functions is read by models, so an update that says something new, or
/// imports something new, is shown and needs a yes; without a terminal it is refused unless `--yes` is
/// given. Grants count for the bytes that they were given to: the question is for them too, and where
/// nobody can be asked they wait for `openprogram grant NAME`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The component; all that are installed when there is none
    name: Option<String>,
    /// Take what is new, and keep the grants, without a question
    #[arg(long)]
    yes: bool,
    /// Print {"components": [{"name", "old_digest", "digest", "changed", "functions": {"added",
    /// "removed", "changed": [{"name", "what"}]}}]}; "functions" is null when it is not known what
    /// they were
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) async fn run(args: &Args, app: &App, console: &mut Console) -> anyhow::Result<()> {
    let name = args.name.as_deref();
    let pending = app.check_update(name, console.words()).await?;
    let keeps_grants = confirm(pending.updates(), args, console).await?;
    let updated = app.update(pending, keeps_grants)?;
    for component in &updated {
        if component.has_grants() && !(keeps_grants && component.was_bound) {
            console.say(&format!(
                "note: the grants of `{0}` were given to other bytes, so it does not run until \
                 `openprogram grant {0}` has shown them and asked",
                component.name
            ));
        }
    }
    // What keeps components from being known is told by whoever needs them.
    for (_, error) in app.unlinked().unwrap_or_default() {
        console.say(&format!("note: {:#}", anyhow::Error::from(error)));
    }
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

/// Shows what is new and has a person say yes to it, where that is needed. Gives whether grants count
/// for the new bytes.
async fn confirm(updates: &[Updated], args: &Args, console: &mut Console) -> anyhow::Result<bool> {
    let needs_yes = updates.iter().any(Updated::needs_yes);
    let has_grants = updates.iter().any(Updated::has_grants);
    if args.yes || !(needs_yes || has_grants) {
        return Ok(args.yes);
    }
    for updated in updates.iter().filter(|u| u.needs_yes() || u.has_grants()) {
        console.say(&news(updated));
    }
    if !needs_yes && !Console::can_ask() {
        return Ok(false);
    }
    let name = args.name.as_ref().map(|name| format!(" {name}"));
    let command = format!("openprogram update{} --yes", name.unwrap_or_default());
    let asked = "take this, and keep the grants?";
    console.confirm(asked, false, &command).await?;
    Ok(true)
}

/// Everything of an update that a person says yes to, line by line.
fn news(updated: &Updated) -> String {
    let mut lines = vec![format!(
        "`{}` would be {}",
        updated.name, updated.new.digest
    )];
    for function in updated.functions() {
        let before = updated.functions_before().iter();
        let before = before.clone().find(|before| before.name == function.name);
        let before = before.map(everything_told).unwrap_or_default();
        let now = everything_told(function);
        let changed = changed_lines(&before, &now);
        if !changed.is_empty() {
            lines.push(format!("  {}", one_line(&function.name.to_string(), 300)));
            lines.extend(changed);
        }
    }
    let told = |skill| skill_told(skill);
    let before = updated.skill_before().map(told).unwrap_or_default();
    let now = updated.skill().map(told).unwrap_or_default();
    lines.extend(changed_lines(&before, &now));
    let imports = updated.new_imports.iter();
    lines.extend(imports.map(|import| format!("  + imports {}", one_line(import, 300))));
    let grants = updated.grants.canonical_lines();
    lines.extend(
        grants
            .iter()
            .map(|line| format!("  is granted {}", one_line(line, 4_000))),
    );
    lines.join("\n")
}

fn changed_lines(before: &[String], now: &[String]) -> Vec<String> {
    let gone = before.iter().filter(|line| !now.contains(line));
    let come = now.iter().filter(|line| !before.contains(line));
    gone.map(|line| format!("  - {line}"))
        .chain(come.map(|line| format!("  + {line}")))
        .collect()
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
