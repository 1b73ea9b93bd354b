//! A chat, as a person types it into a terminal and as a script pipes it.

use std::io::{BufRead as _, BufReader, Write as _};
#[cfg(target_os = "linux")]
use std::time::Duration;

use openprogram_core::Json;
use openprogram_tests::cli::{Outcome, Project};

use super::project;
#[cfg(target_os = "linux")]
use super::terminal::Silent;

/// A project whose model answers with these replies.
fn chatting(replies: &[&str]) -> Project {
    let project = project()
        .guests(&["caller", "asker"])
        .file(
            "openprogram.toml",
            "model = \"script:replies.jsonl\"\n[components.caller]\nsource = \"caller.wasm\"\n\
             [components.asker]\nsource = \"asker.wasm\"\nask_user = true\n",
        )
        .file("replies.jsonl", replies.join("\n") + "\n")
        .variable("TERM", "dumb");
    let given = project.run(&["grant", "asker", "--yes"]);
    assert_eq!(given.code, 0, "{given:?}");
    project
}

/// The text of what a scripted model replies.
fn text(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

#[test]
fn a_pipe_is_one_turn_for_each_line_of_one_session() {
    let project = chatting(&[&text("Hello!"), &text("You said hi.")]);
    let told = project.run_with_input(&["chat"], "hi\n\nwhat did \\\nI say?\n/session\n");
    assert_eq!(
        (told.code, &*told.stdout),
        (0, "Hello!\nYou said hi.\n"),
        "{told:?}"
    );
    let sessions: Json = project.run(&["sessions", "--json"]).json();
    let sessions = sessions["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), 1, "{sessions:?}");
    let session = sessions[0]["session"].as_str().unwrap();
    assert_eq!(told.stderr.matches(session).count(), 2, "{told:?}");
    let shown = project.run(&["show", session, "--json"]).stdout;
    assert!(shown.contains("what did \\nI say?"), "{shown}");
}

#[test]
fn a_turn_that_fails_is_told_and_does_not_end_the_chat() {
    let failing = r#"{"error": {"reason": "auth", "message": "the key is wrong"}}"#;
    let project = chatting(&[failing, &text("Better.")]);
    let told = project.run_with_input(&["chat"], "one\n/fly\ntwo\nthree\n");
    assert_eq!((told.code, &*told.stdout), (0, "Better.\n"), "{told:?}");
    for part in ["error: ", "there is no command `/fly`"] {
        assert!(told.stderr.contains(part), "`{part}`: {told:?}");
    }
    // The script is over with the third turn.
    assert_eq!(told.stderr.matches("error: ").count(), 2, "{told:?}");
}

#[test]
fn the_model_has_a_toolset_of_the_project_or_none_that_is_not_there() {
    let project = chatting(&[&text("one")]);
    let file = std::fs::read_to_string(project.path("openprogram.toml")).unwrap();
    let sets = "[toolsets]\nsmall = [\"caller.leaf\", \"gone\"]\n";
    let project = project.file("openprogram.toml", format!("{file}{sets}"));
    let typed = "/tools\n/toolset none\n/toolset small\nfirst\n/quit\n";
    let told = project.run_with_input(&["chat", "--toolset", "small"], typed);
    for part in [
        "leaf()",
        "there is no function `gone`",
        "the toolset is none now",
        "the toolset is small now",
        "error: the toolset `small` of the project: there is no function `gone`",
    ] {
        assert!(told.stderr.contains(part), "`{part}`: {told:?}");
    }
    let told = project.run(&["chat", "--toolset", "large"]);
    assert_eq!(told.code, 2, "{told:?}");
    let unknown = "there is no toolset `large`; there are `full`, `none`, `small`";
    assert!(told.stderr.contains(unknown), "{told:?}");
}

#[test]
fn commands_change_what_holds_from_the_next_turn_on() {
    let project = chatting(&[&text("one"), &text("two"), &text("three")]);
    let typed = "/model\n/toolset\n/toolset none\n/tools\n/toolset full\n/toolset all\n/stop\n\
                 first\n/new\n/session\nsecond\n/session op-0000000000000001\n/session nonsense\n\
                 /model nonsense\n/help\n/quit\nnever\n";
    let told = project.run_with_input(&["chat"], typed);
    assert_eq!(told.stdout, "one\ntwo\n", "{told:?}");
    insta::assert_snapshot!("chat_commands", told.shown(&project));
    let sessions: Json = project.run(&["sessions", "--json"]).json();
    let sessions = sessions["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), 2, "{sessions:?}");

    let first = sessions[1]["session"].as_str().unwrap();
    let project = project.file("replies.jsonl", text("again") + "\n");
    let told = project.run_with_input(&["chat", "--session", first], "third\n");
    assert!(told.stderr.contains(first), "{told:?}");
    let told = project.run(&["chat", "--session", "op-0000000000000001"]);
    assert_eq!(told.code, 2, "{told:?}");
}

#[test]
fn a_chat_without_a_model_that_writes_says_how_to_set_one() {
    let none = project().run(&["chat"]);
    assert_eq!(none.code, 4, "{none:?}");
    assert!(none.stderr.contains("--model PROVIDER:MODEL"), "{none:?}");
    let picks = super::project_with(&[]).run(&["chat"]);
    assert_eq!(picks.code, 4, "{picks:?}");
    let part = "`component:lexical-model` does not write text";
    assert!(picks.stderr.contains(part), "{picks:?}");
}

#[test]
fn a_program_reads_every_step_on_a_line_of_its_own() {
    let calls = r#"{"text": "Let me.", "tool_calls": [{"name": "can", "arguments": {}}]}"#;
    let project = chatting(&[calls, &text("Nobody.")]);
    let told = project.run_with_input(&["chat", "--json"], "can you ask?\nmore?\n");
    assert_eq!(told.code, 0, "{told:?}");
    let lines: Vec<Json> = told
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let types: Vec<_> = lines
        .iter()
        .map(|line| line["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        types,
        [
            "request",
            "text",
            "tool_use",
            "call_started",
            "call_ended",
            "tool_result",
            "request",
            "text",
            "reply",
            "request",
            "error"
        ],
        "{told:?}"
    );
    assert_eq!(lines[8]["text"], "Nobody.");
    assert_eq!(lines[8]["stop"], "end");
    assert_eq!(lines[5]["text"], "false");
    assert!(lines[8]["session"].as_str().unwrap().starts_with("op-"));
    assert_eq!(lines[10]["error"]["code"], "llm");
}

/// The objects of what a chat printed for a program, one on each line.
fn events(told: &Outcome) -> Vec<Json> {
    let lines = told.stdout.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("`{line}`: {e}")))
        .collect()
}

#[test]
fn a_program_is_told_on_one_line_why_a_chat_cannot_begin() {
    let project = chatting(&[&text("one")]);
    for (args, code, exit) in [
        (&["--toolset", "large"][..], "invalid-argument", 2),
        (&["--session", "op-0000000000000001"], "not-found", 2),
        (&["--session", "nonsense"], "invalid-argument", 2),
        (&["--model", "nobody:m"], "no-provider", 4),
        (
            &["--context", "a=1", "--context", "a=2"],
            "invalid-argument",
            2,
        ),
    ] {
        let told = project.run(&[&["chat", "--json"][..], args].concat());
        assert_eq!(told.code, exit, "{told:?}");
        let [event] = &events(&told)[..] else {
            panic!("{told:?}");
        };
        assert_eq!(
            (&event["type"], &event["error"]["code"]),
            (&"error".into(), &code.into())
        );
        assert!(event["session"].is_null(), "{event}");
    }
}

#[test]
fn a_program_is_told_of_each_command_that_was_not_done() {
    let project = chatting(&[&text("one")]);
    let typed = "/fly\n/toolset large\n/session nonsense\n/model nobody:m\n/file none.png\n/thinking \
                 deep\n/web-search on\n/toolset none\ngo\n";
    let told = project.run_with_input(&["chat", "--json"], typed);
    assert_eq!(told.code, 0, "{told:?}");
    let events = events(&told);
    let refused: Vec<_> = events
        .iter()
        .take_while(|event| event["type"] == "refused_command")
        .map(|event| event["error"]["code"].as_str().unwrap())
        .collect();
    let wrong = "invalid-argument";
    let expected = [
        wrong,
        wrong,
        wrong,
        "no-provider",
        wrong,
        wrong,
        "no-provider",
    ];
    assert_eq!(refused, expected, "{told:?}");
    assert_eq!(events.last().unwrap()["text"], "one");
}

#[test]
fn a_model_is_not_offered_what_can_only_fail_for_want_of_a_hidden_value() {
    let reply = text("Done.");
    let calls = r#"{"tool_calls": [{"name": "stamp", "arguments": {}}]}"#;
    let project = project()
        .guests(&["chooser"])
        .file(
            "openprogram.toml",
            "model = \"script:replies.jsonl\"\n[components]\nchooser = \"chooser.wasm\"\n",
        )
        .file("replies.jsonl", format!("{calls}\n{reply}\n"));
    let why = "left out: `test:chooser/guest.stamp`: `secret`: hidden parameter, and the context has no \
               value for it; give it with `--context secret=VALUE`";
    let told = project.run_with_input(&["chat"], "/tools\nstamp it\n");
    assert_eq!(told.stderr.matches(why).count(), 2, "{told:?}");
    let tools = |told: &Outcome| {
        let session = told
            .stderr
            .lines()
            .rev()
            .find_map(|line| line.strip_prefix("session "));
        let shown = project.run(&["show", session.unwrap(), "--json"]).json();
        let nodes = shown["nodes"].as_array().unwrap().clone();
        let asked = nodes.iter().find(|node| node["kind"] == "llm").unwrap();
        asked["facts"]["tools"].to_string()
    };
    assert!(!tools(&told).contains("\"stamp\""), "{}", tools(&told));
    let given = ["chat", "--context", "secret=MY-SECRET"];
    let told = project.run_with_input(&given, "/tools\nstamp it\n");
    assert!(!told.stderr.contains("left out"), "{told:?}");
    assert!(tools(&told).contains("\"stamp\""), "{}", tools(&told));
    let lacking = project.run(&["chat", "--toolset", "none"]);
    assert!(!lacking.stderr.contains("left out"), "{lacking:?}");
}

#[cfg(target_os = "linux")]
fn typed(project: &Project, typed: &[(&str, &str)]) -> Outcome {
    let told = project.run_on_terminal_typing(&["chat"], typed);
    assert_eq!(told.code, 0, "{told:?}");
    told
}

#[cfg(target_os = "linux")]
#[test]
fn a_terminal_shows_the_reply_once_and_its_calls_and_asks_in_place() {
    let arguments = r#"{"prompt": "Which colour?", "options": ["Red", "Blue"]}"#;
    let arguments: Json = serde_json::from_str(arguments).unwrap();
    let call = serde_json::json!({
        "tool_calls": [{"name": "which", "arguments": arguments}],
    });
    let pay = r#"{"tool_calls": [{"name": "pay", "arguments": {"amount": 4}}]}"#;
    let project = chatting(&[&call.to_string(), pay, &text("Blue it is.")]);
    let told = typed(
        &project,
        &[
            ("> ", "ask me\n"),
            ("/decline)> ", "2\n"),
            ("allow this? [y/N/always/never] ", "y\n"),
            ("tokens; ", ""),
            ("> ", "/quit\n"),
        ],
    );
    for part in [
        "question from a component: asker",
        "⚙ which",
        "✓ Blue",
        "approval needed by hostile:caller/guest.pay",
        "session op-",
    ] {
        assert!(told.stdout.contains(part), "`{part}`: {told:?}");
    }
    assert_eq!(told.stdout.matches("Blue it is.").count(), 1, "{told:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_stops_the_turn_and_twice_ends_the_chat() {
    let ask = r#"{"tool_calls": [{"name": "sure", "arguments": {"prompt": "Sure?"}}]}"#;
    let project = chatting(&[ask, &text("Here.")]);
    // The shell around the command ends by Ctrl-C in the end, with a code of its own.
    let told = project.run_on_terminal_typing(
        &["chat"],
        &[
            ("> ", "ask me\n"),
            ("/decline)> ", "\u{3}"),
            ("the run was cancelled", ""),
            ("> ", "still there?\n"),
            ("Here.", ""),
            ("tokens; ", ""),
            ("> ", "half a line\u{3}"),
            ("ends the chat", ""),
            ("> ", "\u{3}"),
        ],
    );
    assert!(told.stdout.contains("(withdrawn)"), "{told:?}");
    assert!(told.stdout.contains("session op-"), "{told:?}");
}

/// Whoever waits for a model may stop the turn, or type the next one already.
#[cfg(target_os = "linux")]
#[test]
fn what_is_typed_while_a_turn_runs_stops_it_or_comes_after_it() {
    let server = Silent::start(Duration::from_secs(20));
    let project = server.project().variable("TERM", "dumb");
    let told = typed(
        &project,
        &[
            ("> ", "hello\n"),
            ("asking home:m", "/toolset\n"),
            ("", "/stop\n"),
            ("the run was cancelled", ""),
            ("full", ""),
            ("> ", "again\n"),
            ("asking home:m", "/quit\n"),
        ],
    );
    assert_eq!(
        told.stdout.matches("the run was cancelled").count(),
        2,
        "{told:?}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn lines_that_are_pasted_together_are_one_turn_and_the_end_of_the_input_ends_the_chat() {
    let project = chatting(&[&text("Three lines."), &text("no")]);
    let told = typed(
        &project,
        &[
            ("> ", "one\ntwo\nthree\n"),
            ("Three lines.", ""),
            ("tokens; ", ""),
            ("> ", "\u{4}"),
        ],
    );
    assert!(!told.stdout.contains("error"), "{told:?}");
    let sessions: Json = project.run(&["sessions", "--json"]).json();
    let session = sessions["sessions"][0]["session"].as_str().unwrap();
    let shown = project.run(&["show", session, "--json"]).stdout;
    assert!(shown.contains("one\\ntwo\\nthree"), "{shown}");
}

#[test]
fn a_program_may_talk_turn_by_turn() {
    let project = chatting(&[&text("first"), &text("second")]);
    let mut child = project.start_piped(&["chat", "--json"]);
    let mut input = child.stdin.take().unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    let mut lines = output.lines().map(|line| line.unwrap());
    for expected in ["first", "second"] {
        writeln!(input, "go").unwrap();
        let reply = lines
            .find(|line| line.contains("\"type\":\"reply\""))
            .unwrap();
        assert!(reply.contains(expected), "{reply}");
    }
    drop(input);
    assert!(child.wait().unwrap().success());
}
