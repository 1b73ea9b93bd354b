//! Which tools a turn has: by grant, by name, and inside another turn.

use std::sync::Arc;

use expect_test::expect;
use openprogram_core::Json;
use openprogram_core::content::ContentBlock;
use openprogram_core::function::{Offer, RuntimeRole};
use openprogram_core::guest::{CallError, Closing, ExecRequest, ToolsWanted};
use openprogram_core::llm::ModelRequest;
use serde_json::json;

use super::desk::echo;
use super::shop::call;
use super::{run, runs, runtime_with, text, told};
use crate::testing::{
    NativeCall, NativeFunctions, ScriptedProvider, ScriptedReply, function, passed_on,
    shown_request,
};
use crate::{Providers, Runtime, TurnRequest};

/// The tools that a turn names; `None` for the default.
type Wanted = Option<&'static [&'static str]>;

fn request(wanted: Wanted) -> ExecRequest {
    let content = vec![ContentBlock::Text("Work.".to_owned())];
    let mut request = ExecRequest::new(RuntimeRole::Main, content);
    if let Some(names) = wanted {
        let names = names.iter().map(|name| (*name).to_owned());
        request.tools = ToolsWanted::Named(names.collect());
    }
    request
}

/// A function that makes a turn with these tools.
fn with_turn(
    functions: NativeFunctions,
    component: &str,
    name: &str,
    wanted: Wanted,
) -> NativeFunctions {
    let body = move |call: NativeCall| async move {
        let reply = call.services.exec(request(wanted)).await;
        reply.map(|reply| reply.text.into()).map_err(passed_on)
    };
    functions.with(function(component, name, "", [text("runtime")]), body)
}

/// `a` may call `b.nest` and `c.three`; `b` may call `c.three`. Everybody may call their own.
fn three_components(outer: Wanted, inner: Wanted) -> NativeFunctions {
    let mut rude = function("a", "rude", "", []);
    rude.offer = Offer::NotOfferable("it has a resource".to_owned());
    let close = |call: NativeCall| async move {
        let closing = Closing {
            options: vec![runs("nest", "nest")],
            context: openprogram_core::JsonObject::new(),
        };
        let closed = call
            .services
            .exec_closing(request(Some(&[])), closing)
            .await;
        closed.map_err(passed_on)
    };
    let pass = |call: NativeCall| async move {
        let nested = call.services.call("nest", json!({})).await;
        nested.map_err(passed_on)
    };
    let functions = NativeFunctions::default()
        .with(function("a", "one", "", []), echo)
        .with(function("a", "close", "", [text("runtime")]), close)
        .with(function("a", "pass", "", []), pass)
        .with(rude, echo)
        .with(function("b", "two", "", []), echo)
        .with(function("c", "three", "", []), echo);
    let functions = with_turn(functions, "a", "start", outer);
    let functions = with_turn(functions, "b", "nest", inner);
    with_turn(functions, "b", "deep", None)
}

fn granted(
    functions: NativeFunctions,
    replies: Vec<ScriptedReply>,
) -> (Arc<ScriptedProvider>, Runtime) {
    let model = Arc::new(ScriptedProvider::new(replies));
    let catalog = functions.catalog();
    let runtime = runtime_with(functions, |parts| {
        parts.providers = Providers::all(model.clone());
        for (component, function) in [("a", "nest"), ("a", "three"), ("b", "three")] {
            parts.policy.grant(&catalog, component, function).unwrap();
        }
    });
    (model, runtime)
}

fn tools(request: &ModelRequest) -> String {
    let names: Vec<_> = request.tools.iter().map(|tool| &*tool.name).collect();
    names.join(" ")
}

/// Runs a function over these replies and checks the tools of each request.
async fn check(entry: &str, (outer, inner): (Wanted, Wanted), calls: &[&str], expected: &[&str]) {
    let calls = calls.iter().map(|name| call("x", name, ""));
    let replies = calls.chain((0..4).map(|_| "done".into())).collect();
    let (model, runtime) = granted(three_components(outer, inner), replies);
    let outcome = run(&runtime, entry, json!({})).await;
    assert_eq!(told(&outcome), json!({"ok": "done"}));
    let seen: Vec<_> = model.requests().iter().map(tools).collect();
    assert_eq!(seen, expected, "{entry} {outer:?} {inner:?}");
}

#[tokio::test]
async fn a_turn_has_what_its_component_may_call_or_what_it_names() {
    let own_and_granted = "close nest one pass start three";
    check("start", (None, None), &[], &[own_and_granted]).await;
    check("start", (Some(&["three"]), None), &[], &["three"]).await;
    check(
        "start",
        (Some(&["one", "c.three", "one"]), None),
        &[],
        &["one three"],
    )
    .await;
    check("start", (Some(&[]), None), &[], &[""]).await;
    check("deep", (None, None), &[], &["deep nest three two"]).await;
}

#[tokio::test]
async fn a_turn_inside_a_turn_has_no_more_than_that_one_and_its_own_grants() {
    let all = "close nest one pass start three";
    // The inner turn is that of `b.nest`, called by the model of the outer one.
    check("start", (None, None), &["nest"], &[all, "nest three", all]).await;
    let two: Wanted = Some(&["nest", "one"]);
    check(
        "start",
        (two, None),
        &["nest"],
        &["nest one", "nest", "nest one"],
    )
    .await;
    // A list of its own ends the inheritance, and an empty one too.
    check(
        "start",
        (two, Some(&["two"])),
        &["nest"],
        &["nest one", "two", "nest one"],
    )
    .await;
    check(
        "start",
        (two, Some(&[])),
        &["nest"],
        &["nest one", "", "nest one"],
    )
    .await;
    // What is below a turn with a list inherits that list.
    let named: Wanted = Some(&["two", "deep"]);
    check(
        "start",
        (two, named),
        &["nest", "deep"],
        &["nest one", "deep two", "deep two", "deep two", "nest one"],
    )
    .await;
    // Functions between the turns make no difference.
    let passing: Wanted = Some(&["pass", "nest"]);
    check(
        "start",
        (passing, None),
        &["pass"],
        &["nest pass", "nest", "nest pass"],
    )
    .await;
}

#[tokio::test]
async fn a_function_that_a_model_calls_sees_where_it_stands() {
    let replies = vec![call("x", "nest", ""), "inner".into(), "outer".into()];
    let (model, runtime) = granted(three_components(None, Some(&[])), replies);
    let outcome = run(&runtime, "start", json!({})).await;
    assert_eq!(told(&outcome), json!({"ok": "outer"}));
    expect![[r#"
        [user]
        Call: start({})
        It runs now; this turn is part of it.
        [user]
        This turn is part of the function `nest`.
        Call path: start → nest
        [user]
        Work.
    "#]]
    .assert_eq(&shown_request(&model.requests()[1]));
    expect![[r#"
        1 code test:a/api.start
          in   {}
          fact access=[{"kind":"calls","what":"call test:b/api.nest","grant":"nest","n":1}]
          out  "outer"
        2 llm scripted:text caller=1
          in   "Work."
          fact tools=["close","nest","one","pass","start","three"]
          fact runtime="runtime"
          fact calls=[{"id":"x","name":"nest","arguments":""}]
        3 code test:b/api.nest caller=2
          in   {}
          out  "inner"
        4 llm scripted:text caller=3 reads=1
          in   "Work."
          fact runtime="runtime"
          out  "inner"
        5 llm scripted:text caller=1 reads=2,3
          in   null
          fact continues=node 2
          fact answers=[{"id":"x","node":"n-0000000000000004"}]
          fact runtime="runtime"
          out  "outer"
    "#]]
    .assert_eq(&super::graph(&runtime, &outcome).await);
}

#[tokio::test]
async fn what_a_closing_turn_picks_runs_after_it_and_not_inside() {
    let replies = vec!["{\"call\": \"nest\"}".into(), "done".into()];
    let (model, runtime) = granted(three_components(None, None), replies);
    let outcome = run(&runtime, "close", json!({})).await;
    assert_eq!(told(&outcome), json!({"ok": "done"}));
    let seen: Vec<_> = model.requests().iter().map(tools).collect();
    assert_eq!(seen, ["", "deep nest three two"]);
}

#[tokio::test]
async fn a_person_at_the_top_may_let_the_model_call_everything() {
    let (model, runtime) = granted(three_components(None, None), vec!["done".into()]);
    let outcome = runtime.exec(TurnRequest::text("Work.")).await;
    assert_eq!(outcome.result.unwrap().text, "done");
    assert_eq!(
        tools(&model.requests()[0]),
        "close deep nest one pass start three two"
    );
}

#[tokio::test]
async fn two_functions_of_one_name_are_two_tools() {
    let functions = NativeFunctions::default()
        .with(function("a", "same", "", []), |_| async {
            Ok::<Json, CallError>("of a".into())
        })
        .with(function("b", "same", "", []), |_| async {
            Ok::<Json, CallError>("of b".into())
        });
    let names = ["api_same_9c104189", "api_same_fd8fdf6c"];
    let calls = names.map(|name| (name, name, ""));
    let (model, runtime) = {
        let replies = vec![ScriptedReply::calls("", calls), "done".into()];
        let model = Arc::new(ScriptedProvider::new(replies));
        let runtime = runtime_with(functions, |parts| {
            parts.providers = Providers::all(model.clone());
        });
        (model, runtime)
    };
    runtime
        .exec(TurnRequest::text("Work."))
        .await
        .result
        .unwrap();
    assert_eq!(tools(&model.requests()[0]), names.join(" "));
    let results = super::shop::results(&model.requests()[1]);
    let mut texts: Vec<_> = results.iter().map(|result| result.text.as_str()).collect();
    texts.sort_unstable();
    assert_eq!(texts, ["of a", "of b"]);
}
