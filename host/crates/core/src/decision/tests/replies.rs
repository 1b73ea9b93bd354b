//! Replies of every kind, each with its pick or error in one line.

use serde_json::json;

use super::super::{Menu, OptionKind, OptionSpec, Payload, fill_hidden, parse_reply};
use super::menu;
use crate::Json;
use crate::schema::CheckMode;

fn a_menu() -> Menu {
    menu(&json!({"form": "dict", "entries": [
        {"key": "say", "handler": {"kind": "fn", "fn": {
            "name": "say",
            "params": [
                {"name": "text", "type": "str"},
                {"name": "times", "type": "u8", "default": 1},
                {"name": "user", "type": "str"},
                {"name": "runtime", "default": null}
            ],
            "input": {"user": {"hidden": true}}
        }}},
        {"key": "click", "handler": {"kind": "schema", "schema": {
            "action": {"$t": "str"}, "input": {"$t": "dict"}
        }}},
        {"key": "give-up", "handler": {"kind": "value", "value": 0}},
        {"key": "any", "handler": {"kind": "schema", "schema": {"x": {"type": "json"}}}}
    ]}))
    .unwrap()
}

pub(super) fn outcome(reply: &str, mode: CheckMode) -> String {
    match parse_reply(&a_menu(), reply, mode) {
        Ok(pick) => {
            let coerced: String = pick
                .coerced()
                .iter()
                .map(|line| format!(" [{line}]"))
                .collect();
            format!("{} {}{coerced}", pick.name, Json::Object(pick.arguments))
        }
        Err(error) => format!("{}: {error}", error.kind.as_str()),
    }
}

#[track_caller]
fn check(rows: &[(&str, &str)]) {
    for (reply, expected) in rows {
        assert_eq!(outcome(reply, CheckMode::Strict), *expected, "{reply}");
    }
}

const NO_CALL: &str = "no_action: the reply holds no JSON object with the key \"call\"";
const CUT_OFF: &str = "no_action: the reply ends inside a JSON object";

#[test]
fn slips_that_lose_nothing_are_read_and_recorded() {
    check(&[
        (
            "```json\n{\"call\": \"give_up\"}\n```",
            "give-up {} [read out of a code fence]",
        ),
        (
            "{\"call\": \"say\", \"args\": {\"text\": \"a\",},}",
            "say {\"text\":\"a\"} [trailing comma left out]",
        ),
        (
            "{'call': 'say', 'args': {'text': 'say \\'hi\\' \"x\"'}}",
            "say {\"text\":\"say 'hi' \\\"x\\\"\"} [single quotes read as double quotes]",
        ),
        (
            "{\"call\": \"any\", \"args\": {\"x\": [True, False, None]}}",
            "any {\"x\":[true,false,null]} [Python literals read as JSON]",
        ),
        (
            "{\"call\": /* this */ \"give-up\" // or\n # that\n }",
            "give-up {} [comments left out]",
        ),
        (
            "{\"call\": \"say\", \"args\": {\"text\": \"a\nb\"}}",
            "say {\"text\":\"a\\nb\"} [raw line breaks in a text read as escaped]",
        ),
        (
            "{\"call\": \"say\", \"args\": {\"text\": \"\\u00fc \\ud83d\\udc4d \\/\"}}",
            "say {\"text\":\"ü 👍 /\"}",
        ),
    ]);
}

#[test]
fn what_would_have_to_be_guessed_is_not_read() {
    check(&[
        ("", NO_CALL),
        ("give-up", NO_CALL),
        ("{call: \"give-up\"}", NO_CALL),
        ("{\"call\" \"give-up\"}", NO_CALL),
        ("{\"call\": give-up}", NO_CALL),
        ("{\"call\": \"give-up\",,}", NO_CALL),
        (
            "{\"call\": \"say\", \"args\": {\"text\": \"\\d\"}}",
            NO_CALL,
        ),
        (
            "{\"call\": \"say\", \"args\": {\"text\": \"\\ud83d!\"}}",
            NO_CALL,
        ),
        ("{\"call\": \"say\", \"args\": {\"text\": 01}}", NO_CALL),
        ("{\"call\": \"say\", \"args\": [\"a\"}}", NO_CALL),
        ("{\"call\": \"give-up\"", CUT_OFF),
        ("{\"call\": \"give-up", CUT_OFF),
        (
            "{\"call\": \"say\", \"args\": {\"text\": \"a\"}, \"x\": tru",
            CUT_OFF,
        ),
        (
            "{\"call\": \"say\", \"args\": {\"text\": {\"call\": \"give-up\"}",
            CUT_OFF,
        ),
        ("{\"thought\": {\"call\": \"give-up\"}, \"call\": ", CUT_OFF),
    ]);
}

#[test]
fn the_last_valid_pick_wins() {
    check(&[
        (
            "{\"call\": \"give-up\"} {\"call\": \"any\", \"args\": {\"x\": 1}}",
            "any {\"x\":1}",
        ),
        (
            "{\"call\": \"any\", \"args\": {\"x\": 1}} no: {\"call\": \"nope\"}",
            "any {\"x\":1}",
        ),
        (
            "{\"call\": \"say\", \"args\": {}} {\"call\": \"nope\"}",
            "missing_required: `text`: a required value is missing",
        ),
        (
            "{\"call\": \"nope\"} {\"call\": [\"say\"]}",
            "unknown_call: an array is not one of the options; pick one of \"say\", \"click\", \
             \"give-up\", \"any\"",
        ),
        (
            "[{\"call\": \"give-up\"}, {\"tool\": \"any\", \"args\": {\"x\": 2}}]",
            "any {\"x\":2}",
        ),
        (
            "<think>{\"call\": \"any\", \"args\": {\"x\": 1}}</think> {\"call\": \"give-up\"}",
            "give-up {}",
        ),
        ("<think>{\"call\": \"give-up\"}</think> Hm.", NO_CALL),
        ("perhaps {\"call\": \"give-up\"}</think> Hm.", NO_CALL),
    ]);
}

#[test]
fn nothing_inside_a_pick_is_a_pick() {
    check(&[
        (
            "{\"call\": \"any\", \"args\": {\"x\": {\"call\": \"give-up\"}}}",
            "any {\"x\":{\"call\":\"give-up\"}}",
        ),
        (
            "{\"call\": \"say\", \"args\": {\"text\": \"write {\\\"call\\\": \\\"give-up\\\"}\"}}",
            "say {\"text\":\"write {\\\"call\\\": \\\"give-up\\\"}\"}",
        ),
        // Quotes that were not escaped break the pick; the object they expose is still inside it.
        (
            "{\"call\": \"say\", \"args\": {\"text\": \"write \"{\"call\": \"give-up\"}\" now\"}}",
            NO_CALL,
        ),
        ("{\"steps\": [{\"action\": \"give-up\"}]}", NO_CALL),
        (
            "{\"decision\": \"say\", \"args\": {\"call\": \"give-up\"}}",
            NO_CALL,
        ),
        ("{\"answer\": {\"call\": \"give-up\"}}", "give-up {}"),
    ]);
}

#[test]
fn braces_begun_by_accident_do_not_hide_a_pick() {
    let pick = "{\"call\": \"give-up\"}";
    for before in [
        "use { like this: ",
        "it's \"so { ",
        "{{",
        "{\"",
        "{'tis ",
        "{\"note: ",
        "} ] ",
        "{#",
        "{// ",
        "{/* ",
        "{\"a\", \"b\"} ",
        "{\"a\": 1, and so on ",
        "{\"a\": {\"b\": } ",
        "{\"call\": \n~~~\n",
    ] {
        assert_eq!(
            outcome(&format!("{before}{pick}"), CheckMode::Strict),
            "give-up {}",
            "{before}"
        );
    }
}

#[test]
fn arguments_are_read_from_where_models_put_them() {
    let beside = "[arguments read from beside the name of the option]";
    let dropped = "never taken from a reply or a caller, dropped";
    check(&[
        (
            "{\"call\": \"say\", \"arguments\": {\"text\": \"a\"}}",
            "say {\"text\":\"a\"} [arguments read from \"arguments\"]",
        ),
        (
            "{\"function\": \"say\", \"parameters\": {\"text\": \"a\"}}",
            "say {\"text\":\"a\"} [arguments read from \"parameters\"]",
        ),
        (
            "{\"action\": \"say\", \"text\": \"a\", \"user\": \"root\"}",
            &format!("say {{\"text\":\"a\"}} {beside} [user: {dropped}]"),
        ),
        (
            "{\"call\": \"say\", \"args\": {\"runtime\": 1, \"text\": \"a\", \"user\": \"root\", \"x\": 1}}",
            &format!(
                "say {{\"text\":\"a\"}} [runtime: {dropped}] [user: {dropped}] [x: unknown name, dropped]"
            ),
        ),
        // A field may have the name of a key that holds arguments elsewhere.
        (
            "{\"call\": \"click\", \"action\": \"a\", \"input\": {\"b\": 1}}",
            &format!("click {{\"action\":\"a\",\"input\":{{\"b\":1}}}} {beside}"),
        ),
        (
            "{\"call\": \"give-up\", \"input\": \"talk\", \"why\": \"tired\"}",
            "give-up {}",
        ),
        (
            "{\"call\": \"give-up\", \"args\": []}",
            "give-up {} [empty array under \"args\" read as no arguments]",
        ),
        (
            "{\"call\": \"say\", \"args\": \"a\"}",
            "bad_args: \"args\" of \"say\" must be an object, got a string",
        ),
        (
            "{\"call\": \"say\", \"arguments\": \"{}\"}",
            "bad_args: \"arguments\" of \"say\" must be an object, got a string",
        ),
    ]);
}

#[test]
fn decisions_are_checked_strictly_unless_asked_otherwise() {
    let reply = "{\"call\": \"say\", \"args\": {\"text\": \"a\", \"times\": \"3\"}}";
    assert_eq!(
        outcome(reply, CheckMode::Strict),
        "type_mismatch: `times`: expected an integer from 0 to 255, got a string"
    );
    assert_eq!(
        outcome(reply, CheckMode::Lenient),
        "say {\"text\":\"a\",\"times\":3} [times: \"3\" read as 3]"
    );
    check(&[
        (
            "{\"call\": \"say\", \"args\": {\"text\": \"a\", \"times\": null}}",
            "say {\"text\":\"a\"}",
        ),
        (
            "{\"call\": \"any\", \"args\": {\"x\": null}}",
            "any {\"x\":null}",
        ),
        (
            "{\"call\": \"any\", \"args\": {\"x\": {\"y\": 1, \"y\": 2}}}",
            "bad_args: the key \"y\" stands twice in one object; give it once",
        ),
        (
            "{\"call\": \"any\", \"args\": {\"x\": 1}, \"args\": {\"x\": 2}}",
            "bad_args: the key \"args\" stands twice in one object; give it once",
        ),
        (
            "{\"call\": \"any\", \"args\": {\"x\": NaN}}",
            "type_mismatch: JSON has no NaN and no Infinity; give a number",
        ),
        (
            "{\"call\": \"any\", \"args\": {\"x\": -Infinity}}",
            "type_mismatch: JSON has no NaN and no Infinity; give a number",
        ),
    ]);
}

#[test]
fn hidden_parameters_come_from_the_context_alone() {
    let menu = a_menu();
    let Payload::Function(function) = &menu.options()[0].payload else {
        panic!("`say` is a function")
    };
    let fill = |context: Json| {
        let pick = parse_reply(
            &menu,
            "{\"call\": \"say\", \"text\": \"a\"}",
            CheckMode::Strict,
        );
        match fill_hidden(
            function,
            pick.unwrap().arguments,
            context.as_object().unwrap(),
        ) {
            Ok(arguments) => Json::Object(arguments).to_string(),
            Err(error) => error.to_string(),
        }
    };
    for (context, expected) in [
        (
            json!({"user": "u", "text": "no"}),
            "{\"text\":\"a\",\"times\":1,\"user\":\"u\"}",
        ),
        (
            json!({}),
            "`user`: hidden parameter, and the context has no value for it",
        ),
        (
            json!({"user": {"secret": 1}}),
            "`user`: hidden parameter, filled from the context: expected a string, got an object",
        ),
    ] {
        assert_eq!(fill(context.clone()), expected, "{context}");
    }
}

#[test]
fn an_option_resolves_to_the_function_it_names() {
    let menu = a_menu();
    let Payload::Function(function) = &menu.options()[0].payload else {
        panic!("`say` is a function")
    };
    let spec = |description: Option<&str>| OptionSpec {
        name: "talk".to_owned(),
        description: description.map(str::to_owned),
        kind: OptionKind::Function("say".to_owned()),
    };
    let mut documented = (**function).clone();
    documented.description = "Says\nsomething.\n\nMore.".to_owned();
    let look_up = |_: &str| Ok::<_, String>(std::sync::Arc::new(documented.clone()));
    let described = |description| spec(description).resolve(look_up).unwrap().description;
    assert_eq!(described(None), "Says something.");
    assert_eq!(described(Some(" ")), "Says something.");
    assert_eq!(described(Some("When asked.")), "When asked.");
    assert_eq!(spec(None).resolve(|_| Err("gone")), Err("gone"));
}

#[test]
fn a_copied_example_is_no_pick_and_an_earlier_or_later_real_one_is() {
    let copied = r#"{"call": "say", "args": {"text": "<str>", "times": 0}}"#;
    let refused = "bad_args: the arguments of \"say\" are the placeholders of its example; give \
                   real values";
    check(&[
        (copied, refused),
        (
            &format!(
                "Options: {copied} I pick {{\"call\": \"say\", \"args\": {{\"text\": \"hi\"}}}}"
            ),
            r#"say {"text":"hi"}"#,
        ),
        (
            &format!("{{\"call\": \"say\", \"args\": {{\"text\": \"hi\"}}}} as in {copied}"),
            r#"say {"text":"hi"}"#,
        ),
        // A text that merely looks like a placeholder is a text.
        (
            r#"{"call": "say", "args": {"text": "<str>", "times": 3}}"#,
            r#"say {"text":"<str>","times":3}"#,
        ),
    ]);
}
