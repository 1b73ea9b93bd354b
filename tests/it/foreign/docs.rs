//! What an author wrote as comments reaches people and models through a `package-docs` section.

use openprogram_core::function::{FunctionRef, Offer};
use openprogram_core::tool::ToolNames;
use openprogram_tests::foreign::{Foreign, with_section};
use openprogram_tests::{guests, host};
use wit_parser::{PackageMetadata, Resolve};

use super::project;

const WIT: &str = "
package acme:counter@1.0.0;

/// Counts.
interface counting {
    /// In which direction.
    enum direction {
        /// To the next number.
        up,
        down,
    }

    /// Counts on from a number.
    ///
    /// Stops at the largest.
    step: func(number: u32, to: direction) -> u32;

    undescribed: func();
}

world counter {
    export counting;
}
";

/// Comes in with a number and a direction.
const MODULE: &str = r#"(module
    (func (export "acme:counter/counting@1.0.0#step") (param i32 i32) (result i32)
        (i32.add (local.get 0) (i32.sub (i32.const 1) (i32.mul (i32.const 2) (local.get 1)))))
    (func (export "acme:counter/counting@1.0.0#undescribed")))"#;

/// The component as a toolchain makes it, without a word.
fn counter() -> Vec<u8> {
    guests::assemble(WIT, MODULE).unwrap()
}

/// The section that tools make of the comments in a WIT text.
fn section(wit: &str) -> Vec<u8> {
    let mut resolve = Resolve::default();
    let package = resolve.push_source("words.wit", wit).unwrap();
    PackageMetadata::extract(&resolve, package)
        .encode()
        .unwrap()
}

/// The specs that a model gets.
async fn specs(component: Vec<u8>) -> String {
    let loaded = host::load("stranger", component).await.unwrap();
    let offered = loaded.functions().iter().cloned().map(FunctionRef::new);
    let offered = offered.filter(|function| function.offer == Offer::Offered);
    let mut shown = String::new();
    for spec in ToolNames::new(offered).unwrap().specs() {
        let parameters = spec.parameters;
        shown.push_str(&format!(
            "{}: {}\n{parameters:#}\n",
            spec.name, spec.description
        ));
    }
    shown
}

#[tokio::test]
async fn the_words_of_an_author_reach_people_and_models() {
    let described = with_section(&counter(), "package-docs", &section(WIT));
    let project = project("counter", &described);
    for arguments in [
        ["inspect", "counter"].as_slice(),
        &["inspect", "counter", "--no-run"],
    ] {
        let inspect = project.run(arguments);
        insta::assert_snapshot!("counter_inspect", inspect.shown(&project));
    }
    insta::assert_snapshot!("counter_specs", specs(described).await);
}

#[tokio::test]
async fn the_words_of_authors_in_other_languages_reach_models() {
    for (component, wit, name) in [
        (Foreign::QuickJs, "planner/planner.wit", "planner_specs"),
        (Foreign::C, "ruler/ruler.wit", "ruler_specs"),
    ] {
        let Some(bytes) = component.bytes() else {
            return;
        };
        let wit = std::fs::read_to_string(guests::root().join("tests/foreign").join(wit)).unwrap();
        let described = with_section(&bytes, "package-docs", &section(&wit));
        insta::assert_snapshot!(name, specs(described).await);
    }
}

#[tokio::test]
async fn metadata_of_a_component_goes_before_its_section_item_by_item() {
    let words = br#"{"interfaces": {"echo": {"funcs": {"nothing": "Lies.", "echo-u8": "Lies."},
        "types": {"colour": {"docs": "Lies.", "items": {"red": "Lies.", "dark-blue": "Night."}}}}}}"#;
    let both = with_section(
        &guests::bytes("every-type"),
        "package-docs",
        &[b"\x01", &words[..]].concat(),
    );
    let loaded = host::load("every-type", both).await.unwrap();
    let said = format!("{:?}", loaded.functions());
    assert!(!said.contains("Lies."));
    // The metadata says nothing of this case.
    assert!(said.contains("Night."));
}

#[tokio::test]
async fn a_broken_section_costs_the_words_and_a_notice_says_why() {
    let deep = format!("\x01{}", r#"{"worlds":"#.repeat(100_000));
    let many: String = (0..20_000)
        .map(|n| format!(r#""f{n}": {{"docs": ""}},"#))
        .collect();
    let many =
        format!("\x01{{\"interfaces\": {{\"counting\": {{\"funcs\": {{{many} \"g\": \"\"}}}}}}}}");
    let huge = vec![b' '; 5 << 20];
    let cases: [(&str, &[u8]); 13] = [
        ("empty", b""),
        ("another version", b"\x02{}"),
        ("nothing said", b"\x01{}"),
        ("no JSON", b"\x01hello"),
        ("cut off", b"\x01{\"interfaces\": {\"counting\""),
        ("no UTF-8", b"\x01{\"docs\": \"\xff\xfe\"}"),
        (
            "no UTF-8 in what is read",
            b"\x01{\"interfaces\": {\"\xff\": {}}}",
        ),
        ("of another form", b"\x01{\"interfaces\": [1, 2]}"),
        (
            "a number as words",
            b"\x00{\"interfaces\": {\"counting\": {\"funcs\": {\"step\": 7}}}}",
        ),
        (
            "of something else",
            b"\x01{\"interfaces\": {\"streams\": {\"funcs\": {\"read\": \"Reads.\"}}}}",
        ),
        ("nested too deep", deep.as_bytes()),
        ("many unknown names", many.as_bytes()),
        ("huge", &huge),
    ];
    let mut shown = String::new();
    for (name, content) in cases {
        let broken = with_section(&counter(), "package-docs", content);
        let loaded = host::load("counter", broken).await.unwrap();
        assert!(
            loaded.functions().iter().all(|f| f.description.is_empty()),
            "{name}"
        );
        shown.push_str(&format!("{name}: {:?}\n", loaded.notices()));
    }
    // Very many broken ones are told as a few.
    let mut flooded = counter();
    for _ in 0..1_000 {
        flooded = with_section(&flooded, "package-docs", b"");
    }
    let loaded = host::load("counter", flooded).await.unwrap();
    assert_eq!(loaded.notices().len(), 11);
    let last = loaded.notices().last().unwrap();
    shown.push_str(&format!("a thousand: {last:?}\n"));
    // The good one counts beside a broken one, and the first of two good ones.
    let broken = with_section(&counter(), "package-docs", b"\x01hello");
    let both = with_section(&broken, "package-docs", &section(WIT));
    let other = section(&WIT.replace("Counts on", "Goes on"));
    let loaded = host::load("counter", with_section(&both, "package-docs", &other))
        .await
        .unwrap();
    assert_eq!(loaded.functions()[0].summary(), "Counts on from a number.");
    shown.push_str(&format!("beside a good one: {:?}\n", loaded.notices()));
    insta::assert_snapshot!("broken_sections", shown);

    let project = project("counter", &broken);
    let inspect = project.run(&["inspect", "counter"]);
    assert!(
        inspect
            .stderr
            .starts_with("note: a `package-docs` section is ignored: "),
        "{inspect:?}"
    );
    assert_eq!(inspect.code, 0);
    let fresh = crate::cli::project().file("counter.wasm", &broken);
    let add = fresh.run(&["add", "counter.wasm"]);
    assert!(
        add.stderr
            .contains("note: a `package-docs` section is ignored: "),
        "{add:?}"
    );
    assert_eq!(add.code, 0);
}

#[tokio::test]
async fn words_of_a_type_that_is_used_very_often_cost_the_words_alone() {
    let uses = vec!["direction"; 900].join(", ");
    let many = format!("many: func(all: list<tuple<{uses}>>);");
    let wit = WIT.replace("undescribed: func();", &many);
    let module = MODULE
        .replace(
            "(module",
            "(module (memory (export \"memory\") 1)
                (func (export \"cabi_realloc\") (param i32 i32 i32 i32) (result i32) i32.const 64)",
        )
        .replace("#undescribed\")", "#many\") (param i32 i32)");
    let plain = guests::assemble(&wit, &module).unwrap();
    let long = "x".repeat(1_000_000);
    let words = format!(
        r#"{{"interfaces": {{"counting": {{"types": {{"direction": {{"docs": "{long}"}}}}}}}}}}"#
    );
    let section = [b"\x01", words.as_bytes()].concat();
    let loaded = host::load("counter", with_section(&plain, "package-docs", &section)).await;
    let loaded = loaded.unwrap();
    let shown = format!("{:?}", loaded.functions());
    assert!(shown.len() < 8 << 20, "{} bytes", shown.len());
    let notice = &loaded.notices()[0];
    assert!(
        notice.starts_with("a part of the words of the `package-docs` section is left out"),
        "{notice}"
    );
}
