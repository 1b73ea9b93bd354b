//! `openprogram decide --eval`: how good a model is at decisions whose right pick is known.
//!
//! Every case is a decision of its own that no other case sees. Nothing is run, and nothing is
//! recorded: the figures are the result.

mod cases;
mod report;

use std::path::Path;
use std::time::{Duration, Instant};

use openprogram_core::decision::{DecisionSettings, ScoredCase};
use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::session::{Node, NodeQuery, Usage};
use openprogram_runtime::{DecideOutcome, DecideRequest, Runtime};

use super::console::Console;
use super::exit::RunFailed;
use super::stop;

pub(super) use cases::{Case, read_cases};
use report::Report;

/// After so many cases a person is told how far it is.
const TOLD_EVERY: usize = 25;

/// What became of one case.
struct Outcome {
    line: usize,
    scored: ScoredCase,
    /// Whether the arguments are right, where the case says which are.
    arguments_are_right: Option<bool>,
    usage: Usage,
    took: Duration,
}

/// How cases are put to a model.
pub(super) struct Put<'a> {
    /// Where the model is.
    pub(super) runtime: &'a Runtime,
    /// The same for every case.
    pub(super) settings: DecisionSettings,
}

/// Puts every case to the model of a runtime and prints how it did.
///
/// # Errors
/// When a case fails in another way than by giving no valid pick: the figures would be wrong.
pub(super) async fn evaluate(
    put: Put<'_>,
    file: &Path,
    cases: Vec<Case>,
    json: bool,
    console: &mut Console,
) -> anyhow::Result<()> {
    let mut outcomes = Vec::with_capacity(cases.len());
    let count = cases.len();
    for case in cases {
        let (line, mut outcome) = (case.line, ask(&put, case).await);
        if let Err(failure) = &mut outcome {
            let place = format!("line {line} of `{}`", file.display());
            failure.message = format!("{place}: {}", failure.message);
        }
        outcomes.push(outcome.map_err(|failure| RunFailed {
            session: None,
            node: None,
            failure,
            refusals: Vec::new(),
        })?);
        if outcomes.len().is_multiple_of(TOLD_EVERY) && outcomes.len() < count {
            console.say(&format!("{} of {count} cases", outcomes.len()));
        }
    }
    let report = Report::of(&outcomes);
    if json {
        console.json(&report.to_json())?;
    } else {
        console.text(&report.to_text())?;
    }
    Ok(())
}

async fn ask(Put { runtime, settings }: &Put<'_>, case: Case) -> Result<Outcome, Failure> {
    let request = DecideRequest {
        context: case.context,
        settings: settings.clone(),
        ..DecideRequest::new(case.prompt, case.options)
    };
    let began = Instant::now();
    let DecideOutcome { session, result } = runtime.decide_until(request, stop::asked()).await;
    let took = began.elapsed();
    let nodes = match &session {
        None => Vec::new(),
        Some(session) => {
            let nodes = runtime.store().nodes(session, NodeQuery::default()).await;
            nodes.map_err(|error| Failure::new(FailureCode::Internal, error.to_string()))?
        }
    };
    let is_retry = |node: &&Node| node.opened.facts.contains_key("retry_of");
    let n_retries = nodes.iter().filter(is_retry).count();
    let mut scored = ScoredCase {
        expected: case.expected,
        n_retries: u32::try_from(n_retries).unwrap_or(u32::MAX),
        ..ScoredCase::default()
    };
    let mut arguments_are_right = case.arguments.as_ref().map(|_| false);
    match result {
        Ok(pick) => {
            let is_right = pick.option == scored.expected;
            let same = case.arguments.map(|expected| expected == pick.arguments);
            arguments_are_right = same.map(|same| same && is_right);
            scored.confidence = pick.confidence.map(|confidence| confidence.value);
            scored.probabilities = pick.probabilities;
            scored.picked = Some(pick.option);
        }
        // No valid pick, or none that is sure enough, is what a case may come to.
        Err(failure) if failure.code == FailureCode::Decision => {}
        Err(failure) => return Err(failure),
    }
    Ok(Outcome {
        line: case.line,
        scored,
        arguments_are_right,
        usage: spent(&nodes),
        took,
    })
}

fn spent(nodes: &[Node]) -> Usage {
    let mut sum = Usage::default();
    for usage in nodes.iter().filter_map(|node| node.end.as_ref()?.usage) {
        sum.input_tokens = sum.input_tokens.saturating_add(usage.input_tokens);
        sum.output_tokens = sum.output_tokens.saturating_add(usage.output_tokens);
    }
    sum
}
