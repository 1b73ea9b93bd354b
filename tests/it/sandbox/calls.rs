//! Guests that call, make handles and ask without end, or without being allowed to.

use expect_test::expect;
use openprogram_core::failure::FailureCode;
use openprogram_tests::host::{TestHost, named};
use serde_json::json;

use super::Hostile;

#[tokio::test]
async fn caller_of_itself_ends_at_a_limit_and_the_graph_shows_the_chain() {
    let host = TestHost::new().guest("caller").guest("healthy");
    let host = host.run_limits(|limits| limits.recursion = 4).start().await;
    let outcome = host.run("down", json!({})).await;
    let failure = outcome.result.clone().unwrap_err();
    assert_eq!(named(&failure), "limit-reached recursion", "{failure}");
    expect![[r#"
        1 code hostile:caller/guest.down
          in   {}
          fact host_calls=2
          limit-reached: `hostile:caller/guest.down` is already running 4 times in this chain
        2 code hostile:caller/guest.down caller=1
          in   {}
          fact host_calls=2
          limit-reached: `hostile:caller/guest.down` is already running 4 times in this chain
        3 code hostile:caller/guest.down caller=2
          in   {}
          fact host_calls=2
          limit-reached: `hostile:caller/guest.down` is already running 4 times in this chain
        4 code hostile:caller/guest.down caller=3
          in   {}
          fact host_calls=2
          fact n_refused=1
          fact refused=[{"code":"limit-reached","message":"`hostile:caller/guest.down` is already running 4 times in this chain","details":{"which":"recursion","limit":4}}]
          limit-reached: `hostile:caller/guest.down` is already running 4 times in this chain
    "#]].assert_eq(&host.graph(&outcome).await.to_string());
}

#[tokio::test]
async fn caller_of_itself_ends_at_the_call_depth_when_nothing_else_stops_it() {
    for (function, slots) in [("down", 32), ("ping", 32), ("down", 5)] {
        let host = TestHost::new().guest("caller").guest("healthy");
        let host = host.run_limits(|limits| {
            limits.recursion = 1_000;
            limits.call_depth = slots;
        });
        let host = host.start().await;
        let outcome = host.run(function, json!({})).await;
        let failure = outcome.result.clone().unwrap_err();
        assert_eq!(
            named(&failure),
            "limit-reached call_depth",
            "{function} {failure}"
        );
        let nodes = host.nodes(&outcome.session.unwrap()).await;
        assert!(
            nodes.iter().all(|node| node.end.is_some()),
            "{function}: a node is open"
        );
        let next = host.call("double", json!({"number": 1})).await;
        assert_eq!(next, Ok(json!(2)));
    }
}

#[tokio::test]
async fn caller_of_many_functions_ends_at_the_fan_out() {
    let host = TestHost::new().guest("caller");
    let host = host.run_limits(|limits| limits.fan_out = 10).start().await;
    let went_well = host.call("wide", json!({"times": 50})).await;
    assert_eq!(went_well, Ok(json!(10)));
}

#[tokio::test]
async fn caller_of_another_component_is_denied_without_a_grant() {
    let call = json!({"name": "healthy.double", "arguments": {"number": 3}});
    let host = TestHost::new()
        .guest("caller")
        .guest("healthy")
        .start()
        .await;
    let outcome = host.run("caller.call", call.clone()).await;
    let failure = outcome.result.clone().unwrap_err();
    assert_eq!(failure.code, FailureCode::Denied, "{failure}");
    expect![[r#"
        {
          "code": "denied",
          "message": "`caller` may not call `hostile:healthy/guest.double`",
          "details": {
            "what": "call hostile:healthy/guest.double",
            "how_to_allow": "openprogram grant caller --call hostile:healthy/guest.double"
          }
        }"#]]
    .assert_eq(&format!("{:#}", failure.to_json()));
    expect![[r#"
        1 code hostile:caller/guest.call
          in   {"name":"healthy.double","arguments":{"number":3}}
          fact host_calls=2
          fact n_refused=1
          fact refused=[{"code":"denied","message":"`caller` may not call `hostile:healthy/guest.double`","details":{"what":"call hostile:healthy/guest.double","how_to_allow":"openprogram grant caller --call hostile:healthy/guest.double"}}]
          fact access=[{"kind":"calls","what":"call hostile:healthy/guest.double","refused":"`caller` may not call `hostile:healthy/guest.double`","needed":"hostile:healthy/guest.double","n":1}]
          denied: `caller` may not call `hostile:healthy/guest.double`
    "#]].assert_eq(&host.graph(&outcome).await.to_string());

    let host = TestHost::new().guest("caller").guest("healthy");
    let host = host.grant("caller", "healthy.double").start().await;
    assert_eq!(host.call("caller.call", call).await, Ok(json!(6)));
}

#[tokio::test]
async fn caller_hears_why_a_call_is_not_made() {
    let host = TestHost::new()
        .guest("caller")
        .guest("healthy")
        .guest("traps");
    let host = host.grant("caller", "healthy.double");
    let host = host.grant("caller", "traps.unreachable").start().await;
    for (name, arguments, expected) in [
        ("double", json!({"number": 1}), "ok"),
        ("hostile:healthy/guest.double", json!({"number": 1}), "ok"),
        ("duoble", json!({}), "not-found"),
        ("", json!({}), "not-found"),
        (&"x".repeat(512), json!({}), "not-found"),
        (&"x".repeat(513), json!({}), "invalid-argument"),
        ("double", json!({}), "invalid-argument"),
        ("double", json!({"number": -1}), "invalid-argument"),
        ("double", json!(3), "invalid-argument"),
        ("traps.division", json!({}), "denied"),
        ("traps.unreachable", json!({}), "trapped"),
    ] {
        let probe = json!({"name": name, "arguments": arguments});
        let heard = host.call("probe", probe).await;
        assert_eq!(heard, Ok(json!(expected)), "{name} {arguments}");
    }
}

#[tokio::test]
async fn handle_flood_ends_at_the_limit_of_handles() {
    let hostile = Hostile::new("handle-flood", |limits| limits.handles = 100).await;
    hostile
        .check("menus", json!({}), "limit-reached handles")
        .await;
    let in_turn = hostile.host.call("in-turn", json!({"times": 1_000})).await;
    assert_eq!(
        in_turn,
        Ok(json!(1_000)),
        "handles that are dropped do not count"
    );
}

#[tokio::test]
async fn handle_flood_of_options_and_prompts_is_refused_before_a_model_is_asked() {
    let host = TestHost::new().guest("handle-flood");
    let host = host.script(["no request reaches this model"]);
    let host = host.limits(|limits| {
        limits.menu_options = 16;
        limits.text_bytes = 1 << 16;
    });
    let host = host.start().await;
    for (function, arguments) in [
        ("options", json!({"count": 17})),
        ("options", json!({"count": 100_000})),
        ("handle-flood.prompt", json!({"bytes": (1 << 16) + 1})),
        ("handle-flood.prompt", json!({"bytes": 8 << 20})),
    ] {
        let outcome = host.run(function, arguments.clone()).await;
        let failure = outcome.result.unwrap_err();
        let refused = [FailureCode::LimitReached, FailureCode::InvalidArgument];
        assert!(
            refused.contains(&failure.code),
            "{function} {arguments}: {failure:?}"
        );
        let nodes = host.nodes(&outcome.session.unwrap()).await;
        assert_eq!(nodes.len(), 1, "{function} {arguments}: a model was asked");
    }
}

const FLOODS: [&str; 10] = [
    "clocks", "numbers", "reports", "lines", "calls", "names", "settings", "models", "moments",
    "waits",
];

#[tokio::test]
async fn import_flood_ends_at_its_limit_and_leaves_a_short_record() {
    let host = TestHost::new().guest("import-flood").guest("healthy");
    let host = host.script(["no request reaches this model"]);
    let host = host
        .limits(|limits| limits.host_calls = 3_000)
        .start()
        .await;
    for flood in FLOODS {
        let outcome = host.run(&format!("import-flood.{flood}"), json!({})).await;
        let failure = outcome.result.unwrap_err();
        assert_eq!(
            named(&failure),
            "limit-reached host_calls",
            "{flood}: {failure}"
        );
        let nodes = host.nodes(&outcome.session.unwrap()).await;
        assert_eq!(nodes.len(), 1, "{flood}");
        let length = format!("{nodes:?}").len();
        assert!(length < 64 << 10, "{flood}: a record of {length} bytes");
        let next = host.call("double", json!({"number": 21})).await;
        assert_eq!(next, Ok(json!(42)), "after {flood}");
    }
}

#[tokio::test]
async fn forbidden_import_is_refused_with_every_name() {
    let bytes = openprogram_tests::guests::bytes("forbidden-import");
    let error = openprogram_tests::host::load("forbidden-import", bytes)
        .await
        .unwrap_err();
    expect!["the component imports what this host does not have: `wasi:unheard/thing@0.2.0`; denied: sockets are not granted to components: `wasi:sockets/raw@0.2.3`; those of WASI 0.2 may be imported, and every use of them is refused; requests over HTTP (`wasi:http`) can be granted"].assert_eq(&error.to_string());
}
