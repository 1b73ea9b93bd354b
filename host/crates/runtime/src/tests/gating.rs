//! What authors declare of how their functions are offered and called: time, availability, presets,
//! sources, approvals by condition, kept results, tools that are looked for.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use openprogram_core::Json;
use openprogram_core::content::ToolResult;
use openprogram_core::function::Function;
use openprogram_core::gating::{Caching, Condition, Deferred, RequiredApproval};
use openprogram_core::guest::{CallError, ToolsWanted};
use openprogram_core::llm::ModelRequest;
use openprogram_core::question::{Answer, QuestionBody};
use openprogram_core::schema::{IntegerKind, Type};
use openprogram_core::session::{Node, NodeQuery};
use openprogram_core::tool::ToolChoice;
use serde_json::json;

use super::shop::{call, results};
use super::{nodes, object, run, runtime_with, text, told};
use crate::testing::{
    NativeCall, NativeFunctions, ScriptedAnswer, ScriptedProvider, ScriptedQuestions,
    ScriptedReply, function, passed_on,
};
use crate::{Providers, RunRequest, Runtime, RuntimeParts, TurnRequest};

fn condition(value: Json) -> Option<Condition> {
    Some(Condition::from_json(&value).unwrap())
}

/// A function of `desk` without parameters, changed.
fn declared(name: &str, change: impl FnOnce(&mut Function)) -> Function {
    let mut declared = function("desk", name, "Does it.", []);
    change(&mut declared);
    declared
}

async fn done(_: NativeCall) -> Result<Json, CallError> {
    Ok("done".into())
}

fn over(
    functions: NativeFunctions,
    replies: Vec<ScriptedReply>,
    change: impl FnOnce(&mut RuntimeParts),
) -> (Arc<ScriptedProvider>, Runtime) {
    let model = Arc::new(ScriptedProvider::new(replies));
    let runtime = runtime_with(functions, |parts| {
        parts.providers = Providers::all(model.clone());
        change(parts);
    });
    (model, runtime)
}

fn tools(request: &ModelRequest) -> String {
    let names: Vec<_> = request.tools.iter().map(|tool| &*tool.name).collect();
    names.join(" ")
}

/// Makes a turn at the top and gives its nodes.
async fn turn(runtime: &Runtime, request: TurnRequest) -> Vec<Node> {
    let outcome = runtime.exec(request).await;
    outcome.result.unwrap();
    let all = NodeQuery::default();
    let session = outcome.session.unwrap();
    runtime.store().nodes(&session, all).await.unwrap()
}

fn fact(node: &Node, name: &str) -> Json {
    let opened = node.opened.facts.get(name);
    let ended = node.end.as_ref().and_then(|end| end.facts.get(name));
    opened.or(ended).cloned().unwrap_or(Json::Null)
}

fn timed(name: &str) -> Function {
    declared(name, |f| f.gating.timeout = Some(Duration::from_secs(2)))
}

/// Waits as long as it is told, and says when it is stopped.
fn sleeping(stopped: &Arc<AtomicUsize>) -> NativeFunctions {
    struct Stopped(Arc<AtomicUsize>);
    impl Drop for Stopped {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let stopped = Arc::clone(stopped);
    let sleep = move |_| {
        let guard = Stopped(Arc::clone(&stopped));
        async move {
            tokio::time::sleep(Duration::from_secs(60)).await;
            drop(guard);
            Ok(Json::Null)
        }
    };
    let nested = |call: NativeCall| async move {
        let called = call.services.call("sleep", json!({})).await;
        let failure = called.unwrap_err();
        Ok(json!([failure.code.as_str(), failure.details]))
    };
    let outer = |call: NativeCall| async move {
        let called = call.services.call("rest", json!({})).await;
        called.map_err(passed_on)
    };
    let rest = |call: NativeCall| async move {
        let called = call.services.call("doze", json!({})).await;
        called.map_err(passed_on)
    };
    let doze = |_| async {
        tokio::time::sleep(Duration::from_secs(60)).await;
        Ok(Json::Null)
    };
    NativeFunctions::default()
        .with(timed("sleep"), sleep)
        .with(declared("nested", |_| ()), nested)
        .with(timed("outer"), outer)
        .with(declared("rest", |_| ()), rest)
        .with(declared("doze", |_| ()), doze)
}

#[tokio::test(start_paused = true)]
async fn a_call_that_takes_longer_than_its_author_allows_is_stopped() {
    let stopped = Arc::default();
    let (_, runtime) = over(sleeping(&stopped), Vec::new(), |_| ());
    let outcome = run(&runtime, "sleep", json!({})).await;
    let details = json!({"which": "timeout", "limit": 2_000, "function": "test:desk/api.sleep"});
    assert_eq!(
        told(&outcome),
        json!({
            "code": "limit-reached",
            "message": "`test:desk/api.sleep` took longer than 2 s, which is as long as its author \
                        lets it take",
            "details": details,
        })
    );
    assert_eq!(stopped.load(Ordering::SeqCst), 1);
    // Its caller goes on.
    let outcome = run(&runtime, "nested", json!({})).await;
    assert_eq!(told(&outcome), json!({"ok": ["limit-reached", details]}));
    // Everything that it waits for is stopped with it, and is over in the record.
    let outcome = run(&runtime, "outer", json!({})).await;
    assert_eq!(told(&outcome)["details"]["function"], "test:desk/api.outer");
    let recorded = nodes(&runtime, &outcome).await;
    assert_eq!(recorded.len(), 3);
    assert!(
        recorded.iter().all(|node| node.end.is_some()),
        "{recorded:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn each_of_several_calls_has_its_own_time() {
    let stopped = Arc::default();
    let mut both = timed("sleep");
    both.effects.read_only = true;
    let functions = NativeFunctions::default().with(both, |_| async {
        tokio::time::sleep(Duration::from_secs(60)).await;
        Ok(Json::Null)
    });
    let _: &Arc<AtomicUsize> = &stopped;
    let replies = vec![
        ScriptedReply::calls("", [("a", "sleep", ""), ("b", "sleep", "")]),
        "Too slow.".into(),
    ];
    let (model, runtime) = over(functions, replies, |_| ());
    let started = tokio::time::Instant::now();
    turn(&runtime, TurnRequest::text("Work.")).await;
    assert_eq!(started.elapsed(), Duration::from_secs(2));
    for result in results(&model.requests()[1]) {
        let expected =
            "The call failed (limit-reached): `test:desk/api.sleep` took longer than 2 s";
        assert!(
            result.is_error && result.text.starts_with(expected),
            "{result:?}"
        );
    }
}

/// Functions with conditions, and the functions that these ask.
fn conditional() -> NativeFunctions {
    let when = |value: Json| move |f: &mut Function| f.gating.available_if = condition(value);
    let asks = |name: &str| when(json!({ "export": name }));
    NativeFunctions::default()
        .with(declared("always", |_| ()), done)
        .with(declared("by-env", when(json!({"env": "TOKEN"}))), done)
        .with(declared("by-dir", when(json!({"dir": "/data"}))), done)
        .with(
            declared("by-model", when(json!({"model": "scripted"}))),
            done,
        )
        .with(declared("by-yes", asks("says-yes")), done)
        .with(declared("by-no", asks("says-no")), done)
        .with(declared("by-trap", asks("says-nothing")), done)
        .with(declared("by-silence", asks("is-silent")), done)
        .with(
            declared(
                "by-not-trap",
                when(json!({"not": {"export": "says_nothing"}})),
            ),
            done,
        )
        .with_asked(declared("says-yes", |_| ()), |_| async { Ok(true.into()) })
        .with_asked(declared("says-no", |_| ()), |_| async { Ok(false.into()) })
        .with_asked(declared("says-nothing", |_| ()), |_| async {
            Err(CallError::Trapped {
                trap: "unreachable".to_owned(),
                backtrace: Vec::new(),
                last_words: String::new(),
            })
        })
        .with_asked(declared("is-silent", |_| ()), |_| async {
            std::future::pending().await
        })
}

/// The tools of a turn without those that only answer conditions, which no loader would offer.
async fn offered(functions: NativeFunctions) -> (String, Json) {
    let (model, runtime) = over(functions, vec!["Done.".into()], |_| ());
    let mut request = TurnRequest::text("Work.");
    let asked = ["says-yes", "says-no", "says-nothing", "is-silent"];
    request.turn.tool_filter.deny = asked.map(str::to_owned).into();
    let recorded = turn(&runtime, request).await;
    let last = recorded.last().unwrap();
    (tools(&model.requests()[0]), fact(last, "tools_unavailable"))
}

#[tokio::test(start_paused = true)]
async fn a_model_is_offered_what_is_available_and_the_record_says_what_was_not() {
    let (tools, missing) = offered(conditional()).await;
    assert_eq!(tools, "always by_model by_yes");
    let names = [
        "by-env",
        "by-dir",
        "by-no",
        "by-trap",
        "by-silence",
        "by-not-trap",
    ];
    let expected = names.map(|name| format!("test:desk/api.{name}"));
    assert_eq!(missing, json!(expected));
    let granted = conditional().with_variable("TOKEN").with_folder("/data");
    let (tools, _) = offered(granted).await;
    assert_eq!(tools, "always by_dir by_env by_model by_yes");
}

fn pay(required: RequiredApproval) -> Function {
    let amount =
        openprogram_core::function::Parameter::new("amount", Type::Integer(IntegerKind::U8));
    let mut pay = function("desk", "pay", "Pays.", [amount]);
    pay.gating.requires_approval = Some(required);
    pay
}

/// Pays these amounts by a function that asks, and gives what came of each and what was asked.
async fn paid(when: Json, amounts: &[u8]) -> (Json, Vec<Option<String>>) {
    let required = RequiredApproval {
        reason: Some("It pays.".to_owned()),
        when: condition(when),
    };
    let relay = |call: NativeCall| async move {
        let mut codes = Vec::new();
        for amount in call.arguments["amounts"].as_array().unwrap() {
            let called = call.services.call("pay", json!({ "amount": amount })).await;
            codes.push(called.unwrap_or_else(|f| f.code.as_str().into()));
        }
        Ok(codes.into())
    };
    let amounts_parameter = openprogram_core::function::Parameter::new("amounts", Type::Json);
    let functions = NativeFunctions::default()
        .with(pay(required), done)
        .with(function("desk", "relay", "", [amounts_parameter]), relay)
        .with_asked(
            declared("why", |f| f.parameters = vec![text("arguments")]),
            |given| async move {
                let amount = given["arguments"]["amount"].as_u64().unwrap();
                match amount {
                    0 => Ok(Json::Null),
                    1 => Err(CallError::Internal("broken".to_owned())),
                    amount => Ok(format!("{amount} is much.").into()),
                }
            },
        );
    let questions = Arc::new(ScriptedQuestions::new(
        (0..amounts.len()).map(|_| ScriptedAnswer::Given(Answer::Approved(false))),
    ));
    let runtime = runtime_with(functions, |parts| parts.questions = questions.clone());
    let mut request = RunRequest::new("relay");
    request.arguments = object(json!({ "amounts": amounts }));
    let outcome = runtime.run_function(request).await;
    let asked = questions
        .asked()
        .into_iter()
        .map(|question| match question.body {
            QuestionBody::Approval(approval) => approval.reason,
            other => panic!("{other:?}"),
        });
    (told(&outcome)["ok"].clone(), asked.collect())
}

#[tokio::test]
async fn a_person_is_asked_where_the_condition_holds_or_cannot_be_told() {
    let above = json!({"argument": "amount", "above": 100});
    let (outcomes, reasons) = paid(above, &[100, 101]).await;
    assert_eq!(outcomes, json!(["done", "approval-denied"]));
    assert_eq!(reasons, [Some("It pays.".to_owned())]);
    // A function that is asked reads the arguments, and may say why. One that fails means: ask.
    let (outcomes, reasons) = paid(json!({"export": "why"}), &[0, 1, 2]).await;
    assert_eq!(
        outcomes,
        json!(["done", "approval-denied", "approval-denied"])
    );
    let expected = ["It pays.", "2 is much."].map(|reason| Some(reason.to_owned()));
    assert_eq!(reasons, expected);
}

#[tokio::test]
async fn presets_are_those_of_the_project_and_those_that_functions_are_in() {
    let in_preset =
        |f: &mut Function| f.gating.toolsets = vec!["money".to_owned(), "safe".to_owned()];
    let functions = || {
        NativeFunctions::default()
            .with(declared("pay", in_preset), done)
            .with(declared("look", |_| ()), done)
    };
    for (preset, expected) in [("money", "pay"), ("safe", "look"), ("full", "look pay")] {
        let (model, runtime) = over(functions(), vec!["Done.".into()], |parts| {
            let look = vec!["look".to_owned()];
            parts.tool_sets.presets = BTreeMap::from([("safe".to_owned(), look)]);
        });
        let mut request = TurnRequest::text("Work.");
        request.turn.tools = ToolsWanted::Preset(preset.to_owned());
        turn(&runtime, request).await;
        assert_eq!(tools(&model.requests()[0]), expected, "{preset}");
    }
    let (_, runtime) = over(functions(), Vec::new(), |_| ());
    let mut request = TurnRequest::text("Work.");
    request.turn.tools = ToolsWanted::Preset("nothing".to_owned());
    let failure = runtime.exec(request).await.result.unwrap_err();
    let start = "there is no toolset `nothing`; there are `full`, `none`, `money`, `safe`.";
    assert!(failure.message.starts_with(start), "{}", failure.message);
}

/// Counts how often it ran; with `n` below zero it fails.
fn counting(runs: &Arc<AtomicUsize>) -> NativeFunctions {
    let runs = Arc::clone(runs);
    let count = move |call: NativeCall| {
        let n_runs = runs.fetch_add(1, Ordering::SeqCst) + 1;
        async move {
            match call.arguments["n"].as_i64() {
                Some(n) if n < 0 => Err(CallError::Function(json!("below zero"))),
                _ => Ok(json!(n_runs)),
            }
        }
    };
    let n = openprogram_core::function::Parameter::new("n", Type::Integer(IntegerKind::S8));
    let mut counted = function("desk", "count", "Counts.", [n]);
    counted.gating.cache = Some(Caching {
        ttl: Duration::from_secs(10),
    });
    let twice = |call: NativeCall| async move {
        let mut results = Vec::new();
        for _ in 0..2 {
            let called = call.services.call("count", json!({"n": 1})).await;
            results.push(called.map_err(passed_on)?);
        }
        Ok(results.into())
    };
    NativeFunctions::default()
        .with(counted, count)
        .with(declared("twice", |_| ()), twice)
}

fn counts(arguments: &[&str]) -> ScriptedReply {
    let ids = ["a", "b", "c", "d"];
    let calls = ids.into_iter().zip(arguments);
    ScriptedReply::calls("", calls.map(|(id, arguments)| (id, "count", *arguments)))
}

fn texts(results: &[ToolResult]) -> Vec<&str> {
    results.iter().map(|result| result.text.as_str()).collect()
}

#[tokio::test(start_paused = true)]
async fn the_same_call_of_a_model_is_answered_with_what_it_gave_before() {
    let runs = Arc::default();
    let first = counts(&["{\"n\": 1}", "{\"n\": 2}", "{\"n\": 1.0}", "{\"n\": -1}"]);
    let replies = vec![
        first,
        "Done.".into(),
        counts(&["{\"n\": 1}", "{\"n\": -1}"]),
        "Done.".into(),
        counts(&["{\"n\": 1}"]),
        "Done.".into(),
    ];
    let (model, runtime) = over(counting(&runs), replies, |_| ());
    let recorded = turn(&runtime, TurnRequest::text("Work.")).await;
    let answers = results(&model.requests()[1]);
    assert_eq!(texts(&answers)[..3], ["1", "2", "1"]);
    assert!(answers[3].is_error);
    let calls: Vec<_> = recorded
        .iter()
        .filter(|n| n.opened.name == "test:desk/api.count")
        .collect();
    let kept: Vec<_> = calls.iter().map(|node| fact(node, "kept_from")).collect();
    let given = json!(calls[0].opened.id.as_str());
    assert_eq!(kept, [Json::Null, Json::Null, given.clone(), Json::Null]);
    // In another session too; errors are not kept.
    let recorded = turn(&runtime, TurnRequest::text("Work.")).await;
    assert_eq!(texts(&results(&model.requests()[3]))[0], "1");
    assert_eq!(runs.load(Ordering::SeqCst), 4);
    assert!(recorded.iter().any(|node| fact(node, "kept_from") == given));
    // And not for ever.
    tokio::time::advance(Duration::from_secs(10)).await;
    turn(&runtime, TurnRequest::text("Work.")).await;
    assert_eq!(texts(&results(&model.requests()[5])), ["5"]);
    // A function that calls it gets what it gives.
    let outcome = run(&runtime, "twice", json!({})).await;
    assert_eq!(told(&outcome), json!({"ok": [6, 7]}));
}

/// Two functions that are looked for, and one that is shown.
fn deferring() -> NativeFunctions {
    let deferred = |words: &str| {
        let words = words.to_owned();
        move |f: &mut Function| f.gating.deferred = Some(Deferred { words })
    };
    let mut weather = declared("read-weather", deferred("rain"));
    weather.parameters = vec![text("city")];
    NativeFunctions::default()
        .with(declared("plain", |_| ()), done)
        .with(declared("send-mail", deferred("")), done)
        .with(weather, |call: NativeCall| async move {
            Ok(format!("rain in {}", call.arguments["city"]).into())
        })
}

#[tokio::test]
async fn a_deferred_tool_is_shown_when_the_model_has_looked_for_it() {
    let replies = vec![
        call("a", "tool_search", "{\"query\": \"rain\"}"),
        call("b", "read_weather", "{\"city\": \"Bern\"}"),
        "Wet.".into(),
    ];
    let (model, runtime) = over(deferring(), replies, |_| ());
    let recorded = turn(&runtime, TurnRequest::text("Work.")).await;
    let requests = model.requests();
    assert_eq!(tools(&requests[0]), "plain tool_search");
    let found = results(&requests[1]);
    expect_test::expect![[r#"
        This tool can be called now:

        read_weather: Does it.
        arguments: {"type":"object","properties":{"city":{"type":"string"}},"required":["city"],"additionalProperties":false}"#]]
    .assert_eq(&found[0].text);
    assert_eq!(tools(&requests[1]), "plain read_weather tool_search");
    assert_eq!(texts(&results(&requests[2])), ["rain in \"Bern\""]);
    let facts: Vec<_> = recorded
        .iter()
        .map(|node| (fact(node, "tools_deferred"), fact(node, "tools_found")))
        .filter(|facts| *facts != (Json::Null, Json::Null))
        .collect();
    let expected = [
        (json!(2), Json::Null),
        (Json::Null, json!(["read_weather"])),
    ];
    assert_eq!(facts, expected);
}

#[tokio::test]
async fn a_deferred_tool_that_was_not_looked_for_is_shown_and_not_run() {
    let replies = vec![
        call("a", "send_mail", ""),
        call("b", "send_mail", ""),
        "Sent.".into(),
    ];
    let (model, runtime) = over(deferring(), replies, |_| ());
    turn(&runtime, TurnRequest::text("Work.")).await;
    let requests = model.requests();
    let refused = results(&requests[1]);
    assert!(refused[0].is_error);
    expect_test::expect![[r#"The call did not run: the parameters of `send_mail` were not shown yet. Call again with arguments that fit this JSON Schema: {"type":"object","properties":{},"additionalProperties":false}"#]]
        .assert_eq(&refused[0].text);
    assert_eq!(tools(&requests[1]), "plain send_mail tool_search");
    assert_eq!(texts(&results(&requests[2])), ["done"]);
}

#[tokio::test]
async fn what_is_named_or_has_to_be_called_is_not_deferred() {
    let named = |names: &[&str]| {
        let names = names.iter().map(|name| (*name).to_owned());
        ToolsWanted::Named(names.collect())
    };
    for (wanted, choice, deny, expected) in [
        (named(&["send-mail"]), ToolChoice::Auto, "", "send_mail"),
        (
            ToolsWanted::Default,
            ToolChoice::Named("send_mail".to_owned()),
            "",
            "plain send_mail tool_search",
        ),
        (
            ToolsWanted::Default,
            ToolChoice::Auto,
            "tool-search",
            "plain",
        ),
        (
            ToolsWanted::Default,
            ToolChoice::Auto,
            "send-mail",
            "plain tool_search",
        ),
    ] {
        let (model, runtime) = over(deferring(), vec!["Done.".into()], |_| ());
        let mut request = TurnRequest::text("Work.");
        request.turn.tools = wanted;
        request.turn.tool_choice = choice;
        request.turn.tool_filter.deny = vec![deny.to_owned()];
        turn(&runtime, request).await;
        assert_eq!(tools(&model.requests()[0]), expected);
    }
}

#[tokio::test]
async fn the_tool_that_searches_makes_way_for_a_function_of_its_name() {
    let functions = deferring().with(declared("tool-search", |_| ()), done);
    let (model, runtime) = over(functions, vec!["Done.".into()], |_| ());
    turn(&runtime, TurnRequest::text("Work.")).await;
    assert_eq!(
        tools(&model.requests()[0]),
        "plain tool_search tool_search_2"
    );
}
