//! How a value of a format is got out of a model: the best way that is verified and loses nothing.

use super::provider::{Provider, check_native};
use crate::schema::names_equal;
use crate::structured::{
    Fallback, ResponseFormat, SUBMIT_TOOL, StructuredCode, StructuredError, submit_description,
};
use crate::tool::{ToolChoice, ToolSpec};

/// One way, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FormatWay {
    /// The provider holds the reply to the format.
    Native,
    /// The model hands the value in as the arguments of a tool of ours, to whose schema the provider
    /// holds it. The tool is never run.
    Submit,
    /// The model is asked in words. Nobody holds it to them.
    Prompt,
}

impl FormatWay {
    /// The word in records.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Submit => "submit",
            Self::Prompt => "prompt",
        }
    }
}

/// What else the turn asks of the model.
#[derive(Clone, Copy, Debug)]
pub struct BesideFormat<'a> {
    /// The names of its tools.
    pub tools: &'a [&'a str],
    /// Whether and what must be called.
    pub tool_choice: &'a ToolChoice,
    /// Whether one reply may hold several calls, if that was said.
    pub parallel_tool_calls: Option<bool>,
}

/// Finds the way for a format that was read: native, else the tool of ours, else in words where that
/// was asked for.
///
/// # Errors
/// `unsupported`: nothing is asked in a weaker form than was wanted.
pub fn plan_format_way(
    provider: &dyn Provider,
    format: &ResponseFormat,
    beside: BesideFormat<'_>,
) -> Result<FormatWay, StructuredError> {
    let wants_submit =
        matches!(beside.tool_choice, ToolChoice::Named(name) if names_equal(name, SUBMIT_TOOL));
    let native = match wants_submit {
        true => Err(StructuredError::new(
            StructuredCode::Unsupported,
            format!("`{SUBMIT_TOOL}` is none of the tools of this turn; set another tool choice"),
        )),
        false => check_native(provider, format, !beside.tools.is_empty()),
    };
    let Err(why_not) = native else {
        return Ok(FormatWay::Native);
    };
    match format.fallback {
        Fallback::Auto if provider.holds_tools() => {
            check_submit(provider, format, beside).map(|()| FormatWay::Submit)
        }
        Fallback::Prompt => Ok(FormatWay::Prompt),
        Fallback::Auto | Fallback::None => Err(why_not),
    }
}

/// Checks that the value can be handed in by our tool.
fn check_submit(
    provider: &dyn Provider,
    format: &ResponseFormat,
    beside: BesideFormat<'_>,
) -> Result<(), StructuredError> {
    let refuse = |why: &str| {
        let message = format!(
            "`{}` would be held to the format by a tool, and {why}",
            provider.name()
        );
        Err(StructuredError::new(StructuredCode::Unsupported, message))
    };
    if beside
        .tools
        .iter()
        .any(|name| names_equal(name, SUBMIT_TOOL))
    {
        return refuse("a tool of the turn has its name; rename that one");
    }
    if beside.parallel_tool_calls == Some(true) {
        return refuse("the turn demands several calls in one reply; leave that to the provider");
    }
    match beside.tool_choice {
        ToolChoice::Auto | ToolChoice::Required => {}
        ToolChoice::Named(name) if names_equal(name, SUBMIT_TOOL) => {}
        ToolChoice::None => return refuse("the turn may call none; leave the choice to the model"),
        ToolChoice::Named(_) => {
            return refuse("the turn demands another call; leave the choice to the model");
        }
    }
    provider.check_submit(format)
}

/// The tool by which a value of a format is handed in.
#[must_use]
pub fn submit_tool(format: &ResponseFormat) -> ToolSpec {
    ToolSpec {
        name: SUBMIT_TOOL.to_owned(),
        description: submit_description(format),
        parameters: crate::Json::clone(&format.schema),
        strict: true,
    }
}
