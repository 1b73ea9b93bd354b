//! Writes the model as WIT text.
//!
//! Every name is written with `%`, so that an author may use the keywords of WIT. Doc comments are
//! left out: they would not reach the component, the metadata carries them.

use std::fmt::Write as _;

use crate::model::{Function, Model, NamedType, ParameterKind, Shape, Type};

/// The contract's package with its version, as other packages refer to it.
pub(crate) const AGENTIC_VERSION: &str = "0.1.0";

/// The author's package: one interface and the world that exports it.
pub(crate) fn package(model: &Model) -> String {
    let Model {
        package,
        version,
        interface,
        types,
        functions,
    } = model;
    let mut text = format!(
        "package {}@{version};\n\ninterface %{interface} {{\n",
        escaped(package)
    );
    for (name, home, used) in [
        ("runtime", "runtime", functions.iter().any(takes_runtime)),
        ("json", "types", uses(model, |ty| *ty == Type::Json)),
        ("failure", "types", uses(model, |ty| *ty == Type::Failure)),
    ] {
        if used {
            push(
                &mut text,
                format_args!("  use openprogram:agentic/{home}@{AGENTIC_VERSION}.{{{name}}};"),
            );
        }
    }
    for named in types {
        named_type(&mut text, named);
    }
    for function in functions {
        let line = signature(function);
        push(&mut text, format_args!("  {line};"));
    }
    push(&mut text, format_args!("}}\n\nworld {} {{", world(model)));
    push(
        &mut text,
        format_args!("  include openprogram:agentic/imports@{AGENTIC_VERSION};"),
    );
    push(&mut text, format_args!("  export %{interface};"));
    push(
        &mut text,
        format_args!("  export openprogram:agentic/metadata@{AGENTIC_VERSION};\n}}"),
    );
    text
}

/// The name of the world, which differs from the name of the interface.
pub(crate) fn world(model: &Model) -> String {
    format!("{}-component", model.interface)
}

fn push(text: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a `String` cannot fail.
    let _ = writeln!(text, "{line}");
}

/// A package name with `%` before each part, which may be a keyword.
fn escaped(package: &str) -> String {
    format!("%{}", package.replace(':', ":%"))
}

fn takes_runtime(function: &Function) -> bool {
    let mut parameters = function.parameters.iter();
    parameters.any(|parameter| matches!(parameter.kind, ParameterKind::Runtime { .. }))
}

fn uses(model: &Model, test: fn(&Type) -> bool) -> bool {
    let in_functions = model.functions.iter().flat_map(|function| {
        let parameters = function.parameters.iter().filter_map(|p| match &p.kind {
            ParameterKind::Value(ty) => Some(ty),
            ParameterKind::Str | ParameterKind::Runtime { .. } => None,
        });
        parameters.chain([&function.result])
    });
    let in_types = model
        .types
        .iter()
        .flat_map(|named| named.shape.members())
        .filter_map(|m| m.ty.as_ref());
    in_functions.chain(in_types).any(|ty| ty.any(test))
}

fn named_type(text: &mut String, named: &NamedType) {
    let keyword = match &named.shape {
        Shape::Record(_) => "record",
        Shape::Cases(cases) if cases.iter().all(|case| case.ty.is_none()) => "enum",
        Shape::Cases(_) => "variant",
    };
    push(text, format_args!("  {keyword} %{} {{", named.name));
    for member in named.shape.members() {
        let name = &member.name;
        match (&named.shape, &member.ty) {
            (Shape::Record(_), Some(ty)) => {
                push(text, format_args!("    %{name}: {},", type_text(ty)))
            }
            (Shape::Cases(_), Some(ty)) => {
                push(text, format_args!("    %{name}({}),", type_text(ty)))
            }
            (_, None) => push(text, format_args!("    %{name},")),
        }
    }
    push(text, format_args!("  }}"));
}

fn signature(function: &Function) -> String {
    let parameters: Vec<String> = function
        .parameters
        .iter()
        .map(|parameter| {
            let ty = match &parameter.kind {
                ParameterKind::Value(ty) => type_text(ty),
                ParameterKind::Str => "string".to_owned(),
                ParameterKind::Runtime { optional: false } => "borrow<runtime>".to_owned(),
                ParameterKind::Runtime { optional: true } => "option<borrow<runtime>>".to_owned(),
            };
            format!("%{}: {ty}", parameter.name)
        })
        .collect();
    let result = match &function.result {
        Type::Unit => String::new(),
        ty => format!(" -> {}", type_text(ty)),
    };
    format!(
        "%{}: func({}){result}",
        function.name,
        parameters.join(", ")
    )
}

fn type_text(ty: &Type) -> String {
    match ty {
        Type::Unit => "_".to_owned(),
        Type::Primitive(primitive) => primitive.wit_name().to_owned(),
        Type::Text => "string".to_owned(),
        Type::Json => "json".to_owned(),
        Type::Failure => "failure".to_owned(),
        Type::List(item) => format!("list<{}>", type_text(item)),
        Type::Option(inner) => format!("option<{}>", type_text(inner)),
        Type::Result(ok, err) => match (&**ok, &**err) {
            (Type::Unit, Type::Unit) => "result".to_owned(),
            (ok, Type::Unit) => format!("result<{}>", type_text(ok)),
            (ok, err) => format!("result<{}, {}>", type_text(ok), type_text(err)),
        },
        Type::Tuple(items) => {
            format!(
                "tuple<{}>",
                items.iter().map(type_text).collect::<Vec<_>>().join(", ")
            )
        }
        Type::Map(value) => format!("map<string, {}>", type_text(value)),
        Type::Named(ident) => format!("%{}", crate::names::kebab(ident)),
    }
}
