//! A turn of a model with the toolset, by the command line: several functions one after the other,
//! each within the grants of its component.

use openprogram_tests::cli::Project;
use serde_json::{Value, json};

use crate::cli::BINARY;

const TOOLS: [&str; 5] = [
    "component:files/files.read-file",
    "component:files/files.search-files",
    "component:files/files.edit-file",
    "component:query/query.query-data",
    "component:clock/clock.add-time",
];

fn call(name: &str, arguments: &Value) -> Value {
    json!({"tool_calls": [{"name": name, "arguments": arguments}]})
}

#[test]
fn a_model_works_with_several_functions_of_the_toolset() {
    let replies = [
        call("search_files", &json!({"pattern": "TODO"})),
        call(
            "query_data",
            &json!({"query": "[?item == 'chain'].order | [0]", "path": "desk/orders.csv"}),
        ),
        call(
            "add_time",
            &json!({"time": "2026-12-01", "duration": "3 days"}),
        ),
        call(
            "edit_file",
            &json!({
                "path": "desk/notes.md",
                "old_text": "TODO: order chains",
                "new_text": "Chains ordered for 1003, due 2026-12-04",
            }),
        ),
        call("read_file", &json!({"path": "desk/../openprogram.toml"})),
        json!({"text": "Ordered."}),
    ];
    let script: String = replies.iter().map(|reply| format!("{reply}\n")).collect();
    let calls: Vec<String> = TOOLS.iter().map(|tool| format!("\"{tool}\"")).collect();
    let project = Project::new(BINARY)
        .guests(&["turner", "files", "query", "clock"])
        .file("desk/notes.md", "# Notes\n\n- TODO: order chains\n")
        .file("desk/orders.csv", "order,item\n1002,tyre\n1003,chain\n")
        .file("script.jsonl", script)
        .file(
            "openprogram.toml",
            format!(
                "[components]\nclock = \"clock.wasm\"\n\n\
                 [components.turner]\nsource = \"turner.wasm\"\ncalls = [{}]\n\n\
                 [components.files]\nsource = \"files.wasm\"\ndirs = [\"rw:desk\"]\n\n\
                 [components.query]\nsource = \"query.wasm\"\ndirs = [\"ro:desk\"]\n",
                calls.join(", ")
            ),
        );
    for component in ["turner", "files", "query"] {
        let confirmed = project.run(&["grant", component, "--yes"]);
        assert_eq!(confirmed.code, 0, "{confirmed:?}");
    }
    let tools = format!("tools={}", json!(TOOLS));
    let outcome = project.run(&[
        "run",
        "work",
        "--arg",
        "prompt=Do what the notes want.",
        "--arg",
        &tools,
        "--arg",
        "choice=auto",
        "--model",
        "script:script.jsonl",
        "--json",
    ]);
    assert_eq!(outcome.json()["ok"]["text"], "Ordered.", "{outcome:?}");
    let notes = std::fs::read_to_string(project.path("desk/notes.md")).unwrap();
    assert_eq!(
        notes,
        "# Notes\n\n- Chains ordered for 1003, due 2026-12-04\n"
    );
    let session = outcome.json()["session"].as_str().unwrap().to_owned();
    let shown = project.run(&["show", &session]);
    insta::assert_snapshot!("toolset_turn", shown.shown(&project));
}
