//! Rust names and the WIT names made of them.
//!
//! WIT names are kebab-case, and each of their words starts with a letter.

use std::collections::BTreeMap;

use heck::{ToKebabCase as _, ToSnakeCase as _, ToUpperCamelCase as _};
use proc_macro2::Ident;
use quote::format_ident;

use crate::errors::Errors;

/// The Rust name without the `r#` of a raw identifier.
pub(crate) fn plain(ident: &Ident) -> String {
    let text = ident.to_string();
    text.strip_prefix("r#").map(str::to_owned).unwrap_or(text)
}

/// The WIT name of a Rust name, which may be none that WIT allows.
pub(crate) fn kebab(ident: &Ident) -> String {
    plain(ident).to_kebab_case()
}

/// The WIT name of a name that was written as a text.
pub(crate) fn to_kebab(name: &str) -> String {
    name.to_kebab_case()
}

/// The WIT name of a Rust name. Reports a name that WIT cannot express.
pub(crate) fn wit_name(ident: &Ident, errors: &mut Errors) -> Option<String> {
    let name = kebab(ident);
    if is_label(&name) {
        return Some(name);
    }
    let message = if name.is_ascii() {
        format!(
            "`{ident}` becomes the WIT name `{name}`, in which a word does not start with a \
             letter; rename it (`line2` instead of `line_2`)"
        )
    } else {
        format!("`{ident}` cannot be a WIT name: use ASCII letters, digits and `_`")
    };
    errors.at(ident.span(), message);
    None
}

/// The WIT name of a type or a case, of which the generator makes a name in camel case.
pub(crate) fn camel_name(ident: &Ident, errors: &mut Errors) -> Option<String> {
    let name = wit_name(ident, errors)?;
    if name == "self" {
        errors.at(
            ident.span(),
            format!("`{ident}` would become the keyword `Self`; rename it"),
        );
        return None;
    }
    Some(name)
}

/// Whether a text is a WIT name in lower case.
pub(crate) fn is_label(name: &str) -> bool {
    name.split('-').all(|word| {
        word.starts_with(|first: char| first.is_ascii_lowercase())
            && word
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    })
}

/// The name that models and callers see: snake case.
pub(crate) fn shown(wit_name: &str) -> String {
    wit_name.to_snake_case()
}

/// How the bindings generator spells a function, a field or a module.
pub(crate) fn rust_ident(wit_name: &str) -> Ident {
    format_ident!("{}", wit_bindgen_rust::to_rust_ident(wit_name))
}

/// How the bindings generator spells a case.
pub(crate) fn case_ident(wit_name: &str) -> Ident {
    format_ident!("{}", wit_name.to_upper_camel_case())
}

/// How the bindings generator spells a type; `Guest` is the name of its trait.
pub(crate) fn type_ident(wit_name: &str) -> Ident {
    match wit_name {
        "guest" => format_ident!("Guest_"),
        other => case_ident(other),
    }
}

/// The names of one namespace, each with what took it.
#[derive(Default)]
pub(crate) struct Taken(BTreeMap<String, String>);

impl Taken {
    /// The names that an interface takes over from the contract.
    pub(crate) fn by_the_sdk() -> Self {
        let names = ["json", "failure", "runtime"];
        Taken(
            names
                .map(|name| (name.to_owned(), "a type of the SDK".to_owned()))
                .into(),
        )
    }

    /// Takes a WIT name for `what`, for example "the function `get_page`"; reports a second owner.
    pub(crate) fn take(&mut self, name: &str, what: String, ident: &Ident, errors: &mut Errors) {
        match self.0.get(name) {
            Some(owner) => errors.at(
                ident.span(),
                format!(
                    "{what} becomes the WIT name `{name}`, which {owner} has; rename one of them"
                ),
            ),
            None => {
                self.0.insert(name.to_owned(), what);
            }
        }
    }
}
