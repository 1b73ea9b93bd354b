//! Facts of a component become functions of the catalog.
//!
//! What the component says about itself is checked here: every name it mentions must exist, every
//! attribute must be known and of its type, every default must fit. A mistake refuses the
//! component, because silence would change what a model is offered.

use std::collections::HashSet;

use openprogram_core::function::{
    Function, FunctionName, Offer, Parameter, ParameterSource, RuntimeRole,
};
use openprogram_core::schema::{Type, shown_name};
use openprogram_core::tool_schema::check_tool_schema;

use crate::error::MetadataError;
use crate::facts::{
    Facts, FunctionFact, FunctionMetadata, Metadata, ParameterFact, ParameterKind, TypeFact,
    WORDS_BYTES_MAX, short_name,
};
use crate::types::{Said, type_of};

mod attribute;
mod conditions;
mod gating;
mod parameters;
mod settings;

use attribute::cut;

/// Makes the functions of a component that is installed under a name.
///
/// # Errors
/// When the metadata does not fit the signatures.
pub(crate) fn functions(
    facts: &Facts,
    component: &str,
    digest: &str,
) -> Result<Vec<Function>, MetadataError> {
    let empty = Metadata::default();
    let metadata = facts.metadata.as_ref().unwrap_or(&empty);
    check_names(metadata, &facts.signature.functions)?;
    let said = Said::new(&metadata.types, &facts.signature.functions);
    let functions = facts.signature.functions.iter().map(|fact| {
        let described = metadata.functions.iter().find(|m| describes(m, fact));
        let name = FunctionName {
            component: component.to_owned(),
            interface: fact.interface.clone(),
            function: fact.name.clone(),
            versioned: has_other_version(fact, &facts.signature.functions),
        };
        function(fact, described, &said, name, digest)
    });
    let mut functions = functions.collect::<Result<Vec<_>, _>>()?;
    conditions::check(&mut functions)?;
    if said.is_too_long() {
        return Err(MetadataError::TooLong {
            max: WORDS_BYTES_MAX,
        });
    }
    Ok(functions)
}

/// Holds back what needs an instance that lives on, with the reason; gives the places of what is
/// held back for that alone.
pub(crate) fn hold_back_stateful(functions: &mut [Function]) -> Vec<usize> {
    let mut held_back = Vec::new();
    let functions = functions.iter_mut().enumerate();
    for (at, function) in functions.filter(|(_, f)| f.is_stateful) {
        if function.offer == Offer::Offered {
            function.offer = Offer::NotOfferable(format!(
                "it works on a resource, which needs an instance that lives on between calls; allow \
                 that with `stateful = true` under `[components.{}]` in openprogram.toml",
                function.name.component
            ));
            held_back.push(at);
        }
    }
    held_back
}

fn unversioned(interface: &str) -> &str {
    interface.split('@').next().unwrap_or(interface)
}

/// Whether the component exports this function in another version of its interface as well.
fn has_other_version(fact: &FunctionFact, facts: &[FunctionFact]) -> bool {
    let interface = fact.interface.as_deref().map(unversioned);
    let mut same = facts.iter().filter(|other| {
        other.name == fact.name && other.interface.as_deref().map(unversioned) == interface
    });
    same.any(|other| other.interface != fact.interface)
}

fn describes(metadata: &FunctionMetadata, fact: &FunctionFact) -> bool {
    let interface = fact.interface.as_deref().map_or("", short_name);
    metadata.interface == interface
        && (metadata.name == fact.name || Some(metadata.name.as_str()) == fact.export())
}

fn check_names(metadata: &Metadata, facts: &[FunctionFact]) -> Result<(), MetadataError> {
    let mut seen = HashSet::new();
    for described in &metadata.functions {
        if !facts.iter().any(|fact| describes(described, fact)) {
            return Err(MetadataError::UnknownFunction {
                interface: cut(&described.interface),
                name: cut(&described.name),
            });
        }
        if !seen.insert((&described.interface, &described.name)) {
            return Err(MetadataError::DescribedTwice {
                function: cut(&described.name),
            });
        }
    }
    Ok(())
}

fn function(
    fact: &FunctionFact,
    described: Option<&FunctionMetadata>,
    said: &Said<'_>,
    name: FunctionName,
    digest: &str,
) -> Result<Function, MetadataError> {
    let mut parameters: Vec<_> = fact.parameters.iter().map(|p| parameter(p, said)).collect();
    let (returns, fails_with) = match &fact.result {
        Some(TypeFact::Result(ok, err)) => (
            ok.as_ref().map(|ty| type_of(ty, said)),
            err.as_ref().map(|ty| type_of(ty, said)),
        ),
        other => (other.as_ref().map(|ty| type_of(ty, said)), None),
    };
    let mut function = Function {
        digest: digest.to_owned(),
        description: fact.docs.clone(),
        returns,
        fails_with,
        is_stateful: fact.is_stateful(),
        offer: match &fact.refused {
            None => Offer::Offered,
            Some(reason) => Offer::NotOfferable(reason.clone()),
        },
        ..Function::new(name)
    };
    if let Some(described) = described {
        if !described.description.is_empty() {
            function.description.clone_from(&described.description);
        }
        settings::set(&mut function, &described.attributes)?;
        if function.is_stateful && function.gating.cache.is_some() {
            return Err(MetadataError::BadAttribute {
                owner: fact.name.clone(),
                key: "cache".to_owned(),
                problem: "what lives on changes from call to call, so no result of it is kept"
                    .to_owned(),
            });
        }
        // A function that is not offerable may lack parameters that could not be read.
        if fact.refused.is_none() {
            parameters::set_parameters(&mut parameters, &described.parameters, &fact.name)?;
        }
    }
    function.parameters = parameters;
    if function.offer == Offer::Offered
        && let Err(reason) = check_tool_schema(&function)
    {
        function.offer = Offer::NotOfferable(reason);
    }
    Ok(function)
}

fn parameter(fact: &ParameterFact, said: &Said<'_>) -> Parameter {
    let shown = shown_name(&fact.name);
    match &fact.kind {
        ParameterKind::Value(ty) => Parameter::new(shown, type_of(ty, said)),
        ParameterKind::Runtime | ParameterKind::OptionalRuntime => {
            // The decoder gives these kinds to reserved names only.
            let role = RuntimeRole::of_parameter(&shown).unwrap_or(RuntimeRole::Main);
            let mut parameter = Parameter::new(shown, Type::Json);
            parameter.source = ParameterSource::Runtime(role);
            parameter
        }
    }
}
