//! Spans, as a subscriber of the program gets them.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::sync::{Arc, LazyLock, Mutex};

use expect_test::expect;
use openprogram_core::content::ContentBlock;
use openprogram_core::llm::{LlmError, LlmFailure, LlmReason, ModelReply, StopReason};
use openprogram_core::session::Usage;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::{DefaultGuard, Interest};
use tracing::{Dispatch, Event, Metadata, Subscriber};

use super::runtime_with;
use super::shop::{run_work, shop, turn, working};
use crate::testing::{ScriptedProvider, ScriptedReply};
use crate::{Providers, SPAN_TARGET, TurnRequest};

/// Keeps every span with its attributes.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    spans: Vec<Span>,
    entered: Vec<u64>,
}

struct Span {
    parent: Option<u64>,
    attributes: BTreeMap<String, String>,
}

impl Subscriber for Kept {
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        Interest::sometimes()
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == SPAN_TARGET
    }

    fn new_span(&self, new: &Attributes<'_>) -> Id {
        let mut state = self.0.lock().unwrap();
        let mut span = Span {
            parent: state.entered.last().copied(),
            attributes: BTreeMap::new(),
        };
        new.record(&mut Attribute(&mut span.attributes));
        state.spans.push(span);
        Id::from_u64(state.spans.len() as u64)
    }

    fn record(&self, id: &Id, values: &Record<'_>) {
        let mut state = self.0.lock().unwrap();
        let index = usize::try_from(id.into_u64()).unwrap() - 1;
        values.record(&mut Attribute(&mut state.spans[index].attributes));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, id: &Id) {
        self.0.lock().unwrap().entered.push(id.into_u64());
    }

    fn exit(&self, id: &Id) {
        assert_eq!(self.0.lock().unwrap().entered.pop(), Some(id.into_u64()));
    }
}

struct Attribute<'a>(&'a mut BTreeMap<String, String>);

impl Visit for Attribute<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }
}

/// Begins to keep the spans of this thread.
///
/// Other tests run beside this one without a subscriber. One that lives as long as the process keeps
/// what they do from being remembered as `nobody listens here`.
fn kept() -> (Kept, DefaultGuard) {
    static LISTENS: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(Kept::default()));
    LazyLock::force(&LISTENS);
    let kept = Kept::default();
    let guard = tracing::subscriber::set_default(kept.clone());
    tracing::callsite::rebuild_interest_cache();
    (kept, guard)
}

impl Kept {
    /// Each span below its parent, with its attributes.
    fn shown(&self) -> String {
        let state = self.0.lock().unwrap();
        let mut shown = String::new();
        for span in &state.spans {
            let mut above = span.parent;
            let mut indent = String::new();
            while let Some(id) = above {
                indent.push_str("  ");
                above = state.spans[usize::try_from(id).unwrap() - 1].parent;
            }
            let name = &span.attributes["otel.name"];
            writeln!(shown, "{indent}{name}").unwrap();
            for (key, value) in span
                .attributes
                .iter()
                .filter(|(key, _)| *key != "otel.name")
            {
                writeln!(shown, "{indent}  · {key} = {value}").unwrap();
            }
        }
        shown
    }
}

fn reply(content: Vec<ContentBlock>, stop: StopReason) -> ScriptedReply {
    ScriptedReply::Reply(ModelReply {
        content,
        stop,
        usage: Some(Usage {
            input_tokens: 10,
            output_tokens: 2,
            cache_read: 4,
            cache_create: 0,
        }),
    })
}

/// A function whose turn calls a tool that works and one that fails, and whose model says a secret.
async fn spans(traces_content: bool) -> String {
    let calls = ScriptedReply::calls(
        "SAID-S3CRET",
        [
            ("a", "look_up", r#"{"order": "A-S3CRET"}"#),
            ("b", "explode", "{}"),
        ],
    );
    let last = vec![ContentBlock::Text("DONE-S3CRET".to_owned())];
    let busy = LlmError::from(LlmFailure::new(
        LlmReason::RateLimit,
        true,
        "try later S3CRET",
    ));
    let model = ScriptedProvider::new([calls, busy.into(), reply(last, StopReason::Length)]);
    let (kept, guard) = kept();
    let functions = working(turn(&["look_up", "explode"]));
    run_work(functions, Arc::new(model), |parts| {
        parts.traces_content = traces_content;
    })
    .await;
    drop(guard);
    kept.shown()
}

#[tokio::test(start_paused = true)]
async fn requests_tools_and_functions_are_spans_by_the_names_of_opentelemetry() {
    let shown = spans(false).await;
    assert!(
        !shown.contains("S3CRET") && !shown.contains("SECRET"),
        "{shown}"
    );
    expect![[r#"
        "invoke_agent test:shop/api.work"
          · gen_ai.agent.name = "test:shop/api.work"
          · gen_ai.conversation.id = "op-0000000000000001"
          · gen_ai.operation.name = "invoke_agent"
          · openprogram.node.id = "n-0000000000000002"
          "chat text"
            · gen_ai.conversation.id = "op-0000000000000001"
            · gen_ai.operation.name = "chat"
            · gen_ai.provider.name = "scripted"
            · gen_ai.request.model = "text"
            · gen_ai.response.finish_reasons = "[\"tool_call\"]"
            · openprogram.node.id = "n-0000000000000003"
            · otel.kind = "client"
          "execute_tool test:shop/api.look-up"
            · gen_ai.conversation.id = "op-0000000000000001"
            · gen_ai.operation.name = "execute_tool"
            · gen_ai.tool.name = "test:shop/api.look-up"
            · gen_ai.tool.type = "function"
            · openprogram.node.id = "n-0000000000000004"
          "execute_tool test:shop/api.explode"
            · error.type = "trapped"
            · gen_ai.conversation.id = "op-0000000000000001"
            · gen_ai.operation.name = "execute_tool"
            · gen_ai.tool.name = "test:shop/api.explode"
            · gen_ai.tool.type = "function"
            · openprogram.node.id = "n-0000000000000005"
          "chat text"
            · gen_ai.conversation.id = "op-0000000000000001"
            · gen_ai.operation.name = "chat"
            · gen_ai.provider.name = "scripted"
            · gen_ai.request.model = "text"
            · gen_ai.response.finish_reasons = "[\"length\"]"
            · gen_ai.usage.cache_read.input_tokens = 4
            · gen_ai.usage.input_tokens = 10
            · gen_ai.usage.output_tokens = 2
            · openprogram.node.id = "n-0000000000000006"
            · otel.kind = "client"
    "#]]
    .assert_eq(&shown);
}

#[tokio::test(start_paused = true)]
async fn what_was_said_is_in_spans_where_the_runtime_was_told_to_put_it_there() {
    let shown = spans(true).await;
    for said in ["SAID-S3CRET", "A-S3CRET", "DONE-S3CRET", "Be brief."] {
        assert!(shown.contains(said), "{said}: {shown}");
    }
    // No model may see it, so no span holds it.
    assert!(!shown.contains("MY-SECRET-CUSTOMER"), "{shown}");
}

#[tokio::test]
async fn a_turn_at_the_top_is_a_span_and_a_failure_has_a_type() {
    let broken = LlmError::from(LlmFailure::new(LlmReason::Auth, false, "S3CRET"));
    let model = ScriptedProvider::new([ScriptedReply::from(broken)]);
    let runtime = runtime_with(shop(), |parts| {
        parts.providers = Providers::all(Arc::new(model));
    });
    let (kept, guard) = kept();
    let outcome = runtime.exec(TurnRequest::text("S3CRET")).await;
    drop(guard);
    assert!(outcome.result.is_err());
    expect![[r#"
        "invoke_agent"
          · gen_ai.conversation.id = "op-0000000000000001"
          · gen_ai.operation.name = "invoke_agent"
          "chat text"
            · error.type = "auth"
            · gen_ai.conversation.id = "op-0000000000000001"
            · gen_ai.operation.name = "chat"
            · gen_ai.provider.name = "scripted"
            · gen_ai.request.model = "text"
            · otel.kind = "client"
    "#]]
    .assert_eq(&kept.shown());
}
