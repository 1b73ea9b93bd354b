//! Whether the functions that a component shares with the host have the types of the contract.
//!
//! Wasmtime would say so too, but only when the component is used for the first time, and without
//! naming what differs. Names of values are no part of a type, as in wasmtime; names of fields,
//! cases and resources are.

use wit_parser::{Function, Handle, InterfaceId, Resolve, Type, TypeDefKind, TypeId, TypeOwner};

use crate::contract;
use crate::decode_types::TYPE_DEPTH_MAX;
use crate::error::LoadError;

/// How long the text of one type gets; no type of the contract comes near. What is longer differs.
const TYPE_BYTES_MAX: usize = 8 << 10;
/// How much of a type an error shows.
const SHOWN_CHARS_MAX: usize = 300;

/// Which side of the contract a component is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// It calls the functions and may leave some out.
    Imports,
    /// It has all of them.
    Exports,
}

/// Checks an interface of a component against the interface of this name in the contract. A name
/// that the contract lacks is no matter of types.
///
/// # Errors
/// [`LoadError::OtherType`] and [`LoadError::MissingExport`], for the first function.
pub(crate) fn check(
    resolve: &Resolve,
    name: &str,
    interface: InterfaceId,
    side: Side,
) -> Result<(), LoadError> {
    let ours = contract::resolve();
    let mut interfaces = ours.interfaces.iter();
    let Some((_, wanted)) = interfaces.find(|(id, _)| ours.id_of(*id).as_deref() == Some(name))
    else {
        return Ok(());
    };
    let there = &resolve.interfaces[interface].functions;
    for (function, wanted) in &wanted.functions {
        match there.get(function) {
            Some(found) => {
                compare((resolve, found), (ours, wanted)).map_err(|(found, expected)| {
                    LoadError::OtherType {
                        verb: match side {
                            Side::Imports => "imports",
                            Side::Exports => "exports",
                        },
                        function: format!("{name}.{function}"),
                        found,
                        expected,
                    }
                })?;
            }
            None if side == Side::Exports => {
                return Err(LoadError::MissingExport {
                    interface: name.to_owned(),
                    function: format!("{function}: {}", text(ours, wanted, false)),
                });
            }
            None => {}
        }
    }
    Ok(())
}

/// Both types as texts in which they differ, when they do.
fn compare(
    (theirs, found): (&Resolve, &Function),
    (ours, expected): (&Resolve, &Function),
) -> Result<(), (String, String)> {
    let whole = (text(theirs, found, true), text(ours, expected, true));
    if whole.0 == whole.1 {
        return Ok(());
    }
    let short = (text(theirs, found, false), text(ours, expected, false));
    let (found, expected) = if short.0 == short.1 { whole } else { short };
    Err((cut(&found), cut(&expected)))
}

fn cut(text: &str) -> String {
    let mut cut: String = text.chars().take(SHOWN_CHARS_MAX).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    cut
}

/// The type of a function: whole, or short with the names of its parameters and types.
fn text(resolve: &Resolve, function: &Function, whole: bool) -> String {
    let mut writer = Writer {
        resolve,
        whole,
        text: String::new(),
    };
    if function.kind.is_async() {
        writer.push("async ");
    }
    writer.push("func(");
    writer.list(&function.params, |writer, param| {
        if !whole {
            writer.push(&format!("{}: ", param.name));
        }
        writer.ty(&param.ty, 0);
    });
    writer.push(")");
    if let Some(result) = &function.result {
        writer.push(" -> ");
        writer.ty(result, 0);
    }
    writer.text
}

struct Writer<'a> {
    resolve: &'a Resolve,
    whole: bool,
    text: String,
}

impl Writer<'_> {
    fn push(&mut self, text: &str) {
        if self.text.len() <= TYPE_BYTES_MAX {
            self.text.push_str(text);
        }
    }

    fn list<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Self, &T)) {
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.push(", ");
            }
            write(self, item);
        }
    }

    fn ty(&mut self, ty: &Type, depth: usize) {
        // Types that share their parts are small in a component and endless when written out.
        if depth > TYPE_DEPTH_MAX || self.text.len() > TYPE_BYTES_MAX {
            self.push("…");
            return;
        }
        let word = match ty {
            Type::Bool => "bool",
            Type::U8 => "u8",
            Type::U16 => "u16",
            Type::U32 => "u32",
            Type::U64 => "u64",
            Type::S8 => "s8",
            Type::S16 => "s16",
            Type::S32 => "s32",
            Type::S64 => "s64",
            Type::F32 => "f32",
            Type::F64 => "f64",
            Type::Char => "char",
            Type::String => "string",
            Type::ErrorContext => "error-context",
            Type::Id(id) => return self.definition(*id, depth + 1),
        };
        self.push(word);
    }

    fn definition(&mut self, mut id: TypeId, depth: usize) {
        let resolve = self.resolve;
        while let TypeDefKind::Type(inner) = &resolve.types[id].kind {
            match inner {
                Type::Id(inner) => id = *inner,
                primitive => return self.ty(primitive, depth),
            }
        }
        let definition = &resolve.types[id];
        if let Some(name) = definition.name.as_ref().filter(|_| !self.whole) {
            return self.push(name);
        }
        match &definition.kind {
            TypeDefKind::Record(record) => {
                let fields = record.fields.iter();
                self.members("record", depth, fields.map(|f| (&f.name, Some(&f.ty))));
            }
            TypeDefKind::Variant(variant) => {
                let cases = variant.cases.iter();
                self.members("variant", depth, cases.map(|c| (&c.name, c.ty.as_ref())));
            }
            TypeDefKind::Enum(cases) => {
                let cases = cases.cases.iter();
                self.members("enum", depth, cases.map(|c| (&c.name, None)));
            }
            TypeDefKind::Flags(flags) => {
                let flags = flags.flags.iter();
                self.members("flags", depth, flags.map(|f| (&f.name, None)));
            }
            TypeDefKind::Resource => self.resource(id),
            TypeDefKind::Handle(Handle::Own(resource)) => self.definition(*resource, depth),
            TypeDefKind::Handle(Handle::Borrow(resource)) => {
                self.push("borrow<");
                self.definition(*resource, depth);
                self.push(">");
            }
            TypeDefKind::Tuple(tuple) => {
                let types: Vec<_> = tuple.types.iter().map(Some).collect();
                self.generic("tuple", &types, depth);
            }
            TypeDefKind::Option(inner) => self.generic("option", &[Some(inner)], depth),
            TypeDefKind::List(inner) => self.generic("list", &[Some(inner)], depth),
            TypeDefKind::Map(key, value) => self.generic("map", &[Some(key), Some(value)], depth),
            TypeDefKind::Result(result) => {
                self.generic("result", &[result.ok.as_ref(), result.err.as_ref()], depth);
            }
            TypeDefKind::Future(inner) => self.generic("future", &[inner.as_ref()], depth),
            TypeDefKind::Stream(inner) => self.generic("stream", &[inner.as_ref()], depth),
            TypeDefKind::FixedLengthList(inner, length) => {
                self.generic(&format!("list {length}"), &[Some(inner)], depth);
            }
            TypeDefKind::Type(_) | TypeDefKind::Unknown => self.push("unknown"),
        }
    }

    fn generic(&mut self, word: &str, types: &[Option<&Type>], depth: usize) {
        self.push(word);
        self.push("<");
        self.list(types, |writer, ty| match ty {
            Some(ty) => writer.ty(ty, depth),
            None => writer.push("_"),
        });
        self.push(">");
    }

    fn members<'m>(
        &mut self,
        word: &str,
        depth: usize,
        members: impl Iterator<Item = (&'m String, Option<&'m Type>)>,
    ) {
        self.push(word);
        self.push(" { ");
        for (index, (name, ty)) in members.enumerate() {
            if index > 0 {
                self.push(", ");
            }
            self.push(name);
            if let Some(ty) = ty {
                self.push(": ");
                self.ty(ty, depth);
            }
        }
        self.push(" }");
    }

    /// A resource is what its owner says it is.
    fn resource(&mut self, id: TypeId) {
        let definition = &self.resolve.types[id];
        if let TypeOwner::Interface(owner) = definition.owner
            && self.resolve.interfaces[owner].package.is_some()
            && let Some(owner) = self.resolve.id_of(owner)
        {
            // The versions of WASI 0.2 have the same resources, and the host takes them for one.
            let owner = match owner.split_once('@') {
                Some((wasi, version))
                    if wasi.starts_with("wasi:") && version.starts_with("0.2.") =>
                {
                    wasi
                }
                _ => &owner,
            };
            self.push(owner);
            self.push(".");
        }
        self.push(definition.name.as_deref().unwrap_or("resource"));
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    const DECIDER: &str = "openprogram:agentic/decider@0.1.0";
    const SIGNATURE: &str = "decide: func(state: borrow<state>) -> result<list<weight>, failure>;";

    /// What is said of the contract with one change, taken for that of a component.
    fn said(from: &str, to: &str, name: &str, side: Side) -> String {
        let text = contract::whole_text();
        assert!(text.contains(from), "the contract has no `{from}`");
        let mut resolve = Resolve::default();
        resolve
            .push_source("poll.wit", contract::poll_text())
            .unwrap();
        resolve
            .push_source("changed.wit", &text.replacen(from, to, 1))
            .unwrap();
        let mut interfaces = resolve.interfaces.iter();
        let (id, _) = interfaces
            .find(|(id, _)| resolve.id_of(*id).as_deref() == Some(name))
            .unwrap();
        match check(&resolve, name, id, side) {
            Ok(()) => "the same".to_owned(),
            Err(error) => error.to_string(),
        }
    }

    #[track_caller]
    fn check_changed(from: &str, to: &str, expected: Expect) {
        expected.assert_eq(&said(from, to, DECIDER, Side::Exports));
    }

    #[test]
    fn a_function_of_another_type_is_named_with_both_types() {
        check_changed("", "", expect!["the same"]);
        check_changed(
            SIGNATURE,
            "decide: func() -> string;",
            expect![
                "the component exports `openprogram:agentic/decider@0.1.0.decide` as `func() -> string`, and the contract has it as `func(state: borrow<state>) -> result<list<weight>, failure>`; rebuild the component with the SDK or the WIT of this program"
            ],
        );
        check_changed(
            SIGNATURE,
            "decide: func(state: borrow<state>, best: bool) -> result<list<weight>, failure>;",
            expect![
                "the component exports `openprogram:agentic/decider@0.1.0.decide` as `func(state: borrow<state>, best: bool) -> result<list<weight>, failure>`, and the contract has it as `func(state: borrow<state>) -> result<list<weight>, failure>`; rebuild the component with the SDK or the WIT of this program"
            ],
        );
        check_changed(
            "%option: string,\n        /// From",
            "name: string,\n        /// From",
            expect![
                "the component exports `openprogram:agentic/decider@0.1.0.decide` as `func(borrow<openprogram:agentic/decision-state@0.1.0.state>) -> result<list<record { name: string, probability: f64 }>, record { code: string, message: string, details: string }>`, and the contract has it as `func(borrow<openprogram:agentic/decision-state@0.1.0.state>) -> result<list<record { option: string, probability: f64 }>, record { code: string, message: string, details: string }>`; rebuild the component with the SDK or the WIT of this program"
            ],
        );
        check_changed(
            SIGNATURE,
            "pick: func(state: borrow<state>) -> result<list<weight>, failure>;",
            expect![
                "the component exports `openprogram:agentic/decider@0.1.0` without `decide: func(state: borrow<state>) -> result<list<weight>, failure>`; rebuild the component with the SDK or the WIT of this program"
            ],
        );
    }

    #[test]
    fn names_of_parameters_and_types_and_further_functions_are_no_difference() {
        for to in [
            "decide: func(of: borrow<state>) -> result<list<weight>, failure>;",
            "type share = weight; decide: func(s: borrow<state>) -> result<list<share>, failure>;",
            &format!("{SIGNATURE} more: func();"),
        ] {
            let said = said(SIGNATURE, to, DECIDER, Side::Exports);
            assert_eq!(said, "the same", "{to}");
        }
    }

    #[test]
    fn a_component_may_leave_out_what_it_does_not_call() {
        const RUNTIME: &str = "openprogram:agentic/functions@0.1.0";
        let call = "call: func(name: string, arguments: json) -> result<json, failure>;";
        assert_eq!(said(call, "", RUNTIME, Side::Imports), "the same");
        expect!["the component imports `openprogram:agentic/functions@0.1.0.call` as `func(name: string) -> result<string, failure>`, and the contract has it as `func(name: string, arguments: string) -> result<string, failure>`; rebuild the component with the SDK or the WIT of this program"].assert_eq(&said(
            call,
            "call: func(name: string) -> result<json, failure>;",
            RUNTIME,
            Side::Imports,
        ));
    }

    #[test]
    fn types_that_share_their_parts_are_cut() {
        let mut types = "record t0 { a: string, b: string }\n".to_owned();
        for n in 1..40 {
            types.push_str(&format!("record t{n} {{ a: t{}, b: t{} }}\n", n - 1, n - 1));
        }
        let to = format!("{types}decide: func(state: borrow<state>) -> t39;");
        let said = said(SIGNATURE, &to, DECIDER, Side::Exports);
        assert!(said.len() < 2 * TYPE_BYTES_MAX, "{} bytes", said.len());
    }
}
