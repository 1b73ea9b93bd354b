//! Guests that take what they can get, and guests that break.

use expect_test::expect;
use openprogram_core::failure::FailureCode;
use openprogram_tests::host::TestHost;
use serde_json::json;

use super::Hostile;

#[tokio::test]
async fn endless_growth_ends_at_the_limit_it_grew_into() {
    let hostile = Hostile::new("endless-growth", |limits| limits.memory_bytes = 8 << 20).await;
    hostile
        .check("memory", json!({}), "limit-reached memory_bytes")
        .await;
    hostile
        .check("table", json!({}), "limit-reached table_elements")
        .await;
    // A refusal is no failure for a guest that can live with it.
    let pages = hostile.host.call("pages", json!({})).await;
    assert_eq!(pages, Ok(json!((8 << 20) / (64 << 10))));
}

#[tokio::test]
async fn endless_growth_is_stopped_by_time_as_well_as_by_memory() {
    let hostile = Hostile::new("endless-growth", |limits| limits.wall_ms = 0).await;
    let failure = hostile.host.failure("memory", json!({})).await;
    assert_eq!(failure.code, FailureCode::LimitReached, "{failure}");
}

#[tokio::test]
async fn recursion_ends_at_the_stack() {
    let hostile = Hostile::new("recursion", |_| {}).await;
    hostile
        .check("recursion.run", json!({}), "trapped stack-overflow")
        .await;
}

#[tokio::test]
async fn traps_have_names() {
    let hostile = Hostile::new("traps", |_| {}).await;
    for (function, expected) in [
        ("unreachable", "trapped unreachable"),
        ("division", "trapped division-by-zero"),
        ("out-of-bounds", "trapped memory-out-of-bounds"),
        ("indirect", "trapped table-out-of-bounds"),
    ] {
        hostile
            .check(&format!("traps.{function}"), json!({}), expected)
            .await;
    }
}

#[tokio::test]
async fn traps_are_recorded_with_the_call() {
    let host = TestHost::new().guest("traps").start().await;
    let outcome = host.run("unreachable", json!({})).await;
    expect![[r#"
        1 code hostile:traps/guest.unreachable
          in   {}
          trapped: `hostile:traps/guest.unreachable` trapped: unreachable
    "#]]
    .assert_eq(&host.graph(&outcome).await.to_string());
}
