//! A component in Rust, by wit-bindgen alone.

use std::fmt::Write as _;

use heck::{ToSnakeCase as _, ToUpperCamelCase as _};
use openprogram_core::Json;
use openprogram_core::schema::{CasesType, Type};

use super::Row;
use super::literal::{Part, bits, joined, part};

const HEAD: &str = "wit_bindgen::generate!({ path: \"wit\", world: \"kinds\", generate_all });

use exports::test::kinds::guest::*;

struct Component;
export!(Component);

";
const RESOURCE: &str = "
struct Kept(u32);

impl GuestThing for Kept {
    fn new(number: u32) -> Self {
        Self(number)
    }

    fn number(&self) -> u32 {
        self.0
    }
}
";

/// The crate of some rows.
pub(super) fn source(rows: &[Row], resource: bool) -> String {
    let mut text = String::from(HEAD);
    text.push_str("impl Guest for Component {\n");
    if resource {
        text.push_str(
            "    type Thing = Kept;\n\n    fn take_thing(thing: ThingBorrow<'_>) -> u32 {\n",
        );
        text.push_str("        thing.get::<Kept>().0\n    }\n\n");
    }
    for row in rows {
        let mut takes = Vec::new();
        let mut names = Vec::new();
        for field in &row.parameters {
            let name = field.name.to_snake_case();
            takes.push(format!("{name}: {}", type_name(&field.ty)));
            names.push(name);
        }
        let gives = row
            .gives()
            .map_or_else(|| "()".to_owned(), |ty| type_name(&ty));
        let body = match names.as_slice() {
            [only] => only.clone(),
            names => format!("({})", names.join(", ")),
        };
        let name = row.same().to_snake_case();
        let takes = takes.join(", ");
        let _ = writeln!(
            text,
            "    fn {name}({takes}) -> {gives} {{\n        {body}\n    }}\n"
        );
        let Some(ty) = row.only().filter(|_| !row.extremes.is_empty()) else {
            continue;
        };
        let name = row.made().to_snake_case();
        let _ = writeln!(
            text,
            "    fn {name}(number: u32) -> {gives} {{\n        match number {{"
        );
        for (number, value) in row.extremes.iter().enumerate() {
            let _ = writeln!(text, "            {number} => {},", literal(ty, value));
        }
        text.push_str("            _ => unreachable!(),\n        }\n    }\n\n");
    }
    text.push_str("}\n");
    if resource {
        text.push_str(RESOURCE);
    }
    text
}

fn class(name: &str) -> String {
    name.to_upper_camel_case()
}

/// A field, whose name may be a word of the language.
fn field_name(name: &str) -> String {
    match name {
        "type" => "type_".to_owned(),
        other => other.to_snake_case(),
    }
}

fn type_name(ty: &Type) -> String {
    let side = |ty: &Option<Box<Type>>| ty.as_deref().map_or_else(|| "()".to_owned(), type_name);
    match ty {
        Type::Bool => "bool".to_owned(),
        Type::Integer(kind) => format!("{kind:?}").to_lowercase().replace('s', "i"),
        Type::Float32 => "f32".to_owned(),
        Type::Float64 => "f64".to_owned(),
        Type::Char => "char".to_owned(),
        Type::String | Type::Json | Type::AnyArray | Type::AnyObject => "String".to_owned(),
        Type::Bytes => "Vec<u8>".to_owned(),
        Type::List(inner) => format!("Vec<{}>", type_name(inner)),
        Type::FixedList(inner, length) => format!("[{}; {length}]", type_name(inner)),
        Type::Map(key, inner) => format!(
            "wit_bindgen::rt::Map<{}, {}>",
            type_name(key),
            type_name(inner)
        ),
        Type::Option(inner) => format!("Option<{}>", type_name(inner)),
        Type::Tuple(types) => {
            let types: String = types.iter().map(|ty| type_name(ty) + ", ").collect();
            format!("({types})")
        }
        Type::Result(ok, err) => format!("Result<{}, {}>", side(ok), side(err)),
        Type::Record(record) => class(record.name.as_deref().unwrap_or_default()),
        Type::Enum(cases) | Type::Flags(cases) | Type::Variant(cases) => class(name_of(cases)),
        Type::Handle(_) => unreachable!("no function of the table has resources"),
    }
}

fn name_of(cases: &CasesType) -> &str {
    cases.name.as_deref().unwrap_or_default()
}

fn literal(ty: &Type, value: &Json) -> String {
    let inside = |(ty, value): (&Type, &Json)| literal(ty, value);
    match part(ty, value) {
        Part::Bool(value) => value.to_string(),
        Part::Integer(digits) => digits.to_owned(),
        Part::Float32(value) => format!("f32::from_bits({})", value.to_bits()),
        Part::Float64(value) => format!("f64::from_bits({})", value.to_bits()),
        Part::Char(value) => format!("'\\u{{{:x}}}'", u32::from(value)),
        Part::Text(value) => format!("{value:?}.to_owned()"),
        Part::Bytes(bytes) => format!("vec!{bytes:?}"),
        Part::List(items) => {
            let vec = if matches!(ty, Type::List(_)) {
                "vec!"
            } else {
                ""
            };
            format!("{vec}[{}]", joined(items.into_iter().map(inside)))
        }
        Part::Tuple(items) => {
            let items: String = items.into_iter().map(|item| inside(item) + ", ").collect();
            format!("({items})")
        }
        Part::Map(entries) => {
            let entry = |((key_type, key), inner): ((&Type, Json), _)| {
                format!("({}, {})", literal(key_type, &key), inside(inner))
            };
            format!(
                "[{}].into_iter().collect()",
                joined(entries.into_iter().map(entry))
            )
        }
        Part::Absent => "None".to_owned(),
        Part::Present(inner, value) => format!("Some({})", literal(inner, value)),
        Part::Result(is_ok, payload) => {
            let side = if is_ok { "Ok" } else { "Err" };
            format!(
                "{side}({})",
                payload.map_or_else(|| "()".to_owned(), inside)
            )
        }
        named => named_literal(named),
    }
}

fn named_literal(part: Part<'_>) -> String {
    match part {
        Part::Record(name, fields) => {
            let field = |(name, ty, value): (&str, _, _)| {
                format!("{}: {}", field_name(name), literal(ty, value))
            };
            format!(
                "{} {{ {} }}",
                class(name),
                joined(fields.into_iter().map(field))
            )
        }
        Part::Enum(cases, at) => {
            format!(
                "{}::{}",
                class(name_of(cases)),
                class(&cases.cases[at].name)
            )
        }
        Part::Flags(cases, set) => {
            format!(
                "{}::from_bits_truncate({})",
                class(name_of(cases)),
                bits(&set)
            )
        }
        Part::Variant(cases, at, payload) => {
            let payload = payload
                .map(|(ty, value)| literal(ty, value))
                .map_or_else(String::new, |p| format!("({p})"));
            format!(
                "{}::{}{payload}",
                class(name_of(cases)),
                class(&cases.cases[at].name)
            )
        }
        _ => panic!("it has no names for its parts"),
    }
}
