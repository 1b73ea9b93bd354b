//! What holds for every reply and every value.

use proptest::prelude::*;
use serde_json::json;

use super::super::{CANDIDATES_MAX, Menu, extract, parse_reply, parse_schema, resolve_value};
use super::menu;
use crate::Json;
use crate::schema::{CheckMode, RecordType, check_object};

fn a_menu() -> Menu {
    let file = json!({"form": "dict", "entries": [
        {"key": "done", "handler": {"kind": "value", "value": "OVER"}},
        {"key": "re-fund", "handler": {"kind": "fn", "fn": {
            "name": "refund",
            "params": [
                {"name": "amount", "type": "u32"},
                {"name": "reason", "type": "str", "default": "none"},
                {"name": "user", "type": "str"}
            ],
            "input": {"user": {"hidden": true}}
        }}},
        {"key": "plan", "handler": {"kind": "schema", "schema": {"steps": [{"action": "text"}]}}}
    ]});
    menu(&file).unwrap()
}

/// Pieces that replies are made of, whole and broken.
fn piece() -> impl Strategy<Value = String> {
    let fixed = [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "'",
        "\\",
        "\n",
        "```",
        "```json\n",
        "//",
        "/*",
        "*/",
        "#",
        "<think>",
        "</think>",
        " ",
        "é",
        "\"call\"",
        "\"args\"",
        "\"action\"",
        "\"done\"",
        "\"plan\"",
        "\"re_fund\"",
        "\"amount\"",
        "\"user\"",
        "true",
        "None",
        "NaN",
        "-1.5e3",
        "7",
        "\\u12",
        "{\"call\": \"done\"}",
        "{\"call\": \"re-fund\", \"args\": {\"amount\": 3,}}",
        "{'tool': 'plan', 'args': {'steps': [{'action': 'x'}]}}",
    ];
    prop_oneof![
        8 => proptest::sample::select(fixed.to_vec()).prop_map(str::to_owned),
        1 => any::<String>(),
    ]
}

fn reply() -> impl Strategy<Value = String> {
    proptest::collection::vec(piece(), 0..60).prop_map(|pieces| pieces.concat())
}

fn json_value() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<u64>().prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        "[a-c1.-]{0,4}".prop_map(Json::from),
        "[0-9]{1,30}\\.[0-9]{1,30}"
            .prop_map(|text| serde_json::from_str(&text).unwrap_or_default()),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        let key = proptest::sample::select(vec!["a", "b-c", "b_c", "d", "e", "f", "some", "ok"]);
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Json::Array),
            proptest::collection::vec((key, inner), 0..5).prop_map(|entries| {
                entries
                    .into_iter()
                    .map(|(key, value)| (key.to_owned(), value))
                    .collect()
            }),
        ]
    })
}

fn a_record() -> RecordType {
    parse_schema(&json!({
        "a": {"type": "option<list<f64>>"},
        "b_c": {"type": "option<option<s64>>"},
        "d": {"fields": {"e": {"type": "json | None"}, "a": {"type": "option<bool>"}}},
        "e": {"type": "option<map<string, option<int>>>"},
        "f": {"type": "result<list<u8>, string> | None"},
    }))
    .unwrap()
}

proptest! {
    #[test]
    fn a_pick_is_always_on_the_menu_and_checks_to_itself(reply in reply()) {
        let menu = a_menu();
        for mode in [CheckMode::Strict, CheckMode::Lenient] {
            let Ok(pick) = parse_reply(&menu, &reply, mode) else { continue };
            let (index, option) = menu.find(&pick.name).unwrap();
            prop_assert_eq!((index, &option.name), (pick.index, &pick.name));
            prop_assert!(!pick.arguments.contains_key("user"));
            let again = json!({"call": pick.name, "args": pick.arguments}).to_string();
            let again = parse_reply(&menu, &again, CheckMode::Strict).unwrap();
            prop_assert_eq!(&again.arguments, &pick.arguments);
            prop_assert_eq!(again.coerced(), Vec::<String>::new());
            prop_assert_eq!(resolve_value(&menu, &pick).is_none(), pick.index == 1);
        }
    }

    #[test]
    fn any_text_is_read_without_panic_and_the_same_each_time(reply in any::<String>()) {
        let found = extract(&reply);
        prop_assert!(found.as_ref().is_ok_and(|f| f.len() <= CANDIDATES_MAX) || found.is_err());
        prop_assert_eq!(found, extract(&reply));
    }

    #[test]
    fn a_pick_is_found_whatever_stands_before_it(noise in "[^{}'\"`<]{0,200}") {
        let pick = parse_reply(&a_menu(), &format!("{noise}{{\"call\": \"done\"}}"), CheckMode::Strict);
        prop_assert_eq!(pick.unwrap().name, "done");
    }

    #[test]
    fn a_value_reads_back_as_it_was_written(value in json_value()) {
        let reply = json!({"call": "x", "args": {"v": value}}).to_string();
        let found = extract(&reply).unwrap();
        prop_assert_eq!(&found[0].rest["args"]["v"], &value);
        prop_assert_eq!(found[0].repairs(), Vec::<String>::new());
    }

    #[test]
    fn canonical_form_is_stable(value in json_value()) {
        let record = a_record();
        let object = json!({"d": value, "a": value, "b-c": value, "e": value, "f": value});
        let object = object.as_object().unwrap();
        for mode in [CheckMode::Strict, CheckMode::Lenient] {
            for key in ["a", "b-c", "e", "f"] {
                let mut part = object.clone();
                part.retain(|name, _| name == key);
                part.insert("d".to_owned(), json!({}));
                let Ok(once) = check_object(&part, &record.fields, mode) else { continue };
                let twice = check_object(&once.value, &record.fields, mode).unwrap();
                prop_assert_eq!(&twice.value, &once.value);
                prop_assert_eq!(twice.coercions, vec![]);
            }
        }
    }
}
