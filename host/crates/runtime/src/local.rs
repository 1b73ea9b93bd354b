//! Tools that the function of a turn runs itself, while the turn goes on beside it: tools of whoever
//! makes the turn, whose calls wait for their answers at its watcher.

use std::sync::Arc;

use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::function::{Function, FunctionName, Parameter};
use openprogram_core::guest::{LocalCall, LocalTool, TurnWatcher};
use openprogram_core::host_tool::{HostTool, HostToolCall};
use openprogram_core::schema::{Field, Type, names_equal};
use openprogram_core::tool::ToolSpec;

/// The local tools of a turn, run by its watcher one call at a time.
///
/// # Errors
/// `invalid-argument`, when two have one name, with both.
pub(crate) fn local_tools(
    tools: &[LocalTool],
    watcher: &Arc<dyn TurnWatcher>,
) -> Result<Vec<HostTool>, Failure> {
    for (index, tool) in tools.iter().enumerate() {
        let mut before = tools[..index].iter();
        if let Some(other) = before.find(|other| names_equal(&other.name, &tool.name)) {
            let message = format!(
                "the local tools `{}` and `{}` would be one to a model; rename one of them",
                other.name, tool.name
            );
            let failure = Failure::new(FailureCode::InvalidArgument, message);
            return Err(failure.with("path", format!("local_tools[{index}].name")));
        }
    }
    Ok(tools.iter().map(|tool| host_tool(tool, watcher)).collect())
}

fn host_tool(tool: &LocalTool, watcher: &Arc<dyn TurnWatcher>) -> HostTool {
    let mut function = Function::new(FunctionName::new("", None, tool.name.clone()));
    function.description.clone_from(&tool.description);
    function.parameters = tool.parameters.fields.iter().map(parameter).collect();
    let watcher = Arc::clone(watcher);
    HostTool::new(ToolSpec::of(&function, &tool.name), move |call| {
        let watcher = Arc::clone(&watcher);
        async move {
            let HostToolCall {
                id,
                name,
                arguments,
            } = call;
            let call = LocalCall {
                id,
                name,
                arguments,
            };
            watcher.call(call).await
        }
    })
}

fn parameter(field: &Field) -> Parameter {
    let mut parameter = Parameter::new(field.name.clone(), Type::Json);
    parameter.field = field.clone();
    parameter
}
