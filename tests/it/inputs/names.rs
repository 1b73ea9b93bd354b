//! Names and sizes: what a model is offered, under which name, and why something is not.

use std::fmt::Write as _;
use std::sync::Arc;

use expect_test::expect;
use openprogram_component::LoadedComponent;
use openprogram_core::Json;
use openprogram_core::function::{FunctionRef, Offer};
use openprogram_core::schema::Type;
use openprogram_core::tool::ToolNames;
use openprogram_tests::host::{TestHost, load};
use serde_json::json;

use super::{answer, cases, echoes, host, record, try_echoes, u32_type};

#[tokio::test]
async fn parameters_may_have_the_names_of_keywords_and_of_a_decision() {
    let names = ["id", "type", "list", "call", "action", "args", "default"];
    let parameters: Vec<_> = names.iter().map(|name| (*name, u32_type())).collect();
    let bytes = echoes(&[&parameters]);
    let host = TestHost::new()
        .component("echoes", bytes.clone())
        .start()
        .await;
    let given =
        r#"{"id": 1, "type": 2, "list": 3, "call": 4, "action": 5, "args": 6, "default": 7}"#;
    expect!["[1,2,3,4,5,6,7]"].assert_eq(&answer(&host, 0, given).await);
    let tools = tools(&load("echoes", bytes).await.unwrap());
    expect![[r#"
        [
          "id",
          "type",
          "list",
          "call",
          "action",
          "args",
          "default",
          "pad"
        ]"#]]
    .assert_eq(&format!("{:#}", tools[0].1["required"]));
    // The name of an injected runtime is kept for one.
    let runtime = load("echoes", echoes(&[&[("runtime", u32_type())]]))
        .await
        .unwrap();
    expect![[r#"
        same-f0: parameter `runtime` has a name that is reserved for `borrow<runtime>`; rename it or change its type"#]].assert_eq(&offers(&runtime));
}

/// The tools of the functions that are offered: names and schemas.
fn tools(component: &LoadedComponent) -> Vec<(String, Json)> {
    let functions = component.functions().iter();
    let offered = functions.filter(|function| function.offer == Offer::Offered);
    let offered: Vec<FunctionRef> = offered.cloned().map(Arc::new).collect();
    let specs = ToolNames::new(offered).unwrap().specs();
    specs
        .into_iter()
        .map(|spec| (spec.name, spec.parameters))
        .collect()
}

/// Each function with why it is not offered.
fn offers(component: &LoadedComponent) -> String {
    let offer = |offer: &Offer| match offer {
        Offer::Offered => "offered".to_owned(),
        Offer::NotOfferable(reason) => reason.clone(),
    };
    let functions = component.functions().iter();
    let lines = functions.map(|f| format!("{}: {}", f.name.function, offer(&f.offer)));
    lines.collect::<Vec<_>>().join("\n")
}

/// A component of these exports, each written as in the text form: a name and what it belongs to.
fn exporting(exports: &str) -> Vec<u8> {
    let text = format!(
        r#"(component
            (core module $m (func (export "f") (param i32) (result i32) (local.get 0)))
            (core instance $i (instantiate $m))
            (func $f (param "n" u32) (result u32) (canon lift (core func $i "f")))
            (instance $own (export "sum" (func $f)))
            {exports})"#
    );
    wat::parse_str(text).unwrap()
}

#[tokio::test]
async fn a_name_in_the_world_and_in_an_interface_are_two_tools() {
    let exports = r#"(export "sum" (func $f)) (export "acme:shop/desk" (instance $own))"#;
    let host = TestHost::new()
        .component("till", exporting(exports))
        .start()
        .await;
    let names = ToolNames::new(host.runtime.catalog().iter().cloned()).unwrap();
    let shown = names
        .iter()
        .map(|(name, function)| format!("{name} = {}", function.name));
    expect![[r#"
        desk_sum_51bf4bc3 = acme:shop/desk.sum
        till_sum_8e09e322 = till.sum"#]]
    .assert_eq(&shown.collect::<Vec<_>>().join("\n"));
    for function in ["till.sum", "acme:shop/desk.sum"] {
        assert_eq!(host.call(function, json!({"n": 3})).await, Ok(json!(3)));
    }
    expect![
        "`sum` names several functions: `till.sum`, `acme:shop/desk.sum`; write more of the name"
    ]
    .assert_eq(&host.failure("sum", json!({"n": 3})).await.to_string());
}

#[tokio::test]
async fn two_packages_with_the_same_words_are_two_tools() {
    let exports = r#"(export "a:b-c/d" (instance $own)) (export "a-b:c/d" (instance $own))"#;
    let host = TestHost::new()
        .component("till", exporting(exports))
        .start()
        .await;
    let names = ToolNames::new(host.runtime.catalog().iter().cloned()).unwrap();
    let shown = names
        .iter()
        .map(|(name, function)| format!("{name} = {}", function.name));
    expect![[r#"
        d_sum_649dd4d1 = a:b-c/d.sum
        d_sum_e1ce1d89 = a-b:c/d.sum"#]]
    .assert_eq(&shown.collect::<Vec<_>>().join("\n"));
}

#[tokio::test]
async fn long_names_are_cut_for_tools_and_refused_for_properties() {
    let long = "n".repeat(150);
    let exports = format!("(export \"{long}\" (func $f))");
    let loaded = load("till", exporting(&exports)).await.unwrap();
    let tools = tools(&loaded);
    expect!["till_nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn_2b6bd6c6"]
        .assert_eq(&tools[0].0);
    let bytes = echoes(&[
        &[(long.as_str(), u32_type())],
        &[(
            "v",
            Type::List(Box::new(record("r", &[(long.as_str(), u32_type())]))),
        )],
        &[("e", Type::Enum(cases("c", &[(long.as_str(), None)])))],
    ]);
    let loaded = load("echoes", bytes).await.unwrap();
    expect![[r#"
        same-f0: its parameter is named `nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn…`, and names of models have at most 64 characters; shorten it
        same-f1: its parameter `v` holds `nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn…`, and names of models have at most 64 characters; shorten it
        same-f2: offered"#]].assert_eq(&offers(&loaded));
}

#[tokio::test]
async fn a_name_with_two_hyphens_is_none() {
    let text = r#"(component
        (core module $m (func (export "f"))) (core instance $i (instantiate $m))
        (func (export "a--b") (canon lift (core func $i "f"))))"#;
    let refused = match wat::parse_str(text) {
        Ok(bytes) => load("odd", bytes).await.unwrap_err().to_string(),
        Err(error) => error.to_string(),
    };
    assert!(
        refused.contains("`a--b` is not a valid extern name"),
        "{refused}"
    );
}

#[tokio::test]
async fn depth_and_width_are_offered_or_refused_for_the_one_function() {
    let nested = |levels: usize| {
        let names: Vec<String> = (0..levels).map(|n| format!("r{n}")).collect();
        let inner = record("bottom", &[("it", u32_type())]);
        names
            .iter()
            .fold(inner, |inner, name| record(name, &[("it", inner)]))
    };
    let fields: Vec<String> = (0..1_000).map(|n| format!("field-{n}")).collect();
    let wide = |count: usize| {
        let fields = fields[..count].iter();
        let fields: Vec<_> = fields.map(|name| (name.as_str(), u32_type())).collect();
        record("wide", &fields)
    };
    let parameters: Vec<_> = fields[..20]
        .iter()
        .map(|n| (n.as_str(), u32_type()))
        .collect();
    let mut shown = String::new();
    for (label, parameters) in [
        ("40 nested records", vec![("it", nested(40))]),
        ("60 nested records", vec![("it", nested(60))]),
        ("100 nested records", vec![("it", nested(100))]),
        ("a record of 300", vec![("it", wide(300))]),
        ("a record of 1,000", vec![("it", wide(1_000))]),
        ("20 parameters", parameters),
    ] {
        let signatures: &[&[(&str, Type)]] = &[&parameters, &[("other", u32_type())]];
        let told = match try_echoes(signatures) {
            Ok(bytes) => match load("echoes", bytes).await {
                Ok(loaded) => offers(&loaded),
                Err(error) => format!("refused: {error}"),
            },
            Err(error) => format!("no tool makes it: {}", error.root_cause()),
        };
        let _ = writeln!(shown, "{label}\n    {}", told.replace('\n', "\n    "));
    }
    expect![[r#"
        40 nested records
            same-f0: offered
            same-f1: offered
        60 nested records
            same-f0: its parameters make a schema of 125 levels, and models are offered at most 100; use flatter types
            same-f1: offered
        100 nested records
            no tool makes it: type nesting is too deep (at offset 0x27)
        a record of 300
            same-f0: offered
            same-f1: offered
        a record of 1,000
            same-f0: its parameters make a schema of 77018 bytes, and models are offered at most 65536; split it into several functions, or say less in descriptions
            same-f1: offered
        20 parameters
            same-f0: offered
            same-f1: offered
    "#]].assert_eq(&shown);
    // A record of 300 is called like any other.
    let host = host(&[&[("it", wide(300))]]).await;
    let given: Vec<String> = (0..300).map(|n| format!("\"field_{n}\": {n}")).collect();
    let given = format!("{{\"it\": {{{}}}}}", given.join(", "));
    let answer: Json = serde_json::from_str(&answer(&host, 0, &given).await).unwrap();
    assert_eq!(answer[0]["field_299"], 299);
}
