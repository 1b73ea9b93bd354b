//! What the model of a chat may call, by a name: one of the presets of the project or of its
//! components, or one that is always there.

use openprogram_core::catalog::Catalog;
use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::function::{FunctionRef, Offer};
use openprogram_core::guest::ToolsWanted;
use openprogram_core::tool_filter::{FULL, NONE, ToolSets};

use crate::text::one_line;

/// What the model of a turn may call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Toolset(String);

impl Toolset {
    /// Reads a name.
    ///
    /// # Errors
    /// `invalid-argument`, with the names that there are.
    pub(super) fn parse(name: &str, sets: &ToolSets, catalog: &Catalog) -> Result<Self, Failure> {
        let is_there = [FULL, NONE].contains(&name) || sets.members(catalog, name).is_some();
        if is_there {
            return Ok(Self(name.to_owned()));
        }
        let known = sets.names(catalog).into_iter();
        let known: Vec<_> = known.map(|name| format!("`{name}`")).collect();
        let (name, known) = (one_line(name, 40), known.join(", "));
        let message = format!("there is no toolset `{name}`; there are {known}");
        Err(Failure::new(FailureCode::InvalidArgument, message).with("path", "toolset"))
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
                let members = sets.members(catalog, name).unwrap_or_default().into_iter();
                members
                    .map(|found| found.map_err(|e| e.to_string()))
                    .collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use openprogram_core::function::{Function, FunctionName};

    use super::*;

    #[test]
    fn a_toolset_is_a_preset_of_the_project_or_one_that_is_always_there() {
        let sets = ToolSets {
            presets: BTreeMap::from([("default".to_owned(), vec!["files.read".to_owned()])]),
            ..ToolSets::default()
        };
        let mut catalog = Catalog::default();
        let mut paying = Function::new(FunctionName::new("bank", None, "pay"));
        paying.gating.toolsets = vec!["default".to_owned(), "money".to_owned()];
        catalog.add("bank", vec![paying]).unwrap();
        let parse = |name: &str| Toolset::parse(name, &sets, &catalog);
        assert_eq!(parse("full").unwrap().tools(), ToolsWanted::Default);
        for name in ["none", "default", "money"] {
            let wanted = ToolsWanted::Preset(name.to_owned());
            assert_eq!(parse(name).unwrap().tools(), wanted);
        }
        let unknown = "there is no toolset `all`; there are `full`, `none`, `default`, `money`";
        assert_eq!(parse("all").unwrap_err().message, unknown);
        let functions = |name: &str| parse(name).unwrap().functions(&catalog, &sets);
        assert_eq!(functions("money")[0].as_ref().unwrap().name.function, "pay");
        // What the project lists is all that is in it.
        let functions = functions("default");
        assert_eq!(
            functions,
            [Err("there is no function `files.read`".to_owned())]
        );
    }
}
