//! Types of parameters and results, as every view of a function needs them.
//!
//! The types mirror WIT, with three open ones for option files (`AnyArray`, `AnyObject`, `Json`).
//! Names of fields and cases are kept as models see them: snake_case for names that come from WIT,
//! unchanged for names that come from an option file. On the way in, `-` and `_` are equal.

mod check;
mod check_scalar;
mod check_shape;
mod checker;
mod json_schema;
mod limits;
mod name;
mod number;
mod sorted;
mod words;

use std::sync::Arc;

use check_scalar::NOT_FINITE;

pub use check::{CheckError, CheckMode, Checked, Coercion, Mismatch, check_object, check_value};
pub(crate) use check::{Member, check_members};
pub use json_schema::{
    Property, properties_to_json_schema, record_to_json_schema, result_to_json_schema,
    type_to_json_schema,
};
pub use limits::{
    BYTES_MAX, COERCIONS_LISTED_MAX, ITEMS_MAX, JSON_DEPTH_MAX, NUMBER_DIGITS_MAX, STRING_BYTES_MAX,
};
pub use name::{names_equal, shown_name};
pub(crate) use number::is_number;
pub use sorted::sorted;
pub(crate) use words::{kind_of, listed, quoted};

use crate::Json;

/// The type of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// `true` or `false`.
    Bool,
    /// A whole number.
    Integer(IntegerKind),
    /// A number of 32 bits.
    Float32,
    /// A number of 64 bits.
    Float64,
    /// Exactly one Unicode scalar value.
    Char,
    /// Text.
    String,
    /// `list<u8>`: base64 text in JSON, an array of bytes is accepted too.
    Bytes,
    /// Any JSON value.
    Json,
    /// Any JSON array.
    AnyArray,
    /// Any JSON object.
    AnyObject,
    /// Items of one type.
    List(Box<Type>),
    /// Exactly so many items of one type.
    FixedList(Box<Type>, u32),
    /// Values by key; keys are text in JSON.
    Map(Box<Type>, Box<Type>),
    /// A value that may be absent.
    Option(Box<Type>),
    /// A fixed sequence of types.
    Tuple(Vec<Type>),
    /// Success or error, each with an optional payload.
    Result(Option<Box<Type>>, Option<Box<Type>>),
    /// Named fields.
    Record(Arc<RecordType>),
    /// One of a list of names.
    Enum(Arc<CasesType>),
    /// Any subset of a list of names.
    Flags(Arc<CasesType>),
    /// One of a list of cases, each with an optional payload.
    Variant(Arc<VariantType>),
    /// Something that a live instance of a component holds: opaque text in JSON.
    Handle(Arc<HandleType>),
}

/// Which whole numbers a type holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are the WIT names")]
pub enum IntegerKind {
    S8,
    U8,
    S16,
    U16,
    S32,
    U32,
    S64,
    U64,
    /// Whole numbers of any size, kept exactly.
    Any,
}

impl IntegerKind {
    /// The smallest and the largest value, or `None` without bounds.
    #[must_use]
    pub fn bounds(self) -> Option<(i128, i128)> {
        Some(match self {
            Self::S8 => (i8::MIN.into(), i8::MAX.into()),
            Self::U8 => (0, u8::MAX.into()),
            Self::S16 => (i16::MIN.into(), i16::MAX.into()),
            Self::U16 => (0, u16::MAX.into()),
            Self::S32 => (i32::MIN.into(), i32::MAX.into()),
            Self::U32 => (0, u32::MAX.into()),
            Self::S64 => (i64::MIN.into(), i64::MAX.into()),
            Self::U64 => (0, u64::MAX.into()),
            Self::Any => return None,
        })
    }
}

/// A handle of a resource of a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandleType {
    /// The interface that the resource belongs to, as the component spells it.
    pub interface: String,
    /// The resource, in WIT kebab-case.
    pub resource: String,
    /// Which way it goes.
    pub passing: HandlePassing,
    /// The functions of the same component that give one, in declaration order, as shown.
    pub makers: Vec<String>,
}

/// Which way a handle goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandlePassing {
    /// A function takes it as a loan.
    Lent,
    /// A function takes it for good.
    GivenAway,
    /// A function gives it.
    Given,
}

impl HandleType {
    /// What models and people read of the handle.
    #[must_use]
    pub fn text(&self) -> String {
        let what = shown_name(&self.resource);
        let from = match self.makers.as_slice() {
            [] => String::new(),
            makers => {
                let makers = makers.iter().map(|maker| format!("`{maker}`"));
                format!(" from {}", listed(makers))
            }
        };
        match self.passing {
            HandlePassing::Lent => {
                format!("A handle of a `{what}`{from}; pass it on exactly as it was given.")
            }
            HandlePassing::GivenAway => format!(
                "A handle of a `{what}`{from}; the call takes it for good, and it cannot be used \
                 again."
            ),
            HandlePassing::Given => format!(
                "A handle of a `{what}`, for the functions that take one. `{what}_release` ends it."
            ),
        }
    }
}

/// A record: named fields in declaration order.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordType {
    /// The name of the type, where it has one.
    pub name: Option<String>,
    /// What the type is for.
    pub description: Option<String>,
    /// The fields in declaration order.
    pub fields: Vec<Field>,
}

/// A named value: a field of a record or the visible part of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// The name as shown.
    pub name: String,
    /// The type of the value.
    pub ty: Type,
    /// What the value is for.
    pub description: Option<String>,
    /// The allowed values, in the author's order; empty means any.
    pub options: Vec<Json>,
}

impl Field {
    /// A field without description and with every value allowed.
    pub fn new(name: impl Into<String>, ty: Type) -> Self {
        Self {
            name: name.into(),
            ty,
            description: None,
            options: Vec::new(),
        }
    }
}

/// A list of names: an enum or flags.
#[derive(Clone, Debug, PartialEq)]
pub struct CasesType {
    /// The name of the type, where it has one.
    pub name: Option<String>,
    /// What the type is for.
    pub description: Option<String>,
    /// The cases in declaration order.
    pub cases: Vec<Case>,
}

/// One case of an enum, flags or variant.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The name as shown.
    pub name: String,
    /// What the case means.
    pub description: Option<String>,
    /// The payload; always `None` for enums and flags.
    pub payload: Option<Type>,
}

/// A variant: one of a list of cases.
pub type VariantType = CasesType;
