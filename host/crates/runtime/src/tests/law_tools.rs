//! The vectors about the loop of calls and about sets of tools. None has force of law; what is other
//! here stands in a table with the reason.

use std::sync::Arc;

use openprogram_core::Json;
use openprogram_core::content::ToolResult;
use openprogram_core::failure::Failure;
use openprogram_core::function::Function;
use openprogram_core::guest::{CallError, ExecRequest, ToolsWanted};
use openprogram_core::schema::{IntegerKind, Type};
use openprogram_core::session::NodeQuery;
use openprogram_core::tool::ToolChoice;
use openprogram_core::tool_filter::ToolFilter;
use serde_json::json;

use super::runtime_with;
use super::shop::results;
use crate::testing::{NativeCall, NativeFunctions, ScriptedProvider, ScriptedReply, function};
use crate::{Providers, TurnRequest};

/// What is other here: the case, what it comes to, and why.
const DIFFERENCES: &[(&str, &str, &str)] = &[
    (
        "toolloop/float_integral_for_integer",
        "final after 2: ok got 3",
        "a whole number for an integer is one",
    ),
    (
        "toolloop/extra_arg",
        "final after 2: ok got 1",
        "names that no parameter has are dropped and recorded",
    ),
    (
        "toolloop/repeat_failing_call",
        "final after 5: error tool exploded; error tool exploded; error tool exploded; error tool \
         exploded",
        "a call is made four times, with a warning from the third on, and the fifth is refused",
    ),
    (
        "toolloop/max_iterations/2",
        "limit-reached max_iterations after 2",
        "a turn that did not end says so; the text so far is `partial`",
    ),
    (
        "toolloop/max_iterations/3",
        "limit-reached max_iterations after 3",
        "as above",
    ),
    (
        "toolloop/max_iterations/0",
        "limit-reached max_iterations after 1",
        "as above; the number is clamped in the same way",
    ),
    (
        "toolloop/max_iterations/50",
        "limit-reached repeated_calls after 6",
        "all calls of the case are the same one; `turns` tests the clamp with different ones",
    ),
    (
        "toolloop/max_iterations/51",
        "limit-reached repeated_calls after 6",
        "as above",
    ),
    (
        "toolloop/max_iterations/100",
        "limit-reached repeated_calls after 6",
        "as above",
    ),
    (
        "toolloop/max_iterations/text_of_last_turn",
        "limit-reached max_iterations after 2",
        "the text is `partial`",
    ),
    (
        "toolloop/toolset_safe",
        "invalid-argument toolset after 0",
        "presets are those of the project",
    ),
    (
        "toolloop/toolset_unknown",
        "invalid-argument toolset after 0",
        "a preset that is not there is a slip, and no reason to offer everything",
    ),
];

/// Left out, with the reason.
const LEFT_OUT: &[(&str, &str)] = &[
    (
        "toolloop/duplicate_names",
        "one name is one tool; `own_tools` tests the refusal",
    ),
    (
        "toolloop/bad_entry/",
        "what is no tool is none for the compiler",
    ),
    (
        "toolloop/object_no_parameters",
        "a tool without a schema cannot be written",
    ),
    (
        "toolloop/agentic_tool_runtime_none",
        "the runtime of a function is lent by the host",
    ),
    (
        "toolloop/stop_aborted",
        "the one who asked went away; `cancel` tests that",
    ),
    (
        "toolloop/no_terminal_event",
        "an error of the connection at every provider; `retries` tests it",
    ),
    (
        "toolloop/stop_error",
        "an error of the provider; `retries` tests it",
    ),
];

fn integer(name: &str) -> super::Parameter {
    super::Parameter::new(name, Type::Integer(IntegerKind::S64))
}

/// The tools of the cases.
fn tools() -> NativeFunctions {
    let x = || [integer("x")];
    let says = |what: &'static str| {
        move |call: NativeCall| async move {
            let x = call.arguments.get("x").cloned().unwrap_or(Json::Null);
            Ok::<Json, CallError>(what.replace("{}", &x.to_string()).into())
        }
    };
    let boom = |_: NativeCall| async {
        let code = openprogram_core::failure::FailureCode::FunctionFailed;
        Err::<Json, _>(CallError::Function(
            Failure::new(code, "tool exploded").to_json(),
        ))
    };
    NativeFunctions::default()
        .with(function("v", "echo", "", x()), says("got {}"))
        .with(function("v", "boom", "", x()), boom)
        .with(function("v", "rn", "", x()), |_| async { Ok(Json::Null) })
        .with(function("v", "sd", "", x()), says("dict form {\"x\": {}}"))
        .with(function("v", "ae", "", x()), says("async {}"))
        .with(function("v", "rd", "", x()), says("read {}"))
        .with(function("v", "obj", "", []), says("obj ran"))
}

fn reply(turn: &Json) -> ScriptedReply {
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
    if calls.is_empty() {
        let stop = match turn["stop"].as_str() {
            Some("length") => openprogram_core::llm::StopReason::Length,
            _ => openprogram_core::llm::StopReason::End,
        };
        return ScriptedReply::from(text).stopped(stop);
    }
    let calls = calls
        .iter()
        .map(|(id, tool, arguments)| (*id, *tool, arguments.as_str()));
    ScriptedReply::calls(&text, calls)
}

/// The turn that a case asks for.
fn turn(case: &Json) -> ExecRequest {
    let exec = &case["exec"];
    let mut turn = TurnRequest::text("go").turn;
    let requests = case["outcome"]["requests"].as_array();
    let first = requests.and_then(|requests| requests.first());
    let first = first.map_or(&Json::Null, |first| &first["tools"]);
    let mut names: Vec<String> = match first.as_array() {
        Some(names) => names
            .iter()
            .filter_map(Json::as_str)
            .map(str::to_owned)
            .collect(),
        None => vec!["echo".to_owned()],
    };
    if let Some(deny) = exec["tools_deny"].as_array() {
        names.push("echo".to_owned());
        let deny = deny.iter().filter_map(Json::as_str);
        turn.tool_filter.deny = deny.map(str::to_owned).collect();
    }
    turn.tools = match exec["toolset"].as_str() {
        Some(preset) => ToolsWanted::Preset(preset.to_owned()),
        None => ToolsWanted::Named(names),
    };
    if let Some(most) = exec["max_iterations"].as_u64() {
        turn.max_iterations = u32::try_from(most).unwrap();
    }
    if exec["tool_choice"] == "required" {
        turn.tool_choice = ToolChoice::Required;
    }
    turn.parallel_tool_calls = exec["parallel_tool_calls"].as_bool();
    turn
}

/// One result as a case shows it. Warnings about repeated calls are ours.
fn shown(is_error: bool, text: &str) -> String {
    let text = text.split("\n(This is call").next().unwrap_or(text);
    let text = text.replace("The call failed (function-failed): ", "");
    match is_error {
        true if text == "tool exploded" => format!("error {text}"),
        true => "error".to_owned(),
        false => format!("ok {text}"),
    }
}

fn listed(results: Vec<String>) -> String {
    match results.is_empty() {
        true => String::new(),
        false => format!(": {}", results.join("; ")),
    }
}

/// What a case came to in the original.
fn expected(outcome: &Json) -> String {
    let requests = outcome["requests"].as_array().unwrap();
    let messages = requests
        .last()
        .and_then(|request| request["messages"].as_array());
    let messages = messages.into_iter().flatten();
    let results = messages.filter(|message| message["role"] == "toolResult");
    let results =
        results.map(|result| shown(result["is_error"] == true, result["text"].as_str().unwrap()));
    let result = outcome["result"].as_str().unwrap();
    let text = format!("{result} after {}", outcome["model_calls"]);
    text + &listed(results.collect())
}

/// What it comes to here.
async fn found(case: &Json) -> String {
    let turns = case["model_turns"].as_array().unwrap();
    let replies = (0..60).map(|n| reply(&turns[n.min(turns.len() - 1)]));
    let model = Arc::new(ScriptedProvider::new(replies));
    let providers = Providers::all(model.clone());
    let runtime = runtime_with(tools(), |parts| parts.providers = providers);
    let mut request = TurnRequest::text("go");
    request.turn = turn(case);
    let outcome = runtime.exec(request).await;
    let requests = model.requests();
    let after = requests.len();
    match outcome.result {
        Ok(reply) => {
            // The results in the order of the calls, over all requests.
            let all: Vec<ToolResult> = requests.iter().skip(1).flat_map(results).collect();
            let results = all
                .iter()
                .map(|result| shown(result.is_error, &result.text));
            format!("{} after {after}", reply.text) + &listed(results.collect())
        }
        Err(failure) => {
            let detail = ["which", "path"].map(|name| failure.details.get(name));
            let detail = detail.into_iter().flatten().next().and_then(Json::as_str);
            format!(
                "{} {} after {after}",
                failure.code.as_str(),
                detail.unwrap_or_default()
            )
        }
    }
}

#[tokio::test]
async fn calls_go_as_in_the_vectors() {
    let file = include_str!("../../../core/fixtures/vectors/tool_loop.json");
    let file: Json = serde_json::from_str(file).unwrap();
    let (mut n_equal, mut n_other) = (0, 0);
    for case in file["cases"].as_array().unwrap() {
        let id = case["id"].as_str().unwrap();
        if LEFT_OUT
            .iter()
            .any(|(left_out, _)| id.starts_with(left_out))
        {
            continue;
        }
        let found = found(case).await;
        match DIFFERENCES.iter().find(|(other, ..)| *other == id) {
            Some((_, ours, _)) => {
                assert_eq!(found, *ours, "{id}");
                n_other += 1;
            }
            None => {
                assert_eq!(found, expected(&case["outcome"]), "{id}");
                n_equal += 1;
            }
        }
    }
    assert_eq!((n_equal, n_other), (24, DIFFERENCES.len()));
}

/// What is left out of the vectors of the registry: which functions are exposed and what they do
/// when they are not available is of their metadata; the approvals are tested in `approvals`, the
/// texts of results in `answers`, and specs against `tool_spec` in core; nothing is cached or
/// deferred. A result is cut in the same proportions, in bytes and at another length.
///
/// Other here: tools are always sorted (`names_order`), and a preset that is not there is refused
/// (`unknown_toolset`).
#[tokio::test]
async fn sets_of_tools_are_as_in_the_vectors() {
    let file = include_str!("../../../core/fixtures/vectors/registry.json");
    let file: Json = serde_json::from_str(file).unwrap();
    let names = |id: &str| {
        let mut cases = file["cases"].as_array().unwrap().iter();
        let case = cases.find(|case| case["id"] == format!("registry/{id}"));
        let names = case.unwrap()["names"].as_array().unwrap().iter();
        let mut names: Vec<_> = names
            .map(|name| name.as_str().unwrap().to_owned())
            .collect();
        names.sort();
        names
    };
    let exposed = names("exposed");
    let mut functions = NativeFunctions::default();
    for name in &exposed {
        let declared: Function = function("v", &name.replace('_', "-"), "", []);
        functions = functions.with(declared, |_| async { Ok(Json::Null) });
    }
    let model = Arc::new(ScriptedProvider::new(vec!["done"; 9]));
    let providers = Providers::all(model.clone());
    let runtime = runtime_with(functions, |parts| {
        parts.providers = providers;
        let unsafe_in = vec!["t_unsafe".to_owned()];
        parts
            .tool_sets
            .unsafe_in
            .insert("telegram".to_owned(), unsafe_in);
    });
    let tools = async |tools: ToolsWanted, tool_filter: ToolFilter| {
        let mut request = TurnRequest::text("go");
        request.turn.tools = tools;
        request.turn.tool_filter = tool_filter;
        let outcome = runtime.exec(request).await;
        let session = outcome.session.as_ref();
        outcome
            .result
            .map_err(|failure| failure.code.as_str().to_owned())?;
        let all = NodeQuery::default();
        let nodes = runtime.store().nodes(session.unwrap(), all).await.unwrap();
        let tools = nodes[1].opened.facts.get("tools").cloned();
        let tools: Vec<String> = serde_json::from_value(tools.unwrap_or(json!([]))).unwrap();
        Ok::<_, String>(tools)
    };
    let preset = |name: &str| ToolsWanted::Preset(name.to_owned());
    let all = ToolFilter::default;
    assert_eq!(tools(ToolsWanted::Default, all()).await, Ok(exposed));
    assert_eq!(tools(preset("full"), all()).await, Ok(names("full_preset")));
    let telegram = ToolFilter {
        sources: vec!["telegram".to_owned()],
        ..all()
    };
    let expected = names("full_source_telegram");
    assert_eq!(tools(preset("full"), telegram).await, Ok(expected));
    let allow = ToolFilter {
        allow: Some(names("full_allow")),
        ..all()
    };
    assert_eq!(tools(preset("full"), allow).await, Ok(names("full_allow")));
    assert_eq!(
        tools(preset("none"), all()).await,
        Ok(names("none_preset_name"))
    );
    let named = ToolsWanted::Named(vec!["t_unsafe".to_owned(), "t_plain".to_owned()]);
    assert_eq!(tools(named, all()).await, Ok(names("names_order")));
    let unknown = tools(preset("zzz"), all()).await;
    assert_eq!(unknown, Err("invalid-argument".to_owned()));
}
