//! Guests that do not come to an end.

use openprogram_tests::web::WebHost;
use serde_json::json;

use super::Hostile;

const CPU_MS: u64 = 20;

async fn endless(guest: &str) -> Hostile {
    Hostile::new(guest, |limits| limits.cpu_ms = CPU_MS).await
}

#[tokio::test]
async fn endless_loop_ends_at_the_limit_of_computing_time() {
    let hostile = endless("endless-loop").await;
    hostile
        .check("endless-loop.run", json!({}), "limit-reached cpu_ms")
        .await;
}

#[tokio::test]
async fn endless_start_ends_before_any_function_is_reached() {
    let hostile = endless("endless-start").await;
    hostile
        .check("endless-start.run", json!({}), "limit-reached cpu_ms")
        .await;
}

#[tokio::test]
async fn endless_cleanup_is_computing_time_of_the_guest_too() {
    let hostile = endless("endless-cleanup").await;
    hostile
        .check("endless-cleanup.run", json!({}), "limit-reached cpu_ms")
        .await;
}

#[tokio::test]
async fn slow_realloc_is_computing_time_of_the_guest_too() {
    let hostile = endless("slow-realloc").await;
    hostile
        .check("echo", json!({"text": "hello"}), "limit-reached cpu_ms")
        .await;
}

#[tokio::test]
async fn calls_of_one_run_compute_so_long_together() {
    let host = WebHost::of("endless-loop").limits(|limits| {
        limits.cpu_ms = CPU_MS;
        limits.run_cpu_ms = 30;
    });
    let of_call = "failed: the function computed longer than 20 ms";
    let of_run = "failed: the component computed longer than 30 ms in one run";
    for (host, expected) in [
        (host.clone().in_one_run(), [of_call, of_run, of_run]),
        (host, [of_call; 3]),
    ] {
        for expected in expected {
            assert_eq!(host.call("run", json!({})).await.seen(), expected);
        }
    }
}

#[tokio::test]
async fn endless_loops_end_at_the_wall_clock_when_it_comes_first() {
    let hostile = Hostile::new("endless-loop", |limits| limits.wall_ms = 20).await;
    hostile
        .check("endless-loop.run", json!({}), "limit-reached wall_ms")
        .await;
}
