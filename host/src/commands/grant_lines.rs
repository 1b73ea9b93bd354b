//! Grants on the command line: the options that `grant` and `revoke` share, and how grants are shown.

use openprogram_core::Json;
use openprogram_core::grant::{
    FolderGrant, Grant, GrantKind, GrantLine, Grants, SecretGrant, VariableGrant,
};
use openprogram_core::question::KeptAnswer;
use serde_json::json;

use super::console::Console;
use super::exit::Usage;
use crate::app::{App, GrantPlan, Standing, answer_id};
use crate::settings::Settings;
use crate::text::{escape_json, one_line};

/// How much of a grant and what is known about it is shown on its line.
pub(super) const GRANT_CHARS_MAX: usize = 4_000;
/// How much of the arguments of an answer is shown on its line.
const ANSWER_CHARS_MAX: usize = 200;
/// Hexadecimal digits of a digest that are enough to tell two versions apart.
const DIGITS_SHOWN: usize = 12;

/// The options, each a line as in the project file.
#[derive(Debug, clap::Args)]
pub(super) struct GrantOptions {
    /// A folder with everything below it, `ro:PATH` or `rw:PATH`; `=NAME` behind it gives it another
    /// path for the guest
    #[arg(long = "dir", value_name = "LINE")]
    dirs: Vec<String>,
    /// A variable of the environment, by its name
    #[arg(long, value_name = "LINE")]
    env: Vec<String>,
    /// A place of the network, `[METHOD[,METHOD…] ]URL`: scheme, host, port and the beginning of the
    /// path; GET and HEAD where no method is named
    #[arg(long, value_name = "LINE")]
    http: Vec<String>,
    /// A secret that the host adds to requests below a URL and the guest never sees,
    /// `VARIABLE=URL[ HEADER[: PREFIX]]`
    #[arg(long = "secret", value_name = "LINE")]
    secrets: Vec<String>,
    /// A model that it may open, `PROVIDER:MODEL[=TOKENS]`
    #[arg(long = "use-model", value_name = "LINE")]
    models: Vec<String>,
    /// A function of another component that it may call
    #[arg(long = "call", value_name = "LINE")]
    calls: Vec<String>,
    /// That it may put questions to the person who runs it
    #[arg(long)]
    ask_user: bool,
}

impl GrantOptions {
    /// The names of the variables in them; what is no grant names none.
    pub(super) fn variables(&self) -> Vec<String> {
        let seen = self.env.iter().filter_map(|line| {
            let grant: Grant<VariableGrant> = line.parse().ok()?;
            Some(grant.what.name)
        });
        let secret = self.secrets.iter().filter_map(|line| {
            let grant: Grant<SecretGrant> = line.parse().ok()?;
            Some(grant.what.variable)
        });
        seen.chain(secret).collect()
    }

    /// The grants that were typed.
    pub(super) fn lines(&self) -> Result<Vec<GrantLine>, Usage> {
        let asks = if self.ask_user { &["true"][..] } else { &[] };
        let asks: Vec<_> = asks.iter().map(|&word| word.to_owned()).collect();
        let mut lines = Vec::new();
        for (kind, typed) in [
            (GrantKind::Dirs, &self.dirs),
            (GrantKind::Env, &self.env),
            (GrantKind::Http, &self.http),
            (GrantKind::Secrets, &self.secrets),
            (GrantKind::Models, &self.models),
            (GrantKind::Calls, &self.calls),
            (GrantKind::AskUser, &asks),
        ] {
            for line in typed {
                let read = GrantLine::parse(kind, line);
                lines.push(read.map_err(|error| Usage(format!("`{}`: {error}", kind.option())))?);
            }
        }
        Ok(lines)
    }
}

/// A grant as a person types it, with what is to be known about it on this machine.
pub(super) struct Shown {
    kind: GrantKind,
    line: String,
    note: Option<String>,
}

impl Shown {
    /// All grants of a component.
    pub(super) fn all(grants: &Grants, settings: &Settings) -> Vec<Self> {
        let kinds = GrantKind::ALL.into_iter();
        let lines = kinds.flat_map(|kind| {
            let lines = grants.lines_of(kind).into_iter();
            lines.map(move |line| (kind, line))
        });
        let shown = lines.map(|(kind, line)| Self {
            note: note(kind, &line, settings),
            kind,
            line,
        });
        shown.collect()
    }

    /// Whether the yes of a person holds this line.
    pub(super) fn canonical(&self) -> String {
        format!("{} {}", self.kind.key(), self.line)
    }

    pub(super) fn to_text(&self) -> String {
        let option = self.kind.option();
        let typed = match self.kind {
            GrantKind::AskUser => option.to_owned(),
            _ => format!("{option} {}", self.line),
        };
        let note = self.note.as_ref();
        note.map_or(typed.clone(), |note| format!("{typed}  ({note})"))
    }

    pub(super) fn to_json(&self) -> Json {
        json!({
            "kind": self.kind.key(),
            "line": self.line,
            "option": self.kind.option(),
            "note": self.note,
        })
    }
}

/// What is missing on this machine for a grant to be of use.
pub(crate) fn note(kind: GrantKind, line: &str, settings: &Settings) -> Option<String> {
    let missing = |name: &str| {
        let is_granted = settings
            .all_grants()
            .any(|grants| names_variable(grants, name));
        let is_set = match is_granted {
            true => Some(settings.granted_values.contains_key(name)),
            // One that is granted just now.
            false => settings.named_variables.get(name).copied(),
        };
        (is_set == Some(false)).then(|| format!("the variable {name} is not set"))
    };
    match kind {
        GrantKind::Dirs => {
            let grant: Grant<FolderGrant> = line.parse().ok()?;
            let outside = settings.is_outside(&grant.what);
            let outside = outside.then(|| "outside of the project".to_owned());
            let notes = settings
                .folder_problem(&grant.what)
                .into_iter()
                .chain(outside);
            let notes: Vec<_> = notes.collect();
            (!notes.is_empty()).then(|| notes.join("; "))
        }
        GrantKind::Env => missing(line.strip_prefix("ask ").unwrap_or(line)),
        GrantKind::Secrets => {
            let grant: Grant<SecretGrant> = line.parse().ok()?;
            missing(&grant.what.variable)
        }
        _ => None,
    }
}

fn names_variable(grants: &Grants, name: &str) -> bool {
    let env = grants.env.iter().any(|grant| grant.what.name == name);
    env || grants
        .secrets
        .iter()
        .any(|grant| grant.what.variable == name)
}

/// An answer that holds for good, on one line.
pub(super) fn answer_line(answer: &KeptAnswer) -> String {
    let (id, word) = (answer_id(answer), answer.word());
    let what = one_line(&answer.what, GRANT_CHARS_MAX);
    let arguments = one_line(&escape_json(&answer.arguments), ANSWER_CHARS_MAX);
    let hex = answer.digest.trim_start_matches("sha256:");
    let digest: String = hex.chars().take(DIGITS_SHOWN).collect();
    let by = answer.grant.as_ref().map(|(kind, line)| {
        let line = one_line(line, GRANT_CHARS_MAX);
        format!(", {kind} `{line}`")
    });
    let by = by.unwrap_or_default();
    format!("{word} {id}  {what}  {arguments}  (digest {digest}{by})")
}

/// The same for programs.
pub(super) fn answer_to_json(answer: &KeptAnswer) -> Json {
    let mut json = answer.to_json();
    json["id"] = answer_id(answer).into();
    json
}

/// Says that answers are forgotten.
pub(super) fn forgotten(n_answers: usize) -> Option<String> {
    match n_answers {
        0 => None,
        1 => Some("1 answer for good is forgotten".to_owned()),
        n => Some(format!("{n} answers for good are forgotten")),
    }
}

/// What a component is granted after a command changed it.
pub(super) fn tell_outcome(
    plan: &GrantPlan,
    standing: &Standing,
    is_json: bool,
    app: &App,
    console: &mut Console,
) -> anyhow::Result<()> {
    let shown = Shown::all(&plan.after, app.settings());
    if is_json {
        console.json(&outcome_to_json(plan, standing, app))?;
        return Ok(());
    }
    for grant in &shown {
        let line = one_line(&grant.to_text(), GRANT_CHARS_MAX);
        console.text(&format!("    {line}"))?;
    }
    Ok(())
}

/// The same for programs.
pub(super) fn outcome_to_json(plan: &GrantPlan, standing: &Standing, app: &App) -> Json {
    let shown = Shown::all(&plan.after, app.settings());
    let (confirmed, _) = standing_to_json(standing);
    let grants: Vec<_> = shown.iter().map(Shown::to_json).collect();
    let (name, changed) = (&plan.before.name, plan.is_change);
    json!({"name": name, "changed": changed, "confirmed": confirmed, "grants": grants})
}

/// How grants stand, for programs: whether they count, and why they do not.
pub(super) fn standing_to_json(standing: &Standing) -> (Json, Json) {
    match standing {
        Standing::OwnCode | Standing::Confirmed => (true.into(), Json::Null),
        Standing::Unbound(unbound) => (false.into(), unbound.to_string().into()),
    }
}
