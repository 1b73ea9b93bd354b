//! Tests of whole calls, over small components written as text.

mod caches;
mod calls;
mod limit;
mod links;
mod live;
mod load;
mod metadata;
mod model;
mod turns;

use std::sync::Arc;

use async_trait::async_trait;
use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::function::RuntimeRef;
use openprogram_core::guest::{
    CallOutcome, CallScope, DecisionRequest, FunctionCall, FunctionHost as _, HostServices,
    PickedOption,
};
use openprogram_core::id::SessionId;
use openprogram_core::{Json, JsonObject};

use crate::{
    ComponentHost, Engine, EngineOptions, Limits, LoadError, LoadedComponent, MetadataMode,
};

/// Services that answer with what they were asked.
pub(crate) struct EchoServices;

#[async_trait]
impl HostServices for EchoServices {
    fn model(&self, runtime: RuntimeRef) -> Result<String, Failure> {
        Ok(format!("model of {}", runtime.word()))
    }

    fn system(&self, _runtime: RuntimeRef) -> Result<Option<String>, Failure> {
        Ok(None)
    }

    fn set_system(&self, _runtime: RuntimeRef, _text: Option<String>) -> Result<(), Failure> {
        Ok(())
    }

    fn session_id(&self) -> String {
        "op-0123456789abcdef".to_owned()
    }

    async fn make(&self, request: DecisionRequest) -> Result<Json, Failure> {
        Ok(Json::String(format!("{request:?}")))
    }

    async fn pick(&self, request: DecisionRequest) -> Result<PickedOption, Failure> {
        let first = request.options.into_iter().next();
        let first =
            first.ok_or_else(|| Failure::new(FailureCode::InvalidArgument, "no options"))?;
        Ok(PickedOption {
            name: first.name,
            arguments: JsonObject::new(),
            how: "text".to_owned(),
            confidence: None,
            handed_off: None,
            turn: None,
        })
    }

    async fn call(&self, name: &str, arguments: Json) -> Result<Json, Failure> {
        Ok(Json::Array(vec![name.into(), arguments]))
    }
}

/// A component whose one core module has `body` and whose interface `acme:test/f@1.0.0` exports
/// the functions lifted by `lifts`, written `name (type)`.
pub(crate) fn component(body: &str, lifts: &[(&str, &str)]) -> Vec<u8> {
    let mut text = format!(
        r#"(component
            (core module $m
                (memory (export "memory") 1)
                (global $next (mut i32) (i32.const 1024))
                (func (export "realloc") (param i32 i32 i32 i32) (result i32)
                    (local $at i32)
                    (local.set $at (i32.and
                        (i32.add (global.get $next) (i32.const 7)) (i32.const -8)))
                    (global.set $next (i32.add (local.get $at) (local.get 3)))
                    (block $fits
                        (br_if $fits (i32.le_u (global.get $next)
                            (i32.mul (memory.size) (i32.const 65536))))
                        (br_if $fits (i32.ne (i32.const -1) (memory.grow (i32.add (i32.const 1)
                            (i32.div_u (local.get 3) (i32.const 65536))))))
                        unreachable)
                    (local.get $at))
                {body})
            (core instance $i (instantiate $m))"#
    );
    for (name, ty) in lifts {
        text.push_str(&format!(
            r#"(func ${name} {ty} (canon lift (core func $i "{name}")
                (memory $i "memory") (realloc (func $i "realloc"))))"#
        ));
    }
    text.push_str("(instance $f");
    for (name, _) in lifts {
        text.push_str(&format!(r#" (export "{name}" (func ${name}))"#));
    }
    text.push_str(r#") (export "acme:test/f@1.0.0" (instance $f)))"#);
    wat::parse_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// An engine with few slots and no cache.
pub(crate) fn engine() -> Engine {
    Engine::new(EngineOptions {
        slots: 4,
        memory_bytes_max: 16 << 20,
        ..EngineOptions::default()
    })
}

pub(crate) async fn load(bytes: Vec<u8>) -> Result<LoadedComponent, LoadError> {
    LoadedComponent::load(&engine(), "test", bytes, MetadataMode::Skip).await
}

/// One host with one component.
pub(crate) struct TestHost {
    pub(crate) host: ComponentHost,
    pub(crate) component: LoadedComponent,
}

impl TestHost {
    pub(crate) async fn new(bytes: Vec<u8>, limits: Limits) -> Self {
        let engine = engine();
        let component = LoadedComponent::load(&engine, "test", bytes, MetadataMode::Skip)
            .await
            .unwrap();
        let mut host = ComponentHost::new(engine, limits);
        host.add(component.clone());
        Self { host, component }
    }

    pub(crate) async fn call(&self, function: &str, arguments: &str) -> CallOutcome {
        self.call_at(function, arguments, 0).await
    }

    pub(crate) async fn call_at(&self, function: &str, arguments: &str, depth: u32) -> CallOutcome {
        let mut functions = self.component.functions().iter();
        let function = functions.find(|f| f.name.function == function).unwrap();
        self.host
            .call(FunctionCall {
                function: Arc::new(function.clone()),
                arguments: serde_json::from_str(arguments).unwrap(),
                services: Arc::new(EchoServices),
                depth,
                totals: Arc::default(),
                scope: CallScope::top(SessionId::from_bits(0)),
            })
            .await
    }

    /// The outcome in one line: the value, or the kind of error and its message.
    pub(crate) async fn line(&self, function: &str, arguments: &str) -> String {
        line(&self.call(function, arguments).await)
    }
}

/// An outcome in one line.
pub(crate) fn line(outcome: &CallOutcome) -> String {
    use openprogram_core::guest::CallError;
    match &outcome.result {
        Ok(value) => value.to_string(),
        Err(CallError::LimitReached { which, limit, .. }) => format!("limit {which} {limit}"),
        Err(CallError::Trapped { trap, .. }) => format!("trap {trap}"),
        Err(error) => error.to_string(),
    }
}
