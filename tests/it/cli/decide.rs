//! `decide`: the menu, a reply checked offline, a model asked.

use openprogram_tests::cli::Project;
use serde_json::json;

use super::project;

const OPTIONS: &str = r#"{"form": "dict", "entries": [
    {"key": "refund", "handler": {"kind": "fn", "fn": {"name": "issue_refund", "doc": "Give money back.",
        "params": [{"name": "amount", "type": "int"}, {"name": "ticket", "type": "str"}],
        "input": {"ticket": {"hidden": true}}}}},
    {"key": "done", "handler": {"kind": "value", "value": "CONVERSATION_OVER", "desc": "Nothing left."}},
    {"key": "plan", "handler": {"kind": "schema", "schema": {"steps": ["string"]}, "desc": "Plan."}}
]}"#;

fn with_options() -> Project {
    project().file("options.json", OPTIONS)
}

#[test]
fn without_a_reply_or_a_model_the_menu_is_printed() {
    let project = with_options();
    let menu = project.run(&["decide", "--options", "options.json"]);
    insta::assert_snapshot!("decide_menu", menu.shown(&project));
}

#[test]
fn an_option_file_may_start_with_a_byte_order_mark() {
    let project = project().file("options.json", format!("\u{feff}{OPTIONS}"));
    let outcome = project.run(&["decide", "--options", "options.json"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
}

#[test]
fn votes_that_cannot_be_held_are_refused_without_a_model_too() {
    let project = with_options().file("reply.txt", r#"{"call": "done"}"#);
    for (more, why) in [
        (&["--votes", "0"][..], "0 is not in 1..=15"),
        (&["--votes", "16"], "16 is not in 1..=15"),
        (
            &["--votes", "3", "--reply", "reply.txt"],
            "cannot be used with",
        ),
    ] {
        let arguments = [&["decide", "--options", "options.json"], more].concat();
        let outcome = project.run(&arguments);
        assert_eq!(outcome.code, 2, "{outcome:?}");
        assert!(outcome.stderr.contains(why), "{why}: {outcome:?}");
    }
}

#[test]
fn a_reply_is_checked_without_a_model() {
    for (reply, code, expected) in [
        (
            r#"Sure: {"call": "done"}"#,
            0,
            json!({"pick": "done", "arguments": {}, "value": "CONVERSATION_OVER", "method": "text", "coerced": []}),
        ),
        (
            r#"{"call": "refund", "args": {"amount": 3}}"#,
            0,
            json!({"pick": "refund", "arguments": {"amount": 3}, "value": null, "method": "text", "coerced": []}),
        ),
        ("nothing", 4, json!("no_action")),
        (r#"{"call": "dance"}"#, 4, json!("unknown_call")),
        (r#"{"call": "refund"}"#, 4, json!("missing_required")),
        (
            r#"{"call": "refund", "args": {"amount": "3"}}"#,
            4,
            json!("type_mismatch"),
        ),
        (r#"{"call": "refund", "args": 3}"#, 4, json!("bad_args")),
    ] {
        let project = with_options().file("reply.txt", reply);
        let arguments = [
            "decide",
            "--options",
            "options.json",
            "--reply",
            "reply.txt",
            "--json",
        ];
        let arguments = [&arguments[..], &["--context", "ticket=T-1"]].concat();
        let outcome = project.run(&arguments);
        let told = outcome.json();
        let told = told.get("error").map_or(&told, |error| &error["kind"]);
        assert_eq!(
            (outcome.code, told),
            (code, &expected),
            "{reply}: {outcome:?}"
        );
    }
}

#[test]
fn a_model_is_asked_again_once_and_the_decision_is_recorded() {
    let project = with_options().file(
        "replies.jsonl",
        "\"no\"\n\"{\\\"call\\\": \\\"done\\\"}\"\n",
    );
    let arguments = [
        "decide",
        "--options",
        "options.json",
        "--prompt",
        "What now?",
        "--model",
        "script:replies.jsonl",
        "--context",
        "ticket=T-1",
    ];
    let outcome = project.run(&arguments);
    insta::assert_snapshot!("decide", outcome.shown(&project));
    let sessions = project.run(&["sessions", "--json"]).json();
    assert_eq!(sessions["sessions"][0]["nodes"], json!(2), "{sessions}");

    let project = with_options().file("replies.jsonl", "\"{\\\"call\\\": \\\"done\\\"}\"\n");
    let printed = project.run(&[&arguments[..], &["--json"]].concat()).json();
    let expected = json!({"pick": "done", "arguments": {}, "value": "CONVERSATION_OVER",
        "method": "text", "coerced": []});
    assert_eq!(printed, expected);

    let project = with_options().file("replies.jsonl", "\"no\"\n\"never\"\n");
    let outcome = project.run(&arguments);
    insta::assert_snapshot!("decide_failed", outcome.shown(&project));
}
