//! Budgets of whole runs and of granted models, and what refuses when they are used up.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use openprogram_core::Json;
use openprogram_core::content::ContentBlock;
use openprogram_core::failure::Failure;
use openprogram_core::function::{RuntimeRef, RuntimeRole};
use openprogram_core::grant::Grants;
use openprogram_core::guest::{CallError, ExecRequest, HostServices, ToolsWanted};
use openprogram_core::session::{NodeKind, NodeStatus, Usage};
use serde_json::json;

use super::{nodes, run, runtime_with, text};
use crate::testing::{
    NamedModels, NativeCall, NativeFunctions, ScriptedProvider, ScriptedReply, function, passed_on,
};
use crate::{Providers, RunLimits, Runtime};

fn costing(text: &str, input_tokens: u64, output_tokens: u64) -> ScriptedReply {
    ScriptedReply::from(text).costing(Usage {
        input_tokens,
        output_tokens,
        ..Usage::default()
    })
}

async fn say(services: &dyn HostServices, with: RuntimeRef) -> Result<String, Failure> {
    let said = vec![ContentBlock::Text("Go on.".to_owned())];
    let turn = ExecRequest {
        tools: ToolsWanted::Named(Vec::new()),
        ..ExecRequest::new(with, said)
    };
    Ok(services.exec(turn).await?.text)
}

/// Makes turns until one is refused, and tells how many there were and which limit it was.
async fn say_on(services: &dyn HostServices, with: RuntimeRef) -> Json {
    for number in 0.. {
        if let Err(failure) = say(services, with).await {
            return json!([number, failure.details["which"]]);
        }
    }
    unreachable!("the script ends")
}

async fn with_the_lent_one(call: NativeCall) -> Result<Json, CallError> {
    Ok(say_on(&*call.services, RuntimeRole::Main.into()).await)
}

async fn with_an_opened_one(call: NativeCall) -> Result<Json, CallError> {
    let opened = call.services.open("other:big").await.map_err(passed_on)?;
    Ok(say_on(&*call.services, opened).await)
}

/// Opens the model as well, and lets another function go on with it.
async fn above(call: NativeCall) -> Result<Json, CallError> {
    call.services.open("other:big").await.map_err(passed_on)?;
    let below = call.services.call("below", json!({})).await;
    below.map_err(passed_on)
}

fn functions() -> NativeFunctions {
    let lent = [text("runtime")];
    NativeFunctions::default()
        .with(function("a", "lent", "", lent.clone()), with_the_lent_one)
        .with(function("a", "opened", "", []), with_an_opened_one)
        .with(function("a", "above", "", []), above)
        .with(function("b", "below", "", []), with_an_opened_one)
}

/// A runtime with these grants of `other:big` to `a` and `b`, and replies that cost 10 tokens each.
fn granted(grants: [&str; 2], limits: RunLimits) -> Runtime {
    let replies = || Arc::new(ScriptedProvider::new((0..20).map(|_| costing("x", 7, 3))));
    let models = |line: &str| {
        Arc::new(Grants {
            models: vec![line.parse().unwrap()],
            ..Grants::default()
        })
    };
    let grants = [("a", models(grants[0])), ("b", models(grants[1]))];
    runtime_with(functions(), |parts| {
        parts.grants = BTreeMap::from(grants.map(|(name, grants)| (name.to_owned(), grants)));
        parts.models = Arc::new(NamedModels::default().with("other:big", replies()));
        parts.providers = Providers::all(replies());
        parts.limits = limits;
        let granted = parts.policy.grant(&parts.catalog, "a", "below");
        granted.unwrap();
    })
}

#[tokio::test(start_paused = true)]
async fn requests_that_are_given_up_spend_of_the_budget() {
    let functions = NativeFunctions::default().with(
        function("a", "give_up", "", [text("runtime")]),
        |call| async move {
            for number in 0.. {
                let said = vec![ContentBlock::Text("word ".repeat(800))];
                let turn = ExecRequest {
                    tools: ToolsWanted::Named(Vec::new()),
                    timeout_ms: Some(10),
                    ..ExecRequest::new(RuntimeRole::Main, said)
                };
                let failure = call.services.exec(turn).await.unwrap_err();
                if failure.details.get("which") == Some(&json!("tokens")) {
                    return Ok(json!(number));
                }
                assert_eq!(failure.details["reason"], "timeout");
            }
            unreachable!("the budget ends")
        },
    );
    let runtime = runtime_with(functions, |parts| {
        let silence = (0..20).map(|_| ScriptedReply::Silence);
        parts.providers = Providers::all(Arc::new(ScriptedProvider::new(silence)));
        parts.limits.tokens = Some(3_000);
    });
    let outcome = run(&runtime, "give_up", json!({})).await;
    assert_eq!(outcome.result, Ok(json!(3)));
}

#[tokio::test]
async fn a_budget_ends_what_it_is_for_after_the_reply_that_uses_it_up() {
    let run_of = |tokens: u64| RunLimits {
        tokens: Some(tokens),
        ..RunLimits::default()
    };
    let turns = RunLimits {
        model_turns: 2,
        ..RunLimits::default()
    };
    let free = RunLimits::default();
    for (function, grants, limits, expected) in [
        ("lent", ["other:big=1"; 2], run_of(30), json!([3, "tokens"])),
        ("lent", ["other:big=1"; 2], run_of(31), json!([4, "tokens"])),
        ("lent", ["other:big=1"; 2], run_of(0), json!([0, "tokens"])),
        ("lent", ["other:big=1"; 2], turns, json!([2, "model_turns"])),
        (
            "opened",
            ["other:big=25"; 2],
            free,
            json!([3, "model_tokens"]),
        ),
        (
            "opened",
            ["other:big=0"; 2],
            free,
            json!([0, "model_tokens"]),
        ),
        (
            "opened",
            ["other:big=50"; 2],
            run_of(15),
            json!([2, "tokens"]),
        ),
        // The budgets of a chain intersect.
        (
            "above",
            ["other:big=20", "other:big=50"],
            free,
            json!([2, "model_tokens"]),
        ),
        (
            "above",
            ["other:big=50", "other:big=20"],
            free,
            json!([2, "model_tokens"]),
        ),
    ] {
        let runtime = granted(grants, limits);
        let outcome = run(&runtime, function, json!({})).await;
        assert_eq!(outcome.result, Ok(expected), "{function} {grants:?}");
        let nodes = nodes(&runtime, &outcome).await;
        let ends = nodes.iter().map(|node| node.end.as_ref());
        assert!(ends.clone().all(|end| end.is_some()), "{function}");
        let completed = |end: Option<&openprogram_core::session::NodeEnd>| {
            end.is_some_and(|end| end.status == NodeStatus::Completed)
        };
        assert!(ends.clone().all(completed), "{function}");
    }
}

#[tokio::test]
async fn a_provider_that_does_not_tell_its_usage_is_estimated_and_the_node_says_so() {
    // The path of the call and what is said are 66 bytes, the answer 34.
    let model = Arc::new(ScriptedProvider::new(
        ["0123456789012345678901234567890123"; 5],
    ));
    let runtime = runtime_with(functions(), |parts| {
        parts.providers = Providers::all(model.clone());
        parts.limits.tokens = Some(9);
    });
    let outcome = run(&runtime, "lent", json!({})).await;
    assert_eq!(outcome.result, Ok(json!([1, "tokens"])));
    let nodes = nodes(&runtime, &outcome).await;
    let turn = nodes.iter().find(|n| n.opened.kind == NodeKind::Llm);
    let end = turn.unwrap().end.as_ref().unwrap();
    assert_eq!(
        (end.usage, end.facts["tokens_estimated"].as_u64()),
        (None, Some(25))
    );
}

#[tokio::test]
async fn usage_that_is_too_little_for_what_was_written_spends_what_its_length_says() {
    let text = "0123456789".repeat(100);
    for (input_tokens, output_tokens, spent) in [(0, 0, 266), (20, 0, 270), (0, 250, 266)] {
        let reply = costing(&text, input_tokens, output_tokens);
        let model = Arc::new(ScriptedProvider::new(vec![reply; 5]));
        let runtime = runtime_with(functions(), |parts| {
            parts.providers = Providers::all(model.clone());
            parts.limits.tokens = Some(260);
        });
        let outcome = run(&runtime, "lent", json!({})).await;
        assert_eq!(outcome.result, Ok(json!([1, "tokens"])));
        let nodes = nodes(&runtime, &outcome).await;
        let turn = nodes.iter().find(|n| n.opened.kind == NodeKind::Llm);
        let end = turn.unwrap().end.as_ref().unwrap();
        // What the provider told is kept as it was told.
        let told = end
            .usage
            .map(|usage| (usage.input_tokens, usage.output_tokens));
        assert_eq!(told, Some((input_tokens, output_tokens)));
        assert_eq!(end.facts["tokens_estimated"].as_u64(), Some(spent));
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_takes_too_long_is_ended_with_every_node_closed() {
    let slow = ScriptedReply::from("late").after(Duration::from_secs(60));
    let model = Arc::new(ScriptedProvider::new([slow]));
    let runtime = runtime_with(functions(), |parts| {
        parts.providers = Providers::all(model);
        parts.limits.run_ms = Some(5_000);
    });
    let outcome = run(&runtime, "lent", json!({})).await;
    let failure = outcome.result.clone().unwrap_err();
    assert_eq!(failure.to_string(), "the run took longer than 5000 ms");
    assert_eq!(failure.details["which"], "run_ms");
    let nodes = nodes(&runtime, &outcome).await;
    assert_eq!(nodes.len(), 2);
    assert!(nodes.iter().all(|node| node.end.is_some()));
}
