//! Spans of model requests, tools and functions, by the names that OpenTelemetry has for them.
//!
//! They go to whatever subscriber of `tracing` the program has set, and cost next to nothing
//! without one. Of what was said they hold nothing, unless the runtime was told to put it in.

use openprogram_core::content::{ContentBlock, Message, Role};
use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::function::Function;
use openprogram_core::id::{NodeId, SessionId};
use openprogram_core::llm::{ModelReply, ModelRequest, StopReason};
use openprogram_core::session::Usage;
use openprogram_core::text::cut;
use openprogram_core::{Json, JsonObject};
use serde_json::json;
use tracing::field::Empty;
use tracing::{Instrument as _, Span, info_span};

use crate::arguments::hidden_names;

/// The target of all spans, by which a subscriber tells them from those of libraries.
pub const SPAN_TARGET: &str = "openprogram";
/// Most bytes of one text that was said, in a span that holds it; a longer one is cut in its middle.
const CONTENT_BYTES_MAX: usize = 16 << 10;

/// The span of one model request with all its tries. `operation` is `chat` or `decide`.
pub(crate) fn model_request(operation: &str, model: &str, session: &SessionId) -> Span {
    let (provider, name) = model.split_once(':').unwrap_or(("", model));
    info_span!(
        target: SPAN_TARGET,
        "inference",
        "otel.name" = format!("{operation} {name}"),
        "otel.kind" = "client",
        "gen_ai.operation.name" = operation,
        "gen_ai.provider.name" = provider,
        "gen_ai.request.model" = name,
        "gen_ai.conversation.id" = session.as_str(),
        "gen_ai.response.finish_reasons" = Empty,
        "gen_ai.usage.input_tokens" = Empty,
        "gen_ai.usage.output_tokens" = Empty,
        "gen_ai.usage.cache_read.input_tokens" = Empty,
        "gen_ai.usage.cache_creation.input_tokens" = Empty,
        "gen_ai.system_instructions" = Empty,
        "gen_ai.input.messages" = Empty,
        "gen_ai.output.messages" = Empty,
        "openprogram.node.id" = Empty,
        "error.type" = Empty,
    )
}

/// The span of one call: of a tool, where a model asked for it inside of a turn, else of a function.
pub(crate) fn call(function: &Function, node: &NodeId, session: &SessionId, is_tool: bool) -> Span {
    // Written where somebody listens, and not for every call.
    let name = || function.name.to_string();
    if is_tool {
        return info_span!(
            target: SPAN_TARGET,
            "execute_tool",
            "otel.name" = format!("execute_tool {}", name()),
            "gen_ai.operation.name" = "execute_tool",
            "gen_ai.tool.name" = name(),
            "gen_ai.tool.type" = "function",
            "gen_ai.conversation.id" = session.as_str(),
            "gen_ai.tool.call.arguments" = Empty,
            "gen_ai.tool.call.result" = Empty,
            "openprogram.node.id" = node.as_str(),
            "error.type" = Empty,
        );
    }
    info_span!(
        target: SPAN_TARGET,
        "invoke_agent",
        "otel.name" = format!("invoke_agent {}", name()),
        "gen_ai.operation.name" = "invoke_agent",
        "gen_ai.agent.name" = name(),
        "gen_ai.conversation.id" = session.as_str(),
        "gen_ai.tool.call.arguments" = Empty,
        "gen_ai.tool.call.result" = Empty,
        "openprogram.node.id" = node.as_str(),
        "error.type" = Empty,
    )
}

/// The span of a call of a tool that is no function.
pub(crate) fn own_tool(name: &str, call: &str, session: &SessionId) -> Span {
    info_span!(
        target: SPAN_TARGET,
        "execute_tool",
        "otel.name" = format!("execute_tool {name}"),
        "gen_ai.operation.name" = "execute_tool",
        "gen_ai.tool.name" = name,
        "gen_ai.tool.type" = "extension",
        "gen_ai.tool.call.id" = call,
        "gen_ai.conversation.id" = session.as_str(),
    )
}

/// The span of a turn that no function makes.
pub(crate) fn turn(session: &SessionId) -> Span {
    info_span!(
        target: SPAN_TARGET,
        "invoke_agent",
        "otel.name" = "invoke_agent",
        "gen_ai.operation.name" = "invoke_agent",
        "gen_ai.conversation.id" = session.as_str(),
    )
}

/// Does something in a span, and records how it ended.
pub(crate) async fn in_span<T>(
    span: Span,
    work: impl Future<Output = Result<T, Failure>>,
    record: impl FnOnce(&Span, &T),
) -> Result<T, Failure> {
    let done = work.instrument(span.clone()).await;
    match &done {
        Ok(done) => record(&span, done),
        Err(failure) => record_failure(&span, failure),
    }
    done
}

/// Records the node of a model request that was answered, and the tokens of the request.
pub(crate) fn record_request_end(span: &Span, node: &NodeId, usage: Option<Usage>) {
    span.record("openprogram.node.id", node.as_str());
    record_usage(span, usage);
}

/// Records how a model ended its reply, and with `said` what it said.
pub(crate) fn record_reply(span: &Span, reply: &ModelReply, said: bool) {
    if span.is_disabled() {
        return;
    }
    let reason = match reply.stop {
        StopReason::End => "stop",
        StopReason::ToolUse => "tool_call",
        StopReason::Paused => "pause",
        StopReason::Length => "length",
        StopReason::Refusal => "content_filter",
        StopReason::Other => "other",
    };
    let reasons = json!([reason]).to_string();
    span.record("gen_ai.response.finish_reasons", reasons.as_str());
    if said {
        let message = json!([{"role": "assistant", "parts": parts(&reply.content)}]).to_string();
        span.record("gen_ai.output.messages", message.as_str());
    }
}

fn record_usage(span: &Span, usage: Option<Usage>) {
    let Some(usage) = usage else { return };
    span.record("gen_ai.usage.input_tokens", usage.input_tokens);
    span.record("gen_ai.usage.output_tokens", usage.output_tokens);
    for (key, tokens) in [
        ("gen_ai.usage.cache_read.input_tokens", usage.cache_read),
        (
            "gen_ai.usage.cache_creation.input_tokens",
            usage.cache_create,
        ),
    ] {
        if tokens > 0 {
            span.record(key, tokens);
        }
    }
}

/// Records why something failed, in words of which there are few.
pub(crate) fn record_failure(span: &Span, failure: &Failure) {
    let reason = match failure.code {
        FailureCode::Llm => failure.details.get("reason").and_then(Json::as_str),
        _ => None,
    };
    let kind = reason.unwrap_or(failure.code.as_str());
    span.record("error.type", kind);
}

/// Records what a model is told, with `said`.
pub(crate) fn record_request(span: &Span, request: &ModelRequest, said: bool) {
    if !said || span.is_disabled() {
        return;
    }
    if let Some(system) = &request.system {
        let parts = json!([{"type": "text", "content": bounded(system)}]).to_string();
        span.record("gen_ai.system_instructions", parts.as_str());
    }
    let messages = request.messages.iter().map(|Message { role, content }| {
        let role = match role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        json!({"role": role, "parts": parts(content)})
    });
    let messages = messages.collect::<Json>().to_string();
    span.record("gen_ai.input.messages", messages.as_str());
}

/// Records the arguments of a call, those that no model may see excepted. Only where the runtime
/// was told to.
pub(crate) fn record_arguments(span: &Span, function: &Function, arguments: &JsonObject) {
    if span.is_disabled() {
        return;
    }
    let hidden = hidden_names(function, arguments);
    let is_hidden = |name: &str| hidden.iter().any(|hidden| hidden.as_str() == Some(name));
    let shown = arguments.iter().filter(|(name, _)| !is_hidden(name));
    let shown: JsonObject = shown
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let shown = Json::Object(shown).to_string();
    span.record("gen_ai.tool.call.arguments", &*bounded(&shown));
}

/// Records the result of a call. Only where the runtime was told to.
pub(crate) fn record_result(span: &Span, result: &Json) {
    if !span.is_disabled() {
        span.record("gen_ai.tool.call.result", &*bounded(&result.to_string()));
    }
}

fn parts(content: &[ContentBlock]) -> Json {
    let part = |block: &ContentBlock| match block {
        ContentBlock::Text(text) => json!({"type": "text", "content": bounded(text)}),
        ContentBlock::ToolCall(call) => json!({
            "type": "tool_call",
            "id": call.id,
            "name": call.name,
            "arguments": bounded(&call.arguments),
        }),
        ContentBlock::ToolResult(result) => json!({
            "type": "tool_call_response",
            "id": result.id,
            "response": bounded(&result.text),
        }),
        // Bytes of files are told by nothing but that they were there.
        _ => json!({"type": "blob"}),
    };
    content.iter().map(part).collect()
}

fn bounded(text: &str) -> std::borrow::Cow<'_, str> {
    cut(text, CONTENT_BYTES_MAX)
}
