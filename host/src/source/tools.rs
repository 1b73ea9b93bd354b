//! Runs the tools of JavaScript and Python for one source folder, in an environment without
//! leftovers.

use std::ffi::OsStr;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use super::BuildError;
use crate::sdk::Language;

/// Set by a person or an outer tool for other programs, and wrong for a build.
const LEFTOVERS: [&str; 8] = [
    "NODE_ENV",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "RUST_BACKTRACE",
    "RUST_LIB_BACKTRACE",
    "VIRTUAL_ENV",
];

/// A tool that people have to install themselves.
#[derive(Clone, Copy, Debug)]
pub struct Tool {
    /// The program.
    pub name: &'static str,
    /// How it is installed.
    pub install: &'static str,
    /// The oldest version that will do, major and minor; `None` for any.
    pub(super) least: Option<(u32, u32)>,
}

impl Tool {
    /// The tools that a build in this language needs besides those that it installs; none for Rust,
    /// whose toolchain is looked at by itself.
    #[must_use]
    pub fn of(language: Language) -> &'static [Self] {
        match language {
            Language::Rust => &[],
            Language::JavaScript => &super::javascript::TOOLS,
            Language::Python => &super::python::TOOLS,
        }
    }

    /// The version that a build in a folder would find.
    ///
    /// # Errors
    /// In words: why it would be refused.
    pub fn look(self, folder: &Path) -> Result<String, String> {
        match self.version(folder) {
            Ok(version) => Ok(version),
            Err(BuildError::NoTool { source, .. }) => Err(format!("it cannot be run: {source}")),
            Err(BuildError::OldTool { found, least, .. }) => Err(format!(
                "its version is {found}, and a build needs {least} or newer"
            )),
            Err(BuildError::Unexpected { message, .. }) => Err(message),
            Err(other) => Err(other.to_string()),
        }
    }

    /// Turns a failed start into an error that says how to install it.
    pub(super) fn missing(self) -> impl FnOnce(io::Error) -> BuildError {
        move |source| BuildError::NoTool {
            tool: self.name,
            install: self.install,
            source,
        }
    }

    /// Refuses a tool that is missing or too old.
    pub(super) fn check(self, folder: &Path) -> Result<(), BuildError> {
        self.version(folder).map(|_| ())
    }

    fn version(self, folder: &Path) -> Result<String, BuildError> {
        let least = self.least.unwrap_or_default();
        let output = command(self.name, folder)
            .arg("--version")
            .stdout(Stdio::piped())
            .output()
            .map_err(self.missing())?;
        let said = String::from_utf8_lossy(&output.stdout);
        let found = said.trim().rsplit(' ').next().unwrap_or_default();
        match version(found) {
            Some(version) if version >= least => Ok(found.trim_start_matches('v').to_owned()),
            Some(_) => Err(BuildError::OldTool {
                tool: self.name,
                found: found.trim_start_matches('v').to_owned(),
                least: format!("{}.{}", least.0, least.1),
                install: self.install,
            }),
            None => Err(BuildError::Unexpected {
                tool: self.name,
                message: format!("`--version` gave {:?}", said.trim()),
            }),
        }
    }
}

/// Major and minor of a version such as `v20.1.0`.
fn version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.trim_start_matches('v').split('.').map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

/// A tool that works in a folder. What it prints is for people: our own stdout is for programs.
pub(super) fn command(program: impl AsRef<OsStr>, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(io::stderr());
    for name in LEFTOVERS {
        command.env_remove(name);
    }
    command
}

/// Runs a command to its end; `shown` is how a person would write it.
pub(super) fn run(command: &mut Command, tool: Tool, shown: &str) -> Result<(), BuildError> {
    let status = command.status().map_err(tool.missing())?;
    match status.success() {
        true => Ok(()),
        false => Err(failed(shown)),
    }
}

/// Runs a command that names places by other paths than a person knows: each first text is replaced
/// by the second in what it says.
pub(super) fn run_renamed(
    command: &mut Command,
    tool: Tool,
    shown: &str,
    renamed: &[(&str, &str)],
) -> Result<(), BuildError> {
    let output = command
        .stderr(Stdio::piped())
        .output()
        .map_err(tool.missing())?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let rename = |text: String, (from, to): &(&str, &str)| text.replace(from, to);
    let said = renamed.iter().fold(said, rename);
    // Words that cannot be written are no reason to fail: nobody is there to read them.
    let _ = io::stderr().write_all(said.as_bytes());
    match output.status.success() {
        true => Ok(()),
        false => Err(failed(shown)),
    }
}

fn failed(shown: &str) -> BuildError {
    BuildError::Failed {
        command: shown.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_tools_tell_them() {
        for (said, expected) in [
            ("v20.20.2", Some((20, 20))),
            ("3.11.7", Some((3, 11))),
            ("3.14.0rc1", Some((3, 14))),
            ("0.25.1", Some((0, 25))),
            ("", None),
            ("three", None),
        ] {
            assert_eq!(version(said), expected, "{said}");
        }
    }
}
