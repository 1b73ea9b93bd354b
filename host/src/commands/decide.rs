//! `openprogram decide`: one decision outside any function. Nothing is run.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use openprogram_core::catalog::Catalog;
use openprogram_core::content::ThinkingLevel;
use openprogram_core::decision::{
    Confidence, DecisionSettings, FileOption, Menu, MenuOption, OptionKind, Payload, Pick,
    PickError, REPLY_BYTES_MAX, VOTES_MAX, fill_hidden, parse_option_file, parse_reply,
    render_menu, resolve_value,
};
use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::schema::CheckMode;
use openprogram_core::{Json, JsonObject};
use openprogram_runtime::{DecideRequest, Runtime};
use serde_json::json;

use super::arguments::{Pair, context, parse_pair, thinking_levels};
use super::console::Console;
use super::evaluate::{Put, evaluate, read_cases};
use super::exit::{RunFailed, Usage};
use super::progress::{self, Progress};
use super::shown_file::read_shown;
use super::spent::say_spent;
use super::stop;
use crate::app::{App, Budgets, Components, Prepared, RunChoice};
use crate::input::read_text;
use crate::settings::ModelNames;

/// Largest option file. A menu of 512 options with long descriptions fits many times.
const OPTION_FILE_BYTES_MAX: u64 = 8 << 20;
/// What a model is asked when nobody says what to ask.
const DEFAULT_PROMPT: &str = "Pick one of the options.";

/// Lets a model pick one of the options in a file, or checks a reply against them
///
/// With `--reply` the reply is read and checked, and no model is asked. With a prompt, a file or
/// `--model`, the model picks; the decision is recorded as a session. Without any of these, or without a model,
/// the menu is printed as a model would read it. Nothing that is picked is run.
///
/// The option file is JSON: {"form": "dict", "entries": [{"key": NAME, "handler": HANDLER}]} or
/// {"form": "list", "items": [HANDLER]}. A handler has a "kind": "fn" with "function" (a function of
/// the project) or "fn" (one that exists in the file only), "value", "schema", and in lists "text";
/// "desc" says when to pick it.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The file that holds the options
    #[arg(long, value_name = "FILE", required_unless_present = "eval")]
    options: Option<PathBuf>,
    /// Check this reply instead of asking a model; `-` is stdin
    #[arg(long, value_name = "FILE")]
    reply: Option<PathBuf>,
    /// What the model is asked
    #[arg(long, value_name = "TEXT")]
    prompt: Option<String>,
    /// Show this picture, film or sound file with the prompt; may be repeated
    ///
    /// What it is, is told by its bytes. A model that takes none of its kind is not asked, and one that
    /// weighs options without reading writes its pick instead, where it can.
    #[arg(long = "file", value_name = "FILE", conflicts_with_all = ["reply", "eval"])]
    files: Vec<PathBuf>,
    /// Give one value for hidden parameters of that name; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_pair)]
    context: Vec<Pair>,
    /// The model, in place of that of the project; named as for `run`
    #[arg(long, value_name = "PROVIDER:MODEL")]
    model: Option<String>,
    /// How much the model thinks, in place of what the project says
    #[arg(long, value_name = "LEVEL", value_parser = thinking_levels())]
    thinking: Option<ThinkingLevel>,
    /// Measure the model on cases whose right pick is known; nothing is recorded
    ///
    /// FILE holds one JSON object on each line: {"prompt": TEXT, "expected": NAME} or {"prompt": TEXT,
    /// "expected": {"call": NAME, "args": {…}}}; "options" holds the options of this case in the form of
    /// the option file, in place of `--options`, and "context" values for hidden parameters. Prints
    /// accuracy, which option was picked for which, the shares of cases without a valid pick and asked
    /// again, tokens, latency, and with probabilities the Brier score and the expected calibration error.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["reply", "prompt"])]
    eval: Option<PathBuf>,
    /// Ask so many times, each time with the options in another order; the most picks win
    #[arg(long, value_name = "N", conflicts_with = "reply",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(VOTES_MAX)))]
    votes: Option<u32>,
    /// Print {"pick", "arguments", "value", "method", "coerced"}, {"error": {"kind", "message"}},
    /// {"menu"}, or the figures of `--eval`
    ///
    /// With a pick stand "confidence" and "confidence_source" where anybody says how sure it is.
    #[arg(long)]
    pub(super) json: bool,
}

/// A pick as it is printed.
struct Picked {
    name: String,
    arguments: JsonObject,
    value: Option<Json>,
    method: &'static str,
    confidence: Option<Confidence>,
    coerced: Vec<String>,
}

pub(super) async fn run(args: Args, app: &App, console: &mut Console) -> anyhow::Result<()> {
    let options = args.options.as_deref().map(read_options).transpose()?;
    if let Some(file) = &args.eval {
        return run_cases(&args, file, options.as_deref(), app, console).await;
    }
    let options = options.unwrap_or_default();
    let media = args.files.iter().map(|file| read_shown(file));
    let media = media.collect::<anyhow::Result<Vec<_>>>()?;
    let is_asked = args.prompt.is_some() || args.model.is_some() || !media.is_empty();
    let has_model = args.model.is_some() || app.settings().models.names.main.is_some();
    let asks = args.reply.is_none() && is_asked && has_model;
    // Nothing is loaded for a file that stands alone.
    let components = if options.iter().any(names_function) {
        Components::Project
    } else {
        Components::None
    };
    let mut prepared = if asks || components == Components::Project {
        let choice = RunChoice {
            components,
            models: asks.then(|| ModelNames {
                main: args.model.clone(),
                ..ModelNames::default()
            }),
            thinking: args.thinking,
            budgets: Budgets::default(),
            is_recorded: true,
        };
        Some(app.prepare(&choice, console.words()).await?)
    } else {
        None
    };
    let catalog = prepared
        .as_ref()
        .map(|prepared| &**prepared.runtime.catalog());
    let options = match (resolve(options, catalog), prepared.as_mut()) {
        (Ok(options), _) => options,
        (Err(missing), None) => return Err(missing.into()),
        (Err(missing), Some(prepared)) => {
            return Err(prepared.not_found("", missing.into(), console.words()));
        }
    };
    if let Some(prepared) = &prepared {
        prepared.say_left_out(console.words());
    }
    let context = context_for(&options, &args.context)?;
    let picked = match (&args.reply, &prepared) {
        (Some(reply), _) => check_reply(reply, options, &context)?,
        (None, Some(prepared)) if asks => {
            let request = DecideRequest {
                media,
                context,
                settings: settings(&args),
                ..DecideRequest::new(args.prompt.as_deref().unwrap_or(DEFAULT_PROMPT), options)
            };
            let progress = progress::start(args.json, &app.settings().terminal);
            ask(prepared, request, progress, console).await?
        }
        _ => return print_menu(options, args.json, is_asked, console),
    };
    tell(picked, args.json, console)
}

/// Measures the model on the cases of a file.
async fn run_cases(
    args: &Args,
    file: &Path,
    options: Option<&[FileOption]>,
    app: &App,
    console: &mut Console,
) -> anyhow::Result<()> {
    let cases = read_cases(file, options)?;
    let choice = RunChoice {
        components: if cases.options().any(names_function) {
            Components::Project
        } else {
            Components::None
        },
        models: Some(ModelNames {
            main: args.model.clone(),
            ..ModelNames::default()
        }),
        thinking: args.thinking,
        budgets: Budgets::default(),
        is_recorded: false,
    };
    let mut prepared = app.prepare(&choice, console.words()).await?;
    let catalog = Arc::clone(prepared.runtime.catalog());
    let resolved = cases.resolve(|options| resolve(options, Some(&catalog)));
    let mut cases = match resolved {
        Ok(cases) => cases,
        Err(missing) => return Err(prepared.not_found("", missing, console.words())),
    };
    prepared.say_left_out(console.words());
    for case in &mut cases {
        let mut context = context_for(case.options(), &args.context)?;
        context.extend(std::mem::take(&mut case.context));
        case.context = context;
    }
    let put = Put {
        runtime: &prepared.runtime,
        settings: settings(args),
    };
    evaluate(put, file, cases, args.json, console).await
}

fn settings(args: &Args) -> DecisionSettings {
    DecisionSettings {
        votes: args.votes,
        ..DecisionSettings::default()
    }
}

/// The values for hidden parameters, read by the types of the functions on offer.
fn context_for(options: &[MenuOption], pairs: &[Pair]) -> Result<JsonObject, Usage> {
    let functions = options.iter().filter_map(|option| match &option.payload {
        Payload::Function(function) => Some(&**function),
        Payload::Value(_) | Payload::Schema(_) => None,
    });
    context(&functions.collect::<Vec<_>>(), pairs)
}

fn read_options(path: &Path) -> anyhow::Result<Vec<FileOption>> {
    let text = read_text(path, OPTION_FILE_BYTES_MAX)?;
    let shown = path.display();
    let json = serde_json::from_str(text.strip_prefix('\u{feff}').unwrap_or(&text))
        .map_err(|error| Usage(format!("the option file `{shown}` is not JSON: {error}")))?;
    let options = parse_option_file(&json)
        .map_err(|error| Usage(format!("the option file `{shown}`: {error}")))?;
    Ok(options)
}

fn names_function(option: &FileOption) -> bool {
    match option {
        FileOption::Spec(spec) => matches!(spec.kind, OptionKind::Function(_)),
        FileOption::Simulated { .. } => false,
    }
}

fn resolve(
    options: Vec<FileOption>,
    catalog: Option<&Catalog>,
) -> Result<Vec<MenuOption>, Failure> {
    let none = Catalog::default();
    let catalog = catalog.unwrap_or(&none);
    let look_up = |name: &str| {
        catalog.resolve(name, None).map_err(|error| {
            Failure::new(FailureCode::NotFound, error.to_string()).with("name", name)
        })
    };
    options
        .into_iter()
        .map(|option| option.resolve(look_up))
        .collect()
}

fn menu(options: Vec<MenuOption>) -> Result<Menu, Failure> {
    Menu::new(options).map_err(|error| error.to_failure())
}

fn print_menu(
    options: Vec<MenuOption>,
    json: bool,
    is_asked: bool,
    console: &mut Console,
) -> anyhow::Result<()> {
    let text = render_menu(&menu(options)?);
    console.say(if is_asked {
        "no model is configured, so this is the menu that it would read; name one with `--model`"
    } else {
        "this is the menu that a model would read; `--prompt` asks one"
    });
    if json {
        console.json(&json!({"menu": text}))?;
    } else {
        console.text(&text)?;
    }
    Ok(())
}

/// Reads and checks a reply as a decision would, its hidden parameters included.
fn check_reply(
    path: &Path,
    options: Vec<MenuOption>,
    context: &JsonObject,
) -> anyhow::Result<Picked> {
    let menu = menu(options)?;
    let reply = read_text(path, REPLY_BYTES_MAX as u64)?;
    let pick = parse(&menu, &reply, context).map_err(|error| {
        Failure::new(FailureCode::Decision, error.message).with("kind", error.kind.as_str())
    })?;
    Ok(Picked {
        value: resolve_value(&menu, &pick),
        coerced: pick.coerced(),
        name: pick.name,
        arguments: pick.arguments,
        method: "text",
        confidence: None,
    })
}

fn parse(menu: &Menu, reply: &str, context: &JsonObject) -> Result<Pick, PickError> {
    let pick = parse_reply(menu, reply, CheckMode::Strict)?;
    if let Payload::Function(function) = &menu.options()[pick.index].payload {
        fill_hidden(function, pick.arguments.clone(), context)?;
    }
    Ok(pick)
}

async fn ask(
    prepared: &Prepared,
    mut request: DecideRequest,
    progress: Progress,
    console: &mut Console,
) -> anyhow::Result<Picked> {
    request.events = progress.sender();
    let runtime: &Runtime = &prepared.runtime;
    let began = Instant::now();
    let outcome = runtime.decide_until(request, stop::asked()).await;
    progress.finish().await;
    let took = began.elapsed();
    if let Some(session) = &outcome.session {
        say_spent(&**runtime.store(), session, None, took, console).await;
        console.say(&format!("session {session}"));
    }
    let pick = outcome.result.map_err(|failure| RunFailed {
        session: outcome.session,
        node: None,
        failure,
        refusals: Vec::new(),
    })?;
    Ok(Picked {
        coerced: pick.coerced,
        name: pick.option,
        arguments: pick.arguments,
        value: pick.value,
        method: pick.method,
        confidence: pick.confidence,
    })
}

fn tell(picked: Picked, json: bool, console: &mut Console) -> anyhow::Result<()> {
    if json {
        let mut printed = json!({
            "pick": picked.name,
            "arguments": picked.arguments,
            "value": picked.value,
            "method": picked.method,
            "coerced": picked.coerced,
        });
        if let Some(confidence) = picked.confidence {
            printed["confidence"] = confidence.value.into();
            printed["confidence_source"] = confidence.source.as_str().into();
        }
        console.json(&printed)?;
        return Ok(());
    }
    if let Some(Confidence { value, source }) = picked.confidence {
        console.say(&format!("confidence {value:.2} ({})", source.as_str()));
    }
    for coerced in &picked.coerced {
        console.say(&format!("note: {coerced}"));
    }
    console.text(&picked.name)?;
    match picked.value {
        Some(value) => console.json(&value)?,
        None if picked.arguments.is_empty() => {}
        None => console.json(&Json::Object(picked.arguments))?,
    }
    Ok(())
}
