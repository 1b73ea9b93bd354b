//! Does what a refusal says: the command that it names is run as a person would paste it, by a shell.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::str::FromStr;

use openprogram_core::failure::Failure;
use openprogram_core::grant::{Grant, GrantKind, GrantTextError, Grants};
use serde_json::Value;

use crate::cli::{Outcome, Project, outcome};

/// What stands before the command in the words for people, up to the end of the line.
const HINT: &str = "to allow it: ";

impl Project {
    /// Runs the command that a refused command named.
    ///
    /// # Panics
    /// When it named none, or its words and its JSON name different ones.
    #[must_use]
    pub fn allow_as_told(&self, refusal: &Outcome) -> Outcome {
        let mut lines = refusal.stderr.lines();
        let hint = lines.find_map(|line| Some(line.split_once(HINT)?.1));
        let hint = hint.unwrap_or_else(|| panic!("no command is named: {refusal:?}"));
        if let Ok(told) = serde_json::from_str::<Value>(&refusal.stdout) {
            assert_eq!(
                told["error"]["details"]["how_to_allow"], hint,
                "{refusal:?}"
            );
        }
        self.run_as_pasted(hint)
    }

    /// Runs a command line as a person pastes it into a shell.
    ///
    /// # Panics
    /// When it does not begin with `openprogram`, or there is no shell.
    #[must_use]
    pub fn run_as_pasted(&self, line: &str) -> Outcome {
        assert!(line.starts_with("openprogram "), "{line}");
        let folder = self.base().join("bin");
        fs::create_dir_all(&folder).expect("a folder for the program");
        let program = folder.join("openprogram");
        if !program.exists() {
            link(self.binary(), &program);
        }
        let mut command = self.command_of(Path::new("/bin/sh"));
        // First, so that no other program of that name is found; the toolchain stays behind it.
        let rest = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{rest}", folder.display()));
        command.args(["-c", line]);
        outcome(command.output().expect("a shell"))
    }
}

#[cfg(unix)]
fn link(binary: &Path, name: &Path) {
    std::os::unix::fs::symlink(binary, name).expect("a link to the binary");
}

#[cfg(not(unix))]
fn link(binary: &Path, name: &Path) {
    fs::copy(binary, name).expect("a copy of the binary");
}

/// The words of a command line, split by a shell.
///
/// # Panics
/// When there is no shell, or it does not understand the line.
#[must_use]
pub fn words(line: &str) -> Vec<String> {
    let script = format!("openprogram() {{ printf '%s\\0' \"$@\"; }}\n{line}");
    let output = Command::new("/bin/sh").args(["-c", &script]).output();
    let output = output.expect("a shell");
    assert!(output.status.success(), "{line}: {output:?}");
    let text = String::from_utf8(output.stdout).expect("text");
    let words = text.split_terminator('\0').map(str::to_owned);
    words.collect()
}

/// The grants with the one more that a refusal asks for. For hosts that have no command line.
///
/// # Panics
/// When the refusal names no command that gives one grant.
#[must_use]
pub fn with_what_it_takes(grants: &Grants, refusal: &Failure) -> Grants {
    let how = refusal.details.get("how_to_allow").and_then(Value::as_str);
    let how = how.unwrap_or_else(|| panic!("no command is named: {refusal:?}"));
    let words = words(how);
    let [command, _, option, line @ ..] = &words[..] else {
        panic!("`{how}` gives no grant");
    };
    assert_eq!(command, "grant", "{how}");
    let kind = GrantKind::ALL
        .into_iter()
        .find(|kind| kind.option() == option);
    let kind = kind.unwrap_or_else(|| panic!("`{how}` gives no grant"));
    let mut grants = grants.clone();
    let line = line.first().map_or("true", String::as_str);
    match kind {
        GrantKind::Dirs => grants.dirs.push(read(line)),
        GrantKind::Env => grants.env.push(read(line)),
        GrantKind::Http => grants.http.push(read(line)),
        GrantKind::Secrets => grants.secrets.push(read(line)),
        GrantKind::Models => grants.models.push(read(line)),
        GrantKind::Calls => grants.calls.push(read(line)),
        GrantKind::AskUser => grants.ask_user = true,
    }
    grants
}

fn read<T: FromStr<Err = GrantTextError>>(line: &str) -> Grant<T> {
    line.parse()
        .unwrap_or_else(|error| panic!("`{line}`: {error}"))
}

#[cfg(test)]
mod tests {
    use openprogram_core::grant::grant_command;

    use super::*;

    #[test]
    fn a_shell_reads_every_grant_as_it_was_meant() {
        for (kind, line) in [
            (GrantKind::Dirs, "ro:it's here/$HOME `x` \\ \"q\" *"),
            (GrantKind::Http, "POST,PUT https://a.b:8/c?d"),
            (GrantKind::Secrets, "KEY=https://a.b/ x-key: P"),
            (GrantKind::Models, "a:b=5"),
            (GrantKind::Calls, "ask a:b/c.d@0.1.0"),
            (GrantKind::Env, "\u{e9}; rm -rf ~ & #"),
        ] {
            let expected = ["grant", "it-is", kind.option(), line];
            assert_eq!(words(&grant_command("it-is", kind, line)), expected);
        }
        let ask = grant_command("a", GrantKind::AskUser, "true");
        assert_eq!(words(&ask), ["grant", "a", "--ask-user"]);
    }
}
