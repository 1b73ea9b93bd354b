//! Decisions end to end: real guests, what the model sees, and what is recorded.

use std::sync::Arc;

use openprogram_core::failure::FailureCode;
use openprogram_runtime::testing::{ScriptedProvider, shown_request};
use openprogram_tests::host::{RunningHost, TestHost, named, sqlite};
use serde_json::json;

/// A host with the chooser and a model with these replies.
async fn chooser(replies: &[&str]) -> (RunningHost, Arc<ScriptedProvider>) {
    let model = ScriptedProvider::new(replies.iter().copied()).forbids(["from the menu", "secret"]);
    let model = Arc::new(model);
    let host = TestHost::new().guest("chooser").provider(model.clone());
    (host.start().await, model)
}

#[tokio::test]
async fn chooser_resolves_every_kind_of_option() {
    for (reply, expected) in [
        (r#"{"call": "done"}"#, json!("DONE")),
        (
            r#"{"call": "greet", "args": {"name": "Ada"}}"#,
            json!("short: hello Ada"),
        ),
        (
            r#"I greet. ```json {"call": "greet", "name": "Bo", "style": "long"}```"#,
            json!("long: hello Bo"),
        ),
        (r#"{"action": "stamp"}"#, json!("from the menu")),
        (r#"{"call": "needy", "args": {"number": 4}}"#, json!(5)),
        (
            r#"{"call": "plan", "args": {"steps": [{"action": "go"}], "count": 1}}"#,
            json!({"decision": "plan", "steps": [{"action": "go"}], "count": 1}),
        ),
    ] {
        let (host, model) = chooser(&[reply]).await;
        let arguments = json!({"prompt": "Pick one.", "max_retries": 0});
        let result = host.call("choose", arguments).await;
        assert_eq!(result, Ok(expected), "{reply}");
        assert_eq!(model.n_left(), 0, "{reply}");
    }
}

#[tokio::test]
async fn chooser_shows_the_model_a_menu_and_records_the_pick_and_its_call() {
    let (host, model) = chooser(&[r#"{"call": "greet", "args": {"name": "Ada"}}"#]).await;
    let outcome = host
        .run("choose", json!({"prompt": "Pick one.", "max_retries": 1}))
        .await;
    insta::assert_snapshot!("menu", shown_request(&model.requests()[0]));
    insta::assert_snapshot!("graph_of_a_pick", host.graph(&outcome).await);
}

#[tokio::test]
async fn chooser_that_is_answered_wrongly_once_asks_again() {
    let replies = ["I would rather not say.", r#"{"call": "done"}"#];
    let (host, model) = chooser(&replies).await;
    let outcome = host
        .run("choose", json!({"prompt": "Pick one.", "max_retries": 1}))
        .await;
    assert_eq!(outcome.result, Ok(json!("DONE")));
    insta::assert_snapshot!("asked_again", shown_request(&model.requests()[1]));
    insta::assert_snapshot!("graph_of_a_second_try", host.graph(&outcome).await);
}

#[tokio::test]
async fn chooser_that_is_answered_wrongly_twice_fails_with_kind_message_and_reply() {
    for (replies, kind) in [
        (["no", "still no"], "no_action"),
        (["no", r#"{"call": "dance"}"#], "unknown_call"),
        (["no", r#"{"call": "needy"}"#], "missing_required"),
        (
            ["no", r#"{"call": "needy", "args": {"number": "4"}}"#],
            "type_mismatch",
        ),
        (
            [
                "no",
                r#"{"call": "greet", "args": {"name": "A", "style": "loud"}}"#,
            ],
            "enum_violation",
        ),
    ] {
        let (host, model) = chooser(&replies).await;
        let outcome = host
            .run("choose", json!({"prompt": "Pick one.", "max_retries": 1}))
            .await;
        let failure = outcome.result.clone().unwrap_err();
        assert_eq!(named(&failure), format!("decision {kind}"), "{failure:?}");
        assert_eq!(failure.details["reply_head"], json!(replies[1]));
        assert!(!failure.message.is_empty());
        let nodes = host.nodes(outcome.session.as_ref().unwrap()).await;
        let turns: Vec<_> = nodes
            .iter()
            .filter(|node| node.opened.name == "scripted:text")
            .collect();
        assert_eq!(turns.len(), 2, "{kind}: both model turns are nodes");
        assert_eq!(model.n_left(), 0);
    }
    let (host, _) = chooser(&["no", "still no"]).await;
    let outcome = host
        .run("choose", json!({"prompt": "Pick one.", "max_retries": 1}))
        .await;
    insta::assert_snapshot!(
        "failed_decision",
        format!("{:#}", outcome.result.clone().unwrap_err().to_json())
    );
    insta::assert_snapshot!("graph_of_a_failed_decision", host.graph(&outcome).await);
}

#[tokio::test]
async fn chooser_without_a_runtime_on_its_chain_cannot_decide() {
    let (host, model) = chooser(&[r#"{"call": "done"}"#]).await;
    let failure = host
        .failure("choose-ambient", json!({"prompt": "Pick one."}))
        .await;
    assert_eq!(failure.code, FailureCode::NoRuntime, "{failure}");
    assert_eq!(model.requests().len(), 0, "the model is not asked");
    let lent = host.call("lend", json!({"prompt": "Pick one."})).await;
    assert_eq!(
        lent,
        Ok(json!("DONE")),
        "a caller that declares one is enough"
    );
}

#[tokio::test]
async fn chooser_without_a_model_fails_before_anything_is_asked() {
    let host = TestHost::new().guest("chooser").start().await;
    let failure = host
        .failure("choose", json!({"prompt": "Pick.", "max_retries": 0}))
        .await;
    assert_eq!(failure.code, FailureCode::NoProvider, "{failure}");
}

#[tokio::test]
async fn chooser_picks_without_running_what_it_picked() {
    let (host, _) = chooser(&[r#"{"call": "greet", "args": {"name": "Ada"}}"#]).await;
    let outcome = host.run("pick", json!({"prompt": "Pick one."})).await;
    let expected = json!({"name": "greet", "arguments": {"name": "Ada"}, "how": "text"});
    assert_eq!(outcome.result, Ok(expected));
    let nodes = host.nodes(outcome.session.as_ref().unwrap()).await;
    assert_eq!(nodes.len(), 2, "the function and its model turn");
}

#[tokio::test]
async fn chooser_over_a_function_of_another_component_needs_a_grant_before_the_model_is_asked() {
    let model = Arc::new(ScriptedProvider::new([
        r#"{"call": "other", "args": {"number": 4}}"#,
    ]));
    let host = TestHost::new()
        .guest("chooser")
        .guest("healthy")
        .provider(model.clone());
    let host = host.start().await;
    let function = json!({"function": "healthy.double"});
    let failure = host.failure("choose-other", function.clone()).await;
    assert_eq!(failure.code, FailureCode::Denied, "{failure}");
    assert_eq!(model.requests().len(), 0);

    let host = TestHost::new()
        .guest("chooser")
        .guest("healthy")
        .provider(model);
    let host = host.grant("chooser", "healthy.double").start().await;
    assert_eq!(host.call("choose-other", function).await, Ok(json!(8)));
}

#[tokio::test]
async fn a_sandboxed_model_routes_messages_of_customers() {
    let folder = tempfile::tempdir().unwrap();
    let host = TestHost::new().guest("support").decider("lexical-model");
    let host = host
        .store(sqlite(&folder.path().join("sessions.db")))
        .start()
        .await;
    let mut shown = String::new();
    for message in [
        "The cup arrived broken. I want my money back for order #A-1234, it cost 12,50 €.",
        "I love your shop, the staff was very friendly!",
        "Where is my parcel?",
        "I was ignored again and again, let me speak to a manager now!",
        "Thanks, the problem is solved. Goodbye!",
    ] {
        let outcome = host
            .run("route-message", json!({ "message": message }))
            .await;
        let result = outcome
            .result
            .clone()
            .unwrap_or_else(|failure| panic!("{message}: {failure}"));
        let nodes = host.nodes(outcome.session.as_ref().unwrap()).await;
        let names: Vec<_> = nodes.iter().map(|node| node.opened.name.as_str()).collect();
        shown.push_str(&format!("{message}\n  {}\n  {result}\n", names.join(" > ")));
    }
    insta::assert_snapshot!(shown);
}
