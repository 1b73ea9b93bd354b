//! `openprogram functions`: what the components of the project offer, from what is known of them.

use std::fmt::Write as _;

use openprogram_component::LoadedComponent;
use openprogram_core::Json;
use openprogram_core::function::Offer;
use serde_json::json;

use super::console::Console;
use super::inspect::function_to_json;
use super::signature::signature;
use crate::app::{App, Listed, Unknown, UnknownTool};
use crate::text::one_line;

/// Lists the functions of all components of the project
///
/// The list comes from what was learned when a component was added, inspected or run: nothing is
/// built, compiled or run for it. A component that is not known yet is listed with the reason.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Look at the components that are not known yet: fetch or build them, and ask each for its
    /// descriptions once, in a sandbox without any grant
    #[arg(long)]
    learn: bool,
    /// Print {"components": [{"name", "digest", "source", "installed", "model", "decider"}],
    /// "functions": [{"component", "full_name", and as for inspect}], "unknown": [{"component",
    /// "reason", "remedy"}]}
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) async fn run(args: &Args, app: &App, console: &mut Console) -> anyhow::Result<()> {
    let listing = app.listing(args.learn, console.words()).await?;
    for UnknownTool { key, message } in app.unknown_tools(&listing)? {
        console.say(&format!("warning: `{key}` in openprogram.toml: {message}"));
    }
    if args.json {
        let known = &listing.known;
        let components: Vec<_> = known.iter().map(component_to_json).collect();
        let functions: Vec<_> = known
            .iter()
            .flat_map(|listed| functions_to_json(&listed.component))
            .collect();
        let unknown: Vec<_> = listing.unknown.iter().map(unknown_to_json).collect();
        console
            .json(&json!({"components": components, "functions": functions, "unknown": unknown}))?;
        return Ok(());
    }
    if listing.known.is_empty() && listing.unknown.is_empty() {
        console.say(
            "there are no components yet; `openprogram add SOURCE` installs one, and \
             `[components]` in openprogram.toml names others",
        );
        return Ok(());
    }
    let mut texts = Vec::new();
    for listed in &listing.known {
        texts.push((
            listed.component.name(),
            component_to_text(&listed.component),
        ));
    }
    for unknown in &listing.unknown {
        texts.push((&unknown.name, unknown_to_text(unknown)));
    }
    texts.sort_by_key(|(name, _)| *name);
    let texts: Vec<_> = texts.into_iter().map(|(_, text)| text).collect();
    console.text(&texts.join("\n"))?;
    Ok(())
}

/// The name of a component, and what it serves besides functions.
pub(super) fn heading(component: &LoadedComponent) -> String {
    let serves = match (component.is_model(), component.is_decider()) {
        (true, true) => ": a model, and picks among options",
        (true, false) => ": a model",
        (false, true) => ": picks among options",
        (false, false) => "",
    };
    format!("{}{serves}", component.name())
}

/// The functions of a component with their signatures and summaries.
fn component_to_text(component: &LoadedComponent) -> String {
    let mut text = format!("{}\n", heading(component));
    if component.functions().is_empty() && !component.is_provider() {
        text.push_str("    no functions\n");
    }
    for function in component.functions() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "    {}", one_line(&signature(function), 1_000));
        if let Offer::NotOfferable(reason) = &function.offer {
            let _ = writeln!(text, "        not offerable: {}", one_line(reason, 1_000));
        }
        let summary = function.summary();
        if !summary.is_empty() {
            let _ = writeln!(text, "        {}", one_line(&summary, 1_000));
        }
    }
    text
}

/// The functions of a component, each with its full name and as `inspect` shows it.
pub(super) fn functions_to_json(component: &LoadedComponent) -> Vec<Json> {
    let functions = component.functions().iter().map(|function| {
        let mut shown = json!({
            "component": component.name(),
            "full_name": function.name.to_string(),
        });
        if let (Json::Object(shown), Json::Object(rest)) = (&mut shown, function_to_json(function))
        {
            shown.extend(rest);
        }
        shown
    });
    functions.collect()
}

fn component_to_json(listed: &Listed) -> Json {
    let component = &listed.component;
    json!({
        "name": component.name(),
        "digest": component.digest(),
        "source": listed.source,
        "installed": listed.is_installed,
        "model": component.is_model(),
        "decider": component.is_decider(),
    })
}

fn unknown_to_text(unknown: &Unknown) -> String {
    let reason = one_line(&unknown.reason, 1_000);
    let remedy = unknown.remedy.as_ref();
    let remedy = remedy.map_or_else(String::new, |remedy| format!("; {remedy}"));
    format!("{}\n    not known: {reason}{remedy}\n", unknown.name)
}

fn unknown_to_json(unknown: &Unknown) -> Json {
    json!({
        "component": unknown.name,
        "reason": unknown.reason,
        "remedy": unknown.remedy,
    })
}
