//! Recorded menus and replies, from option file to candidates; the picks are in `law_picks`.
//!
//! A case whose status is `law` must come out as recorded. The others show how a system that is
//! otherwise like this one behaves; where this one does better on purpose, the table says why.

use std::collections::BTreeMap;

use serde_json::json;

use super::super::example::one_line;
use super::super::{Candidate, Menu, extract, render_menu};
use super::menu;
use crate::{Json, JsonObject};

const MENUS: &str = include_str!("../../../fixtures/vectors/decision_menus.json");
const EXTRACT: &str = include_str!("../../../fixtures/vectors/decision_extract.json");
pub(super) const PARSE: &str = include_str!("../../../fixtures/vectors/decision_parse.json");

/// Where a case that is not law comes out differently: id, our outcome, reason.
pub(super) type Differences<'a> = &'a [(&'a str, &'a str, &'a str)];

/// Runs all cases of a file and compares each outcome with the recorded or the tabled one.
#[track_caller]
pub(super) fn check_cases(
    file: &str,
    differences: Differences<'_>,
    recorded: impl Fn(&Json) -> String,
    ours: impl Fn(&Json) -> String,
) {
    let file: Json = serde_json::from_str(file).unwrap();
    let mut differences: BTreeMap<_, _> = differences
        .iter()
        .map(|(id, outcome, reason)| {
            assert!(!reason.is_empty(), "{id} differs without a reason");
            (*id, *outcome)
        })
        .collect();
    let mut wrong = Vec::new();
    for case in file["cases"].as_array().unwrap() {
        let id = case["id"].as_str().unwrap();
        let tabled = differences.remove(id);
        assert!(tabled.is_none() || case["status"] == "info", "{id} is law");
        assert_ne!(
            tabled,
            Some(recorded(case).as_str()),
            "{id} does not differ"
        );
        let expected = tabled.map_or_else(|| recorded(case), str::to_owned);
        let ours = ours(case);
        if ours != expected {
            wrong.push(format!(
                "{id} ({})\n  expected {expected}\n  ours     {ours}",
                case["status"]
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(differences.is_empty(), "unknown ids: {differences:?}");
}

/// The signature line and the example call of each option of a rendered menu.
fn shown(menu: &Menu) -> String {
    let mut lines = Vec::new();
    for option in render_menu(menu).split("\n\n") {
        let signature = option.lines().next().unwrap();
        let call = option
            .lines()
            .find_map(|line| line.strip_prefix("    Call: "))
            .unwrap();
        let call: Json = serde_json::from_str(call).unwrap();
        lines.push(format!("{signature} {}", one_line(&call)));
    }
    lines.join("\n")
}

#[test]
fn menus_show_the_recorded_signatures_and_calls() {
    let recorded = |case: &Json| match case["shown"].as_array() {
        None => "refused".to_owned(),
        Some(shown) => {
            let line = |option: &Json| {
                let signature = option["signature"].as_str().unwrap();
                format!("{signature} {}", one_line(&option["call"]))
            };
            shown.iter().map(line).collect::<Vec<_>>().join("\n")
        }
    };
    let ours =
        |case: &Json| menu(&case["options"]).map_or_else(|_| "refused".to_owned(), |m| shown(&m));
    let containers = "containers of Python alone have no counterpart and are refused";
    let types = "types without counterpart are refused instead of shown and never checked";
    let differences = [
        ("menu/dict_3tuple_value", "refused", containers),
        ("menu/dict_value_plus_dict", "refused", containers),
        ("menu/dict_num_plus_dict", "refused", containers),
        ("menu/dict_fn_plus_dict", "refused", containers),
        (
            "menu/schema_meta_all_keys",
            "refused",
            "a type that is no type is refused, not ignored",
        ),
        ("menu/schema_other_type", "refused", types),
        ("menu/fn_generics", "refused", types),
        (
            "menu/fn_args_kwargs",
            "refused",
            "such a function could never be picked",
        ),
        (
            "menu/empty_dict",
            "refused",
            "an empty menu is refused before any model call",
        ),
        (
            "menu/empty_list",
            "refused",
            "an empty menu is refused before any model call",
        ),
    ];
    check_cases(MENUS, &differences, recorded, ours);
}

/// A candidate as the recordings write it: the name under `call`, then the rest.
fn action(candidate: &Candidate) -> Json {
    let mut action = JsonObject::new();
    action.insert("call".to_owned(), candidate.call.clone());
    action.extend(candidate.rest.clone());
    Json::Object(action)
}

/// Objects in one order, and floats that are marked as such unmarked.
pub(super) fn normal(value: &Json) -> Json {
    match value {
        Json::Object(object) => match object.get("$float").and_then(Json::as_str) {
            Some(text) => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
            None => {
                let sorted: BTreeMap<_, _> = object.iter().collect();
                let entries = sorted.into_iter();
                entries
                    .map(|(key, value)| (key.clone(), normal(value)))
                    .collect()
            }
        },
        Json::Array(items) => items.iter().map(normal).collect(),
        other => other.clone(),
    }
}

#[test]
fn replies_hold_the_recorded_actions() {
    let recorded = |case: &Json| one_line(&normal(&case["action"]));
    let ours = |case: &Json| {
        let text = match (case["text"].as_str(), case["id"].as_str()) {
            (Some(text), _) => text.to_owned(),
            (None, Some("extract/deep_500")) => deep(500),
            (None, Some("extract/deep_100000")) => deep(100_000),
            other => panic!("{other:?}"),
        };
        let found = extract(&text)
            .ok()
            .and_then(|found| found.last().map(action));
        one_line(&normal(&found.unwrap_or(Json::Null)))
    };
    let last = "the last pick of a reply counts, not the first";
    let slip = "a slip that loses nothing is read";
    let deep = "depth costs no stack; what is too deep is left out here and refused by the check";
    let differences = [
        ("extract/array_top", r#"{"call": "b"}"#, last),
        ("extract/trailing_comma", r#"{"call": "a"}"#, slip),
        ("extract/single_quotes", r#"{"call": "a"}"#, slip),
        ("extract/comment", r#"{"call": "a"}"#, slip),
        (
            "extract/py_true",
            r#"{"args": {"b": true}, "call": "a"}"#,
            slip,
        ),
        ("extract/py_none", r#"{"args": null, "call": "a"}"#, slip),
        (
            "extract/truncated_outer_inner_ok",
            "null",
            "a truncated object is not completed, and its parts are no picks",
        ),
        (
            "extract/infinity",
            r#"{"args": {"x": null}, "call": "a"}"#,
            "JSON has no infinity; the check refuses the pick",
        ),
        (
            "extract/exp",
            r#"{"args": {"x": 1e+3}, "call": "a"}"#,
            "numbers keep their text",
        ),
        (
            "extract/neg_zero",
            r#"{"args": {"x": -0}, "call": "a"}"#,
            "numbers keep their text",
        ),
        ("extract/example_echo", r#"{"call": "a"}"#, last),
        (
            "extract/think_tag",
            r#"{"call": "a"}"#,
            "thinking is not the reply",
        ),
        ("extract/two_objs_no_sep", r#"{"call": "b"}"#, last),
        ("extract/deep_500", &nested_call(126), deep),
        ("extract/deep_100000", &nested_call(126), deep),
    ];
    check_cases(EXTRACT, &differences, recorded, ours);
}

fn deep(levels: usize) -> String {
    let (open, close) = ("[".repeat(levels), "]".repeat(levels));
    format!("{{\"call\": \"a\", \"args\": {{\"x\": {open}{close}}}}}")
}

fn nested_call(levels: usize) -> String {
    let (open, close) = ("[".repeat(levels), "]".repeat(levels));
    format!("{{\"args\": {{\"x\": {open}null{close}}}, \"call\": \"a\"}}")
}

#[test]
fn the_fixtures_are_whole() {
    let count = |file: &str| {
        let file: Json = serde_json::from_str(file).unwrap();
        file["cases"].as_array().unwrap().len()
    };
    assert_eq!([MENUS, EXTRACT, PARSE].map(count), [40, 77, 144]);
    assert_eq!(
        normal(&json!({"b": {"$float": "3.0"}, "a": 1})).to_string(),
        r#"{"a":1,"b":3.0}"#
    );
}
