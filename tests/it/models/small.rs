//! A real small language model behind llama.cpp's own server. Its picks are near chance, so only
//! how things are joined is asserted.

use std::path::Path;
use std::process::Command;

use openprogram_core::content::ContentBlock;
use openprogram_core::failure::FailureCode;
use openprogram_core::function::RuntimeRole;
use openprogram_core::guest::{ExecRequest, ToolsWanted};
use openprogram_core::session::{Node, NodeKind, NodeStatus};
use openprogram_core::tool::ToolChoice;
use openprogram_runtime::TurnRequest;
use serde_json::json;

use super::server::Server;
use super::{PROTOCOLS, beside, nodes, part, prepared, project_at};

/// A model that small does not always do what it is made to do.
pub(super) const TRIES: usize = 5;

const OPTIONS: &str = r#"{"form": "dict", "entries": [
    {"key": "refund", "handler": {"kind": "schema", "schema": {"amount": "int"}, "desc": "Pay back."}},
    {"key": "done", "handler": {"kind": "value", "value": "CLOSED", "desc": "Nothing is left."}}
]}"#;

/// The model with its own template, or with one that knows tools.
pub(super) fn model(template: Option<&str>) -> Option<Server> {
    let python = part("venv/bin/python")?;
    let mut command = Command::new(python);
    command
        .arg(beside("serve_model.py"))
        .arg(part("model.gguf")?);
    command.args(template.map(beside));
    Some(Server::start(&mut command, "listening on"))
}

/// The model as a decision endpoint in front of it needs it; slots are kept in `folder`.
pub(super) fn model_with_slots(folder: &Path) -> Option<Server> {
    let python = part("venv/bin/python")?;
    let mut command = Command::new(python);
    command
        .arg(beside("serve_model.py"))
        .arg(part("model.gguf")?);
    command.arg("--slots").arg(folder);
    Some(Server::start(&mut command, "listening on"))
}

#[test]
fn malformed_picks_end_in_a_second_question_and_a_named_failure() {
    let Some(server) = model(None) else { return };
    for protocol in PROTOCOLS {
        let project = project_at(&server, protocol, &[]).file("options.json", OPTIONS);
        let arguments = ["decide", "--options", "options.json", "--json"];
        let prompt = ["--prompt", "Tell a short story about the sea."];
        let arguments = [&arguments[..], &prompt].concat();
        let found = (0..TRIES).find_map(|_| {
            let outcome = project.run(&arguments);
            (outcome.code != 0).then_some(outcome)
        });
        let outcome = found.expect("the model picks by chance only");
        assert_eq!(outcome.code, 4, "{outcome:?}");
        let kinds = [
            "no_action",
            "unknown_call",
            "missing_required",
            "type_mismatch",
            "enum_mismatch",
            "bad_args",
        ];
        let kind = outcome.json()["error"]["kind"].clone();
        assert!(kinds.iter().any(|known| kind == *known), "{outcome:?}");
        let session = outcome
            .stderr
            .lines()
            .find_map(|line| line.strip_prefix("session "));
        let shown = project.run(&["show", session.unwrap(), "--json"]).json();
        let turns: Vec<_> = shown["nodes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|node| json!([node["kind"], node["name"], node["status"]]))
            .collect();
        assert_eq!(turns, vec![json!(["llm", "home:m", "completed"]); 2]);
        assert!(outcome.stderr.contains(" tokens"), "{outcome:?}");
    }
}

#[tokio::test]
async fn a_tool_call_reaches_a_guest_and_its_result_goes_back() {
    let Some(server) = model(Some("tools.jinja")) else {
        return;
    };
    for protocol in PROTOCOLS {
        let project = project_at(&server, protocol, &["healthy"]);
        let prepared = prepared(&project).await;
        let mut seen = Vec::new();
        for _ in 0..TRIES {
            let said = vec![ContentBlock::Text("Double the number 4.".to_owned())];
            let turn = ExecRequest {
                tools: ToolsWanted::Named(vec!["double".to_owned()]),
                tool_choice: ToolChoice::Required,
                max_iterations: 2,
                ..ExecRequest::new(RuntimeRole::Main, said)
            };
            let mut request = TurnRequest::new(Vec::new());
            request.turn = turn;
            let outcome = prepared.runtime.exec(request).await;
            // The second reply is free to call again, which the turn has no room for.
            if let Err(failure) = &outcome.result {
                assert_eq!(failure.code, FailureCode::LimitReached, "{failure}");
            }
            seen = nodes(&prepared, outcome.session.as_ref()).await;
            if seen.iter().any(is_answered_call) {
                break;
            }
        }
        let call = seen.iter().find(|node| is_answered_call(node));
        let call = call.unwrap_or_else(|| panic!("no call arrived: {seen:#?}"));
        let given = call.opened.input["number"].as_u64().unwrap();
        let given = u32::try_from(given).unwrap();
        let end = call.end.as_ref().unwrap();
        assert_eq!(end.output, Some(json!(given.wrapping_mul(2))));
        let reads = |node: &&Node| node.opened.reads.contains(&call.opened.id);
        let next = seen.iter().find(reads).unwrap();
        assert_eq!(next.status(), NodeStatus::Completed, "{next:#?}");
    }
}

fn is_answered_call(node: &Node) -> bool {
    node.opened.kind == NodeKind::Code && node.status() == NodeStatus::Completed
}
