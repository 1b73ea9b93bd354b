//! A component in Python.

use std::fmt::Write as _;

use heck::{ToSnakeCase as _, ToUpperCamelCase as _};
use openprogram_core::Json;
use openprogram_core::schema::Type;

use super::Row;
use super::literal::{Part, bits, joined, part, quoted};

const HEAD: &str = "import math

from componentize_py_types import Err, Ok, Some
from wit_world import exports
from wit_world.exports import guest


def unfold(result):
    if isinstance(result, Err):
        raise result
    return result.value


";
const RESOURCE: &str = "class Thing(guest.Thing):
    def __init__(self, number):
        self.kept = number

    def number(self):
        return self.kept


";

/// The module of some rows.
pub(super) fn source(rows: &[Row], resource: bool) -> String {
    let mut text = String::from(HEAD);
    if resource {
        text.push_str(RESOURCE);
    }
    text.push_str("class Guest(exports.Guest):\n");
    if resource {
        text.push_str("    def take_thing(self, thing):\n        return thing.number()\n\n");
    }
    for row in rows {
        let names: Vec<_> = row
            .parameters
            .iter()
            .map(|f| f.name.to_snake_case())
            .collect();
        let gives = match names.as_slice() {
            [_] if row.fails => "unfold(value)".to_owned(),
            [] => "None".to_owned(),
            [only] => only.clone(),
            _ => format!("({})", names.join(", ")),
        };
        let takes: String = names.iter().map(|name| format!(", {name}")).collect();
        let name = row.same().to_snake_case();
        let _ = writeln!(
            text,
            "    def {name}(self{takes}):\n        return {gives}\n"
        );
        let Some(ty) = row.only().filter(|_| !row.extremes.is_empty()) else {
            continue;
        };
        let values = joined(row.extremes.iter().map(|value| literal(ty, value)));
        let chosen = format!("[{values}][number]");
        let chosen = if row.fails {
            format!("unfold({chosen})")
        } else {
            chosen
        };
        let name = row.made().to_snake_case();
        let _ = writeln!(
            text,
            "    def {name}(self, number):\n        return {chosen}\n"
        );
    }
    text
}

/// The name of a type or case; a word of the language has one more letter.
fn class(name: &str) -> String {
    name.to_upper_camel_case()
}

fn literal(ty: &Type, value: &Json) -> String {
    let inside = |(ty, value): (&Type, &Json)| literal(ty, value);
    match part(ty, value) {
        Part::Bool(true) => "True".to_owned(),
        Part::Bool(false) => "False".to_owned(),
        Part::Integer(digits) => digits.to_owned(),
        Part::Float32(value) => float(value.into()),
        Part::Float64(value) => float(value),
        Part::Char(value) => text(&value.to_string()),
        Part::Text(value) => text(&value),
        Part::Bytes(bytes) => format!("bytes({bytes:?})"),
        Part::List(items) => format!("[{}]", joined(items.into_iter().map(inside))),
        Part::Tuple(items) => {
            let items: String = items.into_iter().map(|item| inside(item) + ", ").collect();
            format!("({items})")
        }
        Part::Map(entries) => {
            let entry = |((key_type, key), inner): ((&Type, Json), _)| {
                format!("{}: {}", literal(key_type, &key), inside(inner))
            };
            format!("{{{}}}", joined(entries.into_iter().map(entry)))
        }
        Part::Absent => "None".to_owned(),
        Part::Present(inner, value) => match ty {
            Type::Option(twice) if matches!(**twice, Type::Option(_)) => {
                format!("Some({})", literal(inner, value))
            }
            _ => literal(inner, value),
        },
        Part::Result(is_ok, payload) => {
            let side = if is_ok { "Ok" } else { "Err" };
            format!(
                "{side}({})",
                payload.map_or_else(|| "None".to_owned(), inside)
            )
        }
        Part::Record(name, fields) => {
            let values = fields.into_iter().map(|(_, ty, value)| literal(ty, value));
            format!("guest.{}({})", class(name), joined(values))
        }
        Part::Enum(cases, at) => format!("guest.{}({at})", class(name_of(cases))),
        Part::Flags(cases, set) => format!("guest.{}({})", class(name_of(cases)), bits(&set)),
        Part::Variant(cases, at, payload) => {
            let case = class(&cases.cases[at].name);
            let payload = payload.map(inside).unwrap_or_default();
            format!("guest.{}_{case}({payload})", class(name_of(cases)))
        }
    }
}

fn name_of(cases: &openprogram_core::schema::CasesType) -> &str {
    cases.name.as_deref().unwrap_or_default()
}

fn float(value: f64) -> String {
    match value {
        value if value.is_nan() => "math.nan".to_owned(),
        value if value.is_infinite() => format!("{}math.inf", if value < 0.0 { "-" } else { "" }),
        value => format!("{value:?}"),
    }
}

fn text(text: &str) -> String {
    quoted(text, |c, shown| {
        let _ = write!(shown, "\\U{:08x}", u32::from(c));
    })
}
