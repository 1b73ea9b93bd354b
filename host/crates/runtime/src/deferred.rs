//! The tools of a turn that its model is not shown before it looks for them.
//!
//! They are searched by a tool of the host, and what is found is told with the next request. A call of
//! one that was not looked for is answered with its schema instead of being run.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openprogram_core::function::FunctionRef;
use openprogram_core::host_tool::HostTool;
use openprogram_core::tool::{ToolNames, ToolSpec};
use openprogram_core::tool_search::{SEARCH_TOOL, search_spec, search_tools};

/// What is deferred in one turn.
#[derive(Debug, Default)]
pub(crate) struct Deferred {
    /// The functions by the names that the model calls them by, sorted.
    functions: Arc<[(String, FunctionRef)]>,
    shown: Arc<Mutex<BTreeSet<String>>>,
}

impl Deferred {
    /// Those of a turn whose author wants them deferred.
    pub(crate) fn of(names: &ToolNames) -> Self {
        let all = names.iter();
        let deferred = all.filter(|(_, function)| function.gating.deferred.is_some());
        Self {
            functions: deferred
                .map(|(name, function)| (name.to_owned(), Arc::clone(function)))
                .collect(),
            shown: Arc::default(),
        }
    }

    fn has(&self, name: &str) -> bool {
        let found = self
            .functions
            .binary_search_by(|(deferred, _)| deferred.as_str().cmp(name));
        found.is_ok()
    }

    /// Whether the model is not shown the tool of this name, yet.
    pub(crate) fn hides(&self, name: &str) -> bool {
        self.has(name) && !self.shown().contains(name)
    }

    /// Shows a tool from now on. Says whether it was hidden.
    pub(crate) fn show(&self, name: &str) -> bool {
        self.has(name) && self.shown().insert(name.to_owned())
    }

    /// How many tools are deferred, shown or not.
    pub(crate) fn len(&self) -> usize {
        self.functions.len()
    }

    /// The specs of what was looked for and found, of those that are new.
    pub(crate) fn specs(&self, is_new: impl Fn(&str) -> bool) -> Vec<ToolSpec> {
        let shown = self.shown();
        let all = self.functions.iter();
        let found = all.filter(|(name, _)| shown.contains(name) && is_new(name));
        found.map(|(name, f)| ToolSpec::of(f, name)).collect()
    }

    /// The tool that searches; `None` when nothing is deferred. `is_taken` says of a name whether
    /// another tool of the turn has it.
    pub(crate) fn searching(&self, is_taken: impl Fn(&str) -> bool) -> Option<HostTool> {
        if self.functions.is_empty() {
            return None;
        }
        let mut name = SEARCH_TOOL.to_owned();
        let mut number = 2;
        while is_taken(&name) {
            name = format!("{SEARCH_TOOL}_{number}");
            number += 1;
        }
        let spec = search_spec(&name, self.functions.iter().map(|(name, _)| name.as_str()));
        let functions = Arc::clone(&self.functions);
        let shown = Arc::clone(&self.shown);
        let tool = HostTool::new(spec, move |call| {
            let (functions, shown) = (Arc::clone(&functions), Arc::clone(&shown));
            async move {
                let tools = functions.iter().map(|(name, f)| (name.as_str(), &**f));
                let found = search_tools(tools, &call.arguments);
                lock(&shown).extend(found.names);
                Ok(found.text.into())
            }
        });
        Some(tool.read_only())
    }

    fn shown(&self) -> MutexGuard<'_, BTreeSet<String>> {
        lock(&self.shown)
    }
}

fn lock(shown: &Mutex<BTreeSet<String>>) -> MutexGuard<'_, BTreeSet<String>> {
    // A set of names is whole after every insertion.
    shown.lock().unwrap_or_else(PoisonError::into_inner)
}
