//! The command line: one file per subcommand, each with its arguments and one `run`.
//!
//! Doc comments of arguments are the help text. Commands print data to stdout and words to stderr
//! through [`console::Console`]; how they end is decided in [`exit`] alone.

pub mod console;
pub mod exit;

mod argument_file;
mod arguments;
mod bars;
mod chosen_session;
mod described;
mod dot;
mod evaluate;
mod grant_lines;
mod graph;
mod hints;
mod offered;
mod progress;
mod questions;
mod refused;
mod settings_told;
mod shown_file;
mod signature;
mod spent;
mod stop;
mod time;
mod wit_text;

mod add;
mod audit;
mod build;
mod chat;
mod completions;
mod config;
mod decide;
mod doctor;
mod export;
mod fork;
mod functions;
mod grant;
mod grants;
mod import;
mod inspect;
mod new;
mod providers;
mod remove;
mod revoke;
mod run;
mod sessions;
mod show;
mod update;
mod used;
mod watch;

use std::io;

use clap::{Parser, Subcommand};

use self::console::Console;
use self::exit::{ErrorForm, Exit, Report};
use crate::app::App;
use crate::settings::{Found, SettingsError};

/// Runs agentic functions in a sandbox and lets a model choose the next step.
///
/// Functions are exports of WebAssembly components. A project names its components and its model in
/// `openprogram.toml`; every run is recorded as a session.
#[derive(Debug, Parser)]
#[command(name = "openprogram", version, disable_help_subcommand = true)]
#[command(after_help = EXIT_CODES)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "\
Results go to stdout, words to stderr.
Exit codes: 0 done; 1 the function failed, or a build or a check did; 2 usage or bad arguments; 3 denied or
declined; 4 model, provider or decision; 5 internal; 6 limit, timeout or cancelled.";

/// The subcommands, in the order of the help.
#[derive(Debug, Subcommand)]
pub enum Command {
    New(new::Args),
    Build(build::Args),
    Inspect(inspect::Args),
    Add(add::Args),
    Update(update::Args),
    Remove(remove::Args),
    Functions(functions::Args),
    Grant(grant::Args),
    Revoke(revoke::Args),
    Grants(grants::Args),
    Run(run::Args),
    Decide(decide::Args),
    Chat(chat::Args),
    Sessions(sessions::Args),
    Show(show::Args),
    Fork(fork::Args),
    Export(export::Args),
    Import(import::Args),
    Audit(audit::Args),
    Providers(providers::Args),
    Doctor(doctor::Args),
    Config(config::Args),
    Completions(completions::Args),
}

impl Command {
    /// Runs the command to its end and says what went wrong.
    pub async fn run(self, found: Found, console: &mut Console) -> Exit {
        let error_form = self.error_form();
        match self.start(found, console).await {
            Ok(()) => Exit::Done,
            Err(error) => end_badly(&error, error_form, console),
        }
    }

    async fn start(self, found: Found, console: &mut Console) -> anyhow::Result<()> {
        match self {
            Self::New(args) => new::run(&args, console),
            Self::Build(args) => build::run(&args, &found.settings.current_folder, console).await,
            Self::Inspect(args) => inspect::run(args, &app(found)?, console).await,
            Self::Add(args) => add::run(&args, &app(found)?, console).await,
            Self::Update(args) => update::run(&args, &app(found)?, console).await,
            Self::Remove(args) => remove::run(&args, &app(found)?, console),
            Self::Functions(args) => functions::run(&args, &app(found)?, console).await,
            Self::Grant(args) => grant::run(&args, &app(found)?, console).await,
            Self::Revoke(args) => revoke::run(&args, &app(found)?, console).await,
            Self::Grants(args) => grants::run(&args, &app(found)?, console),
            Self::Run(args) => run::run(args, &app(found)?, console).await,
            Self::Decide(args) => decide::run(args, &app(found)?, console).await,
            Self::Chat(args) => chat::run(args, &app(found)?, console).await,
            Self::Sessions(args) => sessions::run(&args, &app(found)?, console).await,
            Self::Show(args) => show::run(&args, &app(found)?, console).await,
            Self::Fork(args) => fork::run(&args, &app(found)?, console).await,
            Self::Export(args) => export::run(&args, &app(found)?, console).await,
            Self::Import(args) => import::run(&args, &app(found)?, console).await,
            Self::Audit(args) => audit::run(&args, &app(found)?, console).await,
            Self::Providers(args) => providers::run(&args, &app(found)?, console),
            Self::Doctor(args) => doctor::run(&args, found, console).await,
            Self::Config(args) => config::run(&args, &app(found)?, console),
            Self::Completions(args) => completions::run(&args, console),
        }
    }

    /// Variables of the environment that its arguments name, and of which it tells whether they are
    /// set.
    #[must_use]
    pub fn variables(&self) -> Vec<String> {
        match self {
            Self::Grant(args) => args.variables(),
            _ => Vec::new(),
        }
    }

    /// The form in which the command tells a program about an error; `None` without `--json`.
    #[must_use]
    pub fn error_form(&self) -> Option<ErrorForm> {
        let (json, form) = match self {
            Self::New(args) => (args.json, ErrorForm::Plain),
            Self::Build(args) => (args.json, ErrorForm::Plain),
            Self::Inspect(args) => (args.json, ErrorForm::Plain),
            Self::Add(args) => (args.json, ErrorForm::Plain),
            Self::Update(args) => (args.json, ErrorForm::Plain),
            Self::Remove(args) => (args.json, ErrorForm::Plain),
            Self::Functions(args) => (args.json, ErrorForm::Plain),
            Self::Grant(args) => (args.json, ErrorForm::Plain),
            Self::Revoke(args) => (args.json, ErrorForm::Plain),
            Self::Grants(args) => (args.json, ErrorForm::Plain),
            Self::Run(args) if args.watch => (args.json, ErrorForm::RunLine),
            Self::Run(args) => (args.json, ErrorForm::Run),
            Self::Decide(args) => (args.json, ErrorForm::Decide),
            Self::Chat(args) => (args.json, ErrorForm::Chat),
            Self::Sessions(args) => (args.is_json(), ErrorForm::Plain),
            Self::Show(args) => (args.is_json(), ErrorForm::Plain),
            Self::Fork(args) => (args.json, ErrorForm::Plain),
            Self::Export(args) => (args.json, ErrorForm::Plain),
            Self::Import(args) => (args.json, ErrorForm::Plain),
            Self::Audit(args) => (args.json, ErrorForm::Plain),
            Self::Providers(args) => (args.json, ErrorForm::Plain),
            Self::Config(args) => (args.json, ErrorForm::Plain),
            // What a check found is told in its own form; a script of a shell has none.
            Self::Doctor(_) | Self::Completions(_) => return None,
        };
        json.then_some(form)
    }
}

/// What commands are built from that want the settings as they were meant.
fn app(found: Found) -> Result<App, SettingsError> {
    found.problem.map_or(Ok(App::new(found.settings)), Err)
}

/// Says what went wrong, to people always and to programs on request, and gives the exit code.
pub fn end_badly(error: &anyhow::Error, form: Option<ErrorForm>, console: &mut Console) -> Exit {
    if is_closed_pipe(error) {
        // Whoever read the output has seen enough.
        return Exit::Done;
    }
    let report = Report::of(error);
    report.say_to(console);
    if let Some(form) = form {
        let told = report.to_json(form);
        let told = match form.is_line() {
            true => console.json_line(&told),
            false => console.json(&told),
        };
        if let Err(error) = told {
            console.say(&format!("error: cannot write to stdout: {error}"));
        }
    }
    report.exit
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let io_error = error.downcast_ref::<io::Error>();
    io_error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;
    use expect_test::expect_file;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_help_of_all_commands_reads_as_it_should() {
        let mut cli = Cli::command();
        cli.build();
        let mut help = cli.render_long_help().to_string();
        for command in cli.get_subcommands_mut() {
            help.push_str(&format!("\n\n=== {} ===\n\n", command.get_name()));
            help.push_str(&command.render_long_help().to_string());
        }
        let trimmed: Vec<_> = help.lines().map(str::trim_end).collect();
        expect_file!["help.txt"].assert_eq(&(trimmed.join("\n") + "\n"));
    }

    #[test]
    fn a_wrong_command_line_is_a_usage_error() {
        for line in [
            "",
            "fly",
            "run",
            "run f --arg novalue",
            "run f --arg =x",
            "show a b",
            "decide",
            "build a b",
            "new",
            "new a --lang cobol",
            "inspect",
            "sessions --jsn",
            "sessions rm",
            "fork",
            "fork op-0000000000000001",
            "export",
            "import",
            "completions",
            "completions csh",
            "providers fly",
        ] {
            let words = std::iter::once("openprogram").chain(line.split_whitespace());
            let error = Cli::try_parse_from(words).unwrap_err();
            assert_eq!(error.exit_code(), Exit::Usage as i32, "`{line}`");
        }
    }
}
