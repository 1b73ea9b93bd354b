//! Decisions end to end: what the model sees, what is recorded, what ends a decision.

use std::sync::Arc;

use expect_test::{Expect, expect};
use openprogram_core::Json;
use openprogram_core::function::{Function, Parameter};
use openprogram_core::llm::{LlmError, LlmFailure, LlmReason};
use openprogram_core::schema::Type;
use openprogram_core::session::{Node, NodeKind};
use serde_json::json;

use super::desk::{desk, model, route, routing};
use super::{graph, nodes, run, runtime, runtime_with, text, told, without_menus};
use crate::testing::{NativeCall, ScriptedProvider, function, passed_on, shown_request};
use crate::{Providers, RunLimits};

#[tokio::test]
async fn the_first_request_of_a_decision() {
    let model = model(["{\"call\": \"done\"}"]);
    let (_, outcome) = route(routing(), model.clone()).await;
    assert_eq!(told(&outcome), json!({"ok": "CONVERSATION_OVER"}));
    let requests = model.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].tools, []);
    assert_eq!(Some(&requests[0].session), outcome.session.as_ref());
    expect![[r#"
        [user]
        This turn is part of the function `route`.
        What the function is for: Routes a message.
        Call path: route
        [user]
        Pick one way to handle this message.

        refund(order: str)
            Pays back.
            order (str)
            Call: {"call": "refund", "args": {"order": "<str>"}}

        later()
            Waits.
            Call: {"call": "later"}

        plan(steps: list, sure: bool)
            steps (list of str)
            sure (bool)
            Call: {"call": "plan", "args": {"steps": ["<str>"], "sure": false}}

        done()
            Call: {"call": "done"}
    "#]]
    .assert_eq(&shown_request(&requests[0]));
}

#[tokio::test]
async fn the_request_that_asks_again() {
    let model = model(["I would refund.", "{\"call\": \"later\"}"]);
    let (_, outcome) = route(routing(), model.clone()).await;
    assert_eq!(told(&outcome), json!({"ok": {}}));
    let requests = model.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[1].tools, []);
    expect![[r#"
        [user]
        (What follows was written earlier in this work.)
        [assistant]
        I would refund.
        [user]
        This turn is part of the function `route`.
        What the function is for: Routes a message.
        Call path: route
        [user]
        Pick one way to handle this message.

        Your previous reply gave no valid pick.

        Previous reply:
            I would refund.

        Problem: the reply holds no JSON object with the key "call"

        Options:

        refund(order: str)
            Pays back.
            order (str)
            Call: {"call": "refund", "args": {"order": "<str>"}}

        later()
            Waits.
            Call: {"call": "later"}

        plan(steps: list, sure: bool)
            steps (list of str)
            sure (bool)
            Call: {"call": "plan", "args": {"steps": ["<str>"], "sure": false}}

        done()
            Call: {"call": "done"}

        Pick one of the options. Reply with one JSON object in the form of its `Call:` line and nothing else.
    "#]].assert_eq(&shown_request(&requests[1]));
}

async fn check_graph(replies: &[&str], expected_told: Json, expected: Expect) {
    let (runtime, outcome) = route(routing(), model(replies.iter().copied())).await;
    assert_eq!(told(&outcome), expected_told);
    expected.assert_eq(&without_menus(&graph(&runtime, &outcome).await));
}

#[tokio::test]
async fn a_picked_function_runs_below_the_one_that_decided() {
    let reply = "{\"call\": \"refund\", \"args\": {\"order\": \"A-1\", \"message\": \"x\"}}";
    let result = json!({"order": "A-1", "message": "MY-SECRET-MESSAGE"});
    check_graph(
        &[reply],
        json!({"ok": result}),
        expect![[r#"
        1 code test:desk/api.route
          in   {}
          out  {"order":"A-1","message":"MY-SECRET-MESSAGE"}
        2 llm scripted:text caller=1
          in   "Pick one way to handle this message.\n\nrefu…
          fact runtime="runtime"
          fact method="text"
          fact pick="refund"
          fact arguments={"order":"A-1"}
          fact coerced=["message: never taken from a reply or a caller, dropped"]
          out  "{\"call\": \"refund\", \"args\": {\"order\": \"A-1\", \"message\": \"x\"}}"
        3 code test:desk/api.refund caller=1
          in   {"order":"A-1","message":"MY-SECRET-MESSAGE"}
          fact hidden_arguments=["message"]
          fact picked_by=node 2
          out  {"order":"A-1","message":"MY-SECRET-MESSAGE"}
    "#]],
    )
    .await;
}

#[tokio::test]
async fn picked_fields_are_the_result() {
    let reply = "{\"call\": \"plan\", \"args\": {\"sure\": true, \"steps\": [\"a\"], \"x\": 1}}";
    let result = json!({"decision": "plan", "steps": ["a"], "sure": true});
    check_graph(
        &[reply],
        json!({"ok": result}),
        expect![[r#"
        1 code test:desk/api.route
          in   {}
          out  {"decision":"plan","steps":["a"],"sure":true}
        2 llm scripted:text caller=1
          in   "Pick one way to handle this message.\n\nrefu…
          fact runtime="runtime"
          fact method="text"
          fact pick="plan"
          fact arguments={"steps":["a"],"sure":true}
          fact coerced=["x: unknown name, dropped"]
          out  "{\"call\": \"plan\", \"args\": {\"sure\": true, \"steps\": [\"a\"], \"x\": 1}}"
    "#]],
    )
    .await;
}

#[tokio::test]
async fn two_wrong_replies_end_the_decision_and_both_turns_are_recorded() {
    let failure = json!({
        "code": "decision",
        "message": "no valid pick after 2 attempts: `steps`: a required value is missing",
        "details": {
            "kind": "missing_required",
            "attempts": 2,
            "reply_head": "{\"call\": \"plan\", \"args\": {\"sure\": true}}",
        },
    });
    check_graph(
        &[
            "Refund them!",
            "{\"call\": \"plan\", \"args\": {\"sure\": true}}",
        ],
        failure,
        expect![[r#"
            1 code test:desk/api.route
              in   {}
              decision: no valid pick after 2 attempts: `steps`: a required value is missing
            2 llm scripted:text caller=1
              in   "Pick one way to handle this message.\n\nrefu…
              fact runtime="runtime"
              fact method="text"
              fact no_pick={"kind":"no_action","message":"the reply holds no JSON object with the key \"call\""}
              out  "Refund them!"
            3 llm scripted:text caller=1 reads=2
              in   "Pick one way to handle this message.\n\nYour…
              fact retry_of=node 2
              fact runtime="runtime"
              fact method="text"
              fact no_pick={"kind":"missing_required","message":"`steps`: a required value is missing"}
              out  "{\"call\": \"plan\", \"args\": {\"sure\": true}}"
        "#]],
    )
    .await;
}

#[tokio::test]
async fn the_head_of_the_last_reply_is_bounded() {
    let mut request = routing();
    request.max_retries = 0;
    let (_, outcome) = route(request, model(["é".repeat(3_000)])).await;
    let failure = outcome.result.unwrap_err();
    let head = failure.details["reply_head"].as_str().unwrap();
    assert_eq!(
        (head.chars().count(), &failure.details["attempts"]),
        (200, &json!(1))
    );
}

#[tokio::test]
async fn a_model_is_asked_again_as_often_as_wanted_and_no_more() {
    for max_retries in [0, 1, 3, 10] {
        let mut request = routing();
        request.max_retries = max_retries;
        let model = model(["no"; 20]);
        let (runtime, outcome) = route(request, model.clone()).await;
        let asked = usize::try_from(max_retries).unwrap() + 1;
        let recorded = nodes(&runtime, &outcome).await;
        let turns = recorded.iter().filter(|n| n.opened.kind == NodeKind::Llm);
        assert_eq!((model.requests().len(), turns.count()), (asked, asked));
        let failure = outcome.result.unwrap_err();
        assert_eq!(failure.details["attempts"], json!(asked));
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_that_fails_ends_the_decision_and_its_turn_shows_why() {
    let overloaded = LlmFailure::new(LlmReason::Provider, true, "overloaded");
    let refused = LlmFailure::new(LlmReason::Auth, false, "wrong key");
    let model = model([overloaded, refused].map(LlmError::Failed));
    let (runtime, outcome) = route(routing(), model).await;
    let expected = json!({
        "code": "llm",
        "message": "the decision failed permanently:\n\
                    Attempt 1: ProviderError: overloaded\n\
                    Attempt 2: AuthenticationError: wrong key",
        "details": {
            "reason": "auth",
            "retryable": false,
            "provider": "scripted",
            "attempts": 2,
            "elapsed_s": 1.125,
            "model": "scripted:text",
            "had_image": false,
        },
    });
    assert_eq!(told(&outcome), expected);
    let turn: Node = nodes(&runtime, &outcome).await.remove(1);
    let end = turn.end.unwrap();
    assert_eq!(end.failure, outcome.result.err());
    let tries: Vec<_> = end.attempts.iter().map(|a| &*a.failure.message).collect();
    assert_eq!(tries, ["overloaded", "wrong key"]);
}

#[tokio::test]
async fn model_turns_and_long_replies_have_a_limit() {
    for (limits, which) in [
        (
            RunLimits {
                model_turns: 1,
                ..RunLimits::default()
            },
            "model_turns",
        ),
        (
            RunLimits {
                reply_bytes: 100,
                ..RunLimits::default()
            },
            "reply_bytes",
        ),
    ] {
        let long = "no ".repeat(40);
        let replies = ["no", &long];
        let runtime = runtime_with(desk(routing()), |parts| {
            parts.limits = limits;
            parts.providers = Providers::all(model(replies));
        });
        let failure = run(&runtime, "route", json!({})).await.result.unwrap_err();
        assert_eq!(
            (failure.code.as_str(), &failure.details["which"]),
            ("limit-reached", &json!(which))
        );
    }
}

#[tokio::test]
async fn pick_runs_nothing_and_shows_only_what_the_model_gave() {
    let picks = |call: NativeCall| async move {
        let picked = call.services.pick(routing()).await.map_err(passed_on)?;
        Ok(json!([picked.name, picked.arguments, picked.how]))
    };
    let functions = desk(routing()).with(function("desk", "picks", "", [text("runtime")]), picks);
    let reply = "{\"call\": \"refund\", \"args\": {\"order\": \"A-1\", \"message\": \"x\"}}";
    let runtime = runtime(functions, Providers::all(model([reply])));
    let outcome = run(&runtime, "picks", json!({})).await;
    let expected = json!({"ok": ["refund", {"order": "A-1"}, "text"]});
    assert_eq!(told(&outcome), expected);
    assert_eq!(nodes(&runtime, &outcome).await.len(), 2);
}

/// Decides twice with a call between, so that the second request has something to read.
#[tokio::test]
async fn a_later_decision_reads_what_the_frame_did() {
    let twice = |call: NativeCall| async move {
        let services = &call.services;
        services.make(routing()).await.map_err(passed_on)?;
        services.call("wait", json!({})).await.map_err(passed_on)?;
        services.make(routing()).await.map_err(passed_on)
    };
    let twice_function: Function = function(
        "desk",
        "twice",
        "Decides twice.",
        [text("runtime"), Parameter::new("note", Type::String)],
    );
    let functions = desk(routing()).with(twice_function, twice);
    let refund = "{\"call\": \"refund\", \"args\": {\"order\": \"A-1\"}}";
    // The refund echoes its arguments, hidden ones too: what a function gives back is its own affair.
    let model = Arc::new(ScriptedProvider::new([refund, "{\"call\": \"done\"}"]));
    let runtime = runtime(functions, Providers::all(model.clone()));
    let outcome = run(&runtime, "twice", json!({"note": "hello"})).await;
    assert_eq!(told(&outcome), json!({"ok": "CONVERSATION_OVER"}));
    let shown = shown_request(&model.requests()[1]);
    let before_the_prompt = shown.split("Pick one way").next().unwrap();
    expect![[r#"
        [user]
        (What follows was written earlier in this work.)
        [assistant]
        {"call": "refund", "args": {"order": "A-1"}}
        [user]
        Call: refund({"order":"A-1"})
        Result: {"order":"A-1","message":"MY-SECRET-MESSAGE"}
        [user]
        Call: wait({})
        Result: {}
        [user]
        This turn is part of the function `twice`.
        What the function is for: Decides twice.
        Call path: twice
        [user]
    "#]]
    .assert_eq(before_the_prompt);
}
