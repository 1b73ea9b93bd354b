//! What a person sees while a command runs: on a terminal, in a pipe, with and without colours.

use std::io::Read as _;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use openprogram_tests::cli::{Outcome, Project};

use super::project;

const OPTIONS: &str = r#"{"form": "dict", "entries": [
    {"key": "one", "handler": {"kind": "value", "value": 1}},
    {"key": "two", "handler": {"kind": "value", "value": 2}}]}"#;
const DECIDE: [&str; 5] = ["decide", "--options", "options.json", "--prompt", "Which?"];

/// A server that takes requests, thinks for a while, and hangs up. It ends with the test.
pub(super) struct Silent {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
}

impl Silent {
    pub(super) fn start(thinks: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        std::thread::spawn(move || {
            for client in listener.incoming() {
                if over.load(Ordering::Relaxed) {
                    break;
                }
                let Ok(mut client) = client else { continue };
                // What is asked does not matter.
                let _ = client.read(&mut [0; 4_096]);
                std::thread::sleep(thinks);
            }
        });
        Self { address, is_over }
    }

    /// A project whose model is on this server; it is asked three times with short sleeps.
    pub(super) fn project(&self) -> Project {
        let file = format!(
            "model = \"home:m\"\n[providers.home]\nprotocol = \"openai\"\n\
             base_url = \"http://{}/v1\"\n",
            self.address
        );
        project()
            .file("openprogram.toml", file)
            .file("options.json", OPTIONS)
            .variable("OPENPROGRAM_MAX_RETRIES", "3")
            .variable("OPENPROGRAM_RETRY_BACKOFF_BASE", "0.01")
    }
}

impl Drop for Silent {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // Wakes the thread.
        let _ = TcpStream::connect(self.address);
    }
}

/// A project whose model answers with terminal commands around its pick.
fn hostile() -> Project {
    let reply = r#""\u001b]0;owned\u0007\u001b[2J\u009b31mI pick {\"call\": \"two\"}\u001b[""#;
    project()
        .file("openprogram.toml", "model = \"script:replies.jsonl\"\n")
        .file("options.json", OPTIONS)
        .file("replies.jsonl", format!("{reply}\n"))
}

fn escapes(told: &Outcome) -> usize {
    format!("{}{}", told.stdout, told.stderr)
        .matches('\u{1b}')
        .count()
}

#[test]
fn a_server_that_does_not_answer_is_no_silence_in_a_log() {
    let server = Silent::start(Duration::ZERO);
    let told = server.project().run(&DECIDE);
    assert_eq!(told.code, 4, "{told:?}");
    for (number, line) in told.stderr.lines().take(2).enumerate() {
        let begin = format!("warning: try {} of 3 of home:m failed (", number + 1);
        assert!(
            line.starts_with(&begin) && line.contains("again in"),
            "{told:?}"
        );
    }
    assert_eq!(told.stderr.matches("warning: ").count(), 2, "{told:?}");
    assert_eq!(escapes(&told), 0, "{told:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_terminal_shows_what_is_running_and_for_how_long() {
    let server = Silent::start(Duration::from_millis(1_600));
    let project = server.project().variable("TERM", "xterm-256color");
    let told = project.run_on_terminal(&DECIDE);
    assert_eq!(told.code, 4, "{told:?}");
    for part in [
        "… asking home:m",
        "· asking home:m, 1 s",
        "… try 1 of 3 of home:m failed (",
        "· asking home:m, try 2 of 3",
        "\r\u{1b}[K",
        "\u{1b}[1;31merror:\u{1b}[0m",
    ] {
        assert!(told.stdout.contains(part), "`{part}`: {told:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_terminal_that_cannot_is_sent_no_control_characters() {
    let server = Silent::start(Duration::from_millis(1_100));
    let project = server.project().variable("TERM", "dumb");
    let told = project.run_on_terminal(&DECIDE);
    assert!(told.stdout.contains("… asking home:m"), "{told:?}");
    assert_eq!(escapes(&told), 0, "{told:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_model_cannot_drive_the_terminal() {
    let project = hostile().variable("TERM", "xterm-256color");
    let told = project.run_on_terminal(&DECIDE);
    assert_eq!(told.code, 0, "{told:?}");
    assert!(told.stdout.contains("✓ picked two"), "{told:?}");
    for part in ["owned", "\u{1b}[2J", "\u{1b}]", "\u{9b}", "\u{7}"] {
        assert!(!told.stdout.contains(part), "{part:?}: {told:?}");
    }
    let coloured = escapes(&told);
    assert!(coloured > 0, "{told:?}");
    let plain = hostile()
        .variable("TERM", "xterm-256color")
        .variable("NO_COLOR", "1");
    assert_eq!(escapes(&plain.run_on_terminal(&DECIDE)), 0);
}

/// Lines as this program says them, and one that would go on where they stand on a terminal of 80
/// columns.
#[cfg(target_os = "linux")]
fn fake_words() -> String {
    format!(
        "Done.\nerror: `a` may not call `b:c/d.e`\nhint: to allow it: openprogram grant a --call \
         b:c/d.e\napproval needed by b:c/d.e\nallow this once? [y/N] {}hint: openprogram revoke a",
        "x".repeat(56)
    )
}

#[cfg(target_os = "linux")]
#[test]
fn every_type_gives_words_that_pass_for_none_of_ours() {
    let project = project()
        .guests(&["every-type", "caller"])
        .file(
            "openprogram.toml",
            "[components]\nevery-type = \"every-type.wasm\"\ncaller = \"caller.wasm\"\n",
        )
        .variable("TERM", "dumb");
    let words = fake_words();
    let value = format!("value={words}");
    let echo = ["run", "every-type.echo-string", "--arg", &value];
    let list = format!("value={}", serde_json::json!([words]));
    let listed = ["run", "every-type.echo-list", "--arg", &list];
    let name = serde_json::json!({"name": words, "arguments": {}}).to_string();
    let failing = ["run", "caller.call", "--args", &name];
    let mut shown = String::new();
    for arguments in [&echo, &listed, &failing] {
        let told = project.run_on_terminal(arguments);
        let lines = told.stdout.replace("\r\n", "\n");
        for line in lines.lines() {
            let is_ours = |begin: &&str| line.starts_with(*begin);
            let fakes = [
                "hint: to allow",
                "hint: openprogram",
                "approval",
                "allow",
                "error: `a`",
            ];
            assert!(!fakes.iter().any(is_ours), "{line}");
            assert!(line.chars().count() < 80, "{line}");
        }
        shown.push_str(&project.shown(&lines));
    }
    insta::assert_snapshot!("words_on_a_terminal", shown);
    // Through a pipe it is the data.
    assert_eq!(project.run(&echo).stdout, format!("{words}\n"));
}

#[test]
fn a_pipe_is_coloured_only_when_that_is_asked_for() {
    let show = ["show", "op-1"];
    for (variables, expected) in [
        (&[][..], 0),
        (&[("TERM", "xterm-256color")][..], 0),
        // One before and one after each of the two labels.
        (&[("CLICOLOR_FORCE", "1")][..], 4),
        (&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")][..], 0),
    ] {
        let project = variables.iter().fold(project(), |project, (name, value)| {
            project.variable(name, value)
        });
        let told = project.run(&show);
        assert_eq!(escapes(&told), expected, "{variables:?}: {told:?}");
    }
}
