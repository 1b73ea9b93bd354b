//! Turns that end in a value of a given shape: how it is got out of the model, how a reply is read,
//! and what is said about one that does not fit.

use openprogram_core::content::{ContentBlock, Role, ToolResult, add_said};
use openprogram_core::failure::Failure;
use openprogram_core::llm::{
    BesideFormat, FormatWay, ModelReply, ModelRequest, Provider, StopReason, plan_format_way,
    submit_tool,
};
use openprogram_core::schema::names_equal;
use openprogram_core::structured::{
    ResponseFormat, SUBMIT_TOOL, StructuredError, Validator, missing_submission, mixed_submission,
    prompt_instruction, render_repair, render_resubmit, submit_instruction, without_fence,
};
use openprogram_core::tool::{ToolChoice, ToolSpec};
use openprogram_core::{Json, JsonObject};
use serde_json::json;

use crate::open_turn::Turn;

/// A format, and the way in which the model of a turn is got to fill it.
pub(crate) struct PlannedFormat {
    pub(crate) format: ResponseFormat,
    pub(crate) way: FormatWay,
    validator: Validator,
}

/// What a reply is to a turn with a format.
pub(crate) enum Read {
    /// More work: its calls are to be made.
    Calls,
    /// The value, and the text that it was read from.
    Value(Json, String),
    /// Neither, for this reason.
    Misfit(StructuredError),
}

/// Checks a format and finds the way for it.
///
/// # Errors
/// `structured`, with the code `invalid_schema` or `unsupported`.
pub(crate) fn plan_format(
    provider: &dyn Provider,
    format: &Json,
    beside: BesideFormat<'_>,
) -> Result<PlannedFormat, Failure> {
    let plan = || {
        let format = ResponseFormat::read(format)?;
        let validator = format.validator()?;
        let way = plan_format_way(provider, &format, beside)?;
        Ok(PlannedFormat {
            format,
            way,
            validator,
        })
    };
    plan().map_err(|error: StructuredError| error.to_failure())
}

impl PlannedFormat {
    /// The format as the provider is told, where it holds its replies to it.
    pub(crate) fn native(&self) -> Option<ResponseFormat> {
        (self.way == FormatWay::Native).then(|| self.format.clone())
    }

    /// The tool by which the value is handed in, where it is.
    pub(crate) fn tool(&self) -> Option<ToolSpec> {
        (self.way == FormatWay::Submit).then(|| submit_tool(&self.format))
    }

    /// What stands after the content of the turn.
    pub(crate) fn instruction(&self) -> Option<String> {
        match self.way {
            FormatWay::Native => None,
            FormatWay::Submit => Some(submit_instruction()),
            FormatWay::Prompt => Some(prompt_instruction(&self.format)),
        }
    }

    /// Looks at a reply. After the first repair nothing but the value counts. A reply that may be
    /// cut off is not read: half a number is a number.
    pub(crate) fn read(&self, reply: &ModelReply, is_repair: bool) -> Read {
        let n_calls = reply.tool_calls().count();
        let submits = || {
            let calls = reply.tool_calls();
            calls.filter(|call| names_equal(&call.name, SUBMIT_TOOL))
        };
        let n_submits = match self.way {
            FormatWay::Submit => submits().count(),
            FormatWay::Native | FormatWay::Prompt => 0,
        };
        if n_calls > 0 && n_submits == 0 && !is_repair {
            return Read::Calls;
        }
        match reply.stop {
            StopReason::Refusal => return Read::Misfit(StructuredError::refusal()),
            StopReason::Length | StopReason::Other => {
                return Read::Misfit(StructuredError::incomplete());
            }
            // A reply that was paused comes here with calls alone; else it goes on.
            StopReason::End | StopReason::ToolUse | StopReason::Paused => {}
        }
        let text = match (self.way, submits().next()) {
            (FormatWay::Native, _) => reply.text(),
            (FormatWay::Prompt, _) => without_fence(&reply.text()).to_owned(),
            (FormatWay::Submit, Some(call)) if n_calls == 1 => call.arguments.clone(),
            (FormatWay::Submit, Some(_)) => return Read::Misfit(mixed_submission()),
            (FormatWay::Submit, None) => return Read::Misfit(missing_submission()),
        };
        match self.validator.parse(&text) {
            Ok(value) => Read::Value(value, text),
            Err(error) => Read::Misfit(error),
        }
    }

    /// Puts the reply and what is wrong with it into the request, which may call nothing but our own
    /// tool any more, and says how it is recorded.
    pub(crate) fn ask_again(
        &self,
        request: &mut ModelRequest,
        reply: Vec<ContentBlock>,
        error: &StructuredError,
    ) -> Turn {
        let said = match self.way {
            FormatWay::Submit => render_resubmit(error),
            FormatWay::Native | FormatWay::Prompt => render_repair(error),
        };
        // Calls that were not made have to be answered.
        let calls = reply.iter().filter_map(|block| match block {
            ContentBlock::ToolCall(call) => Some(call.id.clone()),
            _ => None,
        });
        let mut answer: Vec<_> = calls
            .map(|id| {
                ContentBlock::ToolResult(ToolResult {
                    id,
                    text: NOT_RUN.to_owned(),
                    is_error: true,
                })
            })
            .collect();
        answer.push(ContentBlock::Text(said.clone()));
        let says =
            |block: &ContentBlock| block.as_text().is_none_or(|text| !text.trim().is_empty());
        let written = reply.into_iter().filter(says).collect();
        add_said(&mut request.messages, Role::Assistant, written);
        add_said(&mut request.messages, Role::User, answer);
        // The tools stay, because calls of the turn are told and what is cached begins with them.
        if self.way == FormatWay::Submit {
            request.tool_choice = ToolChoice::Auto;
        } else if !request.tools.is_empty() {
            request.tool_choice = ToolChoice::None;
        }
        Turn {
            input: said.into(),
            facts: JsonObject::new(),
            ..Turn::default()
        }
    }
}

/// The answer to a call in a reply that has to be written again.
const NOT_RUN: &str = "Not run.";

/// What was wrong with a reply, for its node.
pub(crate) fn misfit_fact(error: &StructuredError) -> Json {
    json!({"code": error.code.as_str(), "issues": error.issues_to_json()})
}
