//! `openprogram grant`: a person lets a component do something.

use openprogram_core::grant::grant_words;

use super::console::Console;
use super::grant_lines::{GRANT_CHARS_MAX, GrantOptions, Shown, tell_outcome};
use crate::app::{App, GrantChange, GrantPlan, Standing};
use crate::text::one_line;

/// Lets a component do something, or confirms what openprogram.toml lets it do
///
/// Each grant is one line, which is written into the table of the component in openprogram.toml; a
/// line that begins with `ask ` is put to a person before every use. A grant about the same thing
/// takes the place of the one before.
///
/// The grants count for the bytes that the component has now, which openprogram.lock keeps. When it
/// has others after an update, or openprogram.toml was changed by hand or by a merge, the component
/// does not run until a person confirms: `openprogram grant NAME` shows all grants and asks.
/// Components whose source is a folder need no confirmation.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The component
    name: String,
    #[command(flatten)]
    grants: GrantOptions,
    /// Confirm everything without a question
    #[arg(long)]
    yes: bool,
    /// Print {"name", "changed", "confirmed", "grants": [{"kind", "line", "option", "note"}]}
    #[arg(long)]
    pub(super) json: bool,
}

impl Args {
    /// The variables that it names.
    pub(super) fn variables(&self) -> Vec<String> {
        self.grants.variables()
    }
}

pub(super) async fn run(args: &Args, app: &App, console: &mut Console) -> anyhow::Result<()> {
    let name = &args.name;
    let lines = args.grants.lines()?;
    // What follows the name in the command that does the same without a question.
    let typed = lines
        .iter()
        .map(|line| format!(" {}", grant_words(line.kind, &line.line)));
    let typed: String = typed.collect();
    let change = GrantChange::Give(lines);
    let plan = app.plan_grants(name, change, console.words()).await?;
    if plan.needs_yes() {
        console.say(&question(&plan, app));
        let command = format!("openprogram grant {name}{typed} --yes");
        let asked = format!("let `{name}` have exactly this?");
        console.confirm(&asked, args.yes, &command).await?;
    }
    let standing = app.carry_out(&plan, true)?;
    if plan.after.is_empty() {
        console.say(&format!(
            "`{name}` is granted nothing; there is nothing to confirm"
        ));
    } else if plan.is_change {
        console.say(&format!("granted to `{name}`; all that it has:"));
    } else {
        console.say(&format!("`{name}` has:"));
    }
    tell_outcome(&plan, &standing, args.json, app, console)
}

/// What a person says yes to.
fn question(plan: &GrantPlan, app: &App) -> String {
    let mut lines = vec![format!("`{}` would have:", plan.before.name)];
    let Standing::Unbound(unbound) = &plan.before.standing else {
        return String::new();
    };
    let before = plan.before.grants.canonical_lines();
    for grant in Shown::all(&plan.after, app.settings()) {
        let is_new =
            unbound.added.contains(&grant.canonical()) || !before.contains(&grant.canonical());
        let new = if is_new { "  new" } else { "" };
        lines.push(format!(
            "    {}{new}",
            one_line(&grant.to_text(), GRANT_CHARS_MAX)
        ));
    }
    for gone in &unbound.removed {
        lines.push(format!("    gone: {}", one_line(gone, GRANT_CHARS_MAX)));
    }
    if unbound.other_bytes {
        lines.push("its bytes are others than those that its grants were given to".to_owned());
    }
    lines.join("\n")
}
