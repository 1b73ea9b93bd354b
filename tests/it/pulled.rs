//! Turns that go on beside their function, end to end: a real guest, scripted models.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use openprogram_core::Json;
use openprogram_core::content::{ContentBlock, ToolCall};
use openprogram_core::llm::{
    Abilities, EventSink, LlmError, LlmFailure, LlmReason, ModelEvent, ModelReply, ModelRequest,
    Provider, StopReason,
};
use openprogram_core::session::{Node, NodeStatus};
use openprogram_runtime::testing::{ScriptedProvider, ScriptedReply};
use openprogram_runtime::{Event, RunRequest, event_channel};
use openprogram_tests::guests;
use openprogram_tests::host::{RunningHost, TestHost, named};
use serde_json::json;

async fn puller(replies: Vec<ScriptedReply>) -> (Arc<ScriptedProvider>, RunningHost) {
    let model = Arc::new(ScriptedProvider::new(replies).request_bytes_max(16 << 20));
    let host = TestHost::new().guest("puller").provider(model.clone());
    (model, host.start().await)
}

/// What a function gives, or the name of its failure, with all replies used.
pub(super) async fn told(replies: Vec<ScriptedReply>, function: &str, arguments: Json) -> Json {
    let (model, host) = puller(replies).await;
    let told = match host.call(function, arguments).await {
        Ok(value) => value,
        Err(failure) => named(&failure).into(),
    };
    assert_eq!(model.n_left(), 0, "{told}");
    told
}

fn call(name: &str, arguments: &str) -> ScriptedReply {
    ScriptedReply::calls("", [("c", name, arguments)])
}

#[tokio::test]
async fn puller_is_told_in_order_and_runs_its_closures_between_its_functions() {
    let both = || {
        let calls = [
            ("x", "add_up", "{\"a\": 1, \"b\": 2}"),
            ("y", "double", "{\"n\": 4}"),
            ("z", "add_up", "{\"a\": 0, \"b\": 2}"),
        ];
        vec![ScriptedReply::calls("Let me see.", calls), "Done.".into()]
    };
    let mut expected = vec![
        "text Let me see.",
        "usage 0",
        "use add_up {\"a\": 1, \"b\": 2}",
        "result add_up: 3",
        "use double {\"n\": 4}",
        "result double: 8",
        "use add_up {\"a\": 0, \"b\": 2}",
        "result add_up: The call failed (function-failed): there is nothing to add",
        "text Done.",
        "usage 0",
        "Done.",
    ];
    let prompt = json!({"prompt": "Work."});
    assert_eq!(told(both(), "watch", prompt.clone()).await, json!(expected));
    expected.insert(expected.len() - 1, "over true None");
    assert_eq!(told(both(), "stream", prompt).await, json!(expected));
}

#[tokio::test]
async fn puller_is_not_called_with_arguments_that_do_not_fit() {
    let replies = vec![
        call("add_up", "{\"a\": \"one\", \"b\": 2}"),
        call("add_up", "{\"a\": 1"),
        "Given up.".into(),
    ];
    let counted = told(replies, "count", json!({"prompt": "Work."})).await;
    assert_eq!(counted, json!({"text": "Given up.", "sum": 0, "count": 0}));
}

#[tokio::test]
async fn puller_runs_a_thousand_calls() {
    let replies = (0..10).map(|reply| {
        let call = |n: u32| {
            ContentBlock::ToolCall(ToolCall {
                id: format!("{reply}-{n}"),
                name: "add_up".to_owned(),
                arguments: json!({"a": reply * 100 + n, "b": 1}).to_string(),
            })
        };
        ScriptedReply::Reply(ModelReply {
            content: (0..100).map(call).collect(),
            stop: StopReason::ToolUse,
            usage: None,
        })
    });
    let replies = replies.chain(["Done.".into()]).collect();
    let counted = told(replies, "count", json!({"prompt": "Work."})).await;
    assert_eq!(
        counted,
        json!({"text": "Done.", "sum": 500_500, "count": 1_000})
    );
}

#[tokio::test]
async fn puller_makes_several_turns_at_once() {
    let late = |text: &str, ms| ScriptedReply::from(text).after(Duration::from_millis(ms));
    let prompts = json!({"prompts": ["a", "b", "c"]});
    let replies = vec![late("A", 600), late("B", 200), late("C", 400)];
    // One after the other, A would be told first.
    assert_eq!(
        told(replies, "at-once", prompts.clone()).await,
        json!([
            "1 text B",
            "1 usage 0",
            "2 text C",
            "2 usage 0",
            "0 text A",
            "0 usage 0"
        ])
    );
    let refused = LlmError::Failed(LlmFailure::new(LlmReason::Auth, false, "no"));
    let replies = vec![late("A", 60), refused.into(), late("C", 40)];
    let joined = told(replies, "join", prompts).await;
    assert_eq!(joined, json!(["A", "llm", "C"]));
}

#[tokio::test]
async fn puller_is_told_of_a_retry_and_not_of_what_broke_before_it_looked() {
    let lost = LlmError::Failed(LlmFailure::new(LlmReason::Transport, true, "lost"));
    let replies = vec![
        // The piece and the error come at once, so that the function never sees the piece.
        ScriptedReply::Broken(vec![ModelEvent::Text("Hal".to_owned())], lost),
        "Whole.".into(),
    ];
    assert_eq!(
        told(replies, "watch", json!({"prompt": "Work."})).await,
        json!([
            "again 1",
            "retry 1 transport",
            "text Whole.",
            "usage 0",
            "Whole."
        ])
    );
}

#[tokio::test]
async fn puller_that_does_not_read_misses_pieces_and_has_the_whole_reply() {
    const PIECE: usize = 300 << 10;
    let piece = |_| ContentBlock::Text("p".repeat(PIECE));
    let long = ScriptedReply::Reply(ModelReply {
        content: (0..5).map(piece).collect(),
        stop: StopReason::End,
        usage: None,
    });
    let replies = vec![long, "waited".into()];
    assert_eq!(
        told(replies, "unread", json!({"prompt": "x"})).await,
        json!([
            format!("text of {} bytes", 3 * PIECE),
            "missed 2",
            "usage 0",
            format!("{} bytes", 5 * PIECE)
        ])
    );
}

/// Writes the beginning of a reply and never goes on.
struct Hanging;

#[async_trait]
impl Provider for Hanging {
    fn name(&self) -> &'static str {
        "test:hanging"
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            text: true,
            decide: false,
        }
    }

    async fn complete(
        &self,
        _: &ModelRequest,
        sink: &dyn EventSink,
    ) -> Result<ModelReply, LlmError> {
        sink.event(ModelEvent::Text("Hal".to_owned()));
        pending().await
    }
}

async fn hanging() -> RunningHost {
    let host = TestHost::new().guest("puller").provider(Arc::new(Hanging));
    host.start().await
}

#[tokio::test]
async fn puller_ends_a_turn_by_dropping_it_or_by_its_own_end() {
    let host = hanging().await;
    let ends = async |session: &Option<_>| {
        let nodes = host.nodes(session.as_ref().unwrap()).await;
        nodes.iter().map(Node::status).collect::<Vec<_>>()
    };
    for drops in [true, false] {
        let arguments = json!({"prompt": "x", "drops": drops});
        let outcome = host.run("give-up", arguments).await;
        assert_eq!(outcome.result, Ok("text Hal".into()));
        let ends = ends(&outcome.session).await;
        let expected = [NodeStatus::Completed, NodeStatus::Cancelled];
        assert_eq!(ends, expected, "{drops}");
    }
    let mut request = RunRequest::new("join");
    let prompts = json!(["a", "b"]);
    request.arguments.insert("prompts".to_owned(), prompts);
    let stop = tokio::time::sleep(Duration::from_millis(200));
    let outcome = host.runtime.run_function_until(request, stop).await;
    assert_eq!(named(&outcome.result.unwrap_err()), "cancelled");
    let ends = ends(&outcome.session).await;
    assert_eq!(ends, [NodeStatus::Cancelled; 3]);
}

#[tokio::test]
async fn puller_holds_so_many_turns_and_no_more() {
    let host = hanging().await;
    for (count, expected) in [(64, "64"), (65, "limit-reached open_turns")] {
        let arguments = json!({"prompt": "x", "count": count});
        let told = match host.call("hoard", arguments).await {
            Ok(count) => count.to_string(),
            Err(failure) => named(&failure),
        };
        assert_eq!(told, expected);
    }
}

#[tokio::test]
async fn puller_answers_each_call_once_and_by_its_id() {
    let asked = || call("add_up", "{\"a\": 1, \"b\": 2}");
    let both = || vec![asked(), "Done.".into()];
    for (how, timeout_ms, replies, expected) in [
        (
            "twice",
            60_000,
            both(),
            json!(["c taken", "c not-found", "Done.", "ready true"]),
        ),
        (
            "unknown",
            60_000,
            both(),
            json!(["nobody not-found", "c taken", "Done.", "ready true"]),
        ),
        (
            "broken",
            60_000,
            both(),
            json!([
                "c invalid-argument",
                "c limit-reached",
                "c taken",
                "Done.",
                "ready true"
            ]),
        ),
        ("never", 100, vec![asked()], json!(["llm", "ready true"])),
    ] {
        let arguments = json!({"how": how, "timeout_ms": timeout_ms});
        assert_eq!(told(replies, "answer", arguments).await, expected, "{how}");
    }
}

#[tokio::test]
async fn puller_is_refused_tools_that_cannot_be() {
    let named = |name: &str, parameters: Json| json!({"name": name, "parameters": parameters});
    let path = |path: &str| json!(format!("invalid-argument {path}"));
    for (function, arguments, expected) in [
        ("named", named("add up", json!({})), "local_tools[0].name"),
        (
            "named",
            named("add", json!({"n": {"type": "numb"}})),
            "local_tools[0].parameters.n.type",
        ),
        ("wrongly", json!({"how": "local-tool"}), "local_tools"),
    ] {
        let told = told(Vec::new(), function, arguments).await;
        assert_eq!(told, path(expected), "{function}");
    }
}

#[tokio::test]
async fn a_pollable_of_any_wasi_0_2_is_that_of_a_turn() {
    for version in ["0.2.0", "0.2.3", "0.2.6", "0.2.12"] {
        let world = format!(
            "package test:ready;
             interface api {{ go: func() -> bool; }}
             world ready {{
                 import openprogram:agentic/runtime@0.1.0;
                 import wasi:io/poll@{version};
                 export api;
             }}"
        );
        let module = format!(
            "(module
                 (import \"openprogram:agentic/runtime@0.1.0\" \"[method]turn.subscribe\"
                     (func (param i32) (result i32)))
                 (import \"wasi:io/poll@{version}\" \"[method]pollable.ready\"
                     (func (param i32) (result i32)))
                 (memory (export \"memory\") 1)
                 (func (export \"test:ready/api#go\") (result i32) i32.const 1))"
        );
        let bytes = guests::assemble_on_wasi(version, &world, &module).unwrap();
        let host = TestHost::new().component("ready", bytes).start().await;
        let went = host.call("go", json!({})).await;
        assert_eq!(went, Ok(true.into()), "{version}");
    }
}

#[tokio::test]
async fn puller_tells_the_person_who_watches_how_far_it_is() {
    let (_, host) = puller(Vec::new()).await;
    let (sender, mut events) = event_channel(1_000);
    let mut request = RunRequest::new("report");
    request.arguments.insert("count".to_owned(), 1_000.into());
    request.events = Some(sender);
    assert!(host.runtime.run_function(request).await.result.is_ok());
    let mut reports = Vec::new();
    while let Some(event) = events.next().await {
        if let Event::Progress {
            function,
            message,
            percent,
            ..
        } = event
        {
            assert_eq!(function, "test:puller/guest.report");
            reports.push((message, percent));
        }
    }
    assert_eq!(reports[0], ("Step 0".to_owned(), Some(0)));
    // The call may take longer than the second that ten of them are for.
    assert!((10..=60).contains(&reports.len()), "{}", reports.len());
}
