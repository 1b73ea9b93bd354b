//! Schemas and replies that are made to be slow, deep or long: each ends with a named error.

use serde_json::json;

use super::{check_values, nested, told, validator};
use crate::structured::{CHECK_DEPTH_MAX, ISSUES_MAX};

const GAVE_UP: &str = "validation_failed [ ]";

#[test]
fn a_schema_that_branches_without_end_ends_the_check() {
    let mut defs = serde_json::Map::new();
    for n in 0..60 {
        let next = json!({"$ref": format!("#/$defs/s{}", n + 1)});
        defs.insert(format!("s{n}"), json!({"allOf": [next, next]}));
    }
    defs.insert("s60".to_owned(), json!({"type": "integer"}));
    let schema = json!({"$ref": "#/$defs/s0", "$defs": defs});
    check_values(schema.clone(), &[("1", GAVE_UP)]);
    // Turning the answer round does not make it one.
    let mut turned = schema;
    let reference = turned.as_object_mut().unwrap().remove("$ref").unwrap();
    turned["not"] = json!({"$ref": reference});
    check_values(turned, &[("\"a\"", "ok"), ("1", GAVE_UP)]);
}

#[test]
fn a_schema_that_fails_in_more_places_than_are_looked_for_ends_the_check_soon() {
    let mut defs = serde_json::Map::new();
    for n in 0..30 {
        let next = json!({"$ref": format!("#/$defs/s{}", n + 1)});
        let twice = json!({"type": ["string", "object"], "allOf": [next, next]});
        defs.insert(format!("s{n}"), twice);
    }
    defs.insert("s30".to_owned(), json!({"minLength": 300}));
    let schema = json!({"properties": {"a": {"$ref": "#/$defs/s0"}}, "$defs": defs});
    let validator = validator(&schema).unwrap();
    let long_key = format!("{{\"{}\": 1}}", "k".repeat(1024 * 1024));
    let error = validator.parse("{\"a\": \"short\"}").unwrap_err();
    assert_eq!(error.issues.len(), ISSUES_MAX);
    assert!(error.issues.iter().all(|issue| issue.path == "/a"));
    // What is written about a name does not grow with it.
    let names = json!({"additionalProperties": {"allOf": vec![json!({"type": "null"}); 4000]}});
    let error = super::validator(&names).unwrap().parse(&long_key);
    assert_eq!(error.unwrap_err().issues.len(), ISSUES_MAX);
    // Nor is a long name looked up again and again.
    let name = "k".repeat(200_000);
    let mut defs = serde_json::Map::new();
    for n in 0..60 {
        let next = json!({"$ref": format!("#/$defs/s{}", n + 1)});
        defs.insert(format!("s{n}"), json!({"allOf": [next, next]}));
    }
    defs.insert("s60".to_owned(), json!({"required": [name]}));
    let schema = json!({"$ref": "#/$defs/s0", "$defs": defs});
    check_values(schema, &[(&format!("{{\"{name}\": 1}}"), GAVE_UP)]);
}

#[test]
fn long_names_that_hold_many_schemas_are_refused() {
    let schema = |len: usize| {
        let name = "n".repeat(len);
        json!({"properties": {name: {"anyOf": vec![json!({}); 4000]}}})
    };
    assert_eq!(told(validator(&schema(100))), "ok");
    assert_eq!(told(validator(&schema(500_000))), "invalid_schema");
}

#[test]
fn a_long_chain_of_references_ends_the_check_within_a_small_stack() {
    let work = || {
        let mut defs = serde_json::Map::new();
        for n in 0..2 * CHECK_DEPTH_MAX {
            let next = json!({"$ref": format!("#/$defs/s{}", n + 1)});
            defs.insert(format!("s{n}"), json!({"not": next}));
        }
        defs.insert(format!("s{}", 2 * CHECK_DEPTH_MAX), json!({}));
        let schema = json!({"$ref": "#/$defs/s0", "$defs": defs});
        check_values(schema, &[("1", GAVE_UP)]);
        // As deep as the reader of JSON takes, through the deepest recursive schema.
        let list = json!({"properties": {"a": {"items": {"$ref": "#"}}}});
        let deep = format!("{}1{}", "{\"a\":[".repeat(63), "]}".repeat(63));
        check_values(list, &[(&deep, "ok")]);
    };
    // Less than what a host function has of the stack that it shares with a guest.
    let thread = std::thread::Builder::new().stack_size(768 * 1024);
    thread.spawn(work).unwrap().join().unwrap();
}

#[test]
fn patterns_read_only_so_much_of_a_reply() {
    let schema = json!({"items": {"pattern": "^(a|a)*b?$"}});
    let long = format!("[\"{}\"]", "a".repeat(1024 * 1024));
    let many = format!("[{}\"\"]", "\"aaaaaaaaa\",".repeat(100_000));
    check_values(schema, &[(&long, GAVE_UP), (&many, GAVE_UP)]);
    let names = json!({"additionalProperties": true, "patternProperties": {"x": {}, "y": {}}});
    let member = format!("{{\"{}\": 1}}", "a".repeat(1024 * 1024));
    check_values(names, &[(&member, GAVE_UP)]);
}

#[test]
fn a_number_with_very_many_digits_is_not_divided_again_and_again() {
    let long = "7".repeat(1024 * 1024);
    for rule in [
        json!({"multipleOf": 7}),
        json!({"minimum": 7}),
        json!({"type": ["integer", "string"]}),
    ] {
        check_values(rule.clone(), &[(&long, "ok")]);
        check_values(json!({"allOf": vec![rule; 1_000]}), &[(&long, GAVE_UP)]);
    }
}

#[test]
fn many_errors_are_few_places_and_nothing_of_the_values() {
    let validator = validator(&json!({"items": {"type": "integer"}})).unwrap();
    let reply = format!("[{}\"SECRET\"]", "\"SECRET\",".repeat(100_000));
    let error = validator.parse(&reply).unwrap_err();
    assert_eq!(error.issues.len(), ISSUES_MAX);
    assert!(!format!("{error:?}").contains("SECRET"));
    let broken = validator.parse("[\"SECRET\", SECRET]").unwrap_err();
    assert!(!format!("{broken:?}").contains("SECRET"), "{broken:?}");
}

#[test]
fn long_keys_are_told_in_part() {
    let validator = validator(&json!({"additionalProperties": {"type": "integer"}})).unwrap();
    let error = validator
        .parse(&format!("{{\"{}\": null}}", "ä~".repeat(100_000)))
        .unwrap_err();
    let path = &error.issues[0].path;
    assert!(path.len() < 300 && path.ends_with('…'), "{path}");
    assert!(error.to_failure().to_json().to_string().len() < 1500);
}

#[test]
fn the_deepest_schema_and_the_deepest_reply_are_checked() {
    let deepest = nested(50);
    let value = format!("{}\"x\"{}", "{\"a\":".repeat(50), "}".repeat(50));
    let error = validator(&deepest).unwrap().parse(&value).unwrap_err();
    assert_eq!(error.issues[0].path, "/a".repeat(50));
    let too_deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let any = validator(&json!({})).unwrap();
    assert_eq!(told(any.parse(&too_deep)), "invalid_json");
    assert_eq!(told(any.parse("NaN")), "invalid_json");
    // The key is a word of the model, and in no failure.
    let twice = any.parse(r#"{"secret": 1, "secret": 2}"#).unwrap_err();
    assert_eq!(twice.code.as_str(), "invalid_json");
    assert_eq!(
        twice.to_string(),
        "the reply has a key twice in one object: line 1, column 22"
    );
    assert_eq!(told(any.parse("")), "invalid_json");
    assert_eq!(told(any.parse(" \n{}\t ")), "ok");
}
