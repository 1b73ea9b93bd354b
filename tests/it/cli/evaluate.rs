//! `decide --eval`: figures over cases whose right pick is known, and files that are no cases.

use openprogram_core::Json;
use openprogram_tests::cli::Project;
use openprogram_tests::guests;
use serde_json::json;

use super::{project, project_with};

const OPTIONS: &str = r#"{"form": "dict", "entries": [
    {"key": "refund", "handler": {"kind": "schema", "schema": {"amount": {"type": "int"}}, "desc": "Pay back."}},
    {"key": "done", "handler": {"kind": "value", "value": "CLOSED", "desc": "Nothing is left."}}
]}"#;

fn evaluate(project: &Project, more: &[&str]) -> openprogram_tests::cli::Outcome {
    let arguments = [
        "decide",
        "--options",
        "options.json",
        "--eval",
        "cases.jsonl",
    ];
    project.run(&[&arguments[..], more].concat())
}

/// The same cases that the sample ships, with the model that needs no key.
#[test]
fn the_cases_of_the_sample_are_measured_without_a_key() {
    let folder = guests::root().join("sample-functions/support/evaluation");
    let file = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let cases = file("cases.jsonl");
    let project = project_with(&[])
        .file("options.json", file("options.json"))
        .file("cases.jsonl", cases.clone());
    let outcome = evaluate(&project, &["--json"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let figures = outcome.json();
    let count = cases.lines().count();
    assert_eq!(figures["cases"], json!(count));
    let share = |name: &str| figures[name].as_f64().unwrap();
    // The model is a baseline that always gives the same answer; guessing gives a fifth.
    assert!((0.5..=1.0).contains(&share("accuracy")), "{figures:#}");
    assert_eq!((share("invalid_rate"), share("retry_rate")), (0.0, 0.0));
    assert!((0.0..=2.0).contains(&share("brier")), "{figures:#}");
    assert!((0.0..=1.0).contains(&share("ece")), "{figures:#}");
    assert_eq!(figures["tokens"], json!({"input": 0, "output": 0}));
    let confusion = figures["confusion"].as_array().unwrap();
    let counted = |row: &Json| row["count"].as_u64().unwrap();
    assert_eq!(confusion.iter().map(counted).sum::<u64>(), count as u64);
    let right = confusion
        .iter()
        .filter(|row| row["expected"] == row["picked"]);
    let right: u64 = right.map(counted).sum();
    assert_eq!(share("accuracy"), right as f64 / count as f64);
    assert_eq!(
        figures["wrong"].as_array().unwrap().len() as u64,
        count as u64 - right
    );
    // Nothing of it is recorded.
    let sessions = project.run(&["sessions", "--json"]);
    assert!(!sessions.stdout.contains("op-"), "{sessions:?}");
}

#[test]
fn figures_count_invalid_picks_second_questions_arguments_and_tokens() {
    let script = [
        json!({"text": "{\"call\": \"done\"}", "usage": {"input_tokens": 10, "output_tokens": 2}}),
        json!("no idea"),
        json!({"text": "{\"call\": \"refund\", \"args\": {\"amount\": 3}}",
            "usage": {"input_tokens": 5, "output_tokens": 1}}),
        json!("{\"call\": \"refund\", \"args\": {\"amount\": 4}}"),
        json!("never"),
        json!("never ever"),
        json!("{\"call\": \"other\"}"),
    ];
    let cases = [
        json!({"prompt": "a", "expected": "done"}),
        json!({"prompt": "b", "expected": {"call": "refund", "args": {"amount": 3}}}),
        json!({"prompt": "c", "expected": {"call": "refund", "args": {"amount": 3}}}),
        json!({"prompt": "d", "expected": "done"}),
        json!({"prompt": "e", "expected": "this",
            "options": {"form": "list", "items": [
                {"kind": "text", "name": "this"}, {"kind": "text", "name": "other"}]}}),
    ];
    let lines = |values: &[Json]| values.iter().map(|v| format!("{v}\n")).collect::<String>();
    let project = project()
        .file("options.json", OPTIONS)
        .file("cases.jsonl", format!("\n{}", lines(&cases)))
        .file("script.jsonl", lines(&script));
    let model = ["--model", "script:script.jsonl"];
    let outcome = evaluate(&project, &[&model[..], &["--json"]].concat());
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let mut figures = outcome.json();
    let latency = figures["latency_ms"].take();
    assert!(latency["p50"].is_u64() && latency["p95"].is_u64());
    let expected = json!({
        "cases": 5, "accuracy": 0.6, "invalid_rate": 0.2, "retry_rate": 0.4,
        "arguments": {"given": 2, "right": 1},
        "tokens": {"input": 15, "output": 3},
        "latency_ms": null, "brier": null, "ece": null,
        "confusion": [
            {"expected": "done", "picked": null, "count": 1},
            {"expected": "done", "picked": "done", "count": 1},
            {"expected": "refund", "picked": "refund", "count": 2},
            {"expected": "this", "picked": "other", "count": 1},
        ],
        "wrong": [
            {"line": 5, "expected": "done", "picked": null},
            {"line": 6, "expected": "this", "picked": "other"},
        ],
    });
    assert_eq!(figures, expected);
    let text = evaluate(&project, &model).stdout;
    for line in [
        "cases        5\n",
        "accuracy     60.0 %\n",
        "invalid      20.0 %\n",
        "asked again  40.0 %\n",
        "arguments    1 of 2 right\n",
        "tokens       15 in, 3 out\n",
        "latency      p50 ",
        "     2  refund -> refund\n",
        "  line 5: done -> (no valid pick)\n",
    ] {
        assert!(text.contains(line), "{line:?} in {text}");
    }
}

#[test]
fn a_line_that_is_no_case_is_refused_by_its_number_before_a_model_is_asked() {
    let good = r#"{"prompt": "a", "expected": "done"}"#;
    for (line, why) in [
        ("{", "not JSON: EOF while parsing"),
        (
            r#"{"prompt": "a", "expected": {"call": "done", "answer": 1}}"#,
            "`expected` is neither NAME nor {\"call\": NAME, \"args\": {…}}; a case is",
        ),
        ("[]", "a case is {\"prompt\": TEXT, \"expected\": NAME}"),
        (r#"{"prompt": "a"}"#, "missing field `expected`"),
        (
            r#"{"prompt": "a", "expected": "done", "answer": 1}"#,
            "unknown field `answer`",
        ),
        (
            r#"{"prompt": "a", "expected": "stop"}"#,
            "the expected `stop` is not one of the options",
        ),
        (
            r#"{"prompt": "a", "expected": {"call": "refund", "args": {"amount": "3"}}}"#,
            "the expected arguments are none: `amount`",
        ),
        (
            r#"{"prompt": "a", "expected": "done", "options": {"form": "tree"}}"#,
            "`options`: ",
        ),
    ] {
        let project = project()
            .file("options.json", OPTIONS)
            .file("cases.jsonl", format!("{good}\n\n{line}\n"))
            .file("script.jsonl", "");
        let outcome = evaluate(&project, &["--model", "script:script.jsonl"]);
        assert_eq!(outcome.code, 2, "{outcome:?}");
        assert!(
            outcome.stderr.contains("line 3 of `cases.jsonl`: "),
            "{outcome:?}"
        );
        assert!(outcome.stderr.contains(why), "{why}: {outcome:?}");
    }
    let project = project()
        .file("cases.jsonl", "\n")
        .file("options.json", OPTIONS);
    let outcome = evaluate(&project, &[]);
    assert_eq!(outcome.code, 2, "{outcome:?}");
    assert!(
        outcome.stderr.contains("there is no case in `cases.jsonl`"),
        "{outcome:?}"
    );
    let alone = ["decide", "--eval", "cases.jsonl"];
    let project = project.file("cases.jsonl", good);
    let outcome = project.run(&alone);
    assert!(
        outcome.stderr.contains("the case has no `options`"),
        "{outcome:?}"
    );
}

#[test]
fn a_model_that_cannot_be_asked_ends_the_evaluation_at_its_line() {
    let case = r#"{"prompt": "a", "expected": "done"}"#;
    let project = project()
        .file("options.json", OPTIONS)
        .file("cases.jsonl", format!("{case}\n{case}\n"))
        .file("script.jsonl", "\"{\\\"call\\\": \\\"done\\\"}\"\n");
    let outcome = evaluate(&project, &["--model", "script:script.jsonl", "--json"]);
    assert_eq!(outcome.code, 4, "{outcome:?}");
    let error = &outcome.json()["error"];
    assert_eq!(error["kind"], "llm");
    let message = error["message"].as_str().unwrap();
    assert!(
        message.starts_with("line 2 of `cases.jsonl`: "),
        "{message}"
    );
}
