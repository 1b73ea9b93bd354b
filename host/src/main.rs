//! The `openprogram` binary: parse, load settings, run one command, exit with its code.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use clap::Parser as _;
use openprogram::commands::console::Console;
use openprogram::commands::exit::Exit;
use openprogram::commands::{Cli, Command, end_badly};
use openprogram::settings::{Settings, TerminalSettings};
use openprogram::telemetry;

/// How long the end of the program waits for threads that cannot be stopped. What a command began
/// has ended with it; only what was given up still runs.
const THREADS_TIME: Duration = Duration::from_millis(500);

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are no errors and go to stdout; a closed output has no reader.
            let _ = error.print();
            return exit_code(if error.use_stderr() {
                Exit::Usage
            } else {
                Exit::Done
            });
        }
    };
    let variables = |name: &str| std::env::var_os(name);
    let terminal = TerminalSettings::of_variables(&variables);
    let mut console = Console::of_process(&terminal);
    let error_form = cli.command.error_form();
    let exit = start(cli.command, &mut console)
        .unwrap_or_else(|error| end_badly(&error, error_form, &mut console));
    exit_code(exit)
}

fn start(command: Command, console: &mut Console) -> anyhow::Result<Exit> {
    let folder = std::env::current_dir().context("cannot tell the current folder")?;
    let variables = |name: &str| std::env::var_os(name);
    let mut found = Settings::find(&folder, &variables);
    found
        .settings
        .look_whether_set(command.variables(), &variables);
    telemetry::start(&found.settings.trace)?;
    let tokio = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the async runtime")?;
    let exit = tokio.block_on(command.run(found, console));
    // A compilation that was given up cannot be stopped, and nobody waits for it.
    tokio.shutdown_timeout(THREADS_TIME);
    Ok(exit)
}

fn exit_code(exit: Exit) -> ExitCode {
    ExitCode::from(exit as u8)
}
