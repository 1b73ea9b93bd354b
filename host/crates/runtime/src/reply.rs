//! How much a model may write.

use openprogram_core::content::{ContentBlock, ToolCall};
use openprogram_core::failure::Failure;
use openprogram_core::llm::ModelReply;

use crate::ports::Ports;

/// How much a model has written.
pub(crate) fn reply_bytes(reply: &ModelReply) -> usize {
    let texts = reply.content.iter().filter_map(ContentBlock::as_text);
    let written = |call: &ToolCall| call.id.len() + call.name.len() + call.arguments.len();
    let thought = reply.content.iter().map(|block| match block {
        ContentBlock::Thinking(json) | ContentBlock::ServerTool(json) => json.to_string().len(),
        _ => 0,
    });
    let calls = reply.tool_calls().map(written);
    texts.map(str::len).chain(thought).chain(calls).sum()
}

/// Nothing of a reply that is too large is read.
pub(crate) fn check_reply(ports: &Ports, model: &str, reply: &ModelReply) -> Result<(), Failure> {
    let limits = &ports.parts.limits;
    let length = reply_bytes(reply);
    let longest = limits.reply_bytes;
    if length as u64 > longest {
        let message = format!("the reply of `{model}` is longer than {longest} bytes");
        return Err(Failure::limit("reply_bytes", longest, message));
    }
    let most = limits.reply_calls;
    if reply.tool_calls().count() as u64 > most {
        let message = format!("the reply of `{model}` asks for more than {most} calls");
        return Err(Failure::limit("reply_calls", most, message));
    }
    Ok(())
}
