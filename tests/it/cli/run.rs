//! `run`, `inspect`, `sessions` and `show`, with and without `--json`.

use serde_json::json;

use super::project_with;

const MESSAGE: &str =
    "message=My order A-1042 arrived broken. I want a refund of 30 euros, please.";

#[test]
fn a_message_is_routed_and_everything_is_shown_afterwards() {
    let project = project_with(&[]);
    let run = project.run(&["run", "route-message", "--arg", MESSAGE]);
    insta::assert_snapshot!("run", run.shown(&project));
    assert_eq!(run.code, 0);

    let sessions = project.run(&["sessions"]);
    insta::assert_snapshot!("sessions", sessions.shown(&project));
    let id = sessions.stdout.split_whitespace().next().unwrap();
    let show = project.run(&["show", id]);
    insta::assert_snapshot!("show", show.shown(&project));
}

#[test]
fn every_command_tells_a_program_the_same() {
    let project = project_with(&["healthy", "chooser"]);
    let run = project.run(&["run", "route_message", "--arg", MESSAGE, "--json"]);
    assert_eq!(run.code, 0, "{run:?}");
    let told = run.json();
    let keys: Vec<_> = told.as_object().unwrap().keys().cloned().collect();
    assert_eq!(keys, ["session", "node", "ok"]);
    insta::assert_snapshot!("run_json", format!("{:#}", told["ok"]));

    let sessions = project.run(&["sessions", "--json"]).json();
    assert_eq!(sessions["sessions"][0]["session"], told["session"]);
    assert_eq!(sessions["sessions"][0]["status"], json!("completed"));

    let project = project.file("replies.jsonl", "\"{\\\"call\\\": \\\"done\\\"}\"\n");
    let pick = ["run", "pick", "--arg", "prompt=What now?", "--json"];
    let script = ["--model", "script:replies.jsonl"];
    let told = project.run(&[&pick[..], &script].concat()).json();
    let show = project.run(&["show", told["session"].as_str().unwrap(), "--json"]);
    insta::assert_snapshot!("show_json", show.shown(&project));
    assert_eq!(show.json()["nodes"].as_array().unwrap().len(), 2);

    let inspect = project.run(&["inspect", "healthy", "--json"]);
    insta::assert_snapshot!("inspect_json", inspect.shown(&project));
    let inspect = project.run(&["inspect", "chooser.wasm"]);
    insta::assert_snapshot!("inspect", inspect.shown(&project));
}

#[test]
fn a_budget_of_the_whole_run_ends_it_by_name_with_code_6() {
    let project = project_with(&["chooser"]);
    let project = project.file("replies.jsonl", "\"{\\\"call\\\": \\\"done\\\"}\"\n");
    let pick = ["run", "pick", "--arg", "prompt=What now?", "--json"];
    let script = ["--model", "script:replies.jsonl"];
    for (budget, which) in [
        (["--max-tokens", "0"], Some("tokens")),
        (["--max-turns", "0"], Some("model_turns")),
        (["--max-tokens", "100000"], None),
        (["--max-turns", "1"], None),
        (["--max-time", "600"], None),
    ] {
        let outcome = project.run(&[&pick[..], &script, &budget].concat());
        let told = outcome.json();
        let ended_by = told["error"]["details"]["which"].as_str();
        let code = if which.is_some() { 6 } else { 0 };
        assert_eq!((ended_by, outcome.code), (which, code), "{budget:?} {told}");
    }
    let outcome = project.run(&[&pick[..], &script, &["--max-time", "0"]].concat());
    assert_eq!(outcome.code, 2, "{outcome:?}");
}

#[test]
fn limits_of_the_project_file_hold_for_runs_that_set_none() {
    let names = "{\"call\": \"nothing\"}";
    let replies = json!(names).to_string();
    let file =
        |limits: &str| format!("[components]\nchooser = \"chooser.wasm\"\n[limits]\n{limits}\n");
    let pick = ["run", "pick", "--arg", "prompt=What now?", "--json"];
    let script = ["--model", "script:replies.jsonl"];
    // A reply that picks nothing is asked about once more, which is one request too many.
    for (limits, flags, which) in [
        ("max_turns = 1", vec![], Some("model_turns")),
        ("max_tokens = 1", vec![], Some("tokens")),
        ("max_turns = 1", vec!["--max-turns", "9"], None),
        ("max_tokens = 1", vec!["--max-tokens", "100000"], None),
        ("provider_calls = 1\nmax_time_s = 600", vec![], None),
    ] {
        let good = json!("{\"call\": \"done\"}");
        let project = super::project()
            .guests(&["chooser"])
            .file("openprogram.toml", file(limits))
            .file("replies.jsonl", format!("{replies}\n{good}\n"));
        let told = project.run(&[&pick[..], &script, &flags].concat()).json();
        let ended_by = told["error"]["details"]["which"].as_str();
        assert_eq!(ended_by, which, "{limits} {flags:?} {told}");
        assert_eq!(told["ok"].is_null(), which.is_some(), "{told}");
    }
}

#[test]
fn inspect_shows_types_and_what_no_model_sees() {
    let project = super::project().guests(&["every-type"]);
    let inspect = project.run(&["inspect", "every-type.wasm"]);
    insta::assert_snapshot!("inspect_types", inspect.shown(&project));
    let told = project
        .run(&["inspect", "every-type.wasm", "--json"])
        .json();
    let functions = told["functions"].as_array().unwrap();
    let hidden = functions.iter().find(|f| f["hidden"] != json!([])).unwrap();
    insta::assert_snapshot!("inspect_hidden", format!("{:#}", hidden));
}

#[test]
fn a_session_is_gone_on_with() {
    let project = project_with(&["healthy"]);
    let first = project
        .run(&["run", "double", "--arg", "number=3", "--json"])
        .json();
    assert_eq!(first["ok"], json!(6));
    let session = first["session"].as_str().unwrap();
    let second = [
        "run",
        "double",
        "--args",
        "{\"number\": 4}",
        "--session",
        session,
        "--json",
    ];
    let second = project.run(&second).json();
    assert_eq!(
        (&second["ok"], &second["session"]),
        (&json!(8), &first["session"])
    );
    let nodes = project.run(&["show", session, "--json"]).json();
    assert_eq!(nodes["nodes"].as_array().unwrap().len(), 2);
}

#[test]
fn a_file_that_is_not_installed_runs_without_a_project() {
    let project = super::project().guests(&["healthy", "caller"]);
    let file = [
        "run",
        "double",
        "--component",
        "healthy.wasm",
        "--arg",
        "number=21",
    ];
    let run = project.run(&file);
    assert_eq!((run.code, run.stdout.as_str()), (0, "42\n"), "{run:?}");
}

#[test]
fn a_script_answers_in_place_of_a_model() {
    let project = project_with(&[]);
    let project = project.file("replies.jsonl", "\"{\\\"call\\\": \\\"escalate\\\"}\"\n");
    let arguments = [
        "run",
        "route-message",
        "--arg",
        MESSAGE,
        "--model",
        "script:replies.jsonl",
    ];
    let run = project.run(&arguments);
    insta::assert_snapshot!("run_with_a_script", run.shown(&project));
}

#[test]
fn the_commands_of_the_readme_work_in_the_repository() {
    let root = openprogram_tests::guests::root().canonicalize().unwrap();
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let line = readme
        .lines()
        .find(|line| line.starts_with("cargo run -- run "))
        .unwrap();
    assert!(line.contains(&MESSAGE.replacen('=', "=\"", 1)), "{line}");
    let project = super::project().with_toolchain().at(root);
    let run = project.run(&["run", "route-message", "--arg", MESSAGE, "--json"]);
    assert_eq!(run.code, 0, "{run:?}");
    let told = run.json();
    assert_eq!(told["ok"]["order"], json!("A-1042"), "{told}");
    let show = project.run(&["show", told["session"].as_str().unwrap()]);
    assert!(show.stdout.contains("refund"), "{show:?}");
}
