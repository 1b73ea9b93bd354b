//! A tool that whoever makes the turn runs, made ready: its spec is right, and its arguments can be
//! checked.

use openprogram_core::content::ToolCall;
use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::host_tool::{HostTool, HostToolCall, HostToolResult};
use openprogram_core::structured::{ResponseFormat, StructuredError, Validator};
use openprogram_core::tool::is_tool_name;
use openprogram_core::{Json, JsonObject};

/// One such tool.
pub(crate) struct OwnTool {
    pub(crate) tool: HostTool,
    /// Whose it is.
    pub(crate) owner: ToolOwner,
    validator: Validator,
}

/// Whose a tool is that is no function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToolOwner {
    /// Whoever makes the turn brought it along.
    Turn,
    /// The host offers it where there are skills.
    Skills,
    /// The host offers it where tools are deferred.
    Search,
}

impl OwnTool {
    /// What it is, for an error about two of one name.
    pub(crate) fn described(&self) -> String {
        let name = &self.tool.spec.name;
        match self.owner {
            ToolOwner::Turn => format!("the tool `{name}` of the turn itself"),
            ToolOwner::Skills => format!("the tool `{name}` that reads skills"),
            ToolOwner::Search => format!("the tool `{name}` that searches tools"),
        }
    }

    /// Checks the spec.
    ///
    /// # Errors
    /// `invalid-argument` for a name that not every provider takes, and for a schema that is none,
    /// or that arguments cannot be checked against.
    pub(crate) fn new(tool: HostTool, owner: ToolOwner) -> Result<Self, Failure> {
        let name = &tool.spec.name;
        if !is_tool_name(name) {
            let shown: String = name.chars().take(64).collect();
            let message = format!(
                "`{shown}` cannot be the name of a tool; it has 1 to 64 letters, digits, `_` and `-`"
            );
            return Err(invalid("tools", message));
        }
        let unusable = |error: StructuredError| {
            let message = format!("the schema of the tool `{name}` cannot be used: {error}");
            invalid("tools", message)
        };
        let schema = &tool.spec.parameters;
        if schema.get("type").and_then(Json::as_str) != Some("object") {
            let message = format!(
                "the schema of the tool `{name}` is not one of an object; give it \
                 `\"type\": \"object\"` and `properties`"
            );
            return Err(invalid("tools", message));
        }
        let format = ResponseFormat::of_schema("arguments", schema.clone()).map_err(unusable)?;
        let validator = format.validator().map_err(unusable)?;
        Ok(Self {
            tool,
            owner,
            validator,
        })
    }

    /// Checks arguments against the schema.
    ///
    /// # Errors
    /// The places that do not fit, in words.
    pub(crate) fn check(&self, arguments: &JsonObject) -> Result<(), String> {
        let checked = self.validator.check(&Json::Object(arguments.clone()));
        checked.map_err(|error| {
            let places = error.issues.iter().map(|issue| {
                let place = match issue.path.as_str() {
                    "" => "as a whole".to_owned(),
                    path => format!("at `{path}`"),
                };
                format!("{place}, by `{}`", issue.schema_path)
            });
            places.collect::<Vec<_>>().join("; ")
        })
    }

    /// Runs a call whose arguments were checked.
    pub(crate) async fn run(&self, call: &ToolCall, arguments: JsonObject) -> HostToolResult {
        let call = HostToolCall {
            id: call.id.clone(),
            name: self.tool.spec.name.clone(),
            arguments,
        };
        self.tool.run(call).await
    }
}

fn invalid(path: &str, message: String) -> Failure {
    Failure::new(FailureCode::InvalidArgument, message).with("path", path)
}
