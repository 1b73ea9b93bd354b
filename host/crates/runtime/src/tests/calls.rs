//! Arguments, grants, limits and the record of calls.

use std::sync::Arc;

use expect_test::{Expect, expect};
use openprogram_core::Json;
use openprogram_core::function::Offer;
use openprogram_core::guest::{CallError, CallReport, ImportError};
use openprogram_core::schema::{IntegerKind, Type};
use serde_json::json;

use super::{graph, hidden, nodes, object, run, runtime_with, text, told, with_default};
use crate::testing::{NativeCall, NativeFunctions, function, passed_on};
use crate::{CallPolicy, RunRequest, Runtime, RuntimeParts};

/// Gives back its arguments.
async fn echo(call: NativeCall) -> Result<Json, CallError> {
    Ok(Json::Object(call.arguments))
}

/// Calls the function named in `name` with the arguments in `arguments`.
async fn relay(call: NativeCall) -> Result<Json, CallError> {
    let name = call.arguments["name"].as_str().unwrap();
    let arguments = call.arguments["arguments"].clone();
    let called = call.services.call(name, arguments).await;
    called.map_err(passed_on)
}

fn relay_of(component: &str) -> openprogram_core::function::Function {
    let arguments = openprogram_core::function::Parameter::new("arguments", Type::Json);
    function(
        component,
        "relay",
        "Calls another.",
        [text("name"), arguments],
    )
}

fn functions() -> NativeFunctions {
    let count = Type::Integer(IntegerKind::U8);
    let parameters = [
        text("who"),
        with_default("count", count, json!(3)),
        hidden("session_id"),
    ];
    let mut closed = function("shop", "closed", "Needs a socket.", []);
    closed.offer = Offer::NotOfferable("parameter `s` is a resource".to_owned());
    NativeFunctions::default()
        .with(function("desk", "greet", "Greets.", parameters), echo)
        .with(relay_of("desk"), relay)
        .with(function("desk", "ping", "Answers.", []), echo)
        .with(function("shop", "refund", "Pays back.", []), echo)
        .with(function("shop", "ping", "Answers too.", []), echo)
        .with(closed, echo)
}

/// Counts a file of its component in the run, and says how many there are.
async fn made(call: NativeCall) -> Result<Json, CallError> {
    let component = &call.function.name.component;
    let before = &call.totals.of(component).files_made;
    Ok(json!(
        before.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1
    ))
}

/// Calls that of `desk` twice and that of `shop` once.
async fn many_made(call: NativeCall) -> Result<Json, CallError> {
    let mut all = Vec::new();
    for name in ["desk.made", "desk.made", "shop.made"] {
        let called = call.services.call(name, json!({})).await;
        all.push(called.map_err(passed_on)?);
    }
    Ok(Json::Array(all))
}

#[tokio::test]
async fn the_calls_of_a_run_count_together_by_component() {
    let functions = NativeFunctions::default()
        .with(function("desk", "made", "Makes.", []), made)
        .with(function("shop", "made", "Makes.", []), made)
        .with(function("desk", "many-made", "Makes many.", []), many_made);
    let runtime = runtime_with(functions, |parts| {
        let mut policy = CallPolicy::default();
        policy.grant(&parts.catalog, "desk", "shop.made").unwrap();
        parts.policy = policy;
    });
    for _ in 0..2 {
        let outcome = runtime.run_function(RunRequest::new("many-made")).await;
        assert_eq!(told(&outcome), json!({"ok": [1, 2, 1]}));
    }
}

async fn check_run(function: &str, arguments: Json, context: Json, expected: Json) {
    let runtime = runtime_with(functions(), |_| ());
    let mut request = RunRequest::new(function);
    request.arguments = object(arguments);
    request.context = object(context);
    let outcome = runtime.run_function(request).await;
    assert_eq!(told(&outcome), expected, "{function}");
}

#[tokio::test]
async fn hidden_arguments_and_defaults_are_filled_in() {
    let context = json!({"session-id": "S1", "who": "nobody", "other": 1});
    let greeted = json!({"ok": {"who": "Ada", "count": 3, "session_id": "S1"}});
    check_run(
        "greet",
        json!({"who": "Ada"}),
        context.clone(),
        greeted.clone(),
    )
    .await;
    let with_null = json!({"who": "Ada", "count": null});
    check_run("desk.greet", with_null, context, greeted).await;
}

#[tokio::test]
async fn wrong_arguments_name_their_path() {
    let invalid = |path: &str, message: &str| {
        json!({
            "code": "invalid-argument",
            "message": message,
            "details": {"function": "test:desk/api.greet", "path": path},
        })
    };
    let context = || json!({"session_id": "S1"});
    let unknown = "argument `whom` of `test:desk/api.greet` is not known; \
                   the function takes `who`, `count`";
    let arguments = json!({"whom": "Ada"});
    check_run("greet", arguments, context(), invalid("whom", unknown)).await;
    let from_context = "argument `session_id` of `test:desk/api.greet` is hidden and takes its \
                        value from the context only";
    let arguments = json!({"who": "Ada", "session_id": "S2"});
    check_run(
        "greet",
        arguments,
        context(),
        invalid("session_id", from_context),
    )
    .await;
    let no_value = "argument `session_id` of `test:desk/api.greet`: hidden parameter, and the \
                    context has no value for it";
    let arguments = json!({"who": "Ada"});
    check_run(
        "greet",
        arguments,
        json!({}),
        invalid("session_id", no_value),
    )
    .await;
    let no_arguments = json!({
        "code": "invalid-argument",
        "message": "argument `x` of `test:shop/api.refund` is not known; \
                    the function takes no arguments",
        "details": {"function": "test:shop/api.refund", "path": "x"},
    });
    check_run("refund", json!({"x": 1}), json!({}), no_arguments).await;
}

#[tokio::test]
async fn a_run_that_is_refused_leaves_no_session() {
    let runtime = runtime_with(functions(), |_| ());
    for name in ["gret", "ping", "closed", "greet"] {
        let outcome = run(&runtime, name, json!({})).await;
        assert!(outcome.result.is_err(), "{name}");
        assert_eq!((outcome.session, outcome.node), (None, None), "{name}");
    }
    assert_eq!(runtime.store().sessions(10).await.unwrap(), []);
}

#[tokio::test]
async fn a_repaired_argument_is_recorded() {
    let runtime = runtime_with(functions(), |_| ());
    let mut request = RunRequest::new("greet");
    request.arguments = object(json!({"who": "Ada", "count": "5"}));
    request.context = object(json!({"session_id": "S1"}));
    let outcome = runtime.run_function(request).await;
    expect![[r#"
        1 code test:desk/api.greet
          in   {"who":"Ada","count":5,"session_id":"S1"}
          fact hidden_arguments=["session_id"]
          fact coerced=[{"path":"count","what":"\"5\" read as 5"}]
          out  {"who":"Ada","count":5,"session_id":"S1"}
    "#]]
    .assert_eq(&graph(&runtime, &outcome).await);
}

async fn check_relay(runtime: &Runtime, name: &str, arguments: Json, expected: Expect) {
    let arguments = json!({"name": name, "arguments": arguments});
    let outcome = run(runtime, "relay", arguments).await;
    let told = serde_json::to_string_pretty(&told(&outcome)).unwrap();
    let graph = graph(runtime, &outcome).await;
    expected.assert_eq(&format!("{told}\n{graph}"));
}

#[tokio::test]
async fn own_functions_come_first_and_need_no_grant() {
    let runtime = runtime_with(functions(), |_| ());
    check_relay(
        &runtime,
        "ping",
        json!({}),
        expect![[r#"
        {
          "ok": {}
        }
        1 code test:desk/api.relay
          in   {"name":"ping","arguments":{}}
          out  {}
        2 code test:desk/api.ping caller=1
          in   {}
          out  {}
    "#]],
    )
    .await;
}

#[tokio::test]
async fn a_function_of_another_component_needs_a_grant() {
    let runtime = runtime_with(functions(), |_| ());
    check_relay(&runtime, "refund", json!({}), expect![[r#"
        {
          "code": "denied",
          "message": "`desk` may not call `test:shop/api.refund`",
          "details": {
            "what": "call test:shop/api.refund",
            "how_to_allow": "openprogram grant desk --call test:shop/api.refund"
          }
        }
        1 code test:desk/api.relay
          in   {"name":"refund","arguments":{}}
          fact n_refused=1
          fact refused=[{"code":"denied","message":"`desk` may not call `test:shop/api.refund`","details":{"what":"call test:shop/api.refund","how_to_allow":"openprogram grant desk --call test:shop/api.refund"}}]
          fact access=[{"kind":"calls","what":"call test:shop/api.refund","refused":"`desk` may not call `test:shop/api.refund`","needed":"test:shop/api.refund","n":1}]
          denied: `desk` may not call `test:shop/api.refund`
    "#]]).await;
}

fn granted(parts: &mut RuntimeParts) {
    let mut policy = CallPolicy::default();
    policy.grant(&parts.catalog, "desk", "refund").unwrap();
    parts.policy = policy;
}

#[tokio::test]
async fn a_grant_opens_one_function_and_no_other() {
    let runtime = runtime_with(functions(), granted);
    check_relay(
        &runtime,
        "shop.refund",
        json!({}),
        expect![[r#"
            {
              "ok": {}
            }
            1 code test:desk/api.relay
              in   {"name":"shop.refund","arguments":{}}
              fact access=[{"kind":"calls","what":"call test:shop/api.refund","grant":"refund","n":1}]
              out  {}
            2 code test:shop/api.refund caller=1
              in   {}
              out  {}
        "#]],
    )
    .await;
    let arguments = json!({"name": "shop.ping", "arguments": {}});
    let outcome = run(&runtime, "relay", arguments).await;
    let expected = json!({
        "code": "denied",
        "message": "`desk` may not call `test:shop/api.ping`",
        "details": {
            "what": "call test:shop/api.ping",
            "how_to_allow": "openprogram grant desk --call test:shop/api.ping",
        },
    });
    assert_eq!(told(&outcome), expected);
}

#[test]
fn a_grant_names_one_function() {
    let catalog = functions().catalog();
    let mut policy = CallPolicy::default();
    let refused = |error: crate::GrantError| error.to_string();
    let outcomes = ["refun", "ping", "shop.ping"]
        .map(|name| policy.grant(&catalog, "desk", name).map_err(refused));
    let expected = [
        Err(
            "`calls` of the component `desk`: there is no function `refun`; \
             did you mean `test:shop/api.refund`?"
                .to_owned(),
        ),
        Err(
            "`calls` of the component `desk`: `ping` names several functions: \
             `test:desk/api.ping`, `test:shop/api.ping`; write more of the name"
                .to_owned(),
        ),
        Ok(()),
    ];
    assert_eq!(outcomes, expected);
}

#[tokio::test]
async fn what_cannot_be_called_is_refused_and_kept_in_the_record() {
    let runtime = runtime_with(functions(), granted);
    for (name, arguments, expected) in [
        (
            "refnd",
            json!({}),
            json!({
                "code": "not-found",
                "message": "there is no function `refnd`; did you mean `test:shop/api.refund`?",
                "details": {"name": "refnd", "nearest": ["test:shop/api.refund"]},
            }),
        ),
        (
            "closed",
            json!({}),
            json!({
                "code": "invalid-argument",
                "message": "`test:shop/api.closed` cannot be called: parameter `s` is a resource",
                "details": {"function": "test:shop/api.closed", "path": "closed"},
            }),
        ),
        (
            "refund",
            json!([1]),
            json!({
                "code": "invalid-argument",
                "message": "the arguments of `test:shop/api.refund` are not an object",
                "details": {"function": "test:shop/api.refund", "path": ""},
            }),
        ),
    ] {
        let arguments = json!({"name": name, "arguments": arguments});
        let outcome = run(&runtime, "relay", arguments).await;
        assert_eq!(told(&outcome), expected);
        let recorded = nodes(&runtime, &outcome).await;
        let facts = &recorded[0].end.as_ref().unwrap().facts;
        let refused = (&facts["n_refused"], &facts["refused"]);
        assert_eq!(refused, (&json!(1), &json!([expected])), "{name}");
    }
}

#[tokio::test]
async fn what_a_call_cost_and_how_it_failed_is_recorded() {
    let report = CallReport {
        cpu_us: 5,
        wall_us: 7,
        memory_bytes: 65_536,
        log: "hello\n".to_owned(),
        log_bytes: 6,
        host_calls: 3,
        egress_bytes: 0,
        ingress_bytes: 4_096,
        written_bytes: 12,
    };
    let fails = |_: NativeCall| async { Err(CallError::Function(json!({"why": "no stock"}))) };
    let traps = |_: NativeCall| async {
        Err(CallError::Trapped {
            trap: "unreachable".to_owned(),
            backtrace: vec!["f".to_owned()],
            last_words: "no money".to_owned(),
        })
    };
    let functions = NativeFunctions::default()
        .with(function("a", "fails", "", []), fails)
        .with(function("a", "traps", "", []), traps)
        .reporting(report);
    let runtime = runtime_with(functions, |_| ());
    let facts = object(json!({
        "cpu_us": 5, "wall_us": 7, "memory_bytes": 65_536, "log": "hello\n", "log_bytes": 6,
        "host_calls": 3, "ingress_bytes": 4_096, "written_bytes": 12,
    }));
    let failed = run(&runtime, "fails", json!({})).await;
    let expected = json!({
        "code": "function-failed",
        "message": "`test:a/api.fails` failed",
        "details": {"function": "test:a/api.fails", "error": {"why": "no stock"}},
    });
    assert_eq!(told(&failed), expected);
    let trapped = run(&runtime, "traps", json!({})).await;
    for outcome in [failed, trapped] {
        let recorded = nodes(&runtime, &outcome).await;
        let end = recorded[0].end.clone().unwrap();
        assert_eq!(end.failure, outcome.result.err());
        assert_eq!(end.facts, facts);
    }
}

#[tokio::test]
async fn runs_in_one_session_follow_each_other() {
    let runtime = runtime_with(functions(), |_| ());
    let relayed = json!({"name": "ping", "arguments": {}});
    let first = run(&runtime, "relay", relayed).await;
    let mut request = RunRequest::new("refund");
    request.session = first.session.clone();
    let second = runtime.run_function(request).await;
    expect![[r#"
        1 code test:desk/api.relay
          in   {"name":"ping","arguments":{}}
          out  {}
        2 code test:desk/api.ping caller=1
          in   {}
          out  {}
        3 code test:shop/api.refund after=1
          in   {}
          out  {}
    "#]]
    .assert_eq(&graph(&runtime, &second).await);

    let mut elsewhere = RunRequest::new("refund");
    let unknown = openprogram_core::id::SessionId::from_bits(0xabc);
    elsewhere.session = Some(unknown.clone());
    let outcome = runtime.run_function(elsewhere).await;
    let expected = json!({
        "code": "not-found",
        "message": "there is no session `op-0000000000000abc`",
        "details": {"session": "op-0000000000000abc"},
    });
    assert_eq!(told(&outcome), expected);
    assert_eq!(outcome.session, None);
}

#[tokio::test]
async fn a_handle_that_outlives_its_call_is_refused() {
    let kept = Arc::new(std::sync::Mutex::new(None));
    let keep = Arc::clone(&kept);
    let keeps = move |call: NativeCall| {
        *keep.lock().unwrap() = Some(call.services);
        async { Ok(Json::Null) }
    };
    let functions = NativeFunctions::default().with(function("a", "keeps", "", []), keeps);
    let runtime = runtime_with(functions, |_| ());
    let outcome = run(&runtime, "keeps", json!({})).await;
    assert_eq!(outcome.result, Ok(Json::Null));
    let services = kept.lock().unwrap().take().unwrap();
    let late = services.call("keeps", json!({})).await.unwrap_err();
    assert_eq!(late.message, "the call that asks is over");
}

/// A function with a default and a hidden parameter, as another component has it.
fn greet() -> openprogram_core::function::Function {
    let count = Type::Option(Box::new(Type::Integer(IntegerKind::U8)));
    let parameters = [
        text("who"),
        with_default("count", count, json!(3)),
        hidden("session_id"),
    ];
    function("shop", "greet", "Greets.", parameters)
}

/// Calls `greet` as an import: with nothing for what has a default, and a value for what is hidden.
async fn import(call: NativeCall) -> Result<Json, CallError> {
    let arguments = object(json!({"who": "Ada", "count": null, "session_id": "made up"}));
    match call
        .services
        .call_import(&Arc::new(greet()), arguments)
        .await
    {
        Ok(value) => Ok(value),
        Err(ImportError::Own(error)) => Ok(json!({"own": error})),
        Err(ImportError::Failed(failure)) => Err(passed_on(failure)),
    }
}

/// Fails with something that looks like a failure of the host.
async fn refuse(_call: NativeCall) -> Result<Json, CallError> {
    let failure = json!({"code": "denied", "message": "not today", "details": {}});
    Err(CallError::Function(failure))
}

fn importing(with_refusal: bool, is_granted: bool) -> Runtime {
    let functions = NativeFunctions::default().with(function("desk", "import", "", []), import);
    let functions = if with_refusal {
        functions.with(greet(), refuse)
    } else {
        functions.with(greet(), echo)
    };
    let catalog = functions.catalog();
    runtime_with(functions, |parts| {
        if is_granted {
            let granted = parts.policy.grant(&catalog, "desk", "greet");
            granted.unwrap();
        }
    })
}

async fn check_import(runtime: &Runtime, expected: Expect) {
    let mut request = RunRequest::new("import");
    request.context = object(json!({"session_id": "S1"}));
    let outcome = runtime.run_function(request).await;
    let graph = graph(runtime, &outcome).await;
    expected.assert_eq(&format!("{}\n{graph}", told(&outcome)));
}

#[tokio::test]
async fn an_import_has_no_defaults_and_takes_hidden_values_from_the_context() {
    check_import(&importing(false, true), expect![[r#"
        {"ok":{"who":"Ada","session_id":"S1"}}
        1 code test:desk/api.import
          in   {}
          fact access=[{"kind":"calls","what":"call test:shop/api.greet","grant":"greet","n":1}]
          out  {"who":"Ada","session_id":"S1"}
        2 code test:shop/api.greet caller=1
          in   {"who":"Ada","session_id":"S1"}
          fact hidden_arguments=["session_id"]
          fact coerced=[{"path":"session_id","what":"never taken from a reply or a caller, dropped"}]
          out  {"who":"Ada","session_id":"S1"}
    "#]]).await;
}

#[tokio::test]
async fn an_import_tells_an_error_of_the_function_from_one_of_the_host() {
    check_import(&importing(true, true), expect![[r#"
        {"ok":{"own":{"code":"denied","message":"not today","details":{}}}}
        1 code test:desk/api.import
          in   {}
          fact access=[{"kind":"calls","what":"call test:shop/api.greet","grant":"greet","n":1}]
          out  {"own":{"code":"denied","message":"not today","details":{}}}
        2 code test:shop/api.greet caller=1
          in   {"who":"Ada","session_id":"S1"}
          fact hidden_arguments=["session_id"]
          fact coerced=[{"path":"session_id","what":"never taken from a reply or a caller, dropped"}]
          denied: not today
    "#]]).await;
    check_import(&importing(true, false), expect![[r#"
        {"code":"denied","message":"`desk` may not call `test:shop/api.greet`","details":{"what":"call test:shop/api.greet","how_to_allow":"openprogram grant desk --call test:shop/api.greet"}}
        1 code test:desk/api.import
          in   {}
          fact n_refused=1
          fact refused=[{"code":"denied","message":"`desk` may not call `test:shop/api.greet`","details":{"what":"call test:shop/api.greet","how_to_allow":"openprogram grant desk --call test:shop/api.greet"}}]
          fact access=[{"kind":"calls","what":"call test:shop/api.greet","refused":"`desk` may not call `test:shop/api.greet`","needed":"test:shop/api.greet","n":1}]
          denied: `desk` may not call `test:shop/api.greet`
    "#]]).await;
}
