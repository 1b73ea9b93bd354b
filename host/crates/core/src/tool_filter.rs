//! Which of the functions that a turn could have it does have: names that are let through, names
//! that are left out, and where the turn comes from.

use std::collections::{BTreeMap, BTreeSet};

use crate::catalog::{Catalog, ResolveError, Spellings};
use crate::function::FunctionRef;
use crate::schema::names_equal;

/// The preset of everything that is registered and may be called. It is what a turn has that says
/// nothing, outside of any other turn.
pub const FULL: &str = "full";
/// The preset without any tool.
pub const NONE: &str = "none";

/// How many presets are named into which only authors put functions.
const DECLARED_LISTED_MAX: usize = 16;

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
    /// The names of all presets: those that are always there, those of the project, and those into
    /// which authors put functions, of which the first few are named.
    #[must_use]
    pub fn names<'a>(&'a self, catalog: &'a Catalog) -> Vec<&'a str> {
        let own = self.presets.keys().map(String::as_str);
        let declared = catalog.iter().flat_map(|f| &f.gating.toolsets);
        let declared: BTreeSet<_> = declared.map(String::as_str).collect();
        let is_new = |name: &&str| !self.presets.contains_key(*name);
        let declared = declared
            .into_iter()
            .filter(is_new)
            .take(DECLARED_LISTED_MAX);
        [FULL, NONE]
            .into_iter()
            .chain(own)
            .chain(declared)
            .collect()
    }

    /// The functions of a preset that is not always there: those that the project names, each or the
    /// reason why there is none, or where it has no preset of this name, those whose authors put them
    /// into it. So nothing that is installed adds itself to what a person has listed.
    ///
    /// `None` when there is no such preset.
    #[must_use]
    pub fn members(
        &self,
        catalog: &Catalog,
        name: &str,
    ) -> Option<Vec<Result<FunctionRef, ResolveError>>> {
        if let Some(names) = self.presets.get(name) {
            let found = names.iter().map(|function| catalog.resolve(function, None));
            return Some(found.collect());
        }
        let is_in = |function: &&FunctionRef| {
            let mut presets = function.gating.toolsets.iter();
            presets.any(|preset| preset == name)
        };
        let declared: Vec<_> = catalog.iter().filter(is_in).cloned().map(Ok).collect();
        (!declared.is_empty()).then_some(declared)
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
/// 2. those that are unsafe in a source of the turn, as their author or the project says;
/// 3. those that cannot be offered, or that the component of the turn may not call (`may_call`);
/// 4. those that are denied;
/// 5. those that are not allowed, where some are;
/// 6. those that are not available (left out by the caller, who can ask them);
/// 7. those that are deferred stay, without being shown (by the caller).
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
        let mut sources = function.gating.unsafe_in.iter();
        !sources.any(|source| filter.sources.contains(source))
            && !is_unsafe.iter().any(|names| listed(names))
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
    fn what_its_author_calls_unsafe_is_left_out_whatever_the_project_says() {
        let mut shell = Function::new(FunctionName::new("shell", None, "run-line"));
        shell.gating.unsafe_in = vec!["matrix".to_owned(), "mail".to_owned()];
        let left = |source: &str, allow: Option<&[&str]>| {
            let functions = vec![Arc::new(shell.clone())];
            filter_tools(functions, &sets(), &filter(source, allow, &[]), |_| true).len()
        };
        assert_eq!((left("", None), left("web", None)), (1, 1));
        // What the project adds is unsafe too.
        assert_eq!(
            (
                left("mail", None),
                left("web matrix", None),
                left("telegram", None)
            ),
            (0, 0, 0)
        );
        assert_eq!(left("mail", Some(&["run-line"])), 0);
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
