//! Decisions at the top, outside any function, and the events of a run.

use std::future::ready;
use std::sync::Arc;

use async_trait::async_trait;
use expect_test::expect;
use openprogram_core::decision::{Confidence, ConfidenceSource, MenuOption};
use openprogram_core::id::NodeId;
use openprogram_core::llm::{Abilities, EventSink, LlmError, ModelReply, ModelRequest, Provider};
use openprogram_core::session::{NodeQuery, NodeStatus};
use openprogram_core::{Json, JsonObject};
use serde_json::json;

use super::desk::{desk, model, routing};
use super::{object, run, runtime, told, without_menus};
use crate::testing::{ScriptedDecider, ScriptedProvider, ScriptedReply, shown_graph};
use crate::{
    DecideOutcome, DecideRequest, DecidedPick, Event, Providers, RunRequest, Runtime, event_channel,
};

fn options(runtime: &Runtime) -> Vec<MenuOption> {
    let look_up = |name: &str| runtime.catalog().resolve(name, Some("desk"));
    let specs = routing().options.into_iter();
    specs.map(|spec| spec.resolve(look_up).unwrap()).collect()
}

async fn decide(model: Arc<dyn Provider>, context: Json) -> (Runtime, DecideOutcome) {
    let runtime = runtime(desk(routing()), Providers::all(model));
    let mut request = DecideRequest::new("Pick one.", options(&runtime));
    request.context = object(context);
    let outcome = runtime.decide(request).await;
    (runtime, outcome)
}

#[tokio::test]
async fn a_decision_at_the_top_shows_the_pick_and_runs_nothing() {
    let context = json!({"message": "MY-SECRET-MESSAGE"});
    let reply = "{'call': 'refund', 'args': {'order': 'A-1', 'message': 'x'}}";
    let pick = DecidedPick {
        option: "refund".to_owned(),
        arguments: object(json!({"order": "A-1"})),
        value: None,
        method: "text",
        confidence: None,
        handed_off: None,
        probabilities: None,
        coerced: vec![
            "single quotes read as double quotes".to_owned(),
            "message: never taken from a reply or a caller, dropped".to_owned(),
        ],
    };
    let (runtime, outcome) = decide(model(["I think", reply]), context.clone()).await;
    assert_eq!(outcome.result, Ok(pick));
    let session = outcome.session.unwrap();
    let recorded = runtime.store().nodes(&session, NodeQuery::default()).await;
    expect![[r#"
        1 llm scripted:text
          in   "Pick one.\n\nrefund(order: str)\n    Pays ba…
          fact runtime="runtime"
          fact method="text"
          fact no_pick={"kind":"no_action","message":"the reply holds no JSON object with the key \"call\""}
          out  "I think"
        2 llm scripted:text after=1 reads=1
          in   "Pick one.\n\nYour previous reply gave no val…
          fact retry_of=node 1
          fact runtime="runtime"
          fact method="text"
          fact pick="refund"
          fact arguments={"order":"A-1"}
          fact coerced=["single quotes read as double quotes","message: never taken from a reply or a caller, dropped"]
          out  "{'call': 'refund', 'args': {'order': 'A-1', 'message': 'x'}}"
    "#]].assert_eq(&without_menus(&shown_graph(&recorded.unwrap())));

    let value = |option: &str, value: Json, method| DecidedPick {
        option: option.to_owned(),
        arguments: JsonObject::new(),
        value: Some(value),
        method,
        confidence: (method == "decider").then_some(Confidence {
            value: 1.0,
            source: ConfidenceSource::Decider,
        }),
        handed_off: None,
        probabilities: (method == "decider").then(|| {
            let weights = [
                ("refund", 0.0),
                ("later", 0.0),
                ("plan", 0.0),
                ("done", 1.0),
            ];
            weights
                .map(|(name, weight)| (name.to_owned(), weight))
                .to_vec()
        }),
        coerced: Vec::new(),
    };
    let (_, outcome) = decide(model(["{\"call\": \"done\"}"]), context.clone()).await;
    let over = json!("CONVERSATION_OVER");
    assert_eq!(outcome.result, Ok(value("done", over.clone(), "text")));
    let decider = Arc::new(ScriptedDecider::new([[("done", 1.0)]]));
    let (_, outcome) = decide(decider, context).await;
    assert_eq!(outcome.result, Ok(value("done", over, "decider")));
}

#[tokio::test]
async fn a_decision_at_the_top_needs_the_values_of_every_function_it_offers() {
    let model = model(["{\"call\": \"done\"}"]);
    let (_, outcome) = decide(model.clone(), json!({})).await;
    let failure = outcome.result.unwrap_err();
    let told = (failure.code.as_str(), &failure.details["path"]);
    assert_eq!(told, ("invalid-argument", &json!("message")));
    assert_eq!((outcome.session, model.requests().len()), (None, 0));
}

#[tokio::test]
async fn a_decision_at_the_top_may_be_carried_out() {
    for (reply, expected) in [
        (
            r#"{"call": "refund", "args": {"order": "A-1"}}"#,
            json!({"order": "A-1", "message": "MY-SECRET-MESSAGE"}),
        ),
        (r#"{"call": "done"}"#, json!("CONVERSATION_OVER")),
    ] {
        let runtime = runtime(desk(routing()), Providers::all(model([reply])));
        let mut request = DecideRequest::new("Pick one.", options(&runtime));
        request.context = object(json!({"message": "MY-SECRET-MESSAGE"}));
        let outcome = runtime.make(request).await;
        assert_eq!(outcome.result, Ok(expected), "{reply}");
        let session = outcome.session.unwrap();
        let recorded = runtime.store().nodes(&session, NodeQuery::default()).await;
        let names: Vec<_> = recorded
            .unwrap()
            .iter()
            .map(|node| node.opened.name.clone())
            .collect();
        let ran = ["scripted:text", "test:desk/api.refund"];
        assert_eq!(names, ran[..names.len()], "{reply}");
    }
    let runtime = runtime(desk(routing()), Providers::all(model(["no", "no"])));
    let mut request = DecideRequest::new("Pick one.", options(&runtime));
    request.context = object(json!({"message": "x"}));
    let outcome = runtime.make(request).await;
    assert_eq!(outcome.result.unwrap_err().code.as_str(), "decision");
}

#[tokio::test]
async fn a_reply_is_read_at_the_top_and_the_model_asked_only_about_an_invalid_one() {
    let reading = |max_retries: u32| {
        let model = model(["{\"call\": \"done\"}"]);
        let runtime = runtime(desk(routing()), Providers::all(model.clone()));
        let mut request = DecideRequest::new("", options(&runtime));
        request.context = object(json!({"message": "MY-SECRET-MESSAGE"}));
        request.max_retries = max_retries;
        (model, runtime, request)
    };
    for (reply, max_retries, expected, asked) in [
        ("{\"call\": \"later\"}", 1, Ok("later"), 0),
        ("Well.", 1, Ok("done"), 1),
        ("Well.", 0, Err("decision"), 0),
    ] {
        let (model, runtime, request) = reading(max_retries);
        let outcome = runtime.parse(reply, request).await;
        let told = outcome.result.as_ref();
        let told = told
            .map(|pick| pick.option.as_str())
            .map_err(|failure| failure.code.as_str());
        assert_eq!(told, expected, "{reply}");
        let held = (model.requests().len(), outcome.session.is_some());
        assert_eq!(held, (asked, asked > 0), "{reply}");
    }
    // Without any model, a valid reply is still a pick, and an invalid one says what is missing.
    let nothing = runtime(desk(routing()), Providers::default());
    let mut request = DecideRequest::new("", options(&nothing));
    request.context = object(json!({"message": "x"}));
    let outcome = nothing
        .parse("{\"call\": \"later\"}", request.clone())
        .await;
    assert_eq!(outcome.result.unwrap().option, "later");
    let outcome = nothing.parse("Well.", request).await;
    assert_eq!(outcome.result.unwrap_err().code.as_str(), "no-provider");
}

#[tokio::test]
async fn a_decision_at_the_top_stops_when_it_is_told_to() {
    let silent = Arc::new(ScriptedProvider::new([ScriptedReply::Silence]));
    let runtime = runtime(desk(routing()), Providers::all(silent));
    let mut request = DecideRequest::new("Pick one.", options(&runtime));
    request.context = object(json!({"message": "MY-SECRET-MESSAGE"}));
    let outcome = runtime.decide_until(request, ready(())).await;
    assert_eq!(outcome.result.unwrap_err().code.as_str(), "cancelled");
    let session = outcome.session.unwrap();
    let recorded = runtime.store().nodes(&session, NodeQuery::default()).await;
    let statuses: Vec<_> = recorded.unwrap().iter().map(|node| node.status()).collect();
    assert_eq!(statuses, [NodeStatus::Cancelled]);
}

/// A provider that can do nothing.
struct Idle;

#[async_trait]
impl Provider for Idle {
    fn name(&self) -> &'static str {
        "component:idle"
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            text: false,
            decide: false,
        }
    }

    async fn complete(&self, _: &ModelRequest, _: &dyn EventSink) -> Result<ModelReply, LlmError> {
        unreachable!("it does not write")
    }
}

#[tokio::test]
async fn a_model_that_does_not_write_is_not_asked_to() {
    let runtime = runtime(desk(routing()), Providers::all(Arc::new(Idle)));
    let outcome = run(&runtime, "route", json!({})).await;
    let expected = json!({
        "code": "no-provider",
        "message": "`component:idle` does not write text; name a model that does with \
                    `--model PROVIDER:MODEL`",
        "details": {"model": "component:idle"},
    });
    assert_eq!(told(&outcome), expected);
}

#[tokio::test]
async fn a_run_tells_its_steps_in_order() {
    let runtime = runtime(
        desk(routing()),
        Providers::all(model(["no", "{\"call\": \"later\"}"])),
    );
    let (sender, mut receiver) = event_channel(64);
    let mut request = RunRequest::new("route");
    request.events = Some(sender);
    let outcome = runtime.run_function(request).await;
    let mut events = Vec::new();
    while let Some(event) = receiver.next().await {
        events.push(event);
    }
    let route = outcome.node.unwrap();
    let node = |number: u64| {
        let digits = u64::from_str_radix(&route.as_str()[2..], 16).unwrap();
        NodeId::from_bits(digits + number)
    };
    let asked = |number| Event::ModelRequestStarted {
        node: node(number),
        model: "scripted:text".to_owned(),
    };
    let answered = |number| Event::ModelRequestEnded {
        node: node(number),
        model: "scripted:text".to_owned(),
        status: NodeStatus::Completed,
        usage: None,
    };
    let started = |number, caller, function: &str, depth| Event::CallStarted {
        node: node(number),
        caller,
        function: function.to_owned(),
        depth,
    };
    let ended = |number, function: &str| Event::CallEnded {
        node: node(number),
        function: function.to_owned(),
        status: NodeStatus::Completed,
    };
    let expected = [
        started(0, None, "test:desk/api.route", 0),
        Event::DecisionAsked {
            caller: Some(node(0)),
            options: ["refund", "later", "plan", "done"]
                .map(str::to_owned)
                .to_vec(),
        },
        asked(1),
        answered(1),
        Event::DecisionRetried {
            node: node(1),
            kind: "no_action",
            retries_left: 1,
        },
        asked(2),
        answered(2),
        Event::DecisionPicked {
            node: node(2),
            option: "later".to_owned(),
            method: "text",
        },
        started(3, Some(node(0)), "test:desk/api.wait", 1),
        ended(3, "test:desk/api.wait"),
        ended(0, "test:desk/api.route"),
    ];
    assert_eq!(events, expected);
}
