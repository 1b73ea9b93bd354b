//! Recorded picks: option file, reply and context, from the reply to what would run.

use super::super::{Menu, Payload, Pick, fill_hidden, parse_reply, resolve_value};
use super::law::{Differences, PARSE, check_cases, normal};
use super::menu;
use crate::function::ParameterSource;
use crate::schema::CheckMode;
use crate::{Json, JsonObject};

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
