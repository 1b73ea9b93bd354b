//! Runs that are cancelled while a model writes: the server sees its request closed, the guest is
//! gone, and every node is closed, without anybody waiting for the model.

use std::future::pending;
use std::time::{Duration, Instant};

use openprogram_core::failure::FailureCode;
use openprogram_core::session::{NodeQuery, NodeStatus};
use openprogram_runtime::{RunRequest, TurnRequest};
use openprogram_tests::host::{RunningHost, TestHost, named};
use openprogram_tests::waiting::WaitingServer;
use serde_json::json;

/// A busy machine takes its time; the server would stay silent for ever.
const PROMPTLY: Duration = Duration::from_secs(20);

async fn waiting() -> (WaitingServer, RunningHost) {
    let server = WaitingServer::start().await;
    let host = TestHost::new().guest("turner").provider(server.model());
    let host = host.start().await;
    (server, host)
}

fn asking() -> RunRequest {
    let mut request = RunRequest::new("ask");
    request.arguments.insert("prompt".into(), "x".into());
    request
}

/// The statuses of all nodes of the one session.
async fn statuses(host: &RunningHost) -> Vec<NodeStatus> {
    let sessions = host.store.sessions(2).await.unwrap();
    let nodes = host
        .store
        .nodes(&sessions[0].id, NodeQuery::default())
        .await;
    nodes.unwrap().iter().map(|node| node.status()).collect()
}

async fn check_gone(server: &mut WaitingServer, since: Instant) {
    let gone = tokio::time::timeout(PROMPTLY, server.gone()).await;
    assert!(
        gone.unwrap() >= since,
        "it was there until it was cancelled"
    );
}

#[tokio::test]
async fn a_run_that_is_told_to_stop_ends_its_request_and_its_guest() {
    let (mut server, host) = waiting().await;
    let outcome = host
        .runtime
        .run_function_until(asking(), server.asked())
        .await;
    let since = Instant::now() - PROMPTLY;
    assert_eq!(named(&outcome.result.unwrap_err()), "cancelled");
    let closed = [NodeStatus::Cancelled, NodeStatus::Cancelled];
    assert_eq!(statuses(&host).await, closed);
    check_gone(&mut server, since).await;
}

#[tokio::test]
async fn a_run_that_is_dropped_ends_its_request_and_its_guest() {
    let (mut server, host) = waiting().await;
    let running = tokio::spawn({
        let runtime = host.runtime.clone();
        async move { runtime.run_function(asking()).await }
    });
    server.asked().await;
    let since = Instant::now();
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled());
    host.runtime.settle().await.unwrap();
    let closed = [NodeStatus::Cancelled, NodeStatus::Cancelled];
    assert_eq!(statuses(&host).await, closed);
    check_gone(&mut server, since).await;
}

#[tokio::test]
async fn a_runtime_that_is_closed_ends_its_requests() {
    let (mut server, host) = waiting().await;
    let running = tokio::spawn({
        let runtime = host.runtime.clone();
        async move { runtime.exec(TurnRequest::text("x")).await }
    });
    server.asked().await;
    let since = Instant::now();
    host.runtime.close();
    let failure = running.await.unwrap().result.unwrap_err();
    assert_eq!(failure.code, FailureCode::Cancelled);
    let closed = [NodeStatus::Completed, NodeStatus::Cancelled];
    assert_eq!(statuses(&host).await, closed);
    check_gone(&mut server, since).await;
}

#[tokio::test]
async fn the_time_of_a_turn_ends_its_request_and_the_guest_goes_on() {
    let (mut server, host) = waiting().await;
    let since = Instant::now();
    let arguments = json!({"prompt": "x", "timeout_ms": 300});
    let failure = host.failure("timed", arguments).await;
    assert_eq!(named(&failure), "llm timeout");
    assert_eq!(failure.details["retryable"], false);
    let failed = [NodeStatus::Failed, NodeStatus::Failed];
    assert_eq!(statuses(&host).await, failed);
    check_gone(&mut server, since).await;
}

#[tokio::test]
async fn the_time_of_a_turn_above_ends_the_requests_of_the_turns_below() {
    let server = WaitingServer::start().await;
    let (silent, mut server) = (server.model(), server);
    let host = TestHost::new().guest("turner").provider(silent);
    let host = host.start().await;
    // The turn at the top has a model that calls a tool, which makes a turn with the silent one.
    let caller = openprogram_runtime::testing::ScriptedProvider::new([
        openprogram_runtime::testing::ScriptedReply::calls(
            "",
            [("1", "delegate", r#"{"prompt": "y"}"#)],
        ),
    ]);
    let mut request = TurnRequest::text("x");
    request.provider = Some(std::sync::Arc::new(caller).into());
    request.turn.timeout_ms = Some(300);
    let since = Instant::now();
    let outcome = host.runtime.exec_until(request, pending()).await;
    assert_eq!(named(&outcome.result.unwrap_err()), "llm timeout");
    let expected = [
        NodeStatus::Completed,
        NodeStatus::Completed,
        NodeStatus::Cancelled,
        NodeStatus::Cancelled,
    ];
    assert_eq!(statuses(&host).await, expected);
    check_gone(&mut server, since).await;
}
