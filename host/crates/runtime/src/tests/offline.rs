//! Menus rendered, replies read and picks carried out without asking, and asking where it helps.

use std::sync::Arc;

use expect_test::expect;
use openprogram_core::JsonObject;
use openprogram_core::guest::{DecisionRequest, PickedOption};
use openprogram_core::llm::Provider;
use serde_json::json;

use super::desk::{echo, model, routing};
use super::{graph, hidden, run, runtime, told, without_menus};
use super::{runtime_with, text};
use crate::testing::{NativeCall, NativeFunctions, ScriptedDecider, function, passed_on};
use crate::{Providers, RunOutcome, Runtime};

/// A component whose `read` takes a reply of elsewhere and carries its pick out.
fn reader(reply: &str, request: DecisionRequest, parameters: &[&str]) -> NativeFunctions {
    let reply = reply.to_owned();
    let read = move |call: NativeCall| {
        let (reply, request) = (reply.clone(), request.clone());
        async move {
            let services = call.services;
            let picked = services.parse(reply, request.clone()).await;
            let picked = picked.map_err(passed_on)?;
            let facts = json!([picked.name, picked.arguments, picked.how]);
            let value = services.resolve(request, picked).await.map_err(passed_on)?;
            Ok(json!([facts, value]))
        }
    };
    let parameters = parameters.iter().map(|name| text(name)).collect::<Vec<_>>();
    NativeFunctions::default()
        .with(function("desk", "read", "Reads a reply.", parameters), read)
        .with(
            function(
                "desk",
                "refund",
                "Pays back.",
                [text("order"), hidden("message")],
            ),
            echo,
        )
        .with(function("desk", "wait", "Waits.", []), echo)
}

async fn read(
    reply: &str,
    request: DecisionRequest,
    model: Arc<dyn Provider>,
) -> (Runtime, RunOutcome) {
    let functions = reader(reply, request, &["runtime"]);
    let runtime = runtime(functions, Providers::all(model));
    let outcome = run(&runtime, "read", json!({})).await;
    (runtime, outcome)
}

#[tokio::test]
async fn a_reply_of_elsewhere_is_read_and_carried_out_without_a_model() {
    let reply = "Well. {\"call\": \"refund\", \"args\": {\"order\": \"A-1\"}}";
    let functions = reader(reply, routing(), &[]);
    let runtime = runtime_with(functions, |_| {});
    let outcome = run(&runtime, "read", json!({})).await;
    let facts = json!(["refund", {"order": "A-1"}, "text"]);
    let value = json!({"order": "A-1", "message": "MY-SECRET-MESSAGE"});
    assert_eq!(told(&outcome), json!({"ok": [facts, value]}));
    expect![[r#"
        1 code test:desk/api.read
          in   {}
          out  [["refund",{"order":"A-1"},"text"],{"order":"A-1","message":"MY-SECRET-MESSAGE"}]
        2 code test:desk/api.refund caller=1
          in   {"order":"A-1","message":"MY-SECRET-MESSAGE"}
          fact hidden_arguments=["message"]
          out  {"order":"A-1","message":"MY-SECRET-MESSAGE"}
    "#]]
    .assert_eq(&graph(&runtime, &outcome).await);
}

#[tokio::test]
async fn without_a_runtime_an_invalid_reply_is_a_failure_at_once() {
    let functions = reader("Well.", routing(), &[]);
    let runtime = runtime_with(functions, |_| {});
    let outcome = run(&runtime, "read", json!({})).await;
    let expected = json!({
        "code": "decision",
        "message": "no valid pick after 1 attempt: the reply holds no JSON object with the key \"call\"",
        "details": {"kind": "no_action", "attempts": 1, "reply_head": "Well."}
    });
    assert_eq!(told(&outcome), expected);
    // A model that does not write cannot be asked about a reply either.
    let decider = Arc::new(ScriptedDecider::new([[("done", 1.0)]]));
    assert_eq!(told(&read("Well.", routing(), decider).await.1), expected);
    // Nor is one asked that may not be.
    let mut request = routing();
    request.max_retries = 0;
    let model = model(["{\"call\": \"done\"}"]);
    assert_eq!(
        told(&read("Well.", request, model.clone()).await.1),
        expected
    );
    assert_eq!(model.requests().len(), 0);
}

#[tokio::test]
async fn with_a_runtime_the_model_is_asked_about_an_invalid_reply() {
    let model = model(["{\"call\": \"later\"}"]);
    let (runtime, outcome) = read("Well.", routing(), model.clone()).await;
    let facts = json!(["later", {}, "text"]);
    assert_eq!(told(&outcome), json!({"ok": [facts, {}]}));
    assert_eq!(model.requests()[0].tools, []);
    expect![[r#"
        1 code test:desk/api.read
          in   {}
          out  [["later",{},"text"],{}]
        2 llm scripted:text caller=1
          in   "Your previous reply gave no valid pick.\n\nP…
          fact runtime="runtime"
          fact method="text"
          fact pick="later"
          fact arguments={}
          out  "{\"call\": \"later\"}"
        3 code test:desk/api.wait caller=1
          in   {}
          fact picked_by=node 2
          out  {}
    "#]]
    .assert_eq(&without_menus(&graph(&runtime, &outcome).await));
    let mut request = routing();
    request.max_retries = 2;
    let model = super::desk::model(["no", "never"]);
    let (_, outcome) = read("Well.", request, model.clone()).await;
    assert_eq!(model.requests().len(), 2);
    assert_eq!(
        outcome.result.unwrap_err().details["reply_head"],
        json!("never")
    );
}

#[tokio::test]
async fn a_pick_is_carried_out_with_the_menu_that_it_was_picked_from() {
    let functions = NativeFunctions::default().with(
        function("desk", "carry", "Carries a pick out.", []),
        |call: NativeCall| async move {
            let picked = PickedOption {
                name: "gone".to_owned(),
                arguments: JsonObject::new(),
                how: "text".to_owned(),
                confidence: None,
                handed_off: None,
                turn: None,
            };
            let request = DecisionRequest::new("", vec![super::value("here", json!(1))]);
            let text = call
                .services
                .render(request.clone())
                .await
                .map_err(passed_on)?;
            assert_eq!(text, "here()\n    Call: {\"call\": \"here\"}\n");
            let resolved = call.services.resolve(request, picked).await;
            resolved.map_err(passed_on)
        },
    );
    let runtime = runtime_with(functions, |_| {});
    let outcome = run(&runtime, "carry", json!({})).await;
    assert_eq!(
        told(&outcome),
        json!({
            "code": "invalid-argument",
            "message": "the pick does not fit the menu it is resolved with: \"gone\" is not one of the \
                        options; pick one of \"here\"",
            "details": {"path": "picked"}
        })
    );
}
