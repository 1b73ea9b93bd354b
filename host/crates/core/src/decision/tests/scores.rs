//! How decisions are measured against cases whose right pick is known.

use super::super::{Score, ScoredCase, score};

fn case(expected: &str, picked: Option<&str>) -> ScoredCase {
    ScoredCase {
        expected: expected.to_owned(),
        picked: picked.map(str::to_owned),
        ..ScoredCase::default()
    }
}

fn weighed(expected: &str, weights: &[(&str, f64)]) -> ScoredCase {
    let best = weights.iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
    ScoredCase {
        confidence: Some(best.1),
        probabilities: Some(weights.iter().map(|(n, p)| ((*n).to_owned(), *p)).collect()),
        ..case(expected, Some(best.0))
    }
}

fn near(value: Option<f64>, expected: f64) {
    let value = value.unwrap();
    assert!((value - expected).abs() < 1e-9, "{value} is not {expected}");
}

#[test]
fn picks_are_counted_by_what_was_right() {
    let again = ScoredCase {
        n_retries: 2,
        ..case("a", Some("a"))
    };
    let cases = [
        again,
        case("a", Some("b")),
        case("b", Some("b")),
        case("b", None),
    ];
    let score = score(&cases);
    assert_eq!(score.n_cases, 4);
    near(Some(score.accuracy), 0.5);
    near(Some(score.invalid_rate), 0.25);
    near(Some(score.retry_rate), 0.25);
    assert_eq!((score.brier, score.calibration_error), (None, None));
    let shown: Vec<_> = score
        .confusion
        .iter()
        .map(|((right, picked), n)| format!("{right} {} {n}", picked.as_deref().unwrap_or("-")))
        .collect();
    assert_eq!(shown, ["a a 1", "a b 1", "b - 1", "b b 1"]);
    assert_eq!(super::super::score(&[]), Score::default());
}

#[test]
fn probabilities_are_scored_by_their_distance_from_what_was_right() {
    let brier = |case: ScoredCase| score(&[case]).brier;
    near(brier(weighed("a", &[("a", 1.0), ("b", 0.0)])), 0.0);
    near(brier(weighed("a", &[("a", 0.5), ("b", 0.5)])), 0.5);
    near(brier(weighed("a", &[("a", 0.0), ("b", 1.0)])), 2.0);
    // What is left out has the probability 0.
    near(brier(weighed("a", &[("b", 1.0)])), 2.0);
    let two = [
        weighed("a", &[("a", 1.0)]),
        weighed("a", &[("a", 0.5), ("b", 0.5)]),
    ];
    near(score(&two).brier, 0.25);
}

#[test]
fn calibration_compares_how_sure_with_how_often_right() {
    let error = |cases: &[ScoredCase]| score(cases).calibration_error;
    let sure = |value: f64, right: bool| ScoredCase {
        confidence: Some(value),
        ..case("a", Some(if right { "a" } else { "b" }))
    };
    near(error(&[sure(1.0, true), sure(1.0, true)]), 0.0);
    near(error(&[sure(1.0, false)]), 1.0);
    // Within one bin being too sure and not sure enough cancel out.
    near(error(&[sure(0.55, true), sure(0.55, false)]), 0.05);
    // Between bins they do not.
    near(error(&[sure(0.25, true), sure(0.75, false)]), 0.75);
    // A case without a valid pick tells nothing about how sure picks are.
    let invalid = ScoredCase {
        confidence: Some(0.9),
        ..case("a", None)
    };
    assert_eq!(error(&[invalid]), None);
}
