//! `openprogram revoke`: a person takes grants away.

use super::console::Console;
use super::exit::Usage;
use super::grant_lines::{GrantOptions, tell_outcome};
use crate::app::{App, GrantChange, Standing};

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
    let left = if plan.after.is_empty() {
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
    tell_outcome(&plan, &standing, args.json, app, console)
}
