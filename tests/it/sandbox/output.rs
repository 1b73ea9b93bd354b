//! Guests that give back too much, or what cannot be read.

use expect_test::expect;
use openprogram_tests::host::TestHost;
use serde_json::json;

use super::Hostile;

#[tokio::test]
async fn oversized_results_are_refused_whatever_their_type() {
    let hostile = Hostile::new("oversized-result", |limits| limits.result_bytes = 1 << 20).await;
    let too_large = "limit-reached result_bytes";
    for (function, length, expected) in [
        ("text", (1 << 20) + 1, too_large),
        ("text", 64 << 20, too_large),
        ("bytes", (1 << 20) + 1, too_large),
        ("bytes", 64 << 20, too_large),
        ("texts", 1 << 20, too_large),
        ("texts", 8 << 20, too_large),
    ] {
        let arguments = json!({ "length": length });
        hostile
            .check(&format!("oversized-result.{function}"), arguments, expected)
            .await;
    }
}

#[tokio::test]
async fn oversized_result_just_below_the_limit_is_given() {
    let host = TestHost::new().guest("oversized-result");
    let host = host
        .limits(|limits| limits.result_bytes = 1 << 20)
        .start()
        .await;
    // Two quotes belong to the text as JSON.
    let length = (1 << 20) - 2;
    let text = host
        .call("text", json!({ "length": length }))
        .await
        .unwrap();
    assert_eq!(text.as_str().map(str::len), Some(length));
    let bytes = host.call("bytes", json!({"length": 3})).await;
    assert_eq!(bytes, Ok(json!("YWFh")));
    let texts = host.call("texts", json!({"length": 3})).await;
    assert_eq!(texts, Ok(json!(["", "", ""])));
}

#[tokio::test]
async fn oversized_result_that_lies_outside_of_the_memory_is_a_trap() {
    let hostile = Hostile::new("oversized-result", |_| {}).await;
    let check = async |function: &str| {
        let failure = hostile.host.failure(function, json!({})).await;
        format!("{} {}", failure.code.as_str(), failure.details["trap"])
    };
    expect![[r#"trapped "invalid-value: string pointer/length out of bounds of memory""#]]
        .assert_eq(&check("outside").await.to_string());
    expect![[r#"trapped "invalid-value: invalid utf-8 sequence of 1 bytes from index 0""#]]
        .assert_eq(&check("not-text").await.to_string());
}

#[tokio::test]
async fn deep_json_is_refused_and_never_recursed_into() {
    let hostile = Hostile::new("deep-json", |_| {}).await;
    for depth in [65, 1_000, 100_000, 1_900_000] {
        hostile
            .check(
                "deep",
                json!({ "depth": depth }),
                "limit-reached json_depth",
            )
            .await;
    }
    let deep = hostile.host.call("deep", json!({"depth": 3})).await;
    assert_eq!(deep, Ok(json!([[[]]])));
    let failure = hostile.host.failure("broken", json!({})).await;
    expect![[r#""invalid-value: a result of type `json` is not JSON: EOF while parsing an object at line 1 column 1""#]].assert_eq(&failure.details["trap"].to_string());
}

#[tokio::test]
async fn log_flood_is_cut_and_ends_with_the_time() {
    let limits = |limits: &mut openprogram_component::Limits| {
        limits.cpu_ms = 200;
        limits.log_bytes = 4_096;
    };
    let hostile = Hostile::new("log-flood", limits).await;
    let outcome = hostile.host.run("flood", json!({})).await;
    let failure = outcome.result.clone().unwrap_err();
    expect!["limit-reached log_bytes"]
        .assert_eq(&openprogram_tests::host::named(&failure).to_string());
    let nodes = hostile.host.nodes(&outcome.session.unwrap()).await;
    let facts = &nodes[0].end.as_ref().unwrap().facts;
    let log = facts
        .get("log")
        .and_then(|log| log.as_str())
        .unwrap_or_default();
    assert!(log.len() <= 4_096 + 64, "{} bytes are kept", log.len());
}

#[tokio::test]
async fn log_flood_of_one_long_panic_does_not_become_a_long_failure() {
    let hostile = Hostile::new("log-flood", |limits| limits.log_bytes = 4_096).await;
    let failure = hostile
        .host
        .failure("panic", json!({"bytes": 1 << 20}))
        .await;
    let length = failure.to_json().to_string().len();
    assert!(length < 8_192, "{length} bytes of failure");
}
