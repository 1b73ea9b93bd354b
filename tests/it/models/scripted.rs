//! A scripted provider that others wrote, over both protocols: closing picks, limits of requests,
//! replies that break.

use std::process::Command;
use std::time::{Duration, Instant};

use openprogram_core::Json;
use openprogram_core::decision::{OptionKind, OptionSpec};
use openprogram_core::failure::Failure;
use openprogram_core::guest::Closing;
use openprogram_core::session::{Node, NodeKind};
use openprogram_runtime::{Event, TurnRequest, event_channel};
use openprogram_tests::host::named;
use serde_json::json;

use super::server::Server;
use super::{PROTOCOLS, beside, nodes, part, prepared, project_at};
use openprogram::app::Prepared;

/// The provider, which sends eight letters every thirty milliseconds: slow enough to be cut.
fn scripted() -> Option<Server> {
    let program = part("node/node_modules/.bin/llmock")?;
    let mut command = Command::new(program);
    command.arg("-f").arg(beside("scripted.json"));
    command.args(["-p", "0", "-l", "30", "-c", "8", "--strict"]);
    Some(Server::start(&mut command, "listening on"))
}

fn closing() -> Closing {
    let option = |name: &str, kind| OptionSpec {
        name: name.to_owned(),
        description: None,
        kind,
    };
    Closing {
        options: vec![
            option("twice", OptionKind::Function("double".to_owned())),
            option("done", OptionKind::Value("CLOSED".into())),
        ],
        context: openprogram_core::JsonObject::new(),
    }
}

/// What a turn that closes with a decision gives, and the kinds and names of its nodes.
async fn close(prepared: &Prepared, text: &str) -> (Result<Json, Failure>, Vec<String>) {
    let outcome = prepared
        .runtime
        .exec_closing(TurnRequest::text(text), closing())
        .await;
    let nodes = nodes(prepared, outcome.session.as_ref()).await;
    let shown = nodes.iter().map(|node| match node.opened.kind {
        NodeKind::User => "user".to_owned(),
        NodeKind::Llm => "llm".to_owned(),
        NodeKind::Code => format!("code {}", node.opened.input),
    });
    (outcome.result, shown.collect())
}

#[tokio::test]
async fn closing_picks_run_their_function_or_give_their_value() {
    let Some(server) = scripted() else { return };
    for protocol in PROTOCOLS {
        let project = project_at(&server, protocol, &["healthy"]);
        let prepared = prepared(&project).await;
        for (text, value, expected) in [
            ("close with a value", json!("CLOSED"), &["user", "llm"][..]),
            (
                "close with a function",
                json!(42),
                &["user", "llm", "code {\"number\":21}"],
            ),
            (
                "call a tool",
                json!("CLOSED"),
                &["user", "llm", "code {\"number\":4}", "llm"],
            ),
        ] {
            let (result, shown) = close(&prepared, text).await;
            assert_eq!(result, Ok(value), "{text} {protocol:?}");
            assert_eq!(shown, expected, "{text} {protocol:?}");
        }
    }
}

/// The failures of the tries of the only request of a session, and its text where it ended well.
fn tries(nodes: &[Node]) -> (Vec<String>, Option<Json>) {
    let turns: Vec<_> = nodes
        .iter()
        .filter(|n| n.opened.kind == NodeKind::Llm)
        .collect();
    let [turn] = turns[..] else {
        panic!("not one request: {nodes:#?}");
    };
    let end = turn.end.as_ref().unwrap();
    let failed = end.attempts.iter().map(|attempt| named(&attempt.failure));
    (failed.collect(), end.output.clone())
}

#[tokio::test]
async fn a_reply_that_fails_before_anything_was_shown_is_asked_for_again() {
    for protocol in PROTOCOLS {
        // The script counts, so every protocol has a server of its own.
        let Some(server) = scripted() else { return };
        let project = project_at(&server, protocol, &[]);
        let prepared = prepared(&project).await;
        for (text, least, failure, reply) in [
            (
                "too many requests",
                Duration::from_secs(1),
                "llm rate_limit",
                "Thank you for waiting.",
            ),
            (
                "cut in the middle",
                Duration::ZERO,
                "llm transport",
                "The whole reply.",
            ),
            (
                "no JSON at all",
                Duration::ZERO,
                "llm provider",
                "JSON again.",
            ),
        ] {
            let began = Instant::now();
            let outcome = prepared.runtime.exec(TurnRequest::text(text)).await;
            assert!(began.elapsed() >= least, "{text} {protocol:?}");
            let nodes = nodes(&prepared, outcome.session.as_ref()).await;
            let expected = (vec![failure.to_owned()], Some(json!(reply)));
            assert_eq!(tries(&nodes), expected, "{text} {protocol:?}");
        }
    }
}

#[tokio::test]
async fn a_reply_that_was_shown_and_is_cut_fails_and_is_not_asked_for_again() {
    for protocol in PROTOCOLS {
        let Some(server) = scripted() else { return };
        let project = project_at(&server, protocol, &[]);
        let prepared = prepared(&project).await;
        let (sender, mut events) = event_channel(1_000);
        let mut request = TurnRequest::text("cut in the middle");
        request.events = Some(sender);
        let outcome = prepared.runtime.exec(request).await;
        let failure = outcome.result.unwrap_err();
        assert_eq!(named(&failure), "llm transport", "{protocol:?} {failure}");
        let nodes = nodes(&prepared, outcome.session.as_ref()).await;
        assert_eq!(tries(&nodes), (vec!["llm transport".to_owned()], None));
        let mut shown = String::new();
        while let Some(event) = events.next().await {
            match event {
                Event::Text { text, .. } => shown.push_str(&text),
                Event::ModelRetried { .. } => panic!("asked again after {shown:?}"),
                _ => {}
            }
        }
        let whole = "A reply that is long enough to be cut somewhere in its middle.";
        assert!(!shown.is_empty() && whole.starts_with(&shown), "{shown:?}");
    }
}
