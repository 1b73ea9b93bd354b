//! Types as schemas and literals as schemas: what is written, and what is read back.

use std::collections::BTreeMap;

use openprogram_guest::decision::{Choice, Fields, Schema};
use openprogram_guest::{Failure, Json, Value, json, schema};

/// A trip.
///
/// With everything that a field can be.
#[derive(Debug, PartialEq, Schema)]
struct Trip {
    /// Where to.
    to: String,
    days: u8,
    cost: Option<f64>,
    #[schema(options = ["train", "bus"])]
    by: Vec<String>,
    stops: Vec<Stop>,
    notes: BTreeMap<String, Option<Stop>>,
    mood: Mood,
    end: End,
    r#type: char,
    extra: Json,
}

#[derive(Debug, PartialEq, Schema)]
struct Stop {
    items: Vec<bool>,
}

/// How it feels.
#[derive(Clone, Copy, Debug, PartialEq, Schema, Choice)]
enum Mood {
    /// All is well.
    VeryCalm,
    Tense,
}

#[derive(Debug, PartialEq, Schema, Choice)]
enum End {
    Open,
    /// Somebody knows.
    Known {
        by: String,
        since: Option<u32>,
    },
    At(Stop),
}

#[test]
fn a_type_is_a_schema_with_its_documentation() {
    let stop = json!({"fields": {"items": {"items": {"type": "bool"}}}});
    assert_eq!(
        Trip::DESCRIPTION,
        "A trip.\n\nWith everything that a field can be."
    );
    assert_eq!(
        Trip::fields(),
        json!({
            "to": {"type": "str", "description": "Where to."},
            "days": {"type": "u8"},
            "cost": {"$t": "option", "of": {"type": "f64"}},
            "by": {"items": {"type": "str", "options": ["train", "bus"]}},
            "stops": {"items": stop},
            "notes": {"$t": "map", "of": {"$t": "option", "of": stop}},
            "mood": {
                "$t": "enum",
                "cases": {"very_calm": "All is well.", "tense": null},
                "description": "How it feels.",
            },
            "end": {"$t": "variant", "cases": {
                "open": null,
                "known": {"description": "Somebody knows.", "of": {"fields": {
                    "by": {"type": "str"},
                    "since": {"$t": "option", "of": {"type": "u32"}},
                }}},
                "at": {"of": stop},
            }},
            "type": {"type": "char"},
            "extra": {"type": "json"},
        })
    );
}

fn picked() -> Value {
    json!({
        "to": "Oslo", "days": 3, "by": ["bus"], "stops": [{"items": [true]}],
        "notes": {"a": null, "b": {"items": []}}, "mood": "tense",
        "end": {"known": {"by": "Ada"}}, "type": "x", "extra": {"n": 1},
    })
}

#[test]
fn a_pick_is_read_back_as_the_type() {
    let stop = |items: &[bool]| Stop {
        items: items.to_vec(),
    };
    let notes = [("a".to_owned(), None), ("b".to_owned(), Some(stop(&[])))];
    let trip = Trip {
        to: "Oslo".to_owned(),
        days: 3,
        cost: None,
        by: vec!["bus".to_owned()],
        stops: vec![stop(&[true])],
        notes: BTreeMap::from(notes),
        mood: Mood::Tense,
        end: End::Known {
            by: "Ada".to_owned(),
            since: None,
        },
        r#type: 'x',
        extra: json!({"n": 1}).into(),
    };
    assert_eq!(Trip::read(picked(), "trip"), Ok(trip));
    for (key, value, expected) in [
        (
            "days",
            json!(256),
            "`trip.days`: expected an integer, got a number",
        ),
        (
            "days",
            Value::Null,
            "`trip.days`: expected an integer, got null",
        ),
        ("stops", json!([{}]), "`trip.stops[0].items` is missing"),
        (
            "notes",
            json!({"a": 1}),
            "`trip.notes.a`: expected an object, got a number",
        ),
        ("mood", json!("glad"), "`trip.mood` has no case `glad`"),
        (
            "end",
            json!({"known": 1}),
            "`trip.end`: expected an object, got a number",
        ),
        (
            "end",
            json!([]),
            "`trip.end`: expected a case, got an array",
        ),
        (
            "type",
            json!("xy"),
            "`trip.type`: expected one character, got a string",
        ),
    ] {
        let mut value_of_trip = picked();
        value_of_trip[key] = value;
        let failure = Trip::read(value_of_trip, "trip").unwrap_err();
        assert_eq!(failure.message(), expected);
        assert_eq!(failure.code(), "invalid-argument");
    }
    let mut without = picked();
    without.as_object_mut().unwrap().remove("to");
    assert_eq!(
        Trip::read(without, "trip").unwrap_err().message(),
        "`trip.to` is missing"
    );
}

#[test]
fn a_case_is_read_back_from_its_name_and_fields() {
    let read = |name: &str, arguments: Value| <End as Choice>::read(name, arguments);
    assert_eq!(read("open", json!({})), Ok(End::Open));
    let known = End::Known {
        by: "Ada".to_owned(),
        since: Some(7),
    };
    assert_eq!(read("known", json!({"by": "Ada", "since": 7})), Ok(known));
    let at = End::At(Stop { items: vec![false] });
    assert_eq!(read("at", json!({"items": [false]})), Ok(at));
    let message = |result: Result<End, Failure>| result.unwrap_err().message().to_owned();
    assert_eq!(
        message(read("closed", json!({}))),
        "`pick` has no case `closed`"
    );
    assert_eq!(message(read("known", json!({}))), "`known.by` is missing");
    assert_eq!(
        <Mood as Choice>::read("very_calm", Value::Null),
        Ok(Mood::VeryCalm)
    );
}

#[test]
fn a_literal_is_a_schema_whatever_its_fields_are_called() {
    assert_eq!(
        schema! {
            /// What it is made of,
            /// in order.
            items: [{ type: String, fields: "which ones" }],
            "not a name": { description: Option<Vec<u8>> },
            r#type: one_of [1, 2],
            share: one_of [0.5],
            tags: [one_of ["a", "b"]],
            rows: [[Stop]],
            names: ["one name"],
        },
        json!({
            "items": {
                "items": {"fields": {
                    "type": {"type": "str"},
                    "fields": {"type": "str", "description": "which ones"},
                }},
                "description": "What it is made of,\nin order.",
            },
            "not a name": {"fields": {
                "description": {"$t": "option", "of": {"items": {"type": "u8"}}},
            }},
            "type": {"type": "int", "options": [1, 2]},
            "share": {"type": "float", "options": [0.5]},
            "tags": {"items": {"type": "str", "options": ["a", "b"]}},
            "rows": {"items": {"items": {"fields": {"items": {"items": {"type": "bool"}}}}}},
            "names": {"items": {"type": "str", "description": "one name"}},
        })
    );
    assert_eq!(schema! {}, json!({}));
}
