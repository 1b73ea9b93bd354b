//! A runtime that is closed: what is asked of it fails, what runs is stopped, and providers are told
//! once.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::llm::{LlmFailure, ModelRequest, Provider};
use openprogram_core::session::{NodeQuery, NodeStatus};
use serde_json::json;
use tokio::sync::Notify;

use super::{runtime, runtime_with};
use crate::testing::NativeFunctions;
use crate::{DecideRequest, ModelFn, ModelOpener, Providers, RunRequest, Runtime, TurnRequest};

/// A model that says one word and counts how often it is closed.
fn counted(n_closed: &Arc<AtomicUsize>) -> ModelFn {
    let n_closed = Arc::clone(n_closed);
    ModelFn::new("own:word", |_: ModelRequest| async {
        Ok::<_, LlmFailure>("word")
    })
    .on_close(move || {
        n_closed.fetch_add(1, Ordering::Relaxed);
    })
}

async fn all_entries(runtime: &Runtime) -> Vec<Failure> {
    let turn = || TurnRequest::text("go");
    let decision = || DecideRequest::new("go", Vec::new());
    let closing = openprogram_core::guest::Closing {
        options: Vec::new(),
        context: openprogram_core::JsonObject::new(),
    };
    let run = runtime.run_function(RunRequest::new("f")).await;
    let parsed = runtime.parse("no pick", decision()).await;
    vec![
        run.result.unwrap_err(),
        runtime.exec(turn()).await.result.unwrap_err(),
        runtime
            .exec_closing(turn(), closing)
            .await
            .result
            .unwrap_err(),
        runtime.decide(decision()).await.result.unwrap_err(),
        runtime.make(decision()).await.result.unwrap_err(),
        parsed.result.unwrap_err(),
    ]
}

#[tokio::test]
async fn whatever_is_asked_of_a_closed_runtime_fails_as_closed() {
    let n_closed = Arc::new(AtomicUsize::new(0));
    let model: Arc<dyn Provider> = Arc::new(counted(&n_closed));
    let providers = Providers {
        main: Some(Arc::clone(&model)),
        exec: Some(Arc::clone(&model)),
        review: Some(Arc::new(counted(&n_closed))),
    };
    let runtime = runtime(NativeFunctions::default(), providers);
    let other_handle = runtime.clone();
    let said = runtime.exec(TurnRequest::text("go")).await;
    assert_eq!(said.result.unwrap().text, "word");
    other_handle.close();
    assert_eq!(n_closed.load(Ordering::Relaxed), 2, "each provider once");
    let expected = json!({
        "code": "closed",
        "message": "the runtime is closed; make another one",
        "details": {},
    });
    for failure in all_entries(&runtime).await {
        assert_eq!(failure.to_json(), expected);
    }
    runtime.close();
    drop((runtime, other_handle));
    assert_eq!(n_closed.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn closing_stops_what_runs_and_then_tells_the_provider() {
    let (asked, n_closed) = (Arc::new(Notify::new()), Arc::new(AtomicUsize::new(0)));
    let silent = {
        let (asked, n_closed) = (Arc::clone(&asked), Arc::clone(&n_closed));
        ModelFn::new("own:silent", move |_: ModelRequest| {
            asked.notify_one();
            pending::<Result<&str, LlmFailure>>()
        })
        .on_close(move || {
            n_closed.fetch_add(1, Ordering::Relaxed);
        })
    };
    let runtime = runtime(NativeFunctions::default(), Providers::all(Arc::new(silent)));
    let running = tokio::spawn({
        let runtime = runtime.clone();
        async move { runtime.exec(TurnRequest::text("go")).await }
    });
    asked.notified().await;
    runtime.close();
    assert_eq!(n_closed.load(Ordering::Relaxed), 0, "it is in use");
    let outcome = running.await.unwrap();
    assert_eq!(n_closed.load(Ordering::Relaxed), 1);
    let failure = outcome.result.unwrap_err();
    let message = "the run was cancelled: its runtime was closed";
    assert_eq!(failure, Failure::new(FailureCode::Cancelled, message));
    let session = outcome.session.unwrap();
    let nodes = runtime.store().nodes(&session, NodeQuery::default()).await;
    let nodes = nodes.unwrap();
    let statuses: Vec<_> = nodes.iter().map(|node| node.status()).collect();
    assert_eq!(statuses, [NodeStatus::Completed, NodeStatus::Cancelled]);
}

/// Opens nothing, counts how often it is closed, and panics then.
struct Opener(Arc<AtomicUsize>);

#[async_trait::async_trait]
impl ModelOpener for Opener {
    async fn open(&self, model: &str) -> Result<Arc<dyn Provider>, Failure> {
        Err(Failure::new(FailureCode::NoProvider, model))
    }

    fn close(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
        panic!("an opener that does not close");
    }
}

#[test]
fn the_last_handle_closes_and_a_provider_that_panics_keeps_no_other_from_it() {
    let n_closed = Arc::new(AtomicUsize::new(0));
    let panics = ModelFn::new("own:panics", |_: ModelRequest| async {
        Ok::<_, LlmFailure>("")
    })
    .on_close(|| panic!("a model that does not close"));
    let providers = Providers {
        main: Some(Arc::new(panics)),
        exec: Some(Arc::new(counted(&n_closed))),
        review: None,
    };
    let runtime = runtime_with(NativeFunctions::default(), |parts| {
        parts.providers = providers;
        parts.models = Arc::new(Opener(Arc::clone(&n_closed)));
    });
    let other_handle = runtime.clone();
    drop(runtime);
    assert_eq!(n_closed.load(Ordering::Relaxed), 0);
    drop(other_handle);
    assert_eq!(n_closed.load(Ordering::Relaxed), 2);
}
