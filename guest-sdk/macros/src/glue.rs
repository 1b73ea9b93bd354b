//! Puts everything together: the author's module, and beside it what makes it a component.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};

use crate::convert::{Converter, Direction};
use crate::errors::Errors;
use crate::model::{Function, Model, ParameterKind};
use crate::read::{self, Package};
use crate::{arguments, bindings, metadata, names, unread};

/// Expands the attribute `functions`.
pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let mut module = match read::parse(item.clone()) {
        Ok(module) => module,
        Err(error) => {
            let error = error.into_compile_error();
            let item = unread::without_settings(item);
            return quote!(#error #item);
        }
    };
    // Set by cargo for the crate that is being compiled.
    let variable = |name: &str| std::env::var(name).ok();
    let crate_name = variable("CARGO_PKG_NAME").unwrap_or_default();
    let version = variable("CARGO_PKG_VERSION").unwrap_or_else(|| "0.0.0".to_owned());
    let package = Package {
        name: arguments::package(arguments, &crate_name, &mut errors),
        version,
    };
    let model = read::module(&mut module, package, &mut errors);
    let glue = match errors.is_empty() {
        true => errors.keep(component(&model)),
        false => None,
    };
    if let Some((_, items)) = &mut module.content {
        // The markers stand in any case, so that a menu does not add errors to the ones reported.
        items.push(syn::Item::Verbatim(markers(&model)));
        items.extend(glue.map(syn::Item::Verbatim));
    }
    let errors = errors.into_compile_errors();
    quote!(#module #errors)
}

/// For each function a type of its name, by which menus name it.
fn markers(model: &Model) -> TokenStream {
    let markers = model.functions.iter().map(|function| {
        let ident = &function.ident;
        let name = format!("{}/{}.{}", model.package, model.interface, function.name);
        quote! {
            #[doc(hidden)]
            #[allow(non_camel_case_types, dead_code, missing_docs, reason = "named like the function")]
            pub struct #ident {}

            impl ::openprogram_guest::ExportedFunction for #ident {
                const NAME: &'static str = #name;
            }
        }
    });
    markers.collect()
}

/// The module that makes a component of the author's.
fn component(model: &Model) -> syn::Result<TokenStream> {
    let generated = bindings::generate(model)?;
    let interface = bindings::interface_path(model);
    let converter = Converter {
        interface: &interface,
    };
    let conversions = model.types.iter().map(|named| converter.functions(named));
    let methods = model
        .functions
        .iter()
        .map(|function| method(function, &converter));
    let metadata = metadata::implementation(model);
    Ok(quote! {
        #[doc(hidden)]
        #[allow(
            warnings, unsafe_code, clippy::all, clippy::pedantic, clippy::restriction,
            reason = "generated code, which exports symbols"
        )]
        mod __openprogram {
            mod bindings { #generated }

            struct Component;

            #(#conversions)*

            impl #interface::Guest for Component { #(#methods)* }

            #metadata

            bindings::export!(Component with_types_in bindings);
        }
    })
}

/// The method of the generated trait that calls the author's function.
///
/// What does not fit there is an author's type with the name of another, which only the compiler
/// sees; so the conversions stand, for its messages, where the author wrote the type.
fn method(function: &Function, converter: &Converter<'_>) -> TokenStream {
    let name = names::rust_ident(&function.name);
    let author = &function.ident;
    let mut parameters = Vec::new();
    let mut conversions = Vec::new();
    let mut arguments = Vec::new();
    for (index, parameter) in function.parameters.iter().enumerate() {
        let span = Span::call_site().located_at(parameter.span);
        let variable = format_ident!("argument{index}", span = span);
        let (ty, conversion) = match &parameter.kind {
            ParameterKind::Value(ty) => {
                let value = converter.convert(ty, quote!(#variable), Direction::In);
                (converter.generated_type(ty), value)
            }
            ParameterKind::Str => (quote!(::std::string::String), quote!(&*#variable)),
            ParameterKind::Runtime { optional: false } => (
                quote!(&::openprogram_guest::__private::runtime::Runtime),
                quote!(::openprogram_guest::__private::runtime_from_host(#variable)),
            ),
            ParameterKind::Runtime { optional: true } => (
                quote!(::core::option::Option<&::openprogram_guest::__private::runtime::Runtime>),
                quote!(#variable.map(::openprogram_guest::__private::runtime_from_host)),
            ),
        };
        parameters.push(quote!(#variable: #ty));
        let conversion = at(span, conversion);
        conversions.push(quote_spanned!(span=> let #variable = #conversion;));
        arguments.push(variable);
    }
    let span = Span::call_site().located_at(function.result_span);
    let ty = converter.generated_type(&function.result);
    let call = quote_spanned!(span=> super::#author(#(#arguments),*));
    let result = at(
        span,
        converter.convert(&function.result, quote!(result), Direction::Out),
    );
    quote! {
        fn #name(#(#parameters),*) -> #ty {
            #(#conversions)*
            let result = #call;
            #result
        }
    }
}

/// Moves all tokens to one place of the author's code.
fn at(span: Span, tokens: TokenStream) -> TokenStream {
    let moved = tokens.into_iter().map(|token| match token {
        TokenTree::Group(group) => {
            let mut moved = Group::new(group.delimiter(), at(span, group.stream()));
            moved.set_span(span);
            TokenTree::Group(moved)
        }
        mut token => {
            token.set_span(span);
            token
        }
    });
    moved.collect()
}
