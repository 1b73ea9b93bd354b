//! What is refused at load, and what is learned of a component.

use openprogram_core::function::Offer;
use proptest::prelude::*;

use super::{TestHost, component, engine, load};
use crate::{
    ComponentHost, ComponentSource, Engine, EngineOptions, Limits, LoadError, LoadedComponent,
    MetadataMode, digest_of,
};

#[tokio::test]
async fn bytes_that_are_no_component_are_refused_by_name() {
    let whole = component("(func (export \"f\"))", &[("f", "")]);
    let core = wat::parse_str("(module)").unwrap();
    let wit = b"package acme:x; interface i {}".to_vec();
    for (bytes, expected) in [
        (vec![], "the file is empty; give a component (`.wasm`)"),
        (
            wit,
            "this is text, not a component; build it first and give the `.wasm` file",
        ),
        (
            vec![0x89, 0x50, 0, 0xff],
            "this is not WebAssembly; give a component (`.wasm`)",
        ),
        (
            core,
            "this is a core module, not a component; build it for `wasm32-wasip2`, or make it a \
             component with `wasm-tools component new`",
        ),
        (
            whole[..5].to_vec(),
            "the component is damaged: it ends within its header",
        ),
    ] {
        assert_eq!(load(bytes).await.unwrap_err().to_string(), expected);
    }
    for cut in [9, 20, whole.len() / 2, whole.len() - 1] {
        let error = load(whole[..cut].to_vec()).await.unwrap_err();
        assert!(matches!(error, LoadError::Malformed(_)), "{cut}: {error}");
    }
}

#[tokio::test]
async fn a_precompiled_image_is_refused() {
    let bytes = component("(func (export \"f\"))", &[("f", "")]);
    let engine = engine();
    let image = engine
        .built()
        .unwrap()
        .wasmtime
        .precompile_component(&bytes)
        .unwrap();
    let error = load(image).await.unwrap_err();
    assert!(matches!(error, LoadError::Precompiled), "{error}");
}

#[tokio::test]
async fn a_component_over_the_size_is_refused_before_it_is_compiled() {
    let engine = Engine::new(EngineOptions {
        component_bytes_max: 100,
        ..EngineOptions::default()
    });
    let bytes = component("(func (export \"f\"))", &[("f", "")]);
    let size = bytes.len() as u64;
    let error = LoadedComponent::load(&engine, "test", bytes, MetadataMode::Run).await;
    assert_eq!(
        error.unwrap_err().to_string(),
        format!("the component has {size} bytes; at most 100 are loaded")
    );
}

#[tokio::test]
async fn a_component_that_takes_long_to_compile_ends_in_its_own_limit() {
    let engine = Engine::new(EngineOptions {
        compile_time: std::time::Duration::from_millis(1),
        compilations: 1,
        ..EngineOptions::default()
    });
    engine.start().unwrap();
    // Thousands of additions take a compiler much longer than a millisecond.
    let sum = "(i32.add (i32.const 1) (i32.mul (i32.const 3) (i32.const 5)))";
    let body = format!("(drop {sum})").repeat(20_000);
    let long = component(&format!("(func (export \"f\") {body})"), &[("f", "")]);
    let loaded = LoadedComponent::load(&engine, "long", long, MetadataMode::Skip).await;
    let loaded = loaded.unwrap();
    let error = loaded.compile(&engine).await.unwrap_err();
    assert!(
        matches!(error, LoadError::CompileTime { limit_ms: 1 }),
        "{error}"
    );
    let called = error.to_call_error("long").to_failure("long.f");
    assert_eq!(called.code.as_str(), "limit-reached");
    assert_eq!(called.details["which"], "compile_ms");
}

#[tokio::test]
async fn another_contract_is_refused_with_the_remedy() {
    let text = r#"(component (core module (@custom "openprogram:contract" "0123")))"#;
    assert_eq!(
        load(wat::parse_str(text).unwrap())
            .await
            .unwrap_err()
            .to_string(),
        "the component was built with another contract; rebuild it with this SDK, or this program where the SDK is newer"
    );
}

#[tokio::test]
async fn missing_and_denied_imports_are_named_together() {
    let text = r#"(component
        (import "acme:db/query@1.0.0" (instance (export "run" (func))))
        (import "wasi:sockets/types@0.3.0" (instance (export "socket" (type (sub resource)))))
        (import "wasi:cli/environment@0.2.9" (instance (export "get-arguments" (func))))
        (import "openprogram:agentic/function@0.1.0" (instance (export "call" (func)))))"#;
    assert_eq!(
        load(wat::parse_str(text).unwrap())
            .await
            .unwrap_err()
            .to_string(),
        "the component imports what this host does not have: \
         `openprogram:agentic/function@0.1.0` (nearest: `openprogram:agentic/functions@0.1.0`); \
         denied: sockets are not granted to components: `wasi:sockets/types@0.3.0`; those of WASI \
         0.2 may be imported, and every use of them is refused; requests over HTTP (`wasi:http`) \
         can be granted"
    );
}

#[tokio::test]
async fn wasi_of_every_patch_version_links() {
    let engine = engine();
    for patch in 0..=12 {
        let text = format!(
            r#"(component
            (import "wasi:io/poll@0.2.{patch}" (instance (export "pollable" (type (sub resource)))))
            (import "wasi:random/random@0.2.{patch}" (instance
                (export "get-random-u64" (func (result u64)))))
            (import "wasi:clocks/wall-clock@0.2.{patch}" (instance
                (type $r (record (field "seconds" u64) (field "nanoseconds" u32)))
                (export "datetime" (type $datetime (eq $r)))
                (export "now" (func (result $datetime)))))
            (import "wasi:cli/environment@0.2.{patch}" (instance
                (export "get-arguments" (func (result (list string)))))))"#
        );
        let bytes = wat::parse_str(text).unwrap();
        let loaded = LoadedComponent::load(&engine, "a", bytes, MetadataMode::Run).await;
        let loaded = loaded.unwrap_or_else(|error| panic!("0.2.{patch}: {error}"));
        loaded.code().prepared(&engine).await.unwrap();
    }
}

#[tokio::test]
async fn async_types_are_refused_by_the_name_of_what_needs_them() {
    let import = |content: &str| format!("(import \"acme:x/y@1.0.0\" (instance {content}))");
    for (what, text) in [
        (
            "acme:x/y@1.0.0.f",
            import(r#"(type $s (stream u8)) (export "f" (func (param "s" $s)))"#),
        ),
        (
            "acme:x/y@1.0.0.f",
            import(
                r#"(type $s (stream u8)) (type $i (record (field "s" $s)))
                (export "inner" (type $inner (eq $i))) (type $o (variant (case "a" $inner) (case "b")))
                (export "outer" (type $outer (eq $o)))
                (export "plain" (func (param "n" u8)))
                (export "f" (func (result (list (tuple u8 $outer)))))"#,
            ),
        ),
        (
            "acme:x/y@1.0.0.later",
            import(
                r#"(type $f (future u8)) (export "later" (type (eq $f)))
                (export "plain" (func (param "n" u8)))"#,
            ),
        ),
        (
            "later",
            r#"(type $f (future u8)) (import "later" (type (eq $f)))"#.to_owned(),
        ),
        ("wait", r#"(import "wait" (func async))"#.to_owned()),
    ] {
        let bytes = wat::parse_str(format!("(component {text})")).unwrap();
        assert_eq!(
            load(bytes).await.unwrap_err().to_string(),
            format!(
                "`{what}` needs async types (WASI 0.3), which are not supported yet; build the \
                 component for WASI 0.2"
            ),
            "{text}"
        );
    }
}

#[tokio::test]
async fn async_parts_inside_are_refused_by_name() {
    let stream = "(type $s (stream u8))";
    for (part, found) in [
        ("(core func (canon task.cancel))".to_owned(), "task.cancel"),
        (
            format!("{stream} (core func (canon stream.drop-readable $s))"),
            "stream",
        ),
        (
            "(component $inner (core func (canon waitable-set.new)))
             (instance (instantiate $inner))"
                .to_owned(),
            "waitable-set.new",
        ),
        (
            r#"(core module $m (func (export "f")))
               (core instance $i (instantiate $m))
               (type $t (func async))
               (func (type $t) (canon lift (core func $i "f") async))"#
                .to_owned(),
            "canon lift async",
        ),
    ] {
        let bytes = wat::parse_str(format!("(component {part})")).unwrap();
        assert_eq!(
            load(bytes).await.unwrap_err().to_string(),
            format!(
                "the component uses `{found}`, which belongs to async functions (WASI 0.3), and \
                 these are not supported yet; build it for WASI 0.2 without them \
                 (`--backend-qjs-disable-async` of jco)"
            )
        );
    }
}

#[tokio::test]
async fn functions_that_cannot_be_offered_say_why() {
    let text = r#"(component
        (core module $m (func (export "f")) (func (export "g") (param i32)))
        (core instance $i (instantiate $m))
        (type $r (resource (rep i32)))
        (func $init (param "script" u32) (canon lift (core func $i "g")))
        (export "init" (func $init))
        (func $own (canon lift (core func $i "f")))
        (export "start" (func $own))
        (instance $python (export "init" (func $own)))
        (export "mine" (instance $python))
        (func $plain (param "runtime" u32) (canon lift (core func $i "g")))
        (export "plain" (func $plain))
        (component $inner
            (import "r" (type $r (sub resource)))
            (import "use-it" (func $f (param "it" (own $r))))
            (export $e "thing" (type $r))
            (export "use-it" (func $f) (func (param "it" (own $e)))))
        (func $use (param "it" (own $r)) (canon lift (core func $i "g")))
        (instance $o (instantiate $inner (with "r" (type $r)) (with "use-it" (func $use))))
        (export "acme:x/things" (instance $o)))"#;
    let loaded = load(wat::parse_str(text).unwrap()).await.unwrap();
    let offers: Vec<_> = loaded
        .functions()
        .iter()
        .map(|f| match &f.offer {
            Offer::Offered => format!("{}: offered", f.name),
            Offer::NotOfferable(reason) => format!("{}: {reason}", f.name),
        })
        .collect();
    assert_eq!(
        offers,
        [
            "test.init: it was left behind by the toolchain",
            "test.start: offered",
            "mine.init: offered",
            "test.plain: parameter `runtime` has a name that is reserved for `borrow<runtime>`; \
             rename it or change its type",
            "acme:x/things.use-it: it works on a resource, which needs an instance that lives on \
             between calls; allow that with `stateful = true` under `[components.test]` in \
             openprogram.toml",
            "acme:x/things.thing-release: it works on a resource, which needs an instance that lives \
             on between calls; allow that with `stateful = true` under `[components.test]` in \
             openprogram.toml",
        ]
    );
}

#[tokio::test]
async fn images_and_facts_are_kept_and_damage_is_healed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache");
    let fresh = || {
        Engine::new(EngineOptions {
            cache_folder: Some(path.clone()),
            slots: 1,
            ..EngineOptions::default()
        })
    };
    let bytes = component("(func (export \"f\"))", &[("f", "")]);
    let load = async |engine: &Engine| {
        let loaded = LoadedComponent::load(engine, "a", bytes.clone(), MetadataMode::Run).await;
        let loaded = loaded.unwrap();
        loaded.code().prepared(engine).await.unwrap();
        let counts = engine.cache_counts();
        (counts.hits, counts.misses)
    };
    assert_eq!(load(&fresh()).await, (0, 1));
    assert_eq!(load(&fresh()).await, (1, 0));

    // What is kept lists the component without an engine and without its bytes.
    let engine = fresh();
    let source = ComponentSource::File("missing.wasm".into());
    let known = LoadedComponent::from_cache(&engine, "b", &digest_of(&bytes), source);
    let known = known.unwrap().unwrap();
    assert_eq!(known.functions()[0].name.component, "b");
    assert!(!engine.is_built());

    for spoil in [
        |bytes: &mut Vec<u8>| *bytes.first_mut().unwrap() ^= 1,
        |bytes: &mut Vec<u8>| {
            let middle = bytes.len() / 2;
            bytes[middle] ^= 0x55;
        },
        |bytes: &mut Vec<u8>| bytes.truncate(bytes.len() / 2),
        |bytes: &mut Vec<u8>| bytes.clear(),
    ] {
        for entry in std::fs::read_dir(&path).unwrap() {
            let entry = entry.unwrap().path();
            let mut content = std::fs::read(&entry).unwrap();
            spoil(&mut content);
            std::fs::write(&entry, content).unwrap();
        }
        assert_eq!(load(&fresh()).await, (0, 1));
        assert_eq!(load(&fresh()).await, (1, 0));
    }
}

#[tokio::test]
async fn an_image_runs_only_as_the_component_that_it_was_made_of() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache");
    let host = async |number: u32| {
        let engine = Engine::new(EngineOptions {
            cache_folder: Some(path.clone()),
            slots: 1,
            ..EngineOptions::default()
        });
        let body = format!("(func (export \"f\") (result i32) (i32.const {number}))");
        let bytes = component(&body, &[("f", "(result u32)")]);
        let component = LoadedComponent::load(&engine, "test", bytes, MetadataMode::Run).await;
        let component = component.unwrap();
        let mut host = ComponentHost::new(engine.clone(), Limits::default());
        host.add(component.clone());
        (engine, TestHost { host, component })
    };
    let images = || {
        let entries = std::fs::read_dir(&path).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        let is_image = |path: &std::path::PathBuf| path.extension().unwrap() == "image";
        paths.filter(is_image).collect::<Vec<_>>()
    };
    let (_, one) = host(1).await;
    assert_eq!(one.line("f", "{}").await, "1");
    let first = images().remove(0);
    let (_, two) = host(2).await;
    assert_eq!(two.line("f", "{}").await, "2");
    let second = images().into_iter().find(|path| *path != first).unwrap();

    // From the cache, and still the same while the entry is replaced by another file.
    let (engine, mapped) = host(1).await;
    assert_eq!(mapped.line("f", "{}").await, "1");
    assert_eq!(engine.cache_counts().hits, 1);
    std::fs::rename(&second, &first).unwrap();
    assert_eq!(mapped.line("f", "{}").await, "1");

    let (engine, again) = host(1).await;
    assert_eq!(again.line("f", "{}").await, "1");
    assert_eq!(engine.cache_counts().misses, 1);
}

#[cfg(unix)]
#[tokio::test]
async fn a_cache_that_others_can_write_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let engine = Engine::new(EngineOptions {
        cache_folder: Some(folder.path().to_owned()),
        ..EngineOptions::default()
    });
    let bytes = component("(func (export \"f\"))", &[("f", "")]);
    let error = LoadedComponent::load(&engine, "a", bytes, MetadataMode::Run).await;
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("is not private (others can write it, mode 777)"),
        "{error}"
    );
}

#[tokio::test]
async fn a_type_that_explodes_when_written_out_is_not_offered() {
    let mut types = "(type $t0 (tuple u8 u8))".to_owned();
    for level in 1..40 {
        let below = level - 1;
        types.push_str(&format!("(type $t{level} (tuple $t{below} $t{below}))"));
    }
    let text = format!(
        r#"(component (core module $m (memory (export "memory") 1)
            (func (export "f") (param i32))
            (func (export "realloc") (param i32 i32 i32 i32) (result i32) unreachable))
        (core instance $i (instantiate $m)) {types}
        (func $f (param "t" (list $t39)) (canon lift (core func $i "f")
            (memory $i "memory") (realloc (func $i "realloc"))))
        (export "f" (func $f)))"#
    );
    match load(wat::parse_str(&text).unwrap()).await {
        Ok(loaded) => {
            let reason = "parameter `t` has a type of more than 10000 parts".to_owned();
            assert_eq!(loaded.functions()[0].offer, Offer::NotOfferable(reason));
        }
        Err(error) => assert!(matches!(error, LoadError::Malformed(_)), "{error}"),
    }
}

proptest! {
    #[test]
    fn a_component_with_wrong_bytes_is_loaded_or_refused(
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut bytes = component(
            "(func (export \"f\") (param i32 i32))",
            &[("f", "(param \"a\" string)")],
        );
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        // Not compiled: only reading must hold, whatever the bytes say.
        let loaded = runtime.block_on(load(bytes));
        if let Err(error) = loaded {
            prop_assert!(!error.to_string().is_empty());
        }
    }
}

#[tokio::test]
async fn code_that_is_loaded_by_a_call_is_checked_against_its_digest() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache");
    let fresh = || {
        Engine::new(EngineOptions {
            cache_folder: Some(path.clone()),
            ..EngineOptions::default()
        })
    };
    let bytes = component("(func (export \"f\"))", &[("f", "")]);
    let digest = digest_of(&bytes);
    let loaded = LoadedComponent::load(&fresh(), "a", bytes.clone(), MetadataMode::Run).await;
    assert_eq!(loaded.unwrap().digest(), digest);
    // It stays known, and is not compiled any more.
    for entry in std::fs::read_dir(&path).unwrap() {
        let entry = entry.unwrap().path();
        if entry.extension().is_some_and(|kind| kind == "image") {
            std::fs::remove_file(entry).unwrap();
        }
    }

    let file = folder.path().join("a.wasm");
    let compile = async |content: Option<&[u8]>| {
        // Ignored: it may not be there yet.
        let _ = std::fs::remove_file(&file);
        if let Some(content) = content {
            std::fs::write(&file, content).unwrap();
        }
        let engine = fresh();
        let source = ComponentSource::File(file.clone());
        let known = LoadedComponent::from_cache(&engine, "a", &digest, source);
        known.unwrap().unwrap().compile(&engine).await
    };
    let missing = compile(None).await.unwrap_err();
    assert!(matches!(missing, LoadError::Read { .. }), "{missing}");
    let other = [&bytes[..], &[0]].concat();
    let wrong = compile(Some(&other)).await.unwrap_err();
    let LoadError::WrongDigest {
        expected, found, ..
    } = &wrong
    else {
        panic!("{wrong}");
    };
    assert_eq!((expected, found), (&digest, &digest_of(&other)));
    let said = wrong.to_call_error("a").to_string();
    assert!(
        said.contains("`a` cannot be loaded: wrong digest"),
        "{said}"
    );
    compile(Some(&bytes)).await.unwrap();
    // From now on the image is enough.
    compile(None).await.unwrap();
}
