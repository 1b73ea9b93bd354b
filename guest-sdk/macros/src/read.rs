//! Reads the author's module into a model.
//!
//! Removes from the module what only this macro understands: `#[function]`, `#[param]` and the
//! doc comments of parameters. Nothing else of the module is changed.

use proc_macro2::TokenStream;
use syn::spanned::Spanned as _;

use crate::errors::Errors;
use crate::model::{Function, Model, NamedType, Parameter, ParameterKind, Type};
use crate::names::{self, Taken};
use crate::settings;
use crate::types::Scope;

/// The parameters that the host fills, by their Rust names.
const RUNTIME_PARAMETERS: [&str; 3] = ["runtime", "exec_runtime", "review_runtime"];

/// Names that a function cannot have, because its marker type would hide the type of that name.
const HIDDEN_BY_MARKERS: [&str; 19] = [
    "bool", "char", "str", "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64",
    "i128", "isize", "f32", "f64", "std", "core",
];

/// The names of the package: what the attribute and the crate say.
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
}

/// Reads a module. With reported errors, the model is incomplete.
pub(crate) fn module(module: &mut syn::ItemMod, package: Package, errors: &mut Errors) -> Model {
    let interface = names::wit_name(&module.ident, errors).unwrap_or_default();
    refuse_cfg(&module.attrs, errors);
    let Some((_, items)) = &mut module.content else {
        let message = "write the functions between the braces of this module: what stands in \
                       another file is not visible to the macro";
        errors.at(module.ident.span(), message);
        return Model {
            package: package.name,
            version: package.version,
            interface,
            types: Vec::new(),
            functions: Vec::new(),
        };
    };
    let mut scope = Scope::of(items);
    let mut functions = Vec::new();
    let mut pending = Vec::new();
    let mut exported = 0;
    for item in items.iter_mut() {
        let syn::Item::Fn(item) = item else { continue };
        if !matches!(item.vis, syn::Visibility::Public(_)) {
            refuse_settings_of_private(item, errors);
            continue;
        }
        exported += 1;
        if let Some((function, settings)) = function(item, &mut scope, errors) {
            functions.push(function);
            pending.push(settings);
        }
    }
    if exported == 0 {
        errors.at(
            module.ident.span(),
            "a component needs at least one `pub fn` in this module",
        );
    }
    let types = scope.finish(errors);
    let names: Vec<_> = functions.iter().map(|f| f.name.clone()).collect();
    for (function, settings) in functions.iter_mut().zip(pending) {
        settings.apply(function, &names, &types, errors);
    }
    refuse_collisions(items, &mut functions, &types, errors);
    Model {
        package: package.name,
        version: package.version,
        interface,
        types,
        functions,
    }
}

/// The text of the doc comments.
pub(crate) fn docs(attributes: &[syn::Attribute]) -> String {
    let mut lines = Vec::new();
    for attribute in attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("doc"))
    {
        let syn::Meta::NameValue(pair) = &attribute.meta else {
            continue;
        };
        if let syn::Expr::Lit(syn::ExprLit {
            lit: syn::Lit::Str(text),
            ..
        }) = &pair.value
        {
            // An empty `///` is an empty text, which `lines()` would swallow.
            for line in text.value().split('\n') {
                lines.push(line.strip_prefix(' ').unwrap_or(line).trim_end().to_owned());
            }
        }
    }
    lines.join("\n").trim().to_owned()
}

/// Reports `#[cfg]` on what goes into the WIT, which is written before `cfg` is decided.
pub(crate) fn refuse_cfg(attributes: &[syn::Attribute], errors: &mut Errors) {
    for attribute in attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("cfg"))
    {
        let message = "what a component exports cannot depend on `cfg`, which is decided after \
                       the exports are written; put the `cfg` inside a function body";
        errors.on(attribute, message);
    }
}

fn refuse_settings_of_private(item: &mut syn::ItemFn, errors: &mut Errors) {
    for attribute in item
        .attrs
        .iter()
        .filter(|attribute| attribute.path().is_ident("function"))
    {
        let message = format!("`{}` is not exported; write `pub fn`", item.sig.ident);
        errors.on(attribute, message);
    }
    item.attrs
        .retain(|attribute| !attribute.path().is_ident("function"));
}

fn function(
    item: &mut syn::ItemFn,
    scope: &mut Scope,
    errors: &mut Errors,
) -> Option<(Function, settings::Pending)> {
    refuse_cfg(&item.attrs, errors);
    let is_generic = refuse_qualifiers(&item.sig, errors);
    let mut pending = settings::Pending::of_function(&mut item.attrs, errors);
    let docs = docs(&item.attrs);
    let mut parameters = Vec::new();
    let mut taken = Taken::default();
    for input in &mut item.sig.inputs {
        let settings = settings::take_from_parameter(input, errors);
        if is_generic {
            continue;
        }
        match parameter(input, scope, errors) {
            Some(parameter) => {
                let what = format!("the parameter `{}`", parameter.ident);
                taken.take(&parameter.name, what, &parameter.ident, errors);
                parameters.push(parameter);
                pending.parameters.push(settings);
            }
            None => pending.incomplete = true,
        }
    }
    if is_generic {
        return None;
    }
    let (result, result_span) = match &item.sig.output {
        syn::ReturnType::Default => (Some(Type::Unit), item.sig.ident.span()),
        syn::ReturnType::Type(_, ty) => (scope.result(ty, errors), ty.span()),
    };
    let ident = item.sig.ident.clone();
    let name = names::wit_name(&ident, errors)?;
    let (result, attributes) = (result?, Vec::new());
    let function = Function {
        ident,
        name,
        docs,
        parameters,
        result,
        result_span,
        attributes,
    };
    (!pending.incomplete).then_some((function, pending))
}

/// Reports what a function of a component cannot be, and tells whether it is generic: then its types
/// cannot be read either.
fn refuse_qualifiers(signature: &syn::Signature, errors: &mut Errors) -> bool {
    let ident = &signature.ident;
    if let Some(token) = &signature.asyncness {
        let message = "a function of a component cannot be `async`: calls are synchronous";
        errors.on(token, message);
    }
    if let Some(token) = &signature.unsafety {
        errors.on(
            token,
            "a function of a component cannot be `unsafe`: anyone may call it",
        );
    }
    if let Some(token) = &signature.abi {
        errors.on(
            token,
            "a function of a component is an ordinary Rust function; remove `extern`",
        );
    }
    let mut is_generic = false;
    for parameter in &signature.generics.params {
        if !matches!(parameter, syn::GenericParam::Lifetime(_)) {
            let message = format!("`{ident}` is exported and cannot be generic; name the types");
            errors.on(parameter, message);
            is_generic = true;
        }
    }
    is_generic
}

fn parameter(input: &syn::FnArg, scope: &mut Scope, errors: &mut Errors) -> Option<Parameter> {
    let typed = match input {
        syn::FnArg::Typed(typed) => typed,
        syn::FnArg::Receiver(receiver) => {
            errors.on(receiver, "a function of a component has no `self`");
            return None;
        }
    };
    refuse_cfg(&typed.attrs, errors);
    let syn::Pat::Ident(pattern) = &*typed.pat else {
        let message = "give this parameter a plain name, by which callers fill it";
        errors.on(&typed.pat, message);
        return None;
    };
    let kind = kind(&typed.ty, scope, errors);
    let name = names::wit_name(&pattern.ident, errors)?;
    let (ident, kind) = (pattern.ident.clone(), kind?);
    let reserved = RUNTIME_PARAMETERS.contains(&names::shown(&name).as_str());
    match kind {
        ParameterKind::Runtime { .. } if !reserved => errors.at(
            ident.span(),
            format!(
                "a runtime is lent by name: call this parameter `runtime`, `exec_runtime` or \
                 `review_runtime` instead of `{ident}`"
            ),
        ),
        ParameterKind::Value(_) | ParameterKind::Str if reserved => errors.on(
            &typed.ty,
            format!("the name `{ident}` is kept for a parameter of type `&Runtime`"),
        ),
        _ => {}
    }
    Some(Parameter {
        ident,
        name,
        kind,
        span: typed.ty.span(),
        attributes: Vec::new(),
    })
}

fn kind(ty: &syn::Type, scope: &mut Scope, errors: &mut Errors) -> Option<ParameterKind> {
    if is_reference_to(ty, "Runtime") {
        return Some(ParameterKind::Runtime { optional: false });
    }
    if option_argument(ty).is_some_and(|inner| is_reference_to(inner, "Runtime")) {
        return Some(ParameterKind::Runtime { optional: true });
    }
    if is_reference_to(ty, "str") {
        return Some(ParameterKind::Str);
    }
    if let syn::Type::Reference(_) = ty {
        let message = "only `&str` and `&Runtime` may be borrowed; take the value itself";
        errors.on(ty, message);
        return None;
    }
    scope.value(ty, errors).map(ParameterKind::Value)
}

fn is_reference_to(ty: &syn::Type, name: &str) -> bool {
    let syn::Type::Reference(reference) = ty else {
        return false;
    };
    let syn::Type::Path(path) = &*reference.elem else {
        return false;
    };
    let last = path.path.segments.last();
    reference.mutability.is_none() && last.is_some_and(|segment| segment.ident == name)
}

fn option_argument(ty: &syn::Type) -> Option<&syn::Type> {
    let syn::Type::Path(path) = ty else {
        return None;
    };
    let segment = path
        .path
        .segments
        .last()
        .filter(|segment| segment.ident == "Option")?;
    match &segment.arguments {
        syn::PathArguments::AngleBracketed(list) => match list.args.first()? {
            syn::GenericArgument::Type(inner) => Some(inner),
            _ => None,
        },
        _ => None,
    }
}

/// Reports names that two items want: in the WIT interface, and in Rust beside the marker types.
/// Functions whose marker type cannot stand are left out.
fn refuse_collisions(
    items: &[syn::Item],
    functions: &mut Vec<Function>,
    types: &[NamedType],
    errors: &mut Errors,
) {
    let mut taken = Taken::by_the_sdk();
    for named in types {
        taken.take(
            &named.name,
            format!("the type `{}`", named.ident),
            &named.ident,
            errors,
        );
    }
    for function in functions.iter() {
        let what = format!("the function `{}`", function.ident);
        taken.take(&function.name, what, &function.ident, errors);
    }
    let mut named_in_rust = Vec::new();
    for item in items {
        match item {
            syn::Item::Struct(item) => named_in_rust.push(&item.ident),
            syn::Item::Enum(item) => named_in_rust.push(&item.ident),
            syn::Item::Union(item) => named_in_rust.push(&item.ident),
            syn::Item::Type(item) => named_in_rust.push(&item.ident),
            syn::Item::Trait(item) => named_in_rust.push(&item.ident),
            syn::Item::Mod(item) => named_in_rust.push(&item.ident),
            syn::Item::Use(item) => collect_imports(&item.tree, &mut named_in_rust),
            _ => {}
        }
    }
    functions.retain(|function| {
        let ident = &function.ident;
        let other = named_in_rust.iter().find(|other| **other == ident);
        let builtin = HIDDEN_BY_MARKERS.contains(&names::plain(ident).as_str());
        if builtin {
            let message =
                format!("a function cannot be called `{ident}`, which names a type; rename it");
            errors.at(ident.span(), message);
        } else if let Some(other) = other {
            let message = format!(
                "`{other}` is also the name of an exported function, which has a hidden type of \
                 this name for menus; rename one of them"
            );
            errors.at(other.span(), message);
        }
        !builtin && other.is_none()
    });
}

/// The names that a `use` brings in. A glob gives way to items of the module, so it cannot collide.
fn collect_imports<'a>(tree: &'a syn::UseTree, names: &mut Vec<&'a syn::Ident>) {
    match tree {
        syn::UseTree::Path(path) => collect_imports(&path.tree, names),
        syn::UseTree::Name(name) => names.push(&name.ident),
        syn::UseTree::Rename(rename) => names.push(&rename.rename),
        syn::UseTree::Group(group) => {
            group
                .items
                .iter()
                .for_each(|item| collect_imports(item, names));
        }
        syn::UseTree::Glob(_) => {}
    }
}

/// Parses the item under the attribute, which must be a module.
pub(crate) fn parse(item: TokenStream) -> syn::Result<syn::ItemMod> {
    match syn::parse2::<syn::Item>(item)? {
        syn::Item::Mod(module) => Ok(module),
        other => Err(syn::Error::new_spanned(
            other,
            "`functions` stands above a module: `#[openprogram_guest::functions] mod tools { … }`",
        )),
    }
}

/// Reads a module of version 1.2.3 of the package `test:crate` out of its source.
#[cfg(test)]
pub(crate) fn from_source(source: &str) -> (syn::ItemMod, Model, Errors) {
    let mut item = syn::parse_str(source).unwrap();
    let mut errors = Errors::default();
    let package = Package {
        name: "test:crate".to_owned(),
        version: "1.2.3".to_owned(),
    };
    let model = module(&mut item, package, &mut errors);
    (item, model, errors)
}
