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

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::read;

    /// Reads a module, makes its bindings and compares its WIT.
    fn check(source: &str, expected: Expect) {
        let (_, model, errors) = read::from_source(source);
        assert_eq!(errors.messages(), [""; 0]);
        expected.assert_eq(&package_of(&model));
        crate::bindings::generate(&model).unwrap();
    }

    /// The text without the world, which is the same for all.
    fn package_of(model: &Model) -> String {
        let text = package(model);
        let (package, world) = text.split_once("\nworld ").unwrap();
        let interface = &model.interface;
        assert_eq!(
            world,
            format!(
                "{interface}-component {{\n  include openprogram:agentic/imports@0.1.0;\n  \
                 export %{interface};\n  export openprogram:agentic/metadata@0.1.0;\n}}\n"
            )
        );
        package.to_owned()
    }

    #[test]
    fn every_type_has_its_wit_form() {
        check(
            "mod all {
                pub fn integers(a: u8, b: u16, c: u32, d: u64, e: i8, f: i16, g: i32, h: i64) {}
                pub fn others(a: bool, b: char, c: f32, d: f64, e: String, f: &str) -> String {}
                pub fn lists(a: Vec<u8>, b: Vec<Vec<String>>) -> std::vec::Vec<bool> {}
                pub fn options(a: Option<u8>, b: Option<Option<String>>) {}
                pub fn results(a: Result<u8, String>, b: Result<(), u8>) -> Result<(), ()> {}
                pub fn one_side(a: Result<u8, ()>) -> Result<(), String> {}
                pub fn tuples(a: (u8, String), b: (u8,)) -> (bool, (char, f32)) {}
                pub fn maps(a: BTreeMap<String, Vec<u8>>) -> std::collections::BTreeMap<String, u8> {}
                pub fn contract(a: Json) -> Result<Json, Failure> {}
                pub fn short() -> Result<u8> {}
            }",
            expect![[r#"
                package %test:%crate@1.2.3;

                interface %all {
                  use openprogram:agentic/types@0.1.0.{json};
                  use openprogram:agentic/types@0.1.0.{failure};
                  %integers: func(%a: u8, %b: u16, %c: u32, %d: u64, %e: s8, %f: s16, %g: s32, %h: s64);
                  %others: func(%a: bool, %b: char, %c: f32, %d: f64, %e: string, %f: string) -> string;
                  %lists: func(%a: list<u8>, %b: list<list<string>>) -> list<bool>;
                  %options: func(%a: option<u8>, %b: option<option<string>>);
                  %results: func(%a: result<u8, string>, %b: result<_, u8>) -> result;
                  %one-side: func(%a: result<u8>) -> result<_, string>;
                  %tuples: func(%a: tuple<u8, string>, %b: tuple<u8>) -> tuple<bool, tuple<char, f32>>;
                  %maps: func(%a: map<string, list<u8>>) -> map<string, u8>;
                  %contract: func(%a: json) -> result<json, failure>;
                  %short: func() -> result<u8, failure>;
                }
            "#]],
        );
    }

    #[test]
    fn structs_and_enums_that_are_used_become_types_in_their_order() {
        check(
            "mod shop {
                pub fn order(of: Vec<Item>) -> Result<Receipt, Refusal> {}
                enum Unused { A, B }
                /// Docs are for the metadata.
                struct Receipt { #[serde(skip)] pub total_cents: u64, r#type: Option<Kind> }
                #[derive(Debug)] enum Kind { Small, VeryLarge, HTTPOnly }
                enum Refusal { Closed, Because(String), NotIn((u8, Kind)) }
                struct Item { name: String }
            }",
            expect![[r#"
                package %test:%crate@1.2.3;

                interface %shop {
                  record %receipt {
                    %total-cents: u64,
                    %type: option<%kind>,
                  }
                  enum %kind {
                    %small,
                    %very-large,
                    %http-only,
                  }
                  variant %refusal {
                    %closed,
                    %because(string),
                    %not-in(tuple<u8, %kind>),
                  }
                  record %item {
                    %name: string,
                  }
                  %order: func(%of: list<%item>) -> result<%receipt, %refusal>;
                }
            "#]],
        );
    }

    #[test]
    fn runtimes_are_borrowed_and_used_only_where_needed() {
        check(
            "mod tools {
                pub fn one(runtime: &Runtime) {}
                pub fn all(
                    exec_runtime: &openprogram_guest::Runtime,
                    review_runtime: Option<&Runtime>,
                ) {}
            }",
            expect![[r#"
                package %test:%crate@1.2.3;

                interface %tools {
                  use openprogram:agentic/runtime@0.1.0.{runtime};
                  %one: func(%runtime: borrow<runtime>);
                  %all: func(%exec-runtime: borrow<runtime>, %review-runtime: option<borrow<runtime>>);
                }
            "#]],
        );
    }

    #[test]
    fn aliases_leave_no_trace() {
        check(
            "mod tools {
                type Id = u64;
                type Pair<A, B = A> = (A, B);
                type Fallible<T> = std::result::Result<T, Failure>;
                pub fn find(id: Id, range: Pair<Id>, named: Pair<String, Id>) -> Fallible<()> {}
            }",
            expect![[r#"
                package %test:%crate@1.2.3;

                interface %tools {
                  use openprogram:agentic/types@0.1.0.{failure};
                  %find: func(%id: u64, %range: tuple<u64, u64>, %named: tuple<string, u64>) -> result<_, failure>;
                }
            "#]],
        );
    }

    #[test]
    fn keywords_and_names_of_the_generator_may_be_used() {
        check(
            "mod r#type {
                struct Guest { record: u8, r#match: bool }
                enum World { Interface, Func(Guest) }
                pub fn r#use(import: World, r#fn: Guest, self_: u8) -> World {}
                pub fn export() {}
                pub(crate) fn helper(not: usize) {}
                fn private<T>(nor: T) {}
            }",
            expect![[r#"
                package %test:%crate@1.2.3;

                interface %type {
                  record %guest {
                    %record: u8,
                    %match: bool,
                  }
                  variant %world {
                    %interface,
                    %func(%guest),
                  }
                  %use: func(%import: %world, %fn: %guest, %self: u8) -> %world;
                  %export: func();
                }
            "#]],
        );
    }
}
