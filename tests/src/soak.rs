//! Hostile calls in a loop, and what the process holds before and after.
//!
//! Runs in a process of its own, since every other test of a shared one would be measured too.

use std::fs;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::host::{RunningHost, TestHost, named, sqlite};

/// How long each call may compute, and how long it may take.
pub const LIMIT_MS: u64 = 20;

/// Guests that take part.
const GUESTS: [&str; 15] = [
    "bad-decider",
    "caller",
    "chooser",
    "deep-json",
    "endless-cleanup",
    "endless-growth",
    "endless-loop",
    "endless-start",
    "handle-flood",
    "healthy",
    "log-flood",
    "oversized-result",
    "recursion",
    "slow-realloc",
    "traps",
];

/// What is called, over and over, and what each failure begins with.
fn attacks() -> Vec<(&'static str, Value, &'static str)> {
    vec![
        ("endless-loop.run", json!({}), "limit-reached"),
        ("endless-start.run", json!({}), "limit-reached"),
        ("endless-cleanup.run", json!({}), "limit-reached"),
        (
            "slow-realloc.echo",
            json!({"text": "hello"}),
            "limit-reached",
        ),
        ("endless-growth.memory", json!({}), "limit-reached"),
        ("endless-growth.table", json!({}), "limit-reached"),
        ("recursion.run", json!({}), ""),
        ("traps.unreachable", json!({}), "trapped unreachable"),
        ("traps.division", json!({}), "trapped division-by-zero"),
        (
            "traps.out-of-bounds",
            json!({}),
            "trapped memory-out-of-bounds",
        ),
        (
            "oversized-result.text",
            json!({"length": 32 << 20}),
            "limit-reached",
        ),
        (
            "oversized-result.texts",
            json!({"length": 4 << 20}),
            "limit-reached",
        ),
        ("oversized-result.outside", json!({}), "trapped"),
        ("deep-json.deep", json!({"depth": 100_000}), "limit-reached"),
        ("log-flood.flood", json!({}), "limit-reached"),
        ("log-flood.panic", json!({"bytes": 1 << 16}), ""),
        ("handle-flood.menus", json!({}), "limit-reached"),
        ("caller.down", json!({}), "limit-reached"),
        ("pick", json!({"prompt": "nan"}), "llm"),
        ("pick", json!({"prompt": "unknown"}), "llm"),
        ("pick", json!({"prompt": "loop"}), ""),
    ]
}

/// What a process holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// Resident memory in KiB.
    pub resident_kib: u64,
    /// Threads.
    pub threads: u64,
    /// Open files.
    pub files: u64,
}

impl Held {
    /// What this process holds now.
    ///
    /// # Errors
    /// Where there is no `/proc`.
    pub fn now() -> Result<Self> {
        let status = fs::read_to_string("/proc/self/status")?;
        let number = |key: &str| {
            let line = status.lines().find(|line| line.starts_with(key));
            let number = line.and_then(|line| line.split_whitespace().nth(1));
            number
                .and_then(|number| number.parse().ok())
                .with_context(|| key.to_owned())
        };
        Ok(Self {
            resident_kib: number("VmRSS:")?,
            threads: number("Threads:")?,
            files: fs::read_dir("/proc/self/fd")?.count() as u64,
        })
    }

    fn to_json(self) -> Value {
        json!({"resident_kib": self.resident_kib, "threads": self.threads, "files": self.files})
    }
}

/// Makes so many hostile calls, each followed by a healthy one, and tells what the process held
/// when a fifth of them was made and when all were.
///
/// # Errors
/// When a call ends in another way than it must.
pub async fn run(calls: usize) -> Result<Value> {
    let folder = tempfile::tempdir()?;
    let mut host = TestHost::new().decider("bad-decider");
    for guest in GUESTS.into_iter().filter(|guest| *guest != "bad-decider") {
        host = host.guest(guest);
    }
    // Compiling is not what the limits are for, so every guest is compiled first.
    let host = host.store(sqlite(&folder.path().join("sessions.db")));
    let host = host.limits(|limits| {
        limits.cpu_ms = LIMIT_MS;
        limits.wall_ms = LIMIT_MS;
    });
    let hostile = host.start().await;
    // The same engine without the tight limits, which a busy machine could make a healthy call miss.
    let healthy = TestHost::new().guest("healthy");
    let healthy = healthy.store(sqlite(&folder.path().join("healthy.db")));
    let hosts = [hostile, healthy.start().await];
    let attacks = attacks();
    for call in 0..calls / 5 {
        attack(&hosts, &attacks[call % attacks.len()]).await?;
    }
    let before = Held::now()?;
    for call in calls / 5..calls {
        attack(&hosts, &attacks[call % attacks.len()]).await?;
    }
    let after = Held::now()?;
    Ok(json!({"calls": calls, "before": before.to_json(), "after": after.to_json()}))
}

async fn attack([hostile, healthy]: &[RunningHost; 2], attack: &(&str, Value, &str)) -> Result<()> {
    let (function, arguments, expected) = attack;
    let outcome = hostile.run(function, arguments.clone()).await;
    let Err(failure) = &outcome.result else {
        anyhow::bail!("`{function}` {arguments} gave {:?}", outcome.result);
    };
    let told = named(failure);
    // On a busy machine the time may be over before the guest has done what it is there for.
    ensure!(
        told.starts_with(expected) || told == "limit-reached wall_ms",
        "`{function}` {arguments} ended as {told}"
    );
    let session = outcome.session.as_ref().context("a session")?;
    let nodes = hostile.nodes(session).await;
    ensure!(!nodes.is_empty(), "`{function}` left no node");
    ensure!(
        nodes.iter().all(|node| node.end.is_some()),
        "`{function}` left a node open"
    );
    let next = healthy.call("double", json!({"number": 21})).await?;
    ensure!(next == json!(42), "the next call gave {next}");
    Ok(())
}
