//! The WIT contract is product text: everything in it is documented.

use std::fmt::Display;

use wit_parser::{Docs, Resolve, TypeDefKind};

use super::{none, root};

/// Lists what of our package has no documentation.
fn undocumented(resolve: &Resolve) -> Vec<String> {
    let mut missing = Vec::new();
    let mut check = |docs: &Docs, what: &dyn Display| {
        if docs
            .contents
            .as_ref()
            .is_none_or(|text| text.trim().is_empty())
        {
            missing.push(what.to_string());
        }
    };
    for (_, interface) in &resolve.interfaces {
        let name = interface.name.as_deref().unwrap_or("?");
        check(&interface.docs, &format!("interface `{name}`"));
        for (function, item) in &interface.functions {
            // A constructor is explained by its resource as long as it says what it makes.
            check(&item.docs, &format!("function `{name}.{function}`"));
        }
        for (ty, id) in &interface.types {
            let definition = &resolve.types[*id];
            // `use` brings the documentation of its origin along.
            let used = matches!(&definition.kind, TypeDefKind::Type(wit_parser::Type::Id(_)));
            if !used {
                check(&definition.docs, &format!("type `{name}.{ty}`"));
            }
        }
    }
    for (_, world) in &resolve.worlds {
        check(&world.docs, &format!("world `{}`", world.name));
    }
    missing
}

#[test]
fn every_function_type_and_world_of_the_contract_is_documented() {
    let mut resolve = Resolve::default();
    resolve.push_dir(root().join("wit")).unwrap();
    none(
        &undocumented(&resolve),
        "the contract holds something without documentation",
    );
}

#[test]
fn an_undocumented_function_is_found() {
    let mut resolve = Resolve::default();
    let text = "package a:b@0.1.0;\n/// Documented.\ninterface i { f: func(); }";
    resolve.push_source("i.wit", text).unwrap();
    assert_eq!(undocumented(&resolve), ["function `i.f`"]);
}
