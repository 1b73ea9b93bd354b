//! Functions and types on one line, in the words of WIT.

use std::collections::HashSet;

use openprogram_core::function::{Function, ParameterSource};
use openprogram_core::schema::{CasesType, HandlePassing, IntegerKind, RecordType, Type};

/// Deeper types are cut; the schema shows the whole.
const LEVELS_MAX: usize = 6;
/// Members of a type without a name that are shown.
const MEMBERS_MAX: usize = 12;
/// Members of a type with a name that are shown; a person reads no further, the schema has all.
const NAMED_MEMBERS_MAX: usize = 64;
/// Types with a name that are shown; more are counted.
const NAMED_TYPES_MAX: usize = 200;

/// The full name, the visible parameters and the result.
pub(super) fn signature(function: &Function) -> String {
    let parameters = function.visible_parameters().map(|parameter| {
        let optional = if parameter.default.is_some() { "?" } else { "" };
        format!(
            "{}{optional}: {}",
            parameter.field.name,
            type_text(&parameter.field.ty)
        )
    });
    let parameters = parameters.collect::<Vec<_>>().join(", ");
    let result = match (&function.returns, &function.fails_with) {
        (None, None) => String::new(),
        (Some(ty), None) => format!(" -> {}", type_text(ty)),
        (ty, Some(error)) => {
            let ty = ty.as_ref().map_or_else(|| "_".to_owned(), type_text);
            format!(" -> result<{ty}, {}>", type_text(error))
        }
    };
    format!("{}({parameters}){result}", function.name)
}

/// A type on one line; a type with a name is its name.
pub(super) fn type_text(ty: &Type) -> String {
    text(ty, LEVELS_MAX)
}

fn text(ty: &Type, levels: usize) -> String {
    let Some(levels) = levels.checked_sub(1) else {
        return "…".to_owned();
    };
    let of = |ty: &Type| text(ty, levels);
    let or_none = |ty: &Option<Box<Type>>| ty.as_ref().map_or_else(|| "_".to_owned(), |ty| of(ty));
    match ty {
        Type::Bool => "bool".to_owned(),
        Type::Integer(kind) => integer(*kind).to_owned(),
        Type::Float32 => "f32".to_owned(),
        Type::Float64 => "f64".to_owned(),
        Type::Char => "char".to_owned(),
        Type::String => "string".to_owned(),
        Type::Bytes => "list<u8>".to_owned(),
        Type::Json => "json".to_owned(),
        Type::AnyArray => "array".to_owned(),
        Type::AnyObject => "object".to_owned(),
        Type::List(item) => format!("list<{}>", of(item)),
        Type::FixedList(item, length) => format!("list<{}, {length}>", of(item)),
        Type::Map(key, value) => format!("map<{}, {}>", of(key), of(value)),
        Type::Option(inner) => format!("option<{}>", of(inner)),
        Type::Tuple(items) => format!("tuple<{}>", joined(items.iter().map(of), MEMBERS_MAX)),
        Type::Result(ok, error) => format!("result<{}, {}>", or_none(ok), or_none(error)),
        Type::Record(record) => {
            let whole = || record_text("record", record, levels, MEMBERS_MAX);
            record.name.clone().unwrap_or_else(whole)
        }
        Type::Enum(cases) => named_or_cases("enum", cases, levels),
        Type::Flags(cases) => named_or_cases("flags", cases, levels),
        Type::Variant(cases) => named_or_cases("variant", cases, levels),
        Type::Handle(handle) => match handle.passing {
            HandlePassing::Lent => format!("borrow<{}>", handle.resource),
            HandlePassing::GivenAway | HandlePassing::Given => format!("own<{}>", handle.resource),
        },
    }
}

/// The types with a name that these functions take and give, hidden parameters included: each on
/// one line with its members, in the order in which they are met, and how many are left out.
pub(super) fn named_types(functions: &[Function]) -> (Vec<String>, usize) {
    let mut seen = NamedTypes::default();
    for function in functions {
        for parameter in &function.parameters {
            if !matches!(parameter.source, ParameterSource::Runtime(_)) {
                seen.visit(&parameter.field.ty);
            }
        }
        for ty in function.returns.iter().chain(&function.fails_with) {
            seen.visit(ty);
        }
    }
    (seen.lines, seen.n_left_out)
}

#[derive(Default)]
struct NamedTypes {
    seen: HashSet<String>,
    lines: Vec<String>,
    n_left_out: usize,
}

impl NamedTypes {
    fn visit(&mut self, ty: &Type) {
        match ty {
            Type::List(inner) | Type::FixedList(inner, _) | Type::Option(inner) => {
                self.visit(inner);
            }
            Type::Map(key, value) => {
                self.visit(key);
                self.visit(value);
            }
            Type::Tuple(items) => items.iter().for_each(|item| self.visit(item)),
            Type::Result(ok, error) => {
                let sides = ok.iter().chain(error);
                sides.for_each(|side| self.visit(side));
            }
            Type::Record(record) => {
                let line = record.name.as_ref().map(|name| {
                    let kind = format!("record {name}");
                    record_text(&kind, record, LEVELS_MAX, NAMED_MEMBERS_MAX)
                });
                if self.is_new(line) {
                    record.fields.iter().for_each(|field| self.visit(&field.ty));
                }
            }
            Type::Enum(cases) => self.visit_cases("enum", cases),
            Type::Flags(cases) => self.visit_cases("flags", cases),
            Type::Variant(cases) => self.visit_cases("variant", cases),
            _ => {}
        }
    }

    fn visit_cases(&mut self, kind: &str, cases: &CasesType) {
        let line = cases.name.as_ref().map(|name| {
            let kind = format!("{kind} {name}");
            cases_text(&kind, cases, LEVELS_MAX, NAMED_MEMBERS_MAX)
        });
        if self.is_new(line) {
            let payloads = cases.cases.iter().filter_map(|case| case.payload.as_ref());
            payloads.for_each(|payload| self.visit(payload));
        }
    }

    /// Takes note of the line of a type; whether its parts are to be looked at.
    fn is_new(&mut self, line: Option<String>) -> bool {
        let Some(line) = line else { return true };
        let is_new = self.seen.insert(line.clone());
        if is_new && self.lines.len() < NAMED_TYPES_MAX {
            self.lines.push(line);
        } else if is_new {
            self.n_left_out += 1;
        }
        is_new
    }
}

fn integer(kind: IntegerKind) -> &'static str {
    match kind {
        IntegerKind::S8 => "s8",
        IntegerKind::U8 => "u8",
        IntegerKind::S16 => "s16",
        IntegerKind::U16 => "u16",
        IntegerKind::S32 => "s32",
        IntegerKind::U32 => "u32",
        IntegerKind::S64 => "s64",
        IntegerKind::U64 => "u64",
        IntegerKind::Any => "integer",
    }
}

fn named_or_cases(kind: &str, cases: &CasesType, levels: usize) -> String {
    let whole = || cases_text(kind, cases, levels, MEMBERS_MAX);
    cases.name.clone().unwrap_or_else(whole)
}

fn record_text(kind: &str, record: &RecordType, levels: usize, most: usize) -> String {
    let fields = record.fields.iter();
    let fields = fields.map(|field| format!("{}: {}", field.name, text(&field.ty, levels)));
    format!("{kind} {{ {} }}", joined(fields, most))
}

fn cases_text(kind: &str, cases: &CasesType, levels: usize, most: usize) -> String {
    let cases = cases.cases.iter().map(|case| match &case.payload {
        Some(payload) => format!("{}({})", case.name, text(payload, levels)),
        None => case.name.clone(),
    });
    format!("{kind} {{ {} }}", joined(cases, most))
}

fn joined(items: impl Iterator<Item = String>, most: usize) -> String {
    let mut items: Vec<_> = items.take(most + 1).collect();
    if items.len() > most {
        items.truncate(most);
        items.push("…".to_owned());
    }
    items.join(", ")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use openprogram_core::schema::{Case, Field, RecordType};

    use super::*;

    fn boxed(ty: Type) -> Box<Type> {
        Box::new(ty)
    }

    fn cases(name: Option<&str>, payload: Option<Type>) -> Arc<CasesType> {
        Arc::new(CasesType {
            name: name.map(str::to_owned),
            description: None,
            cases: vec![Case {
                name: "red".to_owned(),
                description: None,
                payload,
            }],
        })
    }

    #[test]
    fn a_type_is_shown_in_the_words_of_wit() {
        let record = |name: Option<&str>| {
            Type::Record(Arc::new(RecordType {
                name: name.map(str::to_owned),
                description: None,
                fields: vec![Field::new("a", Type::Bool), Field::new("b", Type::Json)],
            }))
        };
        let mut deep = Type::Char;
        for _ in 0..1_000 {
            deep = Type::List(boxed(deep));
        }
        let wide = Type::Tuple(vec![Type::Bool; 1_000]);
        let wide_text = format!("tuple<{}…>", "bool, ".repeat(12));
        for (ty, shown) in [
            (Type::Option(boxed(Type::Bytes)), "option<list<u8>>"),
            (
                Type::Map(boxed(Type::String), boxed(Type::Float32)),
                "map<string, f32>",
            ),
            (
                Type::FixedList(boxed(Type::Integer(IntegerKind::U64)), 3),
                "list<u64, 3>",
            ),
            (
                Type::Result(None, Some(boxed(Type::String))),
                "result<_, string>",
            ),
            (record(Some("page")), "page"),
            (record(None), "record { a: bool, b: json }"),
            (Type::Enum(cases(Some("colour"), None)), "colour"),
            (
                Type::Variant(cases(None, Some(Type::Char))),
                "variant { red(char) }",
            ),
            (deep, "list<list<list<list<list<list<…>>>>>>"),
            (wide, wide_text.as_str()),
        ] {
            assert_eq!(type_text(&ty), shown);
        }
    }

    #[test]
    fn types_with_a_name_are_shown_once_with_their_members() {
        let colour = Type::Enum(cases(Some("colour"), None));
        let shape = Type::Variant(cases(Some("shape"), Some(colour.clone())));
        let page = |fields| {
            Type::Record(Arc::new(RecordType {
                name: Some("page".to_owned()),
                description: None,
                fields,
            }))
        };
        let fields = vec![
            Field::new("shapes", Type::List(boxed(shape))),
            Field::new("may", Type::Flags(cases(Some("rights"), None))),
        ];
        let mut seen = NamedTypes::default();
        seen.visit(&Type::Option(boxed(page(fields))));
        seen.visit(&Type::Result(None, Some(boxed(colour))));
        let expected = [
            "record page { shapes: list<shape>, may: rights }",
            "variant shape { red(colour) }",
            "enum colour { red }",
            "flags rights { red }",
        ];
        assert_eq!(
            (seen.lines, seen.n_left_out),
            (expected.map(str::to_owned).to_vec(), 0)
        );

        let mut many = NamedTypes::default();
        for n in 0..=NAMED_TYPES_MAX {
            many.visit(&page(vec![Field::new(format!("f{n}"), Type::Bool)]));
        }
        assert_eq!((many.lines.len(), many.n_left_out), (NAMED_TYPES_MAX, 1));
    }
}
