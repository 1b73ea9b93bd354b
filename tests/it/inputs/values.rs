//! Values: what is read, repaired or refused, and by which path.

use expect_test::expect;
use openprogram_core::schema::{IntegerKind, Type};
use openprogram_tests::host::TestHost;
use serde_json::json;

use super::{cases, check, host, option, record, u32_type};

#[tokio::test]
async fn an_optional_number_is_read_or_refused_by_its_path() {
    let host = host(&[&[("a", Type::String), ("b", option(u32_type()))]]).await;
    let calls = [
        (0, r#"{"a": "x"}"#),
        (0, r#"{"a": "x", "b": null}"#),
        (0, r#"{"a": "x", "b": "5"}"#),
        (0, r#"{"a": "x", "b": 5.0}"#),
        (0, r#"{"a": "x", "b": -1}"#),
        (0, r#"{"a": "x", "b": 4294967296}"#),
        (0, r#"{"b": 5}"#),
        (0, r#"{"a": "x", "b": 5, "c": 1}"#),
    ];
    check(&host, &calls, expect![[r#"
        {"a": "x"} -> ["x",null]
        {"a": "x", "b": null} -> ["x",null]
        {"a": "x", "b": "5"} -> ["x",5]
        {"a": "x", "b": 5.0} -> ["x",5]
        {"a": "x", "b": -1} -> argument `b` of `f`: expected an integer from 0 to 4294967295, got -1
        {"a": "x", "b": 4294967296} -> argument `b` of `f`: expected an integer from 0 to 4294967295, got 4294967296
        {"b": 5} -> argument `a` of `f`: a required value is missing
        {"a": "x", "b": 5, "c": 1} -> argument `c` of `f` is not known; the function takes `a`, `b`, `pad`
    "#]]).await;
}

#[tokio::test]
async fn an_option_of_an_option_has_three_states() {
    let host = host(&[&[("b", option(option(Type::String)))]]).await;
    let calls = [
        (0, "{}"),
        (0, r#"{"b": null}"#),
        (0, r#"{"b": {"some": null}}"#),
        (0, r#"{"b": {"some": "text"}}"#),
        (0, r#"{"b": "text"}"#),
        (0, r#"{"b": {"none": null}}"#),
    ];
    check(
        &host,
        &calls,
        expect![[r#"
        {} -> [null]
        {"b": null} -> [null]
        {"b": {"some": null}} -> [{"some":null}]
        {"b": {"some": "text"}} -> [{"some":"text"}]
        {"b": "text"} -> [{"some":"text"}]
        {"b": {"none": null}} -> argument `b` of `f`: expected a string, got an object
    "#]],
    )
    .await;
}

#[tokio::test]
async fn members_may_have_the_names_of_the_forms_in_json() {
    let fields = [
        ("tag", u32_type()),
        ("val", Type::String),
        ("ok", option(Type::Bool)),
    ];
    let tagged = cases(
        "shape",
        &[
            ("case", Some(record("inner", &fields))),
            ("ok", None),
            ("err", Some(Type::Bool)),
        ],
    );
    let only_ok = record("only-ok", &[("ok", u32_type())]);
    let both = Type::Result(
        Some(Box::new(only_ok.clone())),
        Some(Box::new(only_ok.clone())),
    );
    let host = host(&[
        &[("v", Type::Variant(tagged))],
        &[("r", only_ok), ("s", both)],
        &[(
            "o",
            option(record("only-some", &[("some", option(Type::Bool))])),
        )],
    ])
    .await;
    let calls = [
        (0, r#"{"v": {"case": {"tag": 1, "val": "x", "ok": true}}}"#),
        (0, r#"{"v": {"case": {"tag": 1, "val": "x"}}}"#),
        (0, r#"{"v": "ok"}"#),
        (0, r#"{"v": {"ok": null}}"#),
        (0, r#"{"v": {"err": false}}"#),
        (0, r#"{"v": {"tag": "err", "val": false}}"#),
        (1, r#"{"r": {"ok": 1}, "s": {"ok": {"ok": 2}}}"#),
        (1, r#"{"r": {"ok": 1}, "s": {"err": {"ok": 2}}}"#),
        (2, r#"{"o": {"some": true}}"#),
        (2, r#"{"o": {}}"#),
        (2, r#"{}"#),
    ];
    check(&host, &calls, expect![[r#"
        {"v": {"case": {"tag": 1, "val": "x", "ok": true}}} -> [{"case":{"tag":1,"val":"x","ok":true}}]
        {"v": {"case": {"tag": 1, "val": "x"}}} -> [{"case":{"tag":1,"val":"x"}}]
        {"v": "ok"} -> ["ok"]
        {"v": {"ok": null}} -> ["ok"]
        {"v": {"err": false}} -> [{"err":false}]
        {"v": {"tag": "err", "val": false}} -> argument `v` of `f`: expected the name of a case or an object with the case as its only key, got an object
        {"r": {"ok": 1}, "s": {"ok": {"ok": 2}}} -> [{"ok":1},{"ok":{"ok":2}}]
        {"r": {"ok": 1}, "s": {"err": {"ok": 2}}} -> [{"ok":1},{"err":{"ok":2}}]
        {"o": {"some": true}} -> [{"some":true}]
        {"o": {}} -> [{}]
        {} -> [null]
    "#]]).await;
}

#[tokio::test]
async fn an_enum_of_65_is_one_and_flags_are_read_as_a_set() {
    let names: Vec<String> = (0..65).map(|n| format!("m{n}")).collect();
    let many: Vec<(&str, Option<Type>)> = names.iter().map(|n| (n.as_str(), None)).collect();
    let few = [("read", None), ("write", None), ("run-it", None)];
    let host = host(&[
        &[("e", Type::Enum(cases("many", &many)))],
        &[("f", Type::Flags(cases("few", &few)))],
    ])
    .await;
    let calls = [
        (0, r#"{"e": "m64"}"#),
        (0, r#"{"e": "m65"}"#),
        (1, r#"{"f": []}"#),
        (1, r#"{"f": ["run-it", "read"]}"#),
        (1, r#"{"f": ["read", "read"]}"#),
        (1, r#"{"f": ["delete"]}"#),
        (1, r#"{"f": "read"}"#),
        (1, r#"{"f": {"read": true}}"#),
    ];
    check(&host, &calls, expect![[r#"
        {"e": "m64"} -> ["m64"]
        {"e": "m65"} -> argument `e` of `f`: must be one of "m0", "m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8", "m9", "m10", "m11", "m12", "m13", "m14", "m15", "m16", "m17", "m18", "m19", …, got "m65"
        {"f": []} -> [[]]
        {"f": ["run-it", "read"]} -> [["read","run_it"]]
        {"f": ["read", "read"]} -> [["read"]]
        {"f": ["delete"]} -> argument `f[0]` of `f`: must be one of "read", "write", "run_it", got "delete"
        {"f": "read"} -> [["read"]]
        {"f": {"read": true}} -> argument `f` of `f`: expected an array, got an object
    "#]]).await;
}

#[tokio::test]
async fn bytes_that_are_too_many_end_in_a_named_limit_each_way() {
    let host = TestHost::new().guest("every-type").start().await;
    let call = async |n_bytes: usize| {
        let text = "QUFB".repeat(n_bytes / 3);
        let result = host.call("echo-bytes", json!({ "value": text })).await;
        match result {
            Ok(value) => format!("{} characters", value.as_str().unwrap().len()),
            Err(failure) => failure.to_string(),
        }
    };
    expect!["argument `value` of `test:every-type/echo.echo-bytes`: has 8388606 bytes, more than the limit of 4194304"]
        .assert_eq(&call(8 << 20).await);
    // What comes back has a limit of its own.
    expect!["the result is larger than 4194304 bytes"].assert_eq(&call(4 << 20).await);
    expect!["699048 characters"].assert_eq(&call(1 << 19).await);
}

#[tokio::test]
async fn lists_in_lists_maps_and_lists_of_fixed_length_come_back() {
    let list = |ty| Type::List(Box::new(ty));
    let host = host(&[
        &[("l", list(list(list(Type::String))))],
        &[("m", Type::Map(Box::new(Type::String), Box::new(u32_type())))],
        &[(
            "f",
            Type::FixedList(Box::new(Type::Integer(IntegerKind::U8)), 4),
        )],
        &[(
            "k",
            Type::Map(
                Box::new(Type::Integer(IntegerKind::S8)),
                Box::new(Type::Bool),
            ),
        )],
    ])
    .await;
    let calls = [
        (0, r#"{"l": [[["a"], []], []]}"#),
        (0, r#"{"l": "a"}"#),
        (1, r#"{"m": {"b": 1, "a": 2}}"#),
        (1, r#"{"m": {"b": -1}}"#),
        (1, r#"{"m": []}"#),
        (2, r#"{"f": [0, 1, 2, 255]}"#),
        (2, r#"{"f": [0, 1, 2]}"#),
        (2, r#"{"f": "AAEC"}"#),
        (3, r#"{"k": {"-128": true}}"#),
        (3, r#"{"k": {"128": true}}"#),
        (3, r#"{"k": {"x": true}}"#),
    ];
    check(&host, &calls, expect![[r#"
        {"l": [[["a"], []], []]} -> [[[["a"],[]],[]]]
        {"l": "a"} -> [[[["a"]]]]
        {"m": {"b": 1, "a": 2}} -> [{"b":1,"a":2}]
        {"m": {"b": -1}} -> argument `m.b` of `f`: expected an integer from 0 to 4294967295, got -1
        {"m": []} -> argument `m` of `f`: expected an object, got an array
        {"f": [0, 1, 2, 255]} -> [[0,1,2,255]]
        {"f": [0, 1, 2]} -> argument `f` of `f`: expected exactly 4 items, got 3
        {"f": "AAEC"} -> argument `f` of `f`: expected an array, got a string
        {"k": {"-128": true}} -> [{"-128":true}]
        {"k": {"128": true}} -> argument `k.128` of `f`: expected an integer from -128 to 127, got 128
        {"k": {"x": true}} -> argument `k.x` of `f`: expected an integer from -128 to 127, got a string
    "#]]).await;
}
