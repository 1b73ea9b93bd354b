//! Menus, option files and deciders: what is accepted and what is refused.

use serde_json::json;

use super::super::{
    MENU_OPTIONS_MAX, MENU_TEXT_BYTES_MAX, Menu, MenuOption, Payload, SCHEMA_FIELDS_MAX,
    SCHEMA_LEVELS_MAX, parse_option_file, parse_reply, parse_schema, pick_schema,
    pick_without_arguments, read_weights,
};
use super::menu;
use crate::Json;
use crate::function::Offer;
use crate::schema::{CheckMode, IntegerKind, Type, record_to_json_schema};

fn value(name: &str) -> MenuOption {
    MenuOption::new(name.to_owned(), None, Payload::Value(Json::Null))
}

#[test]
fn a_menu_is_refused_with_what_to_change() {
    let many = (0..=MENU_OPTIONS_MAX)
        .map(|n| value(&n.to_string()))
        .collect();
    for (options, expected) in [
        (vec![], "the menu has no options; add at least one"),
        (
            many,
            "the menu has 513 options, more than the limit of 512; split it",
        ),
        (
            vec![value("a-b"), value("a_b")],
            "the option `a_b` is in the menu twice; rename one",
        ),
        (
            vec![value("a\nb")],
            "the name \"a\\nb\" cannot be shown in a menu; \
             use at most 256 bytes without control or invisible characters",
        ),
    ] {
        assert_eq!(Menu::new(options).unwrap_err().to_string(), expected);
    }
    let wordy = |n: usize| MenuOption {
        description: "word ".repeat(1_000),
        ..value(&n.to_string())
    };
    let wordy = (0..MENU_OPTIONS_MAX).map(wordy).collect();
    assert!(Menu::new(wordy).is_ok_and(|menu| menu.text().len() < MENU_TEXT_BYTES_MAX));
    let fields: serde_json::Map<String, Json> = (0..900)
        .map(|n| (format!("{n}{}", "x".repeat(200)), json!({})))
        .collect();
    let wide = |n: usize| json!({"kind": "text", "name": n.to_string(), "schema": fields});
    let wide = json!({"form": "list", "items": (0..10).map(wide).collect::<Vec<_>>()});
    assert_eq!(
        menu(&wide).unwrap_err(),
        "the text of the menu is longer than the limit of 1048576 bytes; shorten or split it"
    );
    let failure = Menu::new(vec![]).unwrap_err().to_failure();
    assert_eq!(failure.code.as_str(), "invalid-argument");
}

#[test]
fn options_that_could_not_be_picked_are_refused() {
    let file =
        |handler: Json| json!({"form": "dict", "entries": [{"key": "x", "handler": handler}]});
    let schema = |schema: Json| file(json!({"kind": "schema", "schema": schema}));
    for (file, expected) in [
        (
            schema(json!({"decision": "d"})),
            "the option `x` has a field `decision`, which its result needs for the name of the \
             option; rename the field",
        ),
        (
            file(json!({"kind": "fn", "function": "refund"})),
            "no function `refund`",
        ),
    ] {
        assert_eq!(menu(&file).unwrap_err(), expected);
    }
    let simulated = file(json!({"kind": "fn", "fn": {"name": "f", "params": []}}));
    let mut option = menu(&simulated).unwrap().options()[0].clone();
    if let Payload::Function(function) = &option.payload {
        let mut function = (**function).clone();
        function.offer = Offer::NotOfferable("it takes a resource".to_owned());
        option.payload = Payload::Function(function.into());
    }
    assert_eq!(
        Menu::new(vec![option]).unwrap_err().to_string(),
        "the function of option `x` cannot be offered: it takes a resource"
    );
}

#[track_caller]
fn check_refused(rows: &[(Json, String)]) {
    for (file, expected) in rows {
        assert_eq!(
            parse_option_file(file).unwrap_err().to_string(),
            *expected,
            "{file}"
        );
    }
}

#[test]
fn an_option_file_is_refused_with_the_path_of_what_is_wrong() {
    let dict =
        |handler: Json| json!({"form": "dict", "entries": [{"key": "a", "handler": handler}]});
    let list = |item: Json| json!({"form": "list", "items": [item]});
    let handler = "options.entries[0].handler";
    check_refused(&[
        (
            json!([]),
            "`options`: expected an object, got an array".to_owned(),
        ),
        (
            json!({"form": "other"}),
            "`options.form`: \"other\" is no form; use \"dict\" or \"list\"".to_owned(),
        ),
        (
            json!({"form": "dict"}),
            "`options.entries`: is missing".to_owned(),
        ),
        (
            json!({"form": "list", "items": [], "x": 1}),
            "`options.x`: is not a known key; known are `form`, `items`".to_owned(),
        ),
        (
            dict(json!({"kind": "tuple", "items": []})),
            format!(
                "`{handler}.kind`: \"tuple\" is no kind of option; known are `fn`, `value` and `schema`"
            ),
        ),
        (
            dict(json!({"kind": "value"})),
            format!("`{handler}.value`: is missing"),
        ),
        (
            dict(json!({"kind": "value", "value": 1, "desc": 2})),
            format!("`{handler}.desc`: expected a string, got an integer"),
        ),
        (
            list(json!({"kind": "value", "value": 1})),
            "`options.items[0].kind`: \"value\" is no kind of option; known are `fn` and `text`"
                .to_owned(),
        ),
        (
            list(json!({"kind": "fn", "function": "f", "fn": {}})),
            "`options.items[0].fn`: is not a known key; known are `kind`, `function`, `desc`"
                .to_owned(),
        ),
    ]);
}

#[test]
fn a_simulated_function_is_refused_with_the_path_of_what_is_wrong() {
    let function = |fun: Json| json!({"form": "list", "items": [{"kind": "fn", "fn": fun}]});
    let parameter = |param: Json| function(json!({"name": "f", "params": [param]}));
    let param = "options.items[0].fn.params[0]";
    check_refused(&[
        (
            parameter(json!({"name": "a", "kind": "var_pos"})),
            format!("`{param}.kind`: \"var_pos\" is a kind of parameter of Python alone"),
        ),
        (
            parameter(json!({"name": "a", "type": "set"})),
            format!(
                "`{param}.type`: \"set\" is not a type here; use the name of a Python, JSON or WIT \
                 type, such as `str`, `integer` or `list<u32>`"
            ),
        ),
        (
            parameter(json!({"name": "a", "type": "u8", "default": 256})),
            format!("`{param}.default`: expected an integer from 0 to 255, got 256"),
        ),
        (
            function(json!({"name": "f", "params": [{"name": "a-b"}, {"name": "a_b"}]})),
            "`options.items[0].fn.params[1].name`: a parameter of this name is there already, `-` \
             and `_` being equal"
                .to_owned(),
        ),
        (
            function(
                json!({"name": "f", "params": [{"name": "a"}], "input": {"a": {"hiden": true}}}),
            ),
            "`options.items[0].fn.input.a.hiden`: is not a known key; known are `description`, \
             `options`, `hidden`, `placeholder`, `multiline`, `options_from`"
                .to_owned(),
        ),
    ]);
}

#[test]
fn a_schema_may_be_written_in_every_form() {
    let schema = parse_schema(&json!({
        "text": "what it says",
        "count": {"type": "u8", "description": "how many", "options": [1, 2]},
        "rows": [[{"$t": "bool"}]],
        "colours": {"items": {"type": "str", "options": ["r", "g"]}},
        "event": {"type": {"$t": "str"}, "at": {"type": "integer"}},
        "box": {"type": "dict", "fields": {"w": {"$t": "float"}}},
        "maybe": {"type": "option<string>"},
        "any": {}
    }))
    .unwrap();
    assert_eq!(schema.fields[1].ty, Type::Integer(IntegerKind::U8));
    let number = json!({"type": "number"});
    assert_eq!(
        record_to_json_schema(&schema),
        json!({
            "type": "object",
            "properties": {
                "text": {"type": "string", "description": "what it says"},
                "count": {
                    "type": "integer", "minimum": 0, "maximum": 255,
                    "description": "how many", "enum": [1, 2]
                },
                "rows": {"type": "array", "items": {"type": "array", "items": {"type": "boolean"}}},
                "colours": {"type": "array", "items": {"type": "string", "enum": ["r", "g"]}},
                "event": {
                    "type": "object",
                    "properties": {"type": {"type": "string"}, "at": {"type": "integer"}},
                    "required": ["type", "at"],
                    "additionalProperties": false
                },
                "box": {
                    "type": "object",
                    "properties": {"w": number},
                    "required": ["w"],
                    "additionalProperties": false
                },
                "maybe": {"type": "string"},
                "any": {"type": "string"}
            },
            "required": ["text", "count", "rows", "colours", "event", "box", "any"],
            "additionalProperties": false
        })
    );
}

#[test]
fn a_schema_is_refused_with_the_path_of_what_is_wrong() {
    let nested = |levels: usize| (0..levels).fold(json!("d"), |inner, _| json!([inner]));
    let many: serde_json::Map<String, Json> = (0..=SCHEMA_FIELDS_MAX)
        .map(|n| (n.to_string(), json!({})))
        .collect();
    let deep = format!("schema.a{}", "[0]".repeat(SCHEMA_LEVELS_MAX));
    for (schema, expected) in [
        (json!("d"), "`schema`: expected an object of fields, got a string".to_owned()),
        (
            json!({"a": {"b": 3}}),
            "`schema.a.b`: expected a type, a description, a list of one item or an object, got \
             an integer"
                .to_owned(),
        ),
        (json!({"a": []}), "`schema.a`: a list has exactly one item as template, not 0".to_owned()),
        (json!({"a": ["b", "c"]}), "`schema.a`: a list has exactly one item as template, not 2".to_owned()),
        (json!({"a": {"type": 3}}), "`schema.a.type`: expected a type name, got an integer".to_owned()),
        (json!({"a": {"$t": "str", "x": 1}}), "`schema.a`: expected a type name or {\"$t\": name}".to_owned()),
        (
            json!({"a": {"items": "b", "fields": {}}}),
            "`schema.a`: `items` and `fields` exclude each other; leave one out".to_owned(),
        ),
        (
            json!({"a": {"items": "b", "type": "str"}}),
            "`schema.a.type`: `items` does not go with this type; leave the type out".to_owned(),
        ),
        (
            json!({"a": {"items": {"type": "int", "options": [1]}}}),
            "`schema.a.items[0]`: the allowed values of a list item must be strings; put the value \
             into a field of an object"
                .to_owned(),
        ),
        (
            json!({"a-b": "x", "a_b": "y"}),
            "`schema.a_b`: a field of this name is there already, `-` and `_` being equal".to_owned(),
        ),
        (json!({"a": nested(40)}), format!("`{deep}`: nested deeper than 32 levels")),
        (Json::Object(many), "`schema.1000`: more than 1000 fields in one schema".to_owned()),
    ] {
        assert_eq!(parse_schema(&schema).unwrap_err().to_string(), expected);
    }
}

#[test]
fn a_distribution_is_checked_before_it_picks() {
    let menu = menu(&json!({"form": "dict", "entries": [
        {"key": "first-one", "handler": {"kind": "value", "value": 1}},
        {"key": "second", "handler": {"kind": "value", "value": 2}},
        {"key": "third", "handler": {"kind": "schema", "schema": {"a": "needed"}}},
        {"key": "fourth", "handler": {"kind": "schema", "schema": {"a": {"type": "option<str>"}}}}
    ]}))
    .unwrap();
    let outcome = |weights: &[(&str, f64)]| match read_weights(&menu, weights.iter().copied()) {
        Ok(weighed) => {
            assert_eq!(weighed.weights[weighed.index], weighed.probability);
            let name = &menu.options()[weighed.index].name;
            match pick_without_arguments(&menu, name) {
                Ok(pick) => format!("{} {}", pick.name, weighed.probability),
                Err(error) => error.to_string(),
            }
        }
        Err(error) => error.to_string(),
    };
    for (weights, expected) in [
        (&[("first_one", 0.3), ("second", 0.7)][..], "second 0.7"),
        (&[("second", 0.5), ("first-one", 0.5)], "first-one 0.5"),
        (&[("second", 0.9995)], "second 0.9995"),
        (&[("fourth", 1.0)], "fourth 1"),
        (
            &[("third", 1.0)],
            "\"third\" was picked by a model that only picks and cannot give arguments: `a`: a \
             required value is missing; use a model that writes",
        ),
        (&[], "the answer weighs no option"),
        (
            &[("second", f64::NAN)],
            "the weight of \"second\" is NaN, not a finite number",
        ),
        (
            &[("second", f64::INFINITY)],
            "the weight of \"second\" is inf, not a finite number",
        ),
        (
            &[("second", 1.5)],
            "the weight of \"second\" is 1.5, not from 0 to 1",
        ),
        (
            &[("second", -0.5)],
            "the weight of \"second\" is -0.5, not from 0 to 1",
        ),
        (&[("fifth", 1.0)], "\"fifth\" is not one of the options"),
        (
            &[("second", 0.5), ("second", 0.5)],
            "\"second\" is weighed twice",
        ),
        (&[("second", 0.5)], "the weights sum to 0.5, not to 1"),
        (&[("second", 0.0)], "the weights sum to 0, not to 1"),
    ] {
        assert_eq!(outcome(weights), expected, "{weights:?}");
    }
}

#[test]
fn the_shape_of_a_pick_names_every_option_once_and_its_arguments_after_it() {
    let value = |name: &str| json!({"key": name, "handler": {"kind": "value", "value": 1}});
    let fields = json!({"key": "plan", "handler": {"kind": "schema", "schema": {
        "steps": [{"type": "str"}], "sure": {"type": "bool"}}}});
    let shape = |entries: Json| {
        let menu = menu(&json!({"form": "dict", "entries": entries})).unwrap();
        pick_schema(&menu).to_string()
    };
    let names = |names: &str| {
        format!(
            "{{\"type\":\"object\",\"properties\":{{\"call\":{{\"type\":\"string\",\"enum\":[{names}]}}}},\
             \"required\":[\"call\"],\"additionalProperties\":false}}"
        )
    };
    assert_eq!(
        shape(json!([value("a"), value("b-c")])),
        names("\"a\",\"b-c\"")
    );
    let plan = shape(json!([fields]));
    assert_eq!(
        plan,
        "{\"type\":\"object\",\"properties\":{\"call\":{\"type\":\"string\",\"enum\":[\"plan\"]},\
         \"args\":{\"type\":\"object\",\"properties\":{\"steps\":{\"type\":\"array\",\"items\":\
         {\"type\":\"string\"}},\"sure\":{\"type\":\"boolean\"}},\"required\":[\"steps\",\"sure\"],\
         \"additionalProperties\":false}},\"required\":[\"call\",\"args\"],\"additionalProperties\":false}"
    );
    let both = shape(json!([value("a"), fields, value("b")]));
    let expected = format!(
        "{{\"type\":\"object\",\"properties\":{{\"pick\":{{\"anyOf\":[{},{plan}]}}}},\
         \"required\":[\"pick\"],\"additionalProperties\":false}}",
        names("\"a\",\"b\"")
    );
    assert_eq!(both, expected);
}

#[test]
fn a_reply_in_the_shape_of_a_pick_is_read_as_one() {
    let menu = menu(&json!({"form": "dict", "entries": [
        {"key": "a", "handler": {"kind": "value", "value": 1}},
        {"key": "plan", "handler": {"kind": "schema", "schema": {"sure": {"type": "bool"}}}}
    ]}))
    .unwrap();
    let read = |reply: &str| parse_reply(&menu, reply, CheckMode::Strict).unwrap();
    assert_eq!(read(r#"{"pick": {"call": "a"}}"#).name, "a");
    let pick = read(r#"{"pick": {"call": "plan", "args": {"sure": true}}}"#);
    assert_eq!(
        (&*pick.name, &pick.arguments["sure"]),
        ("plan", &json!(true))
    );
    assert_eq!(pick.coerced(), Vec::<String>::new());
}
