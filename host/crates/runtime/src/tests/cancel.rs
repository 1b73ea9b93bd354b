//! A run that is dropped or stopped closes all its nodes.

use std::future::{pending, ready};
use std::sync::Arc;

use expect_test::expect;
use openprogram_core::Json;
use openprogram_core::guest::CallError;
use openprogram_core::session::NodeStatus;
use serde_json::json;
use tokio::sync::Notify;

use super::{graph, nodes, run, runtime_with, told};
use crate::testing::{NativeCall, NativeFunctions, function, passed_on};
use crate::{RunRequest, Runtime};

/// `outer` calls `inner`, which says that it is there and waits for ever.
fn waiting(there: &Arc<Notify>) -> Runtime {
    let there = Arc::clone(there);
    let inner = move |_: NativeCall| {
        let there = Arc::clone(&there);
        async move {
            there.notify_one();
            pending::<Result<Json, CallError>>().await
        }
    };
    let outer = |call: NativeCall| async move {
        let inner = call.services.call("inner", json!({})).await;
        inner.map_err(passed_on)
    };
    let quick = |_: NativeCall| async { Ok(json!("done")) };
    let functions = NativeFunctions::default()
        .with(function("a", "outer", "", []), outer)
        .with(function("a", "inner", "", []), inner)
        .with(function("a", "quick", "", []), quick);
    runtime_with(functions, |_| ())
}

#[tokio::test]
async fn a_stopped_run_tells_where_it_was_and_closes_every_node() {
    let there = Arc::new(Notify::new());
    let runtime = waiting(&there);
    let request = RunRequest::new("outer");
    let outcome = runtime.run_function_until(request, there.notified()).await;
    let expected = json!({
        "code": "cancelled", "message": "the run was cancelled", "details": {},
    });
    assert_eq!(told(&outcome), expected);
    assert_eq!(
        outcome.node,
        Some(nodes(&runtime, &outcome).await[0].opened.id.clone())
    );
    expect![[r#"
        1 code test:a/api.outer
          in   {}
          cancelled: the run was cancelled
          cancelled
        2 code test:a/api.inner caller=1
          in   {}
          cancelled: the run was cancelled
          cancelled
    "#]]
    .assert_eq(&graph(&runtime, &outcome).await);
}

#[tokio::test]
async fn a_run_that_ends_first_is_not_stopped() {
    let runtime = waiting(&Arc::new(Notify::new()));
    let request = RunRequest::new("quick");
    let outcome = runtime.run_function_until(request, ready(())).await;
    assert_eq!(told(&outcome), json!({"ok": "done"}));
}

#[tokio::test]
async fn a_dropped_run_is_closed_without_anyone_asking() {
    let there = Arc::new(Notify::new());
    let runtime = waiting(&there);
    let running = tokio::spawn({
        let runtime = runtime.clone();
        async move { run(&runtime, "outer", json!({})).await }
    });
    there.notified().await;
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled());
    // The closing was handed to the async runtime when the run was dropped.
    tokio::task::yield_now().await;
    tokio::task::yield_now().await;
    let session = runtime.store().sessions(1).await.unwrap().remove(0).id;
    let all = openprogram_core::session::NodeQuery::default();
    let found = runtime.store().nodes(&session, all).await.unwrap();
    let statuses: Vec<_> = found.iter().map(|node| node.status()).collect();
    assert_eq!(statuses, [NodeStatus::Cancelled, NodeStatus::Cancelled]);
}

#[test]
fn a_run_dropped_outside_an_async_runtime_is_closed_by_settling() {
    let there = Arc::new(Notify::new());
    let runtime = waiting(&there);
    {
        let mut running = Box::pin(run(&runtime, "outer", json!({})));
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(running.as_mut().poll(&mut context).is_pending());
    }
    let (settled, statuses) = pollster::block_on(async {
        let settled = runtime.settle().await;
        let session = runtime.store().sessions(1).await.unwrap().remove(0).id;
        let all = openprogram_core::session::NodeQuery::default();
        let found = runtime.store().nodes(&session, all).await.unwrap();
        (
            settled,
            found.iter().map(|node| node.status()).collect::<Vec<_>>(),
        )
    });
    assert_eq!(settled, Ok(()));
    assert_eq!(statuses, [NodeStatus::Cancelled, NodeStatus::Cancelled]);
}

#[tokio::test]
async fn what_a_limit_cut_off_below_a_call_is_closed_when_the_call_ends() {
    let there = Arc::new(Notify::new());
    let inner_there = Arc::clone(&there);
    let inner = move |_: NativeCall| {
        let there = Arc::clone(&inner_there);
        async move {
            there.notify_one();
            pending::<Result<Json, CallError>>().await
        }
    };
    // What a host does whose time for the function is over: the call below is dropped.
    let outer = move |call: NativeCall| {
        let there = Arc::clone(&there);
        async move {
            tokio::select! {
                _ = call.services.call("inner", json!({})) => unreachable!("it waits for ever"),
                () = there.notified() => Err(CallError::LimitReached {
                    which: "wall_ms",
                    limit: 20,
                    message: "the function took longer than 20 ms".to_owned(),
                }),
            }
        }
    };
    let functions = NativeFunctions::default()
        .with(function("a", "outer", "", []), outer)
        .with(function("a", "inner", "", []), inner);
    let runtime = runtime_with(functions, |_| ());
    let outcome = run(&runtime, "outer", json!({})).await;
    assert_eq!(told(&outcome)["code"], "limit-reached");
    let found = nodes(&runtime, &outcome).await;
    let statuses: Vec<_> = found.iter().map(|node| node.status()).collect();
    assert_eq!(statuses, [NodeStatus::Failed, NodeStatus::Cancelled]);
}
