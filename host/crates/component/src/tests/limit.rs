//! Hostile guests: each limit and each trap has its name, and the host goes on.

use openprogram_core::guest::CallError;

use super::{TestHost, component, line};
use crate::Limits;

fn small() -> Limits {
    Limits {
        memory_bytes: 1 << 20,
        cpu_ms: 20,
        wall_ms: 5_000,
        log_bytes: 1_000,
        result_bytes: 1_000,
        hostcall_bytes: 100_000,
        call_depth: 3,
        ..Limits::default()
    }
}

/// Functions of hostile kinds, each `() -> ()` unless said otherwise.
fn hostile() -> Vec<u8> {
    component(
        r#"
        (table $t 10 funcref)
        (func (export "spin") (loop (br 0)))
        (func (export "grow") (loop
            (if (i32.eq (memory.grow (i32.const 1)) (i32.const -1)) (then unreachable))
            (br 0)))
        (func (export "grow-table") (loop
            (if (i32.eq (table.grow $t (ref.null func) (i32.const 1000)) (i32.const -1))
                (then unreachable))
            (br 0)))
        (func $recurse (export "recurse") (call $recurse))
        (func (export "trap") unreachable)
        (func (export "divide") (drop (i32.div_u (i32.const 1) (i32.const 0))))
        (func (export "reach") (drop (i32.load (i32.const -4))))
        (func (export "indirect") (call_indirect (i32.const 3)))
        ;; A text of so many bytes, all zero.
        (func (export "text") (param i32) (result i32)
            (if (i32.ne (i32.const -1) (memory.grow (i32.const 10))) (then))
            (i32.store (i32.const 8) (i32.const 65536))
            (i32.store (i32.const 12) (local.get 0))
            (i32.const 8))
        (func (export "bad-text") (result i32)
            (i32.store8 (i32.const 100) (i32.const 255))
            (i32.store (i32.const 8) (i32.const 100))
            (i32.store (i32.const 12) (i32.const 1))
            (i32.const 8))
        (func (export "fine"))"#,
        &[
            ("spin", ""),
            ("grow", ""),
            ("grow-table", ""),
            ("recurse", ""),
            ("trap", ""),
            ("divide", ""),
            ("reach", ""),
            ("indirect", ""),
            ("text", r#"(param "bytes" u32) (result string)"#),
            ("bad-text", "(result string)"),
            ("fine", ""),
        ],
    )
}

#[tokio::test]
async fn every_misdeed_has_its_name_and_the_host_goes_on() {
    let host = TestHost::new(hostile(), small()).await;
    for (function, arguments, expected) in [
        ("spin", "{}", "limit cpu_ms 20"),
        ("grow", "{}", "limit memory_bytes 1048576"),
        ("grow-table", "{}", "limit table_elements 100000"),
        ("recurse", "{}", "trap stack-overflow"),
        ("trap", "{}", "trap unreachable"),
        ("divide", "{}", "trap division-by-zero"),
        ("reach", "{}", "trap memory-out-of-bounds"),
        ("indirect", "{}", "trap table-out-of-bounds"),
        ("text", r#"{"bytes": 1000}"#, "limit result_bytes 1000"),
        ("text", r#"{"bytes": 500000}"#, "limit result_bytes 1000"),
    ] {
        assert_eq!(host.line(function, arguments).await, expected, "{function}");
        assert_eq!(host.line("fine", "{}").await, "null");
    }
    let bad = host.line("bad-text", "{}").await;
    assert!(bad.starts_with("trap invalid-value: "), "{bad}");
}

#[tokio::test]
async fn calls_below_too_many_others_are_refused() {
    let host = TestHost::new(hostile(), small()).await;
    let at = async |depth| line(&host.call_at("fine", "{}", depth).await);
    assert_eq!(
        [at(0).await, at(3).await, at(4).await],
        ["null", "null", "limit call_depth 3"]
    );
}

#[tokio::test]
async fn a_report_tells_time_and_memory() {
    let host = TestHost::new(hostile(), small()).await;
    let spun = host.call("spin", "{}").await.report;
    assert!(
        spun.cpu_us >= 20_000 && spun.wall_us >= spun.cpu_us,
        "{spun:?}"
    );
    assert_eq!(spun.memory_bytes, 65_536);
    let grown = host.call("grow", "{}").await.report;
    assert_eq!(grown.memory_bytes, 1 << 20);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn time_given_to_other_guests_is_not_counted() {
    let limits = Limits {
        cpu_ms: 50,
        ..small()
    };
    let host = std::sync::Arc::new(TestHost::new(hostile(), limits).await);
    let spin = |host: std::sync::Arc<TestHost>| async move { host.call("spin", "{}").await };
    let spins: Vec<_> = (0..4).map(|_| tokio::spawn(spin(host.clone()))).collect();
    for spin in spins {
        let outcome = spin.await.unwrap();
        assert_eq!(line(&outcome), "limit cpu_ms 50");
        assert!(outcome.report.cpu_us >= 50_000, "{:?}", outcome.report);
    }
}

#[tokio::test]
async fn a_call_that_waits_too_long_is_ended() {
    // Computing counts as waiting too; without a limit on it only the clock ends the call.
    let limits = Limits {
        cpu_ms: 600_000,
        wall_ms: 30,
        ..small()
    };
    let host = TestHost::new(hostile(), limits).await;
    assert_eq!(host.line("spin", "{}").await, "limit wall_ms 30");
    assert_eq!(host.line("fine", "{}").await, "null");
}

#[tokio::test]
async fn nested_calls_without_a_slot_fail_and_top_level_calls_wait() {
    let limits = Limits {
        cpu_ms: 600_000,
        wall_ms: 600_000,
        ..small()
    };
    let host = std::sync::Arc::new(TestHost::new(hostile(), limits).await);
    let spin = |host: std::sync::Arc<TestHost>| async move { host.call("spin", "{}").await };
    let spins: Vec<_> = (0..4).map(|_| tokio::spawn(spin(host.clone()))).collect();
    // Each spinning guest yields at every epoch, so this task runs again once all have begun.
    for _ in 0..16 {
        tokio::task::yield_now().await;
    }
    assert_eq!(
        line(&host.call_at("fine", "{}", 1).await),
        "limit instances 4"
    );
    let waiting = tokio::spawn({
        let host = host.clone();
        async move { host.line("fine", "{}").await }
    });
    for spin in &spins {
        spin.abort();
    }
    assert_eq!(waiting.await.unwrap(), "null");
}

#[tokio::test]
async fn components_of_many_parts_that_run_at_once_reach_a_limit_by_name() {
    let limits = Limits {
        cpu_ms: 600_000,
        wall_ms: 600_000,
        ..small()
    };
    // Interpreters of other languages make some dozens of instances; 288 are there for four slots and
    // for what lives on.
    let many = "(core module $e) ".to_owned() + &"(core instance (instantiate $e)) ".repeat(110);
    let text = format!(
        r#"(component {many}
            (core module $m
                (func (export "spin") (loop (br 0)))
                (func (export "fine")))
            (core instance $i (instantiate $m))
            (func (export "spin") (canon lift (core func $i "spin")))
            (func (export "fine") (canon lift (core func $i "fine"))))"#
    );
    let host = TestHost::new(wat::parse_str(text).unwrap(), limits).await;
    let host = std::sync::Arc::new(host);
    let spin = |host: std::sync::Arc<TestHost>| async move { host.call("spin", "{}").await };
    let spins: Vec<_> = (0..2).map(|_| tokio::spawn(spin(host.clone()))).collect();
    // Each spinning guest yields at every epoch, so this task runs again once all have begun.
    for _ in 0..16 {
        tokio::task::yield_now().await;
    }
    let full = host.call("fine", "{}").await;
    assert_eq!(line(&full), "limit instances 288");
    let said = full.result.unwrap_err().to_string();
    assert!(said.contains("let fewer run at once"), "{said}");
    for spin in spins {
        spin.abort();
        assert!(spin.await.unwrap_err().is_cancelled());
    }
    assert_eq!(host.line("fine", "{}").await, "null");
}

#[tokio::test]
async fn a_thousand_misdeeds_leave_nothing_behind() {
    let limits = Limits {
        cpu_ms: 1,
        wall_ms: 1_000,
        ..small()
    };
    let host = TestHost::new(hostile(), limits).await;
    for function in ["spin", "grow", "recurse", "trap"] {
        for _ in 0..20 {
            let outcome = host.call(function, "{}").await;
            assert!(
                matches!(
                    outcome.result,
                    Err(CallError::LimitReached { .. } | CallError::Trapped { .. })
                ),
                "{outcome:?}"
            );
        }
    }
    // Every slot is free again: as many nested calls as there are slots find one.
    let all = async {
        tokio::join!(
            host.call_at("fine", "{}", 1),
            host.call_at("fine", "{}", 1),
            host.call_at("fine", "{}", 1),
            host.call_at("fine", "{}", 1),
        )
    };
    let (a, b, c, d) = all.await;
    for outcome in [a, b, c, d] {
        assert_eq!(line(&outcome), "null");
    }
}
