//! Imports of interfaces of other components: who serves them, and what a call gives.

use std::sync::Arc;

use async_trait::async_trait;
use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::function::{Function, FunctionRef, RuntimeRef};
use openprogram_core::guest::{
    CallOutcome, CallScope, DecisionRequest, FunctionCall, FunctionHost as _, HostServices,
    ImportError, PickedOption,
};
use openprogram_core::id::SessionId;
use openprogram_core::{Json, JsonObject};

use super::{EchoServices, component, engine, line};
use crate::{
    ComponentHost, Engine, Limits, LinkError, LoadError, LoadedComponent, MetadataMode, Permissions,
};

/// Services that answer calls of imports, and say what was asked.
struct Answering(Result<Json, ImportError>);

#[async_trait]
impl HostServices for Answering {
    fn model(&self, runtime: RuntimeRef) -> Result<String, Failure> {
        EchoServices.model(runtime)
    }

    fn system(&self, runtime: RuntimeRef) -> Result<Option<String>, Failure> {
        EchoServices.system(runtime)
    }

    fn set_system(&self, runtime: RuntimeRef, text: Option<String>) -> Result<(), Failure> {
        EchoServices.set_system(runtime, text)
    }

    fn session_id(&self) -> String {
        EchoServices.session_id()
    }

    async fn make(&self, request: DecisionRequest) -> Result<Json, Failure> {
        EchoServices.make(request).await
    }

    async fn pick(&self, request: DecisionRequest) -> Result<PickedOption, Failure> {
        EchoServices.pick(request).await
    }

    async fn call(&self, name: &str, arguments: Json) -> Result<Json, Failure> {
        EchoServices.call(name, arguments).await
    }

    async fn call_import(
        &self,
        function: &FunctionRef,
        arguments: JsonObject,
    ) -> Result<Json, ImportError> {
        assert_eq!(function.name.component, "maths");
        assert_eq!(Json::Object(arguments).to_string(), r#"{"n":4294967295}"#);
        self.0.clone()
    }
}

/// The type of the imported function in most tests.
const DOUBLE: &str = r#"(param "n" u32) (result u32)"#;

/// A component that imports `double` of this interface by this type, and passes it on as `run`.
fn importer(interface: &str, ty: &str) -> Vec<u8> {
    importer_as("acme:front/desk@1.0.0", interface, ty)
}

fn importer_as(export: &str, interface: &str, ty: &str) -> Vec<u8> {
    let text = format!(
        r#"(component
            (import "{interface}" (instance $f (export "double" (func {ty}))))
            (core func $double (canon lower (func $f "double")))
            (core module $m
                (import "f" "double" (func $double (param i32) (result i32)))
                (func (export "run") (param i32) (result i32) (call $double (local.get 0))))
            (core instance $i (instantiate $m
                (with "f" (instance (export "double" (func $double))))))
            (func $run {DOUBLE} (canon lift (core func $i "run")))
            (instance $x (export "double" (func $run)))
            (export "{export}" (instance $x)))"#
    );
    wat::parse_str(text).unwrap()
}

/// A component that exports `double` as this interface and by this type.
fn exporter(interface: &str, ty: &str) -> Vec<u8> {
    let text = format!(
        r#"(component
            (core module $m (func (export "double") (param i32) (result i32) unreachable))
            (core instance $i (instantiate $m))
            (func $double {ty} (canon lift (core func $i "double")))
            (instance $x (export "double" (func $double)))
            (export "{interface}" (instance $x)))"#
    );
    wat::parse_str(text).unwrap()
}

async fn load(engine: &Engine, name: &str, bytes: Vec<u8>) -> Result<LoadedComponent, LoadError> {
    LoadedComponent::load(engine, name, bytes, MetadataMode::Skip).await
}

/// Who serves `importer` among these, in one line.
async fn served(importing: Vec<u8>, others: &[(&str, Vec<u8>)]) -> String {
    let engine = engine();
    let importing = load(&engine, "front", importing).await.unwrap();
    let mut all = vec![importing.clone()];
    for (name, bytes) in others {
        all.push(load(&engine, name, bytes.clone()).await.unwrap());
    }
    match importing.link(all.iter()) {
        Ok(links) => {
            let served = links.iter().map(|(wanted, link)| {
                format!("{wanted} by {} as {}", link.component, link.interface)
            });
            served.collect::<Vec<_>>().join(", ")
        }
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn the_exact_version_comes_first_and_then_the_newest_compatible_one() {
    let at = |version: &str| exporter(&format!("acme:maths/ops{version}"), DOUBLE);
    for (wanted, others, expected) in [
        ("@1.2.0", vec!["@1.2.0"], "by a as acme:maths/ops@1.2.0"),
        ("@1.2.0", vec!["@1.9.0"], "by a as acme:maths/ops@1.9.0"),
        (
            "@1.2.0",
            vec!["@1.0.3", "@1.2.0"],
            "by b as acme:maths/ops@1.2.0",
        ),
        ("@0.2.1", vec!["@0.2.7"], "by a as acme:maths/ops@0.2.7"),
        ("", vec![""], "by a as acme:maths/ops"),
    ] {
        let names = ["a", "b"]
            .into_iter()
            .zip(others.iter().map(|version| at(version)));
        let names: Vec<_> = names.collect();
        let wanted = format!("acme:maths/ops{wanted}");
        let said = served(importer(&wanted, DOUBLE), &names).await;
        assert_eq!(said, format!("{wanted} {expected}"));
    }
    for (wanted, other) in [
        ("@1.2.0", "@2.0.0"),
        ("@0.2.1", "@0.3.0"),
        ("@0.0.1", "@0.0.2"),
        ("@1.0.0-rc.1", "@1.0.0"),
        ("@1.0.0", ""),
    ] {
        let wanted = format!("acme:maths/ops{wanted}");
        let said = served(importer(&wanted, DOUBLE), &[("a", at(other))]).await;
        assert_eq!(
            said,
            format!(
                "it imports `{wanted}`, which no component of the project exports in a compatible \
                 version (`a` has `acme:maths/ops{other}`); install one that does with \
                 `openprogram add`"
            )
        );
    }
}

#[tokio::test]
async fn nothing_is_guessed_where_nobody_or_several_serve_an_import() {
    let wanted = "acme:maths/ops@1.0.0";
    assert_eq!(
        served(importer(wanted, DOUBLE), &[]).await,
        "it imports `acme:maths/ops@1.0.0`, which no component of the project exports; install one \
         that does with `openprogram add`"
    );
    let maths = exporter(wanted, DOUBLE);
    assert_eq!(
        served(
            importer(wanted, DOUBLE),
            &[("one", maths.clone()), ("two", maths)]
        )
        .await,
        "it imports `acme:maths/ops@1.0.0`, which `one` and `two` export; remove all of them but one"
    );
    // It may be served by itself.
    assert_eq!(
        served(importer_as(wanted, wanted, DOUBLE), &[]).await,
        "acme:maths/ops@1.0.0 by front as acme:maths/ops@1.0.0"
    );
}

#[tokio::test]
async fn other_types_are_refused_with_both_of_them() {
    let wanted = "acme:maths/ops@1.0.0";
    for (ty, expected) in [
        (r#"(param "other-name" u32) (result u32)"#, None),
        (
            r#"(param "n" s32) (result u32)"#,
            Some("func(n: s32) -> u32"),
        ),
        (
            r#"(param "n" u32) (result s32)"#,
            Some("func(n: u32) -> s32"),
        ),
        (
            r#"(param "n" (tuple u32)) (result u32)"#,
            Some("func(n: tuple<u32>) -> u32"),
        ),
        (
            r#"(param "n" char) (result bool)"#,
            Some("func(n: char) -> bool"),
        ),
    ] {
        let said = served(importer(wanted, DOUBLE), &[("maths", exporter(wanted, ty))]).await;
        let expected = match expected {
            None => "acme:maths/ops@1.0.0 by maths as acme:maths/ops@1.0.0".to_owned(),
            Some(there) => format!(
                "it imports `acme:maths/ops@1.0.0.double` as `func(n: u32) -> u32`, and `maths` \
                 exports it as `{there}`: one of them was built against another version of the \
                 interface"
            ),
        };
        assert_eq!(said, expected, "{ty}");
    }
    let other = component("(func (export \"f\"))", &[("f", "")]);
    let lacking = importer("acme:test/f@1.0.0", DOUBLE);
    assert_eq!(
        served(lacking, &[("other", other)]).await,
        "it imports `acme:test/f@1.0.0.double`, and `other` exports `acme:test/f@1.0.0` without \
         `double`: one of them was built against another version"
    );
}

#[tokio::test]
async fn names_of_types_and_the_word_json_are_no_difference_and_names_of_fields_are() {
    let wanted = "acme:maths/ops@1.0.0";
    let record = |name: &str, field: &str| {
        let ty = format!("(record (field \"{field}\" char))");
        let text = format!(
            r#"(component
                (import "{wanted}" (instance
                    (type $r {ty}) (export "{name}" (type $n (eq $r)))
                    (export "double" (func (param "n" $n))))))"#
        );
        wat::parse_str(text).unwrap()
    };
    let exporting = wat::parse_str(format!(
        r#"(component
            (core module $m (func (export "double") (param i32)))
            (core instance $i (instantiate $m))
            (type $r (record (field "letter" char)))
            (component $c
                (import "r" (type $inner (eq $r)))
                (import "double" (func $double (param "n" $inner)))
                (export $e "grade" (type $inner))
                (export "double" (func $double) (func (param "n" $e))))
            (func $double (param "n" $r) (canon lift (core func $i "double")))
            (instance $x (instantiate $c (with "r" (type $r)) (with "double" (func $double))))
            (export "{wanted}" (instance $x)))"#
    ));
    let exporting = exporting.unwrap();
    assert_eq!(
        served(record("mark", "letter"), &[("maths", exporting.clone())]).await,
        "acme:maths/ops@1.0.0 by maths as acme:maths/ops@1.0.0"
    );
    // Where the names say the same, the types are written out.
    assert_eq!(
        served(record("grade", "sign"), &[("maths", exporting)]).await,
        "it imports `acme:maths/ops@1.0.0.double` as `func(n: record { sign: char })`, and `maths` \
         exports it as `func(n: record { letter: char })`: one of them was built against another \
         version of the interface"
    );
}

#[tokio::test]
async fn what_could_never_be_linked_is_refused_at_load() {
    let import = |content: &str| {
        let text = format!("(component (import \"acme:x/y@1.0.0\" (instance {content})))");
        wat::parse_str(text).unwrap()
    };
    let engine = engine();
    for (content, expected) in [
        (
            r#"(export "r" (type $r (sub resource))) (export "f" (func (param "r" (borrow $r))))"#
                .to_owned(),
            "the component imports `acme:x/y@1.0.0.r`, which cannot be linked: it is a resource, \
             and resources do not leave the component that has them",
        ),
        (
            (0..10_000)
                .map(|n| format!("(export \"f{n}\" (func))"))
                .collect(),
            "the component imports too much from other components: at most 1000 functions are \
             linked",
        ),
    ] {
        let error = load(&engine, "test", import(&content)).await.unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    let error = LoadError::LinkType {
        function: "f".to_owned(),
        reason: "r".to_owned(),
    };
    assert!(
        error
            .to_call_error("c")
            .to_string()
            .contains("cannot be linked")
    );
}

#[tokio::test]
async fn types_alone_need_nobody() {
    let text = r#"(component
        (import "acme:x/types@1.0.0" (instance $t
            (type $r (record (field "a" u8))) (export "r" (type (eq $r)))))
        (core module $m (func (export "f")))
        (core instance $i (instantiate $m))
        (func $f (canon lift (core func $i "f")))
        (instance $x (export "f" (func $f)))
        (export "acme:test/f@1.0.0" (instance $x)))"#;
    let bytes = wat::parse_str(text).unwrap();
    assert_eq!(served(bytes.clone(), &[]).await, "");
    let host = super::TestHost::new(bytes, Limits::default()).await;
    assert_eq!(host.line("f", "{}").await, "null");
}

/// What a call of `run` gives when its import is answered so.
async fn called(importing: Vec<u8>, answer: Result<Json, ImportError>) -> CallOutcome {
    let engine = engine();
    let wanted = "acme:maths/ops@1.0.0";
    let maths = load(&engine, "maths", exporter(wanted, DOUBLE))
        .await
        .unwrap();
    let front = load(&engine, "front", importing).await.unwrap();
    let links = front.link([&maths].into_iter()).unwrap();
    let mut host = ComponentHost::new(engine, Limits::default());
    let permissions = Permissions {
        links: Arc::new(links),
        ..Permissions::default()
    };
    host.add_with(front.clone(), permissions);
    call(&host, &front.functions()[0], Arc::new(Answering(answer))).await
}

async fn call(
    host: &ComponentHost,
    function: &Function,
    services: Arc<dyn HostServices>,
) -> CallOutcome {
    host.call(FunctionCall {
        function: Arc::new(function.clone()),
        arguments: serde_json::from_str(r#"{"n": 4294967295}"#).unwrap(),
        services,
        depth: 0,
        totals: Arc::default(),
        scope: CallScope::top(SessionId::from_bits(0)),
    })
    .await
}

#[tokio::test]
async fn a_call_of_an_import_goes_through_the_services_and_its_failure_stops_the_caller() {
    let wanted = "acme:maths/ops@1.0.0";
    let importing = || importer(wanted, DOUBLE);
    assert_eq!(line(&called(importing(), Ok(Json::from(7))).await), "7");
    let denied = Failure::new(FailureCode::Denied, "`front` may not call it").with("what", "call");
    let outcome = called(importing(), Err(ImportError::Failed(denied))).await;
    let failure = outcome
        .result
        .unwrap_err()
        .to_failure("acme:front/desk.double");
    assert_eq!(failure.code, FailureCode::Denied);
    assert_eq!(
        failure.message,
        "`acme:front/desk.double` stopped: its import `acme:maths/ops.double` (of `maths`) failed: \
         `front` may not call it"
    );
    assert_eq!(
        Json::Object(failure.details).to_string(),
        r#"{"what":"call","imports":["acme:maths/ops.double"],"cause":"`front` may not call it"}"#
    );
    // Neither an error nor a value that its type has no place for is made into one.
    for (answer, expected) in [
        (Err(ImportError::Own(Json::from("no"))), "function-failed"),
        (Ok(Json::from("no")), "internal"),
    ] {
        let outcome = called(importing(), answer).await;
        let failure = outcome.result.unwrap_err().to_failure("f");
        assert_eq!(failure.code.as_str(), expected);
    }
}

#[tokio::test]
async fn an_import_that_nobody_is_linked_to_stops_whoever_calls_it() {
    let engine = engine();
    let bytes = importer("acme:maths/ops@1.0.0", DOUBLE);
    let front = load(&engine, "front", bytes).await.unwrap();
    let mut host = ComponentHost::new(engine, Limits::default());
    host.add(front.clone());
    let outcome = call(&host, &front.functions()[0], Arc::new(EchoServices)).await;
    let failure = outcome.result.unwrap_err().to_failure("f");
    assert_eq!(
        (failure.code.as_str(), failure.message.as_str()),
        (
            "not-found",
            "`f` stopped: its import `acme:maths/ops@1.0.0.double` failed: no component is linked \
             to `acme:maths/ops@1.0.0`"
        )
    );
}

#[test]
fn an_error_lists_so_many_components_and_no_more() {
    let exporters = (0..100).map(|n| n.to_string()).collect();
    let error = LinkError::Several {
        interface: "a:b/c".to_owned(),
        exporters,
    };
    assert_eq!(
        error.to_string(),
        "it imports `a:b/c`, which `0` and `1` and `2` and `3` and `4` export; remove all of them \
         but one"
    );
}
