//! Inputs that are broken: every one is named, none is a panic, none takes long or much.

mod arguments;
mod components;
mod projects;

use std::ffi::{OsStr, OsString};
use std::process::Command;

use openprogram_tests::cli::{Outcome, Project};
use openprogram_tests::metadata::{Described, telling};

use super::project;

/// What is done to an empty project before the command.
type Change = Box<dyn Fn(Project) -> Project>;

/// One broken input: what is made, what is run, how it ends.
struct Input {
    /// What is broken, where the command does not show it.
    title: Option<String>,
    change: Change,
    arguments: Vec<OsString>,
    exit: i32,
    /// What the message has to name.
    names: &'static str,
}

impl Input {
    fn of(arguments: &[&str], exit: i32, names: &'static str) -> Self {
        Self {
            title: None,
            change: Box::new(|project| project),
            arguments: arguments.iter().map(OsString::from).collect(),
            exit,
            names,
        }
    }

    fn titled(mut self, title: &str) -> Self {
        self.title = Some(title.to_owned());
        self
    }

    fn with(mut self, change: impl Fn(Project) -> Project + 'static) -> Self {
        self.change = Box::new(change);
        self
    }

    /// One more argument, which need not be text.
    fn and(mut self, argument: &OsStr) -> Self {
        self.arguments.push(argument.to_owned());
        self
    }
}

/// Makes a file by a command of the system, for what the standard library cannot make.
fn made(command: &str, project: Project, name: &str) -> Project {
    let made = Command::new(command).arg(project.path(name)).status();
    assert!(made.unwrap().success(), "{command} {name}");
    project
}

/// Runs a command that must fail, and gives what it said.
fn said(project: &Project, arguments: &[impl AsRef<OsStr>]) -> (i32, String) {
    let Outcome {
        code,
        stdout,
        stderr,
    } = project.run_bounded(arguments);
    let shown: Vec<_> = arguments.iter().map(AsRef::as_ref).collect();
    let crashed = stderr.contains("panicked") || stderr.contains("stack backtrace");
    assert!(
        !crashed && code != 101 && code < 128,
        "{shown:?}: {code} {stderr}"
    );
    assert!(code == 0 || stdout.is_empty(), "{shown:?}: {stdout}");
    (code, project.shown(&stderr))
}

/// Runs the command of a broken input; what came of it, and what is wrong with that.
fn check(input: &Input) -> (String, Option<String>) {
    let project = (input.change)(project());
    let (code, said) = said(&project, &input.arguments);
    let command: Vec<_> = input
        .arguments
        .iter()
        .map(|a| a.to_string_lossy())
        .collect();
    let command = command.join(" ");
    let title = input.title.as_deref().unwrap_or_default();
    let title: String = title
        .trim_end()
        .lines()
        .map(|line| format!("# {line}\n"))
        .collect();
    let text = format!("{title}$ {command}\nexit {code}\n{said}\n");
    let is_right = code == input.exit && said.contains(input.names);
    let wanted = format!("exit {} and `{}` in: {text}", input.exit, input.names);
    (text, (!is_right).then_some(wanted))
}

#[test]
fn every_broken_input_is_named_with_its_remedy() {
    let mut inputs = components::inputs();
    inputs.extend(projects::inputs());
    inputs.extend(projects::installs());
    inputs.extend(arguments::inputs());
    let (shown, wrong): (Vec<_>, Vec<_>) = inputs.iter().map(check).unzip();
    insta::assert_snapshot!("broken_inputs", shown.join("\n"));
    let wrong: Vec<_> = wrong.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(inputs.len() >= 40, "{} inputs", inputs.len());
}

#[test]
fn a_name_that_would_take_over_a_terminal_is_shown_without_its_power() {
    let name = "greet\u{1b}[2J\u{7}\0";
    let function = Described {
        name,
        ..Described::default()
    };
    let project = project().file("liar.wasm", telling(&[function]).unwrap());
    let (_, said) = said(&project, &["inspect", "liar.wasm"]);
    let control = said.chars().find(|c| c.is_control() && *c != '\n');
    assert_eq!(control, None, "{said:?}");
}

#[test]
fn a_damaged_database_is_named_and_not_overwritten() {
    let project = super::project_with(&["healthy"]);
    let first = project.run(&["run", "double", "--arg", "number=1"]);
    assert_eq!(first.code, 0, "{first:?}");
    let noise = vec![0x5a; 16_384];
    for name in ["sessions.db-wal", "sessions.db-shm"] {
        // Left over only when the process did not close it.
        let _ = std::fs::remove_file(project.path(&format!(".openprogram/{name}")));
    }
    let project = project.file(".openprogram/sessions.db", &noise);
    let mut shown = String::new();
    for arguments in [&["sessions"][..], &["run", "double", "--arg", "number=1"]] {
        let (code, said) = said(&project, arguments);
        let command = arguments.join(" ");
        shown.push_str(&format!("$ {command}\nexit {code}\n{said}\n\n"));
    }
    insta::assert_snapshot!("damaged_database", shown);
    let kept = std::fs::read(project.path(".openprogram/sessions.db")).unwrap();
    assert_eq!(kept, noise, "what is damaged is left for a person to save");
}

#[test]
fn a_damaged_cache_is_made_again() {
    let project = super::project_with(&["healthy"]);
    let double = ["run", "double", "--arg", "number=2"];
    assert_eq!(project.run(&double).code, 0);
    let mut damaged = 0;
    let mut folders = vec![project.path(".openprogram/cache")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let mut bytes = std::fs::read(&path).unwrap();
                let middle = bytes.len() / 2;
                if let Some(byte) = bytes.get_mut(middle) {
                    *byte ^= 0xff;
                    std::fs::write(&path, bytes).unwrap();
                    damaged += 1;
                }
            }
        }
    }
    assert!(damaged > 0, "nothing was cached");
    let again = project.run(&double);
    assert_eq!((again.code, again.stdout.as_str()), (0, "4\n"), "{again:?}");
}
