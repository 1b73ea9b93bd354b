//! `openprogram inspect`: what a component offers and what it needs.

use std::fmt::Write as _;

use openprogram_component::{Link, LoadedComponent, MetadataMode};
use openprogram_core::Json;
use openprogram_core::form::{FormRow, form_rows};
use openprogram_core::function::{
    Function, Offer, Parameter, ParameterSource, parameter_to_form_schema,
    parameters_to_json_schema,
};
use openprogram_core::grant::GrantKind;
use openprogram_core::schema::result_to_json_schema;
use serde_json::json;

use super::console::Console;
use super::offered::{Dialect, Form, Wanted, print_offered};
use super::settings_told::{settings_to_json, settings_told};
use super::signature::{named_types, signature, type_text};
use crate::app::{App, Served};
use crate::text::one_line;

/// The import through which functions of other components are called.
const FUNCTIONS_IMPORT: &str = "openprogram:agentic/functions";

/// Shows the functions of a component, what it imports, and the grants that implies
///
/// COMPONENT is a name of the project, a `.wasm` file, or a source folder, which is built. The
/// component is asked for its descriptions once, in a sandbox without any grant, and the answer is
/// kept.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The component
    component: String,
    /// Run nothing of the component; descriptions that only it can tell are left out
    #[arg(long)]
    no_run: bool,
    /// Print the functions exactly as a model reads them, and nothing else
    #[arg(long = "as", value_name = "FORM")]
    form: Option<Form>,
    /// With `--as tools`, the form of these servers, in place of that of the model
    #[arg(long, requires = "form", conflicts_with = "model")]
    dialect: Option<Dialect>,
    /// With `--as tools`, the form in which this model is sent them; without it, that of the project
    #[arg(long, value_name = "PROVIDER:MODEL", requires = "form")]
    model: Option<String>,
    /// Print {"digest", "functions": [{"name", "interface", "description", "parameters", "returns",
    /// "hidden": [{"name", "schema", "description", "required"}], "offerable", "reason", "settings",
    /// "form"}], "imports", "grants"}, with "links": [{"interface", "functions", "component",
    /// "exported", "problem"}] where it imports from other components and "refused" where something
    /// imported is never granted, or with `--as` {"tools"}, {"menu"} or {"wit"}; settings are those of
    /// the metadata, each with what holds, and the form has a row for each parameter that a person
    /// fills in
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) async fn run(args: Args, app: &App, console: &mut Console) -> anyhow::Result<()> {
    let mode = if args.no_run {
        MetadataMode::Skip
    } else {
        MetadataMode::Run
    };
    let component = app
        .load_component(&args.component, mode, console.words())
        .await?;
    for notice in component.notices() {
        console.say(&format!("note: {notice}"));
    }
    if let Some(form) = args.form {
        let wanted = Wanted {
            form,
            dialect: args.dialect,
            model: args.model.as_deref(),
            json: args.json,
        };
        return print_offered(component.functions(), wanted, app, console);
    }
    let served = app.served(&component)?;
    if args.json {
        let mut shown = to_json(&component);
        if !served.is_empty() {
            shown["links"] = served.iter().map(served_to_json).collect();
        }
        console.json(&shown)?;
    } else {
        console.text(&to_text(&component, &served))?;
    }
    Ok(())
}

/// Imports, by how they begin, and the kind of grant without which they are refused or find nothing.
const IMPLIED: [(&str, GrantKind); 6] = [
    ("wasi:filesystem/preopens", GrantKind::Dirs),
    ("wasi:cli/environment", GrantKind::Env),
    ("wasi:http/outgoing-handler", GrantKind::Http),
    // Not each that works with a model opens others.
    ("openprogram:agentic/runtime", GrantKind::Models),
    (FUNCTIONS_IMPORT, GrantKind::Calls),
    ("openprogram:agentic/ask", GrantKind::AskUser),
];

/// The kinds of grants without which something that the component imports is refused or finds nothing.
///
/// Toolchains import files and variables for programs that touch neither, and an interface is imported
/// whole, so that a kind here says what may be wanted and not what is.
pub(super) fn grants(component: &LoadedComponent) -> Vec<GrantKind> {
    let is_imported = |start: &str| {
        let mut imports = component.imports().iter();
        imports.any(|import| import.starts_with(start))
    };
    let implied = IMPLIED.into_iter().filter(|(start, kind)| {
        let calls = *kind == GrantKind::Calls && !component.imported_interfaces().is_empty();
        calls || is_imported(start)
    });
    implied.map(|(_, kind)| kind).collect()
}

/// Who serves an interface that a component imports from others.
pub(super) fn served_told((interface, link): &Served) -> String {
    let name = &interface.name;
    match link {
        Ok(link) if link.interface == *name => {
            format!("`{name}` is imported from `{}`", link.component)
        }
        Ok(link) => {
            let Link {
                component,
                interface,
                ..
            } = link;
            format!("`{name}` is imported from `{component}`, which exports it as `{interface}`")
        }
        Err(error) => format!("it cannot run yet: {error}"),
    }
}

fn served_to_json((interface, link): &Served) -> Json {
    let link = link.as_ref();
    json!({
        "interface": interface.name,
        "functions": interface.functions,
        "component": link.ok().map(|link| &link.component),
        "exported": link.ok().map(|link| &link.interface),
        "problem": link.err().map(ToString::to_string),
    })
}

/// What the component imports and nobody is given: it loads, and is refused when it is used.
fn refused(component: &LoadedComponent) -> Option<&'static str> {
    let mut imports = component.imports().iter();
    let any = imports.any(|import| import.starts_with("wasi:sockets/"));
    any.then_some("sockets, for which there is no grant")
}

/// A kind of grant as a person reads it: its key, its option of `grant`, and whether the import means
/// little.
pub(super) fn grant_text(kind: GrantKind) -> String {
    let by_itself = match kind {
        GrantKind::Dirs | GrantKind::Env => "; most toolchains import it, used or not",
        _ => "",
    };
    format!("{}, given with `{}`{by_itself}", kind.key(), kind.option())
}

/// Packages of WASI that every component has, whatever it is granted; without a grant there are no
/// folders and no variables in them.
const ALWAYS_THERE: [&str; 5] = ["cli", "clocks", "filesystem", "io", "random"];

/// The imports as a person reads them: those of WASI that are always there as one.
fn imports_told(imports: &[String]) -> Vec<String> {
    let package = |import: &str| {
        let name = import.strip_prefix("wasi:")?.split('/').next()?;
        ALWAYS_THERE.into_iter().find(|known| *known == name)
    };
    let always: Vec<_> = ALWAYS_THERE
        .into_iter()
        .filter(|name| imports.iter().any(|import| package(import) == Some(name)))
        .collect();
    let others = imports.iter().filter(|import| package(import).is_none());
    let mut told: Vec<_> = others.cloned().collect();
    if !always.is_empty() {
        told.push(format!("wasi: {} (always there)", always.join(", ")));
    }
    told
}

fn to_json(component: &LoadedComponent) -> Json {
    let functions: Vec<_> = component.functions().iter().map(function_to_json).collect();
    let mut shown = json!({
        "digest": component.digest(),
        "functions": functions,
        "imports": component.imports(),
        "grants": grants(component).into_iter().map(GrantKind::key).collect::<Vec<_>>(),
    });
    if let Some(refused) = refused(component) {
        shown["refused"] = json!([refused]);
    }
    if let Some(skill) = component.skill() {
        shown["skill"] = json!({"description": skill.description, "body": skill.body});
    }
    shown
}

pub(super) fn function_to_json(function: &Function) -> Json {
    let reason = match &function.offer {
        Offer::Offered => None,
        Offer::NotOfferable(reason) => Some(reason),
    };
    let parameters = function.parameters.iter();
    let hidden = parameters.filter(|parameter| parameter.source == ParameterSource::Context);
    let hidden: Vec<_> = hidden.map(hidden_to_json).collect();
    let mut shown = json!({
        "name": function.name.function,
        "interface": function.name.interface,
        "description": function.description,
        "parameters": parameters_to_json_schema(function.visible_parameters()),
        "hidden": hidden,
        "returns": function.returns.as_ref().map(result_to_json_schema),
        "offerable": reason.is_none(),
        "reason": reason,
        "settings": settings_to_json(function),
        "form": form_rows(function).iter().map(FormRow::to_json).collect::<Json>(),
    });
    if function.is_stateful {
        shown["stateful"] = true.into();
    }
    shown
}

/// A parameter that no model sees, apart from the schema that models read.
fn hidden_to_json(parameter: &Parameter) -> Json {
    json!({
        "name": parameter.field.name,
        "schema": parameter_to_form_schema(parameter),
        "description": parameter.field.description,
        "required": parameter.is_required(),
    })
}

fn to_text(component: &LoadedComponent, served: &[Served]) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail; the same holds below.
    let _ = writeln!(text, "{}  {}", component.name(), component.digest());
    for (serves, what) in [
        (component.is_model(), "writes text and calls tools"),
        (component.is_decider(), "picks among options"),
    ] {
        if serves {
            let name = component.name();
            let _ = writeln!(text, "{what}: use it as `component:{name}`");
        }
    }
    for function in component.functions() {
        write_function(&mut text, function);
    }
    write_types(&mut text, component.functions());
    if let Some(skill) = component.skill() {
        let _ = writeln!(text, "\nskill: {}", one_line(&skill.description, 1_000));
    }
    let imports = imports_told(component.imports());
    write_list(&mut text, "imports", imports.iter().map(String::as_str));
    for served in served {
        let _ = writeln!(text, "\n{}:", one_line(&served_told(served), 1_000));
        for function in &served.0.functions {
            let _ = writeln!(text, "    {}", one_line(function, 1_000));
        }
    }
    let implied: Vec<_> = grants(component).into_iter().map(grant_text).collect();
    write_list(&mut text, "grants", implied.iter().map(String::as_str));
    if let Some(refused) = refused(component) {
        write_list(&mut text, "always refused", [refused].into_iter());
    }
    text
}

fn write_function(text: &mut String, function: &Function) {
    let _ = writeln!(text, "\n{}", one_line(&signature(function), 1_000));
    if let Offer::NotOfferable(reason) = &function.offer {
        let _ = writeln!(text, "    not offerable: {}", one_line(reason, 1_000));
    }
    let summary = function.summary();
    if !summary.is_empty() {
        let _ = writeln!(text, "    {}", one_line(&summary, 1_000));
    }
    if function.is_stateful && function.offer == Offer::Offered {
        let _ = writeln!(
            text,
            "    lives on: in one instance for all calls of a session"
        );
    }
    for setting in settings_told(function) {
        let _ = writeln!(text, "    {setting}");
    }
    for parameter in &function.parameters {
        if let Some(line) = parameter_line(parameter) {
            let _ = writeln!(text, "      {line}");
        }
    }
}

/// What the signature does not say about a parameter; `None` when it says everything.
fn parameter_line(parameter: &Parameter) -> Option<String> {
    let mut facts = Vec::new();
    match parameter.source {
        ParameterSource::Argument => {}
        ParameterSource::Context => {
            let ty = type_text(&parameter.field.ty);
            facts.push(format!("{ty}, hidden: filled from the context"));
        }
        ParameterSource::Runtime(_) => return None,
    }
    if let Some(description) = &parameter.field.description {
        facts.push(one_line(description, 300));
    }
    if !parameter.field.options.is_empty() {
        let options = Json::from(parameter.field.options.clone());
        facts.push(format!("one of {}", one_line(&options.to_string(), 300)));
    }
    if let Some(source) = &parameter.options_from {
        facts.push(format!("one of the {}", one_line(source, 80)));
    }
    if let Some(placeholder) = &parameter.placeholder {
        facts.push(format!("e.g. {}", one_line(placeholder, 300)));
    }
    match parameter.multiline {
        None => {}
        Some(true) => facts.push("in a form on several lines".to_owned()),
        Some(false) => facts.push("in a form on one line".to_owned()),
    }
    if let Some(default) = &parameter.default {
        facts.push(format!("default {}", one_line(&default.to_string(), 300)));
    }
    let name = one_line(&parameter.field.name, 80);
    (!facts.is_empty()).then(|| format!("{name}: {}", join_facts(&facts)))
}

/// Facts of a parameter on one line. A description is a sentence, and its full stop ends the line or
/// gives way to what follows.
fn join_facts(facts: &[String]) -> String {
    let mut text = String::new();
    for fact in facts {
        if !text.is_empty() {
            let length = text.strip_suffix('.').map_or(text.len(), str::len);
            text.truncate(length);
            text.push_str("; ");
        }
        text.push_str(fact);
    }
    text
}

fn write_types(text: &mut String, functions: &[Function]) {
    let (types, n_left_out) = named_types(functions);
    if types.is_empty() {
        return;
    }
    write_list(text, "types", types.iter().map(String::as_str));
    if n_left_out > 0 {
        let _ = writeln!(text, "    … and {n_left_out} more; `--json` shows them all");
    }
}

fn write_list<'a>(text: &mut String, title: &str, items: impl Iterator<Item = &'a str>) {
    let items: Vec<_> = items.collect();
    if items.is_empty() {
        let _ = writeln!(text, "\n{title}: none");
        return;
    }
    let _ = writeln!(text, "\n{title}:");
    for item in items {
        let _ = writeln!(text, "    {}", one_line(item, 2_000));
    }
}
