//! Reads `#[function(…)]` and `#[param(…)]` and checks them against the signature.
//!
//! They are taken off the author's code first and checked once all types are known.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Token, parenthesized};

use crate::errors::Errors;
use crate::literal::{Literal, LiteralValue, quoted};
use crate::model::{Attribute, Function, NamedType};
use crate::read::docs;

mod condition;
mod function;
mod gating;
mod parameter;

/// One `key`, `key = value` or `key(…)`.
struct Setting {
    key: Ident,
    value: Value,
}

enum Value {
    Flag,
    Literal(Literal),
    /// What stands between parentheses.
    Group(Span, TokenStream),
    /// What stands after `=` and is no value.
    Invalid(syn::Error),
}

impl Setting {
    /// The value, which must be a text.
    fn text(&self, errors: &mut Errors) -> Option<&str> {
        match &self.value {
            Value::Literal(Literal {
                value: LiteralValue::Text(text),
                ..
            }) => Some(text),
            _ => {
                errors.at(self.value_span(), format!("write `{} = \"…\"`", self.key));
                None
            }
        }
    }

    /// Where the value stands, or the key when there is none.
    fn value_span(&self) -> Span {
        match &self.value {
            Value::Literal(literal) => literal.span,
            Value::Group(span, _) => *span,
            Value::Invalid(error) => error.span(),
            Value::Flag => self.key.span(),
        }
    }
}

impl Parse for Setting {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let key = Ident::parse_any(input)?;
        let value = if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            input.parse().map_or_else(Value::Invalid, Value::Literal)
        } else if input.peek(syn::token::Paren) {
            let span = input.span();
            let content;
            parenthesized!(content in input);
            Value::Group(span, content.parse()?)
        } else {
            Value::Flag
        };
        if let Value::Invalid(_) = value {
            // Goes on with the next setting, so that its mistakes are reported as well.
            while !input.is_empty() && !input.peek(Token![,]) {
                input.parse::<TokenTree>()?;
            }
        }
        Ok(Setting { key, value })
    }
}

/// What was written at one function and its parameters, not yet checked.
pub(crate) struct Pending {
    function: Vec<Setting>,
    /// One for each parameter of the model.
    pub(crate) parameters: Vec<PendingParameter>,
    /// Whether a parameter was refused, so that the function cannot be part of the model.
    pub(crate) incomplete: bool,
}

/// What was written at one parameter, not yet checked.
pub(crate) struct PendingParameter {
    docs: String,
    settings: Vec<Setting>,
}

/// Takes the doc comments and `#[param(…)]` off a parameter.
pub(crate) fn take_from_parameter(input: &mut syn::FnArg, errors: &mut Errors) -> PendingParameter {
    let attributes = match input {
        syn::FnArg::Typed(typed) => &mut typed.attrs,
        syn::FnArg::Receiver(receiver) => &mut receiver.attrs,
    };
    let docs = docs(attributes);
    let settings = take(attributes, "param", errors);
    attributes.retain(|attribute| !attribute.path().is_ident("doc"));
    PendingParameter { docs, settings }
}

/// Takes all attributes of this name off an item.
fn take(attributes: &mut Vec<syn::Attribute>, name: &str, errors: &mut Errors) -> Vec<Setting> {
    let mut settings: Vec<Setting> = Vec::new();
    let named = |attribute: &syn::Attribute| attribute.path().is_ident(name);
    for attribute in attributes.iter().filter(|attribute| named(attribute)) {
        let parse = Punctuated::<Setting, Token![,]>::parse_terminated;
        let parsed = errors.keep(attribute.parse_args_with(parse));
        for setting in parsed.unwrap_or_default() {
            if settings.iter().any(|earlier| earlier.key == setting.key) {
                let message = format!("`{}` is given twice", setting.key);
                errors.at(setting.key.span(), message);
            } else if let Value::Invalid(error) = setting.value {
                errors.keep::<()>(Err(error));
            } else {
                settings.push(setting);
            }
        }
    }
    attributes.retain(|attribute| !named(attribute));
    settings
}

impl Pending {
    pub(crate) fn of_function(attributes: &mut Vec<syn::Attribute>, errors: &mut Errors) -> Self {
        let function = take(attributes, "function", errors);
        Pending {
            function,
            parameters: Vec::new(),
            incomplete: false,
        }
    }

    /// Checks everything and puts it into the function.
    ///
    /// `functions` are the WIT names of all functions of the module.
    pub(crate) fn apply(
        self,
        function: &mut Function,
        functions: &[String],
        types: &[NamedType],
        errors: &mut Errors,
    ) {
        let about = gating::About {
            parameters: &function.parameters,
            functions,
            types,
        };
        let settings = self.function.iter();
        let attributes = settings.filter_map(|s| function::attribute(s, &about, errors));
        let attributes: Vec<_> = attributes.collect();
        function::check_together(&self.function, errors);
        function.attributes.extend(attributes);
        for (parameter, pending) in function.parameters.iter_mut().zip(self.parameters) {
            if !pending.docs.is_empty() {
                let value = quoted(&pending.docs);
                parameter.attributes.push(Attribute {
                    key: "description",
                    value,
                });
            }
            let attributes = parameter::check(parameter, &pending.settings, types, errors);
            parameter.attributes.extend(attributes);
        }
    }
}
