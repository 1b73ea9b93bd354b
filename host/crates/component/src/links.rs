//! Which function of which component stands behind each function that a component imports.

use std::collections::{BTreeMap, HashMap};

use openprogram_core::failure::Failure;
use openprogram_core::function::FunctionRef;

/// Who serves the interfaces that one component imports from others.
#[derive(Clone, Debug, Default)]
pub struct Links {
    by_interface: BTreeMap<String, Link>,
}

/// Who serves one imported interface.
#[derive(Clone, Debug, Default)]
pub struct Link {
    /// The component.
    pub component: String,
    /// The interface as it exports it: its version may be another one.
    pub interface: String,
    /// The imported functions by their WIT names.
    pub(crate) functions: HashMap<String, FunctionRef>,
}

impl Links {
    /// The components and the interfaces that they serve, by the names of the imports.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Link)> {
        let links = self.by_interface.iter();
        links.map(|(interface, link)| (interface.as_str(), link))
    }

    /// The function behind an imported one.
    pub(crate) fn function(&self, interface: &str, function: &str) -> Option<&FunctionRef> {
        self.by_interface.get(interface)?.functions.get(function)
    }
}

/// An imported function gave nothing that its types have a place for. It stops whoever called it.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the import `{import}` failed: {failure}")]
pub(crate) struct ImportFailed {
    pub(crate) import: String,
    /// Whose function it is, where that is known.
    pub(crate) component: Option<String>,
    pub(crate) failure: Failure,
}

impl FromIterator<(String, Link)> for Links {
    fn from_iter<T: IntoIterator<Item = (String, Link)>>(links: T) -> Self {
        Self {
            by_interface: links.into_iter().collect(),
        }
    }
}
