//! Runs that wait for each other: who is served, who is refused, and what holds no place.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use openprogram_core::content::ContentBlock;
use openprogram_core::decision::{MenuOption, Payload};
use openprogram_core::failure::Failure;
use openprogram_core::guest::{CallError, ExecRequest};
use openprogram_core::llm::{
    Abilities, DecisionReply, DecisionState, EventSink, LlmError, LlmFailure, LlmReason,
    ModelReply, ModelRequest, Provider, Weight,
};
use openprogram_core::session::NodeStatus;
use openprogram_core::{Json, function::RuntimeRole};
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::shop::{call, turn, working};
use super::{nodes, run, runtime_with, told};
use crate::testing::{
    NativeCall, NativeFunctions, ScriptedProvider, ScriptedReply, function, passed_on,
};
use crate::{AdmissionLimits, DecideRequest, Providers, RunRequest, Runtime, TurnRequest};

const SECOND: Duration = Duration::from_secs(1);

/// How many are inside at once, and at most were.
#[derive(Debug, Default)]
struct Inside {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Inside {
    async fn stay(&self) {
        let now = self.now.fetch_add(1, Ordering::Relaxed) + 1;
        self.most.fetch_max(now, Ordering::Relaxed);
        sleep(SECOND).await;
        self.now.fetch_sub(1, Ordering::Relaxed);
    }

    fn most(&self) -> usize {
        self.most.load(Ordering::Relaxed)
    }
}

/// A model that takes a second for everything and keeps what it was told, in order.
#[derive(Debug, Default)]
struct Slow {
    decides: bool,
    inside: Inside,
    served: Mutex<Vec<String>>,
}

#[async_trait]
impl Provider for Slow {
    fn name(&self) -> &str {
        "test:slow"
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            text: !self.decides,
            decide: self.decides,
        }
    }

    async fn complete(
        &self,
        request: &ModelRequest,
        _: &dyn EventSink,
    ) -> Result<ModelReply, LlmError> {
        self.inside.stay().await;
        let said = request.messages.last().unwrap().content.last().unwrap();
        let said = said.as_text().unwrap().to_owned();
        self.served.lock().unwrap().push(said);
        Ok(ModelReply::text_only("Done."))
    }

    async fn decide(&self, state: &DecisionState) -> Result<DecisionReply, LlmError> {
        self.inside.stay().await;
        let first = Weight {
            option: state.choices[0].name.clone(),
            probability: 1.0,
        };
        Ok(DecisionReply {
            weights: vec![first],
            ..DecisionReply::default()
        })
    }
}

fn admitting(
    functions: NativeFunctions,
    model: Arc<dyn Provider>,
    change: impl FnOnce(&mut AdmissionLimits),
) -> Runtime {
    runtime_with(functions, |parts| {
        parts.providers = Providers::all(model);
        change(&mut parts.admission);
    })
}

fn which(failure: &Failure) -> String {
    format!("{} {}", failure.code.as_str(), failure.details["which"])
}

/// A function that makes so many turns at once.
fn flooding(n_turns: usize) -> NativeFunctions {
    let flood = move |call: NativeCall| async move {
        let mut turns = JoinSet::new();
        for _ in 0..n_turns {
            let services = Arc::clone(&call.services);
            let said = vec![ContentBlock::Text("Flood.".to_owned())];
            let request = ExecRequest::new(RuntimeRole::Main, said);
            turns.spawn(async move { services.exec(request).await });
        }
        let ends = turns.join_all().await;
        let replies = ends.into_iter().collect::<Result<Vec<_>, _>>();
        Ok(json!(replies.map_err(passed_on)?.len()))
    };
    let declared = function("a", "flood", "", [super::text("runtime")]);
    NativeFunctions::default().with(declared, flood)
}

#[tokio::test(start_paused = true)]
async fn a_run_with_one_request_is_served_in_turn_beside_one_with_hundreds() {
    let model = Arc::new(Slow::default());
    let runtime = admitting(flooding(200), model.clone(), |limits| limits.requests = 1);
    let flood = tokio::spawn({
        let runtime = runtime.clone();
        async move { run(&runtime, "flood", json!({})).await }
    });
    // In the middle of the eleventh request; all others wait.
    sleep(SECOND * 10 + SECOND / 2).await;
    let small = runtime.exec(TurnRequest::text("Small.")).await;
    assert_eq!(small.result.unwrap().text, "Done.");
    let served = model.served.lock().unwrap().clone();
    assert_eq!(
        served.iter().position(|said| said.contains("Small.")),
        Some(11)
    );
    assert_eq!(served.len(), 12);
    assert_eq!(told(&flood.await.unwrap()), json!({"ok": 200}));
    assert_eq!(model.inside.most(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_thousand_turns_at_once_share_the_places_and_all_finish() {
    let model = Arc::new(Slow::default());
    let runtime = admitting(NativeFunctions::default(), model.clone(), |_| ());
    let mut turns = JoinSet::new();
    for _ in 0..1_000 {
        let runtime = runtime.clone();
        turns.spawn(async move { runtime.exec(TurnRequest::text("Go.")).await.result });
    }
    let ends = turns.join_all().await;
    assert!(ends.iter().all(Result::is_ok));
    assert_eq!((ends.len(), model.inside.most()), (1_000, 32));
}

#[tokio::test(start_paused = true)]
async fn a_full_queue_and_a_long_wait_are_refused_by_name_and_a_stopped_waiter_leaves() {
    let silent = [ScriptedReply::Silence];
    let model = Arc::new(ScriptedProvider::new(silent));
    let runtime = admitting(NativeFunctions::default(), model, |limits| {
        limits.requests = 1;
        limits.queue = 1;
    });
    let exec = |timeout_ms: Option<u64>| {
        let runtime = runtime.clone();
        let mut request = TurnRequest::text("Go.");
        request.turn.timeout_ms = timeout_ms;
        tokio::spawn(async move { runtime.exec(request).await.result })
    };
    let holding = exec(None);
    sleep(SECOND).await;
    let stopped = runtime.exec_until(TurnRequest::text("Go."), sleep(SECOND));
    assert_eq!(stopped.await.result.unwrap_err().code.as_str(), "cancelled");
    let patient = exec(None);
    sleep(SECOND).await;
    let refused = exec(None).await.unwrap().unwrap_err();
    assert_eq!(which(&refused), "limit-reached \"queue\"");
    assert_eq!(
        refused.message,
        "all 1 places for model requests are taken, and 1 wait for one; try again when fewer are \
         running"
    );
    let refused = patient.await.unwrap().unwrap_err();
    assert_eq!(which(&refused), "limit-reached \"queue_ms\"");
    assert_eq!(refused.details["limit"], 600_000);
    let refused = exec(Some(5_000)).await.unwrap().unwrap_err();
    assert_eq!(
        refused.message,
        "waited 5000 ms for one of the 1 places for model requests; try again when fewer are \
         running"
    );
    holding.abort();
}

#[tokio::test(start_paused = true)]
async fn a_request_that_will_be_tried_again_holds_no_place_while_it_sleeps() {
    let lost = LlmError::Failed(LlmFailure::new(LlmReason::Transport, true, "lost"));
    let replies = [lost.into(), ScriptedReply::from("Second."), "First.".into()];
    let model = Arc::new(ScriptedProvider::new(replies));
    let runtime = admitting(NativeFunctions::default(), model, |limits| {
        limits.requests = 1;
        limits.queue = 0;
    });
    let first = tokio::spawn({
        let runtime = runtime.clone();
        async move { runtime.exec(TurnRequest::text("Go.")).await.result }
    });
    sleep(SECOND / 10).await;
    let second = runtime.exec(TurnRequest::text("Go.")).await.result;
    assert_eq!(second.unwrap().text, "Second.");
    assert_eq!(first.await.unwrap().unwrap().text, "First.");
}

#[tokio::test]
async fn turns_inside_the_calls_of_turns_need_no_second_place() {
    let deeper = |name: &str, tools: &'static [&'static str]| {
        let declared = function("shop", name, "", [super::text("runtime")]);
        let body = move |call: NativeCall| async move {
            let reply = call.services.exec(turn(tools)).await.map_err(passed_on)?;
            Ok(Json::String(reply.text))
        };
        (declared, body)
    };
    let (dig, dig_body) = deeper("dig", &["delve"]);
    let (delve, delve_body) = deeper("delve", &["count"]);
    let functions = working(turn(&["dig", "delve", "count"]))
        .with(dig, dig_body)
        .with(delve, delve_body);
    let replies = [
        call("a", "dig", "{}"),
        call("b", "delve", "{}"),
        call("c", "count", "{\"n\": 7}"),
        "At the bottom.".into(),
        "In the middle.".into(),
        "At the top.".into(),
    ];
    let model = Arc::new(ScriptedProvider::new(replies));
    let runtime = admitting(functions, model, |limits| {
        limits.requests = 1;
        limits.calls = 1;
        limits.queue = 0;
    });
    let outcome = run(&runtime, "work", json!({})).await;
    assert_eq!(told(&outcome), json!({"ok": "At the top."}));
    let found = nodes(&runtime, &outcome).await;
    assert!(
        found
            .iter()
            .all(|node| node.status() == NodeStatus::Completed)
    );
    assert_eq!(found.len(), 10, "four calls and six requests");
}

#[tokio::test(start_paused = true)]
async fn decisions_of_providers_that_weigh_wait_for_places_too() {
    let slow = Slow {
        decides: true,
        ..Slow::default()
    };
    let model = Arc::new(slow);
    let runtime = admitting(NativeFunctions::default(), model.clone(), |limits| {
        limits.requests = 2;
    });
    let option = |name: &str| {
        let payload = Payload::Value(json!(name));
        MenuOption::new(name.to_owned(), None, payload)
    };
    let mut decisions = JoinSet::new();
    for _ in 0..7 {
        let runtime = runtime.clone();
        let request = DecideRequest::new("What now?", vec![option("go"), option("wait")]);
        decisions.spawn(async move { runtime.decide(request).await.result });
    }
    let picks = decisions.join_all().await;
    let all_go = picks
        .into_iter()
        .all(|pick| pick.unwrap().value == Some(json!("go")));
    assert!(all_go && model.inside.most() == 2);
}

/// `outer` calls `inner`, which takes a second.
fn stays(inside: &Arc<Inside>) -> NativeFunctions {
    let inside = Arc::clone(inside);
    let inner = move |_: NativeCall| {
        let inside = Arc::clone(&inside);
        async move {
            inside.stay().await;
            Ok::<Json, CallError>(json!("in"))
        }
    };
    let outer = |call: NativeCall| async move {
        let inner = call.services.call("inner", json!({})).await;
        inner.map_err(passed_on)
    };
    NativeFunctions::default()
        .with(function("a", "outer", "", []), outer)
        .with(function("a", "inner", "", []), inner)
}

#[tokio::test(start_paused = true)]
async fn calls_at_the_top_wait_for_places_and_those_below_them_never() {
    for (places, n_runs) in [(1, 5), (3, 20)] {
        let inside = Arc::default();
        let runtime = runtime_with(stays(&inside), |parts| parts.admission.calls = places);
        let mut runs = JoinSet::new();
        for _ in 0..n_runs {
            let runtime = runtime.clone();
            runs.spawn(async move { run(&runtime, "outer", json!({})).await });
        }
        for outcome in runs.join_all().await {
            assert_eq!(told(&outcome), json!({"ok": "in"}));
        }
        assert_eq!(inside.most(), places as usize);
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_finds_no_place_is_recorded_with_the_reason() {
    let inside = Arc::default();
    let runtime = runtime_with(stays(&inside), |parts| {
        parts.admission.calls = 1;
        parts.admission.queue = 0;
    });
    let first = tokio::spawn({
        let runtime = runtime.clone();
        async move { run(&runtime, "outer", json!({})).await }
    });
    sleep(SECOND / 2).await;
    let refused = runtime.run_function(RunRequest::new("outer")).await;
    let node = nodes(&runtime, &refused).await.remove(0);
    assert_eq!(node.status(), NodeStatus::Failed);
    let failure = node.end.unwrap().failure.unwrap();
    assert_eq!(which(&failure), "limit-reached \"queue\"");
    assert_eq!(refused.result, Err(failure));
    assert_eq!(told(&first.await.unwrap()), json!({"ok": "in"}));
}
