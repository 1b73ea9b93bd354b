//! Chains and floods of calls, and where they end.

use openprogram_core::Json;
use openprogram_core::guest::CallError;
use serde_json::json;

use super::{run, runtime_with, told};
use crate::RunLimits;
use crate::testing::{NativeCall, NativeFunctions, function, passed_on};

/// Gives back its arguments.
async fn echo(call: NativeCall) -> Result<Json, CallError> {
    Ok(Json::Object(call.arguments))
}

/// Calls itself for ever.
async fn recurse(call: NativeCall) -> Result<Json, CallError> {
    let next = call.services.call("recurse", json!({})).await;
    next.map_err(passed_on)
}

/// Calls its sibling for ever, which calls it.
async fn bounce(call: NativeCall) -> Result<Json, CallError> {
    let name = &call.function.name.function;
    let number: u32 = name["bounce-".len()..].parse().unwrap();
    let next = format!("bounce-{}", number + 1);
    call.services
        .call(&next, json!({}))
        .await
        .map_err(passed_on)
}

/// Makes calls until one is refused, and counts them.
async fn flood(call: NativeCall) -> Result<Json, CallError> {
    for number in 0.. {
        if let Err(failure) = call.services.call("ping", json!({})).await {
            return Ok(json!([number, failure.details["which"]]));
        }
    }
    unreachable!("a flood ends")
}

/// Floods twice below itself.
async fn floods(call: NativeCall) -> Result<Json, CallError> {
    let mut outcomes = Vec::new();
    for _ in 0..2 {
        outcomes.push(
            call.services
                .call("flood", json!({}))
                .await
                .map_err(passed_on)?,
        );
    }
    Ok(outcomes.into())
}

#[tokio::test]
async fn every_limit_ends_what_it_is_for_and_is_named() {
    let limits = RunLimits {
        call_depth: 4,
        recursion: 3,
        fan_out: 5,
        calls: 9,
        ..RunLimits::default()
    };
    let limited = |which: &str, limit: u32, message: &str| {
        json!({
            "code": "limit-reached",
            "message": message,
            "details": {"which": which, "limit": limit},
        })
    };
    let cases = [
        (
            "recurse",
            limited(
                "recursion",
                3,
                "`test:a/api.recurse` is already running 3 times in this chain",
            ),
        ),
        (
            "bounce-1",
            limited(
                "call_depth",
                4,
                "`test:a/api.bounce-5` would be deeper than 4 calls",
            ),
        ),
        ("flood", json!({"ok": [5, "fan_out"]})),
        ("floods", json!({"ok": [[5, "fan_out"], [1, "calls"]]})),
    ];
    for (name, expected) in cases {
        let mut functions = NativeFunctions::default()
            .with(function("a", "recurse", "", []), recurse)
            .with(function("a", "ping", "", []), echo)
            .with(function("a", "flood", "", []), flood)
            .with(function("a", "floods", "", []), floods);
        for number in 1..=5 {
            let bounces = function("a", &format!("bounce-{number}"), "", []);
            functions = functions.with(bounces, bounce);
        }
        let runtime = runtime_with(functions, |parts| parts.limits = limits);
        let outcome = run(&runtime, name, json!({})).await;
        assert_eq!(told(&outcome), expected, "{name}");
    }
}
