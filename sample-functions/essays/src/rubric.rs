//! Rubrics: the parts that are marked, and what becomes of the marks.

use openprogram_guest::{Failure, Json, Value};

use crate::essays::Mark;

/// What a part may be given.
pub(crate) const POINTS: [u8; 6] = [0, 1, 2, 3, 4, 5];

/// The part of a rubric and the question that the marker answers.
type Part = (&'static str, &'static str);

const IELTS_WRITING: [Part; 4] = [
    ("task", "Is the whole question answered, with a position?"),
    ("coherence", "Does one thought lead to the next?"),
    ("vocabulary", "Are the words precise and varied?"),
    (
        "grammar",
        "Are the sentences right and of more than one kind?",
    ),
];
const TOEFL_WRITING: [Part; 3] = [
    ("development", "Are the ideas explained with details?"),
    ("organisation", "Is the order of the parts clear?"),
    ("language", "Are words and sentences used well?"),
];
const GRE_ARGUMENT: [Part; 3] = [
    (
        "assumptions",
        "Does it find what the argument takes for granted?",
    ),
    ("evidence", "Does it say what evidence would decide?"),
    ("writing", "Is it put clearly?"),
];

/// The parts of a rubric. The host lets only the options of the parameter through, so the rest
/// cannot happen; it has no parts.
pub(crate) fn parts(rubric_id: &str) -> &'static [Part] {
    match rubric_id {
        "ielts_writing" => &IELTS_WRITING,
        "toefl_writing" => &TOEFL_WRITING,
        "gre_argument" => &GRE_ARGUMENT,
        _ => &[],
    }
}

/// Reads a mark that the host has checked. Its part is not told by the model.
pub(crate) fn read(picked: &Json) -> Result<Mark, Failure> {
    let picked: Value = picked.parse()?;
    let points = picked["points"].as_u64().unwrap_or(0).min(5);
    Ok(Mark {
        part: String::new(),
        points: u8::try_from(points).unwrap_or(0),
        reason: picked["reason"].as_str().unwrap_or_default().to_owned(),
    })
}

/// The score that some marks are worth, rounded to the nearest whole one.
pub(crate) fn score(marks: &[Mark], max_score: u32) -> u32 {
    let best = 5 * marks.len() as u64;
    let points: u64 = marks.iter().map(|mark| u64::from(mark.points)).sum();
    if best == 0 {
        return 0;
    }
    let score = (2 * points * u64::from(max_score) + best) / (2 * best);
    u32::try_from(score).unwrap_or(max_score)
}

#[cfg(test)]
mod tests {
    use openprogram_guest::json;

    use super::*;

    fn marks(points: &[u8]) -> Vec<Mark> {
        let mark = |points: &u8| read(&json!({"points": points, "reason": "r"}).into()).unwrap();
        points.iter().map(mark).collect()
    }

    #[test]
    fn a_score_is_the_share_of_the_points() {
        for (points, max_score, score_expected) in [
            (&[5, 5, 5, 5][..], 9, 9),
            (&[0, 0, 0], 9, 0),
            (&[3, 4, 3, 4], 9, 6),
            (&[1], u32::MAX, 858_993_459),
            (&[5, 5], u32::MAX, u32::MAX),
            (&[], 9, 0),
        ] {
            assert_eq!(
                score(&marks(points), max_score),
                score_expected,
                "{points:?}"
            );
        }
    }

    #[test]
    fn every_rubric_has_parts_with_questions() {
        for rubric in ["ielts_writing", "toefl_writing", "gre_argument"] {
            assert!(parts(rubric).len() >= 3, "{rubric}");
            assert!(
                parts(rubric)
                    .iter()
                    .all(|(_, question)| question.ends_with('?'))
            );
        }
        assert!(parts("other").is_empty());
    }
}
