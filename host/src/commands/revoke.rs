//! `openprogram revoke`: a person takes grants away.

use serde_json::json;

use super::console::Console;
use super::exit::Usage;
use super::grant_lines::{GrantOptions, Shown, standing_to_json};
use crate::app::{App, GrantChange, Standing};
use crate::text::one_line;

/// Takes grants of a component away
///
/// Each line is that of a grant as `openprogram grants` lists it, and exactly it is removed from
/// openprogram.toml.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The component
    name: String,
    #[command(flatten)]
    grants: GrantOptions,
    /// Take all grants away
    #[arg(long)]
    all: bool,
    /// Print {"name", "changed", "confirmed", "grants": [{"kind", "line", "option", "note"}]}
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) async fn run(args: &Args, app: &App, console: &mut Console) -> anyhow::Result<()> {
    let name = &args.name;
    let lines = args.grants.lines()?;
    let change = match (args.all, lines.is_empty()) {
        (true, true) => GrantChange::TakeAll,
        (false, false) => GrantChange::Take(lines),
        _ => {
            let message = "name the grants to take away, or `--all`, and not both";
            return Err(Usage(message.to_owned()).into());
        }
    };
    let plan = app.plan_grants(name, change, console.words()).await?;
    let standing = app.carry_out(&plan, false)?;
    let shown = Shown::all(&plan.after, app.settings());
    let left = if shown.is_empty() {
        "nothing is left"
    } else {
        "what is left:"
    };
    let done = if plan.is_change {
        "taken from"
    } else {
        "nothing was granted to"
    };
    console.say(&format!("{done} `{name}`; {left}"));
    if matches!(standing, Standing::Unbound(_)) {
        console.say(&format!(
            "note: what is left is not confirmed; `openprogram grant {name}` shows it and asks"
        ));
    }
    if args.json {
        let (confirmed, _) = standing_to_json(&standing);
        let grants: Vec<_> = shown.iter().map(Shown::to_json).collect();
        let changed = plan.is_change;
        console.json(
            &json!({"name": name, "changed": changed, "confirmed": confirmed, "grants": grants}),
        )?;
        return Ok(());
    }
    for grant in &shown {
        console.text(&format!("    {}", one_line(&grant.to_text(), 4_000)))?;
    }
    Ok(())
}
