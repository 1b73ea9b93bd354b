//! What a module of functions says, as plain data.
//!
//! Made by `read`, `types` and `settings`; read by everything that writes code. A model without
//! reported errors is valid WIT.

use proc_macro2::{Ident, Span};

/// A module of functions.
pub(crate) struct Model {
    /// The package, `namespace:name`, without version.
    pub(crate) package: String,
    pub(crate) version: String,
    /// The WIT name of the interface.
    pub(crate) interface: String,
    /// The types that the functions use, in the order in which they were written.
    pub(crate) types: Vec<NamedType>,
    pub(crate) functions: Vec<Function>,
}

/// An exported function.
pub(crate) struct Function {
    pub(crate) ident: Ident,
    /// The WIT name.
    pub(crate) name: String,
    pub(crate) docs: String,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) result: Type,
    /// Where mistakes in the result type are reported.
    pub(crate) result_span: Span,
    pub(crate) attributes: Vec<Attribute>,
}

/// One parameter of an exported function.
pub(crate) struct Parameter {
    pub(crate) ident: Ident,
    /// The WIT name.
    pub(crate) name: String,
    pub(crate) kind: ParameterKind,
    /// Where mistakes in the type are reported.
    pub(crate) span: Span,
    pub(crate) attributes: Vec<Attribute>,
}

pub(crate) enum ParameterKind {
    /// A value that callers give.
    Value(Type),
    /// A text that the author takes as `&str`.
    Str,
    /// A runtime that the host lends.
    Runtime { optional: bool },
}

/// A property for the metadata: its key, and its value as JSON text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Attribute {
    pub(crate) key: &'static str,
    pub(crate) value: String,
}

/// A struct or an enum of the module.
pub(crate) struct NamedType {
    pub(crate) ident: Ident,
    /// The WIT name.
    pub(crate) name: String,
    pub(crate) docs: String,
    pub(crate) shape: Shape,
}

pub(crate) enum Shape {
    Record(Vec<Member>),
    /// An enum when no case has a payload, a variant otherwise.
    Cases(Vec<Member>),
}

impl Shape {
    pub(crate) fn members(&self) -> &[Member] {
        match self {
            Shape::Record(members) | Shape::Cases(members) => members,
        }
    }
}

/// A field of a record, or a case.
pub(crate) struct Member {
    pub(crate) ident: Ident,
    /// The WIT name.
    pub(crate) name: String,
    pub(crate) docs: String,
    /// The type of the field, or the payload of the case.
    pub(crate) ty: Option<Type>,
}

/// A type that WIT can express.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Type {
    /// No value: a function without result, or one side of a `Result`.
    Unit,
    Primitive(Primitive),
    Text,
    Json,
    Failure,
    List(Box<Type>),
    Option(Box<Type>),
    Result(Box<Type>, Box<Type>),
    Tuple(Vec<Type>),
    /// A map from texts.
    Map(Box<Type>),
    /// A type of the module, by its Rust name.
    Named(Ident),
}

impl Type {
    /// The types that this one is made of.
    pub(crate) fn parts(&self) -> Vec<&Type> {
        match self {
            Type::List(item) | Type::Option(item) | Type::Map(item) => vec![item],
            Type::Result(ok, err) => vec![ok, err],
            Type::Tuple(items) => items.iter().collect(),
            _ => Vec::new(),
        }
    }

    /// Whether this type or a part of it, not looking into named types, passes `test`.
    pub(crate) fn any(&self, test: fn(&Type) -> bool) -> bool {
        test(self) || self.parts().into_iter().any(|part| part.any(test))
    }

    /// The type without the `Option` around it.
    pub(crate) fn required(&self) -> &Type {
        match self {
            Type::Option(inner) => inner,
            other => other,
        }
    }
}

/// A primitive type that has the same shape in Rust and in WIT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Primitive {
    Bool,
    Char,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    F32,
    F64,
}

impl Primitive {
    /// All primitives: the Rust name and the WIT name of each.
    const NAMES: [(Primitive, &'static str, &'static str); 12] = [
        (Primitive::Bool, "bool", "bool"),
        (Primitive::Char, "char", "char"),
        (Primitive::U8, "u8", "u8"),
        (Primitive::U16, "u16", "u16"),
        (Primitive::U32, "u32", "u32"),
        (Primitive::U64, "u64", "u64"),
        (Primitive::S8, "i8", "s8"),
        (Primitive::S16, "i16", "s16"),
        (Primitive::S32, "i32", "s32"),
        (Primitive::S64, "i64", "s64"),
        (Primitive::F32, "f32", "f32"),
        (Primitive::F64, "f64", "f64"),
    ];

    pub(crate) fn by_rust_name(name: &str) -> Option<Primitive> {
        Self::NAMES
            .iter()
            .find(|entry| entry.1 == name)
            .map(|entry| entry.0)
    }

    pub(crate) fn rust_name(self) -> &'static str {
        self.entry().1
    }

    pub(crate) fn wit_name(self) -> &'static str {
        self.entry().2
    }

    fn entry(self) -> &'static (Primitive, &'static str, &'static str) {
        // The table names every primitive once, in the order of the declaration.
        &Self::NAMES[self as usize]
    }

    /// The smallest and the largest value of an integer type.
    pub(crate) fn range(self) -> Option<(i128, i128)> {
        Some(match self {
            Primitive::U8 => (0, u8::MAX.into()),
            Primitive::U16 => (0, u16::MAX.into()),
            Primitive::U32 => (0, u32::MAX.into()),
            Primitive::U64 => (0, u64::MAX.into()),
            Primitive::S8 => (i8::MIN.into(), i8::MAX.into()),
            Primitive::S16 => (i16::MIN.into(), i16::MAX.into()),
            Primitive::S32 => (i32::MIN.into(), i32::MAX.into()),
            Primitive::S64 => (i64::MIN.into(), i64::MAX.into()),
            Primitive::Bool | Primitive::Char | Primitive::F32 | Primitive::F64 => return None,
        })
    }
}
