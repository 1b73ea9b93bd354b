//! From chunks of a reply to the reply.
//!
//! Complete once a `finish_reason` has been seen; `[DONE]` only says that nothing follows. Calls
//! are shown when they are complete, which Chat Completions says at the end only.

use openprogram_core::Json;
use openprogram_core::content::ContentBlock;
use openprogram_core::llm::{EventSink, LlmFailure, ModelEvent, ModelReply, StopReason};
use openprogram_core::session::Usage;

use super::REASONING;
use super::assemble::{Assembler, CALLS_MAX, Piece};
use super::wire::{CallDelta, Choice, Chunk, Delta};
use crate::exchange::Decoder;
use crate::failure;
use crate::sse::SseEvent;

/// Reads one reply.
#[derive(Debug)]
pub(crate) struct ChatDecoder {
    /// Makes ids of calls that have none.
    turn: usize,
    text: String,
    /// What the model thought, in the field whose content may have to go back.
    reasoning: String,
    calls: Assembler,
    refused: bool,
    finish_reason: Option<String>,
    usage: Option<Usage>,
    closed: bool,
}

impl ChatDecoder {
    pub(crate) fn new(turn: usize) -> Self {
        Self {
            turn,
            text: String::new(),
            reasoning: String::new(),
            calls: Assembler::default(),
            refused: false,
            finish_reason: None,
            usage: None,
            closed: false,
        }
    }

    fn chunk(&mut self, name: &str, json: Json, sink: &dyn EventSink) -> Result<(), LlmFailure> {
        if let Some(failure) = failure::in_reply(name, &json) {
            return Err(failure);
        }
        let chunk: Chunk = serde_json::from_value(json).map_err(|e| failure::not_json(&e))?;
        let groq = chunk.x_groq.as_ref().and_then(|x_groq| x_groq.get("usage"));
        if let Some(usage) = chunk.usage.as_ref().or(groq).and_then(usage) {
            self.usage = Some(usage);
        }
        for choice in chunk.choices.into_iter().flatten() {
            // One reply is asked for; a server that gives more is read as if it had not.
            if choice.index.unwrap_or(0) == 0 {
                self.choice(choice, sink)?;
            }
        }
        Ok(())
    }

    fn choice(&mut self, choice: Choice, sink: &dyn EventSink) -> Result<(), LlmFailure> {
        if let Some(delta) = choice.delta.or(choice.message) {
            self.delta(&delta, sink)?;
        }
        let reason = choice.finish_reason.filter(|reason| !reason.is_empty());
        if reason.is_some() {
            self.finish_reason = reason;
        }
        Ok(())
    }

    fn delta(&mut self, delta: &Delta, sink: &dyn EventSink) -> Result<(), LlmFailure> {
        let thinking = delta
            .reasoning_content
            .as_ref()
            .or(delta.reasoning.as_ref());
        if let Some(thinking) = thinking.and_then(text_of) {
            if delta.reasoning_content.is_some() {
                self.reasoning.push_str(&thinking);
            }
            sink.event(ModelEvent::Thinking(thinking));
        }
        if let Some(text) = delta.content.as_ref().and_then(text_of) {
            self.write(text, sink);
        }
        if let Some(text) = delta.refusal.as_ref().and_then(text_of) {
            self.refused = true;
            self.write(text, sink);
        }
        for call in delta.tool_calls.iter().flatten() {
            self.call(call)?;
        }
        Ok(())
    }

    fn write(&mut self, text: String, sink: &dyn EventSink) {
        self.text.push_str(&text);
        sink.event(ModelEvent::Text(text));
    }

    fn call(&mut self, call: &CallDelta) -> Result<(), LlmFailure> {
        let id = match &call.id {
            Some(Json::String(id)) => Some(id.clone()),
            Some(Json::Number(id)) => Some(id.to_string()),
            _ => None,
        };
        let function = call.function.as_ref();
        let name = function.and_then(|function| function.name.as_deref());
        let arguments = match function.and_then(|function| function.arguments.as_ref()) {
            None | Some(Json::Null) => String::new(),
            Some(Json::String(text)) => text.clone(),
            Some(whole) => whole.to_string(),
        };
        let taken = self.calls.push(Piece {
            index: call.index.as_ref().and_then(Json::as_u64),
            id: id.as_deref().filter(|id| !id.is_empty()),
            name: name.filter(|name| !name.is_empty()),
            arguments: &arguments,
        });
        if taken {
            Ok(())
        } else {
            let message = format!("the reply holds more than {CALLS_MAX} tool calls");
            Err(failure::too_large(message))
        }
    }
}

impl Decoder for ChatDecoder {
    fn event(&mut self, event: &SseEvent, sink: &dyn EventSink) -> Result<(), LlmFailure> {
        let data = event.data.trim();
        if data == "[DONE]" {
            self.closed = true;
            return Ok(());
        }
        if self.closed || data.is_empty() {
            return Ok(());
        }
        match serde_json::from_str(data) {
            Ok(json) => self.chunk(&event.name, json, sink),
            // The end of the bytes cut it; whether the reply is complete is told by the rest.
            Err(_) if event.unterminated => Ok(()),
            Err(error) => Err(failure::not_json(&error)),
        }
    }

    fn whole(&mut self, body: &[u8], sink: &dyn EventSink) -> Result<(), LlmFailure> {
        let json: Json = serde_json::from_slice(body).map_err(|e| failure::not_json(&e))?;
        let has_message = json
            .pointer("/choices/0/message")
            .is_some_and(Json::is_object);
        self.chunk("", json, sink)?;
        if !has_message {
            return Err(failure::malformed("it holds no message"));
        }
        // A whole document is complete, whether or not it says why the model stopped.
        self.finish_reason.get_or_insert_default();
        Ok(())
    }

    fn has_ended(&self) -> bool {
        self.finish_reason.is_some()
    }

    fn is_closed(&self) -> bool {
        self.closed
    }

    fn finish(self, sink: &dyn EventSink) -> Result<ModelReply, LlmFailure> {
        let stop = match self.finish_reason.as_deref() {
            Some("error") => return Err(failure::malformed("the server gave up inside of it")),
            Some("content_filter") => StopReason::Refusal,
            _ if self.refused => StopReason::Refusal,
            Some("stop") => StopReason::End,
            Some("tool_calls" | "function_call") => StopReason::ToolUse,
            Some("length") => StopReason::Length,
            _ => StopReason::Other,
        };
        let mut content = Vec::new();
        if !self.text.is_empty() {
            content.push(ContentBlock::Text(self.text));
        }
        let calls = self.calls.finish(self.turn);
        if !calls.is_empty() && !self.reasoning.is_empty() {
            let thinking = serde_json::json!({ REASONING: self.reasoning });
            content.insert(0, ContentBlock::Thinking(thinking));
        }
        for call in calls {
            sink.event(ModelEvent::ToolUse(call.clone()));
            content.push(ContentBlock::ToolCall(call));
        }
        Ok(ModelReply {
            content,
            stop,
            usage: self.usage,
        })
    }
}

/// The text of a field that is a text or, at some servers, a list of parts; `None` when empty.
fn text_of(value: &Json) -> Option<String> {
    let text = match value {
        Json::String(text) => text.clone(),
        Json::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
            texts.collect()
        }
        _ => return None,
    };
    (!text.is_empty()).then_some(text)
}

/// The usage; `None` when the server gives no numbers.
fn usage(json: &Json) -> Option<Usage> {
    let count = |path: &str| json.pointer(path).and_then(Json::as_u64);
    let input = count("/prompt_tokens");
    let output = count("/completion_tokens");
    if input.is_none() && output.is_none() {
        return None;
    }
    let cached = count("/prompt_tokens_details/cached_tokens");
    let written = count("/prompt_tokens_details/cache_write_tokens");
    Some(Usage {
        input_tokens: input.unwrap_or(0),
        output_tokens: output.unwrap_or(0),
        cache_read: cached.or(count("/prompt_cache_hit_tokens")).unwrap_or(0),
        cache_create: written.unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::testing::check_recorded;

    #[test]
    fn recorded_replies_are_read_the_same_however_they_are_cut() {
        check_recorded("openai", &|| ChatDecoder::new(3));
    }
}
