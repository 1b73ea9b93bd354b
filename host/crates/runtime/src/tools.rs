//! Which tools the model of a turn has, and which of them it must call.
//!
//! Grants are those of the component whose turn it is; a call that a model makes counts as made by
//! that component.

use std::collections::BTreeMap;
use std::sync::Arc;

use openprogram_core::catalog::Catalog;
use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::function::{FunctionRef, Offer};
use openprogram_core::guest::{ExecRequest, ToolsWanted};
use openprogram_core::host_tool::HostTool;
use openprogram_core::schema::names_equal;
use openprogram_core::tool::{ToolChoice, ToolNames, ToolSpec, check_tool_name, nearest_tools};
use openprogram_core::tool_filter::{FULL, NONE, ToolFilter, filter_tools};
use openprogram_core::{Json, JsonObject};
use serde_json::json;

use crate::call::find_function;
use crate::conditions::available;
use crate::deferred::Deferred;
use crate::frame::{Frame, InheritedTools, TurnTools};
use crate::own_tool::{OwnTool, ToolOwner};
use crate::ports::Ports;

/// How many characters an error repeats of a name that means nothing.
const NAME_CHARS_MAX: usize = 64;
/// How many names a node lists that no function answers to, or that are not available.
const UNKNOWN_LISTED_MAX: usize = 8;

/// The tools of one turn.
pub(crate) struct Tools {
    names: ToolNames,
    /// Those that whoever makes the turn runs, by name.
    own: BTreeMap<String, OwnTool>,
    /// Those that the model is not shown before it looks for them.
    deferred: Deferred,
    /// The same functions, as turns below inherit them.
    pub(crate) inherited: TurnTools,
}

/// What a model means by the name of a tool.
pub(crate) enum Tool<'a> {
    Function(&'a FunctionRef),
    Own(&'a OwnTool),
}

impl Tools {
    /// The tools that a turn asks for, and what its node says of them.
    ///
    /// # Errors
    /// `not-found`, `denied` and `invalid-argument` for a tool that cannot be offered or a preset
    /// that is none, and `limit-reached` for too many.
    pub(crate) async fn of(
        ports: &Ports,
        frame: &Frame,
        request: &ExecRequest,
        model: &str,
    ) -> Result<(Self, JsonObject), Failure> {
        let mut filter = request.tool_filter.clone();
        check_filter(ports, &filter)?;
        let inherited = frame.turn_tools.as_deref();
        let above = inherited.map_or(&[][..], |inherited| &inherited.sources);
        for source in above {
            if !filter.sources.contains(source) {
                filter.sources.push(source.clone());
            }
        }
        let sets = &ports.parts.tool_sets;
        let initial = initial_tools(ports, frame, request)?;
        let component = frame.component();
        let policy = &ports.parts.policy;
        let functions = filter_tools(initial, sets, &filter, |function| {
            matches!(function.offer, Offer::Offered) && policy.allows(component, function)
        });
        let (functions, unavailable) = available(ports, functions, model).await;
        let own = request.host_tools.iter();
        let own: Vec<_> = own
            .filter(|tool| filter.keeps_tool(sets, &tool.spec.name))
            .collect();
        let most = ports.parts.limits.turn_tools;
        let count = functions.len() + own.len();
        if count as u64 > most {
            let message = format!(
                "the turn would offer {count} tools; the most is {most}: name those that it needs"
            );
            return Err(Failure::limit("turn_tools", most, message));
        }
        let names = ToolNames::new(functions).map_err(|error| invalid("tools", error))?;
        let mut tools = Self {
            inherited: Arc::new(InheritedTools {
                names: names.iter().map(|(_, f)| f.name.clone()).collect(),
                sources: filter.sources.clone(),
            }),
            deferred: match request.tools {
                // What is named is wanted.
                ToolsWanted::Named(_) => Deferred::default(),
                _ => Deferred::of(&names),
            },
            names,
            own: BTreeMap::new(),
        };
        for tool in own {
            tools.add_own(tool, ToolOwner::Turn)?;
        }
        tools.add_search(&filter)?;
        let mut facts = facts(ports, request, &filter);
        if tools.deferred.len() > 0 {
            facts.insert("tools_deferred".to_owned(), tools.deferred.len().into());
        }
        if !unavailable.is_empty() {
            let listed = unavailable.into_iter().take(UNKNOWN_LISTED_MAX);
            facts.insert("tools_unavailable".to_owned(), listed.collect());
        }
        Ok((tools, facts))
    }

    /// Adds the tool that searches what is deferred, unless it is denied.
    fn add_search(&mut self, filter: &ToolFilter) -> Result<(), Failure> {
        let searching = self.deferred.searching(|name| self.find(name).is_some());
        let is_denied = |tool: &HostTool| {
            let mut denied = filter.deny.iter();
            denied.any(|name| names_equal(name, &tool.spec.name))
        };
        match searching.filter(|tool| !is_denied(tool)) {
            Some(tool) => self.add_own(&tool, ToolOwner::Search),
            None => Ok(()),
        }
    }

    /// Whether the model has to look for this tool before it calls it. From now on it is shown.
    pub(crate) fn was_hidden(&self, name: &str) -> bool {
        self.deferred.show(name)
    }

    /// The specs of the tools that the model has looked for, of those that are new.
    pub(crate) fn looked_up(&self, is_new: impl Fn(&str) -> bool) -> Vec<ToolSpec> {
        self.deferred.specs(is_new)
    }

    /// Adds a tool that is no function.
    ///
    /// # Errors
    /// `invalid-argument` when it cannot be told, or its name is taken, with both owners.
    pub(crate) fn add_own(&mut self, tool: &HostTool, owner: ToolOwner) -> Result<(), Failure> {
        let name = &tool.spec.name;
        let own = OwnTool::new(tool.clone(), owner)?;
        let taken = self.find(name).map(|taken| match taken {
            Tool::Function(function) => format!("the function `{}`", function.name),
            Tool::Own(taken) => taken.described(),
        });
        if let Some(taken) = taken {
            let message = format!(
                "two tools of the turn have one name for a model: {taken} and {}; rename one of \
                 them",
                own.described()
            );
            return Err(invalid("tools", message));
        }
        self.own.insert(name.clone(), own);
        Ok(())
    }

    /// What a model means: the name of a tool, `-` and `_` being equal.
    pub(crate) fn find(&self, name: &str) -> Option<Tool<'_>> {
        if let Some(function) = self.names.function(name) {
            return Some(Tool::Function(function));
        }
        let mut own = self.own.iter();
        let (_, tool) = own.find(|(own, _)| names_equal(own, name))?;
        Some(Tool::Own(tool))
    }

    /// The tool name of a function of the turn.
    pub(crate) fn name_of(&self, function: &FunctionRef) -> Option<&str> {
        self.names.name_of(&function.name)
    }

    /// Checks that no tool passes for one of the host. A format that is handed in by such a tool says
    /// so first.
    ///
    /// # Errors
    /// `invalid-argument`, with the name.
    pub(crate) fn check_names(&self) -> Result<(), Failure> {
        for name in self.all_names() {
            check_tool_name(name).map_err(|problem| invalid("tools", problem))?;
        }
        Ok(())
    }

    /// The specs, sorted by name, as requests need them.
    pub(crate) fn specs(&self) -> Vec<ToolSpec> {
        let functions = self.names.iter();
        let shown = functions.filter(|(name, _)| !self.deferred.hides(name));
        let mut specs: Vec<_> = shown.map(|(name, f)| ToolSpec::of(f, name)).collect();
        specs.extend(self.own.values().map(|own| own.tool.spec.clone()));
        specs.sort_by(|a, b| a.name.cmp(&b.name));
        specs
    }

    /// The names, sorted.
    pub(crate) fn all_names(&self) -> Vec<&str> {
        let functions = self.names.iter().map(|(name, _)| name);
        let own = self.own.keys().map(String::as_str);
        let mut names: Vec<_> = functions.chain(own).collect();
        names.sort_unstable();
        names
    }

    /// The names most similar to one that is none of them.
    pub(crate) fn nearest(&self, name: &str) -> Vec<&str> {
        nearest_tools(self.all_names().into_iter(), name)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.names.is_empty() && self.own.is_empty()
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
        match wanted {
            ToolChoice::Required if self.is_empty() => {
                let message = "a call is required, and the turn has no tools; name some";
                Err(invalid("tool_choice", message))
            }
            ToolChoice::Named(name) => {
                // Either the name of the tool or any name of the function.
                let tool = match self.find(name) {
                    Some(Tool::Own(own)) => Some(own.tool.spec.name.as_str()),
                    Some(Tool::Function(function)) => self.name_of(function),
                    None => {
                        let function = catalog.resolve(name, frame.component()).ok();
                        function.and_then(|function| self.names.name_of(&function.name))
                    }
                };
                // What it has to call it is shown.
                let tool = tool.inspect(|name| {
                    self.deferred.show(name);
                });
                tool.map(|name| ToolChoice::Named(name.to_owned()))
                    .ok_or_else(|| {
                        let shown: String = name.chars().take(NAME_CHARS_MAX).collect();
                        let message = format!(
                            "a call of `{shown}` is required, and it is none of the tools of the \
                             turn"
                        );
                        invalid("tool_choice", message)
                    })
            }
            // Without tools there is nothing to choose, and some providers refuse a choice.
            _ if self.is_empty() => Ok(ToolChoice::Auto),
            other => Ok(other.clone()),
        }
    }
}

fn invalid(path: &str, message: impl ToString) -> Failure {
    Failure::new(FailureCode::InvalidArgument, message.to_string()).with("path", path)
}

/// The functions that the filter begins with.
fn initial_tools(
    ports: &Ports,
    frame: &Frame,
    request: &ExecRequest,
) -> Result<Vec<FunctionRef>, Failure> {
    let registered = || ports.parts.catalog.iter().cloned();
    let find = |name: &String| find_function(ports, frame.component(), name);
    match &request.tools {
        // The tools that whoever makes the turn runs were named.
        ToolsWanted::Default if !request.host_tools.is_empty() => Ok(Vec::new()),
        ToolsWanted::Default => Ok(match frame.turn_tools.as_deref() {
            None => registered().collect(),
            Some(above) => registered()
                .filter(|function| above.names.contains(&function.name))
                .collect(),
        }),
        ToolsWanted::Named(names) => names.iter().map(find).collect(),
        ToolsWanted::Preset(name) => match name.as_str() {
            FULL => Ok(registered().collect()),
            NONE => Ok(Vec::new()),
            name => preset(ports, frame, name),
        },
    }
}

/// The functions of a preset. Those that the component may not call are left out later; of those that
/// the project names, they are kept as refused, with the command that allows them.
fn preset(ports: &Ports, frame: &Frame, name: &str) -> Result<Vec<FunctionRef>, Failure> {
    let (sets, catalog) = (&ports.parts.tool_sets, &ports.parts.catalog);
    let Some(functions) = sets.members(catalog, name) else {
        let shown: String = name.chars().take(NAME_CHARS_MAX).collect();
        let known = sets.names(catalog).into_iter();
        let known: Vec<_> = known.map(|name| format!("`{name}`")).collect();
        let message = format!(
            "there is no toolset `{shown}`; there are {}. A project names its own under \
             `[toolsets]` in openprogram.toml",
            known.join(", ")
        );
        return Err(invalid("toolset", message));
    };
    let found = functions.into_iter().map(|found| {
        found.map_err(|error| {
            let message = format!("the toolset `{name}` of the project: {error}");
            Failure::new(FailureCode::NotFound, message).with("name", error.name())
        })
    });
    let functions: Vec<_> = found.collect::<Result<_, _>>()?;
    if sets.presets.contains_key(name) {
        for function in &functions {
            if let Err(denied) = ports.parts.policy.check(frame.component(), function) {
                frame.note_refusal(&denied);
            }
        }
    }
    Ok(functions)
}

fn check_filter(ports: &Ports, filter: &ToolFilter) -> Result<(), Failure> {
    let most = ports.parts.limits.turn_tools;
    let allowed = filter.allow.as_ref().map_or(0, Vec::len);
    for (what, count) in [("allowed", allowed), ("denied", filter.deny.len())] {
        if count as u64 > most {
            let message = format!("the turn has more than {most} {what} tools");
            return Err(Failure::limit("turn_tools", most, message));
        }
    }
    Ok(())
}

/// What the node of the turn says of how its tools were chosen.
fn facts(ports: &Ports, request: &ExecRequest, filter: &ToolFilter) -> JsonObject {
    let mut facts = JsonObject::new();
    if let ToolsWanted::Preset(name) = &request.tools {
        facts.insert("toolset".to_owned(), name.clone().into());
    }
    if !filter.sources.is_empty() {
        facts.insert("tools_source".to_owned(), filter.sources.clone().into());
    }
    // They may be slips, or functions that are not installed here.
    let mut unknown = ports.parts.catalog.unknown(filter.names());
    unknown.retain(|name| {
        let mut own = request.host_tools.iter();
        !own.any(|tool| names_equal(&tool.spec.name, name))
    });
    unknown.truncate(UNKNOWN_LISTED_MAX);
    if !unknown.is_empty() {
        facts.insert("tools_unknown".to_owned(), unknown.into());
    }
    facts
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
