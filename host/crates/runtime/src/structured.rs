//! Turns that end in a value of a given shape: what is asked for, how a reply is read, and what is
//! said about one that does not fit.

use openprogram_core::content::{ContentBlock, Message};
use openprogram_core::failure::Failure;
use openprogram_core::llm::{ModelReply, ModelRequest, Provider, StopReason, check_native};
use openprogram_core::structured::{ResponseFormat, StructuredError, Validator, render_repair};
use openprogram_core::tool::ToolChoice;
use openprogram_core::{Json, JsonObject};
use serde_json::json;

use crate::open_turn::Turn;

/// A format that the model of a turn can be held to.
pub(crate) struct PlannedFormat {
    pub(crate) format: ResponseFormat,
    validator: Validator,
}

/// Checks a format and that the provider holds its replies to it.
///
/// # Errors
/// `structured`, with the code `invalid_schema` or `unsupported`.
pub(crate) fn plan_format(
    provider: &dyn Provider,
    format: &Json,
    has_tools: bool,
) -> Result<PlannedFormat, Failure> {
    let plan = || {
        let format = ResponseFormat::read(format)?;
        let validator = format.validator()?;
        check_native(provider, &format, has_tools)?;
        Ok(PlannedFormat { format, validator })
    };
    plan().map_err(|error: StructuredError| error.to_failure())
}

impl PlannedFormat {
    /// Reads the last reply of a turn. One that may be cut off is not read: half a number is a
    /// number.
    pub(crate) fn read(&self, reply: &ModelReply) -> Result<Json, StructuredError> {
        match reply.stop {
            StopReason::Refusal => Err(StructuredError::refusal()),
            StopReason::Length | StopReason::Other => Err(StructuredError::incomplete()),
            StopReason::End | StopReason::ToolUse => self.validator.parse(&reply.text()),
        }
    }
}

/// What was wrong with a reply, for its node.
pub(crate) fn misfit_fact(error: &StructuredError) -> Json {
    json!({"code": error.code.as_str(), "issues": error.issues_to_json()})
}

/// Puts the reply and what is wrong with it into the request, which may call nothing any more, and
/// says how it is recorded.
pub(crate) fn ask_again(request: &mut ModelRequest, text: &str, error: &StructuredError) -> Turn {
    let said = render_repair(error);
    if text.trim().is_empty() {
        let block = ContentBlock::Text(said.clone());
        match request.messages.last_mut() {
            Some(last) => last.content.push(block),
            None => request.messages.push(Message::user(said.clone())),
        }
    } else {
        request.messages.push(Message::assistant(text));
        request.messages.push(Message::user(said.clone()));
    }
    // The tools stay, because calls of the turn are told and what is cached begins with them.
    if !request.tools.is_empty() {
        request.tool_choice = ToolChoice::None;
    }
    Turn {
        input: said.into(),
        facts: JsonObject::new(),
        ..Turn::default()
    }
}
