//! Sessions as a whole: forked, searched, written to files and taken in, deleted.

use openprogram_core::Json;
use openprogram_tests::cli::Project;

use super::project;

/// A project whose model answers with these replies, one after the other over all chats.
fn chatting(replies: &[&str]) -> Project {
    let lines = replies
        .iter()
        .map(|reply| serde_json::to_string(reply).unwrap());
    let lines: Vec<String> = lines.collect();
    project()
        .guests(&["healthy"])
        .file(
            "openprogram.toml",
            "[components]\nhealthy = \"healthy.wasm\"\n",
        )
        .file("replies.jsonl", lines.join("\n") + "\n")
}

const CHAT: [&str; 3] = ["chat", "--model", "script:replies.jsonl"];

/// Says something in a new session or in this one, and gives the session.
fn say(project: &Project, session: Option<&str>, words: &str) -> String {
    let mut line = CHAT.to_vec();
    if let Some(session) = session {
        line.extend(["--session", session]);
    }
    let told = project.run_with_input(&line, words);
    assert_eq!(told.code, 0, "{told:?}");
    match session {
        Some(session) => session.to_owned(),
        None => newest(project),
    }
}

fn newest(project: &Project) -> String {
    let sessions = project.run(&["sessions", "--json"]).json();
    sessions["sessions"][0]["session"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// The inputs and outputs of a session, in order.
fn words(project: &Project, session: &str) -> Vec<String> {
    let shown = project.run(&["show", session, "--json"]).json();
    let nodes = shown["nodes"].as_array().unwrap();
    let text = |node: &Json, key: &str| node[key].as_str().unwrap_or("-").to_owned();
    nodes
        .iter()
        .map(|node| match text(node, "kind").as_str() {
            "user" => text(node, "input"),
            _ => text(node, "output"),
        })
        .collect()
}

fn fork(project: &Project, line: &[&str]) -> String {
    let told = project.run(&[&["fork"], line].concat());
    assert_eq!(told.code, 0, "{told:?}");
    told.stdout.trim().to_owned()
}

#[test]
fn a_fork_goes_on_from_a_turn_and_leaves_the_session_as_it_is() {
    let project = chatting(&["one", "two"]);
    let first = say(&project, None, "first\nsecond\n");
    let before = project.run(&["show", &first, "--json"]).stdout;
    let project = project.file("replies.jsonl", "\"other\"\n\"again\"\n");

    let other = fork(&project, &[&first, "2"]);
    say(&project, Some(&other), "third\n");
    assert_eq!(words(&project, &other), ["first", "one", "third", "other"]);
    let shown = project.run(&["show", &other, "--json"]).json();
    assert_eq!(
        shown["base"],
        serde_json::json!({"session": first, "seq": 2})
    );
    // The model was shown what came before the fork, and nothing of the other branch.
    let asked = &shown["nodes"][3];
    assert_eq!(asked["reads"].as_array().unwrap().len(), 3, "{asked}");
    assert_eq!(asked["seq"], 4);
    let tree = project.run(&["show", &other]).stdout;
    assert!(
        tree.contains(&format!("a fork of {first} after its node 2")),
        "{tree}"
    );

    // A turn is tried again by a fork before what was said.
    let id = shown["nodes"][2]["id"].as_str().unwrap();
    let again = fork(&project, &[&other, id, "--before"]);
    let project = project.file("replies.jsonl", "\"again\"\n");
    say(&project, Some(&again), "third, put better\n");
    assert_eq!(
        words(&project, &again),
        ["first", "one", "third, put better", "again"]
    );
    assert_eq!(project.run(&["show", &first, "--json"]).stdout, before);

    for (line, told) in [
        (vec![&*first, "9"], "has no node 9"),
        (vec![&*first, "n-0000000000000009"], "there is no node"),
        (vec![&*first, "two"], "`two` is no node: give its number"),
        (vec!["op-0000000000000009", "1"], "there is no session"),
        (vec!["op-9", "1"], "is not a session id"),
    ] {
        let refused = project.run(&[&["fork"], &line[..]].concat());
        assert_eq!(refused.code, 2, "{refused:?}");
        assert!(refused.stderr.contains(told), "{refused:?}");
    }
}

#[test]
fn a_function_runs_in_a_fork_inside_a_call() {
    let project = chatting(&[]);
    let told = project.run(&["run", "double", "--arg", "number=3", "--json"]);
    let session = told.json()["session"].as_str().unwrap().to_owned();
    let other = fork(&project, &[&session, "1"]);
    let line = [
        "run",
        "double",
        "--arg",
        "number=4",
        "--session",
        &other,
        "--json",
    ];
    assert_eq!(project.run(&line).json()["ok"], 8);
    let shown = project.run(&["show", &other, "--json"]).json();
    let seqs: Vec<u64> = shown["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|n| n["seq"].as_u64().unwrap())
        .collect();
    assert_eq!(seqs, [1, 2]);
}

#[test]
fn a_session_goes_into_a_file_and_comes_back() {
    let project = chatting(&["one", "two"]);
    let session = say(&project, None, "first\nsecond\n");
    let before = project.run(&["show", &session, "--json"]).stdout;
    let told = project.run(&["export", &session, "--output", "session.jsonl"]);
    assert_eq!((told.code, &*told.stdout), (0, ""), "{told:?}");
    assert!(told.stderr.contains("wrote 4 nodes"), "{told:?}");
    let file = std::fs::read_to_string(project.path("session.jsonl")).unwrap();
    assert_eq!(project.run(&["export", &session]).stdout, file);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = project
            .path("session.jsonl")
            .metadata()
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let told = project.run(&["export", &session, "--output", "other.jsonl", "--json"]);
    assert_eq!(told.json()["nodes"], 4, "{told:?}");
    let again = project.run(&["export", &session, "--output", "session.jsonl"]);
    assert!(
        again.code != 0 && again.stderr.contains("session.jsonl"),
        "{again:?}"
    );
    assert_eq!(
        std::fs::read_to_string(project.path("session.jsonl")).unwrap(),
        file
    );

    let there = project.run(&["import", "session.jsonl"]);
    assert_eq!(there.code, 2, "{there:?}");
    assert!(
        there.stderr.contains("exists already") && there.stderr.contains("--copy"),
        "{there:?}"
    );
    let copied = project.run(&["import", "session.jsonl", "--copy"]);
    let copy = copied.stdout.trim();
    assert!(copied.code == 0 && copy != session, "{copied:?}");
    assert_eq!(words(&project, copy), ["first", "one", "second", "two"]);

    // Elsewhere it is what it was.
    let other = chatting(&["three"]).file("session.jsonl", &file);
    let told = other.run(&["import", "session.jsonl", "--json"]).json();
    assert_eq!(told, serde_json::json!({"session": session, "nodes": 4}));
    assert_eq!(other.run(&["show", &session, "--json"]).stdout, before);
    say(&other, Some(&session), "third\n");
    assert_eq!(words(&other, &session)[4..], ["third", "three"]);
    let piped = chatting(&[]).run_with_input(&["import", "-"], &file);
    assert_eq!(piped.stdout.trim(), session, "{piped:?}");

    // A fork is written with what it goes on from.
    let forked = fork(&project, &[&session, "2"]);
    let file = project.run(&["export", &forked]).stdout;
    let elsewhere = chatting(&[]);
    let told = elsewhere.run_with_input(&["import", "-"], &file);
    assert_eq!(told.stdout.trim(), forked, "{told:?}");
    assert_eq!(words(&elsewhere, &forked), ["first", "one"]);
}

#[test]
fn a_file_that_is_no_session_is_refused_with_its_line_and_leaves_nothing() {
    let project = chatting(&["one"]);
    let session = say(&project, None, "first\n");
    let file = project.run(&["export", &session]).stdout;
    let lines: Vec<&str> = file.lines().collect();
    let binary: Vec<u8> = vec![0xff, 0xfe, b'\n'];
    for (content, told) in [
        ("".as_bytes().to_vec(), "the file is empty"),
        (
            b"hello\n".to_vec(),
            "line 1: this is no file of `openprogram export`",
        ),
        (binary, "line 1 is not UTF-8 text"),
        (
            lines[..2].join("\n").into_bytes(),
            "line 2: the file ends after 1 of 2 nodes",
        ),
        (
            [lines[0], lines[2], lines[1]].join("\n").into_bytes(),
            "line 2: `seq` is 2, and 1 is next",
        ),
        (
            file.replacen("\"caller\"", "\"collar\"", 1)
                .replacen("\"kind\":\"llm\"", "\"kind\":\"x\"", 1)
                .into_bytes(),
            "line 3: ",
        ),
    ] {
        let project = chatting(&[]).file("session.jsonl", content);
        let refused = project.run(&["import", "session.jsonl"]);
        assert_eq!(refused.code, 2, "{refused:?}");
        let file = "`FOLDER/session.jsonl`: ";
        let said = project.shown(&refused.stderr);
        assert!(
            said.contains(told) && said.contains("session.jsonl"),
            "{file}{said}"
        );
        let sessions = project.run(&["sessions", "--json"]).json();
        assert_eq!(sessions["sessions"], serde_json::json!([]));
    }
    let missing = project.run(&["import", "nowhere.jsonl"]);
    assert!(
        missing.code == 2 && missing.stderr.contains("nowhere.jsonl"),
        "{missing:?}"
    );
}

#[test]
fn sessions_are_found_by_what_was_said_and_how_they_ended() {
    let project = chatting(&["The \"Answer\" is 42%", "nothing"]);
    let first = say(&project, None, "what is the answer?\n");
    let failed = project.run(&["run", "double", "--arg", "number=99999999999", "--json"]);
    assert_ne!(failed.code, 0);
    let found = |line: &[&str]| {
        let told = project
            .run(&[&["sessions", "--json"], line].concat())
            .json();
        told["sessions"].as_array().unwrap().len()
    };
    assert_eq!(found(&["--search", "\"answer\" is"]), 1);
    assert_eq!(found(&["--search", "42%"]), 1);
    assert_eq!(found(&["--search", "4%2"]), 0);
    assert_eq!(found(&["--search", &first]), 1);
    assert_eq!(found(&["--status", "completed"]), 1);
    assert_eq!(found(&["--status", "completed", "--search", "nowhere"]), 0);
    assert_eq!(found(&["--limit", "0", "--status", "completed"]), 0);
    let nothing = project.run(&["sessions", "--search", "nowhere"]);
    assert_eq!((nothing.code, &*nothing.stdout), (0, ""), "{nothing:?}");
    assert_eq!(project.run(&["sessions", "--status", "fine"]).code, 2);

    let shown = |line: &[&str]| project.run(&[&["show", &first], line].concat()).stdout;
    let tail = shown(&["--last", "1"]);
    assert!(tail.contains("2 llm") && !tail.contains("1 user"), "{tail}");
    let hits = shown(&["--search", "ANSWER\" is"]);
    assert!(hits.contains("2 llm") && !hits.contains("1 user"), "{hits}");
    assert_eq!(shown(&["--graph"]), shown(&[]));
    assert_eq!(shown(&["--graph=json"]), shown(&["--json"]));
    let dot = project.shown(&shown(&["--graph=dot"]));
    insta::assert_snapshot!("graph_dot", dot);
}

#[test]
fn deleted_sessions_are_gone_and_others_stay() {
    let project = chatting(&["one", "two", "three"]);
    let first = say(&project, None, "first\n");
    let project = project.file("replies.jsonl", "\"two\"\n");
    let second = say(&project, None, "second, which is delicate\n");
    let other = fork(&project, &[&first, "2"]);

    let refused = project.run(&["sessions", "rm", &second, &first]);
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(
        refused.stderr.contains(&format!("{other} goes on from it")),
        "{refused:?}"
    );
    let unknown = project.run(&["sessions", "rm", &second, "op-0000000000000009"]);
    assert!(
        unknown.code == 2 && unknown.stderr.contains("there is no session"),
        "{unknown:?}"
    );
    let planned = project.run(&[
        "sessions",
        "rm",
        "--keep-mib",
        "0",
        "--forks",
        "--dry-run",
        "--json",
    ]);
    assert_eq!(planned.json()["removed"].as_array().unwrap().len(), 3);
    assert_eq!(
        words(&project, &second),
        ["second, which is delicate", "two"]
    );

    let gone = project.run(&["sessions", "rm", &second, "--json"]).json();
    assert_eq!(gone["removed"], serde_json::json!([second]));
    assert_eq!(project.run(&["show", &second]).code, 2);
    for entry in std::fs::read_dir(project.path(".openprogram")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            let bytes = std::fs::read(&path).unwrap();
            assert!(
                !bytes.windows(8).any(|part| part == b"delicate"),
                "{}",
                path.display()
            );
        }
    }
    assert_eq!(words(&project, &first), ["first", "one"]);
    let kept = project
        .run(&["sessions", "rm", "--older-than", "1", "--json"])
        .json();
    assert_eq!(kept["removed"], serde_json::json!([]));
    let both = project
        .run(&["sessions", "rm", &first, "--forks", "--json"])
        .json();
    assert_eq!(both["removed"], serde_json::json!([other, first]));
    let none = project.run(&["sessions", "--json"]).json();
    assert_eq!(none["sessions"], serde_json::json!([]));
}
