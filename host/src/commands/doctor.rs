//! `openprogram doctor`: what keeps things from working here, and how to mend it.

use serde_json::json;

use super::console::Console;
use super::exit::ChecksFailed;
use crate::app::App;
use crate::checks::{self, Check, Status};
use crate::settings::{Found, TerminalSettings};

/// Checks this machine and the project, and says how to mend what is wrong
///
/// Checks the Rust toolchain and the target wasm32-wasip2, the state folder with its cache and
/// sessions, what the system lets a process have, the project file with its components and models,
/// and whether the keys of providers are set; it never shows one. Works without a project file and
/// with a broken one, changes nothing, and asks nobody outside this machine.
///
/// Every line begins with `ok`, `warning` or `failed`. The exit code is 1 when a check failed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print {"checks": [{"name", "status", "message", "mend"}], "warnings", "failed"}
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) async fn run(args: &Args, found: Found, console: &mut Console) -> anyhow::Result<()> {
    let app = App::new(found.settings);
    let mut checks = checks::all(&app, found.problem.as_ref()).await;
    checks.push(terminal(&app.settings().terminal));
    let count = |status| checks.iter().filter(|check| check.status == status).count();
    let (warnings, failed) = (count(Status::Warning), count(Status::Failed));
    if args.json {
        let checks: Vec<_> = checks.iter().map(to_json).collect();
        console.json(&json!({"checks": checks, "warnings": warnings, "failed": failed}))?;
    } else {
        let width = checks.iter().map(|check| check.name.chars().count()).max();
        for check in &checks {
            console.text(&to_text(check, width.unwrap_or(0)))?;
        }
    }
    match failed {
        0 => Ok(()),
        failed => Err(ChecksFailed(failed).into()),
    }
}

/// What progress and colours will look like.
fn terminal(settings: &TerminalSettings) -> Check {
    let is = |is_terminal| {
        if is_terminal {
            "a terminal"
        } else {
            "no terminal"
        }
    };
    let (reader, watcher) = (Console::has_reader(), Console::has_watcher());
    let colours = match settings.colours_on(watcher) {
        true => "on",
        false => "off",
    };
    let reason = settings
        .decided_by
        .map(|name| format!(" because of {name}"));
    Check {
        name: "terminal".to_owned(),
        status: Status::Ok,
        message: format!(
            "stdout is {}, stderr is {}; colours are {colours}{}",
            is(reader),
            is(watcher),
            reason.unwrap_or_default()
        ),
        mend: None,
    }
}

fn to_json(check: &Check) -> openprogram_core::Json {
    json!({
        "name": check.name,
        "status": check.status.as_str(),
        "message": check.message,
        "mend": check.mend,
    })
}

/// One line, further lines of the message and the remedy below it.
fn to_text(check: &Check, width: usize) -> String {
    let Check {
        name,
        status,
        message,
        mend,
    } = check;
    let indent = " ".repeat(9);
    let message = message.replace('\n', &format!("\n{indent}"));
    let mut text = format!("{:<7}  {name:<width$}  {message}\n", status.as_str());
    if let Some(mend) = mend {
        text.push_str(&format!("{indent}to mend it: {mend}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn a_remedy_stands_below_what_it_mends() {
        let check = Check {
            name: "rust".to_owned(),
            status: Status::Failed,
            message: "two\nlines".to_owned(),
            mend: Some("do this".to_owned()),
        };
        expect![[r#"
            failed   rust    two
                     lines
                     to mend it: do this
        "#]]
        .assert_eq(&to_text(&check, 6));
    }
}
