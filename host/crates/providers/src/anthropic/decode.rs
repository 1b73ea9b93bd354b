//! From events of a reply to the reply.
//!
//! Complete once a `stop_reason` has been seen; `message_stop` only says that nothing follows.
//! Counts of tokens are totals so far: a later one replaces an earlier one.

use std::collections::BTreeMap;

use openprogram_core::content::{ContentBlock, ToolCall};
use openprogram_core::llm::{EventSink, LlmFailure, ModelEvent, ModelReply, StopReason};
use openprogram_core::session::Usage;
use openprogram_core::{Json, JsonObject};
use serde_json::json;

use super::wire::{Delta, Event, Reply, ReplyBlock};
use crate::exchange::Decoder;
use crate::failure;
use crate::sse::SseEvent;

/// More blocks than a model writes; a reply that goes on is an error of the server.
const BLOCKS_MAX: usize = 1024;

/// Reads one reply.
#[derive(Debug)]
pub(crate) struct MessagesDecoder {
    /// Makes ids of calls that have none.
    turn: usize,
    blocks: BTreeMap<u64, Block>,
    stop_reason: Option<String>,
    usage: Counts,
    closed: bool,
}

#[derive(Debug)]
enum Block {
    Text(String),
    Call(Call),
    /// What may be sent back when it is signed.
    Thinking {
        thinking: String,
        signature: String,
    },
    /// Thinking that only the server can read.
    Redacted(String),
    /// What a tool of the server was asked or gave, as it began; and the arguments that followed.
    ServerTool(JsonObject, String),
    /// Kinds that are not known.
    Other,
}

#[derive(Debug)]
struct Call {
    id: String,
    name: String,
    /// The arguments that the block began with; used when no piece follows.
    input: Option<Json>,
    pieces: String,
    shown: bool,
}

impl Block {
    /// What is kept of it in a reply that stopped for this reason.
    fn into_content(self, stop: StopReason) -> Option<ContentBlock> {
        Some(match self {
            Self::Text(text) if !text.is_empty() => ContentBlock::Text(text),
            Self::Call(call) => ContentBlock::ToolCall(call.to_core()),
            Self::Thinking {
                thinking,
                signature,
            } if !signature.is_empty() => ContentBlock::Thinking(json!({
                "type": "thinking",
                "thinking": thinking,
                "signature": signature,
            })),
            Self::Redacted(data) if !data.is_empty() => ContentBlock::Thinking(json!({
                "type": "redacted_thinking",
                "data": data,
            })),
            // The server takes no use of its tools back that was cut before it came to an end.
            Self::ServerTool(mut whole, pieces) if stop != StopReason::Length => {
                if !pieces.trim().is_empty() {
                    let input = serde_json::from_str(&pieces).ok()?;
                    whole.insert("input".to_owned(), input);
                }
                ContentBlock::ServerTool(whole.into())
            }
            _ => return None,
        })
    }
}

impl Call {
    fn to_core(&self) -> ToolCall {
        let arguments = match (self.pieces.trim(), &self.input) {
            ("", Some(input)) if !input.is_null() => input.to_string(),
            ("", _) => "{}".to_owned(),
            (pieces, _) => pieces.to_owned(),
        };
        ToolCall {
            id: self.id.clone(),
            name: self.name.clone(),
            arguments,
        }
    }
}

/// Token counts as the protocol gives them: the input without what the cache did.
#[derive(Debug, Default)]
struct Counts {
    input: Option<u64>,
    cache_read: Option<u64>,
    cache_create: Option<u64>,
    output: Option<u64>,
}

impl Counts {
    fn update(&mut self, usage: Option<&Json>) {
        for (name, count) in [
            ("input_tokens", &mut self.input),
            ("cache_read_input_tokens", &mut self.cache_read),
            ("cache_creation_input_tokens", &mut self.cache_create),
            ("output_tokens", &mut self.output),
        ] {
            let told = usage.and_then(|usage| usage.get(name)?.as_u64());
            *count = told.or(*count);
        }
    }

    fn usage(&self) -> Option<Usage> {
        if self.input.is_none() && self.output.is_none() {
            return None;
        }
        let cache_read = self.cache_read.unwrap_or(0);
        let cache_create = self.cache_create.unwrap_or(0);
        let input = self.input.unwrap_or(0);
        Some(Usage {
            input_tokens: input
                .saturating_add(cache_read)
                .saturating_add(cache_create),
            output_tokens: self.output.unwrap_or(0),
            cache_read,
            cache_create,
        })
    }
}

impl MessagesDecoder {
    pub(crate) fn new(turn: usize) -> Self {
        Self {
            turn,
            blocks: BTreeMap::new(),
            stop_reason: None,
            usage: Counts::default(),
            closed: false,
        }
    }

    fn take(&mut self, name: &str, json: Json, sink: &dyn EventSink) -> Result<(), LlmFailure> {
        if let Some(failure) = failure::in_reply(name, &json) {
            return Err(failure);
        }
        let event: Event = serde_json::from_value(json).map_err(|e| failure::not_json(&e))?;
        match event.kind.as_str() {
            "message_start" => {
                let usage = event.message.as_ref().and_then(|m| m.usage.as_ref());
                self.usage.update(usage);
            }
            "content_block_start" => {
                if let Some(block) = event.content_block {
                    self.start(event.index.unwrap_or(0), block, sink)?;
                }
            }
            "content_block_delta" => {
                if let Some(delta) = event.delta {
                    self.delta(event.index.unwrap_or(0), delta, sink)?;
                }
            }
            "content_block_stop" => self.stop(event.index.unwrap_or(0), sink),
            "message_delta" => {
                let reason = event.delta.and_then(|delta| delta.stop_reason);
                self.stop_reason = reason.or(self.stop_reason.take());
                self.usage.update(event.usage.as_ref());
            }
            "message_stop" => self.closed = true,
            // `ping`, and kinds that are not known.
            _ => {}
        }
        Ok(())
    }

    fn start(&mut self, index: u64, block: Json, sink: &dyn EventSink) -> Result<(), LlmFailure> {
        if self.blocks.len() == BLOCKS_MAX {
            let message = format!("the reply holds more than {BLOCKS_MAX} blocks");
            return Err(failure::too_large(message));
        }
        if is_of_server_tool(&block)
            && let Json::Object(whole) = block
        {
            let block = Block::ServerTool(whole, String::new());
            self.blocks.insert(index, block);
            return Ok(());
        }
        let block: ReplyBlock = serde_json::from_value(block).map_err(|e| failure::not_json(&e))?;
        let block = match block.kind.as_str() {
            "text" => {
                let text = block.text.unwrap_or_default();
                show_text(&text, sink);
                Block::Text(text)
            }
            "tool_use" => Block::Call(Call {
                id: self.free_id(block.id),
                name: block.name.unwrap_or_default(),
                input: block.input,
                pieces: String::new(),
                shown: false,
            }),
            "thinking" => {
                let thinking = block.thinking.unwrap_or_default();
                show_thinking(thinking.clone(), sink);
                let signature = block.signature.unwrap_or_default();
                Block::Thinking {
                    thinking,
                    signature,
                }
            }
            "redacted_thinking" => Block::Redacted(block.data.unwrap_or_default()),
            _ => {
                show_thinking(block.thinking.unwrap_or_default(), sink);
                Block::Other
            }
        };
        self.blocks.insert(index, block);
        Ok(())
    }

    /// An id that no call of the reply has.
    fn free_id(&self, id: Option<String>) -> String {
        let n = self.blocks.len() + 1;
        let id = id.filter(|id| !id.is_empty());
        let id = id.unwrap_or_else(|| format!("call_{}_{n}", self.turn));
        let taken = |id: &str| {
            let mut blocks = self.blocks.values();
            blocks.any(|block| matches!(block, Block::Call(call) if call.id == id))
        };
        if taken(&id) { format!("{id}_{n}") } else { id }
    }

    fn delta(&mut self, index: u64, delta: Delta, sink: &dyn EventSink) -> Result<(), LlmFailure> {
        if let Some(more) = delta.thinking {
            if let Some(Block::Thinking { thinking, .. }) = self.blocks.get_mut(&index) {
                thinking.push_str(&more);
            }
            show_thinking(more, sink);
        }
        if let Some(more) = delta.signature
            && let Some(Block::Thinking { signature, .. }) = self.blocks.get_mut(&index)
        {
            signature.push_str(&more);
        }
        if let Some(more) = delta.text {
            match self.blocks.get_mut(&index) {
                Some(Block::Text(text)) => {
                    text.push_str(&more);
                    show_text(&more, sink);
                }
                Some(_) => {}
                None => return Err(failure::malformed("text belongs to no block")),
            }
        }
        if let Some(more) = delta.partial_json {
            match self.blocks.get_mut(&index) {
                Some(Block::Call(Call { pieces, .. }) | Block::ServerTool(_, pieces)) => {
                    pieces.push_str(&more);
                }
                Some(_) => {}
                None => return Err(failure::malformed("arguments belong to no block")),
            }
        }
        Ok(())
    }

    fn stop(&mut self, index: u64, sink: &dyn EventSink) {
        if let Some(Block::Call(call)) = self.blocks.get_mut(&index)
            && !std::mem::replace(&mut call.shown, true)
        {
            sink.event(ModelEvent::ToolUse(call.to_core()));
        }
    }
}

/// Whether a block belongs to a tool that the server runs itself, and goes back as it came.
fn is_of_server_tool(block: &Json) -> bool {
    let kind = block.get("type").and_then(Json::as_str).unwrap_or_default();
    kind == "server_tool_use" || kind.ends_with("_tool_result")
}

fn show_text(text: &str, sink: &dyn EventSink) {
    if !text.is_empty() {
        sink.event(ModelEvent::Text(text.to_owned()));
    }
}

fn show_thinking(text: String, sink: &dyn EventSink) {
    if !text.is_empty() {
        sink.event(ModelEvent::Thinking(text));
    }
}

impl Decoder for MessagesDecoder {
    fn event(&mut self, event: &SseEvent, sink: &dyn EventSink) -> Result<(), LlmFailure> {
        let data = event.data.trim();
        if self.closed || data.is_empty() || data == "[DONE]" {
            return Ok(());
        }
        match serde_json::from_str(data) {
            Ok(json) => self.take(&event.name, json, sink),
            // The end of the bytes cut it; whether the reply is complete is told by the rest.
            Err(_) if event.unterminated => Ok(()),
            Err(error) => Err(failure::not_json(&error)),
        }
    }

    fn whole(&mut self, body: &[u8], sink: &dyn EventSink) -> Result<(), LlmFailure> {
        let json: Json = serde_json::from_slice(body).map_err(|e| failure::not_json(&e))?;
        if let Some(failure) = failure::in_reply("", &json) {
            return Err(failure);
        }
        let reply: Reply = serde_json::from_value(json).map_err(|e| failure::not_json(&e))?;
        let Some(content) = reply.content else {
            return Err(failure::malformed("it holds no content"));
        };
        for (index, block) in (0..).zip(content) {
            self.start(index, block, sink)?;
            self.stop(index, sink);
        }
        self.usage.update(reply.usage.as_ref());
        // A whole document is complete, whether or not it says why the model stopped.
        self.stop_reason = Some(reply.stop_reason.unwrap_or_default());
        Ok(())
    }

    fn has_ended(&self) -> bool {
        self.stop_reason.is_some()
    }

    fn is_closed(&self) -> bool {
        self.closed
    }

    fn finish(mut self, sink: &dyn EventSink) -> Result<ModelReply, LlmFailure> {
        let open: Vec<u64> = self.blocks.keys().copied().collect();
        for index in open {
            self.stop(index, sink);
        }
        let stop = match self.stop_reason.as_deref() {
            Some("end_turn" | "stop_sequence") => StopReason::End,
            Some("tool_use") => StopReason::ToolUse,
            Some("pause_turn") => StopReason::Paused,
            Some("max_tokens" | "model_context_window_exceeded") => StopReason::Length,
            Some("refusal") => StopReason::Refusal,
            _ => StopReason::Other,
        };
        let blocks = self.blocks.into_values();
        let content = blocks.filter_map(|block| block.into_content(stop));
        Ok(ModelReply {
            content: content.collect(),
            stop,
            usage: self.usage.usage(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::testing::check_recorded;

    #[test]
    fn recorded_replies_are_read_the_same_however_they_are_cut() {
        check_recorded("anthropic", &|| MessagesDecoder::new(3));
    }
}
