//! Reads the structs and enums that functions use.

use proc_macro2::Ident;

use super::{KNOWN, Scope};
use crate::errors::Errors;
use crate::model::{Member, NamedType, Shape, Type};
use crate::names::{self, Taken};
use crate::read::{docs, refuse_cfg};

impl Scope {
    /// Reads a struct or an enum.
    pub(super) fn named(&mut self, item: &syn::Item, errors: &mut Errors) -> Option<NamedType> {
        let (ident, attributes, generics) = match item {
            syn::Item::Struct(item) => (&item.ident, &item.attrs, &item.generics),
            syn::Item::Enum(item) => (&item.ident, &item.attrs, &item.generics),
            _ => return None,
        };
        let plain = names::plain(ident);
        if KNOWN.contains(&plain.as_str()) || plain == "Runtime" {
            errors.at(
                ident.span(),
                format!(
                    "`{plain}` is the name of a type that the macro knows; call yours differently"
                ),
            );
            return None;
        }
        if !generics.params.is_empty() {
            errors.on(
                generics,
                format!("`{ident}` is used by a function and cannot be generic"),
            );
            return None;
        }
        refuse_cfg(attributes, errors);
        let name = names::camel_name(ident, errors);
        let shape = match item {
            syn::Item::Struct(item) => self.record(item, errors),
            syn::Item::Enum(item) => self.cases(item, errors),
            _ => None,
        };
        Some(NamedType {
            ident: ident.clone(),
            name: name?,
            docs: docs(attributes),
            shape: shape?,
        })
    }

    fn record(&mut self, item: &syn::ItemStruct, errors: &mut Errors) -> Option<Shape> {
        let syn::Fields::Named(fields) = &item.fields else {
            let message = "a record needs fields with names; write `struct Name { field: Type }`";
            errors.on(&item.ident, format!("`{}`: {message}", item.ident));
            return None;
        };
        if fields.named.is_empty() {
            errors.on(
                &item.ident,
                format!("`{}`: a record needs at least one field", item.ident),
            );
        }
        let mut taken = Taken::default();
        let mut members = Vec::new();
        for field in &fields.named {
            let Some(ident) = &field.ident else { continue };
            refuse_cfg(&field.attrs, errors);
            let ty = self.value(&field.ty, errors);
            let name = names::wit_name(ident, errors);
            if let (Some(name), Some(ty)) = (name, ty) {
                taken.take(&name, format!("the field `{ident}`"), ident, errors);
                let docs = docs(&field.attrs);
                members.push(Member {
                    ident: ident.clone(),
                    name,
                    docs,
                    ty: Some(ty),
                });
            }
        }
        Some(Shape::Record(members))
    }

    fn cases(&mut self, item: &syn::ItemEnum, errors: &mut Errors) -> Option<Shape> {
        if item.variants.is_empty() {
            errors.on(
                &item.ident,
                format!("`{}`: an enum needs at least one case", item.ident),
            );
        }
        let mut taken = Taken::default();
        let mut members = Vec::new();
        for case in &item.variants {
            refuse_cfg(&case.attrs, errors);
            if let Some((_, number)) = &case.discriminant {
                errors.on(
                    number,
                    "cases have no numbers outside the component; remove it",
                );
            }
            let ty = match &case.fields {
                syn::Fields::Unit => None,
                syn::Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                    match self.value(&fields.unnamed[0].ty, errors) {
                        Some(ty) => Some(ty),
                        None => continue,
                    }
                }
                fields => {
                    let message = "a case carries at most one value; put these into a struct";
                    errors.on(fields, message);
                    continue;
                }
            };
            if let Some(name) = names::camel_name(&case.ident, errors) {
                taken.take(
                    &name,
                    format!("the case `{}`", case.ident),
                    &case.ident,
                    errors,
                );
                let docs = docs(&case.attrs);
                members.push(Member {
                    ident: case.ident.clone(),
                    name,
                    docs,
                    ty,
                });
            }
        }
        Some(Shape::Cases(members))
    }
}

/// Reports types that contain themselves, which WIT cannot express.
pub(super) fn refuse_recursion(types: &[NamedType], errors: &mut Errors) {
    fn contains(ty: &Type, wanted: &Ident, types: &[NamedType], seen: &mut Vec<Ident>) -> bool {
        if let Type::Named(name) = ty {
            if name == wanted {
                return true;
            }
            if seen.contains(name) {
                return false;
            }
            seen.push(name.clone());
            let named = types.iter().find(|named| named.ident == *name);
            return named.is_some_and(|named| {
                let members = named.shape.members().iter();
                members
                    .filter_map(|m| m.ty.as_ref())
                    .any(|ty| contains(ty, wanted, types, seen))
            });
        }
        ty.parts()
            .into_iter()
            .any(|part| contains(part, wanted, types, seen))
    }
    for named in types {
        for member in named.shape.members() {
            let Some(ty) = &member.ty else { continue };
            if contains(ty, &named.ident, types, &mut Vec::new()) {
                errors.at(
                    member.ident.span(),
                    format!(
                        "`{}` contains itself here, which WIT cannot express; \
                         use `Json` for this part",
                        named.ident
                    ),
                );
            }
        }
    }
}
