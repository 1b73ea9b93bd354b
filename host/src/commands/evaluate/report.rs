//! The figures of an evaluation, for people and for programs.

use std::time::Duration;

use openprogram_core::Json;
use openprogram_core::decision::{CALIBRATION_BINS, Score, score};
use serde_json::json;

use super::Outcome;
use crate::commands::time::duration;

/// How many lines with another pick than the right one a person is shown.
const WRONG_SHOWN_MAX: usize = 20;

/// Everything that was measured.
pub(super) struct Report {
    score: Score,
    /// How many cases say which arguments are right, and how many of these got them.
    arguments: Option<(usize, usize)>,
    input_tokens: u64,
    output_tokens: u64,
    /// In milliseconds.
    median: u128,
    slow: u128,
    /// The cases with another pick than the right one: line, right pick, pick.
    wrong: Vec<(usize, String, Option<String>)>,
}

impl Report {
    pub(super) fn of(outcomes: &[Outcome]) -> Self {
        let scored: Vec<_> = outcomes
            .iter()
            .map(|outcome| outcome.scored.clone())
            .collect();
        let given: Vec<bool> = outcomes
            .iter()
            .filter_map(|o| o.arguments_are_right)
            .collect();
        let right = given.iter().filter(|right| **right).count();
        let mut times: Vec<Duration> = outcomes.iter().map(|outcome| outcome.took).collect();
        times.sort_unstable();
        let is_wrong =
            |outcome: &&Outcome| outcome.scored.picked.as_ref() != Some(&outcome.scored.expected);
        let tokens = |of: fn(&Outcome) -> u64| outcomes.iter().map(of).fold(0, u64::saturating_add);
        Self {
            score: score(&scored),
            arguments: (!given.is_empty()).then_some((given.len(), right)),
            input_tokens: tokens(|outcome| outcome.usage.input_tokens),
            output_tokens: tokens(|outcome| outcome.usage.output_tokens),
            median: percentile(&times, 50),
            slow: percentile(&times, 95),
            wrong: outcomes
                .iter()
                .filter(is_wrong)
                .map(|o| (o.line, o.scored.expected.clone(), o.scored.picked.clone()))
                .collect(),
        }
    }

    pub(super) fn to_json(&self) -> Json {
        let score = &self.score;
        let confusion = score.confusion.iter().map(|((expected, picked), count)| {
            json!({"expected": expected, "picked": picked, "count": count})
        });
        let wrong = self.wrong.iter().map(|(line, expected, picked)| {
            json!({"line": line, "expected": expected, "picked": picked})
        });
        json!({
            "cases": score.n_cases,
            "accuracy": score.accuracy,
            "invalid_rate": score.invalid_rate,
            "retry_rate": score.retry_rate,
            "arguments": self.arguments.map(|(given, right)| json!({"given": given, "right": right})),
            "tokens": {"input": self.input_tokens, "output": self.output_tokens},
            "latency_ms": {"p50": self.median, "p95": self.slow},
            "brier": score.brier,
            "ece": score.calibration_error,
            "confusion": confusion.collect::<Vec<_>>(),
            "wrong": wrong.collect::<Vec<_>>(),
        })
    }

    pub(super) fn to_text(&self) -> String {
        let score = &self.score;
        let mut rows = vec![
            ("cases", score.n_cases.to_string()),
            ("accuracy", percent(score.accuracy)),
            ("invalid", percent(score.invalid_rate)),
            ("asked again", percent(score.retry_rate)),
        ];
        if let Some((given, right)) = self.arguments {
            rows.push(("arguments", format!("{right} of {given} right")));
        }
        let (input, output) = (self.input_tokens, self.output_tokens);
        if (input, output) != (0, 0) {
            rows.push(("tokens", format!("{input} in, {output} out")));
        }
        let shown = |ms: u128| duration(i64::try_from(ms).unwrap_or(i64::MAX));
        let latency = format!("p50 {}, p95 {}", shown(self.median), shown(self.slow));
        rows.push(("latency", latency));
        if let Some(brier) = score.brier {
            rows.push(("Brier", format!("{brier:.3}")));
        }
        if let Some(error) = score.calibration_error {
            rows.push(("ECE", format!("{error:.3} in {CALIBRATION_BINS} bins")));
        }
        let mut text = String::new();
        for (name, value) in rows {
            text.push_str(&format!("{name:<12} {value}\n"));
        }
        text.push_str("\nexpected -> picked\n");
        for ((expected, picked), count) in &score.confusion {
            let picked = picked.as_deref().unwrap_or(NO_PICK);
            text.push_str(&format!("{count:>6}  {expected} -> {picked}\n"));
        }
        if !self.wrong.is_empty() {
            text.push_str("\nwrong\n");
        }
        for (line, expected, picked) in self.wrong.iter().take(WRONG_SHOWN_MAX) {
            let picked = picked.as_deref().unwrap_or(NO_PICK);
            text.push_str(&format!("  line {line}: {expected} -> {picked}\n"));
        }
        if let Some(more @ 1..) = self.wrong.len().checked_sub(WRONG_SHOWN_MAX) {
            text.push_str(&format!("  and {more} more; `--json` lists all\n"));
        }
        text
    }
}

/// What stands where a pick would, when there is no valid one.
const NO_PICK: &str = "(no valid pick)";

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// The nearest-rank percentile of sorted times, in milliseconds.
fn percentile(sorted: &[Duration], percent: usize) -> u128 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).map_or(0, Duration::as_millis)
}
