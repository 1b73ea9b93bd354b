//! Derives for decisions: `Schema` for types that a model fills in, `Choice` for cases as options.
//!
//! Fields keep their Rust names, cases are shown in snake case, and doc comments are descriptions.

use heck::ToSnakeCase as _;
use proc_macro2::{Literal as Token, TokenStream};
use quote::quote;
use syn::{Data, DeriveInput, Fields, FieldsNamed, Ident};

use crate::errors::Errors;
use crate::literal::Literal;
use crate::names::plain;
use crate::read::docs;

/// What one case of an enum holds.
enum Held<'a> {
    Nothing,
    /// Named fields.
    Fields(Members<'a>),
    /// One value of a type of its own.
    One(&'a syn::Type),
}

/// One case of an enum.
struct Case<'a> {
    ident: &'a Ident,
    name: String,
    description: String,
    held: Held<'a>,
}

/// Named fields of a struct or a case.
struct Members<'a>(Vec<Member<'a>>);

struct Member<'a> {
    ident: &'a Ident,
    ty: &'a syn::Type,
    name: String,
    description: String,
    /// The allowed values as JSON text.
    options: Option<String>,
}

/// Expands `#[derive(Schema)]`.
pub(crate) fn schema(input: &DeriveInput) -> TokenStream {
    let mut errors = Errors::default();
    refuse_generics(input, &mut errors);
    let expanded = match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => Some(schema_of_struct(input, fields, &mut errors)),
            _ => {
                let message = "a model fills in fields by name; give the fields names";
                errors.on(&input.ident, message);
                None
            }
        },
        Data::Enum(data) => Some(schema_of_enum(input, &cases(data, &mut errors))),
        Data::Union(_) => {
            errors.on(
                &input.ident,
                "a union cannot be filled in; use a struct or an enum",
            );
            None
        }
    };
    finish(expanded, errors)
}

/// Expands `#[derive(Choice)]`.
pub(crate) fn choice(input: &DeriveInput) -> TokenStream {
    let mut errors = Errors::default();
    refuse_generics(input, &mut errors);
    let expanded = match &input.data {
        Data::Enum(data) => {
            let cases = cases(data, &mut errors);
            Some(choice_of_enum(&input.ident, &cases))
        }
        Data::Struct(_) | Data::Union(_) => {
            let message = "the options of a menu are the cases of an enum; for the fields of one \
                           option derive `Schema`";
            errors.on(&input.ident, message);
            None
        }
    };
    finish(expanded, errors)
}

fn finish(expanded: Option<TokenStream>, errors: Errors) -> TokenStream {
    match expanded {
        Some(expanded) if errors.is_empty() => expanded,
        _ => errors.into_compile_errors(),
    }
}

fn refuse_generics(input: &DeriveInput, errors: &mut Errors) {
    if !input.generics.params.is_empty() {
        errors.on(
            &input.generics,
            "a model fills in one concrete type; remove the parameters",
        );
    }
}

fn members<'a>(fields: &'a FieldsNamed, errors: &mut Errors) -> Members<'a> {
    let mut members: Vec<Member<'a>> = Vec::new();
    for field in &fields.named {
        let Some(ident) = &field.ident else { continue };
        let name = plain(ident);
        members.push(Member {
            ident,
            ty: &field.ty,
            name,
            description: docs(&field.attrs),
            options: options(&field.attrs, errors),
        });
    }
    Members(members)
}

/// The allowed values in `#[schema(options = […])]`.
fn options(attributes: &[syn::Attribute], errors: &mut Errors) -> Option<String> {
    let mut options = None;
    for attribute in attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("schema"))
    {
        let read = attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("options") {
                return Err(meta.error("known here is `options = [VALUE, …]`"));
            }
            let value = meta.value()?.parse::<Literal>()?;
            options = Some(value.to_json());
            Ok(())
        });
        errors.keep(read);
    }
    options
}

fn cases<'a>(data: &'a syn::DataEnum, errors: &mut Errors) -> Vec<Case<'a>> {
    let mut cases = Vec::new();
    for variant in &data.variants {
        let held = match &variant.fields {
            Fields::Unit => Held::Nothing,
            Fields::Named(fields) => Held::Fields(members(fields, errors)),
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                Held::One(&fields.unnamed[0].ty)
            }
            Fields::Unnamed(fields) => {
                errors.on(fields, "a case holds named fields or exactly one value");
                continue;
            }
        };
        cases.push(Case {
            ident: &variant.ident,
            name: plain(&variant.ident).to_snake_case(),
            description: docs(&variant.attrs),
            held,
        });
    }
    if data.variants.is_empty() {
        errors.at(
            data.enum_token.span,
            "an enum without cases leaves nothing to pick",
        );
    }
    cases
}

/// Where generated code finds what it needs.
fn decision() -> TokenStream {
    quote!(::openprogram_guest::decision)
}

impl Members<'_> {
    /// The fields as a JSON object.
    fn as_json(&self) -> TokenStream {
        let decision = decision();
        let fields = self.0.iter().map(|member| {
            let Member {
                ty,
                name,
                description,
                ..
            } = member;
            let options = match &member.options {
                None => quote!(::core::option::Option::None),
                Some(json) => quote!(#decision::private::parse(#json)),
            };
            quote! {
                fields.insert(
                    ::std::string::String::from(#name),
                    #decision::private::field(
                        <#ty as #decision::Schema>::schema(), #description, #options,
                    ),
                );
            }
        });
        quote! {{
            let mut fields = #decision::private::Map::new();
            #(#fields)*
            #decision::private::Value::Object(fields)
        }}
    }

    /// The fields of a struct expression, read from `members`.
    fn read(&self) -> TokenStream {
        let fields = self.0.iter().map(|member| {
            let Member { ident, name, .. } = member;
            quote!(#ident: members.take(#name)?)
        });
        quote!({ #(#fields),* })
    }
}

fn schema_of_struct(input: &DeriveInput, fields: &FieldsNamed, errors: &mut Errors) -> TokenStream {
    let (decision, ident, description) = (decision(), &input.ident, docs(&input.attrs));
    let members = members(fields, errors);
    let (as_json, read) = (members.as_json(), members.read());
    quote! {
        #[automatically_derived]
        impl #decision::Fields for #ident {
            const DESCRIPTION: &'static str = #description;

            fn fields() -> #decision::private::Value {
                #as_json
            }

            fn read_fields(
                fields: #decision::private::Map<::std::string::String, #decision::private::Value>,
                path: &str,
            ) -> ::core::result::Result<Self, ::openprogram_guest::Failure> {
                #[allow(unused_mut, unused_variables, reason = "a struct without fields")]
                let mut members = #decision::private::Members::new(fields, path);
                ::core::result::Result::Ok(Self #read)
            }
        }

        #[automatically_derived]
        impl #decision::Schema for #ident {
            fn schema() -> #decision::private::Value {
                #decision::private::object(<Self as #decision::Fields>::fields(), #description)
            }

            fn read(
                value: #decision::private::Value,
                path: &str,
            ) -> ::core::result::Result<Self, ::openprogram_guest::Failure> {
                let fields = #decision::private::members_of(value, path)?;
                <Self as #decision::Fields>::read_fields(fields, path)
            }
        }
    }
}

fn schema_of_enum(input: &DeriveInput, cases: &[Case<'_>]) -> TokenStream {
    let (decision, ident) = (decision(), &input.ident);
    let description = docs(&input.attrs);
    let is_plain = cases.iter().all(|case| matches!(case.held, Held::Nothing));
    let kind = if is_plain { "enum" } else { "variant" };
    let shown = cases.iter().map(|case| {
        let (name, description) = (&case.name, &case.description);
        let of = match &case.held {
            Held::Nothing => quote!(::core::option::Option::None),
            Held::Fields(members) => {
                let fields = members.as_json();
                quote!(::core::option::Option::Some(#decision::private::object(#fields, "")))
            }
            Held::One(ty) => {
                quote!(::core::option::Option::Some(<#ty as #decision::Schema>::schema()))
            }
        };
        quote!((#name, #description, #of))
    });
    let read = cases.iter().map(|case| {
        let (name, case_ident) = (Token::string(&case.name), case.ident);
        match &case.held {
            Held::Nothing => quote!(#name => ::core::result::Result::Ok(Self::#case_ident)),
            Held::Fields(members) => {
                let fields = members.read();
                quote!(#name => {
                    #[allow(unused_mut, unused_variables, reason = "a case without fields")]
                    let mut members = #decision::private::Members::of(held, path)?;
                    ::core::result::Result::Ok(Self::#case_ident #fields)
                })
            }
            Held::One(ty) => quote!(#name => {
                <#ty as #decision::Schema>::read(held, path).map(Self::#case_ident)
            }),
        }
    });
    quote! {
        #[automatically_derived]
        impl #decision::Schema for #ident {
            fn schema() -> #decision::private::Value {
                #decision::private::cases(#kind, #description, ::std::vec![#(#shown),*])
            }

            fn read(
                value: #decision::private::Value,
                path: &str,
            ) -> ::core::result::Result<Self, ::openprogram_guest::Failure> {
                #[allow(unused_variables, reason = "cases that hold nothing")]
                let (name, held) = #decision::private::case_of(value, path)?;
                match name.as_str() {
                    #(#read,)*
                    other => {
                        ::core::result::Result::Err(#decision::private::not_a_case(other, path))
                    }
                }
            }
        }
    }
}

fn choice_of_enum(ident: &Ident, cases: &[Case<'_>]) -> TokenStream {
    let decision = decision();
    let add = cases.iter().map(|case| {
        let (name, description) = (&case.name, &case.description);
        match &case.held {
            Held::Nothing => quote! {
                let menu = menu.fields_described::<()>(#name, #description);
            },
            Held::Fields(members) => {
                let fields = members.as_json();
                quote!(let menu = menu.schema_described(#name, #fields, #description);)
            }
            Held::One(ty) => quote! {
                let menu = menu.fields_described::<#ty>(#name, #description);
            },
        }
    });
    let read = cases.iter().map(|case| {
        let (name, case_ident) = (Token::string(&case.name), case.ident);
        match &case.held {
            Held::Nothing => quote!(#name => ::core::result::Result::Ok(Self::#case_ident)),
            Held::Fields(members) => {
                let fields = members.read();
                quote!(#name => {
                    #[allow(unused_mut, unused_variables, reason = "a case without fields")]
                    let mut members = #decision::private::Members::of(arguments, #name)?;
                    ::core::result::Result::Ok(Self::#case_ident #fields)
                })
            }
            Held::One(ty) => quote!(#name => {
                let fields = #decision::private::members_of(arguments, #name)?;
                <#ty as #decision::Fields>::read_fields(fields, #name).map(Self::#case_ident)
            }),
        }
    });
    quote! {
        #[automatically_derived]
        impl #decision::Choice for #ident {
            fn add_to(menu: #decision::Menu<'_>) -> #decision::Menu<'_> {
                #(#add)*
                menu
            }

            fn read(
                name: &str,
                arguments: #decision::private::Value,
            ) -> ::core::result::Result<Self, ::openprogram_guest::Failure> {
                let _ = &arguments;
                match name {
                    #(#read,)*
                    other => {
                        ::core::result::Result::Err(#decision::private::not_a_case(other, "pick"))
                    }
                }
            }
        }
    }
}
