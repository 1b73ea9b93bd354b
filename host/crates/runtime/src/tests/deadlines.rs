//! The one deadline of a turn, streams that break, and turns that are stopped.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use openprogram_core::guest::{CallError, Closing, ExecRequest};
use openprogram_core::llm::{LlmError, LlmFailure, LlmReason, ModelEvent};
use openprogram_core::session::{Node, NodeStatus};
use openprogram_core::{Json, JsonObject};
use serde_json::json;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::desk::{desk, routing};
use super::shop::{call, closing, run_work, turn, working};
use super::{nodes, run, runtime_with, told, value};
use crate::testing::{NativeCall, NativeFunctions, ScriptedProvider, ScriptedReply, function};
use crate::{EventReceiver, Providers, RunOutcome, RunRequest, Runtime, event_channel};

use NodeStatus::{Cancelled, Completed, Failed};

const SECOND: Duration = Duration::from_secs(1);

/// A lost connection, which is tried again.
fn lost() -> LlmError {
    LlmError::Failed(LlmFailure::new(LlmReason::Transport, true, "lost"))
}

fn within(timeout_ms: u64) -> ExecRequest {
    let mut request = turn(&["wait-for-ever"]);
    request.timeout_ms = Some(timeout_ms);
    request
}

/// Adds a tool that never ends and says so when it begins.
fn with_endless(functions: NativeFunctions, begun: &Arc<Notify>) -> NativeFunctions {
    let begun = Arc::clone(begun);
    functions.with(function("shop", "wait-for-ever", "", []), move |_| {
        begun.notify_one();
        pending::<Result<Json, CallError>>()
    })
}

async fn statuses(runtime: &Runtime, outcome: &RunOutcome) -> Vec<NodeStatus> {
    nodes(runtime, outcome)
        .await
        .iter()
        .map(Node::status)
        .collect()
}

/// Runs a turn of five seconds and checks that it ends on its deadline, with these nodes.
async fn times_out(
    functions: NativeFunctions,
    replies: Vec<ScriptedReply>,
    ends: &[NodeStatus],
) -> Json {
    let start = Instant::now();
    let functions = with_endless(functions, &Arc::default());
    let model = Arc::new(ScriptedProvider::new(replies));
    let (runtime, outcome) = run_work(functions, model, |_| ()).await;
    assert_eq!(start.elapsed(), 5 * SECOND);
    assert_eq!(statuses(&runtime, &outcome).await, ends);
    let failure = told(&outcome);
    assert_eq!(failure["code"], "llm", "{failure}");
    assert_eq!(failure["details"]["reason"], "timeout", "{failure}");
    assert_eq!(failure["details"]["retryable"], false, "{failure}");
    assert_eq!(failure["details"]["elapsed_s"], json!(5.0), "{failure}");
    failure["message"].clone()
}

#[tokio::test(start_paused = true)]
async fn one_deadline_covers_requests_sleeps_calls_and_the_re_ask() {
    let silent = ScriptedReply::Silence;
    let budget = "no reply within the time budget of 5.0s";
    let message = times_out(
        working(within(5_000)),
        vec![silent.clone()],
        &[Failed, Failed],
    )
    .await;
    let report = format!("exec() failed permanently:\nAttempt 1: TimeoutError: {budget}");
    assert_eq!(message, report);

    // Two failed tries and their sleeps of 1.125 and 2.25 seconds count.
    let replies = vec![lost().into(), lost().into(), silent.clone()];
    let message = times_out(working(within(5_000)), replies, &[Failed, Failed]).await;
    let report = format!(
        "exec() failed permanently:\nAttempt 1: ConnectionError: lost\nAttempt 2: \
         ConnectionError: lost\nAttempt 3: TimeoutError: {budget}"
    );
    assert_eq!(message, report);

    let replies = vec![call("a", "wait-for-ever", "").after(SECOND)];
    let ends = [Failed, Completed, Cancelled];
    let message = times_out(working(within(5_000)), replies, &ends).await;
    assert_eq!(
        message,
        "the time budget of 5.0s ended while the tool `wait-for-ever` ran"
    );

    let closes = Closing {
        options: vec![value("close", json!(1)), value("wait", json!(2))],
        context: JsonObject::new(),
    };
    let replies = vec![ScriptedReply::from("Hm.").after(3 * SECOND), silent];
    let ends = [Failed, Completed, Failed];
    times_out(closing(within(5_000), closes), replies, &ends).await;
}

#[tokio::test(start_paused = true)]
async fn turns_and_decisions_without_a_time_of_their_own_have_that_of_the_host() {
    for functions in [working(turn(&[])), desk(routing())] {
        let start = Instant::now();
        let runtime = runtime_with(functions, |parts| {
            let silent = ScriptedProvider::new([ScriptedReply::Silence]);
            parts.providers = Providers::all(Arc::new(silent));
            parts.exec_timeout = Some(2 * SECOND);
        });
        let entry = runtime
            .catalog()
            .resolve("work", None)
            .map_or("route", |_| "work");
        let outcome = run(&runtime, entry, json!({})).await;
        assert_eq!(told(&outcome)["details"]["reason"], "timeout");
        assert_eq!(start.elapsed(), 2 * SECOND);
    }
}

/// Runs a turn with or without a watcher over these replies: how it ends, and its failed tries.
async fn watched(watcher: bool, replies: Vec<ScriptedReply>) -> (Json, usize) {
    let runtime = runtime_with(working(turn(&[])), |parts| {
        parts.providers = Providers::all(Arc::new(ScriptedProvider::new(replies)));
    });
    let (sender, _receiver): (_, EventReceiver) = event_channel(100);
    let mut request = RunRequest::new("work");
    request.events = watcher.then_some(sender);
    let outcome = runtime.run_function(request).await;
    let recorded = nodes(&runtime, &outcome).await;
    assert_eq!(recorded.len(), 2, "retries share the node of their request");
    let tries = recorded[1].end.as_ref().unwrap().attempts.len();
    let told = told(&outcome);
    let end = told.get("ok").or(told["details"].get("reason"));
    (end.unwrap().clone(), tries)
}

#[tokio::test(start_paused = true)]
async fn what_a_watcher_has_seen_is_not_tried_again() {
    let broken = |text: &str| {
        let piece = ModelEvent::Text(text.to_owned());
        ScriptedReply::Broken(vec![piece], lost())
    };
    for (watcher, first, expected) in [
        (true, broken("It wa"), (json!("transport"), 1)),
        (true, broken(""), (json!("It was sent."), 1)),
        (false, broken("It wa"), (json!("It was sent."), 1)),
    ] {
        let got = watched(watcher, vec![first, "It was sent.".into()]).await;
        assert_eq!(got, expected);
    }
    let mut exhausted = LlmFailure::new(LlmReason::Transport, true, "lost");
    exhausted.transport_exhausted = true;
    let first = ScriptedReply::from(LlmError::Failed(exhausted));
    let got = watched(false, vec![first, "It was sent.".into()]).await;
    assert_eq!(got, (json!("transport"), 1));
}

#[tokio::test(start_paused = true)]
async fn decisions_are_tried_again_too() {
    let model = ScriptedProvider::new([lost().into(), ScriptedReply::from("{\"call\": \"done\"}")]);
    let (_, outcome) = super::desk::route(routing(), Arc::new(model)).await;
    assert_eq!(told(&outcome), json!({"ok": "CONVERSATION_OVER"}));
}

/// Stops a run and checks how its nodes ended, and how many failed tries its request shows.
async fn stopped(
    first: ScriptedReply,
    stop: impl Future<Output = ()>,
    begun: &Arc<Notify>,
    ends: &[NodeStatus],
    n_tries: usize,
) {
    let functions = with_endless(working(turn(&["wait-for-ever"])), begun);
    let model = Arc::new(ScriptedProvider::new([first]));
    let runtime = runtime_with(functions, |parts| parts.providers = Providers::all(model));
    let request = RunRequest::new("work");
    let outcome = runtime.run_function_until(request, stop).await;
    assert_eq!(told(&outcome)["code"], "cancelled");
    assert_eq!(statuses(&runtime, &outcome).await, ends);
    let turn = nodes(&runtime, &outcome).await.remove(1).end.unwrap();
    assert_eq!(turn.attempts.len(), n_tries);
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_is_stopped_anywhere_closes_all_its_nodes() {
    let begun = Arc::new(Notify::new());
    let soon = || tokio::time::sleep(SECOND / 2);
    let waiting = [Cancelled, Cancelled];
    stopped(ScriptedReply::Silence, soon(), &begun, &waiting, 0).await;
    // Half a second is in the middle of the sleep after the first try.
    stopped(lost().into(), soon(), &begun, &waiting, 1).await;
    let calls = call("a", "wait-for-ever", "");
    let ends = [Cancelled, Completed, Cancelled];
    stopped(calls, begun.notified(), &begun, &ends, 0).await;
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_cut_off_can_ask_for_nothing_any_more() {
    let kept: Arc<std::sync::Mutex<Option<NativeCall>>> = Arc::default();
    let keep = Arc::clone(&kept);
    let functions = working(within(1_000)).with(
        function("shop", "wait-for-ever", "", [super::text("runtime")]),
        move |call: NativeCall| {
            *keep.lock().unwrap() = Some(call);
            pending::<Result<Json, CallError>>()
        },
    );
    let model = Arc::new(ScriptedProvider::new([call("a", "wait-for-ever", "")]));
    let (_, outcome) = run_work(functions, model, |_| ()).await;
    assert_eq!(told(&outcome)["details"]["reason"], "timeout");
    let services = kept.lock().unwrap().take().unwrap().services;
    let late = services.exec(turn(&[])).await.unwrap_err();
    assert_eq!(late.code.as_str(), "cancelled");
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_turn_replaces_the_default_and_never_the_bound_of_the_run() {
    let ended_after = async |asked: Option<u64>, run_ms: Option<u64>| {
        let start = Instant::now();
        let request = ExecRequest {
            timeout_ms: asked,
            ..turn(&["wait-for-ever"])
        };
        let functions = with_endless(working(request), &Arc::default());
        let replies = vec![call("a", "wait-for-ever", "{}")];
        let model = Arc::new(ScriptedProvider::new(replies));
        let (_, outcome) = run_work(functions, model, |parts| {
            parts.exec_timeout = Some(SECOND);
            parts.limits.run_ms = run_ms;
        })
        .await;
        let failure = told(&outcome);
        (start.elapsed(), failure["details"].clone())
    };
    let (time, details) = ended_after(None, None).await;
    assert_eq!(
        (time, details["reason"].as_str()),
        (SECOND, Some("timeout"))
    );
    let (time, details) = ended_after(Some(50_000), None).await;
    assert_eq!(
        (time, details["reason"].as_str()),
        (50 * SECOND, Some("timeout"))
    );
    let (time, details) = ended_after(Some(50_000), Some(2_000)).await;
    assert_eq!(
        (time, details["which"].as_str()),
        (2 * SECOND, Some("run_ms"))
    );
}
