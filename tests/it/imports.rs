//! Functions of other components as imports: what crosses, what it takes, and what is recorded.

use expect_test::{Expect, expect};
use openprogram_core::Json;
use openprogram_runtime::RunRequest;
use openprogram_tests::guests;
use openprogram_tests::host::{RunningHost, TestHost, load};
use serde_json::json;

/// The functions that `importer` imports from `every-type`.
const IMPORTED: [&str; 15] = [
    "echo-u64",
    "echo-s64",
    "echo-f32",
    "echo-f64",
    "echo-char",
    "echo-string",
    "echo-bytes",
    "echo-nested-option",
    "echo-everything",
    "echo-bare-result",
    "echo-or-fail",
    "fail",
    "fail-with-failure",
    "nothing",
    "described",
];

async fn importer(granted: &[&str]) -> RunningHost {
    let host = TestHost::new().guest("importer").guest("every-type");
    let grant = |host: TestHost, function: &&str| {
        host.grant("importer", &format!("test:every-type/echo.{function}"))
    };
    granted.iter().fold(host, grant).start().await
}

#[tokio::test]
async fn importer_gets_every_value_back_as_it_was() {
    let host = importer(&IMPORTED).await;
    let outcome = host.run("changed", json!({})).await;
    assert_eq!(outcome.result.unwrap(), json!([]));
}

#[tokio::test]
async fn importer_gets_an_error_of_the_function_as_a_value_of_its_type() {
    let host = importer(&IMPORTED).await;
    let mut told = String::new();
    for how in ["none", "asked", "because", "at", "list", "failure"] {
        let outcome = host
            .run("test:importer/guest.fail", json!({"how": how}))
            .await;
        told.push_str(&format!(
            "{how}: {}\n",
            outcome.result.unwrap().as_str().unwrap()
        ));
    }
    expect![[r#"
        none: Ok(3)
        asked: Err(Refusal::Asked)
        because: Err(Refusal::Because("of this"))
        at: Err(Refusal::At(Corner { x: -2147483648, y: 0, type: Some("t") }))
        list: Err(Refusal::Asked)
        failure: Err(Failure { code: "invalid-argument", message: "it was asked to", details: "{\"path\":\"denied\"}" })
    "#]].assert_eq(&told);
}

#[tokio::test]
async fn importer_is_stopped_where_it_has_no_grant_and_the_graph_shows_why() {
    let host = importer(&[]).await;
    let outcome = host
        .run("test:importer/guest.fail", json!({"how": "asked"}))
        .await;
    let failure = outcome.result.as_ref().unwrap_err();
    assert_eq!(failure.code.as_str(), "denied");
    let how = failure.details["how_to_allow"].as_str().unwrap();
    assert_eq!(
        how,
        "openprogram grant importer --call test:every-type/echo.fail"
    );
    expect![[r#"
        1 code test:importer/guest.fail
          in   {"how":"asked"}
          fact host_calls=1
          fact n_refused=1
          fact refused=[{"code":"denied","message":"`importer` may not call `test:every-type/echo.fail`","details":{"what":"call test:every-type/echo.fail","how_to_allow":"openprogram grant importer --call test:every-type/echo.fail"}}]
          fact access=[{"kind":"calls","what":"call test:every-type/echo.fail","refused":"`importer` may not call `test:every-type/echo.fail`","needed":"test:every-type/echo.fail","n":1}]
          denied: `test:importer/guest.fail` stopped: its import `test:every-type/echo.fail` (of `every-type`) failed: `importer` may not call `test:every-type/echo.fail`
    "#]].assert_eq(&host.graph(&outcome).await);
    // What does not call it is not in its way.
    let alone = host.run("alone", json!({})).await;
    assert_eq!(alone.result.unwrap(), "alone");

    let allowed = importer(&["fail"]).await;
    let outcome = allowed
        .run("test:importer/guest.fail", json!({"how": "asked"}))
        .await;
    expect![[r#"
        1 code test:importer/guest.fail
          in   {"how":"asked"}
          fact host_calls=1
          fact access=[{"kind":"calls","what":"call test:every-type/echo.fail","grant":"test:every-type/echo.fail","n":1}]
          out  "Err(Refusal::Asked)"
        2 code test:every-type/echo.fail caller=1
          in   {"how":"asked","number":3}
          function-failed: `test:every-type/echo.fail` failed
    "#]].assert_eq(&allowed.graph(&outcome).await);
}

#[tokio::test]
async fn importer_cannot_make_up_what_the_context_hides() {
    let host = importer(&IMPORTED).await;
    let arguments = json!({"secret": "made up", "style": "fancy"});
    let failure = host.failure("describe", arguments.clone()).await;
    expect!["`test:importer/guest.describe` stopped: its import `test:every-type/echo.described` (of `every-type`) failed: argument `secret` of `test:every-type/echo.described`: hidden parameter, and the context has no value for it"].assert_eq(&failure.to_string());
    let request = RunRequest {
        arguments: arguments.as_object().unwrap().clone(),
        context: json!({"secret": "of the person", "attempts": 5})
            .as_object()
            .unwrap()
            .clone(),
        ..RunRequest::new("describe")
    };
    let outcome = host.runtime.run_function(request).await;
    let expected = json!([
        "fancy",
        "",
        "topic",
        "title",
        "function",
        "of the person",
        "5"
    ]);
    assert_eq!(outcome.result, Ok(expected));
    let nodes = host.nodes(outcome.session.as_ref().unwrap()).await;
    expect![[r#"[{"path":"secret","what":"never taken from a reply or a caller, dropped"},{"path":"attempts","what":"never taken from a reply or a caller, dropped"}]"#]].assert_eq(&nodes[1].opened.facts["coerced"].to_string());
    // What the author allows holds for code as well.
    let ugly = json!({"secret": "", "style": "ugly"});
    expect![[r#"`test:importer/guest.describe` stopped: its import `test:every-type/echo.described` (of `every-type`) failed: argument `style` of `test:every-type/echo.described`: must be one of "plain", "fancy", "none", got "ugly""#]].assert_eq(&host.failure("describe", ugly).await.to_string());
}

/// A component that passes numbers on to an interface that it imports, `IMPORTED`, under the name of
/// `EXPORTED`.
const PASSES_ON: &str = r#"(component
    (import "IMPORTED" (instance $f (export "down" (func (param "n" u32) (result u32)))))
    (core func $down (canon lower (func $f "down")))
    (core module $m
        (import "f" "down" (func $down (param i32) (result i32)))
        (func (export "down") (param i32) (result i32)
            (if (result i32) (i32.eqz (local.get 0))
                (then unreachable)
                (else (call $down (i32.sub (local.get 0) (i32.const 1)))))))
    (core instance $i (instantiate $m (with "f" (instance (export "down" (func $down))))))
    (func $down (param "n" u32) (result u32) (canon lift (core func $i "down")))
    (instance $x (export "down" (func $down)))
    (export "EXPORTED" (instance $x)))"#;

fn passing_on(exported: &str, imported: &str) -> Vec<u8> {
    let text = PASSES_ON.replace("EXPORTED", exported);
    wat::parse_str(text.replace("IMPORTED", imported)).unwrap()
}

/// What a call of `down` with this number says, and how many nodes it left.
async fn down(host: &RunningHost, n: u32, expected: Expect) {
    let outcome = host.run("acme:a/steps.down", json!({"n": n})).await;
    let failure = outcome.result.unwrap_err();
    let imports = failure
        .details
        .get("imports")
        .and_then(Json::as_array)
        .map_or(0, Vec::len);
    let said = format!(
        "{}: {}\n{imports} imports",
        failure.code.as_str(),
        failure.message
    );
    expected.assert_eq(&said);
}

#[tokio::test]
async fn components_that_import_each_other_end_at_the_depth_and_a_trap_names_both_ends() {
    let host = TestHost::new()
        .component("a", passing_on("acme:a/steps", "acme:b/steps"))
        .component("b", passing_on("acme:b/steps", "acme:a/steps"))
        .grant("a", "acme:b/steps.down")
        .grant("b", "acme:a/steps.down")
        .start()
        .await;
    down(
        &host,
        0,
        expect![[r#"
        trapped: `acme:a/steps.down` trapped: unreachable
        0 imports"#]],
    )
    .await;
    down(&host, 2, expect![[r#"
        trapped: `acme:a/steps.down` stopped: its import `acme:b/steps.down` (of `b`) failed: `acme:a/steps.down` trapped: unreachable
        2 imports"#]]).await;
    down(&host, 1_000, expect![[r#"
        limit-reached: `acme:a/steps.down` stopped: its import `acme:b/steps.down` (of `b`) failed: `acme:a/steps.down` is already running 8 times in this chain
        16 imports"#]]).await;
}

#[tokio::test]
async fn a_component_that_imports_itself_needs_no_grant_and_ends_too() {
    let host = TestHost::new()
        .component("a", passing_on("acme:a/steps", "acme:a/steps"))
        .start()
        .await;
    down(&host, 1, expect![[r#"
        trapped: `acme:a/steps.down` stopped: its import `acme:a/steps.down` (of `a`) failed: `acme:a/steps.down` trapped: unreachable
        1 imports"#]]).await;
    down(&host, 1_000, expect![[r#"
        limit-reached: `acme:a/steps.down` stopped: its import `acme:a/steps.down` (of `a`) failed: `acme:a/steps.down` is already running 8 times in this chain
        8 imports"#]]).await;
}

#[tokio::test]
async fn a_function_that_takes_a_runtime_is_not_imported() {
    let text = guests::assemble(
        "package test:taker;
        world taker { import acme:turns/turns; export run: func(); }
        package acme:turns { interface turns {
            use openprogram:agentic/runtime@0.1.0.{runtime};
            turn: func(runtime: borrow<runtime>);
        } }",
        r#"(module (import "acme:turns/turns" "turn" (func (param i32)))
            (memory (export "memory") 1) (func (export "run")))"#,
    );
    let error = load("taker", text.unwrap()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the component imports `acme:turns/turns.turn`, which cannot be linked: parameter \
         `runtime` takes a runtime, which is lent to one call and not passed on to another \
         component; call it by name (`functions.call`), and the host lends it one"
    );
}
