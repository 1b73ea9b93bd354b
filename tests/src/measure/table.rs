//! Timing of one thing many times, and the table in which its figures stand.

use std::future::Future;
use std::time::{Duration, Instant};

/// The middle and the slow end of many timings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timing {
    /// Half of the runs were faster.
    pub(super) p50: Duration,
    /// One in a hundred was slower.
    pub(super) p99: Duration,
}

impl Timing {
    /// The figures of some timings, at least one.
    pub(super) fn of(mut samples: Vec<Duration>) -> Self {
        samples.sort();
        let at = |share: usize| samples[(samples.len() - 1) * share / 100];
        Self {
            p50: at(50),
            p99: at(99),
        }
    }

    /// How many times longer this took than `base`, in the middle.
    pub(super) fn ratio(self, base: Self) -> f64 {
        self.p50.as_secs_f64() / base.p50.as_secs_f64().max(1e-9)
    }
}

/// Times `work` so many times, after a tenth of that as warm-up.
pub(super) fn time(runs: usize, mut work: impl FnMut()) -> Timing {
    for _ in 0..runs / 10 {
        work();
    }
    let samples = (0..runs).map(|_| {
        let start = Instant::now();
        work();
        start.elapsed()
    });
    Timing::of(samples.collect())
}

/// Times an async `work` so many times, after a tenth of that as warm-up.
pub(super) async fn time_async<F: Future>(runs: usize, mut work: impl FnMut() -> F) -> Timing {
    let mut samples = Vec::with_capacity(runs);
    for run in 0..runs + runs / 10 {
        let start = Instant::now();
        work().await;
        if run >= runs / 10 {
            samples.push(start.elapsed());
        }
    }
    Timing::of(samples)
}

/// Begins a table.
pub(super) fn heading(title: &str) {
    println!("\n{title}");
    println!("{:<58} {:>11} {:>11} {:>8}", "", "p50", "p99", "ratio");
}

/// One line of a table; its ratio is against `base`.
pub(super) fn line(label: &str, timing: Timing, base: Option<Timing>) {
    let ratio = base.map_or_else(String::new, |base| format!("{:.2}", timing.ratio(base)));
    let shown = |duration: Duration| format!("{:.1} µs", duration.as_secs_f64() * 1e6);
    let (p50, p99) = (shown(timing.p50), shown(timing.p99));
    println!("{label:<58} {p50:>11} {p99:>11} {ratio:>8}");
}

/// A sentence about what the project wants to reach.
pub(super) fn wanted(text: &str) {
    println!("  wanted: {text}");
}
