//! Components that are hostile before anything of them runs: each is refused by name, or loaded and
//! not offered, and none takes the host down.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use expect_test::expect;
use openprogram_component::{Engine, EngineOptions, LoadedComponent, MetadataMode};
use openprogram_core::function::Offer;
use openprogram_tests::host::engine;
use openprogram_tests::many;

/// A function of one parameter of this type, which the declarations before it define.
fn taking(declarations: &str, ty: &str) -> String {
    format!(
        "(component
          (core module $m (memory (export \"memory\") 1)
            (func (export \"realloc\") (param i32 i32 i32 i32) (result i32) unreachable)
            (func (export \"f\") (param i32 i32)))
          (core instance $i (instantiate $m))
          {declarations}
          (func $f (param \"it\" (list {ty})) (canon lift (core func $i \"f\")
            (memory $i \"memory\") (realloc (func $i \"realloc\"))))
          (instance $g (export \"type\" (type {ty})) (export \"f\" (func $f)))
          (export \"hostile:type/guest\" (instance $g)))"
    )
}

fn named(name: &str) -> String {
    format!(
        "(component (core module $m (func (export \"f\"))) (core instance $i (instantiate $m))
          (func (export \"{name}\") (canon lift (core func $i \"f\"))))"
    )
}

/// So many components, each inside of the one before.
fn nested(levels: usize) -> Vec<u8> {
    const HEADER: &[u8] = b"\0asm\x0d\0\x01\0";
    let mut all = HEADER.to_vec();
    for _ in 0..levels {
        let mut outer = HEADER.to_vec();
        // A section of a component, and its length.
        outer.push(4);
        let mut left = all.len();
        while left > 0x7f {
            outer.push(0x80 | u8::try_from(left & 0x7f).unwrap());
            left >>= 7;
        }
        outer.push(u8::try_from(left).unwrap());
        outer.extend(all);
        all = outer;
    }
    all
}

/// So many members `m0`, `m1`, … of this form.
fn members(count: usize, form: impl Fn(usize) -> String) -> String {
    (0..count).map(form).collect::<Vec<_>>().join(" ")
}

/// So many types, each made of the one before.
fn chain(levels: usize, form: impl Fn(&str) -> String) -> (String, String) {
    let mut all = "(type $t0 u8)".to_owned();
    for level in 1..=levels {
        let below = format!("$t{}", level - 1);
        let _ = write!(all, "(type $t{level} {})", form(&below));
    }
    (all, format!("$t{levels}"))
}

/// What became of it, in one short line.
async fn outcome(engine: &Engine, bytes: Vec<u8>) -> String {
    let loaded = LoadedComponent::load(engine, "hostile", bytes, MetadataMode::Run);
    let told = match loaded.await {
        Err(error) => format!("refused: {error}"),
        Ok(loaded) => {
            let offer = loaded.functions().first().map(|function| &function.offer);
            match offer {
                Some(Offer::NotOfferable(reason)) => format!("not offered: {reason}"),
                Some(Offer::Offered) => "offered".to_owned(),
                None => "without functions".to_owned(),
            }
        }
    };
    let length = told.chars().count();
    let start: String = told.chars().take(160).collect();
    assert!(length < 2_000, "{length} characters: {start}");
    start
}

#[tokio::test]
async fn hostile_forms_are_refused_by_name() {
    let text = |text: String| wat::parse_str(text).unwrap();
    let (deep, deepest) = chain(2_000, |below| format!("(list {below})"));
    let (tuples, widest) = chain(30, |below| format!("(tuple {below} {below} {below})"));
    let (fixed, largest) = chain(8, |below| format!("(list {below} 1000)"));
    let field = |n| format!("(field \"m{n}\" u8)");
    let mut shown = String::new();
    // Nothing is kept, so everything is read.
    let engine = Engine::new(EngineOptions::default());
    for (label, bytes) in [
        ("another version", b"\0asm\x0e\0\x01\0".to_vec()),
        ("another layer", b"\0asm\x0d\0\x02\0".to_vec()),
        ("nothing but a header", b"\0asm\x0d\0\x01\0".to_vec()),
        ("name of 150", text(named(&"n".repeat(150)))),
        ("name of 100,000", text(named(&"n".repeat(100_000)))),
        ("name with escapes", text(named("a\\1b[2J"))),
        ("999 functions", many::component("many", 999, 1)),
        ("3,000 functions", many::component("many", 3_000, 1)),
        (
            "two of one name",
            text("(component (component $a) (export \"x\" (component $a)) (export \"x\" (component $a)))".to_owned()),
        ),
        ("900 levels of components", nested(900)),
        ("20,000 levels of components", nested(20_000)),
        ("list of list of …", text(taking(&deep, &deepest))),
        ("tuples of tuples", text(taking(&tuples, &widest))),
        ("lists of fixed length", text(taking(&fixed, &largest))),
        (
            "record of 20,000",
            text(taking(&format!("(type $r (record {}))", members(20_000, field)), "$r")),
        ),
        (
            "flags of 65",
            text(taking(&format!("(type $r (flags {}))", members(65, |n| format!("\"m{n}\""))), "$r")),
        ),
        (
            "enum of 100,000",
            text(taking(&format!("(type $r (enum {}))", members(100_000, |n| format!("\"m{n}\""))), "$r")),
        ),
    ] {
        let _ = writeln!(shown, "{label}: {}", outcome(&engine, bytes).await);
    }
    expect![[r#"
        another version: refused: the component is damaged: unknown binary version:    0x1000e (at offset 0x4)
        another layer: refused: the component is damaged: unknown binary version:    0x2000d (at offset 0x4)
        nothing but a header: without functions
        name of 150: offered
        name of 100,000: offered
        name with escapes: refused: the component is damaged: export name `a[2J` is not a valid extern name
        999 functions: offered
        3,000 functions: refused: the component exports 3000 functions; at most 1000 are loaded
        two of one name: refused: the component is damaged: export name `x` conflicts with previous name `x` (at offset 0x30)
        900 levels of components: refused: the component holds components more than 100 levels deep; put them beside each other
        20,000 levels of components: refused: the component holds components more than 100 levels deep; put them beside each other
        list of list of …: refused: the component is damaged: type nesting is too deep (at offset 0x150)
        tuples of tuples: refused: the component is damaged: effective type size exceeds the limit of 1000000 (at offset 0xa2)
        lists of fixed length: offered
        record of 20,000: refused: the component is damaged: record field size is out of bounds (at offset 0x67)
        flags of 65: refused: the component is damaged: cannot have more than 32 flags (at offset 0x65)
        enum of 100,000: refused: the component is damaged: enum cases size is out of bounds (at offset 0x67)
    "#]].assert_eq(&shown);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_is_replaced_while_it_is_loaded_is_one_or_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("changing.wasm");
    let versions = [many::component("one", 1, 1), many::component("two", 2, 1)];
    std::fs::write(&path, &versions[0]).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let replacing = {
        let (stop, path) = (Arc::clone(&stop), path.clone());
        let versions = versions.clone();
        std::thread::spawn(move || {
            let next = path.with_extension("next");
            for version in versions.iter().cycle() {
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                std::fs::write(&next, version).unwrap();
                std::fs::rename(&next, &path).unwrap();
            }
        })
    };
    let digests = versions.map(|version| openprogram_component::digest_of(&version));
    for _ in 0..50 {
        let loaded = LoadedComponent::load_file(engine(), "changing", &path, MetadataMode::Skip);
        let loaded = loaded.await.unwrap();
        let version = digests.iter().position(|digest| digest == loaded.digest());
        let version = version.expect("it is one of the two as a whole");
        assert_eq!(loaded.functions().len(), version + 1);
    }
    stop.store(true, Ordering::Relaxed);
    replacing.join().unwrap();
}
