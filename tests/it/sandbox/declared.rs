//! What authors declare holds for real components: calls that take too long are stopped, and
//! functions that conditions ask run without any grant.

use std::sync::Arc;
use std::time::{Duration, Instant};

use openprogram_core::function::Function;
use openprogram_core::gating::Condition;
use openprogram_core::question::Answer;
use openprogram_runtime::TurnRequest;
use openprogram_runtime::testing::{ScriptedAnswer, ScriptedProvider, ScriptedQuestions};
use openprogram_tests::host::{TestHost, named};
use serde_json::{Value, json};

fn quick(function: &mut Function) {
    function.gating.timeout = Some(Duration::from_millis(100));
}

#[tokio::test]
async fn a_component_that_computes_is_stopped_by_the_timeout_of_its_author() {
    let host = TestHost::new().guest("endless-loop").guest("healthy");
    let host = host.declare("run", quick).start().await;
    let started = Instant::now();
    let failure = host.failure("endless-loop.run", json!({})).await;
    assert_eq!(named(&failure), "limit-reached timeout");
    // Its own time for computing is a hundred times as long.
    assert!(started.elapsed() < Duration::from_secs(5));
    assert_eq!(
        host.call("double", json!({"number": 21})).await,
        Ok(json!(42))
    );
}

#[tokio::test]
async fn a_component_that_waits_for_the_host_is_stopped_too() {
    let silent = ScriptedQuestions::new([ScriptedAnswer::Silence]);
    let host = TestHost::new().guest("asker").grant_asking("asker");
    let host = host.questions(Arc::new(silent)).declare("which", quick);
    let host = host.start().await;
    let outcome = host.run("which", json!({"prompt": "Which?"})).await;
    let failure = outcome.result.unwrap_err();
    assert_eq!(named(&failure), "limit-reached timeout");
    let nodes = host.nodes(outcome.session.as_ref().unwrap()).await;
    assert!(nodes.iter().all(|node| node.end.is_some()), "{nodes:?}");
}

/// Whether a model is offered `asker.which` under this condition, where a person could be asked.
async fn is_offered(condition: Value) -> bool {
    let condition = Condition::from_json(&condition).unwrap();
    let model = Arc::new(ScriptedProvider::new(["Done."]));
    let yes = ScriptedAnswer::Given(Answer::Confirmed(true));
    let host = TestHost::new().guest("asker").grant_asking("asker");
    let host = host
        .questions(Arc::new(ScriptedQuestions::new([yes])))
        .provider(model.clone())
        .declare("which", move |f| {
            f.gating.available_if = Some(condition.clone())
        });
    let host = host.start().await;
    assert_eq!(host.call("asker.can", json!({})).await, Ok(json!(true)));
    let turn = host.runtime.exec(TurnRequest::text("Work.")).await;
    turn.result.unwrap();
    let requests = model.requests();
    requests[0].tools.iter().any(|tool| tool.name == "which")
}

#[tokio::test]
async fn a_function_that_a_condition_asks_has_no_grant() {
    assert!(!is_offered(json!({"export": "can"})).await);
    assert!(is_offered(json!({"not": {"export": "can"}})).await);
    assert!(!is_offered(json!({"env": "HOME"})).await);
    assert!(!is_offered(json!({"dir": "/"})).await);
}
