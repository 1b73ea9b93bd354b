//! The attribute that turns a module of ordinary Rust functions into a component.
//!
//! `functions` reads the module into a model (`read`, `types`, `settings`), writes the model as WIT
//! (`wit`), lets the wit-bindgen generator make the bindings (`bindings`) and adds the glue between
//! them and the author's functions (`convert`, `glue`). Every error is reported at the author's
//! token, all of them at once. The author's module itself is kept as it was written.

use proc_macro::TokenStream;

mod arguments;
mod bindings;
mod convert;
mod derive;
mod errors;
mod glue;
mod literal;
mod metadata;
mod model;
mod names;
mod read;
mod settings;
mod types;
mod unread;
mod values;
mod wit;

/// The contract with the host, which the SDK and the loader hash alike.
mod contract {
    include!("../../../wit/contract.rs");
}

/// Makes a component out of an inline module of ordinary Rust functions.
///
/// The documentation of the crate `openprogram-guest` describes what may be written.
#[proc_macro_attribute]
pub fn functions(arguments: TokenStream, item: TokenStream) -> TokenStream {
    glue::expand(arguments.into(), item.into()).into()
}

/// Makes a type one that a model can fill in.
///
/// The documentation of the trait `openprogram_guest::decision::Schema` describes what may be
/// written.
#[proc_macro_derive(Schema, attributes(schema))]
pub fn derive_schema(item: TokenStream) -> TokenStream {
    derive::schema(&syn::parse_macro_input!(item as syn::DeriveInput)).into()
}

/// Makes the cases of an enum the options of a menu.
///
/// The documentation of the trait `openprogram_guest::decision::Choice` describes what may be
/// written.
#[proc_macro_derive(Choice, attributes(schema))]
pub fn derive_choice(item: TokenStream) -> TokenStream {
    derive::choice(&syn::parse_macro_input!(item as syn::DeriveInput)).into()
}

/// The static that puts the hash of the contract into a custom section.
#[doc(hidden)]
#[proc_macro]
pub fn contract_section(_: TokenStream) -> TokenStream {
    let section = contract::CONTRACT_SECTION;
    let digits = contract::contract_hash();
    let (length, digits) = (
        digits.len(),
        proc_macro2::Literal::byte_string(digits.as_bytes()),
    );
    let item = quote::quote! {
        #[cfg(target_arch = "wasm32")]
        #[used]
        #[unsafe(link_section = #section)]
        static CONTRACT: [u8; #length] = *#digits;
    };
    item.into()
}
