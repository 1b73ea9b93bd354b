//! Scripted replies through whole decisions and turns that close with one, over recorded cases.
//!
//! The cases are data taken from another implementation of the same protocol; types and errors
//! have its names and are translated here.

use std::sync::{Arc, Mutex};

use openprogram_core::content::ContentBlock;
use openprogram_core::decision::{OptionKind, OptionSpec};
use openprogram_core::function::{Function, Parameter, RuntimeRole};
use openprogram_core::guest::{CallError, Closing, ExecRequest};
use openprogram_core::schema::{Field, IntegerKind, RecordType, Type};
use openprogram_core::{Json, JsonObject};
use serde_json::json;

use super::{decision, option, run, text};
use crate::Providers;
use crate::testing::{NativeCall, NativeFunctions, ScriptedProvider, function, passed_on};

const CASES: &str = include_str!("../../fixtures/decision_flows.json");

/// Cases that come out differently on purpose: the failure or result here, and the model requests.
/// A case whose menu is no container of options cannot be written and is left out.
const DIFFERENT: [(&str, &str, usize); 7] = [
    // A name that is no text is a wrong name, and the model is asked again.
    ("flow/make_unhashable_call", "ok \"CONVERSATION_OVER\"", 2),
    // A menu without options is refused before a model is asked.
    ("flow/make_empty_options", "invalid-argument", 0),
    ("flow/make_empty_list", "invalid-argument", 0),
    // The error of a function is data with a code of its own, and where there is one option and
    // nothing to fill in no model is asked.
    ("flow/make_fn_raises", "function-failed", 0),
    // A negative number of retries cannot be written; zero is the nearest.
    ("flow/make_retries_negative", "ok \"CONVERSATION_OVER\"", 1),
    // The last valid pick of a reply counts, and what was quoted before it does not run.
    ("flow/exec_first_json_wins", "ok \"CONVERSATION_OVER\"", 1),
    ("flow/exec_empty", "invalid-argument", 0),
];

#[tokio::test]
async fn every_recorded_decision_comes_out_as_it_must() {
    let cases: Json = serde_json::from_str(CASES).unwrap();
    let cases = cases["cases"].as_array().unwrap();
    let mut n_law = 0;
    for case in cases {
        n_law += usize::from(case["status"] == "law");
        check(case).await;
    }
    assert_eq!((cases.len(), n_law), (23, 16));
}

/// What was run, in order, with its arguments.
type Calls = Arc<Mutex<Vec<Json>>>;

async fn check(case: &Json) {
    let id = case["id"].as_str().unwrap();
    let calls = Calls::default();
    let mut functions = NativeFunctions::default();
    let mut options = Vec::new();
    for (key, handler) in handlers(&case["options"]) {
        if handler["kind"] == "fn" {
            let called = handler["fn"]["name"].as_str().unwrap();
            functions = with_recorded(functions, &handler["fn"], &calls);
            options.push(named(
                key.unwrap_or(called),
                handler,
                OptionKind::Function(called.into()),
            ));
        } else {
            let name = key.or(handler["name"].as_str()).unwrap();
            options.push(named(name, handler, kind_of(handler)));
        }
    }
    let runtimes = match case["entry"].as_str().unwrap() {
        "make_no_runtime_param" => vec![],
        _ => vec![text("runtime")],
    };
    let case_of_entry = case.clone();
    let entry = move |call: NativeCall| decide(call, case_of_entry.clone(), options.clone());
    functions = functions.with(function("entry", "route", "Routes.", runtimes), entry);
    let replies = case["replies"].as_array().unwrap();
    let replies = replies.iter().map(|reply| reply.as_str().unwrap());
    let model = Arc::new(ScriptedProvider::new(replies));
    let runtime = granted_all(functions, model.clone());

    let outcome = run(&runtime, "route", json!({})).await;
    let shown = match &outcome.result {
        Ok(value) => format!("ok {value}"),
        Err(failure) => failure.code.as_str().to_owned(),
    };
    let different = DIFFERENT.iter().find(|(different, ..)| *different == id);
    let expected = match different {
        Some((_, expected, asked)) => ((*expected).to_owned(), *asked),
        None => {
            assert_eq!(case["status"], "law", "{id} has no outcome of its own");
            let asked = case["model_calls"].as_u64().unwrap();
            (translated_outcome(case), usize::try_from(asked).unwrap())
        }
    };
    assert_eq!((shown, model.requests().len()), expected, "{id}");
    let ran = match id {
        "flow/exec_first_json_wins" => vec![],
        _ => translated_calls(case),
    };
    assert_eq!(*calls.lock().unwrap(), ran, "{id}");
}

/// Puts the decision of a case, alone or at the end of a turn.
async fn decide(call: NativeCall, case: Json, options: Vec<OptionSpec>) -> Result<Json, CallError> {
    let prompt = &case["prompt"];
    if case["entry"] == "exec" {
        let parts = prompt.as_array().into_iter().flatten();
        let texts = prompt.as_str().into_iter();
        let texts = texts.chain(parts.map(|part| part["text"].as_str().unwrap()));
        let content = texts.map(|text| ContentBlock::Text(text.to_owned()));
        let request = ExecRequest::new(RuntimeRole::Main, content.collect());
        let closing = Closing {
            options,
            context: JsonObject::new(),
        };
        let closed = call.services.exec_closing(request, closing).await;
        return closed.map_err(passed_on);
    }
    let retries = case["max_retries"].as_i64().unwrap_or(1).max(0);
    let mut request = decision(prompt.as_str().unwrap(), options);
    request.max_retries = u32::try_from(retries).unwrap();
    call.services.make(request).await.map_err(passed_on)
}

/// The component of the entry may call every function of the case.
fn granted_all(functions: NativeFunctions, model: Arc<ScriptedProvider>) -> crate::Runtime {
    let catalog = functions.catalog();
    super::runtime_with(functions, |parts| {
        for function in catalog.component("flow") {
            let name = function.name.to_string();
            parts.policy.grant(&catalog, "entry", &name).unwrap();
        }
        parts.providers = Providers::all(model);
    })
}

fn handlers(options: &Json) -> Vec<(Option<&str>, &Json)> {
    match options["form"].as_str().unwrap() {
        "dict" => {
            let entries = options["entries"].as_array().unwrap();
            entries
                .iter()
                .map(|entry| (entry["key"].as_str(), &entry["handler"]))
                .collect()
        }
        "list" => {
            let items = options["items"].as_array().unwrap();
            items.iter().map(|item| (None, item)).collect()
        }
        other => panic!("options in the form {other}"),
    }
}

fn named(name: &str, handler: &Json, kind: OptionKind) -> OptionSpec {
    let mut option = option(name, kind);
    option.description = handler["desc"].as_str().map(str::to_owned);
    option
}

fn kind_of(handler: &Json) -> OptionKind {
    match handler["kind"].as_str().unwrap() {
        "value" => OptionKind::Value(handler["value"].clone()),
        "schema" | "text" | "tuple1" => OptionKind::Schema(record(&handler["schema"])),
        other => panic!("a handler of kind {other}"),
    }
}

fn record(schema: &Json) -> RecordType {
    let fields = schema.as_object().into_iter().flatten();
    RecordType {
        name: None,
        description: None,
        fields: fields
            .map(|(name, ty)| Field::new(name, schema_type(ty)))
            .collect(),
    }
}

fn schema_type(schema: &Json) -> Type {
    match schema {
        Json::Array(items) => Type::List(Box::new(schema_type(&items[0]))),
        Json::Object(object) if object.contains_key("$t") => named_type(&object["$t"]),
        Json::Object(_) => Type::Record(Arc::new(record(schema))),
        other => panic!("{other} is no type"),
    }
}

fn named_type(name: &Json) -> Type {
    match name.as_str().unwrap() {
        "str" => Type::String,
        "int" => Type::Integer(IntegerKind::Any),
        other => panic!("no case has the type {other}"),
    }
}

/// Adds a function that records its arguments and says that it ran, or fails.
fn with_recorded(functions: NativeFunctions, described: &Json, calls: &Calls) -> NativeFunctions {
    let calls = Arc::clone(calls);
    let name = described["name"].as_str().unwrap().to_owned();
    let raises = described["raises"].as_str().map(str::to_owned);
    let recorded = native(&name, described);
    functions.with(recorded, move |call: NativeCall| {
        let called = json!({"fn": name.clone(), "kwargs": call.arguments});
        calls.lock().unwrap().push(called);
        let outcome = match &raises {
            Some(error) => Err(CallError::Function(error.clone().into())),
            None => Ok(format!("<ran {name}>").into()),
        };
        async move { outcome }
    })
}

fn native(name: &str, described: &Json) -> Function {
    let parameters = described["params"].as_array().unwrap();
    let parameter = |described_parameter: &Json| {
        let name = described_parameter["name"].as_str().unwrap();
        let mut parameter = Parameter::new(name, named_type(&described_parameter["type"]));
        parameter.default = described_parameter.get("default").cloned();
        let input = &described["input"][name];
        parameter.field.description = input["description"].as_str().map(str::to_owned);
        parameter.field.options = input["options"].as_array().cloned().unwrap_or_default();
        parameter
    };
    let doc = described["doc"].as_str().unwrap();
    function("flow", name, doc, parameters.iter().map(parameter))
}

fn translated_outcome(case: &Json) -> String {
    match case["error"]["type"].as_str() {
        None => format!("ok {}", case["result"]),
        Some("DecisionError") => "decision".to_owned(),
        Some("ValueError") => "invalid-argument".to_owned(),
        Some("RuntimeError") => "no-runtime".to_owned(),
        Some(other) => panic!("no case expects {other}"),
    }
}

/// The calls with the defaults that this host fills in before it calls.
fn translated_calls(case: &Json) -> Vec<Json> {
    let described: Vec<_> = handlers(&case["options"])
        .into_iter()
        .filter(|(_, handler)| handler["kind"] == "fn")
        .map(|(_, handler)| &handler["fn"])
        .collect();
    let calls = case["calls"].as_array().unwrap().iter();
    calls
        .map(|call| {
            let function = described.iter().find(|f| f["name"] == call["fn"]).unwrap();
            let given = call["kwargs"].as_object().unwrap();
            let mut arguments = JsonObject::new();
            for parameter in function["params"].as_array().unwrap() {
                let name = parameter["name"].as_str().unwrap();
                if let Some(value) = given.get(name).or(parameter.get("default")) {
                    arguments.insert(name.to_owned(), value.clone());
                }
            }
            json!({"fn": call["fn"], "kwargs": arguments})
        })
        .collect()
}
