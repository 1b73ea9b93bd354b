//! The schemas of functions at every provider: of the samples, of the guests of tests, and of random
//! signatures. Each is checked by the rules of each dialect, and takes and refuses what it has to by
//! the judgement of two validators.

mod rules;

use std::sync::Arc;

use openprogram_component::{LoadedComponent, MetadataMode};
use openprogram_core::function::{
    Function, FunctionRef, Offer, Parameter, parameters_to_json_schema,
};
use openprogram_core::schema::Type;
use openprogram_core::structured::{ResponseFormat, Validator};
use openprogram_core::tool::{ToolNames, ToolSpec, is_tool_name};
use openprogram_core::{Json, JsonObject};
use openprogram_providers::{Profile, Protocol, TextProtocol, tools_as_sent};
use openprogram_tests::fuzz::Random;
use openprogram_tests::host::engine;
use openprogram_tests::signatures::{Asked, AskedSchema, ValueMaker, ask_second, component};
use openprogram_tests::{guests, many};

use tokio::sync::OnceCell;

use crate::signatures::signatures;

/// Every function that can be offered, of everything that there is, and how a failure names it.
async fn functions() -> Vec<FunctionRef> {
    static FUNCTIONS: OnceCell<Vec<FunctionRef>> = OnceCell::const_new();
    FUNCTIONS.get_or_init(read_functions).await.clone()
}

async fn read_functions() -> Vec<FunctionRef> {
    let mut components = Vec::new();
    for name in guests::compiled() {
        components.push((name.to_owned(), guests::bytes(name), MetadataMode::Run));
    }
    let (_, signatures) = signatures();
    for (block, signatures) in signatures.chunks(20).enumerate() {
        let bytes = component(signatures).unwrap();
        components.push((format!("random-{block}"), bytes, MetadataMode::Skip));
    }
    let many = many::component("many", 200, 1);
    components.push(("many".to_owned(), many, MetadataMode::Skip));
    let mut all = Vec::new();
    for (name, bytes, mode) in components {
        // Some guests are there to be refused.
        if let Ok(loaded) = LoadedComponent::load(engine(), &name, bytes, mode).await {
            let functions = loaded.functions().iter();
            let offered = functions.filter(|function| function.offer == Offer::Offered);
            all.extend(offered.cloned().map(Arc::new));
        }
    }
    assert!(all.len() > 500, "{}", all.len());
    all
}

/// The functions as tools, each of its component alone, so that names stay short.
fn specs(functions: &[FunctionRef]) -> Vec<(&Function, ToolSpec)> {
    let spec = |function: &FunctionRef| {
        let names = ToolNames::new([Arc::clone(function)]).unwrap();
        names.specs().remove(0)
    };
    functions.iter().map(|f| (&**f, spec(f))).collect()
}

fn sent(protocol: TextProtocol, spec: &ToolSpec, profile: &Profile) -> Result<Json, String> {
    let tools = tools_as_sent(protocol, profile, std::slice::from_ref(spec));
    let mut tools = tools.map_err(|failure| failure.message)?;
    Ok(tools[0].take())
}

#[tokio::test]
async fn schemas_keep_the_rules_of_every_provider() {
    let functions = functions().await;
    let chat = Profile::conservative(Protocol::OpenAi);
    let messages = Profile::conservative(Protocol::Anthropic);
    for (function, spec) in specs(&functions) {
        let owner = format!("{} of {}", function.name, function.name.component);
        let (name, schema) = (&spec.name, &spec.parameters);
        assert_eq!(
            rules::everywhere(name, schema),
            [""; 0],
            "{owner}: {schema}"
        );
        assert_eq!(rules::gemini(name, schema), [""; 0], "{owner}: {schema}");
        assert!(!spec.description.is_empty(), "{owner}");
        let properties = schema["properties"].as_object().unwrap().keys();
        let declared = function.visible_parameters();
        assert!(
            properties.eq(declared.map(|p| &p.field.name)),
            "{owner}: {schema}"
        );
        // What is sent is that schema, and nothing was done to it.
        let tool = sent(TextProtocol::OpenAi, &spec, &chat).unwrap();
        let expected = serde_json::json!({
            "type": "function",
            "function": {"name": name, "description": spec.description, "parameters": schema},
        });
        assert_eq!(tool.to_string(), expected.to_string(), "{owner}");
        let tool = sent(TextProtocol::Anthropic, &spec, &messages).unwrap();
        let expected = serde_json::json!({
            "name": name, "description": spec.description, "input_schema": schema,
        });
        assert_eq!(tool.to_string(), expected.to_string(), "{owner}");
    }
}

#[tokio::test]
async fn schemas_of_strict_tools_are_told_whole_by_the_rules_or_refused_by_name() {
    let functions = functions().await;
    for (protocol, wire, field) in [
        (
            TextProtocol::OpenAi,
            Protocol::OpenAi,
            "/function/parameters",
        ),
        (
            TextProtocol::Anthropic,
            Protocol::Anthropic,
            "/input_schema",
        ),
    ] {
        let mut profile = Profile::conservative(wire);
        profile.strict_tools = true;
        let (mut told, mut refused) = (0, 0);
        for (function, mut spec) in specs(&functions) {
            spec.strict = true;
            match sent(protocol, &spec, &profile) {
                Ok(tool) => {
                    let schema = tool.pointer(field).unwrap();
                    let wrong = match protocol {
                        TextProtocol::OpenAi => rules::openai_strict(schema),
                        TextProtocol::Anthropic => rules::anthropic_strict(schema),
                    };
                    assert_eq!(wrong, [""; 0], "{}: {schema}", function.name);
                    assert_eq!(rules::everywhere(&spec.name, schema), [""; 0]);
                    told += 1;
                }
                Err(message) => {
                    assert!(message.contains("provider"), "{}: {message}", function.name);
                    refused += 1;
                }
            }
        }
        // Both kinds are there, or the rules were never asked.
        assert!(told > 20 && refused > 20, "{wire:?}: {told} {refused}");
    }
}

/// Arguments that a model could write.
fn arguments(function: &Function, random: &mut Random) -> JsonObject {
    let mut arguments = JsonObject::new();
    for parameter in function.visible_parameters() {
        let options = &parameter.field.options;
        let value = match random.pick(options) {
            Some(option) => option.clone(),
            None => ValueMaker::new(random, true).value(&parameter.field.ty),
        };
        let is_left_out = value.is_null() && matches!(parameter.field.ty, Type::Option(_));
        if !is_left_out {
            arguments.insert(parameter.field.name.clone(), value);
        }
    }
    arguments
}

/// The same with one thing wrong.
fn wrong(function: &Function, good: &JsonObject) -> Vec<Json> {
    let mut wrong = Vec::new();
    let mut more = good.clone();
    more.insert("no_such_parameter".to_owned(), 1.into());
    wrong.push(Json::Object(more));
    for parameter in function.visible_parameters() {
        let name = &parameter.field.name;
        if parameter.is_required() {
            let mut less = good.clone();
            less.shift_remove(name);
            wrong.push(Json::Object(less));
        }
        for value in unfit(parameter) {
            let mut other = good.clone();
            other.insert(name.clone(), value);
            wrong.push(Json::Object(other));
        }
    }
    wrong
}

/// Values that a parameter does not take.
fn unfit(parameter: &Parameter) -> Vec<Json> {
    let number = |text: String| serde_json::from_str(&text).unwrap();
    let mut ty = &parameter.field.ty;
    while let Type::Option(inner) = ty {
        ty = inner;
    }
    match ty {
        Type::Integer(kind) => {
            let (low, high) = kind.bounds().unwrap();
            vec![
                number((low - 1).to_string()),
                number((high + 1).to_string()),
                0.5.into(),
                "1".into(),
            ]
        }
        Type::Json => vec![],
        Type::Char => vec!["".into(), "ab".into(), 1.into()],
        Type::Enum(_) => vec!["no such case".into(), 1.into()],
        Type::Flags(_) => vec![Json::Array(vec!["no such case".into()]), "x".into()],
        Type::Bytes | Type::String => vec![1.into(), Json::Array(vec![])],
        Type::FixedList(_, _) | Type::Tuple(_) => vec![Json::Array(vec![]), true.into()],
        Type::Bool => vec!["true".into(), 1.into()],
        _ => vec![true.into()],
    }
}

/// A validator of ours, of a schema that has to be one.
pub(super) fn validator(schema: &Json) -> Validator {
    let format = ResponseFormat::read(schema).unwrap_or_else(|error| panic!("{schema}: {error}"));
    let validator = format.validator();
    validator.unwrap_or_else(|error| panic!("{schema}: {error}"))
}

#[tokio::test]
async fn schemas_take_what_their_functions_take_by_two_validators() {
    let functions = functions().await;
    let mut random = Random::new(7);
    let mut asked = Asked::default();
    let mut owners = Vec::new();
    for function in &functions {
        let schema = parameters_to_json_schema(function.visible_parameters());
        let own = validator(&schema);
        let good: Vec<_> = (0..3).map(|_| arguments(function, &mut random)).collect();
        let invalid = wrong(function, &good[0]);
        let valid: Vec<_> = good.into_iter().map(Json::Object).collect();
        let owner = function.name.to_string();
        for value in &valid {
            let checked = own.check(value);
            assert!(
                checked.is_ok(),
                "{owner}: {schema} refuses {value}: {checked:?}"
            );
        }
        for value in &invalid {
            assert!(own.check(value).is_err(), "{owner}: {schema} takes {value}");
        }
        asked.schemas.push(AskedSchema {
            schema,
            valid,
            invalid,
        });
        owners.push(owner);
    }
    let Some(answered) = ask_second(&asked).unwrap() else {
        return;
    };
    assert_eq!(answered.schemas.len(), owners.len());
    for (owner, wrong) in owners.iter().zip(&answered.schemas) {
        assert_eq!(*wrong, None, "{owner}");
    }
}

#[tokio::test]
async fn names_of_tools_are_of_every_provider_and_lead_back() {
    let functions = functions().await;
    // All in one set, as in a turn with every component.
    let names = ToolNames::new(functions.iter().cloned()).unwrap();
    assert_eq!(names.len(), functions.len());
    for function in &functions {
        let name = names.name_of(&function.name).unwrap();
        assert!(is_tool_name(name), "{name}");
        assert_eq!(names.function(name).unwrap().name, function.name);
    }
}
