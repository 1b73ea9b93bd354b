//! A provider that others wrote, which breaks on demand and judges how its client takes it.
//!
//! The list of what can break is its own, so that a newer version brings newer cases.

use std::process::Command;

use openprogram_core::guest::ToolsWanted;
use openprogram_core::session::Node;
use openprogram_core::tool::ToolChoice;
use openprogram_runtime::TurnRequest;
use openprogram_tests::host::named;
use serde_json::{Value, json};

use super::server::Server;
use super::{nodes, part, prepared, project_at};

/// Prints all scenarios as the provider takes them, one list of behaviours each.
const LIST: &str = r#"
import dataclasses, json, typing
from llmock import scenarios as s, verdict as v
kinds = lambda name: typing.get_args(getattr(s, name))
found = [{"type": "fail", "status": status} for status in sorted(v.RETRYABLE | v.NON_RETRYABLE)]
found += [{"type": "fail", "status": status, "retry_after": 0.3} for status in (429, 503)]
found += [{"type": "stream_fault", "kind": kind, "after_chunks": after, "stall_seconds": 0.2}
          for kind in kinds("StreamFaultKind") for after in (0, 1, 4)]
found += [{"type": "tool_fault", "kind": kind} for kind in kinds("ToolFaultKind")]
found += [{"type": "delay", "seconds": 0.1}, {"type": "slow_first_token", "seconds": 0.1}]
found += [{"type": "reply", "text": "scripted"},
          {"type": "reply", "tool_calls": [{"name": "double", "arguments": {"number": 3}}]}]
known = set(s._TYPE_NAMES)
assert {one["type"] for one in found} == known, known
print(json.dumps(found))
"#;

fn scenarios() -> Option<Vec<Value>> {
    let listed = Command::new(part("venv/bin/python")?)
        .args(["-c", LIST])
        .output();
    let listed = listed.expect("Python runs");
    assert!(listed.status.success(), "{listed:?}");
    Some(serde_json::from_slice(&listed.stdout).expect("a list"))
}

/// The judge takes a reply with a broken piece for one that was read to its end, unless it sees the
/// connection close before it has sent the rest. The graph shows whether the reply was refused.
fn is_mistaken(finding: &Value, nodes: &[Node]) -> bool {
    let mut ends = nodes.iter().filter_map(|node| node.end.as_ref());
    finding["code"] == "malformed_chunk_ignored"
        && ends.any(|end| {
            let mut failed = end.attempts.iter().map(|attempt| named(&attempt.failure));
            failed.any(|failed| failed == "llm provider")
        })
}

fn judge() -> Option<Server> {
    let mut command = Command::new(part("venv/bin/llmock")?);
    // The port that it really has is in a line of the server below it.
    command.args(["serve", "--port", "0"]);
    Some(Server::start(&mut command, "Uvicorn running on"))
}

#[tokio::test]
async fn no_scenario_of_the_judge_ends_in_a_bad_verdict() {
    let (Some(server), Some(scenarios)) = (judge(), scenarios()) else {
        return;
    };
    let mut findings = Vec::new();
    let mut count = 0;
    for protocol in [("openai", "/v1"), ("anthropic", "/anthropic")] {
        let project = project_at(&server, protocol, &["healthy"]);
        let prepared = prepared(&project).await;
        for scenario in &scenarios {
            server.ask("POST", "/_llmock/reset", None);
            let behaviors = json!({"behaviors": [scenario]});
            server.ask("POST", "/_llmock/scenario", Some(&behaviors));
            let mut request = TurnRequest::text("Double the number 3.");
            request.turn.tools = ToolsWanted::Named(vec!["double".to_owned()]);
            request.turn.tool_choice = ToolChoice::Auto;
            request.turn.max_iterations = 4;
            let outcome = prepared.runtime.exec(request).await;
            let nodes = nodes(&prepared, outcome.session.as_ref()).await;
            let pending = server.ask("GET", "/_llmock/scenario", None);
            assert_eq!(pending["pending"], json!([]), "{scenario} did not happen");
            assert!(nodes.iter().all(|node| node.end.is_some()), "{scenario}");
            let verdict = server.ask("GET", "/_llmock/verdict", None);
            let found = verdict["findings"].as_array().unwrap().iter();
            let found = found.filter(|finding| !is_mistaken(finding, &nodes));
            findings.extend(found.map(|f| format!("{scenario} {}: {f}", protocol.0)));
            count += 1;
        }
    }
    println!("{count} scenarios were judged");
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}
