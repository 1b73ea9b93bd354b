//! What a turn has of skills: the list in its system prompt, and the tool that reads one.

use std::sync::Arc;

use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::guest::{ExecRequest, ToolsWanted};
use openprogram_core::host_tool::HostTool;
use openprogram_core::skill::{SKILL_TOOL, Skills};
use openprogram_core::tool_filter::NONE;

use crate::frame::Frame;
use crate::own_tool::ToolOwner;
use crate::ports::Ports;
use crate::tools::Tools;

/// Adds the tool that reads skills, where the turn may have it, and gives what the system prompt
/// says of them; `None` when there are none.
///
/// # Errors
/// `invalid-argument` when another tool of the turn has the name of that tool.
pub(crate) fn offer_skills(
    ports: &Ports,
    frame: &Frame,
    request: &ExecRequest,
    tools: &mut Tools,
) -> Result<Option<String>, Failure> {
    let Some(source) = &ports.parts.skills else {
        return Ok(None);
    };
    let skills = source.skills();
    if skills.is_empty() {
        return Ok(None);
    }
    let has_tool = may_read(ports, frame, request, tools);
    if has_tool {
        tools.add_own(&reading(&skills), ToolOwner::Skills)?;
    }
    Ok(skills.block(has_tool))
}

/// Whether the turn may have the tool: it did not ask for none, no filter leaves it out, and it
/// does not stand in the way of a format that goes without tools.
fn may_read(ports: &Ports, frame: &Frame, request: &ExecRequest, tools: &Tools) -> bool {
    let asks_for_none = match &request.tools {
        ToolsWanted::Named(names) => names.is_empty() && request.host_tools.is_empty(),
        ToolsWanted::Preset(name) => name == NONE,
        ToolsWanted::Default => {
            let above = frame.turn_tools.as_deref();
            above.is_some_and(|above| above.names.is_empty())
        }
    };
    let is_kept = request
        .tool_filter
        .keeps_tool(&ports.parts.tool_sets, SKILL_TOOL);
    let has_room = request.response_format.is_none() || !tools.is_empty();
    !asks_for_none && is_kept && has_room
}

fn reading(skills: &Arc<Skills>) -> HostTool {
    let skills = Arc::clone(skills);
    let read = move |arguments| match skills.read(&arguments) {
        Ok(body) => Ok(body.into()),
        Err(message) => Err(Failure::new(FailureCode::NotFound, message)),
    };
    let read = Arc::new(read);
    HostTool::new(Skills::tool(), move |call| {
        let read = Arc::clone(&read);
        async move { read(call.arguments) }
    })
    .read_only()
}
