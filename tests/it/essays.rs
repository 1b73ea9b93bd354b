//! The sample `essays`: every setting of a function and a parameter, from the source to what people
//! and models see, and what the settings do in a run.

use std::sync::Arc;

use openprogram_core::Json;
use openprogram_core::failure::Failure;
use openprogram_runtime::RunRequest;
use openprogram_runtime::testing::{ScriptedProvider, ScriptedReply, shown_request};
use openprogram_tests::cli::Project;
use openprogram_tests::host::{RunningHost, TestHost, named};
use serde_json::json;

use crate::cli::BINARY;

fn project() -> Project {
    Project::new(BINARY).guests(&["essays"]).file(
        "openprogram.toml",
        "[components]\nessays = \"essays.wasm\"\n",
    )
}

/// A host with the essays, and the model that answers with these texts.
async fn essays(replies: &[&str]) -> (RunningHost, Arc<ScriptedProvider>) {
    let replies = replies.iter().map(|reply| ScriptedReply::from(*reply));
    let model = ScriptedProvider::new(replies).forbids(["s-17", "session_id"]);
    let model = Arc::new(model);
    let host = TestHost::new().guest("essays").provider(model.clone());
    (host.start().await, model)
}

/// Runs a function with the session of a student in the context.
async fn run(host: &RunningHost, function: &str, arguments: Json) -> Result<Json, Failure> {
    let mut request = RunRequest::new(function);
    if let Json::Object(arguments) = arguments {
        request.arguments = arguments;
    }
    request
        .context
        .insert("session_id".to_owned(), json!("s-17"));
    host.runtime.run_function(request).await.result
}

#[test]
fn what_the_source_says_is_what_people_and_models_see() {
    let functions = [
        "polish",
        "review_essay",
        "tell_tone",
        "improve",
        "run_check",
        "count_words",
    ];
    let entries = functions.map(|name| {
        let handler = json!({"kind": "fn", "function": name});
        json!({"key": name, "handler": handler})
    });
    let options = json!({"form": "dict", "entries": entries}).to_string();
    let project = project().file("options.json", options);
    let inspect = project.run(&["inspect", "essays"]);
    insta::assert_snapshot!("essays_inspect", inspect.shown(&project));
    let tools = project.run(&["inspect", "essays", "--json"]);
    insta::assert_snapshot!("essays_inspect_json", tools.shown(&project));
    let menu = project.run(&["decide", "--options", "options.json"]);
    insta::assert_snapshot!("essays_menu", menu.shown(&project));
}

#[tokio::test]
async fn a_review_marks_part_by_part_and_reads_the_last_two_marks_alone() {
    let marks = [5, 4, 3].map(|points| {
        let arguments = json!({"points": points, "reason": format!("Worth {points}.")});
        json!({"call": "mark", "args": arguments}).to_string()
    });
    let (host, model) = essays(&marks.each_ref().map(String::as_str)).await;
    let arguments = json!({
        "essay": "Trams are quiet.",
        "rubric_id": "toefl_writing",
        "show_rubric_internals": true,
    });
    let report = run(&host, "review_essay", arguments).await.unwrap();
    insta::assert_snapshot!("essays_report", format!("{report:#}"));
    let requests: Vec<_> = model.requests().iter().map(shown_request).collect();
    insta::assert_snapshot!("essays_review_requests", requests.join("\n=====\n"));
}

#[tokio::test]
async fn defaults_fill_in_and_options_and_hidden_parameters_hold() {
    let mark = r#"{"call": "mark", "args": {"points": 5, "reason": "All of it."}}"#;
    let (host, _) = essays(&[mark, mark, mark, mark]).await;
    let essay = json!({"essay": "Trams.", "rubric_id": "ielts_writing"});
    let report = run(&host, "review_essay", essay.clone()).await;
    let expected = json!({"score": 9, "max_score": 9, "session_id": "s-17"});
    assert_eq!(report, Ok(expected));

    let without_context = host.call("review_essay", essay).await.unwrap_err();
    assert_eq!(named(&without_context), "invalid-argument session_id");
    for (function, arguments, path) in [
        ("polish", json!({"text": "a", "style": "loud"}), "style"),
        ("improve", json!({"essay": "a", "rounds": 4}), "rounds"),
    ] {
        let failure = run(&host, function, arguments).await.unwrap_err();
        assert_eq!(named(&failure), format!("invalid-argument {path}"));
    }
}

#[tokio::test]
async fn the_other_functions_do_what_they_say() {
    let pass = r#"{"call": "pass"}"#;
    let again = r#"{"call": "again"}"#;
    for (replies, function, arguments, expected) in [
        (
            &["  Trams run quietly. \n"][..],
            "polish",
            json!({"text": "trams is quiet", "style": "academic"}),
            json!("Trams run quietly."),
        ),
        (
            &["I would say: **Positive**."],
            "tell_tone",
            json!({"text": "I love trams."}),
            json!("positive"),
        ),
        (
            &["Better.", again, "Best.", pass],
            "improve",
            json!({"essay": "Good."}),
            json!({"text": "Best.", "rounds": 2, "passed": true}),
        ),
        (
            &["Better.", again],
            "improve",
            json!({"essay": "Good.", "rounds": 1}),
            json!({"text": "Better.", "rounds": 1, "passed": false}),
        ),
        (
            &[],
            "run_check",
            json!({"check": "count_words", "essay": "Trams are quiet. And red."}),
            json!({"words": 5, "sentences": 2}),
        ),
    ] {
        let (host, model) = essays(replies).await;
        let value = run(&host, function, arguments).await;
        assert_eq!((value, model.n_left()), (Ok(expected), 0), "{function}");
    }
}
