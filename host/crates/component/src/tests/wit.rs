//! Which words of WIT go into a component, and what is said of WIT that cannot be used.

use std::fs;

use expect_test::{Expect, expect};

use super::*;

fn read(files: &[(&str, &str)], world: Option<&str>) -> Result<Wit, String> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let shown = |error: WitError| {
        let text = error.to_string();
        text.replace(&folder.path().display().to_string(), "<wit>")
    };
    Wit::read(folder.path(), world).map_err(shown)
}

fn words(files: &[(&str, &str)]) -> String {
    let package = read(files, None).unwrap().package();
    let text = serde_json::to_string(&package).unwrap();
    text.replace("}},", "}},\n")
}

/// Every kind of item, with and without docs, among comments that are none.
const DESK: &str = "
package local:desk;
// Not for models.
interface workshop {
    use shared.{size};
    use other:words/many@1.0.0.{word};
    //// A line.
    /// A part.
    // A note.
    enum part {
        /* Not this one. */
        tyre,
        /// Stops.
        brakes, // rust
    }
    record price {
        /** In euros. */
        euros: u32,
        note: option<word>,
    }
    variant pay { /// At once.
        cash, card(string) }
    flags tags { /// Soon.
        urgent }
    /// The price.
    ///
    /// In two paragraphs.
    tell-price: func(part: part, size: size) -> price;
    undescribed: func();
}
/// Sizes.
interface shared {
    /// A size.
    enum size { /// Small.
        s, l }
    /// Not exported.
    hidden: func();
}
interface unused { /// Unused.
    f: func(); }
world desk {
    export workshop;
    export other:words/many@1.0.0;
    /// Of the world.
    export ping: func();
    /// Imported.
    import pong: func();
    export inline: interface {
        /// Inside.
        f: func();
    }
}
";
const WORDS: &str = "package other:words@1.0.0;
interface many { /// A word.
    type word = string; /// All words. // really
    all: func() -> list<word>; }
";

#[test]
fn words_of_what_is_exported_are_found_and_no_others() {
    let files = [("desk.wit", DESK), ("deps/words/list.wit", WORDS)];
    expect![[r#"
        {"worlds":{"desk":{"interface_exports":{"inline":{"funcs":{"f":{"docs":"Inside."}}}},
        "func_exports":{"ping":{"docs":"Of the world."}}}},
        "interfaces":{"many":{"funcs":{"all":{"docs":"All words. // really"}},
        "types":{"word":{"docs":"A word."}}},
        "shared":{"types":{"size":{"docs":"A size.","items":{"s":"Small."}}}},
        "workshop":{"funcs":{"tell-price":{"docs":"The price.\n\nIn two paragraphs."}},
        "types":{"part":{"docs":"A part.","items":{"brakes":"Stops."}},
        "pay":{"items":{"cash":"At once."}},
        "price":{"items":{"euros":"In euros."}},
        "tags":{"items":{"urgent":"Soon."}}}}}}"#]]
    .assert_eq(&words(&files));
    let single = [("desk.wit", DESK), ("deps/words.wit", WORDS)];
    assert_eq!(words(&single), words(&files));
}

#[test]
fn what_is_written_is_read_by_the_tools_that_have_the_format() {
    let files = [("desk.wit", DESK), ("deps/words.wit", WORDS)];
    let wit = read(&files, None).unwrap();
    let content = [vec![VERSION], serde_json::to_vec(&wit.package()).unwrap()].concat();
    wit_parser::PackageMetadata::decode(&content).unwrap();
}

fn check(files: &[(&str, &str)], world: Option<&str>, expected: Expect) {
    let shown = match read(files, world) {
        Ok(wit) => format!("the world {}", wit.world()),
        Err(error) => error,
    };
    expected.assert_eq(&shown);
}

#[test]
fn a_mistake_is_named_with_its_place() {
    check(&[], None, expect!["`<wit>` holds no `.wit` file"]);
    check(
        &[("a.txt", "")],
        None,
        expect!["`<wit>` holds no `.wit` file"],
    );
    check(
        &[("a.wit", "package a:b;\n// x\nworld w { exprt x; }")],
        None,
        expect![[r#"
            the WIT in `<wit>` cannot be used: expected `import`, `export`, `include`, `use`, or type definition, found an identifier
                 --> <wit>/a.wit:3:11
                  |
                3 | world w { exprt x; }
                  |           ^----"#]],
    );
    check(
        &[("a.wit", "package a:b;\nworld w { export c:d/e; }")],
        None,
        expect![[r#"
            the WIT in `<wit>` cannot be used: package 'c:d' not found. known packages:
                a:b
                 --> <wit>/a.wit:2:18
                  |
                2 | world w { export c:d/e; }
                  |                  ^--"#]],
    );
    let two = [("a.wit", "package a:b; world v {} world w {}")];
    check(
        &two,
        None,
        expect![[r#"
        the WIT in `<wit>` cannot be used: There are multiple worlds in `a:b`; one must be explicitly chosen:
          a:b/v
          a:b/w"#]],
    );
    check(&two, Some("w"), expect!["the world w"]);
    check(
        &two,
        Some("x"),
        expect!["the WIT in `<wit>` cannot be used: World `x` not found in package `a:b`"],
    );
    check(
        &[
            ("a.wit", "package a:b; world w {}"),
            ("deps/c.wit", "interface"),
        ],
        None,
        expect![[r#"
            the WIT in `<wit>` cannot be used: expected an identifier or string, found eof
                 --> <wit>/deps/c.wit:1:10
                  |
                1 | interface
                  |          ^"#]],
    );
}

/// A component that exports an interface of this name.
fn component(interface: &str) -> Vec<u8> {
    wat::parse_str(format!(
        "(component (instance $i) (export \"{interface}\" (instance $i)))"
    ))
    .unwrap()
}

#[test]
fn words_replace_words_and_go_with_the_component_alone() {
    let described = |text: &str| read(&[("a.wit", text)], None).unwrap();
    let wit = described("package a:b; world w { export c; } /// Said.\ninterface c {}");
    let plain = component("a:b/c");
    let once = wit.describe(&plain).unwrap();
    assert!(once.len() > plain.len());
    wasmparser::Validator::new().validate_all(&once).unwrap();
    assert_eq!(wit.describe(&once).unwrap(), once);
    let silent = described("package a:b; world w { export c; } // Not said.\ninterface c {}");
    assert_eq!(silent.describe(&once).unwrap(), plain);

    let other = wit.describe(&component("a:b/d")).unwrap_err();
    assert!(matches!(other, WitError::AnotherComponent { world } if world == "w"));
    let module = wat::parse_str("(module)").unwrap();
    for bytes in [&b"text"[..], &module] {
        assert!(matches!(wit.describe(bytes), Err(WitError::Component(_))));
    }
}
