//! The rest of the table: what has names for its parts, and what is wide, deep or new.

use std::sync::Arc;

use openprogram_core::Json;
use openprogram_core::schema::{CasesType, Field, IntegerKind, Type};
use serde_json::json;

use super::Row;
use super::rows::{ODD_TEXT, boxed, cases, list, many, number, option, record, row, u8_type};

fn point() -> Type {
    record(
        "point",
        &[
            ("x", Type::Integer(IntegerKind::S32)),
            ("type", option(Type::String)),
            ("far_away", Type::Float64),
        ],
    )
}

pub(super) fn records() -> Vec<Row> {
    let line = record("line", &[("from_here", point()), ("list", list(point()))]);
    let here = json!({"x": i32::MIN, "type": ODD_TEXT, "far_away": -0.0});
    let there = json!({"x": i32::MAX, "far_away": "NaN"});
    let tuple = Type::Tuple(vec![u8_type(), Type::String, point()]);
    vec![
        row("point", point(), &[here.clone(), there.clone()]),
        row(
            "line",
            line,
            &[
                json!({"from_here": here, "list": []}),
                json!({"from_here": there, "list": [here, there]}),
            ],
        ),
        row("tuple", tuple, &[json!([255, "", here])]),
        row(
            "tuple-of-one",
            Type::Tuple(vec![Type::Char]),
            &[json!(["é"])],
        ),
        row(
            "tuples",
            list(Type::Tuple(vec![Type::Bool, Type::Float32])),
            &[json!([[true, 0.1]])],
        ),
    ]
}

pub(super) fn names() -> Vec<Row> {
    let colours = [
        ("red", None),
        ("dark_blue", None),
        ("class", None),
        ("http2", None),
    ];
    let colour = cases("colour", &colours);
    let all = |cases: &CasesType| -> Json {
        let names = cases.cases.iter().map(|case| case.name.as_str());
        names.map(Json::from).collect()
    };
    let marks = cases(
        "marks",
        &[("bold", None), ("very_wide", None), ("for", None)],
    );
    let flags = many("many-flags", 32);
    vec![
        row(
            "enum",
            Type::Enum(Arc::clone(&colour)),
            &[json!("red"), json!("http2")],
        ),
        row(
            "enums",
            list(Type::Enum(Arc::clone(&colour))),
            &[all(&colour)],
        ),
        row(
            "many-cases",
            Type::Enum(many("many-cases", 300)),
            &[json!("member_299")],
        ),
        row(
            "flags",
            Type::Flags(Arc::clone(&marks)),
            &[json!([]), all(&marks)],
        ),
        row(
            "many-flags",
            Type::Flags(Arc::clone(&flags)),
            &[json!([]), json!(["member_31"]), all(&flags)],
        ),
    ]
}

pub(super) fn variants() -> Vec<Row> {
    let shape = Type::Variant(cases(
        "shape",
        &[
            ("empty", None),
            ("circle", Some(Type::Float64)),
            ("open_line", Some(list(point()))),
            ("text", Some(Type::String)),
            ("maybe", Some(option(u8_type()))),
        ],
    ));
    let sides = |ok: Option<Type>, err: Option<Type>| Type::Result(ok.map(boxed), err.map(boxed));
    let number = sides(Some(u8_type()), Some(Type::String));
    let shapes = [
        json!("empty"),
        json!({"circle": "-Infinity"}),
        json!({"open_line": [{"x": 0, "far_away": 0.5}]}),
        json!({"text": ODD_TEXT}),
        json!({"maybe": null}),
    ];
    let fails = |name, ty, extremes: &[Json]| Row {
        fails: true,
        ..row(name, ty, extremes)
    };
    vec![
        row("shape", shape.clone(), &shapes),
        row(
            "results",
            list(number.clone()),
            &[
                json!([]),
                json!([{"ok": 255}, {"err": ""}, {"err": ODD_TEXT}]),
            ],
        ),
        row(
            "units",
            list(sides(None, None)),
            &[json!([{"ok": null}, {"err": null}])],
        ),
        row(
            "halves",
            Type::Tuple(vec![
                sides(None, Some(shape.clone())),
                sides(Some(shape), None),
            ]),
            &[json!([{"err": "empty"}, {"ok": {"circle": 1.5}}])],
        ),
        fails(
            "number-or",
            number,
            &[json!({"ok": 7}), json!({"err": ODD_TEXT})],
        ),
        fails(
            "or",
            sides(None, None),
            &[json!({"ok": null}), json!({"err": null})],
        ),
    ]
}

pub(super) fn wide() -> Vec<Row> {
    let mut deep = Type::String;
    let mut value = json!(ODD_TEXT);
    for level in 0..9 {
        let name = format!("level{level}");
        deep = record(&name, &[("below", list(deep)), ("depth", u8_type())]);
        value = json!({"below": [value], "depth": level});
    }
    let fields = (0..50).map(|n| (format!("field_{n}"), u8_type()));
    let fields: Vec<_> = fields.collect();
    let names: Vec<_> = fields
        .iter()
        .map(|(n, ty)| (n.as_str(), ty.clone()))
        .collect();
    let broad: serde_json::Map<_, _> = fields.iter().map(|(n, _)| (n.clone(), json!(9))).collect();
    let mut several = Vec::new();
    for n in 0..6 {
        several.push(Field::new(format!("a{n}"), Type::Integer(IntegerKind::U64)));
        several.push(Field::new(format!("the_text_{n}"), Type::String));
        several.push(Field::new(format!("f{n}"), Type::Float64));
    }
    let any = json!({"a": [null, true, "x", {"": 0}], "b": number("0.10")});
    vec![
        row("json", Type::Json, &[any, json!([]), json!("text")]),
        row("deep", deep, &[value]),
        row("broad", record("broad", &names), &[Json::Object(broad)]),
        Row {
            name: "several",
            parameters: several,
            extremes: Vec::new(),
            fails: false,
        },
        Row {
            name: "nothing",
            parameters: Vec::new(),
            extremes: Vec::new(),
            fails: false,
        },
    ]
}

pub(super) fn newer() -> Vec<Row> {
    let map = |key, value| Type::Map(boxed(key), boxed(value));
    let numbers = map(Type::String, Type::Integer(IntegerKind::U32));
    let by_number = map(Type::Integer(IntegerKind::S64), list(Type::String));
    let pair = Type::FixedList(boxed(point()), 2);
    let both = json!([{"x": 1, "type": ODD_TEXT, "far_away": 0.5}, {"x": 2, "far_away": 0.25}]);
    vec![
        row(
            "map",
            numbers,
            &[json!({}), json!({"": 0, "a b": u32::MAX})],
        ),
        row(
            "map-by-number",
            by_number,
            &[json!({}), json!({"-9223372036854775808": ["", ODD_TEXT]})],
        ),
        row(
            "fixed",
            Type::FixedList(boxed(Type::Integer(IntegerKind::U16)), 3),
            &[json!([0, 1, 65535])],
        ),
        row("fixed-records", pair, &[both]),
    ]
}
