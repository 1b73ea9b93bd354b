//! A sandboxed provider that answers wrongly: the decision fails with the reason, the host goes on.

use openprogram_tests::host::{TestHost, named};
use serde_json::json;

#[tokio::test]
async fn bad_decider_ends_the_decision_and_nothing_else() {
    let host = TestHost::new()
        .guest("chooser")
        .guest("healthy")
        .decider("bad-decider");
    let host = host.limits(|limits| limits.cpu_ms = 50).start().await;
    for (way, expected) in [
        ("nan", "llm provider"),
        ("infinite", "llm provider"),
        ("negative", "llm provider"),
        ("unknown", "llm provider"),
        ("half", "llm provider"),
        ("double", "llm provider"),
        ("twice", "llm provider"),
        ("empty", "llm provider"),
        ("many", "llm provider"),
        ("failure", "llm provider"),
        ("trap", "llm provider"),
        ("loop", "llm provider"),
        ("panic", "llm provider"),
    ] {
        let outcome = host
            .run("pick", json!({ "prompt": format!("{way} or what?") }))
            .await;
        let failure = outcome.result.clone().unwrap_err();
        assert_eq!(named(&failure), expected, "{way}: {failure:?}");
        let nodes = host.nodes(outcome.session.as_ref().unwrap()).await;
        assert!(
            nodes.iter().all(|node| node.end.is_some()),
            "{way}: a node is open"
        );
        let next = host.call("double", json!({"number": 2})).await;
        assert_eq!(next, Ok(json!(4)), "after {way}");
    }
}

#[tokio::test]
async fn bad_decider_is_told_apart_by_its_messages() {
    let host = TestHost::new().guest("chooser").decider("bad-decider");
    let host = host.limits(|limits| limits.cpu_ms = 50).start().await;
    let mut messages = String::new();
    for way in [
        "nan", "infinite", "negative", "unknown", "half", "double", "twice", "empty", "failure",
        "trap", "loop",
    ] {
        let failure = host.failure("pick", json!({ "prompt": way })).await;
        messages.push_str(&format!("{way}: {failure}\n"));
    }
    insta::assert_snapshot!(messages, @"");
}

#[tokio::test]
async fn bad_decider_that_answers_well_picks() {
    let host = TestHost::new()
        .guest("chooser")
        .decider("bad-decider")
        .start()
        .await;
    let outcome = host
        .run("choose-other", json!({"function": "chooser.stamp"}))
        .await;
    insta::assert_snapshot!(host.graph(&outcome).await, @"");
}
