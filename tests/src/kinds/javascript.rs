//! A component in JavaScript: what both of its toolchains take.

use std::fmt::Write as _;

use heck::ToLowerCamelCase as _;
use openprogram_core::Json;
use openprogram_core::schema::{IntegerKind, Type};

use super::Row;
use super::literal::{Part, joined, part, quoted};

const RESOURCE: &str = "class Thing {
  constructor(number) {
    this.kept = number;
  }
  number() {
    return this.kept;
  }
}
";

/// The module of some rows.
pub(super) fn source(rows: &[Row], resource: bool) -> String {
    let mut functions = String::new();
    if resource {
        functions.push_str("  Thing,\n  takeThing: (thing) => thing.number(),\n");
    }
    for row in rows {
        let names = row.parameters.iter().map(|field| camel(&field.name));
        let names = joined(names);
        let gives = match row.parameters.as_slice() {
            [_] if row.fails => "unfold(value)".to_owned(),
            [] => "undefined".to_owned(),
            [_] => names.clone(),
            _ => format!("[{names}]"),
        };
        let _ = writeln!(functions, "  {}: ({names}) => {gives},", camel(&row.same()));
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
        let _ = writeln!(functions, "  {}: (number) => {chosen},", camel(&row.made()));
    }
    let resource = if resource { RESOURCE } else { "" };
    format!(
        "{resource}const unfold = (result) => {{\n  if (result.tag === 'err') throw result.val;\n  \
         return result.val;\n}};\n\nexport const guest = {{\n{functions}}};\n"
    )
}

fn camel(name: &str) -> String {
    name.to_lower_camel_case()
}

/// The name as WIT has it.
fn kebab(name: &str) -> String {
    name.replace('_', "-")
}

fn literal(ty: &Type, value: &Json) -> String {
    let inside = |(ty, value): (&Type, &Json)| literal(ty, value);
    let tagged = |tag: &str, payload: Option<(&Type, &Json)>| {
        let payload = payload.map(inside);
        let payload = payload.map_or_else(String::new, |val| format!(", val: {val}"));
        format!("{{ tag: '{tag}'{payload} }}")
    };
    match part(ty, value) {
        Part::Bool(value) => value.to_string(),
        Part::Integer(digits) => match ty {
            Type::Integer(IntegerKind::S64 | IntegerKind::U64) => format!("{digits}n"),
            _ => digits.to_owned(),
        },
        Part::Float32(value) => float(value.into()),
        Part::Float64(value) => float(value),
        Part::Char(value) => text(&value.to_string()),
        Part::Text(value) => text(&value),
        Part::Bytes(bytes) => format!("new Uint8Array({bytes:?})"),
        Part::List(items) | Part::Tuple(items) => {
            format!("[{}]", joined(items.into_iter().map(inside)))
        }
        Part::Map(entries) => {
            let entry = |((key_type, key), inner): ((&Type, Json), _)| {
                format!("[{}, {}]", literal(key_type, &key), inside(inner))
            };
            format!("new Map([{}])", joined(entries.into_iter().map(entry)))
        }
        Part::Absent => match ty {
            Type::Option(inner) if matches!(**inner, Type::Option(_)) => tagged("none", None),
            _ => "undefined".to_owned(),
        },
        Part::Present(inner, value) => match inner {
            Type::Option(_) => tagged("some", Some((inner, value))),
            _ => literal(inner, value),
        },
        Part::Result(is_ok, payload) => tagged(if is_ok { "ok" } else { "err" }, payload),
        Part::Record(_, fields) => {
            let field = |(name, ty, value): (&str, _, _)| {
                format!("{}: {}", camel(name), literal(ty, value))
            };
            format!("{{ {} }}", joined(fields.into_iter().map(field)))
        }
        Part::Enum(cases, at) => format!("'{}'", kebab(&cases.cases[at].name)),
        Part::Flags(cases, set) => {
            let each = cases.cases.iter().zip(set);
            let each = each.map(|(case, set)| format!("{}: {set}", camel(&case.name)));
            format!("{{ {} }}", joined(each))
        }
        Part::Variant(cases, at, payload) => tagged(&kebab(&cases.cases[at].name), payload),
    }
}

fn float(value: f64) -> String {
    match value {
        value if value.is_nan() => "NaN".to_owned(),
        value if value.is_infinite() => format!("{}Infinity", if value < 0.0 { "-" } else { "" }),
        value => format!("{value:?}"),
    }
}

fn text(text: &str) -> String {
    quoted(text, |c, shown| {
        let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
    })
}
