//! What the model of a chat may call, by a name: one of the presets of the project, or one that is
//! always there.

use openprogram_core::catalog::Catalog;
use openprogram_core::function::{FunctionRef, Offer};
use openprogram_core::guest::ToolsWanted;
use openprogram_core::tool_filter::{FULL, NONE, ToolSets};

use crate::text::one_line;

/// What the model of a turn may call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Toolset(String);

impl Toolset {
    /// Reads a name.
    pub(super) fn parse(name: &str, sets: &ToolSets) -> Result<Self, String> {
        if sets.names().any(|known| known == name) {
            return Ok(Self(name.to_owned()));
        }
        let known: Vec<_> = sets.names().map(|name| format!("`{name}`")).collect();
        Err(format!(
            "there is no toolset `{}`; there are {}",
            one_line(name, 40),
            known.join(", ")
        ))
    }

    /// The name.
    pub(super) fn name(&self) -> &str {
        &self.0
    }

    /// What a turn is told of it.
    pub(super) fn tools(&self) -> ToolsWanted {
        match self.name() {
            FULL => ToolsWanted::Default,
            name => ToolsWanted::Preset(name.to_owned()),
        }
    }

    /// Its functions, each or the reason why there is none of this name.
    pub(super) fn functions(
        &self,
        catalog: &Catalog,
        sets: &ToolSets,
    ) -> Vec<Result<FunctionRef, String>> {
        let offered = |function: &&FunctionRef| function.offer == Offer::Offered;
        match self.name() {
            FULL => catalog.iter().filter(offered).cloned().map(Ok).collect(),
            NONE => Vec::new(),
            name => {
                let names = sets.presets.get(name).into_iter().flatten();
                let find = |name: &String| {
                    let found = catalog.resolve(name, None);
                    found.map_err(|error| error.to_string())
                };
                names.map(find).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn a_toolset_is_a_preset_of_the_project_or_one_that_is_always_there() {
        let sets = ToolSets {
            presets: BTreeMap::from([("default".to_owned(), vec!["files.read".to_owned()])]),
            ..ToolSets::default()
        };
        let parse = |name: &str| Toolset::parse(name, &sets);
        assert_eq!(parse("full").unwrap().tools(), ToolsWanted::Default);
        for name in ["none", "default"] {
            let wanted = ToolsWanted::Preset(name.to_owned());
            assert_eq!(parse(name).unwrap().tools(), wanted);
        }
        let unknown = "there is no toolset `all`; there are `full`, `none`, `default`";
        assert_eq!(parse("all"), Err(unknown.to_owned()));
        let functions = parse("default").unwrap();
        let functions = functions.functions(&Catalog::default(), &sets);
        assert_eq!(
            functions,
            [Err("there is no function `files.read`".to_owned())]
        );
    }
}
