//! Finds the component that serves an interface which another one imports.
//!
//! An interface of exactly the imported name comes first, then one of a compatible version, as
//! wasmtime counts them. The types have to agree; nothing is guessed between several.

use std::sync::Arc;

use openprogram_core::function::Offer;

use crate::facts::{FunctionFact, LinkFact};
use crate::link_types::{compare, function_text};
use crate::links::{Link, Links};
use crate::loader::LoadedComponent;

/// Components and versions that an error names.
const LISTED_MAX: usize = 5;
/// Characters of a name in an error.
const NAME_CHARS_MAX: usize = 200;

/// An interface that a component imports from another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedInterface {
    /// Its name, with the version if it has one.
    pub name: String,
    /// Its functions with their types, as `name: func(…) -> …`.
    pub functions: Vec<String>,
}

/// Why nothing serves an interface that a component imports.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// No component exports it.
    #[error(
        "it imports `{interface}`, which no component of the project exports{}; install one that \
         does with `openprogram add`",
        others(other_versions)
    )]
    Nobody {
        /// The interface.
        interface: String,
        /// Components that export a version that is not compatible, with that version.
        other_versions: Vec<(String, String)>,
    },
    /// Several components export it.
    #[error(
        "it imports `{interface}`, which {} export; remove all of them but one",
        listed(exporters)
    )]
    Several {
        /// The interface.
        interface: String,
        /// The components.
        exporters: Vec<String>,
    },
    /// The one that exports it has other functions.
    #[error(
        "it imports `{interface}.{function}`, and `{exporter}` exports `{exported}` without \
         `{function}`: one of them was built against another version"
    )]
    Lacks {
        /// The interface as it is imported.
        interface: String,
        /// The function.
        function: String,
        /// The component that exports the interface.
        exporter: String,
        /// The interface as it is exported.
        exported: String,
    },
    /// The one that exports it has other types.
    #[error(
        "it imports `{function}` as `{found}`, and `{exporter}` exports it as `{expected}`: one of \
         them was built against another version of the interface"
    )]
    OtherType {
        /// The function with its interface.
        function: String,
        /// Its type in the importing component.
        found: String,
        /// The component that exports it.
        exporter: String,
        /// Its type there.
        expected: String,
    },
    /// The function cannot be called from outside of its component.
    #[error(
        "it imports `{function}`, which `{exporter}` exports and which cannot be called: {reason}"
    )]
    NotCallable {
        /// The function with its interface.
        function: String,
        /// The component that exports it.
        exporter: String,
        /// Why.
        reason: String,
    },
}

fn others(versions: &[(String, String)]) -> String {
    if versions.is_empty() {
        return String::new();
    }
    let named = versions.iter().take(LISTED_MAX);
    let named = named.map(|(component, version)| format!("`{component}` has `{version}`"));
    format!(
        " in a compatible version ({})",
        named.collect::<Vec<_>>().join(", ")
    )
}

fn listed(names: &[String]) -> String {
    let named = names.iter().take(LISTED_MAX);
    let named: Vec<_> = named.map(|name| format!("`{name}`")).collect();
    named.join(" and ")
}

fn cut(name: &str) -> String {
    name.chars().take(NAME_CHARS_MAX).collect()
}

impl LoadedComponent {
    /// The interfaces that it imports from other components, with the types of their functions.
    #[must_use]
    pub fn imported_interfaces(&self) -> Vec<ImportedInterface> {
        let function =
            |function: &FunctionFact| format!("{}: {}", function.name, function_text(function));
        let links = self.code().signature().links.iter();
        links
            .map(|link| ImportedInterface {
                name: link.name.clone(),
                functions: link.functions.iter().map(function).collect(),
            })
            .collect()
    }

    /// Finds out who of these components serves everything that this one imports from others. It may
    /// be one of them itself.
    ///
    /// # Errors
    /// Why an interface has nobody who serves it, for the first one.
    pub fn link<'a>(
        &self,
        components: impl Iterator<Item = &'a LoadedComponent> + Clone,
    ) -> Result<Links, LinkError> {
        let links = self.code().signature().links.iter();
        let link = |wanted: &LinkFact| {
            let link = exporter_of(wanted, components.clone())?;
            Ok((wanted.name.clone(), link))
        };
        links.map(link).collect()
    }

    /// The same for one of the interfaces; `None` when it does not import it from another component.
    ///
    /// # Errors
    /// Why nobody serves it.
    pub fn link_interface<'a>(
        &self,
        interface: &str,
        components: impl Iterator<Item = &'a LoadedComponent> + Clone,
    ) -> Option<Result<Link, LinkError>> {
        let mut links = self.code().signature().links.iter();
        let wanted = links.find(|link| link.name == interface)?;
        Some(exporter_of(wanted, components))
    }
}

/// A component and the interface of it that fits a name.
type Candidate<'a> = (&'a LoadedComponent, &'a str);

fn exporter_of<'a>(
    wanted: &LinkFact,
    components: impl Iterator<Item = &'a LoadedComponent> + Clone,
) -> Result<Link, LinkError> {
    let exact = |component: &'a LoadedComponent| {
        let mut exports = component.exports().iter();
        let export = exports.find(|export| **export == wanted.name)?;
        Some((component, export.as_str()))
    };
    let mut candidates: Vec<Candidate<'a>> = components.clone().filter_map(exact).collect();
    if candidates.is_empty() {
        let compatible = |component| compatible_export(component, &wanted.name);
        candidates = components.clone().filter_map(compatible).collect();
    }
    if candidates.len() > 1 {
        // An interface can be spread over components; only one that has all of it serves it.
        let has_all = |(component, export): &Candidate<'a>| {
            let mut functions = wanted.functions.iter();
            functions.all(|function| exported(component, export, &function.name).is_some())
        };
        if candidates.iter().any(has_all) {
            candidates.retain(has_all);
        }
    }
    match candidates.as_slice() {
        [] => Err(LinkError::Nobody {
            interface: cut(&wanted.name),
            other_versions: other_versions(&wanted.name, components),
        }),
        [(component, export)] => check(wanted, component, export),
        several => Err(LinkError::Several {
            interface: cut(&wanted.name),
            exporters: several.iter().map(|(c, _)| c.name().to_owned()).collect(),
        }),
    }
}

fn check(wanted: &LinkFact, component: &LoadedComponent, export: &str) -> Result<Link, LinkError> {
    let exporter = || component.name().to_owned();
    let mut link = Link {
        component: exporter(),
        interface: export.to_owned(),
        ..Link::default()
    };
    for imported in &wanted.functions {
        let full_name = || cut(&format!("{}.{}", wanted.name, imported.name));
        let found = exported(component, export, &imported.name);
        let found = found.ok_or_else(|| LinkError::Lacks {
            interface: cut(&wanted.name),
            function: cut(&imported.name),
            exporter: exporter(),
            exported: cut(export),
        })?;
        let mut functions = component.functions().iter();
        let function = functions.find(|function| {
            function.name.interface.as_deref() == Some(export)
                && function.name.function == imported.name
        });
        let not_callable = |reason: &str| LinkError::NotCallable {
            function: full_name(),
            exporter: exporter(),
            reason: reason.to_owned(),
        };
        let function = function.ok_or_else(|| not_callable("it is not described"))?;
        // Why it cannot be called says more than how its types differ.
        if let Some(reason) = &found.refused {
            return Err(not_callable(reason));
        }
        compare(imported, found).map_err(|(found, expected)| LinkError::OtherType {
            function: full_name(),
            found,
            exporter: exporter(),
            expected,
        })?;
        if let Offer::NotOfferable(reason) = &function.offer {
            return Err(not_callable(reason));
        }
        let name = imported.name.clone();
        link.functions.insert(name, Arc::new(function.clone()));
    }
    Ok(link)
}

fn exported<'a>(
    component: &'a LoadedComponent,
    export: &str,
    function: &str,
) -> Option<&'a FunctionFact> {
    let mut functions = component.code().signature().functions.iter();
    functions.find(|fact| fact.interface.as_deref() == Some(export) && fact.name == function)
}

/// The newest version of an interface that a component exports and that is compatible with a name.
fn compatible_export<'a>(component: &'a LoadedComponent, name: &str) -> Option<Candidate<'a>> {
    let wanted = Version::of(name)?;
    let exports = component.exports().iter();
    let versions = exports.filter_map(|export| Some((Version::of(export)?, export.as_str())));
    let compatible = versions.filter(|(version, _)| version.is_compatible(&wanted));
    let newest = compatible.max_by_key(|(version, _)| version.numbers)?;
    Some((component, newest.1))
}

fn other_versions<'a>(
    name: &str,
    components: impl Iterator<Item = &'a LoadedComponent>,
) -> Vec<(String, String)> {
    let unversioned = |name: &str| name.split('@').next().unwrap_or_default().to_owned();
    let wanted = unversioned(name);
    let of_component = |component: &'a LoadedComponent| {
        let mut exports = component.exports().iter();
        let export = exports.find(|export| unversioned(export) == wanted)?;
        Some((component.name().to_owned(), cut(export)))
    };
    let others = components.filter_map(of_component);
    others.take(LISTED_MAX).collect()
}

/// An interface with a released version; others have no compatible ones.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Version<'a> {
    interface: &'a str,
    numbers: [u64; 3],
}

impl<'a> Version<'a> {
    fn of(name: &'a str) -> Option<Self> {
        let (interface, version) = name.split_once('@')?;
        // Build metadata is no part of the order; a pre-release does not parse as numbers.
        let version = version.split('+').next().unwrap_or_default();
        let mut numbers = version.split('.').map(|number| number.parse().ok());
        let mut next = || numbers.next().flatten();
        let numbers = [next()?, next()?, next()?];
        Some(Self { interface, numbers })
    }

    /// Whether one stands for the other: by the first number, or by the first two below 1.0, as in
    /// wasmtime.
    fn is_compatible(&self, other: &Self) -> bool {
        let track = |version: &Self| match version.numbers {
            [0, 0, patch] => [0, 0, patch],
            [0, minor, _] => [0, minor, 0],
            [major, ..] => [major, 0, 0],
        };
        self.interface == other.interface && track(self) == track(other)
    }
}
