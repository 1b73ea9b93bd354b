//! Requests and graphs as text, for snapshots. Long texts stand whole: a snapshot is there to be read.

use std::fmt::Write;

use openprogram_core::content::{ContentBlock, Role};
use openprogram_core::id::NodeId;
use openprogram_core::llm::ModelRequest;
use openprogram_core::session::{Node, NodeKind, NodeStatus};
use openprogram_core::tool::ToolChoice;

/// One request as the model sees it.
#[must_use]
pub fn shown_request(request: &ModelRequest) -> String {
    let mut shown = String::new();
    if let Some(system) = &request.system {
        add_block(&mut shown, "system", system);
    }
    for message in &request.messages {
        let role = match message.role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        for block in &message.content {
            match block {
                ContentBlock::Text(text) => add_block(&mut shown, role, text),
                ContentBlock::CacheMark(ttl) => {
                    let text = match ttl.as_str() {
                        None => "(cached up to here)".to_owned(),
                        Some(ttl) => format!("(cached up to here for {ttl})"),
                    };
                    add_block(&mut shown, role, &text);
                }
                ContentBlock::ToolCall(call) => {
                    let text = format!("{}({})", call.name, call.arguments);
                    add_block(&mut shown, &format!("{role} calls {}", call.id), &text);
                }
                ContentBlock::ToolResult(result) => {
                    let what = if result.is_error { "error" } else { "result" };
                    let label = format!("{role} {what} of {}", result.id);
                    add_block(&mut shown, &label, &result.text);
                }
                other => {
                    let text = match other.as_media() {
                        Some(media) => format!("({}, {} bytes)", media.mime_type, media.data.len()),
                        None => format!("{other:?}"),
                    };
                    add_block(&mut shown, role, &text);
                }
            }
        }
    }
    for tool in &request.tools {
        let label = format!("tool {}", tool.name);
        let text = format!("{}\n{}", tool.description, tool.parameters);
        add_block(&mut shown, &label, &text);
    }
    if request.tool_choice != ToolChoice::Auto {
        add_block(
            &mut shown,
            "tool choice",
            &format!("{:?}", request.tool_choice),
        );
    }
    if let Some(parallel) = request.parallel_tool_calls {
        add_block(&mut shown, "parallel calls", &parallel.to_string());
    }
    shown
}

fn add_block(shown: &mut String, label: &str, text: &str) {
    let _ = writeln!(shown, "[{label}]"); // Writing to a string does not fail.
    shown.push_str(text);
    shown.push('\n');
}

/// The nodes of a session, one paragraph each, with the edges as numbers of the order.
///
/// Times and digests are left out: they say nothing about behaviour.
#[must_use]
pub fn shown_graph(nodes: &[Node]) -> String {
    let seq_of = |id: &NodeId| {
        let node = nodes.iter().find(|node| node.opened.id == *id);
        node.map_or_else(|| "?".to_owned(), |node| node.seq.to_string())
    };
    let mut shown = String::new();
    for node in nodes {
        let opened = &node.opened;
        let kind = match opened.kind {
            NodeKind::User => "user",
            NodeKind::Llm => "llm",
            NodeKind::Code => "code",
        };
        let mut line = |text: String| {
            shown.push_str(&text);
            shown.push('\n');
        };
        let mut head = format!("{} {kind} {}", node.seq, opened.name);
        if let Some(caller) = &opened.caller {
            let _ = write!(head, " caller={}", seq_of(caller)); // As above.
        }
        if let Some(predecessor) = &opened.predecessor {
            let _ = write!(head, " after={}", seq_of(predecessor)); // As above.
        }
        if !opened.reads.is_empty() {
            let reads: Vec<_> = opened.reads.iter().map(seq_of).collect();
            let _ = write!(head, " reads={}", reads.join(",")); // As above.
        }
        line(head);
        line(format!("  in   {}", opened.input));
        let end_facts = node.end.iter().flat_map(|end| &end.facts);
        for (name, fact) in opened.facts.iter().chain(end_facts) {
            let measured = ["digest", "component", "cpu_us", "wall_us", "memory_bytes"];
            if measured.contains(&name.as_str()) {
                continue;
            }
            let names_a_node = nodes
                .iter()
                .find(|node| fact.as_str() == Some(node.opened.id.as_str()));
            match names_a_node {
                Some(named) => line(format!("  fact {name}=node {}", named.seq)),
                None => line(format!("  fact {name}={fact}")),
            }
        }
        match &node.end {
            None => line("  open".to_owned()),
            Some(end) => {
                if let Some(output) = &end.output {
                    line(format!("  out  {output}"));
                }
                if let Some(failure) = &end.failure {
                    let code = failure.code.as_str();
                    line(format!("  {code}: {}", failure.message));
                }
                if end.status == NodeStatus::Cancelled {
                    line("  cancelled".to_owned());
                }
            }
        }
    }
    shown
}
