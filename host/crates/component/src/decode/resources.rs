//! The resources of a component: which of them it exports, and the functions that belong to them.
//!
//! WIT names what belongs to a resource in brackets, `[method]counter.add`, which is no name of a
//! tool; here it is `counter-add`, the constructor `counter-new`, and what gives up a handle
//! `counter-release`. Where another function of the interface has that name, it keeps it.

use std::collections::HashMap;

use wit_parser::{Function, FunctionKind, Interface, Resolve, TypeDefKind, World, WorldItem};

use super::Reading;
use crate::decode_types::OwnResources;
use crate::facts::{
    FunctionFact, HandleFact, OfResource, ParameterFact, ParameterKind, Passage, TypeFact,
};

/// The resources of the exported interfaces.
///
/// Those of an interface that is imported too are left out: the decoder does not keep the resource
/// of the other side apart.
pub(super) fn exported(resolve: &Resolve, world: &World) -> OwnResources {
    let mut resources = OwnResources::new();
    for (key, item) in &world.exports {
        let WorldItem::Interface { id, .. } = item else {
            continue;
        };
        let is_same = |item: &WorldItem| matches!(item, WorldItem::Interface { id: other, .. } if other == id);
        if world.imports.values().any(is_same) {
            continue;
        }
        for (name, ty) in &resolve.interfaces[*id].types {
            if resolve.types[*ty].kind == TypeDefKind::Resource {
                resources.insert(*ty, (resolve.name_world_key(key), name.clone()));
            }
        }
    }
    resources
}

/// The facts of all functions of an exported interface, those that give up handles at the end.
pub(super) fn functions_of(
    reading: &Reading<'_>,
    name: &str,
    interface: &Interface,
) -> Vec<FunctionFact> {
    let plain = interface
        .functions
        .values()
        .filter(|f| resource_of(reading, f).is_none());
    // The names that are taken, with the names in WIT of what has them.
    let mut taken: HashMap<_, _> = plain.map(|f| (f.name.clone(), f.name.clone())).collect();
    let mut facts = Vec::new();
    for function in interface.functions.values() {
        let mut fact = reading.function(Some(name), function);
        if let Some(resource) = resource_of(reading, function) {
            let short = match function.kind {
                FunctionKind::Constructor(_) => "new",
                _ => function.item_name(),
            };
            if fact.docs.is_empty() && short == "new" {
                fact.docs = format!("Makes a new `{resource}`.");
            }
            let export = function.name.clone();
            fact.of_resource = Some(OfResource::Export(export.clone()));
            rename(&mut fact, format!("{resource}-{short}"), export, &mut taken);
        }
        facts.push(fact);
    }
    for (resource, ty) in &interface.types {
        if reading.resources.contains_key(ty) {
            let mut fact = release(name, resource);
            let export = format!("[resource-drop]{resource}");
            rename(&mut fact, format!("{resource}-release"), export, &mut taken);
            facts.push(fact);
        }
    }
    facts
}

fn resource_of<'a>(reading: &Reading<'a>, function: &Function) -> Option<&'a str> {
    reading.resolve.types[function.kind.resource()?]
        .name
        .as_deref()
}

/// Gives what belongs to a resource its name, or refuses it where the name is taken.
fn rename(
    fact: &mut FunctionFact,
    wanted: String,
    export: String,
    taken: &mut HashMap<String, String>,
) {
    let Some(owner) = taken.get(&wanted) else {
        taken.insert(wanted.clone(), export);
        fact.name = wanted;
        return;
    };
    let reason = format!(
        "it would be called `{wanted}`, which `{owner}` of the same interface is; rename one of them"
    );
    fact.name = export;
    fact.refused.get_or_insert(reason);
}

/// What gives up a handle. It is no export: the host does it, and lets the guest clean up.
fn release(interface: &str, resource: &str) -> FunctionFact {
    let handle = TypeFact::Handle(HandleFact {
        interface: interface.to_owned(),
        resource: resource.to_owned(),
        passing: Passage::GivenAway,
    });
    FunctionFact {
        interface: Some(interface.to_owned()),
        name: String::new(),
        of_resource: Some(OfResource::Release),
        docs: format!("Releases a `{resource}` that is needed no more, with what it holds."),
        parameters: vec![ParameterFact {
            name: "self".to_owned(),
            kind: ParameterKind::Value(handle),
        }],
        result: None,
        refused: None,
    }
}
