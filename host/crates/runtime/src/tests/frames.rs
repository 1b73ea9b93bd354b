//! Ambient runtime, context and system prompt over the frames of a run.

use std::sync::Arc;

use openprogram_core::Json;
use openprogram_core::function::{Function, RuntimeRole};
use openprogram_core::guest::CallError;
use serde_json::json;

use super::{decision, hidden, object, run, runs, runtime, runtime_with, text, told, value};
use crate::testing::{NativeCall, NativeFunctions, ScriptedProvider, function, passed_on};
use crate::{CallPolicy, Providers, RunRequest, SYSTEM_BYTES_MAX};

/// Decides between two values.
async fn decide(call: NativeCall) -> Result<Json, CallError> {
    let request = decision(
        "Which?",
        vec![value("yes", json!(1)), value("no", json!(0))],
    );
    call.services.make(request).await.map_err(passed_on)
}

/// Calls the function named like it, without `call-`.
async fn call_on(call: NativeCall) -> Result<Json, CallError> {
    let name = call.function.name.function["call-".len()..].to_owned();
    call.services
        .call(&name, json!({}))
        .await
        .map_err(passed_on)
}

fn deciding(component: &str, name: &str, runtimes: &[&str]) -> Function {
    let parameters = runtimes.iter().map(|runtime| text(runtime));
    function(component, name, "", parameters)
}

#[tokio::test]
async fn without_a_runtime_on_the_chain_no_model_is_asked() {
    let model = Arc::new(ScriptedProvider::new(["{\"call\": \"yes\"}"]));
    let functions = NativeFunctions::default()
        .with(deciding("a", "decide", &[]), decide)
        .with(deciding("a", "call-decide", &[]), call_on);
    let runtime = runtime(functions, Providers::all(model.clone()));
    let expected = json!({
        "code": "no-runtime",
        "message": "no function on the call chain declares a runtime; \
                    add a parameter `runtime: &Runtime` to the function that decides or to one \
                    that calls it",
        "details": {},
    });
    for name in ["decide", "call-decide"] {
        let outcome = run(&runtime, name, json!({})).await;
        assert_eq!(told(&outcome), expected, "{name}");
    }
    assert_eq!(model.requests(), []);
}

#[tokio::test]
async fn without_a_model_a_decision_says_how_to_name_one() {
    let functions = NativeFunctions::default().with(deciding("a", "decide", &["runtime"]), decide);
    let runtime = runtime(functions, Providers::default());
    let outcome = run(&runtime, "decide", json!({})).await;
    let expected = json!({
        "code": "no-provider",
        "message": "no model is configured for `runtime`; name one with `--model PROVIDER:MODEL` \
                    or with `model = \"PROVIDER:MODEL\"` in openprogram.toml",
        "details": {"runtime": "runtime"},
    });
    assert_eq!(told(&outcome), expected);
}

#[tokio::test]
async fn the_nearest_declared_runtime_is_the_ambient_one_in_every_component() {
    let models = ["main", "exec", "review"].map(|name| {
        let replies = ["{\"call\": \"yes\"}"; 4];
        Arc::new(ScriptedProvider::new(replies).named(name))
    });
    let [main, exec, review] = models.clone();
    let functions = NativeFunctions::default()
        .with(deciding("b", "decide", &[]), decide)
        .with(deciding("a", "main", &["runtime"]), decide)
        .with(
            deciding("a", "both", &["review_runtime", "runtime"]),
            decide,
        )
        .with(deciding("a", "call-decide", &["exec_runtime"]), call_on)
        .with(deciding("a", "call-call-decide", &["runtime"]), call_on)
        .with(deciding("a", "call-main", &["review_runtime"]), call_on);
    let runtime = runtime_with(functions, |parts| {
        parts.providers = Providers {
            main: Some(main),
            exec: Some(exec),
            review: Some(review),
        };
        let mut policy = CallPolicy::default();
        policy.grant(&parts.catalog, "a", "b.decide").unwrap();
        parts.policy = policy;
    });
    let mut n_asked = [0; 3];
    for (name, asked) in [
        ("main", 0),
        ("both", 0),
        ("call-decide", 1),
        ("call-call-decide", 1),
        ("call-main", 0),
    ] {
        let outcome = run(&runtime, name, json!({})).await;
        assert_eq!(told(&outcome), json!({"ok": 1}), "{name}");
        n_asked[asked] += 1;
        let found = models.each_ref().map(|model| model.requests().len());
        assert_eq!(found, n_asked, "{name}");
    }
}

#[tokio::test]
async fn a_decision_can_name_another_runtime() {
    let main = Arc::new(ScriptedProvider::new(["{\"call\": \"yes\"}"]));
    let review = Arc::new(ScriptedProvider::new(["{\"call\": \"no\"}"]));
    let decide = |call: NativeCall| async move {
        let mut request = decision("?", vec![value("yes", json!(1)), value("no", json!(0))]);
        request.runtime = Some(RuntimeRole::Review.into());
        call.services.make(request).await.map_err(passed_on)
    };
    let declared = deciding("a", "decide", &["runtime", "review_runtime"]);
    let functions = NativeFunctions::default().with(declared, decide);
    let providers = Providers {
        main: Some(main),
        exec: None,
        review: Some(review),
    };
    let runtime = runtime(functions, providers);
    let outcome = run(&runtime, "decide", json!({})).await;
    assert_eq!(told(&outcome), json!({"ok": 0}));
}

#[tokio::test]
async fn a_lent_runtime_tells_its_model_and_one_that_is_not_lent_does_not() {
    let asks = |call: NativeCall| async move {
        let told = [RuntimeRole::Main, RuntimeRole::Exec, RuntimeRole::Review].map(|role| {
            let model = call.services.model(role.into());
            model.unwrap_or_else(|failure| failure.message)
        });
        Ok(json!([told, call.services.session_id()]))
    };
    let asking = deciding("a", "asks", &["runtime", "exec_runtime"]);
    let functions = NativeFunctions::default().with(asking, asks);
    let model = Arc::new(ScriptedProvider::new([""]).named("main"));
    let runtime = runtime(functions, Providers::all(model));
    let outcome = run(&runtime, "asks", json!({})).await;
    let not_lent = "the function has no parameter `review_runtime`; declare one to use it";
    let session = outcome.session.clone().unwrap();
    let expected = json!([["main", "main", not_lent], session.as_str()]);
    assert_eq!(outcome.result, Ok(expected));
}

/// Decides, changes its system prompt, decides below itself, and decides again.
async fn outer(call: NativeCall) -> Result<Json, CallError> {
    let services = &call.services;
    decide(call.clone()).await?;
    let set = services.set_system(RuntimeRole::Main.into(), Some("set by outer".to_owned()));
    set.map_err(passed_on)?;
    services.call("plain", json!({})).await.map_err(passed_on)?;
    services
        .call("strict", json!({}))
        .await
        .map_err(passed_on)?;
    services.call("quiet", json!({})).await.map_err(passed_on)?;
    decide(call.clone()).await
}

/// Takes the system prompt away for itself and decides.
async fn quiet(call: NativeCall) -> Result<Json, CallError> {
    let set = call.services.set_system(RuntimeRole::Main.into(), None);
    set.map_err(passed_on)?;
    decide(call).await
}

#[tokio::test]
async fn the_system_prompt_holds_below_its_frame_and_ends_with_it() {
    let with_system = |mut function: Function, system: &str| {
        function.system = Some(system.to_owned());
        function
    };
    let outer_function = with_system(deciding("a", "outer", &["runtime"]), "system of outer");
    let functions = NativeFunctions::default()
        .with(outer_function, outer)
        .with(deciding("a", "plain", &[]), decide)
        .with(with_system(deciding("a", "strict", &[]), "strict"), decide)
        .with(deciding("a", "quiet", &["runtime"]), quiet)
        .with(deciding("a", "other", &["runtime"]), decide);
    let model = Arc::new(ScriptedProvider::new(["{\"call\": \"yes\"}"; 6]));
    let runtime = runtime(functions, Providers::all(model.clone()));
    for name in ["outer", "other"] {
        let outcome = run(&runtime, name, json!({})).await;
        assert_eq!(told(&outcome), json!({"ok": 1}), "{name}");
    }
    let requests = model.requests();
    let systems: Vec<_> = requests.iter().map(|r| r.system.as_deref()).collect();
    let expected = [
        Some("system of outer"),
        Some("set by outer"),
        Some("strict"),
        None,
        Some("set by outer"),
        None,
    ];
    assert_eq!(systems, expected);
}

#[tokio::test]
async fn a_system_prompt_has_a_longest_length() {
    let sets = |call: NativeCall| async move {
        let longest = usize::try_from(SYSTEM_BYTES_MAX).unwrap();
        let set = |length| {
            let text = "x".repeat(length);
            call.services
                .set_system(RuntimeRole::Main.into(), Some(text))
        };
        set(longest).map_err(passed_on)?;
        let failure = set(longest + 1).unwrap_err();
        let system = call
            .services
            .system(RuntimeRole::Main.into())
            .unwrap()
            .unwrap();
        Ok(json!([failure.details["which"], system.len()]))
    };
    let functions = NativeFunctions::default().with(deciding("a", "sets", &["runtime"]), sets);
    let runtime = runtime(functions, Providers::default());
    let outcome = run(&runtime, "sets", json!({})).await;
    assert_eq!(told(&outcome), json!({"ok": ["system_bytes", 65_536]}));
}

/// Gives back its arguments.
async fn echo(call: NativeCall) -> Result<Json, CallError> {
    Ok(Json::Object(call.arguments))
}

/// Offers `relay` with a context of its own, and shows that it keeps its own afterwards.
async fn offer(call: NativeCall) -> Result<Json, CallError> {
    let mut request = decision("Go on.", vec![runs("go", "relay"), value("stop", json!(0))]);
    request.context = object(json!({"city": "Bern", "secret-key": "HIDDEN-B"}));
    let picked = call.services.make(request).await.map_err(passed_on)?;
    let after = call.services.call("show", json!({})).await;
    Ok(json!([picked, after.map_err(passed_on)?]))
}

/// Passes on to `show`.
async fn relay(call: NativeCall) -> Result<Json, CallError> {
    let shown = call.services.call("show", json!({})).await;
    Ok(json!([call.arguments, shown.map_err(passed_on)?]))
}

#[tokio::test]
async fn context_is_inherited_and_overlaid_below_a_pick_and_no_model_sees_it() {
    let shown = [hidden("city"), hidden("secret_key"), hidden("user")];
    let functions = NativeFunctions::default()
        .with(deciding("a", "offer", &["runtime"]), offer)
        .with(
            function("a", "relay", "Relays.", [hidden("secret_key")]),
            relay,
        )
        .with(function("a", "show", "Shows.", shown), echo);
    let replies = ["{\"call\": \"go\", \"args\": {\"secret_key\": \"stolen\"}}"];
    let forbidden = ["HIDDEN", "secret", "Bern", "city", "Ada"];
    let model = Arc::new(ScriptedProvider::new(replies).forbids(forbidden));
    let runtime = runtime(functions, Providers::all(model.clone()));
    let mut request = RunRequest::new("offer");
    let context = json!({"city": "Oslo", "secret_key": "HIDDEN-A", "user": "Ada"});
    request.context = object(context);
    let outcome = runtime.run_function(request).await;
    let expected = json!({"ok": [
        [{"secret_key": "HIDDEN-B"}, {"city": "Bern", "secret_key": "HIDDEN-B", "user": "Ada"}],
        {"city": "Oslo", "secret_key": "HIDDEN-A", "user": "Ada"},
    ]});
    assert_eq!(told(&outcome), expected);
    assert_eq!(model.requests().len(), 1);
}
