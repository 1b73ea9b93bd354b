//! Recorded menus, replies and picks, from option file to outcome.
//!
//! A case whose status is `law` must come out as recorded. The others show how a system that is
//! otherwise like this one behaves; where this one does better on purpose, the table says why.

use std::collections::BTreeMap;

use serde_json::json;

use super::super::example::one_line;
use super::super::{
    Candidate, Menu, Payload, Pick, extract, fill_hidden, parse_reply, render_menu, resolve_value,
};
use super::menu;
use crate::function::ParameterSource;
use crate::schema::CheckMode;
use crate::{Json, JsonObject};

const MENUS: &str = include_str!("../../../fixtures/vectors/decision_menus.json");
const EXTRACT: &str = include_str!("../../../fixtures/vectors/decision_extract.json");
const PARSE: &str = include_str!("../../../fixtures/vectors/decision_parse.json");

/// Where a case that is not law comes out differently: id, our outcome, reason.
type Differences<'a> = &'a [(&'a str, &'a str, &'a str)];

/// Runs all cases of a file and compares each outcome with the recorded or the tabled one.
#[track_caller]
fn check_cases(
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
fn normal(value: &Json) -> Json {
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

/// A pick with what the context adds to it, as the recordings write it.
fn outcome(menu: &Menu, pick: &Pick, context: &JsonObject) -> String {
    let option = &menu.options()[pick.index];
    let Payload::Function(function) = &option.payload else {
        let result = resolve_value(menu, pick).unwrap();
        return format!(
            "{} {} {result}",
            pick.name,
            Json::Object(pick.arguments.clone())
        );
    };
    let mut arguments = match fill_hidden(function, pick.arguments.clone(), context) {
        Ok(arguments) => arguments,
        Err(error) => {
            return super::super::PickError::from(error)
                .kind
                .as_str()
                .to_owned();
        }
    };
    // The recordings leave defaults to the function and show the injected runtimes.
    let from_reply = |name: &String| pick.arguments.contains_key(name);
    arguments.retain(|name, _| {
        let mut parameters = function.parameters.iter();
        let parameter = parameters.find(|p| p.field.name == *name).unwrap();
        from_reply(name) || parameter.source == ParameterSource::Context
    });
    for parameter in &function.parameters {
        if let ParameterSource::Runtime(role) = parameter.source {
            arguments.insert(role.parameter().to_owned(), "$runtime".into());
        }
    }
    let arguments = normal(&Json::Object(arguments));
    format!("function {} {arguments}", function.name.function)
}

fn recorded_outcome(case: &Json) -> String {
    if let Some(kind) = case["error_kind"].as_str() {
        return kind.to_owned();
    }
    if case["crash"].is_string() {
        return "crash".to_owned();
    }
    let arguments = &case["ok"]["kwargs"];
    match case["ok"]["chosen"].as_str() {
        Some(name) => format!("{name} {arguments} {}", case["ok"]["result"]),
        None => {
            let function = case["ok"]["chosen"]["function"].as_str().unwrap();
            format!("function {function} {}", normal(arguments))
        }
    }
}

fn our_outcome(case: &Json) -> String {
    let menu = match menu(&case["options"]) {
        Ok(menu) => menu,
        Err(_) => return "refused".to_owned(),
    };
    let context = case["context"].as_object().cloned().unwrap_or_default();
    match parse_reply(&menu, case["reply"].as_str().unwrap(), CheckMode::Strict) {
        Ok(pick) => outcome(&menu, &pick, &context),
        Err(error) => error.kind.as_str().to_owned(),
    }
}

const ODD: &str = "a name that is no text is an unknown call, not a crash";
const READ: &str = "arguments are read from where models put them, and that is recorded";
const FORM: &str = "arguments that are no object are refused, unless they are an empty array";
const LAST: &str = "the last valid pick of a reply counts, not the first pick";
const NULL: &str = "null for a parameter that may be absent counts as absent";
const HIDDEN: &str = "a model can never supply a hidden parameter";
const CONTAINERS: &str = "containers of Python alone are refused";
const TYPES: &str = "types that would not be checked are refused";
const EMPTY: &str = "an empty menu is refused";
const HIJACK: &str = "a field called `action` is no pick";

/// Where a pick that is not law comes out differently.
const DIFFERENT_PICKS: Differences<'_> = &[
    ("parse/list_name", "unknown_call", ODD),
    ("parse/obj_name", "unknown_call", ODD),
    ("parse/args_empty_str", "bad_args", FORM),
    ("parse/args_zero", "bad_args", FORM),
    (
        "parse/flat_args",
        r#"function analyze_sentiment {"text":"hi"}"#,
        READ,
    ),
    (
        "parse/arguments_key",
        r#"function analyze_sentiment {"text":"hi"}"#,
        READ,
    ),
    (
        "parse/input_key",
        r#"function analyze_sentiment {"text":"hi"}"#,
        READ,
    ),
    (
        "parse/first_wins_unknown",
        r#"done {} "CONVERSATION_OVER""#,
        LAST,
    ),
    (
        "parse/echo_example_first",
        r#"done {} "CONVERSATION_OVER""#,
        LAST,
    ),
    (
        "parse/default_null_for_int_default",
        r#"function f {"a":1}"#,
        NULL,
    ),
    (
        "parse/default_null_for_str_default_none",
        r#"function f {"a":1}"#,
        NULL,
    ),
    ("parse/generics_ok", "refused", TYPES),
    ("parse/generics_not_checked", "refused", TYPES),
    (
        "parse/hidden_llm_value_no_context",
        "missing_required",
        HIDDEN,
    ),
    ("parse/hidden_llm_value_untyped", "missing_required", HIDDEN),
    (
        "parse/context_wrong_type_not_checked",
        "type_mismatch",
        "the context is checked too",
    ),
    (
        "parse/context_none_value",
        "type_mismatch",
        "the context is checked too",
    ),
    (
        "parse/varargs_always_missing",
        "refused",
        "such a function could never be picked",
    ),
    ("parse/tuple1_value", "refused", CONTAINERS),
    ("parse/tuple2_literal_misread", "refused", CONTAINERS),
    ("parse/value_plus_dict_is_schema", "refused", CONTAINERS),
    ("parse/num_plus_dict_is_schema", "refused", CONTAINERS),
    ("parse/fn_plus_dict", "refused", CONTAINERS),
    (
        "parse/plan_nested_extra_kept",
        r#"emit_plan {"steps":[{"action":"a","target":"b"}],"rationale":"r"} {"decision":"emit_plan","steps":[{"action":"a","target":"b"}],"rationale":"r"}"#,
        "unknown names are dropped at every depth, and that is recorded",
    ),
    (
        "parse/plan_without_outer_call_inner_action_hijacks",
        "no_action",
        HIJACK,
    ),
    ("parse/plan_name_in_other_key", "no_action", HIJACK),
    (
        "parse/meta_ambiguous",
        "refused",
        "a type that is no type is refused, not ignored",
    ),
    (
        "parse/meta_ambiguous_bad",
        "refused",
        "a type that is no type is refused, not ignored",
    ),
    (
        "parse/enum_on_items_list_ignored",
        "enum_violation",
        "allowed values always count",
    ),
    (
        "parse/decision_field_overwrites",
        "refused",
        "a field cannot hide the option's name",
    ),
    ("parse/empty_dict_options", "refused", EMPTY),
    ("parse/empty_list_options", "refused", EMPTY),
    (
        "parse/trailing_comma",
        r#"done {} "CONVERSATION_OVER""#,
        "a slip that loses nothing is read",
    ),
];

#[test]
fn replies_give_the_recorded_picks() {
    check_cases(PARSE, DIFFERENT_PICKS, recorded_outcome, our_outcome);
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
