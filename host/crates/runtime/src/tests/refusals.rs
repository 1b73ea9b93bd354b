//! Decisions that are refused before a model is asked.

use openprogram_core::Json;
use openprogram_core::guest::DecisionRequest;
use serde_json::json;

use super::desk::{desk, model, route, routing};
use super::{nodes, object, run, runs, runtime, text, told, value};
use crate::Providers;
use crate::testing::{NativeCall, function, passed_on};

async fn check_refused(change: impl FnOnce(&mut DecisionRequest), expected: Json) {
    let mut request = routing();
    change(&mut request);
    let model = model(["{\"call\": \"done\"}"]);
    let (runtime, outcome) = route(request, model.clone()).await;
    assert_eq!(told(&outcome), expected);
    assert_eq!(model.requests(), []);
    let recorded = nodes(&runtime, &outcome).await;
    let refused = &recorded[0].end.as_ref().unwrap().facts["refused"];
    assert_eq!((recorded.len(), refused), (1, &json!([expected])));
}

#[tokio::test]
async fn a_menu_that_cannot_work_is_refused_before_the_model_is_asked() {
    let invalid = |message: &str| json!({"code": "invalid-argument", "message": message, "details": {"path": "menu"}});
    check_refused(
        |request| request.options.clear(),
        invalid("the menu has no options; add at least one"),
    )
    .await;
    check_refused(
        |request| request.options = (0..513).map(|n| runs(&n.to_string(), "gone")).collect(),
        invalid("the menu has 513 options, more than the limit of 512; split it"),
    )
    .await;
    check_refused(
        |request| request.options.push(value("done", json!(1))),
        invalid("the option `done` is in the menu twice; rename one"),
    )
    .await;
    check_refused(
        |request| request.options.push(runs("count", "stock")),
        json!({
            "code": "denied",
            "message": "option `count`: `desk` may not call `test:shop/api.stock`",
            "details": {
                "what": "call test:shop/api.stock",
                "how_to_allow": "openprogram grant desk --call test:shop/api.stock",
                "option": "count",
            },
        }),
    )
    .await;
    check_refused(
        |request| request.options.push(runs("gone", "refnd")),
        json!({
            "code": "not-found",
            "message": "option `gone`: there is no function `refnd`; \
                        did you mean `test:desk/api.refund`?",
            "details": {"name": "refnd", "nearest": ["test:desk/api.refund"], "option": "gone"},
        }),
    )
    .await;
    check_refused(
        |request| request.options.push(runs("rude", "rude")),
        json!({
            "code": "invalid-argument",
            "message": "option `rude`: `test:desk/api.rude` cannot be called: \
                        parameter `s` is a resource",
            "details": {"function": "test:desk/api.rude", "path": "rude", "option": "rude"},
        }),
    )
    .await;
    check_refused(
        |request| request.max_retries = 11,
        json!({
            "code": "limit-reached",
            "message": "a decision is asked again at most 10 times",
            "details": {"which": "max_retries", "limit": 10},
        }),
    )
    .await;
    check_refused(
        |request| request.prompt = "x".repeat(1024 * 1024 + 1),
        json!({
            "code": "limit-reached",
            "message": "the prompt is 1048577 bytes long; the most is 1048576",
            "details": {"which": "prompt_bytes", "limit": 1_048_576},
        }),
    )
    .await;
}

/// What the context must give, and does not.
#[tokio::test]
async fn a_function_that_the_context_cannot_fill_is_refused_before_the_model_is_asked() {
    let unfit = |message: &str| {
        json!({
            "code": "invalid-argument",
            "message": format!("option `refund`: argument `message` of `test:desk/api.refund`: \
                                hidden parameter, {message}"),
            "details": {
                "function": "test:desk/api.refund",
                "path": "message",
                "option": "refund",
            },
        })
    };
    for context in [json!({}), json!({"order": "A-1"})] {
        check_refused(
            |request| request.context = object(context),
            unfit("and the context has no value for it"),
        )
        .await;
    }
    check_refused(
        |request| request.context = object(json!({"message": ["MY-SECRET-MESSAGE"]})),
        unfit("filled from the context: expected a string, got an array"),
    )
    .await;
}

#[tokio::test]
async fn a_pick_that_runs_nothing_needs_no_context() {
    let picks = |call: NativeCall| async move {
        let mut request = routing();
        request.context = object(json!({}));
        let picked = call.services.pick(request).await.map_err(passed_on)?;
        Ok(json!(picked.name))
    };
    let functions = desk(routing()).with(function("desk", "picks", "", [text("runtime")]), picks);
    let reply = "{\"call\": \"refund\", \"args\": {\"order\": \"A-1\"}}";
    let runtime = runtime(functions, Providers::all(model([reply])));
    let outcome = run(&runtime, "picks", json!({})).await;
    assert_eq!(told(&outcome), json!({"ok": "refund"}));
}
