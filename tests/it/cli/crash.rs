//! A process that is killed leaves a record that can be read, with the open node unknown.

use std::process::Child;

use openprogram_tests::cli::Project;
use serde_json::{Value, json};

use super::project_with;

/// How often a look at the sessions is repeated before a run counts as never begun. One look takes
/// some hundredths of a second.
const LOOKS_MAX: usize = 1_000;

/// Waits until the run has been recorded as begun, by looking as a person would.
fn begun(project: &Project, n_nodes: u64) -> Value {
    for _ in 0..LOOKS_MAX {
        let sessions = project.run(&["sessions", "--json"]).json();
        if let Some(session) = sessions["sessions"].get(0)
            && session["nodes"].as_u64() >= Some(n_nodes)
        {
            return session.clone();
        }
    }
    panic!("the run was never recorded");
}

fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_killed_run_is_unknown_and_its_session_can_be_read_and_gone_on_with() {
    let project = project_with(&["endless-loop", "healthy"]);
    let running = project.start(&["run", "endless-loop.run"]);
    let session = begun(&project, 1);
    assert_eq!(session["status"], json!("running"), "{session}");
    kill(running);

    let sessions = project.run(&["sessions", "--json"]).json();
    assert_eq!(
        sessions["sessions"][0]["status"],
        json!("unknown"),
        "{sessions}"
    );
    let id = session["session"].as_str().unwrap();
    let show = project.run(&["show", id]);
    insta::assert_snapshot!("show_killed", show.shown(&project));
    let nodes = project.run(&["show", id, "--json"]).json();
    assert_eq!(nodes["nodes"][0]["status"], json!("unknown"), "{nodes}");

    let next = [
        "run",
        "double",
        "--arg",
        "number=2",
        "--session",
        id,
        "--json",
    ];
    let next = project.run(&next);
    assert_eq!((next.code, &next.json()["ok"]), (0, &json!(4)), "{next:?}");
}

#[test]
fn a_run_that_is_killed_in_a_model_turn_leaves_the_turn_unknown_too() {
    let project = project_with(&["bad-decider", "chooser"]);
    let pick = [
        "run",
        "pick",
        "--arg",
        "prompt=loop",
        "--model",
        "component:bad-decider",
    ];
    let running = project.start(&pick);
    let session = begun(&project, 2);
    kill(running);
    let show = project
        .run(&["show", session["session"].as_str().unwrap(), "--json"])
        .json();
    let statuses: Vec<_> = show["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|n| &n["status"])
        .collect();
    assert_eq!(statuses, [&json!("unknown"), &json!("unknown")], "{show}");
}
