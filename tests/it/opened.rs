//! Runtimes that a guest opens with other models: without a grant, with one, with another one, and
//! with a budget that ends.

use std::sync::Arc;

use openprogram_core::llm::{LlmFailure, ModelRequest};
use openprogram_runtime::ModelFn;
use openprogram_runtime::testing::{ScriptedProvider, ScriptedReply};
use openprogram_tests::host::{RunningHost, TestHost, named};
use serde_json::json;

/// The turner with another model, which it may open by the lines of these grants.
async fn opener(other: &Arc<ScriptedProvider>, grants: &[&str]) -> RunningHost {
    let mut host = TestHost::new()
        .guest("turner")
        .other_model("other:big", other.clone());
    for line in grants {
        host = host.grant_model("turner", line);
    }
    host.start().await
}

fn texts(replies: &[&str]) -> Arc<ScriptedProvider> {
    let replies: Vec<ScriptedReply> = replies.iter().map(|reply| (*reply).into()).collect();
    Arc::new(ScriptedProvider::new(replies))
}

#[tokio::test]
async fn turner_opens_no_model_without_a_grant_and_is_told_the_command() {
    for grants in [&[][..], &["other:small"], &["elsewhere:big=5"]] {
        let other = texts(&["never"]);
        let host = opener(&other, grants).await;
        let arguments = json!({"model": "other:big", "prompt": "x"});
        let failure = host.failure("ask-other", arguments).await;
        assert_eq!(named(&failure), "denied model other:big");
        assert_eq!(
            failure.details["how_to_allow"],
            "openprogram grant turner --use-model other:big=100000"
        );
        assert_eq!(other.n_left(), 1);
    }
}

#[tokio::test]
async fn turner_works_with_a_granted_model_in_every_way() {
    for (how, reply, expected) in [
        (
            "exec",
            "hello",
            json!({"text": "hello", "usage": [0, 0, 0, 0]}),
        ),
        (
            "decide",
            "{\"call\": \"close\"}",
            json!({"status": "closed"}),
        ),
        (
            "close",
            "{\"call\": \"close\"}",
            json!({"status": "closed"}),
        ),
        (
            "system",
            "hi",
            json!({"system": "Of the other.", "model": "scripted:text", "text": "hi"}),
        ),
        (
            "closed",
            "bye",
            json!({"text": "bye", "model": "scripted:text", "after": ["closed", "closed"]}),
        ),
    ] {
        let other = texts(&[reply]);
        let host = opener(&other, &["other:small", "other:big"]).await;
        let arguments = json!({"model": "other:big", "prompt": "x", "how": how});
        let outcome = host.run("ask-other", arguments).await;
        assert_eq!(outcome.result, Ok(expected), "{how}");
        let nodes = host.nodes(&outcome.session.unwrap()).await;
        let opened = &nodes.last().unwrap().opened;
        assert_eq!(opened.facts["runtime"], "opened");
        let requests = other.requests();
        let system = (how == "system").then(|| "Of the other.".to_owned());
        assert_eq!(requests[0].system, system, "{how}");
    }
}

#[tokio::test]
async fn turner_spends_the_tokens_of_a_granted_model_and_no_more() {
    let other = texts(&["one", "two", "three"]);
    let host = opener(&other, &["other:big=1"]).await;
    let arguments = json!({"model": "other:big", "prompt": "x", "times": 3});
    let failure = host.failure("ask-other", arguments).await;
    // The first request costs more than there is, and is the last one.
    assert_eq!(
        (named(&failure), other.n_left()),
        ("limit-reached model_tokens".into(), 2)
    );
}

#[tokio::test]
async fn turner_is_refused_models_that_are_not_there_or_have_no_name_or_are_too_many() {
    let other = texts(&[]);
    let host = opener(&other, &["other:big", "other:gone", "ask other:asked"]).await;
    let asked = |model: &str| json!({"model": model, "prompt": "x"});
    let many = |keep: bool| json!({"model": "other:big", "count": 65, "keep": keep});
    let long = format!("other:{}", "m".repeat(300));
    for (function, arguments, expected) in [
        ("ask-other", asked("other:gone"), "no-provider"),
        ("ask-other", asked("other"), "invalid-argument model"),
        ("ask-other", asked("a b:c"), "invalid-argument model"),
        ("ask-other", asked(&long), "invalid-argument model"),
        // Nobody is there to say yes.
        (
            "ask-other",
            asked("other:asked"),
            "approval-denied nobody-there",
        ),
        ("open-many", many(true), "limit-reached runtimes"),
        ("open-many", many(false), "limit-reached runtimes"),
    ] {
        let failure = host.failure(function, arguments.clone()).await;
        assert_eq!(named(&failure), expected, "{function} {arguments}");
    }
}

#[tokio::test]
async fn turner_searches_the_web_only_with_a_model_that_is_known_to() {
    let host = TestHost::new()
        .guest("turner")
        .script(["never"])
        .start()
        .await;
    let failure = host.failure("search", json!({"prompt": "x"})).await;
    assert_eq!(named(&failure), "no-provider");
    let searching = ModelFn::new("own:search", |request: ModelRequest| async move {
        Ok::<_, LlmFailure>(format!("searching: {}", request.web_search))
    });
    let searching = Arc::new(searching.searching_the_web());
    let host = TestHost::new().guest("turner").provider(searching);
    let outcome = host
        .start()
        .await
        .run("search", json!({"prompt": "x"}))
        .await;
    assert_eq!(outcome.result.unwrap()["text"], "searching: true");
}

#[tokio::test]
async fn turner_does_not_close_the_runtime_that_it_was_lent() {
    let host = TestHost::new()
        .guest("turner")
        .script(["never"])
        .start()
        .await;
    let failure = host.failure("close-lent", json!({})).await;
    assert_eq!(named(&failure), "invalid-argument runtime");
    assert_eq!(
        failure.message,
        "the runtime `runtime` was lent to this call and ends with it; only one that the call has \
         opened can be closed"
    );
}
