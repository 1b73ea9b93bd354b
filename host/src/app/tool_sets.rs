//! Whether the functions are there that the project file names in `[toolsets]` and `[unsafe_in]`.

use openprogram_core::catalog::{Catalog, ResolveError};
use openprogram_core::schema::names_equal;
use openprogram_core::skill::SKILL_TOOL;

use super::{App, Listing, catalog};

/// A name in a set that means no function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownTool {
    /// The key of the set in the project file, for example `toolsets.default`.
    pub key: String,
    /// What is wrong with the name.
    pub message: String,
}

impl App {
    /// The names in the sets of the project that mean no function, or several, as far as its
    /// components are known: a name that one of the others may have is passed over.
    ///
    /// # Errors
    /// When the components cannot stand beside each other.
    pub fn unknown_tools(&self, listing: &Listing) -> anyhow::Result<Vec<UnknownTool>> {
        let sets = &self.settings.tool_sets;
        let is_whole = listing.unknown.is_empty();
        if sets.presets.is_empty() && sets.unsafe_in.is_empty() {
            return Ok(Vec::new());
        }
        let catalog = catalog(&listing.components())?;
        let mut unknown = Vec::new();
        for (table, sets) in [("toolsets", &sets.presets), ("unsafe_in", &sets.unsafe_in)] {
            for (name, functions) in sets {
                let problems = functions.iter().filter_map(|function| {
                    let problem = problem(&catalog, function)?;
                    let is_sure = is_whole || matches!(problem, ResolveError::Ambiguous { .. });
                    is_sure.then(|| problem.to_string())
                });
                unknown.extend(problems.map(|message| UnknownTool {
                    key: format!("{table}.{name}"),
                    message,
                }));
            }
        }
        Ok(unknown)
    }
}

fn problem(catalog: &Catalog, function: &str) -> Option<ResolveError> {
    // The host's own tool goes by its name too.
    if names_equal(function, SKILL_TOOL) {
        return None;
    }
    catalog.resolve(function, None).err()
}
