//! Hostile calls at the same time, and calls whose caller goes away: slots come back, and calls that
//! wait for one get it.

use std::time::Duration;

use openprogram_component::{Engine, EngineOptions, InUse};
use openprogram_tests::host::{TestHost, named};
use serde_json::json;

fn engine(slots: u32) -> Engine {
    Engine::new(EngineOptions {
        slots,
        memory_bytes_max: 16 << 20,
        ..EngineOptions::default()
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_calls_at_once_share_a_hundred_slots() {
    let engine = engine(100);
    // More are admitted than there are slots, so that these are what there is too little of.
    let host = TestHost::new().engine(engine.clone()).calls_at_once(1_000);
    let host = host.guest("sleep-an-hour").guest("healthy");
    let host = host.limits(|limits| limits.wall_ms = 300).start().await;
    let host = std::sync::Arc::new(host);
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..200 {
        let host = host.clone();
        calls.spawn(async move { named(&host.failure("sleep-an-hour.run", json!({})).await) });
    }
    let mut most = 0;
    let all_taken = async {
        while most < 100 {
            most = most.max(engine.in_use().calls);
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(60), all_taken).await;
    waited.expect("the slots fill");
    // The slots are full of sleepers; this one waits for its turn and is answered.
    let healthy = host.call("double", json!({"number": 21})).await;
    assert_eq!(healthy, Ok(json!(42)));
    while let Some(ended) = calls.join_next().await {
        most = most.max(engine.in_use().calls);
        assert_eq!(ended.unwrap(), "limit-reached wall_ms");
    }
    assert_eq!(most, 100, "there are no more calls than slots");
    assert_eq!(engine.in_use(), InUse::default());
}

#[tokio::test]
async fn calls_that_nobody_waits_for_any_more_leave_nothing_behind() {
    let engine = engine(2);
    let host = TestHost::new().engine(engine.clone());
    let host = host.guest("sleep-an-hour").guest("sleep-in-start");
    let host = host.guest("endless-loop").guest("healthy").start().await;
    for function in [
        "sleep-an-hour.run",
        "sleep-in-start.run",
        "endless-loop.run",
    ] {
        for round in 0..10 {
            let call = host.run(function, json!({}));
            let dropped = tokio::time::timeout(Duration::from_millis(3), call).await;
            assert!(
                dropped.is_err(),
                "`{function}` ended by itself: {dropped:?}"
            );
            assert_eq!(engine.in_use(), InUse::default(), "`{function}` {round}");
        }
        let next = host.call("double", json!({"number": 21})).await;
        assert_eq!(next, Ok(json!(42)), "after `{function}`");
    }
}
