//! Values of every type cross into a guest and back, and each wrong argument names its path.

use expect_test::expect;
use openprogram_core::Json;
use openprogram_tests::host::{RunningHost, TestHost};
use serde_json::json;

async fn every_type() -> RunningHost {
    TestHost::new().guest("every-type").start().await
}

/// A JSON value from its text, so that numbers keep all digits.
fn text(json: &str) -> Json {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"))
}

#[tokio::test]
async fn every_type_goes_in_and_comes_back() {
    let host = every_type().await;
    // The function without `echo-`, what goes in, and what comes back where that differs.
    let cases = [
        ("bool", "true", ""),
        ("u8", "0", ""),
        ("u8", "255", ""),
        ("u16", "65535", ""),
        ("u32", "4294967295", ""),
        ("u64", "18446744073709551615", ""),
        ("u64", "9007199254740993", ""),
        ("s8", "-128", ""),
        ("s16", "-32768", ""),
        ("s32", "-2147483648", ""),
        ("s64", "-9223372036854775808", ""),
        ("s64", "9223372036854775807", ""),
        ("f32", "0.1", ""),
        ("f32", "1e30", "1e30"),
        ("f64", "0.1", ""),
        ("f64", "-0.0", ""),
        ("f64", "1.7976931348623157e308", "1.7976931348623157e308"),
        ("f64", "5e-324", "5e-324"),
        ("f64", "\"NaN\"", ""),
        ("f64", "\"Infinity\"", ""),
        ("f64", "\"-Infinity\"", ""),
        ("char", "\"é\"", ""),
        ("char", "\"\\u0000\"", ""),
        ("char", "\"🦀\"", ""),
        ("string", "\"\"", ""),
        ("string", "\"line\\nquote \\\" zero \\u0000 crab 🦀\"", ""),
        ("str", "\"borrowed\"", ""),
        ("bytes", "\"AAEC/w==\"", ""),
        ("bytes", "[0, 1, 2, 255]", "\"AAEC/w==\""),
        ("bytes", "\"\"", ""),
        ("list", "[]", ""),
        ("list", "[\"a\", \"\", \"b\"]", ""),
        ("option", "7", ""),
        ("option", "null", ""),
        ("nested-option", "null", ""),
        ("tuple", "[1, \"two\", false]", ""),
        ("alias", "[1, 2]", ""),
        ("enum", "\"red\"", ""),
        ("enum", "\"dark_blue\"", ""),
        ("enum", "\"dark-blue\"", "\"dark_blue\""),
        ("variant", "\"point\"", ""),
        ("variant", "{\"circle\": 2.5}", ""),
        (
            "variant",
            "{\"polygon\": [{\"x\": 1, \"y\": -1, \"type\": \"a\"}, {\"x\": 0, \"y\": 0}]}",
            "",
        ),
        ("variant", "{\"tagged\": [\"t\", \"red\"]}", ""),
        ("record", "{\"x\": 1, \"y\": 2, \"type\": \"corner\"}", ""),
        ("record", "{\"x\": 1, \"y\": 2}", ""),
        ("record", "{\"y\": 2, \"x\": 1}", "{\"x\": 1, \"y\": 2}"),
        ("records", "[{\"x\": 1, \"y\": 2}]", ""),
        ("result", "[{\"ok\": 1}, {\"err\": \"no\"}]", ""),
        ("map", "{}", ""),
        ("map", "{\"a b\": 1, \"\": 2}", "{\"\": 2, \"a b\": 1}"),
        ("map-of-records", "{\"k\": {\"x\": 1, \"y\": 2}}", ""),
        ("json", "null", ""),
        (
            "json",
            "{\"b\": [1, 0.10, 18446744073709551615], \"a\": {\"deep\": [[null]]}}",
            "",
        ),
    ];
    for (function, given, expected) in cases {
        let arguments = json!({ "value": text(given) });
        let expected = text(if expected.is_empty() { given } else { expected });
        let result = host.call(&format!("echo-{function}"), arguments).await;
        assert_eq!(
            result.map(|v| v.to_string()),
            Ok(expected.to_string()),
            "{function} {given}"
        );
    }
}

#[tokio::test]
async fn every_type_that_a_model_writes_loosely_is_read_when_that_is_clear() {
    let host = every_type().await;
    for (function, given, expected) in [
        ("bool", "\"true\"", "true"),
        ("u8", "3.0", "3"),
        ("u8", "\"3\"", "3"),
        ("u64", "\"18446744073709551615\"", "18446744073709551615"),
        ("s64", "\"-9223372036854775808\"", "-9223372036854775808"),
        ("f64", "1", "1"),
        ("enum", "\"RED\"", "\"red\""),
        ("list", "\"one\"", "[\"one\"]"),
        (
            "record",
            "{\"x\": 1, \"y\": 2, \"z\": 3}",
            "{\"x\": 1, \"y\": 2}",
        ),
    ] {
        let arguments = json!({ "value": text(given) });
        let result = host.call(&format!("echo-{function}"), arguments).await;
        let result = result.unwrap_or_else(|failure| panic!("{function} {given}: {failure}"));
        let expected = text(expected);
        let equal = result == expected
            || result
                .as_f64()
                .is_some_and(|n| Some(n) == expected.as_f64());
        assert!(equal, "{function} {given} gave {result}");
    }
}

#[tokio::test]
async fn every_type_names_the_path_of_what_is_wrong() {
    let host = every_type().await;
    let deep = format!("{}1{}", "[".repeat(100), "]".repeat(100));
    let long = format!("\"{}\"", "x".repeat(4 * 1024 * 1024 + 1));
    let cases = [
        // Missing.
        ("u8", "{}"),
        ("record", r#"{"value": {"x": 1}}"#),
        ("records", r#"{"value": [{"x": 1, "y": 2}, {"y": 2}]}"#),
        ("everything", r#"{"value": {}}"#),
        // Another type.
        ("bool", r#"{"value": 1}"#),
        ("u8", r#"{"value": null}"#),
        ("u8", r#"{"value": "three"}"#),
        ("u8", r#"{"value": 3.5}"#),
        ("string", r#"{"value": 3}"#),
        ("char", r#"{"value": "ab"}"#),
        ("char", r#"{"value": ""}"#),
        ("char", r#"{"value": "👩‍👧"}"#),
        ("bytes", r#"{"value": "not base64!"}"#),
        ("bytes", r#"{"value": [1, 256]}"#),
        ("list", r#"{"value": ["a", 2]}"#),
        ("option", r#"{"value": "x"}"#),
        ("tuple", r#"{"value": [1, "two"]}"#),
        ("tuple", r#"{"value": [1, "two", true, 4]}"#),
        ("tuple", r#"{"value": [1, 2, true]}"#),
        ("record", r#"{"value": [1, 2]}"#),
        ("record", r#"{"value": {"x": "a", "y": 2}}"#),
        ("map", r#"{"value": {"a": "b"}}"#),
        ("map-of-records", r#"{"value": {"k": {"x": 1}}}"#),
        ("result", r#"{"value": [{"ok": "x"}]}"#),
        ("result", r#"{"value": [{"ok": 1, "err": "both"}]}"#),
        // Out of range.
        ("u8", r#"{"value": 256}"#),
        ("u8", r#"{"value": -1}"#),
        ("s8", r#"{"value": -129}"#),
        ("u32", r#"{"value": 4294967296}"#),
        ("u64", r#"{"value": 18446744073709551616}"#),
        ("s64", r#"{"value": 9223372036854775808}"#),
        ("u64", r#"{"value": 1e400}"#),
        ("f32", r#"{"value": 1e39}"#),
        ("f64", r#"{"value": 1e400}"#),
        // Unknown case.
        ("enum", r#"{"value": "green"}"#),
        ("enum", r#"{"value": 0}"#),
        ("variant", r#"{"value": "square"}"#),
        ("variant", r#"{"value": {"square": 1}}"#),
        ("variant", r#"{"value": "circle"}"#),
        ("variant", r#"{"value": {"point": 1}}"#),
        ("variant", r#"{"value": {"circle": 1, "point": null}}"#),
        (
            "variant",
            r#"{"value": {"polygon": [{"x": 1, "y": true}]}}"#,
        ),
        ("variant", r#"{"value": {"tagged": ["t", "mauve"]}}"#),
        // Not a parameter.
        ("u8", r#"{"value": 1, "valve": 2}"#),
        // Too deep, too long.
        ("json", &format!(r#"{{"value": {deep}}}"#)),
        ("string", &format!(r#"{{"value": {long}}}"#)),
    ];
    let mut shown = String::new();
    for (function, arguments) in cases {
        let failure = host
            .failure(&format!("echo-{function}"), text(arguments))
            .await;
        assert_eq!(
            failure.code.as_str(),
            "invalid-argument",
            "{function}: {failure}"
        );
        assert!(
            failure.details.contains_key("path"),
            "{function} {failure:?}"
        );
        let arguments: String = arguments.chars().take(70).collect();
        shown.push_str(&format!("{function} {arguments}\n  {failure}\n"));
    }
    insta::assert_snapshot!(shown);
}

#[tokio::test]
async fn every_type_has_defaults_that_are_filled_by_the_host() {
    let host = every_type().await;
    let filled = host.call("defaults", json!({})).await.unwrap();
    insta::assert_snapshot!(format!("{:#}", filled));
    let given = json!({"flag": false, "small": 3, "colour": "red", "share": 2.0, "big": 5});
    let filled = host.call("defaults", given).await.unwrap();
    insta::assert_snapshot!(format!("{:#}", filled));
}

#[tokio::test]
async fn every_type_of_failure_arrives_whole() {
    let host = every_type().await;
    assert_eq!(host.call("fail", json!({"number": 3})).await, Ok(json!(3)));
    for (how, expected) in [
        (json!("asked"), json!("asked")),
        (json!({"because": "no"}), json!({"because": "no"})),
        (
            json!({"at": {"x": 1, "y": 2}}),
            json!({"at": {"x": 1, "y": 2}}),
        ),
    ] {
        let failure = host.failure("fail", json!({"how": how, "number": 1})).await;
        assert_eq!(failure.code.as_str(), "function-failed");
        assert_eq!(failure.details["error"], expected);
    }
    let failure = host
        .failure("fail-with-failure", json!({"text": "a.b"}))
        .await;
    expect![[r#"
        {
          "code": "invalid-argument",
          "message": "it was asked to",
          "details": {
            "path": "a.b"
          }
        }"#]]
    .assert_eq(&format!("{:#}", failure.to_json()));
}

#[tokio::test]
async fn every_type_without_parameters_or_result_is_called() {
    let host = every_type().await;
    assert_eq!(host.call("nothing", json!({})).await, Ok(Json::Null));
    let keywords = json!({"type": 1, "record": 2, "func": 3});
    assert_eq!(host.call("match", keywords).await, Ok(json!(6)));
    let host = TestHost::new()
        .guest("every-type")
        .script([""; 0])
        .start()
        .await;
    let models = host.call("runtimes", json!({})).await;
    assert_eq!(
        models,
        Ok(json!(["scripted:text", "scripted:text", "scripted:text"]))
    );
}

#[tokio::test]
async fn hidden_parameters_come_from_the_context_alone() {
    let host = every_type().await;
    let arguments = json!({"topic": "t", "title": "u", "function": "f"});
    let context = json!({"secret": "s", "attempts": "5", "other": 1});
    let request = openprogram_runtime::RunRequest {
        arguments: arguments.as_object().unwrap().clone(),
        context: context.as_object().unwrap().clone(),
        ..openprogram_runtime::RunRequest::new("described")
    };
    let outcome = host.runtime.run_function(request).await;
    let expected = json!(["plain", "", "t", "u", "f", "s", "5"]);
    assert_eq!(outcome.result, Ok(expected));

    let given = json!({"topic": "t", "title": "u", "function": "f", "secret": "mine"});
    let failure = host.failure("described", given).await;
    expect!["argument `secret` of `test:every-type/echo.described` is hidden and takes its value from the context only"].assert_eq(&failure.to_string());
    let failure = host.failure("described", arguments).await;
    expect!["argument `secret` of `test:every-type/echo.described`: hidden parameter, and the context has no value for it"].assert_eq(&failure.to_string());
}
