//! Functions of resources, as a model calls them in the turns of one session.

use std::sync::{Arc, Mutex};

use openprogram_core::Json;
use openprogram_core::content::{ContentBlock, ToolCall, ToolResult};
use openprogram_core::id::SessionId;
use openprogram_core::llm::{LlmFailure, ModelReply, ModelRequest, StopReason};
use openprogram_runtime::{ModelFn, RunRequest, TurnRequest};
use openprogram_tests::host::{RunningHost, TestHost};
use openprogram_tests::snapshot::normalised;
use serde_json::json;

/// The steps of a model: what it calls next, with `HANDLE` in place of the first handle that it was
/// given.
fn player(steps: Vec<(&'static str, &'static str)>) -> ModelFn {
    let state = Mutex::new((steps.into_iter(), String::new()));
    ModelFn::new("own:player", move |request: ModelRequest| {
        let mut state = state.lock().unwrap();
        let (steps, handle) = &mut *state;
        let result = results(&request).pop();
        let text = result.map(|result| result.text).unwrap_or_default();
        if handle.is_empty() && text.contains("counter:") {
            *handle = text.trim_matches('"').to_owned();
        }
        let reply = match steps.next() {
            None | Some(("", _)) => ModelReply::text_only("done"),
            Some((name, arguments)) => ModelReply {
                content: vec![ContentBlock::ToolCall(ToolCall {
                    id: "call".to_owned(),
                    name: name.to_owned(),
                    arguments: arguments.replace("HANDLE", handle),
                })],
                stop: StopReason::ToolUse,
                usage: None,
            },
        };
        async move { Ok::<_, LlmFailure>(reply) }
    })
}

fn results(request: &ModelRequest) -> Vec<ToolResult> {
    let blocks = request.messages.iter().flat_map(|message| &message.content);
    let results = blocks.filter_map(|block| match block {
        ContentBlock::ToolResult(result) => Some(result.clone()),
        _ => None,
    });
    results.collect()
}

async fn turn(host: &RunningHost, session: Option<SessionId>) -> SessionId {
    let request = TurnRequest {
        session,
        ..TurnRequest::text("Count.")
    };
    let outcome = host.runtime.exec(request).await;
    assert_eq!(outcome.result.unwrap().text, "done");
    outcome.session.unwrap()
}

/// Every call of a session in a line, with what the model was told of it, and whether it says that
/// it is stateful.
async fn calls(host: &RunningHost, session: &SessionId) -> String {
    let mut lines = String::new();
    for node in host.nodes(session).await {
        let opened = &node.opened;
        let Some((_, function)) = opened.name.split_once("desk.") else {
            continue;
        };
        let end = node.end.as_ref().unwrap();
        let told = match (&end.output, &end.failure) {
            (Some(output), _) => output.to_string(),
            (None, failure) => failure.as_ref().unwrap().to_string(),
        };
        let is_stateful = opened.facts.get("stateful") == Some(&Json::Bool(true));
        let mark = if is_stateful { "lives on" } else { "fresh" };
        lines.push_str(&format!("{function} ({mark}): {told}\n"));
        if let Some(log) = end.facts.get("log") {
            lines.push_str(&format!("  log {log}\n"));
        }
    }
    normalised(&lines)
}

#[tokio::test]
async fn counters_live_on_over_two_turns_of_a_model_that_is_told_when_a_handle_is_over() {
    let steps = vec![
        ("counter_new", r#"{"start": 5}"#),
        ("counter_add", r#"{"self": "HANDLE", "n": 2}"#),
        ("", ""),
        ("counter_add", r#"{"self": "HANDLE", "n": 3}"#),
        ("split", r#"{"c": "HANDLE"}"#),
        ("counter_made", "{}"),
        ("describe", "{}"),
        ("counter_add", r#"{"self": "HANDLE", "n": 4294967295}"#),
        ("counter_release", r#"{"self": "HANDLE"}"#),
        ("counter_add", r#"{"self": "HANDLE", "n": 1}"#),
        ("counter_add", r#"{"self": "counter:made-up", "n": 1}"#),
        ("", ""),
    ];
    let host = TestHost::new()
        .stateful("counters")
        .provider(Arc::new(player(steps)));
    let host = host.start().await;
    let session = turn(&host, None).await;
    let again = turn(&host, Some(session.clone())).await;
    assert_eq!(again, session);
    insta::assert_snapshot!("stateful_calls", calls(&host, &session).await);
}

#[tokio::test]
async fn a_trap_ends_what_the_session_holds_and_no_other_session() {
    let host = TestHost::new().stateful("counters").start().await;
    let run = async |session: Option<SessionId>, function: &str, arguments: Json| {
        let Json::Object(arguments) = arguments else {
            panic!("arguments are an object")
        };
        let request = RunRequest {
            arguments,
            session,
            ..RunRequest::new(function)
        };
        host.runtime.run_function(request).await
    };
    let first = run(None, "counter-new", json!({"start": 1})).await;
    let other = run(None, "counter-new", json!({"start": 1})).await;
    let in_first =
        async |function: &str, arguments| run(first.session.clone(), function, arguments).await;
    let (handle, there) = (first.result.clone().unwrap(), other.result.clone().unwrap());
    // A handle is worth nothing in another session.
    let stranger = in_first("counter-add", json!({"self": there, "n": 1})).await;
    let stranger = stranger.result.unwrap_err().to_string();
    assert!(
        stranger.contains("is no handle of a `counter` of this session"),
        "{stranger}"
    );
    let broken = in_first("counter-break-down", json!({"self": handle})).await;
    let broken = broken.result.unwrap_err();
    assert_eq!(broken.details["trap"], "unreachable", "{broken}");
    let lost = in_first("counter-add", json!({"self": handle, "n": 1})).await;
    insta::assert_snapshot!(
        "stateful_ended",
        normalised(&lost.result.unwrap_err().to_string())
    );
    let goes_on = run(
        other.session.clone(),
        "counter-add",
        json!({"self": there, "n": 1}),
    )
    .await;
    assert_eq!(goes_on.result, Ok(json!(2)));
}

#[tokio::test]
async fn what_a_live_instance_calls_may_not_come_back_into_it() {
    let host = TestHost::new().stateful("counters").start().await;
    let session = host.run("counter-new", json!({"start": 1})).await;
    let handle = session.result.unwrap();
    for (name, expected) in [
        // The same instance would be entered twice.
        ("counter-made", "instance_calls"),
        // A function that works on no resource runs beside it.
        ("describe", "0 counters were made here"),
    ] {
        let mut request = RunRequest::new("counter-call");
        request.session.clone_from(&session.session);
        request.arguments.insert("self".to_owned(), handle.clone());
        request.arguments.insert("name".to_owned(), name.into());
        let told = host.runtime.run_function(request).await.result.unwrap();
        let nodes = host.nodes(session.session.as_ref().unwrap()).await;
        let inner = nodes.last().unwrap().end.as_ref().unwrap();
        let which = inner
            .failure
            .as_ref()
            .map(|failure| failure.details["which"].clone());
        let which = which.unwrap_or_else(|| inner.output.clone().unwrap());
        assert_eq!(which, expected, "{told}");
    }
}
