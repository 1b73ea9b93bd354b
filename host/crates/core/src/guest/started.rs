//! Turns that go on while their function does: what they tell, and the tools that the function runs
//! itself.

use std::future::Future;
use std::pin::Pin;

use async_trait::async_trait;

use super::{ExecReply, PickedOption};
use crate::content::{ToolCall, ToolResult};
use crate::decision::parse_schema;
use crate::failure::{Failure, FailureCode};
use crate::llm::RetryInfo;
use crate::schema::RecordType;
use crate::session::Usage;
use crate::text::clean;
use crate::tool::check_tool_name;
use crate::{Json, JsonObject};

/// A tool that the function of a turn runs itself.
#[derive(Clone, Debug, PartialEq)]
pub struct LocalTool {
    /// The name, as its function knows it: letters, digits, `_` and `-`, at most 64.
    pub name: String,
    /// When to call it; models read the first paragraph.
    pub description: String,
    /// What it takes.
    pub parameters: RecordType,
}

impl LocalTool {
    /// Reads a tool as a function describes it. `parameters` is a schema as options have it.
    ///
    /// # Errors
    /// `invalid-argument`, with `path` or a part of it as the path.
    pub fn read(
        path: &str,
        name: String,
        description: &str,
        parameters: &Json,
    ) -> Result<Self, Failure> {
        let invalid = |path: String, message: String| {
            Failure::new(FailureCode::InvalidArgument, message).with("path", path)
        };
        check_tool_name(&name)
            .map_err(|problem| invalid(format!("{path}.name"), format!("`{path}`: {problem}")))?;
        let parameters = parse_schema(parameters).map_err(|error| {
            let at = error.path.strip_prefix("schema").unwrap_or(&error.path);
            let at = format!("{path}.parameters{at}");
            let message = format!("the tool `{name}`: `{at}`: {}", error.message);
            invalid(at, message)
        })?;
        Ok(Self {
            description: clean(description).into_owned(),
            name,
            parameters,
        })
    }
}

/// A call of a local tool, its arguments checked and complete.
#[derive(Clone, Debug, PartialEq)]
pub struct LocalCall {
    /// The id of the call, its own in the turn.
    pub id: String,
    /// The name of the tool, as its function knows it.
    pub name: String,
    /// What the model gave.
    pub arguments: JsonObject,
}

/// Something that happens in a turn.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TurnEvent {
    /// More of the text of a reply.
    Text(String),
    /// More of the thinking of the model.
    Thinking(String),
    /// The model asks for a call. Told when its reply is complete, before the call runs.
    ToolUse(ToolCall),
    /// A call is answered, by the function or by a refusal.
    ToolResult {
        /// The name as the model wrote it.
        tool: String,
        /// The answer, cut.
        result: ToolResult,
    },
    /// A request has failed, and is made again after a sleep.
    Retry(Box<RetryInfo>),
    /// A request has ended, with the tokens that it used.
    Usage(Usage),
}

/// Who started a turn and is told of it: the far end is the function, which may be slow.
#[async_trait]
pub trait TurnWatcher: Send + Sync {
    /// Takes what happens. Never waits; a watcher keeps what it has room for.
    fn event(&self, event: TurnEvent);

    /// Whether any piece of the reply that arrives now has been seen by somebody who has not agreed
    /// to forget it. Before that, a [`TurnEvent::Retry`] takes its pieces back.
    fn has_shown(&self) -> bool;

    /// Lets the function run one of its tools. Waits for the answer; dropped, it needs none any more.
    ///
    /// # Errors
    /// Whatever the tool failed with.
    async fn call(&self, call: LocalCall) -> Result<Json, Failure>;
}

/// A turn that was checked and goes on while it is polled. Dropping it cancels it.
pub type StartedTurn = Pin<Box<dyn Future<Output = Result<ExecReply, Failure>> + Send>>;

/// The same of a turn whose last reply is a decision, which is not carried out.
pub type StartedPick = Pin<Box<dyn Future<Output = Result<PickedOption, Failure>> + Send>>;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_tool_that_cannot_be_is_refused_by_the_path_of_what_is_wrong() {
        let read = |name: &str, parameters: Json| {
            LocalTool::read("local_tools[1]", name.to_owned(), "Adds.", &parameters)
        };
        let tool = read("add-up", json!({"n": {"type": "integer"}})).unwrap();
        assert_eq!(
            (tool.name.as_str(), tool.parameters.fields.len()),
            ("add-up", 1)
        );
        for (name, parameters, path) in [
            ("", json!({}), "local_tools[1].name"),
            ("add up", json!({}), "local_tools[1].name"),
            ("__openprogram_x", json!({}), "local_tools[1].name"),
            ("--OpenProgram-x", json!({}), "local_tools[1].name"),
            ("add", json!([]), "local_tools[1].parameters"),
            (
                "add",
                json!({"n": {"type": "number!"}}),
                "local_tools[1].parameters.n.type",
            ),
        ] {
            let failure = read(name, parameters).unwrap_err();
            assert_eq!(failure.details["path"], path, "{failure}");
        }
    }
}
