//! Turns that end in a value of a format.

use std::sync::Arc;

use expect_test::expect;
use openprogram_core::Json;
use openprogram_core::failure::FailureCode;
use openprogram_core::guest::{Closing, ExecReply, ToolsWanted};
use openprogram_core::host_tool::HostTool;
use openprogram_core::llm::{
    FormatAbility, LlmError, LlmFailure, LlmReason, ModelReply, ModelRequest, StopReason,
};
use openprogram_core::session::NodeQuery;
use openprogram_core::structured::SUBMIT_TOOL;
use openprogram_core::tool::{ToolChoice, ToolSpec};
use serde_json::json;

use super::shop::shop;
use super::{object, runs, runtime_with};
use crate::testing::{ScriptedProvider, ScriptedReply, shown_graph, shown_request};
use crate::{Event, EventReceiver, Providers, Runtime, TurnOutcome, TurnRequest, event_channel};

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

/// A reply of the vectors that may hold calls.
fn reply_with_calls(turn: &Json) -> ScriptedReply {
    let parts = turn["parts"].as_array().unwrap();
    let text: String = parts
        .iter()
        .filter_map(|part| part["text"].as_str())
        .collect();
    let calls: Vec<_> = parts
        .iter()
        .filter_map(|part| {
            let (id, tool) = (part["id"].as_str()?, part["tool"].as_str()?);
            Some((id, tool, part["args"].to_string()))
        })
        .collect();
    let calls = calls
        .iter()
        .map(|(id, tool, arguments)| (*id, *tool, arguments.as_str()));
    ScriptedReply::calls(&text, calls)
}

/// The tool `echo` of the vectors.
fn echo() -> HostTool {
    let spec = ToolSpec {
        name: "echo".to_owned(),
        description: "Gives back a number.".to_owned(),
        parameters: json!({"type": "object", "properties": {"x": {"type": "integer"}}}),
        strict: false,
    };
    HostTool::new(spec, |call| async move { Ok(call.arguments["x"].clone()) })
}

/// Checks a request with our tool.
fn check_request(id: &str, request: &ModelRequest, expected: &Json) {
    let tools: Vec<_> = request.tools.iter().map(|tool| &*tool.name).collect();
    let wanted = expected["tools"].as_array().unwrap().iter();
    let mut wanted: Vec<_> = wanted.filter_map(Json::as_str).collect();
    wanted.sort_unstable();
    assert_eq!(tools, wanted, "{id}");
    assert_eq!(request.tool_choice, ToolChoice::Auto, "{id}");
    assert_eq!(request.parallel_tool_calls, Some(false), "{id}");
    assert_eq!(request.response_format, None, "{id}");
    let n_messages = expected["messages"].as_array().unwrap().len();
    assert_eq!(request.messages.len(), n_messages, "{id}");
}

/// Whole turns whose value is handed in by our tool. What is not law is the same here, but for this:
///
/// | case | here | why |
/// | --- | --- | --- |
/// | `cap_hit_missing_submission` | `limit-reached` | the turn did not end by itself, so that nothing is missing |
#[tokio::test]
async fn values_are_handed_in_as_in_the_vectors() {
    let file = include_str!("../../../core/fixtures/vectors/structured_output.json");
    let file: Json = serde_json::from_str(file).unwrap();
    let mut n_cases = 0;
    for case in file["cases"].as_array().unwrap() {
        let id = case["id"].as_str().unwrap();
        if !id.starts_with("e2e/tool/") {
            continue;
        }
        let (turns, outcome) = (&case["model_turns"], &case["outcome"]);
        let last = turns.as_array().unwrap().len() - 1;
        let n_calls = usize::try_from(outcome["model_calls"].as_u64().unwrap()).unwrap();
        let replies = (0..n_calls).map(|n| reply_with_calls(&turns[n.min(last)]));
        let replies: Vec<_> = replies.collect();
        let model = Arc::new(ScriptedProvider::new(replies).held_to_tools());
        let expected_requests = outcome["requests"].as_array().unwrap();
        let mut request = request(&case["format"]);
        if expected_requests[0]["tools"].as_array().unwrap().len() > 1 {
            request.turn.host_tools.push(echo());
        }
        let hits_cap = id.ends_with("cap_hit_missing_submission");
        if hits_cap {
            request.turn.max_iterations = 2;
        }
        let made = runtime(&model).exec(request).await;
        let expected = match &outcome["error"] {
            _ if hits_cap => json!("limit-reached"),
            Json::Null => json!({"result": outcome["result"]}),
            error => json!({"code": error["code"], "issues": error["issues"]}),
        };
        assert_eq!(told(&made), expected, "{id}");
        let requests = model.requests();
        assert_eq!(requests.len(), n_calls, "{id}");
        for (request, expected) in requests.iter().zip(expected_requests) {
            check_request(id, request, expected);
        }
        n_cases += 1;
    }
    assert_eq!(n_cases, 9);
}

/// A turn that calls a tool, hands its value in beside another call, and then alone.
async fn handed_in() -> (
    Arc<ScriptedProvider>,
    Runtime,
    TurnOutcome<ExecReply>,
    EventReceiver,
) {
    let alone = ("d", SUBMIT_TOOL, "{\"n\": 7}");
    let replies = vec![
        ScriptedReply::calls("", [("a", "echo", "{\"x\": 7}")]),
        ScriptedReply::calls(
            "",
            [
                ("b", "echo", "{\"x\": 8}"),
                ("c", SUBMIT_TOOL, "{\"n\": 7}"),
            ],
        ),
        ScriptedReply::calls("", [alone]),
    ];
    let model = Arc::new(ScriptedProvider::new(replies).held_to_tools());
    let runtime = runtime(&model);
    let (sender, events) = event_channel(64);
    let mut request = request(&count()).tool(echo());
    request.events = Some(sender);
    let outcome = runtime.exec(request).await;
    (model, runtime, outcome, events)
}

#[tokio::test]
async fn a_value_is_handed_in_by_a_tool_that_nobody_runs() {
    let (model, runtime, outcome, _) = handed_in().await;
    assert_eq!(told(&outcome), json!({"result": {"n": 7}}));
    expect![[r#"
        [user]
        go

        When you are done, hand in your answer by one call of `__openprogram_submit_json`, without any other call beside it. What you write in text is not the answer.
        [assistant calls a]
        echo({"x": 7})
        [user result of a]
        7
        [assistant calls b]
        echo({"x": 8})
        [assistant calls c]
        __openprogram_submit_json({"n": 7})
        [user error of b]
        Not run.
        [user error of c]
        Not run.
        [user]
        Your answer is not handed in: the model handed its value in beside other calls.
        Call `__openprogram_submit_json` now, once and alone, with a value that fits its schema.
        [tool __openprogram_submit_json]
        Hand in the final value of this turn. Call it once, alone, when all other work is done.
        {"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}
        [tool echo]
        Gives back a number.
        {"type":"object","properties":{"x":{"type":"integer"}}}
        [parallel calls]
        false
    "#]].assert_eq(&shown_request(&model.requests()[2]));
    let session = outcome.session.unwrap();
    let all = runtime.store().nodes(&session, NodeQuery::default()).await;
    expect![[r#"
        1 user user
          in   "go"
        2 llm scripted:text after=1 reads=1
          in   "go\n\nWhen you are done, hand in your answer by one call of `__openprogram_submit_json`, without any other call beside it. What you write in text is not the answer."
          fact tools=["echo"]
          fact response_format="response"
          fact response_format_by="submit"
          fact runtime="runtime"
          fact calls=[{"id":"a","name":"echo","arguments":"{\"x\": 7}"}]
        3 llm scripted:text after=2 reads=1,2
          in   null
          fact continues=node 2
          fact answers=[{"id":"a","name":"echo","arguments":{"x":7},"status":"completed","output":7}]
          fact runtime="runtime"
          fact misfit={"code":"mixed_submission","issues":[]}
          fact calls=[{"id":"b","name":"echo","arguments":"{\"x\": 8}"},{"id":"c","name":"__openprogram_submit_json","arguments":"{\"n\": 7}"}]
        4 llm scripted:text after=3 reads=1,2,3
          in   "Your answer is not handed in: the model handed its value in beside other calls.\nCall `__openprogram_submit_json` now, once and alone, with a value that fits its schema."
          fact retry_of=node 3
          fact runtime="runtime"
          out  "{\"n\": 7}"
    "#]].assert_eq(&shown_graph(&all.unwrap()));
}

#[tokio::test]
async fn nobody_who_watches_sees_the_tool_by_which_a_value_is_handed_in() {
    let (.., mut events) = handed_in().await;
    let mut called = Vec::new();
    while let Some(event) = events.next().await {
        if let Event::ToolUse { call, .. } = event {
            called.push(call.name);
        }
    }
    assert_eq!(called, ["echo"]);
}

#[tokio::test]
async fn calls_do_not_count_as_repairs() {
    let mut replies: Vec<_> = (0..8)
        .map(|x| ScriptedReply::calls("", [("", "echo", &*format!("{{\"x\": {x}}}"))]))
        .collect();
    replies.push(ScriptedReply::calls(
        "",
        [("", SUBMIT_TOOL, "{\"n\": \"x\"}")],
    ));
    replies.push(ScriptedReply::calls("", [("", SUBMIT_TOOL, "{\"n\": 1}")]));
    let model = Arc::new(ScriptedProvider::new(replies).held_to_tools());
    let outcome = runtime(&model).exec(request(&count()).tool(echo())).await;
    assert_eq!(told(&outcome), json!({"result": {"n": 1}}));
    assert_eq!(model.requests().len(), 10);
}

#[tokio::test]
async fn a_value_is_asked_for_in_words_where_that_is_wanted() {
    let format = json!({"type": "json_schema", "schema": count(), "fallback": "prompt"});
    let replies = vec!["There: 7".into(), "```json\n{\"n\": 7}\n```".into()];
    let replies: Vec<ScriptedReply> = replies;
    let model = Arc::new(ScriptedProvider::new(replies));
    let runtime = runtime(&model);
    let outcome = runtime.exec(request(&format)).await;
    assert_eq!(told(&outcome), json!({"result": {"n": 7}}));
    expect![[r#"
        [user]
        go

        When you are done, end with a reply that is exactly one JSON value that fits this JSON Schema, and nothing around it.
        {"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}
        [assistant]
        There: 7
        [user]
        Your reply cannot be used: the reply is not exactly one JSON value: line 1, column 1.
        Reply again with exactly one JSON value that fits the schema, and nothing around it.
    "#]].assert_eq(&shown_request(&model.requests()[1]));
    let session = outcome.session.unwrap();
    let all = runtime.store().nodes(&session, NodeQuery::default()).await;
    expect![[r#"
        1 user user
          in   "go"
        2 llm scripted:text after=1 reads=1
          in   "go\n\nWhen you are done, end with a reply that is exactly one JSON value that fits this JSON Schema, and nothing around it.\n{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}},\"required\":[\"n\"],\"additionalProperties\":false}"
          fact response_format="response"
          fact response_format_by="prompt"
          fact runtime="runtime"
          fact misfit={"code":"invalid_json","issues":[]}
          out  "There: 7"
        3 llm scripted:text after=2 reads=1,2
          in   "Your reply cannot be used: the reply is not exactly one JSON value: line 1, column 1.\nReply again with exactly one JSON value that fits the schema, and nothing around it."
          fact retry_of=node 2
          fact runtime="runtime"
          out  "{\"n\": 7}"
    "#]].assert_eq(&shown_graph(&all.unwrap()));
}

#[tokio::test]
async fn what_stands_against_handing_in_is_named_before_any_request() {
    let refused = async |change: &dyn Fn(&mut TurnRequest)| {
        let model = Arc::new(ScriptedProvider::new([""; 0]).held_to_tools());
        let mut request = request(&count()).tool(echo());
        change(&mut request);
        let failure = runtime(&model).exec(request).await.result.unwrap_err();
        assert_eq!(failure.details["code"], "unsupported");
        assert!(model.requests().is_empty());
        failure.message
    };
    let by_tool = "`scripted:text` would be held to the format by a tool, and ";
    for (change, why) in [
        (
            (&|r: &mut TurnRequest| r.turn.parallel_tool_calls = Some(true))
                as &dyn Fn(&mut TurnRequest),
            "the turn demands several calls in one reply; leave that to the provider",
        ),
        (
            &|r| r.turn.tool_choice = ToolChoice::None,
            "the turn may call none; leave the choice to the model",
        ),
        (
            &|r| r.turn.tool_choice = ToolChoice::Named("echo".to_owned()),
            "the turn demands another call; leave the choice to the model",
        ),
        (
            &|r| SUBMIT_TOOL.clone_into(&mut r.turn.host_tools[0].spec.name),
            "a tool of the turn has its name; rename that one",
        ),
    ] {
        assert_eq!(refused(change).await, format!("{by_tool}{why}"));
    }
    let scalar = |r: &mut TurnRequest| r.turn.response_format = Some(json!({"type": "integer"}));
    assert_eq!(
        refused(&scalar).await,
        "`scripted:text` takes a schema of an object alone; put the value into one"
    );
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
