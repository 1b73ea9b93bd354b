//! Reads Rust types as WIT types, and the structs and enums of the module.
//!
//! A type is understood by its name: the macro sees tokens, not what a name stands for. Types
//! outside the module are therefore refused, except the few of `std` and of the SDK listed here.

use std::collections::{BTreeMap, BTreeSet};

use syn::spanned::Spanned as _;

use crate::errors::Errors;
use crate::model::{NamedType, Primitive, Type};
use crate::names;

mod definitions;

/// The types of `std` and of the SDK that may be written.
const KNOWN: [&str; 7] = [
    "String", "Vec", "Option", "Result", "BTreeMap", "Json", "Failure",
];

/// How deep type aliases may refer to each other; a longer chain goes in circles.
const MAX_ALIASES: usize = 32;

/// The types that the module defines, and which of them the functions use.
#[derive(Default)]
pub(crate) struct Scope {
    types: Vec<syn::Item>,
    aliases: BTreeMap<String, syn::ItemType>,
    used: BTreeSet<String>,
    alias_depth: usize,
}

/// What the parameters of a generic alias stand for.
type Bound = BTreeMap<String, Type>;

impl Scope {
    pub(crate) fn of(items: &[syn::Item]) -> Self {
        let mut scope = Scope::default();
        for item in items {
            match item {
                syn::Item::Struct(_) | syn::Item::Enum(_) => scope.types.push(item.clone()),
                syn::Item::Type(alias) => {
                    scope
                        .aliases
                        .insert(names::plain(&alias.ident), alias.clone());
                }
                _ => {}
            }
        }
        scope
    }

    /// Reads a type that stands for a value.
    pub(crate) fn value(&mut self, ty: &syn::Type, errors: &mut Errors) -> Option<Type> {
        self.bound_value(ty, &Bound::new(), errors)
    }

    /// Reads the type of a function's result, which may be `()`.
    pub(crate) fn result(&mut self, ty: &syn::Type, errors: &mut Errors) -> Option<Type> {
        self.any(ty, &Bound::new(), errors)
    }

    /// Reads the named types that are used, in the order in which they are written.
    pub(crate) fn finish(mut self, errors: &mut Errors) -> Vec<NamedType> {
        let items = self.types.clone();
        // Types used by types come to light while reading, so this goes on until none is new.
        let mut read: Vec<Option<NamedType>> = items.iter().map(|_| None).collect();
        let mut done = vec![false; items.len()];
        let waits = |index: &usize, used: &BTreeSet<String>, done: &[bool]| {
            !done[*index] && name_of(&items[*index]).is_some_and(|name| used.contains(&name))
        };
        while let Some(index) = (0..items.len()).find(|index| waits(index, &self.used, &done)) {
            done[index] = true;
            read[index] = self.named(&items[index], errors);
        }
        let types: Vec<NamedType> = read.into_iter().flatten().collect();
        definitions::refuse_recursion(&types, errors);
        types
    }

    fn bound_value(&mut self, ty: &syn::Type, bound: &Bound, errors: &mut Errors) -> Option<Type> {
        let read = self.any(ty, bound, errors)?;
        if read == Type::Unit {
            errors.on(
                ty,
                "`()` is no value; it may only be a result or one side of a `Result`",
            );
            return None;
        }
        Some(read)
    }

    fn any(&mut self, ty: &syn::Type, bound: &Bound, errors: &mut Errors) -> Option<Type> {
        let message = match ty {
            syn::Type::Paren(inner) => return self.any(&inner.elem, bound, errors),
            syn::Type::Group(inner) => return self.any(&inner.elem, bound, errors),
            syn::Type::Tuple(tuple) if tuple.elems.is_empty() => return Some(Type::Unit),
            syn::Type::Tuple(tuple) => {
                let items: Vec<Option<Type>> = tuple
                    .elems
                    .iter()
                    .map(|item| self.bound_value(item, bound, errors))
                    .collect();
                return items.into_iter().collect::<Option<_>>().map(Type::Tuple);
            }
            syn::Type::Path(path) if path.qself.is_none() => return self.path(path, bound, errors),
            syn::Type::Reference(_) => {
                "a reference cannot leave or enter a component; use an owned value"
            }
            syn::Type::Array(_) | syn::Type::Slice(_) => {
                "a list has no fixed length here; use `Vec`"
            }
            syn::Type::ImplTrait(_) | syn::Type::TraitObject(_) => {
                "a component's types are concrete; name the type"
            }
            syn::Type::BareFn(_) => "a function cannot be a value of a component",
            _ => "this type has no WIT form",
        };
        errors.on(ty, message);
        None
    }

    fn path(&mut self, path: &syn::TypePath, bound: &Bound, errors: &mut Errors) -> Option<Type> {
        let segment = path.path.segments.last()?;
        let name = names::plain(&segment.ident);
        let local = match path.path.segments.len() {
            1 => path.path.leading_colon.is_none(),
            2 => path.path.segments[0].ident == "self",
            _ => false,
        };
        let arguments = self.arguments(segment, bound, errors)?;
        if local {
            if let Some(ty) = bound.get(&name).filter(|_| arguments.is_empty()) {
                return Some(ty.clone());
            }
            if let Some(alias) = self.aliases.get(&name).cloned() {
                return self.alias(&alias, arguments, segment, errors);
            }
            if self
                .types
                .iter()
                .any(|item| name_of(item).as_ref() == Some(&name))
            {
                self.used.insert(name);
                return Some(Type::Named(segment.ident.clone()));
            }
            if let Some(primitive) = Primitive::by_rust_name(&name) {
                return Some(Type::Primitive(primitive));
            }
        }
        known(&name, arguments, path, errors)
    }

    /// The type arguments of a path segment.
    fn arguments(
        &mut self,
        segment: &syn::PathSegment,
        bound: &Bound,
        errors: &mut Errors,
    ) -> Option<Vec<Type>> {
        let list = match &segment.arguments {
            syn::PathArguments::None => return Some(Vec::new()),
            syn::PathArguments::AngleBracketed(list) => &list.args,
            syn::PathArguments::Parenthesized(_) => {
                errors.on(segment, "a function cannot be a value of a component");
                return None;
            }
        };
        let mut complete = true;
        let mut arguments = Vec::new();
        for argument in list {
            match argument {
                syn::GenericArgument::Type(ty) => match self.any(ty, bound, errors) {
                    Some(Type::Unit) if !may_hold_unit(segment) => {
                        errors.on(ty, "`()` is no value; it may only be a side of a `Result`");
                        complete = false;
                    }
                    Some(ty) => arguments.push(ty),
                    None => complete = false,
                },
                other => {
                    errors.on(other, "only types may stand here");
                    complete = false;
                }
            }
        }
        complete.then_some(arguments)
    }

    fn alias(
        &mut self,
        alias: &syn::ItemType,
        arguments: Vec<Type>,
        segment: &syn::PathSegment,
        errors: &mut Errors,
    ) -> Option<Type> {
        if self.alias_depth == MAX_ALIASES {
            errors.on(
                &alias.ident,
                format!("the alias `{}` never ends in a type", alias.ident),
            );
            return None;
        }
        self.alias_depth += 1;
        let mut arguments = arguments.into_iter();
        let mut bound = Bound::new();
        for parameter in alias.generics.type_params() {
            let argument = match (arguments.next(), &parameter.default) {
                (Some(ty), _) => Some(ty),
                (None, Some(default)) => self.any(default, &bound, errors),
                (None, None) => {
                    errors.on(
                        segment,
                        format!("`{}` needs more type arguments", alias.ident),
                    );
                    None
                }
            };
            if let Some(argument) = argument {
                bound.insert(names::plain(&parameter.ident), argument);
            }
        }
        let complete = bound.len() == alias.generics.type_params().count();
        let ty = if complete {
            self.any(&alias.ty, &bound, errors)
        } else {
            None
        };
        self.alias_depth -= 1;
        ty
    }
}

/// The Rust name of a struct or an enum.
fn name_of(item: &syn::Item) -> Option<String> {
    match item {
        syn::Item::Struct(item) => Some(names::plain(&item.ident)),
        syn::Item::Enum(item) => Some(names::plain(&item.ident)),
        _ => None,
    }
}

/// Whether `()` may be an argument of this type. Aliases are checked where they end.
fn may_hold_unit(segment: &syn::PathSegment) -> bool {
    !["Vec", "Option", "BTreeMap"].contains(&names::plain(&segment.ident).as_str())
}

/// A type of `std` or of the SDK, by the last part of its path.
fn known(
    name: &str,
    arguments: Vec<Type>,
    path: &syn::TypePath,
    errors: &mut Errors,
) -> Option<Type> {
    let mut arguments = arguments.into_iter().map(Box::new);
    let given = (name, arguments.next(), arguments.next(), arguments.next());
    let message = match given {
        ("String", None, ..) => return Some(Type::Text),
        ("Json", None, ..) => return Some(Type::Json),
        ("Failure", None, ..) => return Some(Type::Failure),
        ("Vec", Some(item), None, _) => return Some(Type::List(item)),
        ("Option", Some(item), None, _) => return Some(Type::Option(item)),
        ("Result", Some(ok), Some(err), None) => return Some(Type::Result(ok, err)),
        ("Result", Some(ok), None, _) => return Some(Type::Result(ok, Box::new(Type::Failure))),
        ("BTreeMap", Some(key), Some(value), None) => match *key {
            Type::Text => return Some(Type::Map(value)),
            _ => "the keys of a map are `String`; for others use a `Vec` of pairs".to_owned(),
        },
        ("HashMap", ..) => "use `BTreeMap`, whose order is always the same".to_owned(),
        ("HashSet" | "BTreeSet" | "VecDeque", ..) => "use `Vec`".to_owned(),
        ("Box" | "Rc" | "Arc" | "Cow", ..) => {
            "use the value itself, without the pointer".to_owned()
        }
        ("usize" | "u128", ..) => format!("`{name}` has no WIT form; use `u32` or `u64`"),
        ("isize" | "i128", ..) => format!("`{name}` has no WIT form; use `i32` or `i64`"),
        ("Value", ..) => "use `openprogram_guest::Json` for any JSON value".to_owned(),
        ("Runtime", ..) => {
            "a runtime is lent to a function: take it as a parameter `runtime: &Runtime`".to_owned()
        }
        (name, ..) if KNOWN.contains(&name) => {
            format!("`{name}` has a wrong number of type arguments here")
        }
        (name, ..) => format!(
            "`{name}` is not known here; a type in a signature is a primitive, `{}`, or a struct, \
             enum or alias written in this module",
            KNOWN.join("`, `")
        ),
    };
    errors.at(path.span(), message);
    None
}
