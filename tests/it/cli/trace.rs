//! The spans of a command, as a file and without anything that was said.

use std::fs;

use openprogram_core::Json;
use openprogram_tests::cli::Project;

use super::install::done;
use super::project;

/// A project whose function `ask` makes a turn with a model that answers from a file.
fn asking(trace: &str) -> Project {
    let file = format!(
        "model = \"script:replies.jsonl\"\n[components]\nturner = \"turner.wasm\"\n{trace}"
    );
    project()
        .guests(&["turner"])
        .file("openprogram.toml", file)
        .file("replies.jsonl", "\"SAID-S3CRET\"\n")
}

const ASK: [&str; 5] = ["run", "ask", "--arg", "prompt=ASKED-S3CRET", "--json"];

/// The names of the spans in a file, each behind that of its parent.
fn names(project: &Project, path: &str) -> Vec<String> {
    let text = fs::read_to_string(project.path(path)).unwrap();
    let spans: Vec<Json> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let name_of = |id: &Json| {
        let found = spans.iter().find(|span| span["span_id"] == *id);
        found.map_or("", |span| span["name"].as_str().unwrap())
    };
    let shown = spans.iter().map(|span| {
        let name = span["name"].as_str().unwrap();
        format!("{} > {name}", name_of(&span["parent_id"]))
    });
    shown.collect()
}

const SPANS: [&str; 2] = [
    "invoke_agent test:turner/guest.ask > chat replies.jsonl",
    " > invoke_agent test:turner/guest.ask",
];

#[test]
fn a_variable_has_spans_written_and_nothing_that_was_said() {
    let project = asking("").variable("OPENPROGRAM_TRACE", "spans.jsonl");
    done(&project, &ASK);
    assert_eq!(names(&project, "spans.jsonl"), SPANS);
    let text = fs::read_to_string(project.path("spans.jsonl")).unwrap();
    assert!(!text.contains("S3CRET"), "{text}");
    assert!(
        text.contains("\"gen_ai.provider.name\":\"script\""),
        "{text}"
    );
}

#[test]
fn the_project_file_has_them_written_and_can_have_them_hold_what_was_said() {
    let project = asking("[trace]\nfile = \"spans.jsonl\"\ncontent = true\n");
    done(&project, &ASK);
    assert_eq!(names(&project, "spans.jsonl"), SPANS);
    let text = fs::read_to_string(project.path("spans.jsonl")).unwrap();
    for said in ["ASKED-S3CRET", "SAID-S3CRET"] {
        assert!(text.contains(said), "{said}: {text}");
    }
}

#[test]
fn spans_go_to_stderr_and_a_file_that_cannot_be_written_is_named() {
    let project = asking("").variable("OPENPROGRAM_TRACE", "-");
    let told = done(&project, &ASK);
    assert!(
        told.stderr.contains("\"gen_ai.operation.name\":\"chat\""),
        "{told:?}"
    );
    let project = asking("").variable("OPENPROGRAM_TRACE", "nowhere/spans.jsonl");
    let told = project.run(&ASK);
    assert_ne!(told.code, 0, "{told:?}");
    assert!(
        told.stderr.contains("spans cannot be written to `"),
        "{told:?}"
    );
}
