//! Levels of thinking, from the command line and the project file to the record.

use openprogram_tests::cli::Project;
use serde_json::Value;

use super::project;

/// A project whose three runtimes have one script, with these lines before the components.
fn thinking(lines: &str) -> Project {
    let file = format!("{lines}\n[components]\nturner = \"turner.wasm\"\n");
    project()
        .guests(&["turner"])
        .file("openprogram.toml", file)
        .file("replies.jsonl", "\"a\"\n\"b\"\n\"c\"\n")
}

/// The levels that the nodes of a run with all three runtimes tell, in order.
fn levels(project: &Project, options: &[&str]) -> Vec<Value> {
    let call = ["run", "with-all", "--arg", "prompt=x", "--json"];
    let model = ["--model", "script:replies.jsonl"];
    let ran = project.run(&[&call[..], &model, options].concat()).json();
    assert_eq!(ran["ok"], serde_json::json!(["a", "b", "c"]), "{ran}");
    let session = ran["session"].as_str().unwrap();
    let shown = project.run(&["show", session, "--json"]).json();
    let nodes = shown["nodes"].as_array().unwrap();
    let asked = nodes.iter().filter(|node| node["kind"] == "llm");
    asked
        .map(|node| node["facts"]["thinking"].clone())
        .collect()
}

#[test]
fn a_level_holds_from_the_project_file_or_the_command_line() {
    let project = thinking(
        "thinking_level = \"high\"\n\
         [runtimes]\nreview_thinking_level = \"low\"",
    );
    // Of another model nobody said that it thinks.
    let project = project
        .file("replies.jsonl", "\"a\"\n\"c\"\n")
        .file("exec.jsonl", "\"b\"\n");
    let other = ["--exec-model", "script:exec.jsonl"];
    assert_eq!(
        levels(&project, &other),
        [Value::from("high"), Value::Null, Value::from("low")]
    );
    let typed = [&other[..], &["--thinking", "medium"]].concat();
    assert_eq!(levels(&project, &typed), ["medium", "medium", "medium"]);
    assert_eq!(
        levels(&thinking(""), &["--thinking", "off"]),
        [Value::Null, Value::Null, Value::Null]
    );
}

#[test]
fn a_level_that_is_none_is_refused_with_the_list() {
    let project = thinking("");
    let refused = project.run(&["run", "ask", "--arg", "prompt=x", "--thinking", "much"]);
    let told = refused.shown(&project);
    assert!(
        told.contains("[possible values: off, low, medium, high, xhigh]"),
        "{told}"
    );
    let project = thinking("thinking_level = \"much\"");
    let told = project.run(&["functions"]).shown(&project);
    assert!(
        told.contains("`thinking_level`") && told.contains("there are `off`, `low`"),
        "{told}"
    );
}
