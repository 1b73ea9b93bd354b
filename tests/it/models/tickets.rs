//! The sample `handle-ticket` with a real small language model: its tools are called, what they find
//! goes back, and replies that pick nothing end in a second question and a named failure.

use openprogram_core::failure::FailureCode;
use openprogram_core::session::{Node, NodeKind, NodeStatus};
use openprogram_runtime::RunRequest;
use serde_json::json;

use super::insisting::Insisting;
use super::small::{TRIES, model};
use super::{PROTOCOLS, nodes, prepared, project};

const TICKET: &str = "My order A-1001 arrived broken.";

#[tokio::test]
async fn handle_ticket_looks_something_up_and_fails_by_name_when_no_pick_follows() {
    let Some(server) = model(Some("tools.jinja")) else {
        return;
    };
    let insisting = Insisting::before(&server);
    for (protocol, path) in PROTOCOLS {
        let project = project(
            &format!("{}{path}", insisting.url()),
            protocol,
            &["tickets"],
        );
        let prepared = prepared(&project).await;
        let mut seen = Vec::new();
        let (mut was_answered, mut was_asked_again) = (false, false);
        for _ in 0..TRIES {
            let mut request = RunRequest::new("handle-ticket");
            request.arguments.insert("ticket".to_owned(), json!(TICKET));
            let outcome = prepared.runtime.run_function(request).await;
            seen = nodes(&prepared, outcome.session.as_ref()).await;
            was_answered |= answered_tool(&seen).is_some();
            let turns = seen.iter().filter(|n| n.opened.kind == NodeKind::Llm);
            let is_named = outcome.result.is_err_and(|failure| {
                failure.code == FailureCode::Decision && failure.details.contains_key("kind")
            });
            was_asked_again |= is_named && turns.count() >= 3;
            if was_answered && was_asked_again {
                break;
            }
        }
        assert!(was_answered, "{protocol}: no call was answered: {seen:#?}");
        assert!(was_asked_again, "{protocol}: no named failure: {seen:#?}");
    }
}

/// A call of a tool that its guest answered, with a result or with an error of its own, and that the
/// next request reads.
fn answered_tool(nodes: &[Node]) -> Option<&Node> {
    nodes.iter().find(|node| {
        let is_tool = node.opened.kind == NodeKind::Code && node.opened.caller.is_some();
        let by_guest = node.end.as_ref().is_some_and(|end| match &end.failure {
            None => end.status == NodeStatus::Completed,
            Some(failure) => failure.code == FailureCode::FunctionFailed,
        });
        let reads = |next: &Node| next.opened.reads.contains(&node.opened.id);
        let is_read = nodes
            .iter()
            .any(|n| reads(n) && n.status() == NodeStatus::Completed);
        is_tool && by_guest && is_read
    })
}
