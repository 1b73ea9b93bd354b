//! `openprogram config`: every setting with the value that holds and where it comes from.

use openprogram_core::Json;
use openprogram_core::content::ThinkingLevel;
use openprogram_core::grant::GrantKind;
use openprogram_core::tool_filter::ToolSets;
use openprogram_runtime::{AdmissionLimits, RunLimits};
use serde_json::json;

use super::console::Console;
use crate::app::App;
use crate::settings::{
    ColourMode, LimitsTable, ModelSettings, Origin, PROJECT_FILE, ProviderSettings,
    REGISTRY_VARIABLE, Settings, SkillSettings, TraceSettings, TraceTarget,
};
use crate::text::one_line;

/// Characters of a column that every row is padded to.
const COLUMN_CHARS_MAX: usize = 40;

/// Shows every setting, the value that holds, and where it comes from
///
/// Values come from defaults, from the project file openprogram.toml, and from variables of the
/// environment; an argument such as `--model` stands above all of them for its command. Keys are told
/// as set or not set, and never shown. A variable that cannot be used is named with what holds in its
/// place.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print {"settings": [{"name", "value", "origin": {"kind", "key" or "variable"}}], "warnings"}
    #[arg(long)]
    pub(super) json: bool,
}

/// One setting.
struct Row {
    name: String,
    /// The value; null where there is none.
    value: Json,
    /// What null means.
    absent: &'static str,
    origin: Origin,
}

pub(super) fn run(args: &Args, app: &App, console: &mut Console) -> anyhow::Result<()> {
    let settings = app.settings();
    let rows = rows(settings);
    let numbers = settings.models.numbers.iter();
    let warnings: Vec<_> = numbers
        .filter_map(|number| number.warning.as_deref())
        .collect();
    if args.json {
        let rows: Vec<_> = rows.iter().map(Row::to_json).collect();
        console.json(&json!({"settings": rows, "warnings": warnings}))?;
        return Ok(());
    }
    // A long value moves its own origin and not those of all others.
    let lines: Vec<_> = rows.iter().map(Row::parts).collect();
    let width = |at: usize| {
        let widths = lines.iter().map(|line| line[at].chars().count());
        widths.max().map_or(0, |width| width.min(COLUMN_CHARS_MAX))
    };
    let widths = [0, 1].map(width);
    for [name, value, origin] in &lines {
        let [first, second] = widths;
        console.text(&format!("{name:<first$}  {value:<second$}  {origin}"))?;
    }
    for warning in warnings {
        console.say(&format!("warning: {warning}"));
    }
    Ok(())
}

fn rows(settings: &Settings) -> Vec<Row> {
    let path = |path: &std::path::Path| Json::from(path.to_string_lossy().into_owned());
    let mut rows = vec![
        Row {
            absent: "none",
            ..Row::new(
                "project_file",
                settings.project_file.as_deref().map_or(Json::Null, path),
                Origin::Default,
            )
        },
        Row::new(
            "state_folder",
            path(&settings.state_folder),
            settings.state_origin.clone(),
        ),
    ];
    rows.extend(model_rows(&settings.models));
    let (colours, decided_by) = (settings.terminal.colours, settings.terminal.decided_by);
    rows.push(Row::new(
        "colours",
        match colours {
            ColourMode::Never => "never",
            ColourMode::OnTerminal => "on a terminal",
            ColourMode::Always => "always",
        }
        .into(),
        decided_by.map_or(Origin::Default, |name| Origin::Variable(name.to_owned())),
    ));
    for provider in &settings.models.providers {
        rows.extend(provider_rows(provider));
    }
    rows.extend(limit_rows(&settings.limits));
    rows.extend(tool_rows(&settings.tool_sets));
    rows.extend(skill_rows(&settings.skills));
    rows.extend(trace_rows(&settings.trace));
    let n_profiles = settings.models.profiles.len();
    if n_profiles > 0 {
        let rows_of_it = format!("{n_profiles} of the project");
        rows.push(Row::new("profiles", rows_of_it.into(), Origin::ProjectFile));
    }
    rows.extend(origin_rows(settings));
    for component in &settings.components {
        let name = format!("components.{}", component.name);
        rows.push(Row::new(
            &name,
            path(&component.source),
            Origin::ProjectFile,
        ));
        for kind in GrantKind::ALL {
            let lines = component.grants.lines_of(kind);
            if !lines.is_empty() {
                let key = format!("{name}.{}", kind.key());
                rows.push(Row::new(&key, lines.into(), Origin::ProjectFile));
            }
        }
    }
    for component in &settings.stateful {
        let key = format!("components.{component}.stateful");
        rows.push(Row::new(&key, true.into(), Origin::ProjectFile));
    }
    for (component, limits) in &settings.component_limits {
        for (limit, value) in &limits.set {
            let key = format!("components.{component}.limits.{limit}");
            rows.push(Row::new(&key, (*value).into(), Origin::ProjectFile));
        }
    }
    rows
}

/// The sets of tools, and what is no tool in turns from somewhere.
fn tool_rows(sets: &ToolSets) -> Vec<Row> {
    let mut rows = Vec::new();
    for (table, sets) in [("toolsets", &sets.presets), ("unsafe_in", &sets.unsafe_in)] {
        for (name, functions) in sets {
            let name = format!("{table}.{name}");
            let functions = functions.clone().into();
            rows.push(Row::new(&name, functions, Origin::ProjectFile));
        }
    }
    rows
}

/// Where spans are written.
fn trace_rows(trace: &TraceSettings) -> Vec<Row> {
    let (target, origin) = match &trace.target {
        None => (Json::Null, Origin::Default),
        Some((TraceTarget::Stderr, origin)) => ("-".into(), origin.clone()),
        Some((TraceTarget::File(path), origin)) => {
            (path.to_string_lossy().into_owned().into(), origin.clone())
        }
    };
    let of_content = match trace.content {
        true => Origin::ProjectFile,
        false => Origin::Default,
    };
    vec![
        Row {
            absent: "nowhere",
            ..Row::new("trace.file", target, origin)
        },
        Row::new("trace.content", trace.content.into(), of_content),
    ]
}

/// Where skills are looked for.
fn skill_rows(skills: &SkillSettings) -> Vec<Row> {
    if !skills.is_on() {
        return vec![Row::new("skills", false.into(), Origin::Default)];
    }
    let folders = skills.folders.iter();
    let mut places: Vec<_> = folders
        .map(|folder| folder.path.to_string_lossy().into_owned())
        .collect();
    if skills.of_components {
        places.insert(0, "components".to_owned());
    }
    vec![Row::new("skills", places.into(), Origin::ProjectFile)]
}

/// Where components may come from: who signs them, and the registry of the login.
fn origin_rows(settings: &Settings) -> Vec<Row> {
    let mut rows = Vec::new();
    let signatures = &settings.signatures;
    if !signatures.keys.is_empty() {
        let ids: Vec<_> = signatures
            .keys
            .iter()
            .map(|key| key.id().to_owned())
            .collect();
        rows.push(Row::new("signatures.keys", ids.into(), Origin::ProjectFile));
        let required = signatures.required.into();
        rows.push(Row::new(
            "signatures.required",
            required,
            Origin::ProjectFile,
        ));
    }
    if let Some((registry, ..)) = &settings.logins.set {
        let origin = Origin::Variable(REGISTRY_VARIABLE.to_owned());
        rows.push(Row::new("registry", registry.clone().into(), origin));
    }
    rows
}

fn model_rows(models: &ModelSettings) -> Vec<Row> {
    let name = |key: &str, model: &Option<String>, absent| Row {
        absent,
        ..Row::new(
            key,
            model.clone().map_or(Json::Null, Json::from),
            match model {
                Some(_) => Origin::ProjectFile,
                None => Origin::Default,
            },
        )
    };
    let level = |key: &str, level: Option<ThinkingLevel>, absent| {
        name(key, &level.map(|level| level.to_string()), absent)
    };
    let [retries, backoff, timeout, asking] = &models.numbers;
    let seconds = models.exec_timeout.map(|time| time.as_secs_f64());
    let asked_for = models.ask_timeout.map(|time| time.as_secs_f64());
    vec![
        name("model", &models.names.main, "none"),
        level("thinking_level", models.thinking.main, "off"),
        name("runtimes.exec", &models.names.exec, "as `model`"),
        level(
            "runtimes.exec_thinking_level",
            models.thinking.exec,
            "as `runtimes.exec`",
        ),
        name("runtimes.review", &models.names.review, "as `model`"),
        level(
            "runtimes.review_thinking_level",
            models.thinking.review,
            "as `runtimes.review`",
        ),
        Row::new(
            "max_retries",
            models.retry.attempts_max.get().into(),
            retries.origin(),
        ),
        Row::new(
            "retry_backoff_base_s",
            models.retry.backoff_base.as_secs_f64().into(),
            backoff.origin(),
        ),
        Row {
            absent: "no limit",
            ..Row::new(
                "exec_timeout_s",
                seconds.map_or(Json::Null, Json::from),
                timeout.origin(),
            )
        },
        Row {
            absent: "no limit",
            ..Row::new(
                "ask_timeout_s",
                asked_for.map_or(Json::Null, Json::from),
                asking.origin(),
            )
        },
    ]
}

/// How much runs may use up.
fn limit_rows(limits: &LimitsTable) -> [Row; 4] {
    let turns = RunLimits::default().model_turns;
    let places = AdmissionLimits::default().requests;
    let row = |key: &str, set: Option<u64>, default: Option<u64>| {
        let origin = set.map_or(Origin::Default, |_| Origin::ProjectFile);
        let value = set.or(default).map_or(Json::Null, Json::from);
        Row {
            absent: "no limit",
            ..Row::new(&format!("limits.{key}"), value, origin)
        }
    };
    let provider_calls = limits.provider_calls.map(u64::from);
    [
        row("max_tokens", limits.max_tokens, None),
        row("max_time_s", limits.max_time_s, None),
        row("max_turns", limits.max_turns, Some(turns)),
        row("provider_calls", provider_calls, Some(places.into())),
    ]
}

fn provider_rows(provider: &ProviderSettings) -> Vec<Row> {
    let name = |key: &str| format!("providers.{}.{key}", provider.name);
    let url = provider.shown_base_url();
    let mut rows = vec![Row {
        absent: "no `http` or `https` URL",
        ..Row::new(
            &name("base_url"),
            url.map_or(Json::Null, Json::from),
            provider.origin.clone(),
        )
    }];
    if let Some(variable) = &provider.key_variable {
        let is_set = if provider.key.is_some() {
            "set"
        } else {
            "not set"
        };
        let origin = Origin::Variable(variable.clone());
        rows.push(Row::new(&name("key"), is_set.into(), origin));
    }
    rows
}

impl Row {
    fn new(name: &str, value: Json, origin: Origin) -> Self {
        Self {
            name: name.to_owned(),
            value,
            absent: "",
            origin,
        }
    }

    /// What stands on a line: name, value, origin.
    fn parts(&self) -> [String; 3] {
        let value = match &self.value {
            Json::Null => self.absent.to_owned(),
            Json::String(text) => one_line(text, 200),
            other => one_line(&other.to_string(), 200),
        };
        let origin = match &self.origin {
            Origin::Default => "default".to_owned(),
            Origin::ProjectFile => PROJECT_FILE.to_owned(),
            Origin::Variable(name) => name.clone(),
        };
        [self.name.clone(), value, origin]
    }

    fn to_json(&self) -> Json {
        let origin = match &self.origin {
            Origin::Default => json!({"kind": "default"}),
            Origin::ProjectFile => json!({"kind": "project-file", "key": self.name}),
            Origin::Variable(name) => json!({"kind": "variable", "variable": name}),
        };
        json!({"name": self.name, "value": self.value, "origin": origin})
    }
}
