//! The events of a chat as JSON, one object on a line, for programs.

use openprogram_core::Json;
use openprogram_core::failure::Failure;
use openprogram_core::grant::AccessOutcome;
use openprogram_core::guest::ExecReply;
use openprogram_core::id::SessionId;
use openprogram_core::session::NodeStatus;
use openprogram_runtime::Event;
use serde_json::json;

use crate::commands::exit::{ErrorForm, Report};

/// An event; `None` for one that programs are not told of.
pub(super) fn event(event: &Event) -> Option<Json> {
    Some(match event {
        Event::Text { node, text } => {
            json!({"type": "text", "node": node.as_str(), "text": text})
        }
        Event::Thinking { node, text } => {
            json!({"type": "thinking", "node": node.as_str(), "text": text})
        }
        Event::ToolUse { node, call } => json!({
            "type": "tool_use",
            "node": node.as_str(),
            "id": call.id,
            "name": call.name,
            "arguments": call.arguments,
        }),
        Event::ToolResult { node, tool, result } => json!({
            "type": "tool_result",
            "node": node.as_str(),
            "id": result.id,
            "name": tool,
            "text": result.text,
            "is_error": result.is_error,
        }),
        Event::CallStarted { node, function, .. } => {
            json!({"type": "call_started", "node": node.as_str(), "function": function})
        }
        Event::CallEnded {
            node,
            function,
            status,
        } => json!({
            "type": "call_ended",
            "node": node.as_str(),
            "function": function,
            "completed": *status == NodeStatus::Completed,
        }),
        Event::ModelRequestStarted { node, model } => {
            json!({"type": "request", "node": node.as_str(), "model": model})
        }
        Event::ModelRetried { node, retry } => json!({
            "type": "retry",
            "node": node.as_str(),
            "attempt": retry.attempt,
            "reason": retry.reason.as_str(),
            "error": retry.error,
            "sleep_s": retry.sleep.as_secs_f64(),
        }),
        Event::AccessRefused {
            component, access, ..
        } => match &access.outcome {
            AccessOutcome::Refused { message, needed } => json!({
                "type": "refused",
                "component": component,
                "message": message,
                "kind": access.kind.key(),
                "needed": needed,
            }),
            AccessOutcome::Granted { .. } => return None,
        },
        Event::AnswerNotKept { what, problem, .. } => {
            json!({"type": "answer_not_kept", "what": what, "problem": problem})
        }
        Event::Missed { count } => json!({"type": "missed", "count": count}),
        _ => return None,
    })
}

/// The end of a turn that gave a reply.
pub(super) fn reply(session: Option<&SessionId>, reply: &ExecReply) -> Json {
    json!({
        "type": "reply",
        "session": session.map(SessionId::as_str),
        "text": reply.text,
        "usage": reply.usage.to_json(),
        "stop": reply.stop.word(),
    })
}

/// Something typed that was not done, in the form of an error of a command.
pub(super) fn refused(report: &Report) -> Json {
    let mut event = report.to_json(ErrorForm::Plain);
    event["type"] = "refused_command".into();
    event
}

/// The end of a turn that failed.
pub(super) fn error(session: Option<&SessionId>, failure: &Failure) -> Json {
    json!({
        "type": "error",
        "session": session.map(SessionId::as_str),
        "error": failure.to_json(),
    })
}
