//! `openprogram grants`: what every component may do, and whether that was confirmed.

use openprogram_core::question::KeptAnswer;
use serde_json::json;

use super::console::Console;
use super::grant_lines::{GRANT_CHARS_MAX, Shown, answer_line, answer_to_json, standing_to_json};
use crate::app::{App, Granted, Standing};
use crate::text::one_line;

/// Shows what components are granted, and whether it was confirmed for the bytes that they have
///
/// Below the grants stand your answers to approvals that hold for good, `always` and `never`, each with
/// a name by which `revoke` forgets it.
///
/// Behind a grant stands what it lacks on this machine: a variable that is not set, a folder that is
/// not there. Nothing is built, compiled or run for it.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The component; all of the project when there is none
    name: Option<String>,
    /// Print {"components": [{"name", "digest", "confirmed", "reason", "grants": [{"kind", "line",
    /// "option", "note"}]}], "answers": [{"id", "answer", "component", "what", "function", "digest",
    /// "arguments", "kind", "grant", "question", "at"}]}; "digest" is null for a source folder, which
    /// needs no confirmation
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) fn run(args: &Args, app: &App, console: &mut Console) -> anyhow::Result<()> {
    let name = args.name.as_deref();
    let answers = app.kept_answers(name)?;
    // Answers can be left of a component that is gone.
    let granted = match app.granted(name) {
        Err(_) if name.is_some() && !answers.is_empty() => Vec::new(),
        granted => granted?,
    };
    if args.json {
        let components = granted.iter().map(|granted| {
            let (confirmed, reason) = standing_to_json(&granted.standing);
            let grants = Shown::all(&granted.grants, app.settings());
            let grants: Vec<_> = grants.iter().map(Shown::to_json).collect();
            json!({
                "name": granted.name,
                "digest": granted.digest,
                "confirmed": confirmed,
                "reason": reason,
                "grants": grants,
            })
        });
        let components: Vec<_> = components.collect();
        let answers: Vec<_> = answers.iter().map(answer_to_json).collect();
        console.json(&json!({"components": components, "answers": answers}))?;
        return Ok(());
    }
    if granted.is_empty() && answers.is_empty() {
        console.say("there are no components yet; `openprogram add SOURCE` installs one");
    }
    for granted in &granted {
        console.text(&to_text(granted, app))?;
        tell_answers(&answers, &granted.name, console)?;
    }
    let mut gone: Vec<_> = answers.iter().map(|answer| &answer.component).collect();
    gone.retain(|name| !granted.iter().any(|granted| granted.name == **name));
    gone.sort();
    gone.dedup();
    for name in gone {
        console.text(&format!("{}: not in the project", one_line(name, 200)))?;
        tell_answers(&answers, name, console)?;
    }
    Ok(())
}

/// The answers of one component that hold for good.
fn tell_answers(answers: &[KeptAnswer], name: &str, console: &mut Console) -> anyhow::Result<()> {
    for answer in answers.iter().filter(|answer| answer.component == name) {
        console.text(&format!("    {}", answer_line(answer)))?;
    }
    Ok(())
}

fn to_text(granted: &Granted, app: &App) -> String {
    let name = &granted.name;
    if granted.grants.is_empty() {
        return format!("{name}: nothing");
    }
    let mut lines = vec![match &granted.standing {
        Standing::OwnCode => format!("{name}: a source folder of the project"),
        Standing::Confirmed => format!("{name}: confirmed"),
        Standing::Unbound(why) => format!(
            "{name}: not confirmed ({}); `openprogram grant {name}` shows it and asks",
            one_line(&why.to_string(), 4_000)
        ),
    }];
    for grant in Shown::all(&granted.grants, app.settings()) {
        lines.push(format!(
            "    {}",
            one_line(&grant.to_text(), GRANT_CHARS_MAX)
        ));
    }
    lines.join("\n")
}
