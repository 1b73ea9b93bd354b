//! Reads the interfaces that a component imports from other components out of a decoded component.
//!
//! What could never be linked is refused here, whoever is installed.

use wit_parser::{FunctionKind, InterfaceId, Resolve, TypeDefKind};

use crate::decode_types::{OwnResources, TypeReader};
use crate::docs::PackageDocs;
use crate::error::LoadError;
use crate::facts::{LinkFact, ParameterKind};

/// Functions that one component imports from others. A toolchain leaves out those that are not used.
const LINKED_FUNCTIONS_MAX: usize = 1_000;
/// Parts of all types of these functions: they are kept with what is known of the component.
const LINKED_PARTS_MAX: usize = 100_000;

/// Reads imported interfaces and counts what is in them.
pub(crate) struct LinkReader<'a> {
    resolve: &'a Resolve,
    docs: PackageDocs,
    /// None: they do not leave their component.
    resources: OwnResources,
    n_functions: usize,
    n_parts: usize,
    pub(crate) facts: Vec<LinkFact>,
}

impl<'a> LinkReader<'a> {
    pub(crate) fn new(resolve: &'a Resolve) -> Self {
        Self {
            resolve,
            docs: PackageDocs::default(),
            resources: OwnResources::new(),
            n_functions: 0,
            n_parts: 0,
            facts: Vec::new(),
        }
    }

    /// Reads an interface that is imported under this name.
    ///
    /// # Errors
    /// When it has functions or types that no other component can serve, or there are too many.
    pub(crate) fn read(&mut self, name: &str, interface: InterfaceId) -> Result<(), LoadError> {
        let resolve = self.resolve;
        let interface = &resolve.interfaces[interface];
        self.n_functions += interface.functions.len();
        if self.n_functions > LINKED_FUNCTIONS_MAX {
            return Err(LoadError::TooManyLinks {
                what: "functions",
                max: LINKED_FUNCTIONS_MAX,
            });
        }
        let refused = |function: &str, reason: String| LoadError::LinkType {
            function: format!("{name}.{function}"),
            reason,
        };
        let mut types = interface.types.iter();
        if let Some((resource, _)) =
            types.find(|(_, id)| resolve.types[**id].kind == TypeDefKind::Resource)
        {
            return Err(refused(resource, format!("it is a resource, {RESOURCES}")));
        }
        let mut functions = Vec::new();
        for function in interface.functions.values() {
            let mut reader = TypeReader::new(resolve, &self.docs, &self.resources);
            let fact = reader.function(Some(name), function);
            self.n_parts += reader.parts();
            if self.n_parts > LINKED_PARTS_MAX {
                return Err(LoadError::TooManyLinks {
                    what: "parts of types",
                    max: LINKED_PARTS_MAX,
                });
            }
            let takes_runtime = fact
                .parameters
                .iter()
                .find(|parameter| !matches!(parameter.kind, ParameterKind::Value(_)));
            if let Some(parameter) = takes_runtime {
                let reason = format!(
                    "parameter `{}` takes a runtime, which is lent to one call and not passed on \
                     to another component; call it by name (`functions.call`), and the host lends \
                     it one",
                    parameter.name
                );
                return Err(refused(&fact.name, reason));
            }
            if let Some(reason) = fact.refused {
                return Err(refused(&fact.name, reason));
            }
            if function.kind != FunctionKind::Freestanding {
                let reason = format!("it belongs to a resource, {RESOURCES}");
                return Err(refused(&fact.name, reason));
            }
            functions.push(fact);
        }
        self.facts.push(LinkFact {
            name: name.to_owned(),
            functions,
        });
        Ok(())
    }
}

/// Why a resource cannot be imported from another component.
const RESOURCES: &str = "and resources do not leave the component that has them";
