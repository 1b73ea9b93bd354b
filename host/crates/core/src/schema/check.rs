//! Checks a JSON value against a type and brings it into canonical form.
//!
//! Canonical means: names as shown, fields in declared order, absent instead of null, whole numbers
//! in plain digits, bytes as padded base64. A canonical value checks to itself.
//! Recursion is bounded by [`JSON_DEPTH_MAX`](super::JSON_DEPTH_MAX) on the side of the value.

use super::checker::Checker;
use super::{Field, Type};
use crate::{Json, JsonObject};

/// How tolerant a check is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckMode {
    /// As decisions need it: a wrong type is an error. `-` and `_` in names are equal.
    Strict,
    /// As tool calls, the command line and clients need it: lossless slips are repaired and told.
    Lenient,
}

/// One repair that a lenient check made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coercion {
    /// The path of the value, for example `a.b[0]`.
    pub path: String,
    /// What was done, for example `"5"` read as 5.
    pub what: String,
}

/// A value in canonical form: shown names, declared order, exact numbers, bytes as base64.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked<T> {
    /// The value.
    pub value: T,
    /// What was repaired or dropped.
    pub coercions: Vec<Coercion>,
}

/// What kind of mismatch it is; the decision protocol has one word for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// A required value is absent.
    Missing,
    /// The type or form is wrong.
    WrongType,
    /// The number, length or depth is outside the bounds.
    OutOfRange,
    /// The value is not one of the allowed ones.
    NotAllowed,
}

/// Why a value does not fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{path}`: {message}")]
pub struct CheckError {
    /// The path of the offending part.
    pub path: String,
    /// The kind of mismatch.
    pub mismatch: Mismatch,
    /// What is wrong.
    pub message: String,
}

/// Checks one value; the path of an error begins with the name of the field.
///
/// # Errors
/// The first mismatch in declaration order.
pub fn check_value(
    value: &Json,
    field: &Field,
    mode: CheckMode,
) -> Result<Checked<Json>, CheckError> {
    let mut checker = Checker::new(mode);
    let mut value = value.clone();
    let result = checker.at(&field.name, |checker| checker.field(&mut value, field));
    checker.finish(value, result)
}

/// Checks the arguments of a call or the fields of an object, given as one object.
///
/// A field whose type is an `option` may be absent or null; it is then absent in the result.
///
/// # Errors
/// All missing names in one error, else the first mismatch in declaration order.
pub fn check_object(
    object: &JsonObject,
    fields: &[Field],
    mode: CheckMode,
) -> Result<Checked<JsonObject>, CheckError> {
    check_members(object.clone(), fields.iter().map(Member::of), mode)
}

/// A field of an object together with whether it may be absent.
#[derive(Clone, Copy)]
pub(crate) struct Member<'a> {
    /// The field.
    pub(crate) field: &'a Field,
    /// Whether it may be absent, and null counts as absent.
    pub(crate) optional: bool,
}

impl<'a> Member<'a> {
    /// A field of a record.
    pub(crate) fn of(field: &'a Field) -> Self {
        Self {
            field,
            optional: matches!(field.ty, Type::Option(_)),
        }
    }

    /// Whether null counts as absence. It does not where null is itself a value of the type.
    pub(crate) fn null_is_absence(self) -> bool {
        self.optional && !matches!(self.field.ty, Type::Json)
    }
}

/// [`check_object`] for fields of which some have a default.
pub(crate) fn check_members<'a>(
    mut object: JsonObject,
    members: impl Iterator<Item = Member<'a>>,
    mode: CheckMode,
) -> Result<Checked<JsonObject>, CheckError> {
    let mut checker = Checker::new(mode);
    let members: Vec<_> = members.collect();
    let result = checker.members(&mut object, &members);
    checker.finish(object, result)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::{Case, CasesType, IntegerKind, JSON_DEPTH_MAX, RecordType};
    use super::CheckMode::{Lenient, Strict};
    use super::*;

    fn cases(names: &[(&str, Option<Type>)]) -> Arc<CasesType> {
        let case = |(name, payload): &(&str, Option<Type>)| Case {
            name: (*name).to_owned(),
            description: None,
            payload: payload.clone(),
        };
        Arc::new(CasesType {
            name: None,
            description: None,
            cases: names.iter().map(case).collect(),
        })
    }

    fn record(fields: Vec<Field>) -> Type {
        Type::Record(Arc::new(RecordType {
            name: None,
            description: None,
            fields,
        }))
    }

    fn boxed(ty: Type) -> Box<Type> {
        Box::new(ty)
    }

    /// The outcome in one line: the canonical value, the repairs in brackets, or the error.
    fn outcome(value: &str, field: &Field, mode: CheckMode) -> String {
        match check_value(&serde_json::from_str(value).unwrap(), field, mode) {
            Ok(checked) => {
                let again = check_value(&checked.value, field, mode).unwrap();
                assert_eq!(
                    again.value, checked.value,
                    "canonical values stay as they are"
                );
                let mut line = checked.value.to_string();
                for coercion in checked.coercions {
                    line.push_str(&format!(" [{}: {}]", coercion.path, coercion.what));
                }
                line
            }
            Err(error) => format!("{:?} {error}", error.mismatch),
        }
    }

    #[track_caller]
    fn check(ty: &Type, rows: &[(CheckMode, &str, &str)]) {
        check_field(&Field::new("v", ty.clone()), rows);
    }

    #[track_caller]
    fn check_field(field: &Field, rows: &[(CheckMode, &str, &str)]) {
        for (mode, value, expected) in rows {
            assert_eq!(outcome(value, field, *mode), *expected, "{mode:?} {value}");
        }
    }

    #[test]
    fn booleans_are_not_numbers_and_texts_only_by_request() {
        check(
            &Type::Bool,
            &[
                (Strict, "true", "true"),
                (
                    Strict,
                    "\"true\"",
                    "WrongType `v`: expected a boolean, got a string",
                ),
                (Lenient, "\"true\"", "true [v: \"true\" read as true]"),
                (Lenient, "\"False\"", "false [v: \"False\" read as false]"),
                (
                    Lenient,
                    "1",
                    "WrongType `v`: expected a boolean, got an integer",
                ),
            ],
        );
    }

    #[test]
    fn integers_are_exact_and_bounded() {
        let fraction = "a number with a fraction or an exponent";
        let s8 = "expected an integer from -128 to 127";
        check(
            &Type::Integer(IntegerKind::S8),
            &[
                (Strict, "-128", "-128"),
                (Strict, "-0", "0"),
                (Strict, "128", &format!("OutOfRange `v`: {s8}, got 128")),
                (
                    Strict,
                    "3.0",
                    &format!("WrongType `v`: {s8}, got {fraction}"),
                ),
                (
                    Strict,
                    "1e1",
                    &format!("WrongType `v`: {s8}, got {fraction}"),
                ),
                (
                    Strict,
                    "true",
                    &format!("WrongType `v`: {s8}, got a boolean"),
                ),
                (
                    Strict,
                    "\"3\"",
                    &format!("WrongType `v`: {s8}, got a string"),
                ),
                (Strict, "null", &format!("WrongType `v`: {s8}, got null")),
                (Lenient, "3.0", "3 [v: 3.0 read as 3]"),
                (Lenient, "\"-3\"", "-3 [v: \"-3\" read as -3]"),
                (
                    Lenient,
                    "\"300\"",
                    &format!("OutOfRange `v`: {s8}, got 300"),
                ),
                (
                    Lenient,
                    "3.5",
                    &format!("WrongType `v`: {s8}, got {fraction}"),
                ),
                (
                    Lenient,
                    "\"x\"",
                    &format!("WrongType `v`: {s8}, got a string"),
                ),
            ],
        );
    }

    #[test]
    fn large_integers_are_exact() {
        check(
            &Type::Integer(IntegerKind::U64),
            &[
                (Strict, "18446744073709551615", "18446744073709551615"),
                (
                    Lenient,
                    "\"9007199254740993\"",
                    "9007199254740993 [v: \"9007199254740993\" read as 9007199254740993]",
                ),
                (
                    Strict,
                    "18446744073709551616",
                    "OutOfRange `v`: expected an integer from 0 to 18446744073709551615, \
                     got 18446744073709551616",
                ),
            ],
        );
        let any = "1000000000000000000000000000000000000000000000001";
        let long = format!("1{}", "0".repeat(1_000));
        check(
            &Type::Integer(IntegerKind::Any),
            &[
                (Strict, any, any),
                (
                    Strict,
                    &long,
                    "OutOfRange `v`: the number has more than 1000 digits",
                ),
            ],
        );
    }

    #[test]
    fn floats_take_integers_and_know_their_range() {
        check(
            &Type::Float64,
            &[
                (Strict, "2", "2"),
                (Strict, "2.50", "2.50"),
                (
                    Strict,
                    "1e400",
                    "OutOfRange `v`: 1e+400 is outside the range of a 64-bit float",
                ),
                (
                    Strict,
                    "\"NaN\"",
                    "WrongType `v`: expected a number, got a string",
                ),
                (
                    Strict,
                    "true",
                    "WrongType `v`: expected a number, got a boolean",
                ),
                (Lenient, "\"NaN\"", "\"NaN\""),
                (Lenient, "\"-Infinity\"", "\"-Infinity\""),
                (Lenient, "\"2.5\"", "2.5 [v: \"2.5\" read as 2.5]"),
                (
                    Lenient,
                    "\"inf\"",
                    "WrongType `v`: expected a number, got a string",
                ),
            ],
        );
        check(
            &Type::Float32,
            &[(
                Strict,
                "1e39",
                "OutOfRange `v`: 1e+39 is outside the range of a 32-bit float",
            )],
        );
    }

    #[test]
    fn texts_and_bytes() {
        check(
            &Type::Char,
            &[
                (Strict, "\"👍\"", "\"👍\""),
                (
                    Strict,
                    "\"ab\"",
                    "WrongType `v`: expected exactly one character, got a text of 2",
                ),
                (
                    Strict,
                    "\"\"",
                    "WrongType `v`: expected exactly one character, got a text of 0",
                ),
            ],
        );
        check(
            &Type::String,
            &[
                (Strict, "\"\"", "\"\""),
                (
                    Lenient,
                    "3",
                    "WrongType `v`: expected a string, got an integer",
                ),
            ],
        );
        let not = "WrongType `v`: expected base64 text or an array of bytes, got another text";
        check(
            &Type::Bytes,
            &[
                (Strict, "\"aGk=\"", "\"aGk=\""),
                (Strict, "\"aGk\"", "\"aGk=\""),
                (Strict, "[104, 105]", "\"aGk=\""),
                (
                    Strict,
                    "[104, 256]",
                    "OutOfRange `v[1]`: expected a byte from 0 to 255, got 256",
                ),
                (
                    Strict,
                    "[\"a\"]",
                    "WrongType `v[0]`: expected a byte from 0 to 255, got a string",
                ),
                (Strict, "\"_-8=\"", not),
                (
                    Lenient,
                    "\"_-8=\"",
                    "\"/+8=\" [v: URL-safe base64 read as base64]",
                ),
                (Lenient, "\"?\"", not),
            ],
        );
    }

    #[test]
    fn lists_name_the_item() {
        let byte = || boxed(Type::Integer(IntegerKind::U8));
        let u8 = "expected an integer from 0 to 255";
        check(
            &Type::List(byte()),
            &[
                (Strict, "[1, 2]", "[1,2]"),
                (
                    Strict,
                    "[1, -2]",
                    &format!("OutOfRange `v[1]`: {u8}, got -2"),
                ),
                (
                    Strict,
                    "7",
                    "WrongType `v`: expected an array, got an integer",
                ),
                (
                    Lenient,
                    "7",
                    "[7] [v: a single value read as a list of one]",
                ),
                (
                    Lenient,
                    "\"x\"",
                    &format!("WrongType `v[0]`: {u8}, got a string"),
                ),
            ],
        );
        check(
            &Type::FixedList(byte(), 2),
            &[
                (Strict, "[1, 2]", "[1,2]"),
                (
                    Strict,
                    "[1]",
                    "OutOfRange `v`: expected exactly 2 items, got 1",
                ),
                (
                    Lenient,
                    "1",
                    "WrongType `v`: expected an array, got an integer",
                ),
            ],
        );
    }

    #[test]
    fn tuples_and_maps_name_the_item() {
        let byte = || boxed(Type::Integer(IntegerKind::U8));
        let u8 = "expected an integer from 0 to 255";
        check(
            &Type::Tuple(vec![Type::String, *byte()]),
            &[
                (Strict, "[\"a\", 1]", "[\"a\",1]"),
                (
                    Strict,
                    "[1, 1]",
                    "WrongType `v[0]`: expected a string, got an integer",
                ),
                (
                    Strict,
                    "[]",
                    "OutOfRange `v`: expected exactly 2 items, got 0",
                ),
            ],
        );
        check(
            &Type::Map(byte(), boxed(Type::Bool)),
            &[
                (Strict, "{\"1\": true}", "{\"1\":true}"),
                (
                    Strict,
                    "{\"a b\": true}",
                    &format!("WrongType `v[\"a b\"]`: {u8}, got a string"),
                ),
                (
                    Strict,
                    "{\"1\": 0}",
                    "WrongType `v.1`: expected a boolean, got an integer",
                ),
                (
                    Strict,
                    "[]",
                    "WrongType `v`: expected an object, got an array",
                ),
            ],
        );
    }

    #[test]
    fn an_option_of_an_option_keeps_its_three_states() {
        let twice = Type::Option(boxed(Type::Option(boxed(Type::Bool))));
        check(
            &twice,
            &[
                (Strict, "null", "null"),
                (Strict, "{\"some\": null}", "{\"some\":null}"),
                (Strict, "{\"some\": true}", "{\"some\":true}"),
                (
                    Strict,
                    "true",
                    "WrongType `v`: expected null or {\"some\": value}, got a boolean",
                ),
                (
                    Strict,
                    "{\"some\": 1}",
                    "WrongType `v.some`: expected a boolean, got an integer",
                ),
                (
                    Lenient,
                    "true",
                    "{\"some\":true} [v: read as {\"some\": value}]",
                ),
                (
                    Lenient,
                    "[]",
                    "WrongType `v`: expected a boolean, got an array",
                ),
            ],
        );
        let fields = vec![
            Field::new("a", twice),
            Field::new("b", Type::Option(boxed(Type::Bool))),
        ];
        check(
            &record(fields),
            &[
                (Strict, "{}", "{}"),
                (Strict, "{\"a\": null, \"b\": null}", "{}"),
                (
                    Strict,
                    "{\"b\": false, \"a\": {\"some\": null}}",
                    "{\"a\":{\"some\":null},\"b\":false}",
                ),
            ],
        );
    }

    #[test]
    fn records_name_all_missing_fields_and_drop_unknown_ones() {
        let inner = record(vec![Field::new("c_d", Type::Bool)]);
        let fields = vec![
            Field::new("a", Type::String),
            Field::new("b", Type::List(boxed(inner))),
            Field::new("e", Type::Json),
        ];
        check(
            &record(fields),
            &[
                (
                    Strict,
                    "{\"e\": null, \"b\": [{\"c-d\": true, \"x\": 1}], \"a\": \"t\", \"z\": 2}",
                    "{\"a\":\"t\",\"b\":[{\"c_d\":true}],\"e\":null} \
                     [v.b[0].x: unknown name, dropped] [v.z: unknown name, dropped]",
                ),
                (
                    Strict,
                    "{\"a\": 1}",
                    "Missing `v.b`: required values are missing: `b`, `e`",
                ),
                (
                    Strict,
                    "{\"a\": \"\", \"b\": [{\"c_d\": true}, {}], \"e\": 1}",
                    "Missing `v.b[1].c_d`: a required value is missing",
                ),
                (
                    Strict,
                    "3",
                    "WrongType `v`: expected an object, got an integer",
                ),
            ],
        );
    }

    #[test]
    fn names_are_exact_except_for_hyphens_and_in_a_lenient_check_for_case() {
        let colours = cases(&[("dark_red", None), ("Green", None), ("green", None)]);
        let all = "\"dark_red\", \"Green\", \"green\"";
        check(
            &Type::Enum(colours.clone()),
            &[
                (Strict, "\"dark-red\"", "\"dark_red\""),
                (
                    Strict,
                    "\"Dark-Red\"",
                    &format!("NotAllowed `v`: must be one of {all}, got \"Dark-Red\""),
                ),
                (
                    Lenient,
                    "\"Dark-Red\"",
                    "\"dark_red\" [v: \"Dark-Red\" read as \"dark_red\"]",
                ),
                (
                    Lenient,
                    "\"GREEN\"",
                    &format!("NotAllowed `v`: must be one of {all}, got \"GREEN\""),
                ),
                (
                    Strict,
                    "1",
                    "WrongType `v`: expected a string, got an integer",
                ),
            ],
        );
        check(
            &Type::Flags(colours),
            &[
                (
                    Strict,
                    "[\"green\", \"dark-red\", \"green\"]",
                    "[\"dark_red\",\"green\"]",
                ),
                (
                    Strict,
                    "[\"blue\"]",
                    &format!("NotAllowed `v[0]`: must be one of {all}, got \"blue\""),
                ),
                (
                    Strict,
                    "\"green\"",
                    "WrongType `v`: expected an array, got a string",
                ),
                (
                    Lenient,
                    "\"green\"",
                    "[\"green\"] [v: a single value read as a list of one]",
                ),
            ],
        );
    }

    #[test]
    fn variants_and_results_are_a_name_or_an_object_of_one_key() {
        let shape = Type::Variant(cases(&[
            ("none", None),
            ("big_circle", Some(Type::Float64)),
        ]));
        check(
            &shape,
            &[
                (Strict, "\"none\"", "\"none\""),
                (Strict, "{\"big-circle\": 2}", "{\"big_circle\":2}"),
                (
                    Strict,
                    "\"big-circle\"",
                    "WrongType `v`: the case \"big_circle\" carries a value; \
                     write {\"big_circle\": value}",
                ),
                (
                    Strict,
                    "{\"none\": null}",
                    "WrongType `v`: the case \"none\" carries no value; write \"none\"",
                ),
                (
                    Lenient,
                    "{\"none\": null}",
                    "\"none\" [v: read as \"none\"]",
                ),
                (
                    Strict,
                    "{\"square\": 1}",
                    "NotAllowed `v`: must be one of \"none\", \"big_circle\", got \"square\"",
                ),
                (
                    Strict,
                    "{\"big_circle\": \"x\"}",
                    "WrongType `v.big_circle`: expected a number, got a string",
                ),
                (
                    Strict,
                    "{\"none\": null, \"big_circle\": 1}",
                    "WrongType `v`: expected the name of a case or an object with the case as its \
                     only key, got an object",
                ),
            ],
        );
        check(
            &Type::Result(None, Some(boxed(Type::String))),
            &[
                (Strict, "{\"ok\": null}", "{\"ok\":null}"),
                (Strict, "{\"err\": \"e\"}", "{\"err\":\"e\"}"),
                (
                    Strict,
                    "{\"ok\": 1}",
                    "WrongType `v.ok`: expected null, got an integer",
                ),
                (
                    Strict,
                    "{}",
                    "WrongType `v`: expected {\"ok\": value} or {\"err\": value}, got an object",
                ),
            ],
        );
    }

    #[test]
    fn allowed_values_are_checked_after_the_type() {
        let mut field = Field::new("v", Type::Float64);
        field.options = vec![serde_json::json!(1), serde_json::json!(2.5)];
        check_field(
            &field,
            &[
                (Strict, "1.0", "1.0"),
                (Strict, "2.5", "2.5"),
                (Strict, "3", "NotAllowed `v`: must be one of 1, 2.5, got 3"),
                (
                    Strict,
                    "\"1\"",
                    "WrongType `v`: expected a number, got a string",
                ),
            ],
        );
        let mut field = Field::new("v", Type::Option(boxed(Type::String)));
        field.options = vec!["casual".into()];
        check_field(
            &field,
            &[
                (Strict, "null", "null"),
                (
                    Strict,
                    "\"Casual\"",
                    "NotAllowed `v`: must be one of \"casual\", got \"Casual\"",
                ),
                (
                    Lenient,
                    "\"Casual\"",
                    "\"casual\" [v: \"Casual\" read as \"casual\"]",
                ),
            ],
        );
    }

    #[test]
    fn depth_and_size_are_bounded() {
        let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        for ty in [Type::Json, Type::AnyArray] {
            let field = Field::new("v", ty);
            assert_eq!(
                outcome(&deep(JSON_DEPTH_MAX), &field, Strict),
                deep(JSON_DEPTH_MAX)
            );
            let error = outcome(&deep(JSON_DEPTH_MAX + 1), &field, Strict);
            assert!(
                error.ends_with("nested deeper than 64 levels; send a flatter value"),
                "{error}"
            );
        }
        let items = Json::Array(vec![Json::Null; super::super::ITEMS_MAX + 1]);
        let text = Json::String("x".repeat(super::super::STRING_BYTES_MAX + 1));
        let bytes = Json::String("A".repeat(super::super::BYTES_MAX * 2));
        for (value, ty, expected) in [
            (
                items,
                Type::AnyArray,
                "has 262145 items, more than the limit of 262144",
            ),
            (
                text,
                Type::String,
                "text of 4194305 bytes is longer than the limit of 4194304",
            ),
            (
                bytes,
                Type::Bytes,
                "has 6291456 bytes, more than the limit of 4194304",
            ),
        ] {
            let error = check_value(&value, &Field::new("v", ty), Strict).unwrap_err();
            assert_eq!(
                (error.mismatch, error.message.as_str()),
                (Mismatch::OutOfRange, expected)
            );
        }
    }

    #[test]
    fn repairs_are_listed_up_to_a_limit() {
        let many = serde_json::json!(vec!["1"; 100]);
        let field = Field::new("v", Type::List(boxed(Type::Integer(IntegerKind::U8))));
        let checked = check_value(&many, &field, Lenient).unwrap();
        assert_eq!(checked.coercions.len(), 65);
        assert_eq!(checked.coercions[64].what, "36 more repairs");
    }
}
