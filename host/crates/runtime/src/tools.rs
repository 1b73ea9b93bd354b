//! Which functions the model of a turn may call, and which of them it must.
//!
//! Grants are those of the component whose turn it is; a call that a model makes counts as made by
//! that component.

use openprogram_core::Json;
use std::sync::Arc;

use openprogram_core::catalog::Catalog;
use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::function::{FunctionRef, Offer};
use openprogram_core::guest::ToolsWanted;
use openprogram_core::tool::{ToolChoice, ToolNames};
use serde_json::json;

use crate::call::find_function;
use crate::frame::{Frame, TurnTools};
use crate::ports::Ports;

/// The tools of one turn.
pub(crate) struct Tools {
    pub(crate) names: ToolNames,
    /// The same functions, as turns below inherit them.
    pub(crate) inherited: TurnTools,
}

impl Tools {
    /// The tools that a turn asks for.
    ///
    /// # Errors
    /// `not-found`, `denied` and `invalid-argument` for a tool that cannot be offered, and
    /// `limit-reached` for too many.
    pub(crate) fn of(ports: &Ports, frame: &Frame, wanted: &ToolsWanted) -> Result<Self, Failure> {
        let functions = match wanted {
            ToolsWanted::Default => default_tools(ports, frame),
            ToolsWanted::Named(names) => named_tools(ports, frame, names)?,
        };
        let most = ports.parts.limits.turn_tools;
        let count = functions.len();
        if count as u64 > most {
            let message = format!(
                "the turn would offer {count} tools; the most is {most}: name those that it needs"
            );
            return Err(Failure::limit("turn_tools", most, message));
        }
        let names = ToolNames::new(functions).map_err(|collision| {
            Failure::new(FailureCode::InvalidArgument, collision.to_string()).with("path", "tools")
        })?;
        let inherited = names.iter().map(|(_, function)| function.name.clone());
        Ok(Self {
            inherited: Arc::new(inherited.collect()),
            names,
        })
    }

    /// The choice in the names that the model sees.
    ///
    /// # Errors
    /// `invalid-argument` when the model would have to call what it is not offered.
    pub(crate) fn choice(
        &self,
        catalog: &Catalog,
        frame: &Frame,
        wanted: &ToolChoice,
    ) -> Result<ToolChoice, Failure> {
        let refused = |message: String| {
            Failure::new(FailureCode::InvalidArgument, message).with("path", "tool_choice")
        };
        match wanted {
            ToolChoice::Required if self.names.is_empty() => Err(refused(
                "a call is required, and the turn has no tools; name some".to_owned(),
            )),
            ToolChoice::Named(name) => {
                // Either the name of the tool or any name of the function.
                let tool = self.names.function(name).cloned();
                let function = tool.or_else(|| catalog.resolve(name, frame.component()).ok());
                let tool = function.and_then(|f| self.names.name_of(&f.name).map(str::to_owned));
                let shown: String = name.chars().take(64).collect();
                tool.map(ToolChoice::Named).ok_or_else(|| {
                    refused(format!(
                        "a call of `{shown}` is required, and it is none of the tools of the turn"
                    ))
                })
            }
            // Without tools there is nothing to choose, and some providers refuse a choice.
            _ if self.names.is_empty() => Ok(ToolChoice::Auto),
            other => Ok(other.clone()),
        }
    }
}

/// Everything that may be called; inside a turn, only what that turn has.
fn default_tools(ports: &Ports, frame: &Frame) -> Vec<FunctionRef> {
    let component = frame.component();
    let inherited = frame.turn_tools.as_deref();
    let offered = |function: &&FunctionRef| {
        matches!(function.offer, Offer::Offered)
            && inherited.is_none_or(|tools| tools.contains(&function.name))
            && ports.parts.policy.allows(component, function)
    };
    ports
        .parts
        .catalog
        .iter()
        .filter(offered)
        .cloned()
        .collect()
}

fn named_tools(
    ports: &Ports,
    frame: &Frame,
    names: &[String],
) -> Result<Vec<FunctionRef>, Failure> {
    let find = |name: &String| find_function(ports, frame.component(), name);
    names.iter().map(find).collect()
}

/// The choice as facts hold it; `None` for the usual one.
pub(crate) fn choice_fact(choice: &ToolChoice) -> Option<Json> {
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::Required => Some("required".into()),
        ToolChoice::None => Some("none".into()),
        ToolChoice::Named(name) => Some(json!({ "name": name })),
    }
}
