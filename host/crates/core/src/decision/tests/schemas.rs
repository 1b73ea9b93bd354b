//! Schemas with optional parts, maps, enums and variants, and objects that are easily misread.

use serde_json::json;

use super::super::{parse_reply, parse_schema};
use super::menu;
use crate::Json;
use crate::schema::CheckMode;

fn file(schema: &Json) -> Json {
    json!({"form": "dict", "entries": [
        {"key": "plan", "handler": {"kind": "schema", "schema": schema}}
    ]})
}

fn nested() -> Json {
    json!({
        "mood": {"$t": "enum", "cases": {"calm": "All is well.", "tense": null}},
        "owner": {"$t": "option", "description": "who does it", "of": {"fields": {
            "name": {"type": "str"}, "since": {"$t": "option", "of": {"type": "u32"}}
        }}},
        "costs": {"$t": "map", "of": {"type": "float", "description": "in euros"}},
        "end": {"$t": "variant", "cases": {
            "open": null,
            "closed": {"description": "It is over.", "of": {"fields": {"why": "the reason"}}},
        }},
        "labels": [{"$t": "option", "of": {"options": ["red", "blue"]}}],
        "effort": {"$t": "option", "of": {"type": "int", "options": [1, 2, 3]}},
    })
}

#[test]
fn tagged_types_are_shown_with_everything_that_is_known() {
    expect_test::expect![[r#"
        plan(mood: str, owner: dict, costs: dict, end: str | dict, labels: list, effort: int)
            mood (str; one of "calm", "tense")
                "calm": All is well.
            owner (dict; optional): who does it
                name (str)
                since (int, 0 or more; optional)
            costs (dict of float by name): each value: in euros
            end (one of "open", {"closed": dict})
                "closed": It is over.
                    why (str): the reason
            labels (list of str; one of "red", "blue" or null)
            effort (int; one of 1, 2, 3; optional)
            Call: {"call": "plan", "args": {"mood": "<str>", "owner": {"name": "<str>", "since": 0}, "costs": {}, "end": {"closed": {"why": "<str>"}}, "labels": ["<str>"], "effort": 0}}
    "#]].assert_eq(menu(&file(&nested())).unwrap().text());
}

#[test]
fn tagged_types_are_checked_whole() {
    let menu = menu(&file(&nested())).unwrap();
    let read = |args: Json| {
        let reply = json!({"call": "plan", "args": args}).to_string();
        parse_reply(&menu, &reply, CheckMode::Strict)
            .map(|pick| Json::Object(pick.arguments))
            .map_err(|error| error.to_string())
    };
    let full = json!({
        "mood": "calm", "owner": {"name": "Ada", "since": 3}, "costs": {"rent": 2.5},
        "end": {"closed": {"why": "done"}}, "labels": ["red", null], "effort": 2
    });
    assert_eq!(read(full.clone()), Ok(full));
    let least = json!({"mood": "tense", "costs": {}, "end": "open", "labels": []});
    assert_eq!(read(least.clone()), Ok(least.clone()));
    for (key, value, expected) in [
        (
            "mood",
            json!("angry"),
            "`mood`: must be one of \"calm\", \"tense\", got \"angry\"",
        ),
        (
            "owner",
            json!({}),
            "`owner.name`: a required value is missing",
        ),
        (
            "costs",
            json!({"rent": "2"}),
            "`costs.rent`: expected a number, got a string",
        ),
        (
            "labels",
            json!(["green"]),
            "`labels[0]`: must be one of \"red\", \"blue\", got \"green\"",
        ),
    ] {
        let mut args = least.clone();
        args[key] = value;
        assert_eq!(read(args).unwrap_err(), expected);
    }
}

#[test]
fn tagged_types_are_refused_with_the_path_of_what_is_wrong() {
    for (field, expected) in [
        (
            json!({"$t": "set", "of": {}}),
            "`schema.a`: \"set\" does not go with these keys; use `option` or `map` with `of`, \
             `enum` or `variant` with `cases`",
        ),
        (
            json!({"$t": "option", "of": {}, "options": []}),
            "`schema.a.options`: is not a known key; known are `$t`, `of`, `cases`, `description`",
        ),
        (
            json!({"$t": "map", "of": 3}),
            "`schema.a.of`: expected a type, a description, a list of one item or an object, got an \
             integer",
        ),
        (
            json!({"$t": "enum", "cases": {}}),
            "`schema.a.cases`: there is no case; add one",
        ),
        (
            json!({"$t": "enum", "cases": {"x": {"of": {}}}}),
            "`schema.a.cases.x`: expected a description or null, got an object",
        ),
        (
            json!({"$t": "variant", "cases": {"x-y": null, "x_y": null}}),
            "`schema.a.cases.x_y`: a case of this name is there already, `-` and `_` being equal",
        ),
        (
            json!({"$t": "variant", "cases": {"x": {"off": {}}}}),
            "`schema.a.cases.x.off`: is not a known key; known are `description`, `of`",
        ),
    ] {
        let error = parse_schema(&json!({"a": field})).unwrap_err();
        assert_eq!(error.to_string(), expected, "{field}");
    }
    let deep = (0..40).fold(json!("d"), |of, _| json!({"$t": "option", "of": of}));
    let error = parse_schema(&json!({ "a": deep })).unwrap_err();
    assert!(error.message.starts_with("nested deeper than 32 levels"));
}

#[test]
fn an_object_that_cannot_describe_one_field_says_how_to_write_fields() {
    let hint = "an object whose keys are all among `type`, `description`, `options`, `fields`, \
                `items` describes one field, so an object of fields with these names is written \
                {\"fields\": {…}}";
    for (field, problem) in [
        (
            json!({"type": "what kind it is", "items": ["what it holds"]}),
            "`schema.a.type`: \"what \" is not a type here; use the name of a Python, \
             JSON or WIT type, such as `str`, `integer` or `list<u32>`",
        ),
        (
            json!({"description": {"$t": "str"}}),
            "`schema.a.description`: expected a string, got an object",
        ),
        (
            json!({"options": {"$t": "list"}}),
            "`schema.a.options`: expected an array of allowed values, got an object",
        ),
        (json!({"fields": {"$t": "int"}, "type": "dict"}), ""),
    ] {
        let read = parse_schema(&json!({"a": field}));
        match read {
            Err(error) => assert_eq!(error.to_string(), format!("{problem}; {hint}")),
            Ok(_) => assert_eq!(problem, "", "{field}"),
        }
    }
    let written = json!({"a": {"fields": {"type": "what kind it is", "items": ["what it holds"]}}});
    assert_eq!(parse_schema(&written).unwrap().fields.len(), 1);
}

#[test]
fn a_call_quoted_from_the_menu_before_a_slip_is_not_picked() {
    let file = json!({"form": "dict", "entries": [
        {"key": "volume", "handler": {"kind": "schema", "schema": {"level": {"type": "int"}}}},
        {"key": "timer", "handler": {"kind": "schema", "schema": {"minutes": {"type": "int"}}}},
        {"key": "stop", "handler": {"kind": "value", "value": "STOPPED"}}
    ]});
    let menu = menu(&file).unwrap();
    let read = |reply: &str| match parse_reply(&menu, reply, CheckMode::Strict) {
        Ok(pick) => format!("{} {}", pick.name, Json::Object(pick.arguments)),
        Err(error) => error.message,
    };
    let shown = r#"{"call": "volume", "args": {"level": 0}}"#;
    let slip = r#"{"call": "timer", "args": {"minutes": "five"}}"#;
    let problem = "`minutes`: expected an integer, got a string";
    assert_eq!(read(&format!("I may say {shown}, and say {slip}")), problem);
    assert_eq!(
        read(&format!(r#"I may say {{"call": "stop"}}, and say {slip}"#)),
        problem
    );
    // It may well be meant when it stands last, or when what follows names no option.
    assert_eq!(
        read(&format!("{slip} or rather {shown}")),
        r#"volume {"level":0}"#
    );
    let none = r#"{"call": "dance"}"#;
    assert_eq!(
        read(&format!("{shown} and {none}")),
        r#"volume {"level":0}"#
    );
    // Another valid pick before a slip counts as ever.
    let meant = r#"{"call": "volume", "args": {"level": 3}}"#;
    assert_eq!(
        read(&format!("{meant} and {slip}")),
        r#"volume {"level":3}"#
    );
}
