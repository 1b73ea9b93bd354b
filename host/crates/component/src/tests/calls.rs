//! Calls of typed functions: arguments in, results out.

use super::{TestHost, component};
use crate::Limits;

/// Functions that give back what they get.
fn echoes() -> Vec<u8> {
    component(
        r#"
        (func (export "word") (param i32) (result i32) (local.get 0))
        (func (export "long") (param i64) (result i64) (local.get 0))
        (func (export "single") (param f32) (result f32) (local.get 0))
        (func (export "double") (param f64) (result f64) (local.get 0))
        (func (export "text") (param i32 i32) (result i32)
            (i32.store (i32.const 8) (local.get 0))
            (i32.store (i32.const 12) (local.get 1))
            (i32.const 8))
        (func (export "bytes") (param i32 i32) (result i32)
            (i32.store (i32.const 8) (local.get 0))
            (i32.store (i32.const 12) (local.get 1))
            (i32.const 8))
        (func (export "maybe") (param i32 i32) (result i32)
            (i32.store8 (i32.const 8) (local.get 0))
            (i32.store (i32.const 12) (local.get 1))
            (i32.const 8))
        (func (export "outcome") (param i32 i32) (result i32)
            (i32.store8 (i32.const 8) (local.get 0))
            (i32.store (i32.const 12) (local.get 1))
            (i32.const 8))
        (func (export "pair") (param i32 i32) (result i32)
            (i32.store8 (i32.const 8) (local.get 0))
            (i32.store (i32.const 12) (local.get 1))
            (i32.const 8))
        (func (export "unit") (param i32) (result i32) (local.get 0))"#,
        &[
            ("word", r#"(param "n" s32) (result s32)"#),
            ("long", r#"(param "n" u64) (result u64)"#),
            ("single", r#"(param "n" f32) (result f32)"#),
            ("double", r#"(param "n" f64) (result f64)"#),
            ("text", r#"(param "some-text" string) (result string)"#),
            ("bytes", r#"(param "b" (list u8)) (result (list u8))"#),
            ("maybe", r#"(param "m" (option u32)) (result (option u32))"#),
            (
                "outcome",
                r#"(param "r" (result u32 (error u32))) (result (result u32 (error u32)))"#,
            ),
            (
                "pair",
                r#"(param "p" (tuple bool char)) (result (tuple bool char))"#,
            ),
            ("unit", r#"(param "b" bool) (result (result))"#),
        ],
    )
}

#[tokio::test]
async fn values_come_back_as_they_went_in() {
    let host = TestHost::new(echoes(), Limits::default()).await;
    for (function, arguments, expected) in [
        ("word", r#"{"n": -2147483648}"#, "-2147483648"),
        (
            "long",
            r#"{"n": 18446744073709551615}"#,
            "18446744073709551615",
        ),
        ("single", r#"{"n": 0.1}"#, "0.1"),
        ("single", r#"{"n": "NaN"}"#, "\"NaN\""),
        ("double", r#"{"n": 1e300}"#, "1e+300"),
        ("double", r#"{"n": "-Infinity"}"#, "\"-Infinity\""),
        ("text", r#"{"some_text": "ß👍"}"#, "\"ß👍\""),
        ("bytes", r#"{"b": "aGk="}"#, "\"aGk=\""),
        ("bytes", r#"{"b": [104, 105]}"#, "\"aGk=\""),
        ("maybe", r#"{"m": 7}"#, "7"),
        ("maybe", r#"{"m": null}"#, "null"),
        ("maybe", "{}", "null"),
        ("outcome", r#"{"r": {"ok": 3}}"#, "3"),
        ("outcome", r#"{"r": {"err": 4}}"#, "the function failed: 4"),
        ("pair", r#"{"p": [true, "é"]}"#, r#"[true,"é"]"#),
        ("unit", r#"{"b": false}"#, "null"),
        ("unit", r#"{"b": true}"#, "the function failed: null"),
    ] {
        assert_eq!(
            host.line(function, arguments).await,
            expected,
            "{function} {arguments}"
        );
    }
}

#[tokio::test]
async fn arguments_that_do_not_fit_name_their_path() {
    let host = TestHost::new(echoes(), Limits::default()).await;
    for (function, arguments, expected) in [
        ("word", "{}", "argument `n`: missing"),
        (
            "word",
            r#"{"n": 2147483648}"#,
            "argument `n`: must be from -2147483648 to 2147483647",
        ),
        ("word", r#"{"n": "5"}"#, "argument `n`: expected an integer"),
        (
            "pair",
            r#"{"p": [true, "ab"]}"#,
            "argument `p[1]`: expected exactly one character",
        ),
        (
            "pair",
            r#"{"p": [true]}"#,
            "argument `p`: expected exactly 2 items",
        ),
        (
            "outcome",
            r#"{"r": {"ok": "x"}}"#,
            "argument `r.ok`: expected an integer",
        ),
        (
            "bytes",
            r#"{"b": "?"}"#,
            "argument `b`: not base64: Invalid symbol 63, offset 0.",
        ),
    ] {
        assert_eq!(
            host.line(function, arguments).await,
            expected,
            "{function} {arguments}"
        );
    }
}

#[tokio::test]
async fn large_bytes_cross_by_copy() {
    let limits = Limits {
        result_bytes: 4 << 20,
        ..Limits::default()
    };
    let host = TestHost::new(echoes(), limits).await;
    let text = "QUJD".repeat(500_000);
    let arguments = format!(r#"{{"b": "{text}"}}"#);
    assert_eq!(host.line("bytes", &arguments).await, format!("\"{text}\""));
}
