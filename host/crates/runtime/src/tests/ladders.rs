//! The rungs of a decision: which way is taken, what is recorded, and that no rung falls silently.

use std::sync::Arc;

use expect_test::expect;
use openprogram_core::Json;
use openprogram_core::decision::{DecisionSettings, MinConfidence, OptionKind};
use openprogram_core::guest::{Closing, DecisionRequest};
use openprogram_core::llm::{
    DecisionLimits, DecisionReply, FormatAbility, LlmError, LlmFailure, LlmReason, Provider, Weight,
};
use openprogram_core::session::Usage;
use serde_json::json;

use super::desk::{model, plan_type, route, routing};
use super::shop::{closing, run_work, turn};
use super::{decision, graph, option, runs, told, value, without_menus};
use crate::Providers;
use crate::testing::{ScriptedDecider, ScriptedProvider, shown_request};

const ENDPOINT: DecisionLimits = DecisionLimits {
    options_min: 2,
    options_max: 255,
    is_endpoint: true,
};

fn weights<const N: usize>(weights: [(&str, f64); N]) -> DecisionReply {
    let weight = |(option, probability): (&str, f64)| Weight {
        option: option.to_owned(),
        probability,
    };
    DecisionReply::of(weights.into_iter().map(weight).collect())
}

/// An endpoint with these answers, beside a model with these replies.
fn endpoint(answers: Vec<DecisionReply>, replies: &[&str]) -> Arc<ScriptedDecider> {
    let writer = ScriptedProvider::new(replies.iter().copied());
    let answers = answers.into_iter().map(Ok).collect();
    let decider = ScriptedDecider::answering(answers).limited(ENDPOINT);
    Arc::new(decider.writing(writer))
}

async fn shown(request: DecisionRequest, model: Arc<dyn Provider>) -> (Json, String) {
    let (runtime, outcome) = route(request, model).await;
    let shown = without_menus(&graph(&runtime, &outcome).await);
    (told(&outcome), shown)
}

#[tokio::test]
async fn the_choice_of_an_endpoint_decides_between_equal_weights_and_no_others() {
    for (of_later, choice, expected) in [
        (0.5, None, json!({})),
        (0.5, Some("done"), json!("CONVERSATION_OVER")),
        (0.500_000_4, Some("done"), json!("CONVERSATION_OVER")),
        (0.5, Some("later"), json!({})),
        (0.5, Some("plan"), json!({})),
        (0.5, Some("no option"), json!({})),
        (0.6, Some("done"), json!({})),
    ] {
        let reply = DecisionReply {
            choice: choice.map(str::to_owned),
            ..weights([("later", of_later), ("done", 1.0 - of_later)])
        };
        let (told, _) = shown(routing(), endpoint(vec![reply], &[])).await;
        assert_eq!(told, json!({ "ok": expected }), "{of_later} {choice:?}");
    }
}

#[tokio::test]
async fn one_option_without_arguments_is_picked_without_a_model() {
    let request = decision("Go on?", vec![runs("later", "wait")]);
    let nobody = model::<&str>([]);
    let (told, graph) = shown(request, nobody.clone()).await;
    assert_eq!((told, nobody.requests().len()), (json!({"ok": {}}), 0));
    expect![[r#"
        1 code test:desk/api.route
          in   {}
          out  {}
        2 code decision caller=1
          in   {"options":["later"]}
          fact method="single"
          fact pick="later"
          fact arguments={}
          fact confidence=1.0
          fact confidence_source="only_option"
          fact prompt="Go on?"
          out  {"call":"later"}
        3 code test:desk/api.wait caller=1
          in   {}
          fact picked_by=node 2
          out  {}
    "#]]
    .assert_eq(&graph);
}

#[tokio::test]
async fn one_option_needs_no_model_at_all_and_two_do() {
    let one = decision("Go on?", vec![value("done", json!(1))]);
    let runtime = super::runtime(super::desk::desk(one), Providers::default());
    let outcome = super::run(&runtime, "route", json!({})).await;
    assert_eq!(told(&outcome), json!({"ok": 1}));
    let two = vec![value("done", json!(1)), value("later", json!(2))];
    let runtime = super::runtime(
        super::desk::desk(decision("Go on?", two)),
        Providers::default(),
    );
    let outcome = super::run(&runtime, "route", json!({})).await;
    assert_eq!(told(&outcome)["code"], "no-provider");
}

#[tokio::test]
async fn one_option_with_fields_is_written_even_where_options_are_weighed() {
    let options = vec![option("plan", OptionKind::Schema(plan_type()))];
    let endpoint = endpoint(
        Vec::new(),
        &[r#"{"call": "plan", "args": {"steps": ["a"], "sure": true}}"#],
    );
    let (told, _) = shown(decision("Plan it.", options), endpoint.clone()).await;
    let expected = json!({"decision": "plan", "steps": ["a"], "sure": true});
    assert_eq!(told, json!({"ok": expected}));
    assert_eq!((endpoint.states().len(), endpoint.requests().len()), (0, 1));
}

#[tokio::test]
async fn an_endpoint_reads_what_the_function_reads_and_all_it_says_is_recorded() {
    let mut reply = weights([("later", 0.75), ("done", 0.25)]);
    reply.own_confidence = Some(0.5);
    reply.texts_left_out = 2;
    reply.usage = Some(Usage {
        input_tokens: 300,
        ..Usage::default()
    });
    let endpoint = endpoint(vec![reply], &[]);
    let (told, graph) = shown(routing(), endpoint.clone()).await;
    assert_eq!(told, json!({"ok": {}}));
    let state = endpoint.states().remove(0);
    assert_eq!(state.prompt, "Pick one way to handle this message.");
    let texts: Vec<_> = state.messages.iter().flat_map(|m| &m.content).collect();
    let texts: Vec<_> = texts.iter().filter_map(|block| block.as_text()).collect();
    expect![[r#"
        [
            "This turn is part of the function `route`.\nWhat the function is for: Routes a message.\nCall path: route",
        ]
    "#]]
    .assert_debug_eq(&texts);
    expect![[r#"
        1 code test:desk/api.route
          in   {}
          out  {}
        2 llm scripted:decider caller=1
          in   "Pick one way to handle this message."…
          fact runtime="runtime"
          fact method="endpoint"
          fact pick="later"
          fact arguments={}
          fact confidence=0.75
          fact confidence_source="endpoint"
          fact weights=[["later",0.75],["done",0.25]]
          fact provider_confidence=0.5
          fact context_left_out=2
          out  "{\"call\":\"later\"}"
        3 code test:desk/api.wait caller=1
          in   {}
          fact picked_by=node 2
          out  {}
    "#]]
    .assert_eq(&graph);
}

#[tokio::test]
async fn an_endpoint_picks_and_the_model_beside_it_gives_the_arguments() {
    let endpoint = endpoint(
        vec![weights([("refund", 0.9), ("done", 0.1)])],
        &["no idea", r#"{"call": "refund", "args": {"order": "A-1"}}"#],
    );
    let (told, graph) = shown(routing(), endpoint.clone()).await;
    let result = json!({"order": "A-1", "message": "MY-SECRET-MESSAGE"});
    assert_eq!(told, json!({"ok": result}));
    expect![[r#"
        1 code test:desk/api.route
          in   {}
          out  {"order":"A-1","message":"MY-SECRET-MESSAGE"}
        2 llm scripted:decider caller=1
          in   "Pick one way to handle this message."…
          fact runtime="runtime"
          fact method="endpoint"
          fact pick="refund"
          fact arguments={}
          fact confidence=0.9
          fact confidence_source="endpoint"
          fact weights=[["refund",0.9],["done",0.1]]
          out  "{\"call\":\"refund\"}"
        3 llm scripted:decider caller=1 reads=2
          in   "Pick one way to handle this message.\n\nrefu…
          fact arguments_of=node 2
          fact runtime="runtime"
          fact method="text"
          fact no_pick={"kind":"no_action","message":"the reply holds no JSON object with the key \"call\""}
          out  "no idea"
        4 llm scripted:decider caller=1 reads=2,3
          in   "Pick one way to handle this message.\n\nYour…
          fact retry_of=node 3
          fact runtime="runtime"
          fact method="text"
          fact pick="refund"
          fact arguments={"order":"A-1"}
          out  "{\"call\": \"refund\", \"args\": {\"order\": \"A-1\"}}"
        5 code test:desk/api.refund caller=1
          in   {"order":"A-1","message":"MY-SECRET-MESSAGE"}
          fact hidden_arguments=["message"]
          fact picked_by=node 4
          out  {"order":"A-1","message":"MY-SECRET-MESSAGE"}
    "#]].assert_eq(&graph);
    // The pick stands: only the option that was picked is offered.
    expect![[r#"
        [user]
        (What follows was written earlier in this work.)
        [assistant]
        {"call":"refund"}
        [user]
        This turn is part of the function `route`.
        What the function is for: Routes a message.
        Call path: route
        [user]
        Pick one way to handle this message.

        refund(order: str)
            Pays back.
            order (str)
            Call: {"call": "refund", "args": {"order": "<str>"}}
    "#]]
    .assert_eq(&shown_request(&endpoint.requests()[0]));
}

#[tokio::test]
async fn arguments_that_never_come_end_the_decision_and_another_pick_does_not_help() {
    let other = r#"{"call": "done"}"#;
    let endpoint = endpoint(
        vec![weights([("refund", 0.9), ("done", 0.1)])],
        &[other, other],
    );
    let (told, _) = shown(routing(), endpoint).await;
    assert_eq!(told["details"]["kind"], "unknown_call", "{told}");
    assert_eq!(told["details"]["attempts"], 2);
}

#[tokio::test]
async fn a_menu_that_an_endpoint_does_not_take_is_written_and_says_why() {
    let options = || {
        (0..300)
            .map(|n| value(&format!("o{n}"), json!(n)))
            .collect()
    };
    let endpoint = endpoint(Vec::new(), &[r#"{"call": "o299"}"#]);
    let (runtime, outcome) = route(decision("Pick.", options()), endpoint.clone()).await;
    assert_eq!(told(&outcome), json!({"ok": 299}));
    let nodes = super::nodes(&runtime, &outcome).await;
    let facts = &nodes[1].opened.facts;
    let why = json!({"endpoint": "it weighs 2 to 255 options, and the menu has 300"});
    assert_eq!(facts["passed_over"], why);

    let alone = Arc::new(ScriptedDecider::answering(Vec::new()).limited(ENDPOINT));
    let (_, outcome) = route(decision("Pick.", options()), alone).await;
    let expected = json!({
        "code": "no-provider",
        "message": "`scripted:decider` cannot make this decision: it weighs 2 to 255 options, and \
                    the menu has 300; group the options, or name a model that writes",
        "details": {"model": "scripted:decider"},
    });
    assert_eq!(told(&outcome), expected);
}

#[tokio::test]
async fn an_endpoint_that_fails_is_an_error_and_the_model_beside_it_is_not_asked() {
    let failure = LlmFailure::new(LlmReason::Policy, false, "the question is declined");
    let failing = LlmError::Failed(failure);
    let wrong = weights([("later", 0.5), ("done", 0.25)]);
    for (answer, message) in [
        (
            Err(failing),
            "the decision failed permanently:\nAttempt 1: PolicyError: the question is declined",
        ),
        (
            Ok(wrong),
            "`scripted:decider` gave no distribution: the weights sum to 0.75, not to 1",
        ),
    ] {
        let writer = ScriptedProvider::new([r#"{"call": "done"}"#]);
        let decider = ScriptedDecider::answering(vec![answer]).limited(ENDPOINT);
        let decider = Arc::new(decider.writing(writer));
        let (told, _) = shown(routing(), decider.clone()).await;
        assert_eq!(
            (&told["code"], &told["message"]),
            (&json!("llm"), &json!(message))
        );
        assert_eq!(decider.requests().len(), 0);
    }
}

fn at_least(level: f64, hand_off: Option<&str>) -> DecisionRequest {
    let hand_off = hand_off.map(str::to_owned);
    DecisionRequest {
        settings: DecisionSettings {
            min_confidence: Some(MinConfidence { level, hand_off }),
            ..DecisionSettings::default()
        },
        ..routing()
    }
}

#[tokio::test]
async fn an_unsure_pick_is_handed_to_the_option_that_takes_over_or_is_a_failure() {
    let answer = || vec![weights([("refund", 0.6), ("later", 0.4)])];
    let unsure = endpoint(answer(), &[]);
    let (told, graph) = shown(at_least(0.7, Some("done")), unsure.clone()).await;
    assert_eq!(told, json!({"ok": "CONVERSATION_OVER"}));
    assert_eq!(unsure.requests().len(), 0, "nobody asks for arguments");
    expect![[r#"
        1 code test:desk/api.route
          in   {}
          out  "CONVERSATION_OVER"
        2 llm scripted:decider caller=1
          in   "Pick one way to handle this message."…
          fact runtime="runtime"
          fact method="endpoint"
          fact pick="refund"
          fact arguments={}
          fact confidence=0.6
          fact confidence_source="endpoint"
          fact weights=[["refund",0.6],["later",0.4]]
          fact handed_to="done"
          out  "{\"call\":\"refund\"}"
    "#]]
    .assert_eq(&graph);

    let (told, graph) = shown(at_least(0.7, None), endpoint(answer(), &[])).await;
    expect![[r#"
        {
          "code": "decision",
          "message": "the pick \"refund\" has the confidence 0.6 (endpoint), less than the minimum of 0.7",
          "details": {
            "kind": "low_confidence",
            "pick": "refund",
            "min_confidence": 0.7,
            "confidence": 0.6,
            "confidence_source": "endpoint"
          }
        }
    "#]].assert_eq(&format!("{told:#}\n"));
    assert!(graph.contains("fact low_confidence=0.7"), "{graph}");

    let sure = endpoint(
        answer(),
        &[r#"{"call": "refund", "args": {"order": "A-1"}}"#],
    );
    let (told, _) = shown(at_least(0.6, None), sure).await;
    assert_eq!(told["ok"]["order"], "A-1");
}

#[tokio::test]
async fn a_written_pick_has_no_confidence_and_is_handed_over() {
    let reply = r#"{"call": "later"}"#;
    let (told, _) = shown(at_least(0.1, Some("done")), model([reply])).await;
    assert_eq!(told, json!({"ok": "CONVERSATION_OVER"}));
    let (told, _) = shown(at_least(0.1, None), model([reply])).await;
    let details = &told["details"];
    assert_eq!(
        (&details["kind"], &details["pick"]),
        (&json!("low_confidence"), &json!("later"))
    );
    assert_eq!(details.get("confidence"), None);
}

const HELD: FormatAbility = FormatAbility {
    is_held: true,
    with_tools: false,
    keeps_order: true,
};

fn held(ability: FormatAbility, replies: &[&str]) -> Arc<ScriptedProvider> {
    let model = ScriptedProvider::new(replies.iter().copied());
    Arc::new(model.held_to_formats(ability))
}

#[tokio::test]
async fn a_model_that_can_be_held_to_a_pick_is_held_to_it_the_second_time_too() {
    let cut = r#"{"pick": {"call": "refund", "args": {"order": "A-"#;
    let whole = r#"{"pick": {"call": "refund", "args": {"order": "A-1"}}}"#;
    let model = held(HELD, &[cut, whole]);
    let (told, graph) = shown(routing(), model.clone()).await;
    assert_eq!(told["ok"]["order"], "A-1");
    let requests = model.requests();
    let shapes: Vec<_> = requests.iter().map(|r| r.response_format.clone()).collect();
    assert_eq!(shapes[0], shapes[1]);
    let shape = shapes[0].clone().unwrap();
    expect![[r#"
        pick {"type":"object","properties":{"pick":{"anyOf":[{"type":"object","properties":{"call":{"type":"string","enum":["later","done"]}},"required":["call"],"additionalProperties":false},{"type":"object","properties":{"call":{"type":"string","enum":["refund"]},"args":{"type":"object","properties":{"order":{"type":"string"}},"required":["order"],"additionalProperties":false}},"required":["call","args"],"additionalProperties":false},{"type":"object","properties":{"call":{"type":"string","enum":["plan"]},"args":{"type":"object","properties":{"steps":{"type":"array","items":{"type":"string"}},"sure":{"type":"boolean"}},"required":["steps","sure"],"additionalProperties":false}},"required":["call","args"],"additionalProperties":false}]}},"required":["pick"],"additionalProperties":false}
    "#]].assert_eq(&format!("{} {}\n", shape.name, shape.schema));
    expect![[r#"
        1 code test:desk/api.route
          in   {}
          out  {"order":"A-1","message":"MY-SECRET-MESSAGE"}
        2 llm scripted:text caller=1
          in   "Pick one way to handle this message.\n\nrefu…
          fact runtime="runtime"
          fact method="constrained"
          fact no_pick={"kind":"no_action","message":"the reply ends inside a JSON object"}
          out  "{\"pick\": {\"call\": \"refund\", \"args\": {\"order\": \"A-"
        3 llm scripted:text caller=1 reads=2
          in   "Pick one way to handle this message.\n\nYour…
          fact retry_of=node 2
          fact runtime="runtime"
          fact method="constrained"
          fact pick="refund"
          fact arguments={"order":"A-1"}
          out  "{\"pick\": {\"call\": \"refund\", \"args\": {\"order\": \"A-1\"}}}"
        4 code test:desk/api.refund caller=1
          in   {"order":"A-1","message":"MY-SECRET-MESSAGE"}
          fact hidden_arguments=["message"]
          fact picked_by=node 3
          out  {"order":"A-1","message":"MY-SECRET-MESSAGE"}
    "#]]
    .assert_eq(&graph);
    // The words are those of the way without a shape.
    let text = model_text(&requests[0]);
    assert!(text.contains("Call: {\"call\": \"later\"}"), "{text}");
}

fn model_text(request: &openprogram_core::llm::ModelRequest) -> String {
    let last = request.messages.last().unwrap();
    let texts = last.content.iter().filter_map(|block| block.as_text());
    texts.collect()
}

#[tokio::test]
async fn a_shape_that_a_model_cannot_be_held_to_is_passed_over_and_says_why() {
    let unordered = FormatAbility {
        keeps_order: false,
        ..HELD
    };
    let model = held(unordered, &[r#"{"call": "later"}"#]);
    let (runtime, outcome) = route(routing(), model.clone()).await;
    assert_eq!(told(&outcome), json!({"ok": {}}));
    let nodes = super::nodes(&runtime, &outcome).await;
    let why = "`scripted:text` is not known to write the name of an option before its arguments";
    assert_eq!(
        nodes[1].opened.facts["passed_over"],
        json!({"constrained": why})
    );
    assert_eq!(nodes[1].end.as_ref().unwrap().facts["method"], "text");
    assert_eq!(model.requests()[0].response_format, None);

    // Without arguments there is no order to keep.
    let values = vec![value("a", json!(1)), value("b", json!(2))];
    let model = held(unordered, &[r#"{"call": "b"}"#]);
    let (told, _) = shown(decision("Pick.", values), model.clone()).await;
    assert_eq!(told, json!({"ok": 2}));
    assert!(model.requests()[0].response_format.is_some());
}

#[tokio::test]
async fn the_arguments_of_a_weighed_pick_are_held_to_their_shape() {
    let writer = ScriptedProvider::new([r#"{"call": "refund", "args": {"order": "A-1"}}"#]);
    let answer = weights([("refund", 0.9), ("done", 0.1)]);
    let decider = ScriptedDecider::answering(vec![Ok(answer)]).limited(ENDPOINT);
    let decider = Arc::new(decider.writing(writer.held_to_formats(HELD)));
    let (told, graph) = shown(routing(), decider.clone()).await;
    assert_eq!(told["ok"]["order"], "A-1");
    assert!(graph.contains("fact method=\"constrained\""), "{graph}");
    let shape = decider.requests()[0].response_format.clone().unwrap();
    let expected = json!({"type": "string", "enum": ["refund"]});
    assert_eq!(shape.schema["properties"]["call"], expected);
}

#[tokio::test]
async fn a_turn_that_closes_with_a_pick_is_held_to_it_only_where_tools_go_with_it() {
    let pick = r#"{"call": "close"}"#;
    for (with_tools, method) in [(true, "constrained"), (false, "text")] {
        let ability = FormatAbility { with_tools, ..HELD };
        let model = held(ability, &["The work is done.", pick]);
        let closes = Closing {
            options: vec![value("close", json!(1)), value("wait", json!(2))],
            context: openprogram_core::JsonObject::new(),
        };
        let functions = closing(turn(&[]), closes);
        let (runtime, outcome) = run_work(functions, model.clone(), |_| ()).await;
        assert_eq!(told(&outcome), json!({"ok": 1}));
        let requests = model.requests();
        let held: Vec<_> = requests
            .iter()
            .map(|r| r.response_format.is_some())
            .collect();
        assert_eq!(held, [with_tools; 2], "the re-ask as well");
        let nodes = super::nodes(&runtime, &outcome).await;
        assert_eq!(nodes[2].end.as_ref().unwrap().facts["method"], method);
        let why = nodes[1].opened.facts.get("passed_over");
        assert_eq!(why.is_none(), with_tools, "{why:?}");
    }
}

#[tokio::test]
async fn prepared_replies_are_read_as_text() {
    let prepared = FormatAbility {
        is_held: false,
        with_tools: true,
        keeps_order: true,
    };
    let model = held(prepared, &[r#"As I said: {"call": "later"}"#]);
    let (runtime, outcome) = route(routing(), model.clone()).await;
    assert_eq!(told(&outcome), json!({"ok": {}}));
    let nodes = super::nodes(&runtime, &outcome).await;
    assert_eq!(nodes[1].end.as_ref().unwrap().facts["method"], "text");
    assert_eq!(nodes[1].opened.facts.get("passed_over"), None);
    assert_eq!(model.requests()[0].response_format, None);
}
