//! Turns that end in a value of a format.

use std::sync::Arc;

use expect_test::expect;
use openprogram_core::Json;
use openprogram_core::failure::FailureCode;
use openprogram_core::guest::{Closing, ExecReply, ToolsWanted};
use openprogram_core::llm::{
    FormatAbility, LlmError, LlmFailure, LlmReason, ModelReply, StopReason,
};
use openprogram_core::session::NodeQuery;
use serde_json::json;

use super::shop::shop;
use super::{object, runs, runtime_with};
use crate::testing::{ScriptedProvider, ScriptedReply, shown_graph, shown_request};
use crate::{Providers, Runtime, TurnOutcome, TurnRequest};

/// A model that is held to any format, and not beside tools.
fn model(replies: Vec<ScriptedReply>) -> Arc<ScriptedProvider> {
    let ability = FormatAbility {
        is_held: true,
        with_tools: false,
        keeps_order: true,
    };
    Arc::new(ScriptedProvider::new(replies).held_to_formats(ability))
}

fn runtime(model: &Arc<ScriptedProvider>) -> Runtime {
    let model = Arc::clone(model);
    runtime_with(shop(), |parts| parts.providers = Providers::all(model))
}

fn request(format: &Json) -> TurnRequest {
    let mut request = TurnRequest::text("go");
    request.turn.tools = ToolsWanted::Named(Vec::new());
    request.turn.response_format = Some(format.clone());
    request
}

fn count() -> Json {
    json!({
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
        "additionalProperties": false,
    })
}

async fn made(
    format: &Json,
    replies: Vec<ScriptedReply>,
) -> (Arc<ScriptedProvider>, Runtime, TurnOutcome<ExecReply>) {
    let model = model(replies);
    let runtime = runtime(&model);
    let outcome = runtime.exec(request(format)).await;
    (model, runtime, outcome)
}

/// The value, or the code of the failure with its own code and issues.
fn told(outcome: &TurnOutcome<ExecReply>) -> Json {
    match &outcome.result {
        Ok(reply) => json!({"result": reply.structured}),
        Err(failure) if failure.code == FailureCode::Structured => {
            let details = &failure.details;
            json!({"code": details["code"], "issues": details["issues"]})
        }
        Err(failure) => json!(failure.code.as_str()),
    }
}

/// A reply as a case of the vectors describes it.
fn reply(turn: &Json) -> ScriptedReply {
    let parts = turn["parts"].as_array().unwrap().iter();
    let text: String = parts.filter_map(|part| part["text"].as_str()).collect();
    let mut reply = ModelReply::text_only(text);
    reply.stop = match turn["stop"].as_str() {
        Some("length") => StopReason::Length,
        Some("error") if turn.get("error_message").is_some() => {
            let failure = LlmFailure::new(LlmReason::Auth, false, "unauthorized");
            return LlmError::Failed(failure).into();
        }
        Some("error") => StopReason::Refusal,
        _ if turn["no_terminal"] == true => StopReason::Other,
        _ => StopReason::End,
    };
    ScriptedReply::Reply(reply)
}

/// Left out: `e2e/native/aborted`, where the one who asked goes away; `cancel` tests that. A stream
/// without an end mark is an error of the connection at every provider, which is tried again; what
/// is `no_terminal` here is a reply whose reason to stop nobody knows.
#[tokio::test]
async fn turns_end_as_in_the_vectors() {
    let file = include_str!("../../../core/fixtures/vectors/structured_output.json");
    let file: Json = serde_json::from_str(file).unwrap();
    let mut n_law = 0;
    for case in file["cases"].as_array().unwrap() {
        let id = case["id"].as_str().unwrap();
        let is_one = id.starts_with("e2e/native/") && case["status"] == "law";
        if !is_one || id == "e2e/native/aborted" {
            continue;
        }
        let (turns, outcome) = (&case["model_turns"], &case["outcome"]);
        let last = turns.as_array().unwrap().len() - 1;
        let n_calls = usize::try_from(outcome["model_calls"].as_u64().unwrap()).unwrap();
        let replies = (0..n_calls).map(|n| reply(&turns[n.min(last)]));
        let (model, _, made) = made(&case["format"], replies.collect()).await;

        let expected = match &outcome["error"] {
            Json::Null => json!({"result": outcome["result"]}),
            error if error["type"] == "LLMError" => json!("llm"),
            error => json!({"code": error["code"], "issues": error["issues"]}),
        };
        assert_eq!(told(&made), expected, "{id}");
        assert_eq!(model.n_left(), 0, "{id}");
        let requests = model.requests();
        assert_eq!(requests.len(), n_calls, "{id}");
        for (request, expected) in requests.iter().zip(outcome["requests"].as_array().unwrap()) {
            let format = request.response_format.as_ref().unwrap();
            assert_eq!(*format.schema, expected["response_format"], "{id}");
            assert!(request.tools.is_empty(), "{id}");
            let n_messages = expected["messages"].as_array().unwrap().len();
            assert_eq!(request.messages.len(), n_messages, "{id}");
        }
        n_law += 1;
    }
    assert_eq!(n_law, 9);
}

#[tokio::test]
async fn a_reply_that_does_not_fit_is_asked_for_once_more_and_both_are_recorded() {
    let replies = vec!["{\"n\": \"x\"}".into(), "{\"n\": 7}".into()];
    let (model, runtime, outcome) = made(&count(), replies).await;
    let reply = outcome.result.unwrap();
    assert_eq!(reply.structured, Some(json!({"n": 7})));
    assert_eq!(reply.text, "{\"n\": 7}");
    expect![[r#"
        [user]
        go
        [assistant]
        {"n": "x"}
        [user]
        Your reply cannot be used: the reply does not fit the schema at `/n`, by `/properties/n/type`.
        Reply again with exactly one JSON value that fits the schema, and nothing around it.
    "#]].assert_eq(&shown_request(&model.requests()[1]));
    let session = outcome.session.unwrap();
    let all = runtime.store().nodes(&session, NodeQuery::default()).await;
    expect![[r#"
        1 user user
          in   "go"
        2 llm scripted:text after=1 reads=1
          in   "go"
          fact response_format="response"
          fact runtime="runtime"
          fact misfit={"code":"validation_failed","issues":[{"code":"schema_violation","path":"/n","schema_path":"/properties/n/type"}]}
          out  "{\"n\": \"x\"}"
        3 llm scripted:text after=2 reads=1,2
          in   "Your reply cannot be used: the reply does not fit the schema at `/n`, by `/properties/n/type`.\nReply again with exactly one JSON value that fits the schema, and nothing around it."
          fact retry_of=node 2
          fact runtime="runtime"
          out  "{\"n\": 7}"
    "#]].assert_eq(&shown_graph(&all.unwrap()));
}

#[tokio::test]
async fn what_a_model_wrote_is_in_no_failure() {
    let replies = vec!["SECRET".into(), "{\"n\": \"SECRET\"}".into()];
    let (_, _, outcome) = made(&count(), replies).await;
    let failure = outcome.result.unwrap_err().to_json().to_string();
    assert!(failure.contains("validation_failed"), "{failure}");
    assert!(!failure.contains("SECRET"), "{failure}");
}

#[tokio::test]
async fn a_format_without_retries_is_asked_for_once() {
    let format = json!({"type": "json_schema", "schema": count(), "max_validation_retries": 0});
    let (model, _, outcome) = made(&format, vec!["nope".into()]).await;
    assert_eq!(told(&outcome)["code"], "invalid_json");
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test]
async fn what_cannot_be_held_to_is_refused_before_any_request() {
    let with_tools = {
        let mut request = request(&count());
        request.turn.tools = ToolsWanted::Named(vec!["look-up".to_owned()]);
        request.context = object(json!({"customer": "MY-SECRET-CUSTOMER"}));
        request
    };
    for (request, code) in [
        (request(&json!({"type": "objekt"})), "invalid_schema"),
        (request(&json!({"$ref": "#/$defs/none"})), "invalid_schema"),
        (request(&json!({"unevaluatedItems": false})), "unsupported"),
        (with_tools, "unsupported"),
    ] {
        let model = model(Vec::new());
        let outcome = runtime(&model).exec(request).await;
        assert_eq!(told(&outcome)["code"], code);
        assert!(model.requests().is_empty());
    }
}

#[tokio::test]
async fn a_turn_closes_with_a_pick_or_a_value_and_not_with_both() {
    let model = model(Vec::new());
    let closing = Closing {
        options: vec![runs("look", "look-up")],
        context: object(json!({})),
    };
    let outcome = runtime(&model)
        .exec_closing(request(&count()), closing)
        .await;
    let failure = outcome.result.unwrap_err();
    assert_eq!(failure.code, FailureCode::InvalidArgument);
    assert_eq!(failure.details["path"], "response_format");
    assert!(model.requests().is_empty());
}
