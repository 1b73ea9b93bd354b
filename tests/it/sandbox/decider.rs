//! A sandboxed provider that answers wrongly: the decision fails with the reason, the host goes on.

use expect_test::expect;
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
    expect![[r#"
        nan: `component:bad-decider` gave no distribution: the weight of "greet" is NaN, not a finite number
        infinite: `component:bad-decider` gave no distribution: the weight of "greet" is inf, not a finite number
        negative: `component:bad-decider` gave no distribution: the weight of "greet" is -1, not from 0 to 1
        unknown: `component:bad-decider` gave no distribution: "not-on-the-menu" is not one of the options
        half: `component:bad-decider` gave no distribution: the weights sum to 0.5, not to 1
        double: `component:bad-decider` gave no distribution: "greet" is weighed twice
        twice: `component:bad-decider` gave no distribution: "greet" is weighed twice
        empty: `component:bad-decider` gave no distribution: the answer weighs no option
        failure: the decider gave up
        trap: `bad-decider` trapped: unreachable
        loop: the function computed longer than 50 ms
    "#]].assert_eq(&messages.to_string());
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
    expect![[r#"
        1 code test:chooser/guest.choose-other
          in   {"function":"chooser.stamp"}
          fact host_calls=10
          out  "from the menu"
        2 llm component:bad-decider caller=1
          in   "good: pick one."
          fact runtime="runtime"
          fact method="decider"
          fact pick="other"
          fact arguments={}
          fact confidence=1.0
          fact confidence_source="decider"
          fact weights=[["other",1.0]]
          out  "{\"call\":\"other\"}"
        3 code test:chooser/guest.stamp caller=1
          in   {"secret":"from the menu"}
          fact hidden_arguments=["secret"]
          fact picked_by=node 2
          out  "from the menu"
    "#]]
    .assert_eq(&host.graph(&outcome).await.to_string());
}
