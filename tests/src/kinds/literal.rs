//! What the sources of all languages share: parts of values, names.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openprogram_core::Json;
use openprogram_core::schema::{Case, CasesType, Type};

/// A value by its type, as sources write it.
pub(super) enum Part<'a> {
    Bool(bool),
    /// All digits.
    Integer(&'a str),
    Float32(f32),
    Float64(f64),
    Char(char),
    Text(String),
    Bytes(Vec<u8>),
    /// Also a list of fixed length.
    List(Vec<(&'a Type, &'a Json)>),
    Tuple(Vec<(&'a Type, &'a Json)>),
    Map(Vec<Entry<'a>>),
    Absent,
    Present(&'a Type, &'a Json),
    /// Whether it is ok, and the payload.
    Result(bool, Option<(&'a Type, &'a Json)>),
    /// The name of the type, and each field with its type and value.
    Record(&'a str, Vec<(&'a str, &'a Type, &'a Json)>),
    /// The type, and the number of the case.
    Enum(&'a CasesType, usize),
    /// The type, and which of its names are set.
    Flags(&'a CasesType, Vec<bool>),
    /// The type, the number of the case, and the payload.
    Variant(&'a CasesType, usize, Option<(&'a Type, &'a Json)>),
}

/// The type of a key and the key, and the type of a value and the value.
pub(super) type Entry<'a> = ((&'a Type, Json), (&'a Type, &'a Json));

/// What a field that is not there is.
const NULL: &Json = &Json::Null;

/// A value in canonical form, one level deep.
///
/// # Panics
/// When the value is not of its type.
pub(super) fn part<'a>(ty: &'a Type, value: &'a Json) -> Part<'a> {
    let array = || value.as_array().unwrap_or_else(|| mismatch(ty, value));
    let object = || value.as_object().unwrap_or_else(|| mismatch(ty, value));
    let text = || value.as_str().unwrap_or_else(|| mismatch(ty, value));
    match ty {
        Type::Bool => Part::Bool(value.as_bool().unwrap_or_else(|| mismatch(ty, value))),
        Type::Integer(_) => Part::Integer(
            value
                .as_number()
                .unwrap_or_else(|| mismatch(ty, value))
                .as_str(),
        ),
        Type::Float32 => {
            Part::Float32(float(value).parse().unwrap_or_else(|_| mismatch(ty, value)))
        }
        Type::Float64 => {
            Part::Float64(float(value).parse().unwrap_or_else(|_| mismatch(ty, value)))
        }
        Type::Char => Part::Char(text().chars().next().unwrap_or_else(|| mismatch(ty, value))),
        Type::String => Part::Text(text().to_owned()),
        Type::Json => Part::Text(value.to_string()),
        Type::Bytes => Part::Bytes(
            STANDARD
                .decode(text())
                .unwrap_or_else(|_| mismatch(ty, value)),
        ),
        Type::List(inner) | Type::FixedList(inner, _) => {
            Part::List(array().iter().map(|item| (&**inner, item)).collect())
        }
        Type::Tuple(types) => Part::Tuple(types.iter().zip(array()).collect()),
        Type::Map(key, inner) => {
            let of_key = |text: &String| match **key {
                Type::String | Type::Char => text.as_str().into(),
                _ => serde_json::from_str(text).unwrap_or_else(|_| mismatch(ty, value)),
            };
            let entries = object().iter();
            let entries = entries.map(|(name, value)| ((&**key, of_key(name)), (&**inner, value)));
            Part::Map(entries.collect())
        }
        _ => chosen_or_named(ty, value),
    }
}

/// The same of a value that is there or not, or has names for its parts.
fn chosen_or_named<'a>(ty: &'a Type, value: &'a Json) -> Part<'a> {
    let array = || value.as_array().unwrap_or_else(|| mismatch(ty, value));
    let object = || value.as_object().unwrap_or_else(|| mismatch(ty, value));
    let text = || value.as_str().unwrap_or_else(|| mismatch(ty, value));
    match ty {
        Type::Option(_) if value.is_null() => Part::Absent,
        Type::Option(inner) => match **inner {
            Type::Option(_) => Part::Present(inner, &value["some"]),
            _ => Part::Present(inner, value),
        },
        Type::Result(ok, err) => {
            let is_ok = object().contains_key("ok");
            let (side, ty) = if is_ok { ("ok", ok) } else { ("err", err) };
            Part::Result(is_ok, ty.as_deref().map(|ty| (ty, &value[side])))
        }
        Type::Record(record) => {
            let fields = record.fields.iter().map(|field| {
                let value = value.get(&field.name).unwrap_or(NULL);
                (field.name.as_str(), &field.ty, value)
            });
            Part::Record(record.name.as_deref().unwrap_or_default(), fields.collect())
        }
        Type::Enum(cases) => Part::Enum(cases, place(cases, text())),
        Type::Flags(cases) => {
            let set = |case: &Case| array().iter().any(|name| *name == *case.name);
            Part::Flags(cases, cases.cases.iter().map(set).collect())
        }
        Type::Variant(cases) => {
            let (name, payload) = match value {
                Json::String(name) => (name, None),
                _ => object()
                    .iter()
                    .next()
                    .map_or_else(|| mismatch(ty, value), |(n, p)| (n, Some(p))),
            };
            let at = place(cases, name);
            let ty = cases.cases[at].payload.as_ref();
            Part::Variant(cases, at, ty.zip(payload))
        }
        _ => mismatch(ty, value),
    }
}

fn mismatch<T>(ty: &Type, value: &Json) -> T {
    panic!("{value} is no {ty:?}")
}

fn place(cases: &CasesType, name: &str) -> usize {
    let at = cases.cases.iter().position(|case| case.name == name);
    at.unwrap_or_else(|| panic!("there is no case `{name}`"))
}

/// The text of a number that Rust reads.
fn float(value: &Json) -> String {
    match value {
        Json::String(word) => word.replace("Infinity", "inf"),
        other => other.to_string(),
    }
}

/// The bits of some flags.
pub(super) fn bits(set: &[bool]) -> u64 {
    let each = set.iter().enumerate();
    each.map(|(at, set)| u64::from(*set) << at).sum()
}

/// All of these, with commas.
pub(super) fn joined(parts: impl IntoIterator<Item = String>) -> String {
    parts.into_iter().collect::<Vec<_>>().join(", ")
}

/// Text between quotes, with what is not plain written by this.
pub(super) fn quoted(text: &str, escape: impl Fn(char, &mut String)) -> String {
    let mut shown = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                let _ = write!(shown, "\\{c}");
            }
            ' '..='~' => shown.push(c),
            _ => escape(c, &mut shown),
        }
    }
    shown.push('"');
    shown
}
