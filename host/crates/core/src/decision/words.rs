//! Types in the words of a menu.

use std::fmt;

use crate::Json;
use crate::schema::{CasesType, Field, IntegerKind, Type, shown_name};
use crate::text::escape_json;

/// How many allowed values or cases a line lists.
const LISTED_MAX: usize = 50;
/// How many characters of one allowed value are shown.
const VALUE_CHARS: usize = 200;
/// How many types inside each other a line spells out.
const SPELLED_LEVELS_MAX: usize = 4;

/// The word for a type in the signature of a menu or in a form.
#[must_use]
pub fn signature_type(ty: &Type) -> &'static str {
    match ty {
        Type::Bool => "bool",
        Type::Integer(_) => "int",
        Type::Float32 | Type::Float64 => "float",
        Type::Char | Type::String | Type::Bytes | Type::Enum(_) | Type::Handle(_) => "str",
        Type::Json => "any",
        Type::AnyArray | Type::List(_) | Type::FixedList(..) | Type::Tuple(_) | Type::Flags(_) => {
            "list"
        }
        Type::AnyObject | Type::Map(..) | Type::Record(_) | Type::Result(..) => "dict",
        Type::Option(inner) if matches!(**inner, Type::Option(_)) => "dict",
        Type::Option(inner) => signature_type(inner),
        Type::Variant(cases) => {
            let with_payload = cases.cases.iter().filter(|case| case.payload.is_some());
            match with_payload.count() {
                0 => "str",
                count if count == cases.cases.len() => "dict",
                _ => "str | dict",
            }
        }
    }
}

/// What a line says about an argument or field besides its name and description.
pub(super) struct Facts<'a> {
    pub(super) field: &'a Field,
    pub(super) optional: bool,
    pub(super) default: Option<&'a Json>,
}

impl fmt::Display for Facts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&spelled(&self.field.ty, 0))?;
        if !self.field.options.is_empty() {
            let values = self.field.options.iter().map(value_in_words);
            write!(f, "; one of {}", listed(values))?;
        }
        match (self.optional, self.default) {
            (true, Some(default)) if !default.is_null() => {
                write!(f, "; optional, default {}", value_in_words(default))
            }
            (true, _) => f.write_str("; optional"),
            (false, _) => Ok(()),
        }
    }
}

fn spelled(ty: &Type, level: usize) -> String {
    if level == SPELLED_LEVELS_MAX {
        return signature_type(ty).to_owned();
    }
    let inner = |ty: &Type| spelled(ty, level + 1);
    match ty {
        Type::Integer(kind) => match kind {
            IntegerKind::S8 | IntegerKind::U8 | IntegerKind::S16 | IntegerKind::U16 => {
                let (low, high) = kind.bounds().unwrap_or_default();
                format!("int from {low} to {high}")
            }
            IntegerKind::U32 | IntegerKind::U64 => "int, 0 or more".to_owned(),
            IntegerKind::S32 | IntegerKind::S64 | IntegerKind::Any => "int".to_owned(),
        },
        Type::Char => "str, one character".to_owned(),
        Type::Bytes => "str, base64".to_owned(),
        Type::List(item) => format!("list of {}", inner(item)),
        Type::FixedList(item, length) => format!("list of exactly {length} {}", inner(item)),
        Type::Tuple(types) => {
            let types = listed(types.iter().map(inner));
            format!("list of exactly [{types}]")
        }
        Type::Map(_, value) => format!("dict of {} by name", inner(value)),
        Type::Option(some) if matches!(**some, Type::Option(_)) => {
            format!("null or {{\"some\": {}}}", inner(some))
        }
        Type::Option(some) if level > 0 => or_null(some, level),
        Type::Option(some) => spelled(some, level),
        Type::Result(ok, err) => {
            let payload =
                |ty: &Option<Box<Type>>| ty.as_deref().map_or_else(|| "null".to_owned(), inner);
            format!(
                "either {{\"ok\": {}}} or {{\"err\": {}}}",
                payload(ok),
                payload(err)
            )
        }
        Type::Enum(cases) => format!("str; one of {}", cases_in_words(cases, level)),
        Type::Flags(cases) => format!("list; any of {}", cases_in_words(cases, level)),
        Type::Variant(cases) => format!("one of {}", cases_in_words(cases, level)),
        Type::Handle(handle) => format!("str, a handle of a {}", shown_name(&handle.resource)),
        other => signature_type(other).to_owned(),
    }
}

fn or_null(ty: &Type, level: usize) -> String {
    format!("{} or null", spelled(ty, level + 1))
}

fn cases_in_words(cases: &CasesType, level: usize) -> String {
    listed(cases.cases.iter().map(|case| {
        let name = Json::from(case.name.as_str());
        match &case.payload {
            None => name.to_string(),
            Some(ty) => format!("{{{name}: {}}}", spelled(ty, level + 1)),
        }
    }))
}

fn value_in_words(value: &Json) -> String {
    clipped(&escape_json(&super::example::one_line(value)), VALUE_CHARS)
}

/// A list whose cut is visible.
fn listed(items: impl ExactSizeIterator<Item = String>) -> String {
    let count = items.len();
    let mut text = items.take(LISTED_MAX).collect::<Vec<_>>().join(", ");
    if count > LISTED_MAX {
        text.push_str(&format!(", … {} more", count - LISTED_MAX));
    }
    text
}

/// A text whose cut is visible.
pub(super) fn clipped(text: &str, characters: usize) -> String {
    let mut head: String = text.chars().take(characters).collect();
    if head.len() < text.len() {
        head.push_str(" … [cut]");
    }
    head
}

/// A text on one line, without control characters.
pub(super) fn one_paragraph(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    words
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}
