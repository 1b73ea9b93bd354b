//! Functions and types on one line, in the words of WIT.

use openprogram_core::function::Function;
use openprogram_core::schema::{CasesType, IntegerKind, Type};

/// Deeper types are cut; the schema shows the whole.
const LEVELS_MAX: usize = 6;
/// Members of a type without a name that are shown.
const MEMBERS_MAX: usize = 12;

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
        Type::Tuple(items) => format!("tuple<{}>", joined(items.iter().map(of))),
        Type::Result(ok, error) => format!("result<{}, {}>", or_none(ok), or_none(error)),
        Type::Record(record) => record.name.clone().unwrap_or_else(|| {
            let fields = record.fields.iter();
            let fields = fields.map(|field| format!("{}: {}", field.name, of(&field.ty)));
            format!("record {{ {} }}", joined(fields))
        }),
        Type::Enum(cases) => named_or_cases("enum", cases, levels),
        Type::Flags(cases) => named_or_cases("flags", cases, levels),
        Type::Variant(cases) => named_or_cases("variant", cases, levels),
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
    cases.name.clone().unwrap_or_else(|| {
        let cases = cases.cases.iter().map(|case| match &case.payload {
            Some(payload) => format!("{}({})", case.name, text(payload, levels)),
            None => case.name.clone(),
        });
        format!("{kind} {{ {} }}", joined(cases))
    })
}

fn joined(items: impl Iterator<Item = String>) -> String {
    let mut items: Vec<_> = items.take(MEMBERS_MAX + 1).collect();
    if items.len() > MEMBERS_MAX {
        items.truncate(MEMBERS_MAX);
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
}
