//! Tests of components that serve a model, over small modules written as text.

use std::sync::Mutex;

use openprogram_core::content::{ContentBlock, Message, ToolCall};
use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::id::SessionId;
use openprogram_core::llm::{
    Abilities, EventSink, LlmError, LlmFailure, LlmReason, ModelEvent, ModelReply, ModelRequest,
    NoEvents, Provider as _, StopReason,
};
use openprogram_core::session::Usage;
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};

use crate::{GuestProvider, Limits, LoadedComponent, MetadataMode, contract};

/// A component whose `complete` has this body and gives the result at this address: 0 is a success,
/// 64 a failure of the code `llm`, 96 one of another code.
fn model(body: &str, result: u32) -> Vec<u8> {
    let text = format!(
        r#"(module
            (import "openprogram:agentic/completion@0.1.0" "[method]sink.text"
                (func $text (param i32 i32 i32)))
            (import "openprogram:agentic/completion@0.1.0" "[method]sink.thinking"
                (func $thinking (param i32 i32 i32)))
            (import "openprogram:agentic/completion@0.1.0" "[method]sink.tool-call"
                (func $call (param i32 i32 i32 i32 i32 i32 i32)))
            (import "openprogram:agentic/completion@0.1.0" "[method]sink.usage"
                (func $usage (param i32 i64 i64)))
            (import "openprogram:agentic/completion@0.1.0" "[method]sink.stop"
                (func $stop (param i32 i32 i32)))
            (import "openprogram:agentic/completion@0.1.0" "[method]prompt.messages"
                (func $messages (param i32 i32)))
            (import "openprogram:agentic/completion@0.1.0" "[resource-drop]prompt"
                (func $drop-prompt (param i32)))
            (import "openprogram:agentic/completion@0.1.0" "[resource-drop]sink"
                (func $drop-sink (param i32)))
            (memory (export "memory") 2)
            (data (i32.const 64) "\01\00\00\00\00\02\00\00\03\00\00\00\10\02\00\00\04\00\00\00\20\02\00\00\2a\00\00\00")
            (data (i32.const 96) "\01\00\00\00\05\02\00\00\09\00\00\00\10\02\00\00\04\00\00\00\20\02\00\00\2a\00\00\00")
            (data (i32.const 256) "hello world")
            (data (i32.const 288) "c1")
            (data (i32.const 290) "add")
            (data (i32.const 296) "{{\22a\22: 1}}")
            (data (i32.const 320) "length")
            (data (i32.const 512) "llm")
            (data (i32.const 517) "not-found")
            (data (i32.const 528) "busy")
            (data (i32.const 544) "{{\22reason\22:\22provider\22,\22http_status\22: 503  }}")
            (global $next (mut i32) (i32.const 1024))
            (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
                (global.set $next (i32.add (global.get $next) (local.get 3)))
                (i32.sub (global.get $next) (local.get 3)))
            (func (export "openprogram:agentic/model@0.1.0#complete")
                (param $prompt i32) (param $sink i32) (result i32)
                {body}
                (call $drop-prompt (local.get $prompt))
                (call $drop-sink (local.get $sink))
                (i32.const {result})))"#
    );
    let mut module = wat::parse_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let resolve = contract::resolve();
    let (package, _) = resolve.packages.iter().next_back().unwrap();
    let world = resolve.select_world(&[package], Some("model-provider"));
    embed_component_metadata(&mut module, resolve, world.unwrap(), StringEncoding::UTF8).unwrap();
    let encoder = ComponentEncoder::default().validate(true).module(&module);
    encoder.unwrap().encode().unwrap()
}

async fn provider(bytes: Vec<u8>, limits: Limits) -> GuestProvider {
    let engine = super::engine();
    let component = LoadedComponent::load(&engine, "test", bytes, MetadataMode::Skip);
    let component = component.await.unwrap();
    assert!(component.is_model() && component.is_provider() && !component.is_decider());
    GuestProvider::new("component:test", engine, component, limits).unwrap()
}

fn request() -> ModelRequest {
    let session = SessionId::parse("op-0123456789abcdef").unwrap();
    ModelRequest::new(None, vec![Message::user("hi")], session)
}

async fn complete(body: &str, result: u32) -> Result<ModelReply, LlmError> {
    let limits = Limits {
        reply_bytes: 100,
        reply_calls: 2,
        cpu_ms: 50,
        ..Limits::default()
    };
    let model = provider(model(body, result), limits).await;
    model.complete(&request(), &NoEvents).await
}

/// The failure of a component that misbehaves: its code and what it names.
async fn misbehaved(body: &str) -> (FailureCode, String) {
    match complete(body, 0).await {
        Err(LlmError::Guest(failure)) => {
            let details = &failure.details;
            let named = details.get("which").or_else(|| details.get("trap"));
            let named = named.and_then(|named| named.as_str()).unwrap_or_default();
            (failure.code, named.to_owned())
        }
        other => panic!("{other:?}"),
    }
}

const HELLO: &str = "(call $text (local.get $sink) (i32.const 256) (i32.const 5))";
const WORLD: &str = "(call $text (local.get $sink) (i32.const 261) (i32.const 6))";
const CALL: &str = "(call $call (local.get $sink) (i32.const 288) (i32.const 2)
    (i32.const 290) (i32.const 3) (i32.const 296) (i32.const 8))";

#[tokio::test]
async fn what_the_sink_is_given_is_shown_and_is_the_reply() {
    struct Shown(Mutex<Vec<ModelEvent>>);
    impl EventSink for Shown {
        fn event(&self, event: ModelEvent) {
            self.0.lock().unwrap().push(event);
        }
    }
    let body = format!(
        "(call $thinking (local.get $sink) (i32.const 256) (i32.const 11))
         {HELLO} {WORLD} {CALL}
         (call $usage (local.get $sink) (i64.const 12) (i64.const 3))
         (call $stop (local.get $sink) (i32.const 320) (i32.const 6))"
    );
    let model = provider(model(&body, 0), Limits::default()).await;
    let abilities = Abilities {
        text: true,
        decide: false,
    };
    assert_eq!(
        (model.name(), model.abilities()),
        ("component:test", abilities)
    );
    let shown = Shown(Mutex::default());
    let reply = model.complete(&request(), &shown).await.unwrap();
    let call = ToolCall {
        id: "c1".to_owned(),
        name: "add".to_owned(),
        arguments: r#"{"a": 1}"#.to_owned(),
    };
    let expected = ModelReply {
        content: vec![
            ContentBlock::Text("hello world".to_owned()),
            ContentBlock::ToolCall(call.clone()),
        ],
        stop: StopReason::Length,
        usage: Some(Usage {
            input_tokens: 12,
            output_tokens: 3,
            ..Usage::default()
        }),
    };
    assert_eq!(reply, expected);
    let events = [
        ModelEvent::Thinking("hello world".to_owned()),
        ModelEvent::Text("hello".to_owned()),
        ModelEvent::Text(" world".to_owned()),
        ModelEvent::ToolUse(call),
    ];
    assert_eq!(*shown.0.lock().unwrap(), events);
    // Nothing is left of a request when the next one comes.
    let again = model.complete(&request(), &NoEvents).await.unwrap();
    assert_eq!(again, expected);
}

#[tokio::test]
async fn a_component_reads_the_messages() {
    let body = "(call $messages (local.get $prompt) (i32.const 128))
        (call $text (local.get $sink) (i32.load (i32.const 128)) (i32.load (i32.const 132)))";
    let reply = complete(body, 0).await.map(|reply| reply.text());
    let messages = r#"[{"role":"user","content":[{"type":"text","text":"hi"}]}]"#;
    assert_eq!(reply, Ok(messages.to_owned()));
}

#[tokio::test]
async fn saying_nothing_is_an_empty_reply() {
    let empty = ModelReply {
        content: Vec::new(),
        stop: StopReason::End,
        usage: None,
    };
    assert_eq!(complete("", 0).await, Ok(empty));
}

#[tokio::test]
async fn a_failure_is_the_models_or_the_components_own() {
    let mut busy = LlmFailure::new(LlmReason::Provider, true, "busy");
    busy.http_status = Some(503);
    assert_eq!(complete(HELLO, 64).await, Err(LlmError::Failed(busy)));
    let lost = Failure::new(FailureCode::NotFound, "busy")
        .with("reason", "provider")
        .with("http_status", 503);
    assert_eq!(complete(HELLO, 96).await, Err(LlmError::Guest(lost)));
}

#[tokio::test]
async fn a_component_that_misbehaves_ends_by_a_named_failure() {
    let endless = |body: &str| format!("(loop $again {body} (br $again))");
    for (body, code, named) in [
        (endless(HELLO), FailureCode::LimitReached, "reply_bytes"),
        (endless(CALL), FailureCode::LimitReached, "reply_calls"),
        (endless(""), FailureCode::LimitReached, "cpu_ms"),
        (
            "unreachable".to_owned(),
            FailureCode::Trapped,
            "unreachable",
        ),
    ] {
        assert_eq!(misbehaved(&body).await, (code, named.to_owned()), "{body}");
    }
}

#[tokio::test]
async fn requests_of_one_run_compute_so_long_together() {
    let limits = Limits {
        cpu_ms: 20,
        run_cpu_ms: 30,
        ..Limits::default()
    };
    let model = provider(model("(loop $again (br $again))", 0), limits).await;
    for request in [request(), request()] {
        let mut ends = Vec::new();
        for _ in 0..3 {
            let Err(LlmError::Guest(failure)) = model.complete(&request, &NoEvents).await else {
                panic!("it ended");
            };
            ends.push(failure.details["which"].clone());
        }
        assert_eq!(ends, ["cpu_ms", "run_cpu_ms", "run_cpu_ms"]);
    }
}

#[tokio::test]
async fn a_component_that_is_no_model_is_not_opened() {
    let engine = super::engine();
    let bytes = super::component("(func (export \"f\"))", &[("f", "")]);
    let component = LoadedComponent::load(&engine, "test", bytes, MetadataMode::Skip);
    let component = component.await.unwrap();
    let (name, limits) = ("component:test", Limits::default());
    let opened = GuestProvider::new(name, engine, component, limits);
    assert_eq!(
        opened.map(|_| ()).unwrap_err().to_string(),
        "the component does not fit this host: `test` exports neither \
         `openprogram:agentic/model@0.1.0` nor `openprogram:agentic/decider@0.1.0`, so it cannot \
         be a model"
    );
}
