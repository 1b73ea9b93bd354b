//! Lets the wit-bindgen generator make the bindings of the author's world.
//!
//! It is called as a library, so that its errors come back as values. What the world imports is not
//! generated again: the author's component uses the bindings of the SDK.

use proc_macro2::{Span, TokenStream};
use wit_bindgen_core::wit_parser::Resolve;
use wit_bindgen_core::{Files, WorldGenerator as _};
use wit_bindgen_rust::{Opts, WithOption};

use crate::contract::{CONTRACT_FILES, POLL_FILE};
use crate::model::Model;
use crate::names;
use crate::wit::{self, AGENTIC_VERSION};

/// The interfaces of the world `imports`.
const IMPORTED: [&str; 6] = [
    "types",
    "runtime",
    "decision",
    "functions",
    "ask",
    "progress",
];
/// The interface that they refer to, and where it is.
const POLL: (&str, &str) = ("wasi:io/poll@0.2.0", "::openprogram_guest::__private::poll");

/// The bindings as the content of a module.
pub(crate) fn generate(model: &Model) -> syn::Result<TokenStream> {
    let text = wit::package(model);
    // What the author wrote has been checked, so an error here is a mistake of this crate.
    let fail = |error: &dyn std::fmt::Display| {
        syn::Error::new(
            Span::call_site(),
            format!("the bindings cannot be made: {error:#}\n{text}"),
        )
    };
    let mut resolve = Resolve::default();
    let contract = contract_package();
    resolve
        .push_source("poll.wit", POLL_FILE)
        .map_err(|error| fail(&error))?;
    resolve
        .push_source("agentic.wit", &contract)
        .map_err(|error| fail(&error))?;
    let package = resolve
        .push_source("functions.wit", &text)
        .map_err(|error| fail(&error))?;
    let world = resolve.select_world(&[package], Some(&wit::world(model)));
    let world = world.map_err(|error| fail(&error))?;
    let own = IMPORTED.map(|name| {
        let module = name.replace('-', "_");
        let path = format!("::openprogram_guest::__private::{module}");
        (
            format!("openprogram:agentic/{name}@{AGENTIC_VERSION}"),
            WithOption::Path(path),
        )
    });
    let poll = WithOption::Path(POLL.1.to_owned());
    let with = own.into_iter().chain([(POLL.0.to_owned(), poll)]);
    let options = Opts {
        runtime_path: Some("::openprogram_guest::__private::wit_bindgen::rt".to_owned()),
        with: with.collect(),
        generate_all: true,
        ..Opts::default()
    };
    let mut files = Files::default();
    let mut generator = options.build();
    generator
        .generate(&mut resolve, world, &mut files)
        .map_err(|error| fail(&error))?;
    let source = files
        .iter()
        .map(|(_, bytes)| String::from_utf8_lossy(bytes))
        .collect::<String>();
    source.parse().map_err(|error| fail(&error))
}

/// The path of the generated module of the author's interface, below the bindings.
pub(crate) fn interface_path(model: &Model) -> TokenStream {
    let (namespace, package) = model.package.split_once(':').unwrap_or_default();
    // The generator escapes keywords in these, and `arguments` refuses them in the package's name.
    let [namespace, interface] = [namespace, &model.interface].map(names::rust_ident);
    let package = names::rust_ident(package);
    quote::quote!(bindings::exports::#namespace::#package::#interface)
}

/// The files of the contract as one text: a package line may stand only once.
fn contract_package() -> String {
    let mut text = format!("package openprogram:agentic@{AGENTIC_VERSION};\n");
    for (_, file) in CONTRACT_FILES {
        let body = file
            .trim_start()
            .split_once(';')
            .map_or(file, |(_, body)| body);
        text.push_str(body);
    }
    text
}
