//! The same type and value without the forms that another implementation lacks.
//!
//! A map lies in memory as a list of pairs, a list of fixed length as a tuple, and `json` is text: a
//! function that takes one of them and gives the other back leaves memory as it is.

use std::sync::Arc;

use openprogram_core::schema::{Case, CasesType, Field, RecordType, Type};
use openprogram_core::{Json, JsonObject};

/// The plain form of a type; named types that change get another name.
#[must_use]
pub fn plain_type(ty: &Type) -> Type {
    let boxed = |ty: &Type| Box::new(plain_type(ty));
    match ty {
        Type::Json => Type::String,
        Type::Map(key, value) => {
            let pair = Type::Tuple(vec![plain_type(key), plain_type(value)]);
            Type::List(Box::new(pair))
        }
        Type::FixedList(inner, length) => {
            Type::Tuple((0..*length).map(|_| plain_type(inner)).collect())
        }
        Type::List(inner) => Type::List(boxed(inner)),
        Type::Option(inner) => Type::Option(boxed(inner)),
        Type::Tuple(types) => Type::Tuple(types.iter().map(plain_type).collect()),
        Type::Result(ok, err) => Type::Result(ok.as_deref().map(boxed), err.as_deref().map(boxed)),
        Type::Record(record) => {
            let fields = record.fields.iter();
            let fields = fields.map(|field| Field::new(field.name.clone(), plain_type(&field.ty)));
            let fields: Vec<_> = fields.collect();
            let changed = fields != record.fields;
            Type::Record(Arc::new(RecordType {
                name: other_name(record.name.as_ref(), changed),
                description: None,
                fields,
            }))
        }
        Type::Variant(cases) => {
            let plain = cases.cases.iter().map(|case| Case {
                payload: case.payload.as_ref().map(plain_type),
                ..case.clone()
            });
            let plain: Vec<_> = plain.collect();
            let changed = plain != cases.cases;
            Type::Variant(Arc::new(CasesType {
                name: other_name(cases.name.as_ref(), changed),
                description: None,
                cases: plain,
            }))
        }
        other => other.clone(),
    }
}

fn other_name(name: Option<&String>, changed: bool) -> Option<String> {
    name.map(|name| match changed {
        true => format!("{name}p"),
        false => name.clone(),
    })
}

/// The plain form of a value in canonical form.
#[must_use]
pub fn plain_value(ty: &Type, value: &Json) -> Json {
    match (ty, value) {
        (Type::Json, value) => value.to_string().into(),
        (Type::Map(key, inner), Json::Object(entries)) => {
            let entry = |(text, value): (&String, &Json)| {
                vec![key_of(key, text), plain_value(inner, value)]
            };
            entries.iter().map(entry).collect()
        }
        (Type::List(inner) | Type::FixedList(inner, _), Json::Array(items)) => {
            items.iter().map(|item| plain_value(inner, item)).collect()
        }
        (Type::Option(_), Json::Null) => Json::Null,
        (Type::Option(inner), Json::Object(some)) if matches!(**inner, Type::Option(_)) => {
            members(some, |_, value| plain_value(inner, value))
        }
        (Type::Option(inner), value) => plain_value(inner, value),
        (Type::Tuple(types), Json::Array(items)) => {
            let items = types.iter().zip(items);
            items.map(|(ty, item)| plain_value(ty, item)).collect()
        }
        (Type::Result(ok, err), Json::Object(sides)) => members(sides, |side, value| {
            let ty = if side == "ok" { ok } else { err };
            ty.as_ref().map_or(Json::Null, |ty| plain_value(ty, value))
        }),
        (Type::Record(record), Json::Object(fields)) => members(fields, |name, value| {
            let field = record.fields.iter().find(|field| field.name == name);
            field.map_or(Json::Null, |field| plain_value(&field.ty, value))
        }),
        (Type::Variant(cases), Json::Object(chosen)) => members(chosen, |name, value| {
            let case = cases.cases.iter().find(|case| case.name == name);
            let payload = case.and_then(|case| case.payload.as_ref());
            payload.map_or(Json::Null, |ty| plain_value(ty, value))
        }),
        (_, value) => value.clone(),
    }
}

fn members(object: &JsonObject, value: impl Fn(&str, &Json) -> Json) -> Json {
    let all = object.iter();
    let all = all.map(|(name, inner)| (name.clone(), value(name, inner)));
    Json::Object(all.collect())
}

/// The value that a key of a map stands for.
fn key_of(ty: &Type, text: &str) -> Json {
    match ty {
        Type::String | Type::Char => text.into(),
        _ => serde_json::from_str(text).unwrap_or(Json::Null),
    }
}

/// Whether two values of a type are the same to the last bit. Numbers may be written differently.
#[must_use]
pub fn same(ty: &Type, a: &Json, b: &Json) -> bool {
    let both = |items: &[Json], others: &[Json], same: &dyn Fn(usize, &Json, &Json) -> bool| {
        let pairs = items.iter().zip(others).enumerate();
        items.len() == others.len() && pairs.into_iter().all(|(n, (a, b))| same(n, a, b))
    };
    let same_members = |a: &JsonObject, b: &JsonObject, ty: &dyn Fn(&str) -> Option<Type>| {
        let pairs = a.iter().zip(b);
        let equal = |((name, a), (other, b)): ((&String, &Json), (&String, &Json))| {
            name == other && ty(name).map_or(a == b, |ty| same(&ty, a, b))
        };
        a.len() == b.len() && pairs.into_iter().all(equal)
    };
    match (ty, a, b) {
        (Type::Float32, Json::Number(a), Json::Number(b)) => {
            let bits = |text: &str| text.parse::<f32>().map(f32::to_bits);
            bits(a.as_str()) == bits(b.as_str())
        }
        (Type::Float64, Json::Number(a), Json::Number(b)) => {
            let bits = |text: &str| text.parse::<f64>().map(f64::to_bits);
            bits(a.as_str()) == bits(b.as_str())
        }
        (Type::List(inner) | Type::FixedList(inner, _), Json::Array(a), Json::Array(b)) => {
            both(a, b, &|_, a, b| same(inner, a, b))
        }
        (Type::Tuple(types), Json::Array(a), Json::Array(b)) => {
            types.len() == a.len() && both(a, b, &|n, a, b| same(&types[n], a, b))
        }
        (Type::Map(_, inner), Json::Object(a), Json::Object(b)) => {
            same_members(a, b, &|_| Some(Type::clone(inner)))
        }
        (Type::Option(inner), Json::Object(a), Json::Object(b))
            if matches!(**inner, Type::Option(_)) =>
        {
            same_members(a, b, &|_| Some(Type::clone(inner)))
        }
        (Type::Option(inner), a, b) => same(inner, a, b),
        (Type::Result(ok, err), Json::Object(a), Json::Object(b)) => same_members(a, b, &|side| {
            let ty = if side == "ok" { ok } else { err };
            ty.as_deref().cloned()
        }),
        (Type::Record(record), Json::Object(a), Json::Object(b)) => same_members(a, b, &|name| {
            let mut fields = record.fields.iter();
            fields
                .find(|field| field.name == name)
                .map(|f| f.ty.clone())
        }),
        (Type::Variant(cases), Json::Object(a), Json::Object(b)) => same_members(a, b, &|name| {
            let mut cases = cases.cases.iter();
            let case = cases.find(|case| case.name == name)?;
            case.payload.clone()
        }),
        (_, a, b) => a == b,
    }
}
