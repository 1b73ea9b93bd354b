//! Whatever canonical JSON goes in comes out the same, for every type there is.

use std::sync::Arc;

use openprogram_core::schema::{Case, CasesType, Field, IntegerKind, RecordType, Type};
use openprogram_core::{Json, JsonObject};
use proptest::prelude::*;

use super::{NoHandles, Output, OutputError, argument, result};
use crate::limits::Limits;

fn cases(payloads: Vec<Option<Type>>) -> Arc<CasesType> {
    let case = |(index, payload)| Case {
        name: format!("case_{}", ["a", "b_c", "d"][index]),
        description: None,
        payload,
    };
    Arc::new(CasesType {
        name: None,
        description: None,
        cases: payloads.into_iter().enumerate().map(case).collect(),
    })
}

fn record(types: Vec<Type>) -> Type {
    let field = |(index, ty)| Field::new(format!("f_{index}x"), ty);
    Type::Record(Arc::new(RecordType {
        name: None,
        description: None,
        fields: types.into_iter().enumerate().map(field).collect(),
    }))
}

/// A type together with a value of it in canonical form.
type Typed = (Type, Json);

fn scalar() -> impl Strategy<Value = Typed> {
    let integer = |kind, value: Json| (Type::Integer(kind), value);
    prop_oneof![
        any::<bool>().prop_map(|v| (Type::Bool, v.into())),
        any::<i8>().prop_map(move |v| integer(IntegerKind::S8, v.into())),
        any::<u8>().prop_map(move |v| integer(IntegerKind::U8, v.into())),
        any::<i16>().prop_map(move |v| integer(IntegerKind::S16, v.into())),
        any::<u16>().prop_map(move |v| integer(IntegerKind::U16, v.into())),
        any::<i32>().prop_map(move |v| integer(IntegerKind::S32, v.into())),
        any::<u32>().prop_map(move |v| integer(IntegerKind::U32, v.into())),
        any::<i64>().prop_map(move |v| integer(IntegerKind::S64, v.into())),
        any::<u64>().prop_map(move |v| integer(IntegerKind::U64, v.into())),
        any::<f32>().prop_map(|v| (Type::Float32, finite(v.is_finite(), v.into(), v.into()))),
        any::<f64>().prop_map(|v| (Type::Float64, finite(v.is_finite(), v.into(), v))),
        any::<char>().prop_map(|v| (Type::Char, v.to_string().into())),
        any::<String>().prop_map(|v| (Type::String, v.into())),
        any::<Vec<u8>>().prop_map(|v| (Type::Bytes, super::encode_bytes(&v).into())),
        any::<String>().prop_map(|v| (Type::Json, vec![Json::from(v), Json::Null].into())),
        (0..3_usize).prop_map(|index| {
            let name = ["case_a", "case_b_c", "case_d"][index];
            (Type::Enum(cases(vec![None, None, None])), name.into())
        }),
        any::<[bool; 3]>().prop_map(|set| {
            let names = ["case_a", "case_b_c", "case_d"].into_iter().zip(set);
            let names = names.filter(|(_, set)| *set).map(|(name, _)| name);
            (Type::Flags(cases(vec![None, None, None])), names.collect())
        }),
    ]
}

/// The value, or the word for what JSON numbers cannot say.
fn finite(is_finite: bool, value: Json, number: f64) -> Json {
    match number {
        _ if is_finite => value,
        number if number.is_nan() => "NaN".into(),
        number if number > 0.0 => "Infinity".into(),
        _ => "-Infinity".into(),
    }
}

fn object(key: &str, value: Json) -> Json {
    let mut object = JsonObject::new();
    object.insert(key.to_owned(), value);
    Json::Object(object)
}

fn option((ty, value): Typed) -> Typed {
    let value = match (&ty, value) {
        (Type::Option(_), value) => object("some", value),
        (_, value) => value,
    };
    (Type::Option(Box::new(ty)), value)
}

fn fields(typed: Vec<Typed>) -> Typed {
    let mut object = JsonObject::new();
    for (index, (ty, value)) in typed.iter().enumerate() {
        if !(matches!(ty, Type::Option(_)) && value.is_null()) {
            object.insert(format!("f_{index}x"), value.clone());
        }
    }
    let types = typed.into_iter().map(|(ty, _)| ty).collect();
    (record(types), Json::Object(object))
}

fn typed() -> impl Strategy<Value = Typed> {
    scalar().prop_recursive(4, 32, 4, |inner| {
        let some = inner.clone();
        prop_oneof![
            (inner.clone(), 0..3_usize)
                .prop_map(|((ty, value), n)| { (Type::List(Box::new(ty)), vec![value; n].into()) }),
            (inner.clone(), 0..3_u32).prop_map(|((ty, value), n)| {
                let ty = Type::FixedList(Box::new(ty), n);
                (ty, vec![value; n as usize].into())
            }),
            (inner.clone(), any::<String>()).prop_map(|((ty, value), key)| {
                let ty = Type::Map(Box::new(Type::String), Box::new(ty));
                (ty, object(&key, value))
            }),
            (inner.clone(), any::<u64>()).prop_map(|((ty, value), key)| {
                let key_type = Type::Integer(IntegerKind::U64);
                let ty = Type::Map(Box::new(key_type), Box::new(ty));
                (ty, object(&key.to_string(), value))
            }),
            some.prop_map(option),
            inner
                .clone()
                .prop_map(|(ty, _)| (Type::Option(Box::new(ty)), Json::Null)),
            prop::collection::vec(inner.clone(), 0..4).prop_map(|typed| {
                let (types, values): (Vec<_>, Vec<_>) = typed.into_iter().unzip();
                (Type::Tuple(types), Json::Array(values))
            }),
            prop::collection::vec(inner.clone(), 0..4).prop_map(fields),
            (inner.clone(), any::<bool>()).prop_map(|((ty, value), ok)| {
                let (side, ok, err) = match ok {
                    true => ("ok", Some(Box::new(ty)), None),
                    false => ("err", None, Some(Box::new(ty))),
                };
                (Type::Result(ok, err), object(side, value))
            }),
            inner.prop_map(|(ty, value)| {
                let ty = Type::Variant(cases(vec![None, Some(ty)]));
                (ty, object("case_b_c", value))
            }),
        ]
    })
}

/// Whether a value under an option cannot be told from none: `json` holds null itself.
fn is_ambiguous(ty: &Type, value: &Json) -> bool {
    value.is_null() && matches!(ty, Type::Json)
}

proptest! {
    #[test]
    fn canonical_json_comes_back(typed in typed()) {
        let (ty, value) = typed;
        prop_assume!(!is_ambiguous(&ty, &value));
        let val = argument("v", Some(&value), &ty, 64, &NoHandles);
        let val = val.map_err(|error| TestCaseError::fail(format!("{error:?}")))?;
        let mut output = Output::new(&Limits::default());
        prop_assert_eq!(result(val, &ty, &mut output), Ok(value));
    }

    #[test]
    fn any_json_against_any_type_is_a_value_or_an_error(typed in typed(), other in typed_value()) {
        let _ = argument("v", Some(&other), &typed.0, 64, &NoHandles);
    }

    #[test]
    fn what_is_paid_covers_what_is_written(typed in typed()) {
        let (ty, value) = typed;
        let written = value.to_string().len() as u64;
        if let Ok(val) = argument("v", Some(&value), &ty, 64, &NoHandles) {
            let limits = Limits { result_bytes: written / 16, ..Limits::default() };
            let mut output = Output::new(&limits);
            let paid = result(val, &ty, &mut output);
            prop_assert!(written < 64 || matches!(paid, Err(OutputError::Limit(_))), "{paid:?}");
        }
    }
}

fn typed_value() -> impl Strategy<Value = Json> {
    typed().prop_map(|(_, value)| value)
}

#[test]
fn an_option_of_an_option_keeps_its_three_states() {
    let ty = Type::Option(Box::new(Type::Option(Box::new(Type::String))));
    for (given, back) in [
        ("null", "null"),
        (r#"{"some":null}"#, r#"{"some":null}"#),
        (r#"{"some":"a"}"#, r#"{"some":"a"}"#),
        (r#""a""#, r#"{"some":"a"}"#),
    ] {
        let val = argument(
            "v",
            Some(&serde_json::from_str(given).unwrap()),
            &ty,
            64,
            &NoHandles,
        )
        .unwrap();
        let shown = result(val, &ty, &mut Output::new(&Limits::default()));
        assert_eq!(shown.map(|json| json.to_string()), Ok(back.to_owned()));
    }
}

#[test]
fn json_that_is_too_deep_or_broken_is_refused_both_ways() {
    let deep = format!("{}{}", "[".repeat(65), "]".repeat(65));
    let value: Json = serde_json::from_str(&deep).unwrap();
    let refused = argument("v", Some(&value), &Type::Json, 64, &NoHandles).unwrap_err();
    assert_eq!(
        (refused.path.as_str(), refused.message.as_str()),
        ("v", "nested deeper than 64 levels")
    );
    let limits = Limits::default();
    let back = |text: &str| {
        let val = wasmtime::component::Val::String(text.to_owned());
        result(val, &Type::Json, &mut Output::new(&limits))
    };
    for text in [deep.as_str(), &"[".repeat(100_000)] {
        assert!(
            matches!(back(text), Err(OutputError::Limit(reached)) if reached.which == "json_depth")
        );
    }
    assert!(matches!(back("{"), Err(OutputError::Invalid(_))));
}
