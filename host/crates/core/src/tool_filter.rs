//! Which of the functions that a turn could have it does have: names that are let through, names
//! that are left out, and where the turn comes from.

use std::collections::BTreeMap;

use crate::catalog::Spellings;
use crate::function::FunctionRef;
use crate::schema::names_equal;

/// The preset of everything that is registered and may be called. It is what a turn has that says
/// nothing, outside of any other turn.
pub const FULL: &str = "full";
/// The preset without any tool.
pub const NONE: &str = "none";

/// What is left out of the tools of a turn. The default leaves out nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolFilter {
    /// Where the turn comes from, for example `telegram`: the functions that are declared unsafe
    /// in one of these are left out.
    pub sources: Vec<String>,
    /// Only what answers to one of these names stays; `None` lets everything through.
    pub allow: Option<Vec<String>>,
    /// What answers to one of these names is left out, even where it is allowed.
    pub deny: Vec<String>,
}

/// Named sets of functions, and the sources from which functions are unsafe, as a project declares
/// them. Names are those of [`Catalog::resolve`](crate::catalog::Catalog::resolve).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolSets {
    /// The functions of each preset. [`FULL`] and [`NONE`] are not among them.
    pub presets: BTreeMap<String, Vec<String>>,
    /// The functions that are unsafe in a turn from each source.
    pub unsafe_in: BTreeMap<String, Vec<String>>,
}

impl ToolSets {
    /// The names of all presets, those that are always there first.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let own = self.presets.keys().map(String::as_str);
        [FULL, NONE].into_iter().chain(own)
    }

    fn unsafe_names(&self, sources: &[String]) -> Vec<&[String]> {
        let names = sources
            .iter()
            .filter_map(|source| self.unsafe_in.get(source));
        names.map(Vec::as_slice).collect()
    }
}

/// The one place where tools are left out, in this order:
///
/// 1. the initial set: the functions that are named, those of a preset, those of the turn above, or
///    everything that is registered (made by the caller);
/// 2. those that are unsafe in a source of the turn;
/// 3. those that cannot be offered, or that the component of the turn may not call (`may_call`);
/// 4. those that are denied;
/// 5. those that are not allowed, where some are.
///
/// A name that no function answers to lets nothing through and leaves out nothing.
pub fn filter_tools(
    initial: Vec<FunctionRef>,
    sets: &ToolSets,
    filter: &ToolFilter,
    may_call: impl Fn(&FunctionRef) -> bool,
) -> Vec<FunctionRef> {
    let is_unsafe = sets.unsafe_names(&filter.sources);
    let has_names = !is_unsafe.is_empty() || filter.allow.is_some() || !filter.deny.is_empty();
    let stays = |function: &FunctionRef| {
        let spellings = has_names.then(|| Spellings::of(function));
        let is_spelled = |name: &String| spellings.as_ref().is_some_and(|own| own.have(name));
        let listed = |names: &[String]| names.iter().any(is_spelled);
        !is_unsafe.iter().any(|names| listed(names))
            && may_call(function)
            && !listed(&filter.deny)
            && filter.allow.as_deref().is_none_or(listed)
    };
    initial.into_iter().filter(stays).collect()
}

impl ToolFilter {
    /// Whether a tool that is no function stays, by its name alone.
    #[must_use]
    pub fn keeps_tool(&self, sets: &ToolSets, tool: &str) -> bool {
        let listed = |names: &[String]| names.iter().any(|name| names_equal(name, tool));
        let is_unsafe = sets.unsafe_names(&self.sources);
        !is_unsafe.iter().any(|names| listed(names))
            && !listed(&self.deny)
            && self.allow.as_deref().is_none_or(listed)
    }

    /// Every name that is let through or left out.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let names = self.allow.iter().flatten().chain(&self.deny);
        names.map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::function::{Function, FunctionName};

    fn functions() -> Vec<FunctionRef> {
        let function = |component: &str, name: &str| {
            let interface = Some(format!("test:{component}/api@1.0.0"));
            Arc::new(Function::new(FunctionName::new(component, interface, name)))
        };
        [
            ("files", "read"),
            ("files", "write"),
            ("net", "read"),
            ("shell", "run-line"),
        ]
        .map(|(component, name)| function(component, name))
        .into()
    }

    fn sets() -> ToolSets {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        ToolSets {
            presets: BTreeMap::from([("reading".to_owned(), names(&["files.read"]))]),
            unsafe_in: BTreeMap::from([("telegram".to_owned(), names(&["run_line", "net.read"]))]),
        }
    }

    fn filter(source: &str, allow: Option<&[&str]>, deny: &[&str]) -> ToolFilter {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        ToolFilter {
            sources: source.split_whitespace().map(str::to_owned).collect(),
            allow: allow.map(names),
            deny: names(deny),
        }
    }

    #[track_caller]
    fn check(filter: &ToolFilter, expected: &str) {
        let may_call = |function: &FunctionRef| function.name.function != "write";
        let left = filter_tools(functions(), &sets(), filter, may_call);
        let left: Vec<_> = left
            .iter()
            .map(|f| format!("{}.{}", f.name.component, f.name.function))
            .collect();
        assert_eq!(left.join(" "), expected);
    }

    #[test]
    fn what_is_unsafe_denied_or_not_allowed_is_left_out() {
        check(&filter("", None, &[]), "files.read net.read shell.run-line");
        check(&filter("telegram", None, &[]), "files.read");
        check(&filter("matrix telegram", None, &[]), "files.read");
        check(
            &filter("matrix", None, &[]),
            "files.read net.read shell.run-line",
        );
        check(&filter("", None, &["read"]), "shell.run-line");
        check(
            &filter("", None, &["net/api.read", "nothing"]),
            "files.read shell.run-line",
        );
        check(
            &filter("", Some(&["read", "run-line"]), &["net.read"]),
            "files.read shell.run-line",
        );
        // A list lets nothing through that is denied, unsafe or not granted.
        check(&filter("telegram", Some(&["run-line", "write"]), &[]), "");
        check(&filter("", Some(&["read"]), &["read"]), "");
        check(&filter("", Some(&[]), &[]), "");
    }

    #[test]
    fn a_tool_of_the_host_goes_by_its_name() {
        let keeps = |filter: ToolFilter| filter.keeps_tool(&sets(), "run_line");
        assert!(keeps(filter("", None, &["read"])));
        assert!(keeps(filter("matrix", Some(&["run-line"]), &[])));
        assert!(!keeps(filter("telegram", None, &[])));
        assert!(!keeps(filter("", None, &["run-line"])));
        assert!(!keeps(filter("", Some(&["read"]), &[])));
    }
}
