//! What does not fit a type, and where.

use openprogram_core::Json;
use openprogram_core::schema::{CasesType, RecordType, Type};
use serde_json::json;

use crate::fuzz::Random;
use crate::signatures::ValueMaker;

/// A value that is refused, however leniently it is read.
#[derive(Clone, Debug)]
pub struct Wrong {
    /// The value.
    pub value: Json,
    /// The path of what does not fit, from the value on: `.field`, `[0]`, or nothing.
    pub path: String,
}

/// Some wrong values of a type.
#[must_use]
pub fn wrong(ty: &Type, random: &mut Random) -> Vec<Wrong> {
    match ty {
        Type::Bool => whole(&[json!("maybe"), json!(1), json!(null), json!([true])]),
        Type::Integer(kind) => {
            let (low, high) = kind.bounds().unwrap_or_default();
            let outside = [low - 1, high + 1];
            let outside = outside.map(|n| serde_json::from_str(&n.to_string()).unwrap_or_default());
            let mut all = whole(&outside);
            all.extend(whole(&[
                json!("five"),
                json!("0x1"),
                json!(0.5),
                json!(true),
                json!(null),
            ]));
            all
        }
        Type::Float32 | Type::Float64 => {
            let huge: Json = serde_json::from_str("1e400").unwrap_or_default();
            whole(&[huge, json!("much"), json!("nan"), json!(true), json!([1])])
        }
        Type::Char => whole(&[
            json!(""),
            json!("ab"),
            json!("e\u{301}"),
            json!(7),
            json!(null),
        ]),
        Type::String => whole(&[json!(7), json!(true), json!(["a"]), json!({}), json!(null)]),
        Type::Bytes => {
            let mut all = whole(&[json!("***"), json!("A"), json!(null), json!({})]);
            all.extend([json!(256), json!(-1), json!("x")].map(|item| at(json!([item]), "[0]")));
            all
        }
        _ => wrong_inside(ty, random),
    }
}

fn whole(values: &[Json]) -> Vec<Wrong> {
    values.iter().cloned().map(here).collect()
}

/// The same of a type with others inside or with names.
fn wrong_inside(ty: &Type, random: &mut Random) -> Vec<Wrong> {
    match ty {
        Type::List(inner) => {
            let first = wrong(inner, random).into_iter();
            let mut all: Vec<_> = first
                .map(|w| at(json!([w.value]), &format!("[0]{}", w.path)))
                .collect();
            let good = ValueMaker::new(random, true).value(inner);
            let last = wrong(inner, random).into_iter().take(1);
            all.extend(last.map(|w| at(json!([good, w.value]), &format!("[1]{}", w.path))));
            all
        }
        Type::FixedList(inner, length) => {
            let mut maker = ValueMaker::new(random, true);
            let more = (0..=*length).map(|_| maker.value(inner)).collect();
            let fewer = (1..*length).map(|_| maker.value(inner)).collect();
            whole(&[more, fewer, json!("x"), json!(null)])
        }
        Type::Map(_, inner) => {
            let inside = wrong(inner, random).into_iter();
            // A number is a key of every type here.
            let mut all: Vec<_> = inside
                .map(|w| at(json!({"1": w.value}), &format!(".1{}", w.path)))
                .collect();
            all.extend(whole(&[json!([]), json!("x"), json!(null)]));
            all
        }
        // Null is none.
        Type::Option(inner) => {
            let inside = wrong(inner, random).into_iter();
            inside.filter(|wrong| !wrong.value.is_null()).collect()
        }
        Type::Tuple(types) => tuple(types, random),
        Type::Result(ok, err) => {
            let mut all = whole(&[json!({"neither": 1}), json!({}), json!("done"), json!(null)]);
            all.push(here(json!({"ok": null, "err": null})));
            for (side, ty) in [("ok", ok), ("err", err)] {
                let Some(ty) = ty else { continue };
                let inside = wrong(ty, random).into_iter().take(2);
                all.extend(
                    inside.map(|w| at(json!({side: w.value}), &format!(".{side}{}", w.path))),
                );
            }
            all
        }
        Type::Record(record) => fields(record, ty, random),
        Type::Enum(_) => whole(&[
            json!("no such"),
            json!(""),
            json!(0),
            json!(null),
            json!([]),
        ]),
        Type::Flags(cases) => {
            let mut all = whole(&[json!(3), json!({}), json!(null)]);
            all.push(at(json!(["no such"]), "[0]"));
            all.push(at(json!([cases.cases[0].name, 1]), "[1]"));
            all
        }
        Type::Variant(cases) => variant(cases, random),
        // Everything is JSON.
        _ => Vec::new(),
    }
}

fn fields(record: &RecordType, ty: &Type, random: &mut Random) -> Vec<Wrong> {
    let good = ValueMaker::new(random, true).value(ty);
    let mut all = whole(&[json!("x"), json!([1, 2]), json!(null)]);
    for field in &record.fields {
        let path = format!(".{}", field.name);
        if !matches!(field.ty, Type::Option(_)) {
            let mut without = good.clone();
            without.as_object_mut().map(|o| o.shift_remove(&field.name));
            all.push(at(without, &path));
        }
        for wrong in wrong(&field.ty, random).into_iter().take(2) {
            let mut with = good.clone();
            with[&field.name] = wrong.value;
            all.push(at(with, &format!("{path}{}", wrong.path)));
        }
    }
    all
}

fn tuple(types: &[Type], random: &mut Random) -> Vec<Wrong> {
    let good = ValueMaker::new(random, true).value(&Type::Tuple(types.to_vec()));
    let mut longer = good.as_array().cloned().unwrap_or_default();
    longer.push(json!(null));
    let mut all = vec![here(json!([])), here(longer.into()), here(json!({}))];
    for (index, ty) in types.iter().enumerate() {
        for wrong in wrong(ty, random).into_iter().take(2) {
            let mut with = good.clone();
            with[index] = wrong.value;
            all.push(at(with, &format!("[{index}]{}", wrong.path)));
        }
    }
    all
}

fn variant(cases: &CasesType, random: &mut Random) -> Vec<Wrong> {
    let values = [
        json!("no such"),
        json!({"no such": 1}),
        json!(null),
        json!(0),
        json!({}),
    ];
    let mut all: Vec<_> = values.into_iter().map(here).collect();
    for case in &cases.cases {
        let Some(ty) = &case.payload else {
            all.push(here(json!({case.name.as_str(): 1})));
            continue;
        };
        for wrong in wrong(ty, random).into_iter().take(2) {
            let path = format!(".{}{}", case.name, wrong.path);
            all.push(at(json!({case.name.as_str(): wrong.value}), &path));
        }
    }
    all
}

fn here(value: Json) -> Wrong {
    at(value, "")
}

fn at(value: Json, path: &str) -> Wrong {
    Wrong {
        value,
        path: path.to_owned(),
    }
}
