//! `openprogram run`: one function, from a command line to a recorded result.

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use openprogram_core::content::ThinkingLevel;
use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::id::SessionId;
use openprogram_runtime::{RunOutcome, RunRequest};
use serde_json::json;

use super::argument_file::read_files;
use super::arguments::{Pair, arguments, context, parse_pair, thinking_levels};
use super::console::Console;
use super::exit::RunFailed;
use super::progress::{self, Refusals};
use super::questions::TerminalQuestions;
use super::refused::Refusal;
use super::spent::say_spent;
use super::{stop, watch};
use crate::app::{App, Budgets, Components, RunChoice};
use crate::settings::{MAX_TIME_S, MAX_TURNS, ModelNames};

/// Runs a function and prints its result
///
/// FUNCTION is `namespace:package/interface.function`, or any tail of it that means one function,
/// such as `route-message`; `-` and `_` are equal.
///
/// What a grant or a function wants approved is asked on the terminal, where the input is one; else it
/// is refused. The function that is run here is not asked about: to run it is to approve it.
///
/// The result goes to stdout: text as it is, without what a terminal would act on, anything else as
/// JSON. On a terminal it stands behind bars where it could pass for words of this program. The id of
/// the session goes to stderr.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The function
    pub(super) function: String,
    /// Run from this `.wasm` file or source folder instead of the components of the project
    ///
    /// It has no grants: it can call its own functions only.
    #[arg(long, value_name = "FILE")]
    pub(super) component: Option<PathBuf>,
    /// Give one argument; may be repeated
    ///
    /// The value of a parameter that takes text (string, char, bytes in base64, enum, or an option of
    /// these) is taken as it stands. Any other value is read as JSON when it is JSON, and taken as
    /// text when it is not. The function's types decide what is accepted then. `@FILE` stands for what
    /// is in a file and `@-` for stdin, as base64 for bytes; a text that begins with `@` is written
    /// `@@…`.
    #[arg(long = "arg", value_name = "NAME=VALUE", value_parser = parse_pair)]
    arguments: Vec<Pair>,
    /// Give arguments as one JSON object; a name may not be given here and with `--arg`
    #[arg(long = "args", value_name = "JSON")]
    object: Option<String>,
    /// The model, in place of that of the project
    ///
    /// `openai:MODEL` and `anthropic:MODEL` take their keys from `OPENAI_API_KEY` and
    /// `ANTHROPIC_API_KEY`; `[providers.NAME]` in openprogram.toml adds servers as `NAME:MODEL`.
    /// `component:NAME` is a component of the project; `script:FILE` answers from prepared replies.
    #[arg(long, value_name = "PROVIDER:MODEL")]
    model: Option<String>,
    /// The model of functions that ask for `exec_runtime`; the main one by default
    #[arg(long, value_name = "PROVIDER:MODEL")]
    exec_model: Option<String>,
    /// The model of functions that ask for `review_runtime`; the main one by default
    #[arg(long, value_name = "PROVIDER:MODEL")]
    review_model: Option<String>,
    /// How much the models think, in place of what the project says
    ///
    /// A level that a model does not have becomes the nearest one that it has. A model that is not
    /// known to think in levels takes `off` alone.
    #[arg(long, value_name = "LEVEL", value_parser = thinking_levels())]
    thinking: Option<ThinkingLevel>,
    /// Go on in this session instead of starting one
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Give one value for hidden parameters of that name; may be repeated
    ///
    /// Read like `--arg`, by the type of the hidden parameters of that name. No model sees it.
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_pair)]
    context: Vec<Pair>,
    /// End the run once its models have used so many tokens, input and output together
    ///
    /// All of its requests count, those of nested calls and votes too. The reply that uses them up is
    /// the last one. Where a provider does not tell its usage, four bytes of text count as a token.
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
    /// End the run after so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=MAX_TIME_S))]
    max_time: Option<u64>,
    /// End the run instead of making more than so many model requests; 1000 by default
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=MAX_TURNS))]
    max_turns: Option<u64>,
    /// Run again whenever the source of a component changes, until Ctrl-C
    ///
    /// Watched are the `--component` file or folder, or those that the project file names; folders are
    /// built again. A change while the function runs stops it first.
    #[arg(long)]
    pub(super) watch: bool,
    /// Print {"session", "node", "ok"} or {"session", "node", "error": {"code", "message", "details"}};
    /// with `--watch` on one line for each run
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) async fn run(args: Args, app: &App, console: &mut Console) -> anyhow::Result<()> {
    if args.watch {
        return watch::run(&args, app, console).await;
    }
    once(args, app, console, stop::asked()).await
}

/// Runs it to its end, or until `stop` is ready.
pub(super) async fn once(
    args: Args,
    app: &App,
    console: &mut Console,
    stop: impl Future<Output = ()>,
) -> anyhow::Result<()> {
    let session = args.session.as_deref().map(SessionId::parse).transpose()?;
    let limits = app.settings().limits;
    let max_time_s = args.max_time.or(limits.max_time_s);
    let choice = RunChoice {
        components: args.component.map_or(Components::Project, Components::File),
        models: Some(ModelNames {
            main: args.model,
            exec: args.exec_model,
            review: args.review_model,
        }),
        thinking: args.thinking,
        budgets: Budgets {
            tokens: args.max_tokens.or(limits.max_tokens),
            run_ms: max_time_s.map(|seconds| seconds * 1_000),
            model_turns: args.max_turns.or(limits.max_turns),
        },
        is_recorded: true,
    };
    let (pauser, pauses) = progress::pauses();
    let questions = Arc::new(TerminalQuestions::new(pauser));
    let mut prepared = app
        .prepare_asking(&choice, questions, console.words())
        .await?;
    let function = match prepared.resolve(&args.function) {
        Ok(function) => function,
        Err(error) => {
            let missing = Failure::new(FailureCode::NotFound, error.to_string())
                .with("name", args.function.clone());
            return Err(prepared.not_found(&args.function, missing.into(), console.words()));
        }
    };
    prepared.say_left_out(console.words());
    let catalog = prepared.runtime.catalog();
    let functions: Vec<_> = catalog.iter().map(AsRef::as_ref).collect();
    let progress = progress::start_with(args.json, &app.settings().terminal, pauses);
    let began = Instant::now();
    let pairs = read_files(&function, args.arguments)?;
    let request = RunRequest {
        // The whole name, since a shorter one may mean others to whoever does not know the file.
        function: function.name.to_string(),
        arguments: arguments(&function, args.object.as_deref(), &pairs)?,
        context: context(&functions, &args.context)?,
        session,
        events: progress.sender(),
        on_retry: None,
    };
    let outcome = prepared.runtime.run_function_until(request, stop).await;
    let refusals = progress.finish().await;
    let took = began.elapsed();
    if let Some(notice) = prepared.notice() {
        console.say(&format!("note: {notice}"));
    }
    if let (Some(session), Some(node)) = (&outcome.session, &outcome.node) {
        let store = &**prepared.runtime.store();
        say_spent(store, session, Some(node), took, console).await;
    }
    let form = match (args.json, args.watch) {
        (false, _) => Form::Text,
        (true, false) => Form::Json,
        (true, true) => Form::JsonLine,
    };
    tell(outcome, refusals, form, console)
}

/// The form of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Text,
    Json,
    JsonLine,
}

fn tell(
    outcome: RunOutcome,
    refusals: Refusals,
    form: Form,
    console: &mut Console,
) -> anyhow::Result<()> {
    let RunOutcome {
        session,
        node,
        result,
    } = outcome;
    if let Some(session) = &session {
        console.say(&format!("session {session}"));
    }
    let value = match result {
        Ok(value) => value,
        Err(failure) => {
            return Err(RunFailed {
                session,
                node,
                failure,
                refusals: refusals.listed.iter().map(Refusal::words).collect(),
            }
            .into());
        }
    };
    if !refusals.are_told {
        for refusal in &refusals.listed {
            console.say(&refusal.words());
        }
    }
    if form == Form::Text {
        console.given(&value)?;
        return Ok(());
    }
    let told = json!({
        "session": session.map(|id| id.to_string()),
        "node": node.map(|id| id.to_string()),
        "ok": value,
    });
    match form {
        Form::JsonLine => console.json_line(&told)?,
        _ => console.json(&told)?,
    }
    Ok(())
}
