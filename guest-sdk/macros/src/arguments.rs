//! The arguments of the attribute, and the package that they name.

use proc_macro2::{Span, TokenStream};
use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::{LitStr, Token};

use crate::errors::Errors;
use crate::names;

/// The package whose names may not be used by authors.
const OWN_NAMESPACE: &str = "openprogram";

/// Reads `package = "namespace:name"`, and gives the package; without it, the crate names it.
pub(crate) fn package(arguments: TokenStream, crate_name: &str, errors: &mut Errors) -> String {
    let mut package: Option<LitStr> = None;
    let parser = Punctuated::<syn::MetaNameValue, Token![,]>::parse_terminated;
    for argument in errors.keep(parser.parse2(arguments)).unwrap_or_default() {
        if !argument.path.is_ident("package") {
            let message = "unknown argument, the only one is `package = \"namespace:name\"`";
            errors.on(&argument.path, message);
        } else if package.is_some() {
            errors.on(&argument.path, "`package` is given twice");
        } else if let Some(text) = errors.keep(text(&argument.value)) {
            package = Some(text);
        }
    }
    match package {
        Some(literal) => {
            check(&literal.value(), literal.span(), errors);
            literal.value()
        }
        None => {
            let name = crate_name.replace('_', "-").to_lowercase();
            if !names::is_label(&name) {
                errors.at(
                    Span::call_site(),
                    format!(
                        "the crate name `{crate_name}` cannot be a WIT package name; \
                         write `#[functions(package = \"namespace:name\")]`"
                    ),
                );
            }
            format!("component:{name}")
        }
    }
}

fn text(value: &syn::Expr) -> syn::Result<LitStr> {
    match value {
        syn::Expr::Lit(syn::ExprLit {
            lit: syn::Lit::Str(text),
            ..
        }) => Ok(text.clone()),
        other => Err(syn::Error::new_spanned(
            other,
            "expected a text such as \"team:tools\"",
        )),
    }
}

fn check(package: &str, span: Span, errors: &mut Errors) {
    let parts = package.split_once(':');
    if !parts.is_some_and(|(space, name)| names::is_label(space) && names::is_label(name)) {
        let message = format!(
            "`{package}` is not a package name; write `namespace:name` in lower case, with `-` \
             between words and no version (it comes from the crate)"
        );
        errors.at(span, message);
    } else if parts
        .is_some_and(|(_, name)| syn::parse_str::<syn::Ident>(&name.replace('-', "_")).is_err())
    {
        errors.at(
            span,
            format!("the name in `{package}` is a Rust keyword; use another"),
        );
    } else if parts.is_some_and(|(space, _)| space == OWN_NAMESPACE || space == "wasi") {
        errors.at(
            span,
            format!("the namespace of `{package}` is taken; use one of your own"),
        );
    }
}
