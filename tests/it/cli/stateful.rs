//! Functions of resources at the command line: listed with what allows them, then called.

use openprogram_core::Json;
use openprogram_tests::cli::Project;

use super::project;

fn counting(rest: &str) -> Project {
    let file = format!("[components.counters]\nsource = \"counters.wasm\"\n{rest}");
    project()
        .guests(&["counters"])
        .file("openprogram.toml", file)
}

#[test]
fn resources_are_listed_with_the_line_that_allows_them_and_are_offered_with_it() {
    let project = counting("");
    let listed = project.run(&["functions", "--learn"]);
    let refused = project.run(&["run", "counter-new", "--arg", "start=1"]);
    assert_eq!(
        (listed.code, refused.code),
        (0, 2),
        "{listed:?} {refused:?}"
    );
    let shown = format!(
        "{}\n{}",
        project.shown(&listed.stdout),
        project.shown(&refused.stderr)
    );
    insta::assert_snapshot!("stateful_refused", shown);

    let project = counting("stateful = true\n");
    let forms = ["tools", "wit"].map(|form| {
        let shown = project.run(&["inspect", "counters", "--as", form]);
        assert_eq!(shown.code, 0, "{shown:?}");
        project.shown(&shown.stdout)
    });
    insta::assert_snapshot!("stateful_offered", forms.join("\n"));
    let functions = project.run(&["functions", "--json"]).json();
    let functions = functions["functions"].as_array().unwrap();
    let stateful = functions.iter().filter(|f| f["stateful"] == true);
    assert!(stateful.clone().all(|f| f["offerable"] == true));
    assert_eq!((functions.len(), stateful.count()), (9, 8));
    let text = project.run(&["inspect", "counters"]).stdout;
    assert_eq!(
        text.matches("lives on: in one instance for all calls of a session")
            .count(),
        8
    );
    let set = project.run(&["config"]).stdout;
    assert!(set.contains("components.counters.stateful"), "{set}");
}

#[test]
fn a_handle_ends_with_the_program_and_a_later_one_says_so() {
    let project = counting("stateful = true\n");
    let made = project
        .run(&["run", "counter-new", "--arg", "start=5", "--json"])
        .json();
    let (session, handle) = (
        made["session"].as_str().unwrap(),
        made["ok"].as_str().unwrap(),
    );
    let arguments = serde_json::json!({"self": handle, "n": 1}).to_string();
    let later = project.run(&[
        "run",
        "counter-add",
        "--session",
        session,
        "--args",
        &arguments,
    ]);
    assert_eq!(later.code, 2, "{later:?}");
    insta::assert_snapshot!("stateful_later", project.shown(&later.stderr));
    let nodes: Json = project.run(&["show", session, "--json"]).json();
    assert!(nodes.to_string().contains("\"stateful\":true"), "{nodes}");
}

#[test]
fn a_model_in_a_chat_makes_a_counter_and_is_told_that_a_handle_is_made_up() {
    let replies = [
        r#"{"tool_calls": [{"name": "counter_new", "arguments": {"start": 5}}]}"#,
        r#"{"tool_calls": [{"name": "counter_add", "arguments": {"self": "counter:1", "n": 1}}]}"#,
        r#""Sorry.""#,
        r#"{"tool_calls": [{"name": "counter_made", "arguments": {}}]}"#,
        r#""One.""#,
    ];
    let project = counting("stateful = true\n").file("replies.jsonl", replies.join("\n") + "\n");
    let told = project.run_with_input(
        &["chat", "--model", "script:replies.jsonl", "--json"],
        "count\nhow many\n",
    );
    assert_eq!(told.code, 0, "{told:?}");
    let results = told
        .stdout
        .lines()
        .filter(|line| line.contains("\"tool_result\""));
    let results: Vec<_> = results.map(|line| project.shown(line)).collect();
    insta::assert_snapshot!("stateful_chat", results.join("\n"));
}
