//! `openprogram revoke`: a person takes grants away, and forgets answers that hold for good.

use openprogram_core::grant::GrantLine;
use openprogram_core::question::KeptAnswer;
use serde_json::json;

use super::console::Console;
use super::exit::Usage;
use super::grant_lines::{GrantOptions, answer_to_json, forgotten, outcome_to_json, tell_outcome};
use crate::app::{AnswerChoice, App, GrantChange, Standing};
use crate::text::one_line;

/// Takes grants of a component away, or forgets your answers to its approvals
///
/// Each line is that of a grant as `openprogram grants` lists it, and exactly it is removed from
/// openprogram.toml. Answers that hold for good go with the grant that they are about, and all of them
/// with `--all`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The component
    name: String,
    #[command(flatten)]
    grants: GrantOptions,
    /// Take all grants away, and forget all answers
    #[arg(long)]
    all: bool,
    /// Forget one answer, `always` or `never`, by its name in `openprogram grants`
    #[arg(long = "answer", value_name = "ID")]
    named: Vec<String>,
    /// Forget all answers of the component
    #[arg(long)]
    answers: bool,
    /// Print {"name", "changed", "confirmed", "grants": [{"kind", "line", "option", "note"}],
    /// "forgotten": [{"id", "answer", …}]}; "name" and "forgotten" alone where no grant is named
    #[arg(long)]
    pub(super) json: bool,
}

/// What was asked for.
enum Asked {
    Answers(AnswerChoice),
    Grants(GrantChange, AnswerChoice),
}

fn asked(args: &Args) -> Result<Asked, Usage> {
    let lines = args.grants.lines()?;
    let answers = match (args.named.is_empty(), args.answers) {
        (true, false) => None,
        (true, true) => Some(AnswerChoice::All),
        (false, false) => Some(AnswerChoice::Named(args.named.clone())),
        (false, true) => {
            let message = "name the answers to forget, or `--answers`, and not both";
            return Err(Usage(message.to_owned()));
        }
    };
    match (args.all, lines.is_empty(), answers) {
        (true, true, None) => Ok(Asked::Grants(GrantChange::TakeAll, AnswerChoice::All)),
        (false, false, None) => {
            let kept = |line: &GrantLine| (line.kind.key().to_owned(), line.line.clone());
            let about = AnswerChoice::OfGrants(lines.iter().map(kept).collect());
            Ok(Asked::Grants(GrantChange::Take(lines), about))
        }
        (false, true, Some(choice)) => Ok(Asked::Answers(choice)),
        _ => {
            let message = "name the grants to take away, or `--all`, or the answers to forget, and \
                           one of these at a time";
            Err(Usage(message.to_owned()))
        }
    }
}

pub(super) async fn run(args: &Args, app: &App, console: &mut Console) -> anyhow::Result<()> {
    let name = &args.name;
    let (change, about) = match asked(args)? {
        Asked::Grants(change, about) => (change, about),
        Asked::Answers(choice) => {
            let gone = app.forget_answers(name, &choice)?;
            let none = || format!("no answers are kept for `{}`", one_line(name, 200));
            console.say(&forgotten(gone.len()).unwrap_or_else(none));
            if args.json {
                console.json(&json!({"name": name, "forgotten": listed(&gone)}))?;
            }
            return Ok(());
        }
    };
    let plan = app.plan_grants(name, change, console.words()).await?;
    let standing = app.carry_out(&plan, false)?;
    let gone = app.forget_answers(name, &about)?;
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
    if let Some(words) = forgotten(gone.len()) {
        console.say(&words);
    }
    if matches!(standing, Standing::Unbound(_)) {
        console.say(&format!(
            "note: what is left is not confirmed; `openprogram grant {name}` shows it and asks"
        ));
    }
    if args.json {
        let mut json = outcome_to_json(&plan, &standing, app);
        json["forgotten"] = listed(&gone);
        console.json(&json)?;
        return Ok(());
    }
    tell_outcome(&plan, &standing, false, app, console)
}

fn listed(answers: &[KeptAnswer]) -> openprogram_core::Json {
    answers.iter().map(answer_to_json).collect()
}
