//! Decisions beyond asking once: closures of a guest, types as menus, replies of elsewhere, and the
//! sample `next-step`, whose functions are tools and options alike.

use std::sync::Arc;

use openprogram_core::Json;
use openprogram_core::decision::{Menu, MenuOption, Payload};
use openprogram_core::tool::ToolSpec;
use openprogram_runtime::testing::{ScriptedProvider, ScriptedReply, shown_request};
use openprogram_tests::host::{RunningHost, TestHost, named};
use serde_json::json;

async fn host<R: Into<ScriptedReply>>(
    guest: &str,
    replies: impl IntoIterator<Item = R>,
) -> (RunningHost, Arc<ScriptedProvider>) {
    let model = Arc::new(ScriptedProvider::new(replies));
    let host = TestHost::new().guest(guest).provider(model.clone());
    (host.start().await, model)
}

/// The result of a function of the picker, or the name of its failure.
async fn picked(function: &str, arguments: Json, replies: &[&str]) -> Json {
    let (host, model) = host("picker", replies.iter().copied()).await;
    let told = match host.call(function, arguments).await {
        Ok(value) => value,
        Err(failure) => named(&failure).into(),
    };
    assert_eq!(model.n_left(), 0, "{function} {replies:?}");
    told
}

const NOTE: &str =
    r#"{"call": "note", "args": {"steps": [{"action": "go", "effort": 2}], "mood": "calm"}}"#;

#[tokio::test]
async fn picker_resolves_every_form_of_option_and_runs_closures_where_they_are() {
    for (reply, made, log) in [
        (
            r#"{"call": "greet", "args": {"name": "Ada"}}"#,
            json!("hello Ada"),
            json!(["first"]),
        ),
        (
            r#"{"call": "be quiet"}"#,
            json!({"said": ""}),
            json!(["first"]),
        ),
        (
            r#"{"call": "count", "args": {"numbers": [1, 2], "unit": "m"}}"#,
            json!({"decision": "count", "numbers": [1, 2], "unit": "m"}),
            json!(["first"]),
        ),
        (
            r#"{"call": "plan", "args": {"steps": []}}"#,
            json!({"decision": "plan", "steps": []}),
            json!(["first"]),
        ),
        (NOTE, json!(2), json!(["first", "go"])),
    ] {
        let told = picked("choose", json!({"prompt": "Pick."}), &[reply]).await;
        assert_eq!(told, json!({"made": made, "log": log}), "{reply}");
    }
    let failed = picked(
        "choose",
        json!({"prompt": "Pick."}),
        &[r#"{"call": "fail"}"#],
    )
    .await;
    assert_eq!(failed, json!("trapped"));
    let told = picked("close", json!({"prompt": "Work."}), &["Hm.", NOTE]).await;
    assert_eq!(told, json!({"made": 1, "log": ["go"]}));
}

#[tokio::test]
async fn picker_shows_the_model_what_a_menu_of_every_form_says() {
    let (host, model) = host("picker", [NOTE]).await;
    let outcome = host.run("choose", json!({"prompt": "Pick."})).await;
    insta::assert_snapshot!("picker_menu", shown_request(&model.requests()[0]));
    insta::assert_snapshot!("picker_graph", host.graph(&outcome).await);
}

#[tokio::test]
async fn picker_reads_a_pick_back_as_a_case_of_its_type() {
    let plan = r#"{"call": "plan", "args": {"steps": [{"action": "go", "effort": 3}]}}"#;
    for (reply, expected) in [
        (
            r#"{"call": "draw", "args": {"width": 3, "note": "thin"}}"#,
            r#"draw 3 Some("thin")"#,
        ),
        (r#"{"call": "draw", "args": {"width": 3}}"#, "draw 3 None"),
        (plan, r#"plan ["go 3"] None"#),
        (r#"{"call": "stop"}"#, "stop"),
    ] {
        for function in ["choose-case", "close-case"] {
            let told = picked(function, json!({"prompt": "Pick."}), &[reply]).await;
            assert_eq!(told, json!(expected), "{function} {reply}");
        }
    }
    let too_much = plan.replace('3', "4");
    let told = picked("choose-case", json!({"prompt": "Pick."}), &["", &too_much]).await;
    assert_eq!(told, json!("decision enum_violation"));
}

#[tokio::test]
async fn picker_renders_and_reads_without_a_runtime() {
    let menu = picked("read-menu", json!({}), &[]).await;
    insta::assert_snapshot!("picker_fixed_menu", menu.as_str().unwrap());
    for (reply, expected) in [
        (r#"So: {"call": "stop"}"#, json!("STOPPED")),
        (r#"{"call": "greet", "name": "Bo"}"#, json!("hello Bo")),
        (r#"{"call": "later"}"#, json!("later")),
        (r#"{"call": "none_of_these"}"#, json!(null)),
        ("I would stop.", json!("decision no_action")),
        (r#"{"call": "greet"}"#, json!("decision missing_required")),
    ] {
        let told = picked("read-reply", json!({ "reply": reply }), &[]).await;
        assert_eq!(told, expected, "{reply}");
    }
}

#[tokio::test]
async fn picker_asks_about_a_reply_of_elsewhere_as_often_as_it_may() {
    let stop = r#"{"call": "stop"}"#;
    let greet = r#"{"call": "greet", "args": {"name": "Ada"}}"#;
    for (reply, retries, replies, expected) in [
        (stop, 1, vec![], json!([["stop", "text", null], "STOPPED"])),
        (
            "hm",
            1,
            vec![greet],
            json!([["greet", "text", null], "hello Ada"]),
        ),
        (
            "hm",
            2,
            vec!["hm", stop],
            json!([["stop", "text", null], "STOPPED"]),
        ),
        ("hm", 1, vec!["hm"], json!("decision no_action")),
        ("hm", 0, vec![], json!("decision no_action")),
    ] {
        let arguments = json!({"reply": reply, "retries": retries});
        let told = picked("read-or-ask", arguments, &replies).await;
        assert_eq!(told, expected, "{reply} {retries}");
    }
    let (host, model) = host("picker", [stop]).await;
    let outcome = host
        .run(
            "read-or-ask",
            json!({"reply": "I would stop.", "retries": 1}),
        )
        .await;
    insta::assert_snapshot!("picker_asked_about", shown_request(&model.requests()[0]));
    insta::assert_snapshot!("picker_asked_about_graph", host.graph(&outcome).await);
}

#[tokio::test]
async fn picker_with_settings_that_cannot_hold_is_refused_before_a_model_is_asked() {
    for (what, path) in [
        ("level", "min_confidence"),
        ("hand-off", "min_confidence"),
        ("votes", "votes"),
        ("group", "groups"),
        ("exit", "options[3]"),
        ("twice", "options[3]"),
        ("no options", "menu"),
    ] {
        let (host, model) = host("picker", [""; 0]).await;
        let failure = host
            .failure("choose-wrongly", json!({ "what": what }))
            .await;
        let told = (failure.code.as_str(), failure.details["path"].clone());
        assert_eq!(told, ("invalid-argument", json!(path)), "{what}: {failure}");
        assert_eq!(model.requests().len(), 0);
    }
}

#[tokio::test]
async fn picker_closes_a_turn_with_one_pick_and_no_vote() {
    let (host, model) = host("picker", [""; 0]).await;
    let failure = host.failure("close-by-votes", json!({})).await;
    assert_eq!(named(&failure), "invalid-argument settings");
    assert_eq!(model.requests().len(), 0);
}

#[tokio::test]
async fn picker_holds_so_much_in_all_its_menus_together() {
    let keep = |count: u32| json!({"count": count, "bytes": 1_000_000});
    let kept = picked("keep-menus", keep(8), &[]).await;
    assert_eq!(kept, json!("kept()\n    Call: {\"call\": \"kept\"}\n"));
    let flood = picked("keep-menus", keep(9), &[]).await;
    assert_eq!(flood, json!("limit-reached menus_bytes"));
}

#[tokio::test]
async fn next_step_decides_in_every_form() {
    for (function, arguments, reply, expected) in [
        (
            "route",
            json!({"message": "hi"}),
            r#"{"call": "analyze", "args": {"text": "thanks"}}"#,
            json!("glad"),
        ),
        (
            "route",
            json!({"message": "hi"}),
            r#"{"call": "done"}"#,
            json!("CONVERSATION_OVER"),
        ),
        (
            "go-on",
            json!({"problem": "x"}),
            r#"{"call": "emit_plan", "args": {"steps": [{"action": "a", "target": "b"}], "rationale": "c"}}"#,
            json!({
                "decision": "emit_plan",
                "steps": [{"action": "a", "target": "b"}],
                "rationale": "c"
            }),
        ),
        (
            "review-release",
            json!({"notes": "x"}),
            r#"{"call": "change", "args": {"findings": [{"severity": "high", "line": 3, "problem": "p"}]}}"#,
            json!("High, line 3: p (no repair known)"),
        ),
    ] {
        let (host, model) = host("next-step", [reply]).await;
        assert_eq!(
            host.call(function, arguments).await,
            Ok(expected),
            "{reply}"
        );
        assert_eq!(model.n_left(), 0);
    }
}

#[tokio::test]
async fn next_step_offers_one_function_as_a_tool_and_as_an_option_of_one_catalog_entry() {
    let replies: Vec<ScriptedReply> = vec![
        ScriptedReply::calls("", [("c1", "refund_order", r#"{"order": "A-1"}"#)]),
        r#"{"call": "refund", "args": {"order": "A-2"}}"#.into(),
    ];
    let (host, model) = host("next-step", replies).await;
    let entry = host
        .runtime
        .catalog()
        .resolve("refund-order", None)
        .unwrap();
    let outcome = host
        .run("work-and-close", json!({"ticket": "broken"}))
        .await;
    assert_eq!(outcome.result, Ok(json!("refunded A-2")));

    // The tool and the option say what the one entry says.
    let request = &model.requests()[0];
    let tool = request
        .tools
        .iter()
        .find(|tool| tool.name == "refund_order")
        .unwrap();
    assert_eq!(*tool, ToolSpec::of(&entry, "refund_order"));
    let option = MenuOption::new("refund".to_owned(), None, Payload::Function(entry.clone()));
    let option = Menu::new(vec![option]).unwrap();
    let shown = request.messages.iter().flat_map(|message| &message.content);
    let shown: Vec<_> = shown.filter_map(|block| block.as_text()).collect();
    assert!(
        shown.iter().any(|text| text.contains(option.text())),
        "{shown:?}"
    );

    // Both paths ran the same function.
    let nodes = host.nodes(outcome.session.as_ref().unwrap()).await;
    let calls = nodes
        .iter()
        .filter(|node| node.opened.name == entry.name.to_string());
    let orders: Vec<_> = calls
        .map(|node| node.opened.input["order"].clone())
        .collect();
    assert_eq!(orders, [json!("A-1"), json!("A-2")]);
}

#[tokio::test]
async fn picker_puts_a_decision_to_the_vote_and_hands_unsure_picks_over() {
    let red = r#"{"call": "red"}"#;
    let blue = r#"{"call": "blue"}"#;
    let two_thirds = 2.0 / 3.0;
    for (votes, level, hand_off, replies, expected) in [
        (
            3,
            0.0,
            None,
            vec![red, blue, red],
            json!(["red", [two_thirds, "votes"], null]),
        ),
        (
            3,
            0.6,
            None,
            vec![red, blue, red],
            json!(["red", [two_thirds, "votes"], null]),
        ),
        (
            3,
            0.7,
            None,
            vec![red, blue, red],
            json!("decision low_confidence"),
        ),
        (
            3,
            0.7,
            Some("ask"),
            vec![red, blue, red],
            json!(["ask", [two_thirds, "votes"], "red"]),
        ),
        (2, 0.0, None, vec![red, blue], json!("decision tie")),
        (1, 0.5, None, vec![red], json!("decision low_confidence")),
    ] {
        let arguments = json!({"votes": votes, "level": level, "hand_off": hand_off});
        let told = picked("choose-by-votes", arguments.clone(), &replies).await;
        assert_eq!(told, expected, "{arguments} {replies:?}");
    }
}

#[tokio::test]
async fn picker_picks_a_group_and_then_one_of_its_options() {
    for (replies, expected) in [
        (vec![r#"{"call": "colour"}"#, r#"{"call": "blue"}"#], 2),
        // A group of one option needs no second question.
        (vec![r#"{"call": "form"}"#], 3),
        (vec![r#"{"call": "stop"}"#], 0),
    ] {
        let told = picked("choose-grouped", json!({"prompt": "Pick."}), &replies).await;
        assert_eq!(told, json!(expected), "{replies:?}");
    }
}
