//! The table of types, row by row, with the values at their ends: what is one value, or many of one
//! type.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openprogram_core::Json;
use openprogram_core::schema::{Case, CasesType, Field, IntegerKind, RecordType, Type};
use serde_json::json;

use super::rows_of_names::{names, newer, records, variants, wide};
use super::{Group, Row};

/// Text of several scripts and forms, with what is easily lost.
pub(super) const ODD_TEXT: &str = "a\0\"\\\r\n\u{7f} é e\u{301} 字 👩‍👧🏽 \u{202e}\u{feff}\u{10ffff}";

/// The rows of a group.
#[must_use]
pub fn rows(group: Group) -> Vec<Row> {
    match group {
        Group::Numbers => numbers(),
        Group::Texts => texts(),
        Group::Lists => lists(),
        Group::Options => options(),
        Group::Records => records(),
        Group::Names => names(),
        Group::Variants => variants(),
        Group::Wide => wide(),
        Group::Newer => newer(),
    }
}

pub(super) fn row(name: &'static str, ty: Type, extremes: &[Json]) -> Row {
    Row {
        name,
        parameters: vec![Field::new("value", ty)],
        extremes: extremes.to_vec(),
        fails: false,
    }
}

pub(super) fn boxed(ty: Type) -> Box<Type> {
    Box::new(ty)
}

pub(super) fn list(ty: Type) -> Type {
    Type::List(boxed(ty))
}

pub(super) fn option(ty: Type) -> Type {
    Type::Option(boxed(ty))
}

pub(super) fn u8_type() -> Type {
    Type::Integer(IntegerKind::U8)
}

pub(super) fn record(name: &str, fields: &[(&str, Type)]) -> Type {
    let fields = fields.iter();
    Type::Record(Arc::new(RecordType {
        name: Some(name.to_owned()),
        description: None,
        fields: fields
            .map(|(name, ty)| Field::new(*name, ty.clone()))
            .collect(),
    }))
}

pub(super) fn cases(name: &str, cases: &[(&str, Option<Type>)]) -> Arc<CasesType> {
    let case = |(name, payload): &(&str, Option<Type>)| Case {
        name: (*name).to_owned(),
        description: None,
        payload: payload.clone(),
    };
    Arc::new(CasesType {
        name: Some(name.to_owned()),
        description: None,
        cases: cases.iter().map(case).collect(),
    })
}

/// So many names, of enums and flags.
pub(super) fn many(name: &str, count: usize) -> Arc<CasesType> {
    let names: Vec<_> = (0..count).map(|n| format!("member_{n}")).collect();
    let members: Vec<_> = names.iter().map(|name| (name.as_str(), None)).collect();
    cases(name, &members)
}

fn numbers() -> Vec<Row> {
    use IntegerKind::{S8, S16, S32, S64, U8, U16, U32, U64};
    let kinds = [
        ("s8", S8),
        ("u8", U8),
        ("s16", S16),
        ("u16", U16),
        ("s32", S32),
        ("u32", U32),
        ("s64", S64),
        ("u64", U64),
    ];
    let integers = kinds.into_iter().map(|(name, kind)| {
        let (low, high) = kind.bounds().unwrap_or_default();
        let mut ends = vec![low, high, 0, 1];
        if high > 1 << 53 {
            // Neither is a whole number of a float.
            ends.extend([(1 << 53) + 1, high - 2]);
        }
        let ends = ends.iter().map(|end| number(&end.to_string()));
        row(name, Type::Integer(kind), &ends.collect::<Vec<_>>())
    });
    let bools = row("bool", Type::Bool, &[json!(true), json!(false)]);
    [bools].into_iter().chain(integers).collect()
}

/// A number with the digits that are written.
pub(super) fn number(text: &str) -> Json {
    serde_json::from_str(text).unwrap_or_default()
}

fn texts() -> Vec<Row> {
    let words = [json!("NaN"), json!("Infinity"), json!("-Infinity")];
    let with_words = |numbers: &[&str]| {
        let numbers = numbers.iter().map(|text| number(text));
        numbers.chain(words.clone()).collect::<Vec<_>>()
    };
    let narrow = with_words(&["0.0", "-0.0", "0.1", "3.4028235e38", "1e-45", "16777217"]);
    let wide = with_words(&[
        "0.0",
        "-0.0",
        "0.1",
        "1.7976931348623157e308",
        "5e-324",
        "9007199254740993",
    ]);
    let chars = ["\0", "a", "\"", "é", "\u{d7ff}", "\u{e000}", "\u{10ffff}"];
    let chars: Vec<_> = chars.map(Json::from).to_vec();
    let long = "長い ".repeat(1_000);
    vec![
        row("f32", Type::Float32, &narrow),
        row("f64", Type::Float64, &wide),
        row("char", Type::Char, &chars),
        row(
            "string",
            Type::String,
            &[json!(""), json!(ODD_TEXT), json!(long)],
        ),
    ]
}

fn lists() -> Vec<Row> {
    let all: Vec<u8> = (0..=255).collect();
    let deep = json!([[["", ODD_TEXT], []], [], [["a"]]]);
    let long: Vec<_> = (0..300).map(|n| format!("item {n}")).collect();
    let u64_list = list(Type::Integer(IntegerKind::U64));
    vec![
        row(
            "bytes",
            Type::Bytes,
            &[json!(""), json!(STANDARD.encode(all))],
        ),
        row(
            "strings",
            list(Type::String),
            &[json!([]), json!([""]), json!(long)],
        ),
        row(
            "deep-list",
            list(list(list(Type::String))),
            &[json!([]), deep],
        ),
        row(
            "u64-list",
            u64_list,
            &[json!([0, u64::MAX, (1_u64 << 53) + 1])],
        ),
        row("bool-list", list(Type::Bool), &[json!([true, false, true])]),
        row(
            "many-bytes",
            list(Type::Bytes),
            &[json!(["AA==", "", "/w=="])],
        ),
    ]
}

fn options() -> Vec<Row> {
    let u32_type = Type::Integer(IntegerKind::U32);
    let settings = record(
        "settings",
        &[
            ("depth", option(u8_type())),
            ("loud", option(option(Type::Bool))),
            ("words", option(list(Type::String))),
            ("name", Type::String),
        ],
    );
    let full = json!({"depth": 255, "loud": {"some": false}, "words": [], "name": ODD_TEXT});
    let states = [
        json!(null),
        json!({"some": null}),
        json!({"some": ODD_TEXT}),
    ];
    vec![
        row(
            "option",
            option(u32_type),
            &[json!(null), json!(0), json!(u32::MAX)],
        ),
        row(
            "option-text",
            option(Type::String),
            &[json!(null), json!("")],
        ),
        row("option-twice", option(option(Type::String)), &states),
        row(
            "option-list",
            option(list(option(u8_type()))),
            &[json!(null), json!([]), json!([null, 0, null])],
        ),
        row(
            "settings",
            settings,
            &[
                json!({"name": ""}),
                json!({"loud": {"some": null}, "name": "n"}),
                full,
            ],
        ),
    ]
}
