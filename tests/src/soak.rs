//! Hostile calls in a loop, many at once, and what the process holds before and after.
//!
//! Runs in a process of its own, since every other test of a shared one would be measured too.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::host::sqlite;
use crate::hostile::{Hosts, attacks, nothing_runs};

/// Calls that run at once.
pub const AT_ONCE: usize = 16;
/// How often every attack is made before anything is measured: allocators, pools and threads have
/// what they need then.
const WARM_UP_ROUNDS: usize = 2;

/// How much more may be resident after all calls than before: what caches of the five databases and
/// the allocator fill up to, however many calls there are. One page that leaked per call would be
/// 64 MiB for a thousand calls; slots and memories of guests are counted by themselves.
const GROWTH_KIB_MAX: u64 = 32 << 10;
/// How many more threads there may be: those that blocking work has at the moment.
const THREADS_MORE_MAX: u64 = AT_ONCE as u64;
/// Variables that make the allocator give back what it has, so that what is resident says something.
pub const ALLOCATOR: [(&str, &str); 3] = [
    ("MALLOC_ARENA_MAX", "1"),
    ("MALLOC_MMAP_THRESHOLD_", "65536"),
    ("MALLOC_TRIM_THRESHOLD_", "131072"),
];

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

/// Makes so many hostile calls, at most [`AT_ONCE`] at a time, each followed by a healthy one, and
/// tells what the process held before and after. Every attack of the list takes its turn.
///
/// # Errors
/// When a call ends in another way than the list says, or when the engine or the process holds more
/// afterwards.
pub async fn run(calls: usize) -> Result<Value> {
    let folder = tempfile::tempdir()?;
    let store = |place| sqlite(&folder.path().join(format!("sessions-{place}.db")));
    let hosts = Arc::new(Hosts::start(store).await?);
    round(&hosts, WARM_UP_ROUNDS * attacks().len()).await?;
    let before = Held::now()?;
    round(&hosts, calls).await?;
    let after = Held::now()?;
    let told = json!({
        "calls": calls,
        "attacks": attacks().len(),
        "before": before.to_json(),
        "after": after.to_json(),
    });
    let memory_max = before.resident_kib + GROWTH_KIB_MAX;
    ensure!(after.resident_kib <= memory_max, "memory grows: {told}");
    let threads_max = before.threads + THREADS_MORE_MAX;
    ensure!(after.threads <= threads_max, "threads grow: {told}");
    ensure!(after.files <= before.files, "files grow: {told}");
    Ok(told)
}

async fn round(hosts: &Arc<Hosts>, calls: usize) -> Result<()> {
    let next = Arc::new(AtomicUsize::new(0));
    let mut workers = tokio::task::JoinSet::new();
    for _ in 0..AT_ONCE {
        let (hosts, next) = (Arc::clone(hosts), Arc::clone(&next));
        workers.spawn(async move {
            loop {
                let call = next.fetch_add(1, Ordering::Relaxed);
                if call >= calls {
                    return anyhow::Ok(());
                }
                hosts.check(&attacks()[call % attacks().len()]).await?;
            }
        });
    }
    while let Some(ended) = workers.join_next().await {
        ended.context("a worker ended badly")??;
    }
    ensure!(
        nothing_runs(),
        "the engine holds something of calls that ended"
    );
    Ok(())
}
