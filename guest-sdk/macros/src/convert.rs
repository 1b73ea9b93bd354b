//! Writes the conversions between the generated types and the author's.
//!
//! The author's types stay as they were written (raw identifiers, any case of names, private
//! fields, no derives), so generated types stand beside them and values are moved over.
//! All of this is code for the module `__openprogram`, a child of the author's.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use crate::model::{Member, NamedType, Shape, Type};
use crate::names;

/// Which way a value goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// From the caller to the author's function.
    In,
    /// From the author's function to the caller.
    Out,
}

/// Writes types and conversions for one interface.
pub(crate) struct Converter<'a> {
    /// The generated module of the interface.
    pub(crate) interface: &'a TokenStream,
}

impl Converter<'_> {
    /// A type as the generated trait has it.
    pub(crate) fn generated_type(&self, ty: &Type) -> TokenStream {
        match ty {
            Type::Unit => quote!(()),
            Type::Primitive(primitive) => {
                let name = format_ident!("{}", primitive.rust_name());
                quote!(::core::primitive::#name)
            }
            Type::Text | Type::Json => quote!(::std::string::String),
            Type::Failure => quote!(::openprogram_guest::__private::types::Failure),
            Type::List(item) => {
                let item = self.generated_type(item);
                quote!(::std::vec::Vec<#item>)
            }
            Type::Option(inner) => {
                let inner = self.generated_type(inner);
                quote!(::core::option::Option<#inner>)
            }
            Type::Result(ok, err) => {
                let (ok, err) = (self.generated_type(ok), self.generated_type(err));
                quote!(::core::result::Result<#ok, #err>)
            }
            Type::Tuple(items) => {
                let items = items.iter().map(|item| self.generated_type(item));
                quote!((#(#items,)*))
            }
            Type::Map(value) => {
                let value = self.generated_type(value);
                quote!(::std::collections::BTreeMap<::std::string::String, #value>)
            }
            Type::Named(ident) => self.generated_name(&names::kebab(ident)),
        }
    }

    /// An expression that takes the value of `expression` over to the other side.
    pub(crate) fn convert(&self, ty: &Type, expression: TokenStream, to: Direction) -> TokenStream {
        if !ty.any(needs_conversion) {
            return expression;
        }
        let closure = |ty: &Type| {
            let body = self.convert(ty, quote!(value), to);
            quote!(|value| #body)
        };
        match ty {
            Type::Json if to == Direction::In => {
                quote!(::openprogram_guest::__private::json_from_host(#expression))
            }
            Type::Json => quote!(::openprogram_guest::__private::json_to_host(#expression)),
            Type::Failure if to == Direction::In => {
                quote!(::openprogram_guest::__private::failure_from_host(#expression))
            }
            Type::Failure => quote!(::openprogram_guest::__private::failure_to_host(#expression)),
            Type::List(item) => {
                let item = closure(item);
                quote!(::std::vec::Vec::from_iter(
                    ::std::iter::IntoIterator::into_iter(#expression).map(#item)
                ))
            }
            Type::Option(inner) => {
                let inner = closure(inner);
                quote!(::core::option::Option::map(#expression, #inner))
            }
            Type::Result(ok, err) => {
                // Not closures: their parameter would have no type where they are called.
                let [ok, err] = [ok, err].map(|ty| self.convert(ty, quote!(value), to));
                quote!(match #expression {
                    ::core::result::Result::Ok(value) => ::core::result::Result::Ok(#ok),
                    ::core::result::Result::Err(value) => ::core::result::Result::Err(#err),
                })
            }
            Type::Tuple(items) => {
                let fields: Vec<Ident> =
                    (0..items.len()).map(|i| format_ident!("item{i}")).collect();
                let converted = items
                    .iter()
                    .zip(&fields)
                    .map(|(ty, field)| self.convert(ty, quote!(#field), to));
                quote!({ let (#(#fields,)*) = #expression; (#(#converted,)*) })
            }
            Type::Map(value) => {
                let value = self.convert(value, quote!(value), to);
                quote!(::std::collections::BTreeMap::from_iter(
                    ::std::iter::IntoIterator::into_iter(#expression)
                        .map(|(key, value)| (key, #value))
                ))
            }
            Type::Named(ident) => {
                let function = function_name(&names::kebab(ident), to);
                quote!(#function(#expression))
            }
            Type::Unit | Type::Primitive(_) | Type::Text => expression,
        }
    }

    /// The two functions that convert a named type.
    pub(crate) fn functions(&self, named: &NamedType) -> TokenStream {
        let author = &named.ident;
        let author = quote!(super::#author);
        let generated = self.generated_name(&named.name);
        let [lift, lower] = [Direction::In, Direction::Out].map(|to| {
            let function = function_name(&named.name, to);
            let (from, into) = match to {
                Direction::In => (&generated, &author),
                Direction::Out => (&author, &generated),
            };
            let body = match &named.shape {
                Shape::Record(fields) => {
                    let fields = fields.iter().map(|field| self.field(field, to));
                    quote!(#into { #(#fields,)* })
                }
                Shape::Cases(cases) => {
                    let arms = cases.iter().map(|case| self.arm(case, from, into, to));
                    quote!(match value { #(#arms,)* })
                }
            };
            quote!(fn #function(value: #from) -> #into { #body })
        });
        quote!(#lift #lower)
    }

    fn field(&self, field: &Member, to: Direction) -> TokenStream {
        let generated = names::rust_ident(&field.name);
        let author = &field.ident;
        let (from, into) = match to {
            Direction::In => (&generated, author),
            Direction::Out => (author, &generated),
        };
        let value = self.convert(
            field.ty.as_ref().unwrap_or(&Type::Unit),
            quote!(value.#from),
            to,
        );
        quote!(#into: #value)
    }

    fn arm(
        &self,
        case: &Member,
        from: &TokenStream,
        into: &TokenStream,
        to: Direction,
    ) -> TokenStream {
        let generated = names::case_ident(&case.name);
        let author = &case.ident;
        let (from_case, into_case) = match to {
            Direction::In => (&generated, author),
            Direction::Out => (author, &generated),
        };
        match &case.ty {
            None => quote!(#from::#from_case => #into::#into_case),
            Some(ty) => {
                let value = self.convert(ty, quote!(value), to);
                quote!(#from::#from_case(value) => #into::#into_case(#value))
            }
        }
    }

    fn generated_name(&self, wit_name: &str) -> TokenStream {
        let interface = self.interface;
        let name = names::type_ident(wit_name);
        quote!(#interface::#name)
    }
}

fn needs_conversion(ty: &Type) -> bool {
    matches!(ty, Type::Named(_) | Type::Json | Type::Failure)
}

fn function_name(wit_name: &str, to: Direction) -> Ident {
    let name = names::shown(wit_name);
    match to {
        Direction::In => format_ident!("{name}_in"),
        Direction::Out => format_ident!("{name}_out"),
    }
}
