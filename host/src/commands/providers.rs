//! `openprogram providers`: who can serve a model, and what each needs.

use openprogram_core::Json;
use openprogram_providers::Protocol;
use serde_json::json;

use super::console::Console;
use crate::app::App;
use crate::settings::{ModelNames, ProviderSettings};
use crate::text::one_line;

/// Lists what can serve a model: servers with their addresses and keys, components, scripts
///
/// A model is named PROVIDER:MODEL. Prints each provider with what it speaks, where it is, the
/// variable of its key and whether that is set (a key is never shown), and the models of the project
/// that it serves. `[providers.NAME]` in openprogram.toml adds a server.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Option<Action>,
    /// Print {"providers": [{"name", "form", "protocol", "base_url", "key_variable", "key_is_set",
    /// "needs_key", "models": [{"runtime", "model"}]}]}
    #[arg(long, global = true)]
    pub(super) json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Lists the providers; the same as no word
    List,
}

/// One provider as it is printed.
struct Row<'a> {
    name: &'a str,
    form: String,
    server: Option<&'a ProviderSettings>,
    models: Vec<(&'static str, &'a str)>,
}

pub(super) fn run(args: &Args, app: &App, console: &mut Console) -> anyhow::Result<()> {
    match &args.action {
        None | Some(Action::List) => {}
    }
    let rows = rows(app);
    if args.json {
        let rows: Vec<_> = rows.iter().map(Row::to_json).collect();
        console.json(&json!({"providers": rows}))?;
        return Ok(());
    }
    let lines: Vec<_> = rows.iter().map(Row::parts).collect();
    let width = |at: usize| lines.iter().map(|line| line[at].chars().count()).max();
    let widths = [0, 1, 2].map(|at| width(at).unwrap_or(0));
    for [form, address, key, models] in &lines {
        let [first, second, third] = widths;
        let line = format!("{form:<first$}  {address:<second$}  {key:<third$}  {models}");
        console.text(line.trim_end())?;
    }
    Ok(())
}

fn rows(app: &App) -> Vec<Row<'_>> {
    let models = &app.settings().models;
    let ModelNames { main, exec, review } = &models.names;
    let named = [
        ("main", main.as_deref()),
        ("exec", exec.as_deref()),
        ("review", review.as_deref()),
    ];
    let row = |name, what: &str, server| Row {
        name,
        form: format!("{name}:{what}"),
        server,
        models: Vec::new(),
    };
    let servers = models.providers.iter();
    let servers = servers.map(|server| row(&server.name, "MODEL", Some(server)));
    let others = [("component", "NAME"), ("script", "FILE")];
    let others = others.into_iter().map(|(name, what)| row(name, what, None));
    let mut rows: Vec<_> = servers.chain(others).collect();
    for (runtime, model) in named {
        let Some(model) = model else { continue };
        let provider = model.split(':').next().unwrap_or(model);
        if let Some(row) = rows.iter_mut().find(|row| row.name == provider) {
            row.models.push((runtime, model));
        }
    }
    rows
}

fn protocol(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::OpenAi => "openai",
        Protocol::Anthropic => "anthropic",
        Protocol::OpenAiDecisions => "openai_decisions",
        Protocol::GoogleDecisions => "google_decisions",
        Protocol::SystemOne => "systemone",
    }
}

impl Row<'_> {
    /// What stands on a line: form, address, key, models.
    fn parts(&self) -> [String; 4] {
        let (address, key) = match self.server {
            Some(server) => (
                server
                    .shown_base_url()
                    .unwrap_or_else(|| "no `http` or `https` URL".to_owned()),
                key(server),
            ),
            None if self.name == "component" => {
                ("a component of the project".to_owned(), String::new())
            }
            None => ("prepared replies".to_owned(), String::new()),
        };
        let models = self.models.iter().map(|(runtime, model)| match *runtime {
            "main" => format!("model `{}`", one_line(model, 80)),
            runtime => format!("{runtime} model `{}`", one_line(model, 80)),
        });
        let models: Vec<_> = models.collect();
        [self.form.clone(), address, key, models.join(", ")]
    }

    fn to_json(&self) -> Json {
        let models = self.models.iter();
        let models = models.map(|(runtime, model)| json!({"runtime": runtime, "model": model}));
        let models: Vec<_> = models.collect();
        let server = self.server;
        json!({
            "name": self.name,
            "form": self.form,
            "protocol": server.map(|server| protocol(server.protocol)),
            "base_url": server.and_then(ProviderSettings::shown_base_url),
            "key_variable": server.and_then(|server| server.key_variable.as_deref()),
            "key_is_set": server.map(|server| server.key.is_some()),
            "needs_key": server.map(|server| server.needs_key),
            "models": models,
        })
    }
}

fn key(server: &ProviderSettings) -> String {
    match (&server.key_variable, &server.key) {
        (None, _) => "needs no key".to_owned(),
        (Some(variable), Some(_)) => format!("{variable} is set"),
        (Some(variable), None) if server.needs_key => format!("{variable} is not set"),
        (Some(variable), None) => format!("{variable} is not set, nor needed"),
    }
}
