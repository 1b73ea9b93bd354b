//! Whole runs over scripted models and native functions.

mod accesses;
mod admissions;
mod answers;
mod approvals;
mod asking;
mod asking_vectors;
mod budgets;
mod calls;
mod cancel;
mod closes;
mod closings;
mod deadlines;
mod deciders;
mod decisions;
mod desk;
mod flows;
mod frames;
mod gating;
mod ladders;
mod law_tools;
mod limits;
mod media;
mod offline;
mod own_models;
mod own_tools;
mod pauses;
mod records;
mod refusals;
mod retries;
mod shop;
mod skills;
mod spans;
mod started;
mod structured;
mod thinking;
mod tool_sets;
mod top;
mod top_turns;
mod turns;
mod votes;

use std::sync::Arc;

use openprogram_core::decision::{OptionKind, OptionSpec};
use openprogram_core::function::{Parameter, ParameterSource};
use openprogram_core::guest::DecisionRequest;
use openprogram_core::id::Timestamp;
use openprogram_core::schema::Type;
use openprogram_core::session::{MemoryStore, Node, NodeQuery};
use openprogram_core::{Json, JsonObject};
use serde_json::json;

use crate::testing::{CountingIds, FixedClock, NativeFunctions, shown_graph};
use crate::{Providers, RunOutcome, RunRequest, Runtime, RuntimeParts};

/// A runtime with fixed time and counted ids over a store in memory.
fn runtime_with(functions: NativeFunctions, change: impl FnOnce(&mut RuntimeParts)) -> Runtime {
    let catalog = Arc::new(functions.catalog());
    let store = Arc::new(MemoryStore::default());
    let mut parts = RuntimeParts::new(store, Arc::new(functions), catalog);
    parts.clock = Arc::new(FixedClock(Timestamp(1_000)));
    parts.ids = Arc::new(CountingIds::default());
    change(&mut parts);
    Runtime::new(parts)
}

/// The same with one model behind all roles.
fn runtime(functions: NativeFunctions, providers: Providers) -> Runtime {
    runtime_with(functions, |parts| parts.providers = providers)
}

async fn run(runtime: &Runtime, function: &str, arguments: Json) -> RunOutcome {
    let mut request = RunRequest::new(function);
    request.arguments = object(arguments);
    runtime.run_function(request).await
}

async fn nodes(runtime: &Runtime, outcome: &RunOutcome) -> Vec<Node> {
    let session = outcome.session.as_ref().unwrap();
    let all = NodeQuery::default();
    runtime.store().nodes(session, all).await.unwrap()
}

async fn graph(runtime: &Runtime, outcome: &RunOutcome) -> String {
    shown_graph(&nodes(runtime, outcome).await)
}

fn object(value: Json) -> JsonObject {
    match value {
        Json::Object(object) => object,
        other => panic!("{other} is not an object"),
    }
}

fn text(name: &str) -> Parameter {
    Parameter::new(name, Type::String)
}

fn hidden(name: &str) -> Parameter {
    let mut parameter = text(name);
    parameter.source = ParameterSource::Context;
    parameter
}

fn with_default(name: &str, ty: Type, default: Json) -> Parameter {
    let mut parameter = Parameter::new(name, ty);
    parameter.default = Some(default);
    parameter
}

/// The code, the message and the details of a failure as one value, or the result.
fn told(outcome: &RunOutcome) -> Json {
    match &outcome.result {
        Ok(value) => json!({ "ok": value }),
        Err(failure) => failure.to_json(),
    }
}

/// A decision without context, asked again once, over the ambient runtime.
fn decision(prompt: &str, options: Vec<OptionSpec>) -> DecisionRequest {
    DecisionRequest::new(prompt, options)
}

/// An option that stands for a value.
fn value(name: &str, value: Json) -> OptionSpec {
    option(name, OptionKind::Value(value))
}

/// An option that runs a function.
fn runs(name: &str, function: &str) -> OptionSpec {
    option(name, OptionKind::Function(function.to_owned()))
}

fn option(name: &str, kind: OptionKind) -> OptionSpec {
    OptionSpec {
        name: name.to_owned(),
        description: None,
        kind,
    }
}

/// The menu is the same every time and shown by the request snapshots.
fn without_menus(graph: &str) -> String {
    let cut = |line: &str| match line.strip_prefix("  in   \"") {
        Some(text) => {
            let head: String = text.chars().take(44).collect();
            format!("  in   \"{head}…")
        }
        None => line.to_owned(),
    };
    graph.lines().map(cut).collect::<Vec<_>>().join("\n") + "\n"
}
