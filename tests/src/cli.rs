//! The command line as a person uses it: a project folder, a clean environment, real processes.
//!
//! Nothing is inherited: no variable, no home, no project file above the folder. Only a command
//! that builds gets the way to the toolchain.

use std::ffi::OsStr;
use std::fs;
#[cfg(target_os = "linux")]
use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::guests;
use crate::snapshot::normalised;

/// Variables by which cargo and rustc are found.
const TOOLCHAIN: [&str; 4] = ["PATH", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"];

/// What a command that is refused may take; it takes some hundredths of a second.
const TIME_MAX: Duration = Duration::from_secs(60);
/// The memory that it may have for itself: room for the largest file that is read, twice.
const MEMORY_KIB_MAX: u64 = 1 << 20;

/// A project of a person who has nothing else on the machine.
#[derive(Debug)]
pub struct Project {
    binary: PathBuf,
    base: TempDir,
    folder: Option<PathBuf>,
    builds: bool,
    variables: Vec<(String, String)>,
}

/// What a command did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Its exit code; 128 and the number of the signal when it was killed.
    pub code: i32,
    /// Data.
    pub stdout: String,
    /// Words for people.
    pub stderr: String,
}

impl Project {
    /// An empty project folder for this binary, with a home beside it.
    ///
    /// # Panics
    /// When the system gives no temporary folder.
    #[must_use]
    pub fn new(binary: &str) -> Self {
        let base = tempfile::tempdir().expect("a temporary folder");
        for folder in ["home", "project"] {
            fs::create_dir(base.path().join(folder)).expect("an empty folder");
        }
        Self {
            binary: PathBuf::from(binary),
            base,
            folder: None,
            builds: false,
            variables: Vec::new(),
        }
    }

    /// Writes a file of the project.
    ///
    /// # Panics
    /// When that is not possible.
    #[must_use]
    pub fn file(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("below the project")).expect("its folder");
        fs::write(path, content).expect("a file of the project");
        self
    }

    /// Puts guests or samples into the project, each as `NAME.wasm`.
    #[must_use]
    pub fn guests(self, names: &[&str]) -> Self {
        names.iter().fold(self, |project, name| {
            project.file(&format!("{name}.wasm"), guests::bytes(name))
        })
    }

    /// Lets commands find the Rust toolchain of the person who runs the tests.
    #[must_use]
    pub fn with_toolchain(mut self) -> Self {
        self.builds = true;
        self
    }

    /// Sets a variable for commands.
    #[must_use]
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Runs commands in this folder, whose project they find, and keeps their state elsewhere.
    #[must_use]
    pub fn at(mut self, folder: PathBuf) -> Self {
        self.folder = Some(folder);
        self
    }

    /// The project folder.
    #[must_use]
    pub fn folder(&self) -> PathBuf {
        self.base.path().join("project")
    }

    /// A file of the project.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }

    /// Runs `openprogram` with these arguments to its end.
    ///
    /// # Panics
    /// When the binary cannot be started or writes what is not text.
    #[must_use]
    pub fn run(&self, arguments: &[&str]) -> Outcome {
        outcome(self.command(arguments).output().expect("the binary"))
    }

    /// Runs `openprogram` as [`Project::run`] does, within a minute and a gigabyte of memory.
    /// Arguments need not be text.
    ///
    /// # Panics
    /// When it does not end in time.
    #[must_use]
    pub fn run_bounded(&self, arguments: &[impl AsRef<OsStr>]) -> Outcome {
        let mut command = self.command_of(Path::new("/bin/sh"));
        let bound = format!("ulimit -d {MEMORY_KIB_MAX} && exec \"$0\" \"$@\"");
        command
            .arg("-c")
            .arg(bound)
            .arg(&self.binary)
            .args(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().expect("the binary");
        let id = child.id().to_string();
        let (sender, receiver) = mpsc::channel();
        let waiting = thread::spawn(move || sender.send(child.wait_with_output()));
        let Ok(output) = receiver.recv_timeout(TIME_MAX) else {
            let killed = Command::new("kill").args(["-9", &id]).status();
            let shown: Vec<_> = arguments.iter().map(AsRef::as_ref).collect();
            panic!("{shown:?} takes longer than {TIME_MAX:?}; killed: {killed:?}");
        };
        // The thread has nothing left to do once it has sent.
        let _ = waiting.join();
        outcome(output.expect("the binary"))
    }

    /// Runs `openprogram` on a terminal of its own, whose whole output is in `stdout` of the outcome.
    ///
    /// # Panics
    /// When there is no command `script` of util-linux, which makes terminals.
    #[cfg(target_os = "linux")]
    #[must_use]
    pub fn run_on_terminal(&self, arguments: &[&str]) -> Outcome {
        self.run_typing("", arguments)
    }

    /// The same with something that the person types at once.
    ///
    /// # Panics
    /// As [`Project::run_on_terminal`].
    #[cfg(target_os = "linux")]
    #[must_use]
    pub fn run_typing(&self, typed: &str, arguments: &[&str]) -> Outcome {
        self.run_on_terminal_typing(arguments, &[("", typed)])
    }

    /// The same with a person who waits for texts on the screen and types an answer to each.
    ///
    /// # Panics
    /// When there is no command `script` of util-linux, which makes terminals.
    #[cfg(target_os = "linux")]
    #[must_use]
    pub fn run_on_terminal_typing(&self, arguments: &[&str], typed: &[(&str, &str)]) -> Outcome {
        let quoted = |word: &str| format!("'{}'", word.replace('\'', "'\\''"));
        let binary = self.binary.display().to_string();
        let words = std::iter::once(binary.as_str()).chain(arguments.iter().copied());
        let line: Vec<_> = words.map(quoted).collect();
        let mut command = self.command_of(Path::new("script"));
        command.args([
            "--quiet",
            "--return",
            "--command",
            &line.join(" "),
            "/dev/null",
        ]);
        // Its input stays open: an end of it would be typed into the terminal.
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn().expect("`script`");
        let mut input = child.stdin.take().expect("`script`");
        let mut shown = Vec::new();
        let mut screen = child.stdout.take().expect("`script`");
        for (awaited, answer) in typed {
            wait_for(&mut screen, &mut shown, awaited);
            // A program that has ended reads nothing; its output says so.
            let _ = input.write_all(answer.as_bytes());
        }
        screen.read_to_end(&mut shown).expect("the terminal");
        let output = child.wait_with_output().expect("`script`");
        drop(input);
        Outcome {
            code: code(output.status),
            stdout: String::from_utf8_lossy(&shown).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Runs `openprogram` with this text as its input, through a pipe.
    ///
    /// # Panics
    /// When the binary cannot be started.
    #[must_use]
    pub fn run_with_input(&self, arguments: &[&str], input: &str) -> Outcome {
        let mut child = self.start_piped(arguments);
        let mut pipe = child.stdin.take().expect("the input of the binary");
        // One that has ended reads nothing; its output says so.
        let _ = pipe.write_all(input.as_bytes());
        drop(pipe);
        outcome(child.wait_with_output().expect("the binary"))
    }

    /// Starts `openprogram` with all its inputs and outputs as pipes; whoever starts it also ends it.
    ///
    /// # Panics
    /// When the binary cannot be started.
    #[must_use]
    pub fn start_piped(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("the binary")
    }

    /// Starts `openprogram` with these arguments; whoever starts it also ends it.
    ///
    /// # Panics
    /// When the binary cannot be started.
    #[must_use]
    pub fn start(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("the binary")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.command_of(&self.binary);
        command.args(arguments);
        command
    }

    /// The file that `openprogram` is.
    pub(crate) fn binary(&self) -> &Path {
        &self.binary
    }

    /// The folder that holds the project folder, the home, and what tests put there.
    pub(crate) fn base(&self) -> &Path {
        self.base.path()
    }

    /// Any program in the place and with the environment of a command.
    pub(crate) fn command_of(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", self.base.path().join("home"));
        command.stdin(Stdio::null());
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        match &self.folder {
            None => command.current_dir(self.folder()),
            Some(folder) => {
                command.current_dir(folder);
                command.env("OPENPROGRAM_HOME", self.base.path().join("state"))
            }
        };
        if self.builds {
            for name in TOOLCHAIN {
                command.envs(std::env::var_os(name).map(|value| (name, value)));
            }
            // A toolchain that stands in the home of the person is not found from another home.
            if let Some(home) = std::env::var_os("HOME").map(PathBuf::from) {
                for (name, folder) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
                    if std::env::var_os(name).is_none() {
                        command.env(name, home.join(folder));
                    }
                }
            }
        }
        command
    }

    /// A text with everything that differs from run to run replaced.
    #[must_use]
    pub fn shown(&self, text: &str) -> String {
        let folder = self.folder();
        let real = folder.canonicalize().unwrap_or_else(|_| folder.clone());
        let root = guests::root();
        let root = root.canonicalize().unwrap_or(root);
        let replace =
            |text: String, path: &Path, word: &str| text.replace(&path.display().to_string(), word);
        let text = replace(text.to_owned(), &real, "<project>");
        let text = replace(text, &folder, "<project>");
        normalised(&replace(text, &root, "<repository>"))
    }
}

impl Outcome {
    /// The data as JSON.
    ///
    /// # Panics
    /// When it is not JSON; the panic shows all that the command wrote.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Exit code, data and words as one text, for a snapshot.
    #[must_use]
    pub fn shown(&self, project: &Project) -> String {
        let Self {
            code,
            stdout,
            stderr,
        } = self;
        let text = format!("exit {code}\n--- stdout\n{stdout}--- stderr\n{stderr}");
        project.shown(&text)
    }
}

pub(crate) fn outcome(output: Output) -> Outcome {
    let text = |bytes| String::from_utf8(bytes).expect("the binary writes text");
    Outcome {
        code: code(output.status),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

#[cfg(unix)]
fn code(status: std::process::ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt as _;
    let signal = || 128 + status.signal().unwrap_or(0);
    status.code().unwrap_or_else(signal)
}

#[cfg(not(unix))]
fn code(status: std::process::ExitStatus) -> i32 {
    status.code().unwrap_or(128)
}

/// Reads the screen until this text is on it once more than before, or until it ends.
#[cfg(target_os = "linux")]
fn wait_for(screen: &mut impl Read, shown: &mut Vec<u8>, awaited: &str) {
    let start = shown.len();
    let mut byte = [0];
    while !shown[start..].ends_with(awaited.as_bytes()) {
        match screen.read(&mut byte) {
            Ok(1) => shown.push(byte[0]),
            _ => return,
        }
    }
}
