//! A component in C, on what wit-bindgen generates.
//!
//! Names of types are never needed: the heads of the functions are those of the generated header, and
//! values are written part by part into the place for the result.

use std::fmt::Write as _;

use anyhow::{Context, Result};
use heck::ToSnakeCase as _;
use openprogram_core::Json;
use openprogram_core::schema::Type;

use super::Row;
use super::literal::{Part, bits, part};
use crate::toolchain::{Sources, c_bindings};

/// How the generated names of the functions begin.
const PREFIX: &str = "exports_test_kinds_guest_";

const RESOURCE: &str = "
struct exports_test_kinds_guest_thing_t { uint32_t number; };

exports_test_kinds_guest_own_thing_t exports_test_kinds_guest_constructor_thing(uint32_t number) {
  exports_test_kinds_guest_thing_t *thing = malloc(sizeof *thing);
  thing->number = number;
  return exports_test_kinds_guest_thing_new(thing);
}

uint32_t exports_test_kinds_guest_method_thing_number(
    exports_test_kinds_guest_borrow_thing_t self) {
  return self->number;
}

uint32_t exports_test_kinds_guest_take_thing(exports_test_kinds_guest_borrow_thing_t thing) {
  return thing->number;
}

void exports_test_kinds_guest_thing_destructor(exports_test_kinds_guest_thing_t *thing) {
  free(thing);
}
";

/// The source of some rows.
///
/// # Errors
/// When there are no bindings, or none for a function.
pub(super) fn source(sources: &Sources, rows: &[Row], resource: bool) -> Result<String> {
    let bindings = c_bindings(sources)?;
    let header = bindings.get("kinds.h").context("no header")?;
    let header = String::from_utf8_lossy(header);
    let mut text = String::from("#include \"kinds.h\"\n#include <math.h>\n#include <stdlib.h>\n");
    for row in rows {
        let head = Head::find(&header, &row.same())?;
        let _ = writeln!(text, "\n{} {{\n{}}}", head.text, head.give_back(row));
        if let Some(ty) = row.only().filter(|_| !row.extremes.is_empty()) {
            let head = Head::find(&header, &row.made())?;
            let _ = writeln!(text, "\n{} {{\n{}}}", head.text, head.choose(ty, row));
        }
    }
    if resource {
        text.push_str(RESOURCE);
    }
    Ok(text)
}

/// The head of a function as it was generated.
struct Head<'a> {
    text: &'a str,
    /// What it returns itself.
    returns: &'a str,
    /// Type and name of each parameter; those for results come last.
    parameters: Vec<(&'a str, &'a str)>,
}

impl<'a> Head<'a> {
    fn find(header: &'a str, function: &str) -> Result<Self> {
        let name = format!("{PREFIX}{}(", function.to_snake_case());
        let mut lines = header.lines();
        let line = lines.find_map(|line| {
            let line = line.strip_prefix("extern ").unwrap_or(line);
            let (before, after) = line.split_once(&name)?;
            Some((
                line.strip_suffix(';')?,
                before.trim(),
                after.strip_suffix(");")?,
            ))
        });
        let (text, returns, parameters) = line.with_context(|| format!("no `{name}`"))?;
        let parameters = parameters.split(", ").filter(|text| *text != "void");
        let parameters = parameters.map(|text| {
            let at = text.rfind([' ', '*']).map_or(0, |at| at + 1);
            (text[..at].trim(), &text[at..])
        });
        Ok(Self {
            text,
            returns,
            parameters: parameters.collect(),
        })
    }

    /// A parameter by its name, as a value.
    fn value(&self, name: &str) -> String {
        let mut known = self.parameters.iter();
        match known.find(|(_, known)| known.trim_start_matches("maybe_") == name) {
            Some((ty, name)) if ty.ends_with('*') => format!("(*{name})"),
            _ => name.to_owned(),
        }
    }

    /// The body that gives back what the function gets.
    fn give_back(&self, row: &Row) -> String {
        let names = row
            .parameters
            .iter()
            .map(|field| field.name.to_snake_case());
        let names: Vec<_> = names.collect();
        match (row.only(), names.as_slice()) {
            (_, []) => String::new(),
            (Some(ty), [only]) => match ty {
                Type::Option(_) => format!(
                    "  if (!maybe_{only}) return false;\n  *ret = *maybe_{only};\n  return true;\n"
                ),
                _ => self.give(ty, &self.value(only)),
            },
            (_, several) => {
                let each = several.iter().enumerate();
                each.map(|(at, name)| format!("  ret->f{at} = {};\n", self.value(name)))
                    .collect()
            }
        }
    }

    /// Gives a value that is complete.
    fn give(&self, ty: &Type, value: &str) -> String {
        match ty {
            Type::Option(_) => {
                format!("  if ({value}.is_some) *ret = {value}.val;\n  return {value}.is_some;\n")
            }
            Type::Result(ok, err)
                if self.parameters.iter().any(|(_, n)| n.starts_with("maybe_")) =>
            {
                panic!("{ok:?} {err:?}")
            }
            Type::Result(ok, err) => {
                let mut text = String::new();
                if err.is_some() {
                    let _ = writeln!(text, "  if ({value}.is_err) *err = {value}.val.err;");
                }
                if ok.is_some() {
                    let _ = writeln!(text, "  if (!{value}.is_err) *ret = {value}.val.ok;");
                }
                let _ = writeln!(text, "  return !{value}.is_err;");
                text
            }
            _ if self.returns == "void" => format!("  *ret = {value};\n"),
            _ => format!("  return {value};\n"),
        }
    }

    /// The body that gives one of the values that are built in.
    fn choose(&self, ty: &Type, row: &Row) -> String {
        let mut text = format!("  {} value;\n  switch (number) {{\n", self.value_type(ty));
        for (number, value) in row.extremes.iter().enumerate() {
            let _ = writeln!(text, "    case {number}:");
            set("value", ty, value, &mut text);
            text.push_str("      break;\n");
        }
        text.push_str("    default:\n      abort();\n  }\n");
        text.push_str(&self.give(ty, "value"));
        text
    }

    /// The type of a whole value, where a function takes it apart for its result.
    fn value_type(&self, ty: &Type) -> String {
        let of = |name: &str| {
            let mut known = self.parameters.iter();
            let found = known.find(|(_, known)| *known == name);
            found.map(|(ty, _)| ty.trim_end_matches(['*', ' ']))
        };
        match ty {
            Type::Option(_) => {
                let inner = of("ret").unwrap_or("bool");
                format!("struct {{ bool is_some; {inner} val; }}")
            }
            Type::Result(..) => {
                let side = |name| of(name).map(|ty| format!("{ty} {name}; "));
                let ok = side("ret").map(|text| text.replace(" ret;", " ok;"));
                let sides = ok.unwrap_or_default() + &side("err").unwrap_or_default();
                let sides = match sides.is_empty() {
                    true => String::new(),
                    false => format!("union {{ {sides}}} val; "),
                };
                format!("struct {{ bool is_err; {sides}}}")
            }
            _ => of("ret").unwrap_or(self.returns).to_owned(),
        }
    }
}

/// Writes a value into a place.
fn set(place: &str, ty: &Type, value: &Json, text: &mut String) {
    let mut line = |place: &str, value: &str| {
        let _ = writeln!(text, "      {place} = {value};");
    };
    match part(ty, value) {
        Part::Bool(value) => line(place, &value.to_string()),
        Part::Integer(digits) => line(place, &integer(digits)),
        Part::Float32(value) => line(place, &float(value.into())),
        Part::Float64(value) => line(place, &float(value)),
        Part::Char(value) => line(place, &u32::from(value).to_string()),
        Part::Text(value) => bytes(place, value.as_bytes(), text),
        Part::Bytes(value) => bytes(place, &value, text),
        Part::List(items) => {
            room(place, items.len(), text);
            for (at, (ty, item)) in items.into_iter().enumerate() {
                set(&format!("{place}.ptr[{at}]"), ty, item, text);
            }
        }
        Part::Map(entries) => {
            room(place, entries.len(), text);
            for (at, ((key_type, key), (inner, value))) in entries.into_iter().enumerate() {
                set(&format!("{place}.ptr[{at}].key"), key_type, &key, text);
                set(&format!("{place}.ptr[{at}].value"), inner, value, text);
            }
        }
        Part::Tuple(items) => {
            for (at, (ty, item)) in items.into_iter().enumerate() {
                set(&format!("{place}.f{at}"), ty, item, text);
            }
        }
        Part::Absent => line(&format!("{place}.is_some"), "false"),
        Part::Present(inner, value) => {
            line(&format!("{place}.is_some"), "true");
            set(&format!("{place}.val"), inner, value, text);
        }
        Part::Result(is_ok, payload) => {
            line(
                &format!("{place}.is_err"),
                if is_ok { "false" } else { "true" },
            );
            if let Some((ty, value)) = payload {
                let side = if is_ok { "ok" } else { "err" };
                set(&format!("{place}.val.{side}"), ty, value, text);
            }
        }
        Part::Record(_, fields) => {
            for (name, ty, value) in fields {
                set(
                    &format!("{place}.{}", name.to_snake_case()),
                    ty,
                    value,
                    text,
                );
            }
        }
        Part::Enum(_, at) => line(place, &at.to_string()),
        Part::Flags(_, flags) => line(place, &format!("{}u", bits(&flags))),
        Part::Variant(cases, at, payload) => {
            line(&format!("{place}.tag"), &at.to_string());
            if let Some((ty, value)) = payload {
                let name = cases.cases[at].name.to_snake_case();
                set(&format!("{place}.val.{name}"), ty, value, text);
            }
        }
    }
}

/// Memory for the items of a list or the bytes of a text.
fn room(place: &str, count: usize, text: &mut String) {
    let _ = writeln!(
        text,
        "      {place}.len = {count};\n      {place}.ptr = malloc({count} * sizeof *{place}.ptr);"
    );
}

fn bytes(place: &str, bytes: &[u8], text: &mut String) {
    room(place, bytes.len(), text);
    if !bytes.is_empty() {
        let each: String = bytes.iter().map(|byte| format!("\\{byte:03o}")).collect();
        let _ = writeln!(
            text,
            "      __builtin_memcpy({place}.ptr, \"{each}\", {});",
            bytes.len()
        );
    }
}

/// The smallest number has no literal of its own.
fn integer(digits: &str) -> String {
    match digits {
        "-9223372036854775808" => "(-9223372036854775807LL - 1)".to_owned(),
        digits if digits.starts_with('-') => format!("{digits}LL"),
        digits => format!("{digits}ULL"),
    }
}

fn float(value: f64) -> String {
    match value {
        value if value.is_nan() => "__builtin_nan(\"\")".to_owned(),
        value if value.is_infinite() => {
            format!("{}__builtin_inf()", if value < 0.0 { "-" } else { "" })
        }
        value => format!("{value:?}"),
    }
}
