//! Turns end to end: real guests, a model that is a guest or a script, real calls.

use std::sync::Arc;

use openprogram_core::Json;
use openprogram_core::llm::{FormatAbility, StopReason};
use openprogram_runtime::testing::{ScriptedProvider, ScriptedReply};
use openprogram_tests::host::{RunningHost, TestHost, named};
use serde_json::json;

/// A host with the turner, whose model is the echo.
async fn turner() -> RunningHost {
    let host = TestHost::new().guest("turner").decider("echo-model");
    host.start().await
}

/// The text of a turn, any other result as JSON, or the name of the failure.
async fn told(host: &RunningHost, function: &str, arguments: Json) -> String {
    match host.call(function, arguments).await {
        Ok(value) => match value.get("text").and_then(Json::as_str) {
            Some(text) => text.to_owned(),
            None => value.to_string(),
        },
        Err(failure) => named(&failure),
    }
}

async fn check(cases: &[(&str, Json, &str)]) {
    let host = turner().await;
    for (function, arguments, expected) in cases {
        let told = told(&host, function, arguments.clone()).await;
        let told = told
            .replace("op-", "\u{0}")
            .split('\u{0}')
            .next()
            .map(str::to_owned);
        assert_eq!(told.as_deref(), Some(*expected), "{function} {arguments}");
    }
}

#[tokio::test]
async fn turner_and_echo_model_work_with_tools() {
    let add = "!call add {\"a\": 1, \"b\": 2}";
    let asked = "{\"system\":null,\"messages\":[\"User: text, text\"],\"tools\":[\"add\",\"stamp\"],\
                 \"tool_choice\":\"Named(\\\"add\\\")\",\"parallel_tool_calls\":false,\
                 \"thinking_level\":\"Off\",\"max_output_tokens\":null,\"session_id\":\"";
    let tools = json!(["add", "stamp"]);
    check(&[
        ("ask", json!({"prompt": "one two"}), "one two"),
        ("ask", json!({"prompt": "!empty"}), ""),
        ("work", json!({"prompt": add, "tools": ["add"]}), "3"),
        (
            "work",
            json!({"prompt": format!("{add}\n{add}"), "tools": ["add"]}),
            "3\n3",
        ),
        (
            "work",
            json!({"prompt": "!prompt", "tools": tools, "choice": "add", "parallel": false}),
            asked,
        ),
        (
            "work",
            json!({"prompt": add, "tools": []}),
            "error: There is no tool `add`.",
        ),
        (
            "own-tools",
            json!({"prompt": "!call fail {\"why\": \"rain\"}"}),
            "error: The call failed (function-failed): `test:turner/guest.fail` failed: rain",
        ),
        (
            "own-tools",
            json!({"prompt": "!call trap {}\n!then went on"}),
            "went on",
        ),
        ("twice", json!({"prompt": "x"}), "[\"x\",\"x\"]"),
        ("with-all", json!({"prompt": "x"}), "[\"x\",\"x\",\"x\"]"),
    ])
    .await;
}

#[tokio::test]
async fn turner_is_told_why_a_reply_ended() {
    let mut ends = Vec::new();
    for stop in [StopReason::End, StopReason::Length, StopReason::Refusal] {
        let reply = ScriptedReply::from("So far.").stopped(stop);
        let model = Arc::new(ScriptedProvider::new(vec![reply]));
        let host = TestHost::new().guest("turner").provider(model);
        let host = host.start().await;
        let told = host.call("ask", json!({"prompt": "x"})).await.unwrap();
        ends.push(told["stop"].clone());
    }
    assert_eq!(ends, [json!(null), json!("Length"), json!("Refusal")]);
}

#[tokio::test]
async fn turner_is_held_to_the_bounds_of_a_turn() {
    const MIB: u32 = 1 << 20;
    let many = |count: u32, bytes: u32| json!({"count": count, "bytes": bytes});
    check(&[
        (
            "look",
            json!({"prompt": "!say seen", "picture": "R0lGODlh"}),
            "seen",
        ),
        (
            "look",
            json!({"prompt": "x", "picture": "AAAA"}),
            "invalid-argument content[1]",
        ),
        ("say-nothing", json!({}), "invalid-argument content"),
        (
            "timed",
            json!({"prompt": "x", "timeout_ms": 0}),
            "invalid-argument timeout_ms",
        ),
        ("many-texts", many(17, 65_536), "limit-reached text_bytes"),
        ("many-texts", many(1_000, 1), "limit-reached turn_parts"),
        ("many-pictures", many(33, MIB), "limit-reached image_bytes"),
        (
            "many-tools",
            json!({"count": 513}),
            "limit-reached turn_tools",
        ),
        ("many-turns", many(65, MIB), "limit-reached turn_bytes"),
        ("turns-in-turn", many(100, MIB), "Done."),
        (
            "work",
            json!({"prompt": "!call add {}", "tools": ["add"], "max_iterations": 1}),
            "limit-reached max_iterations",
        ),
    ])
    .await;
}

#[tokio::test]
async fn turner_closes_with_a_decision() {
    let add =
        "!call add {\"a\": 1, \"b\": 2}\n!then {\"call\": \"add\", \"args\": {\"a\": 3, \"b\": 4}}";
    let close = "!say {\"call\": \"close\"}";
    let strictly = |whose: &str, max_retries: u32| json!({"prompt": close, "whose": whose, "max_retries": max_retries});
    check(&[
        ("close", json!({"prompt": add}), "7"),
        ("close", json!({"prompt": close}), "{\"status\":\"closed\"}"),
        (
            "close",
            json!({"prompt": "!say {\"call\": \"stamp\"}"}),
            "\"from the menu\"",
        ),
        (
            "close",
            json!({"prompt": "!say I will not"}),
            "decision no_action",
        ),
        (
            "close-strictly",
            strictly("same", 1),
            "{\"status\":\"closed\"}",
        ),
        (
            "close-strictly",
            strictly("other", 1),
            "invalid-argument runtime",
        ),
        (
            "close-strictly",
            strictly("same", 0),
            "invalid-argument max_retries",
        ),
        (
            "close-with-nothing",
            json!({"prompt": "x"}),
            "invalid-argument menu",
        ),
    ])
    .await;
}

#[tokio::test]
async fn echo_model_fails_by_name() {
    let auth = "!fail {\"reason\": \"auth\", \"http_status\": 401}";
    check(&[
        ("ask", json!({"prompt": auth}), "llm auth"),
        ("ask", json!({"prompt": "!give-up"}), "llm provider"),
        ("ask", json!({"prompt": "!write 5000000"}), "llm provider"),
        ("ask", json!({"prompt": "!calls 200"}), "llm provider"),
        ("ask", json!({"prompt": "!trap"}), "llm provider"),
        (
            "timed",
            json!({"prompt": "!loop", "timeout_ms": 50}),
            "llm timeout",
        ),
    ])
    .await;
}

#[tokio::test]
async fn tickets_works_with_its_tools_and_closes_with_a_refund() {
    let replies: Vec<ScriptedReply> = vec![
        ScriptedReply::calls(
            "",
            [("c1", "look_up_order", r#"{"order_number": "A-1001"}"#)],
        ),
        ScriptedReply::calls(
            "",
            [("c2", "search_policy", r#"{"query": "damaged item"}"#)],
        ),
        r#"{"call": "refund", "args": {"order_number": "A-1001", "reason": "damaged"}}"#.into(),
    ];
    let model = Arc::new(ScriptedProvider::new(replies));
    let host = TestHost::new().guest("tickets").provider(model.clone());
    let ticket = json!({"ticket": "A-1001 arrived broken"});
    let outcome = host.start().await.call("handle-ticket", ticket).await;
    let refund = json!({
        "status": "issued",
        "order_number": "A-1001",
        "amount": "49.90 USD",
        "because": "Damaged or faulty goods",
    });
    assert_eq!((outcome, model.n_left()), (Ok(refund), 0));
}

/// What `shaped` gives: its value, or the code of the failure with its own code.
async fn shaped(replies: &[&str], arguments: Json) -> String {
    let replies: Vec<ScriptedReply> = replies.iter().map(|reply| (*reply).into()).collect();
    let ability = FormatAbility {
        is_held: true,
        with_tools: false,
        keeps_order: true,
    };
    let model = Arc::new(ScriptedProvider::new(replies).held_to_formats(ability));
    let host = TestHost::new().guest("turner").provider(model.clone());
    let told = match host.start().await.call("shaped", arguments).await {
        Ok(value) => value.to_string(),
        Err(failure) => match failure.details.get("code") {
            Some(code) => format!("{}: {code}", named(&failure)),
            None => named(&failure),
        },
    };
    assert_eq!(model.n_left(), 0);
    told
}

#[tokio::test]
async fn turner_ends_in_a_checked_value_or_in_a_failure_that_says_why() {
    let count = json!({
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
        "additionalProperties": false,
    });
    let once = json!({"type": "json_schema", "schema": count, "max_validation_retries": 0});
    let asked = |format: &Json, more: Json| {
        let mut arguments = json!({"prompt": "Count.", "format": format});
        for (name, value) in more.as_object().unwrap() {
            arguments[name] = value.clone();
        }
        arguments
    };
    let big = "{\"n\": 100000000000000000000}";
    for (replies, arguments, expected) in [
        (vec!["{\"n\": 3}"], asked(&count, json!({})), "{\"n\":3}"),
        (
            vec![big],
            asked(&count, json!({})),
            "{\"n\":100000000000000000000}",
        ),
        (
            vec!["null"],
            asked(&json!({"type": "null"}), json!({})),
            "null",
        ),
        (
            vec!["three", "{\"n\": 3}"],
            asked(&count, json!({})),
            "{\"n\":3}",
        ),
        (
            vec!["{\"n\": \"3\"}"],
            asked(&once, json!({})),
            "structured: \"validation_failed\"",
        ),
        (
            vec![],
            asked(&json!({"type": "objekt"}), json!({})),
            "structured: \"invalid_schema\"",
        ),
        (
            vec![],
            asked(&count, json!({"tools": true})),
            "structured: \"unsupported\"",
        ),
        (
            vec![],
            asked(&count, json!({"closes": true})),
            "invalid-argument response_format",
        ),
    ] {
        assert_eq!(
            shaped(&replies, arguments.clone()).await,
            expected,
            "{arguments}"
        );
    }
}

#[tokio::test]
async fn a_model_that_is_a_component_is_not_asked_for_a_format() {
    let host = turner().await;
    let arguments = json!({"prompt": "!say {}", "format": {"type": "object"}});
    let failure = host.call("shaped", arguments).await.unwrap_err();
    assert_eq!(failure.details["code"], "unsupported");
    assert!(
        failure.message.contains("`component:echo-model`"),
        "{failure}"
    );
}
