//! Metadata is told by the guest, so it may lie, trap or never end. What cannot be true is refused
//! at load, with the place and the reason.

use openprogram_tests::host::load;
use openprogram_tests::metadata::{Described, describing, telling};

/// What loading a component with this metadata says.
async fn outcome(bytes: Vec<u8>) -> String {
    match load("liar", bytes).await {
        Ok(component) => format!("loaded: {}", component.functions()[0].description),
        Err(error) => {
            let mut message = error.to_string();
            let mut source = std::error::Error::source(&error);
            while let Some(cause) = source {
                message.push_str(&format!(": {cause}"));
                source = cause.source();
            }
            message
        }
    }
}

#[tokio::test]
async fn metadata_that_does_not_fit_the_signature_is_refused_with_place_and_reason() {
    let of = |key, value| vec![(key, value)];
    let mut shown = String::new();
    for (label, parameter, attributes) in [
        ("true", "times", of("default", "3")),
        ("unknown parameter", "tims", of("default", "3")),
        (
            "default of another type",
            "times",
            of("default", "\"three\""),
        ),
        ("default out of range", "times", of("default", "256")),
        ("default without a field", "person", of("default", "{}")),
        (
            "default with a wrong field",
            "person",
            of("default", "{\"name\": 3}"),
        ),
        ("default that is no JSON", "times", of("default", "{")),
        ("unknown attribute", "times", of("defualt", "3")),
        (
            "attribute twice",
            "times",
            vec![("default", "3"), ("default", "4")],
        ),
        (
            "options of another type",
            "times",
            of("options", "[1, \"two\"]"),
        ),
        ("options that are no list", "times", of("options", "3")),
        ("no options", "times", of("options", "[]")),
        (
            "default outside of the options",
            "times",
            vec![("options", "[1]"), ("default", "2")],
        ),
        (
            "hidden that is no boolean",
            "times",
            of("hidden", "\"yes\""),
        ),
        (
            "description that is no text",
            "times",
            of("description", "3"),
        ),
    ] {
        let parameters = [(parameter, attributes.as_slice())];
        let function = Described {
            parameters: &parameters,
            ..Described::default()
        };
        let said = outcome(telling(&[function]).unwrap()).await;
        shown.push_str(&format!("{label}: {said}\n"));
    }
    insta::assert_snapshot!(shown, @"");
}

#[tokio::test]
async fn metadata_of_functions_is_checked_as_well() {
    let good = Described::default();
    let mut shown = String::new();
    for (label, functions) in [
        ("nothing told", vec![]),
        (
            "unknown function",
            vec![Described {
                name: "gret",
                ..good
            }],
        ),
        (
            "unknown interface",
            vec![Described {
                interface: "guess",
                ..good
            }],
        ),
        ("function twice", vec![good, good]),
        (
            "parameter twice",
            vec![Described {
                parameters: &[("times", &[]), ("times", &[])],
                ..good
            }],
        ),
        (
            "unknown attribute",
            vec![Described {
                attributes: &[("sytem", "\"x\"")],
                ..good
            }],
        ),
        (
            "system that is no text",
            vec![Described {
                attributes: &[("system", "1")],
                ..good
            }],
        ),
        (
            "unknown expose",
            vec![Described {
                attributes: &[("expose", "\"all\"")],
                ..good
            }],
        ),
        (
            "broken range",
            vec![Described {
                attributes: &[("render_range", "{\"callers\": -2}")],
                ..good
            }],
        ),
        (
            "unknown range",
            vec![Described {
                attributes: &[("render_range", "{\"caller\": 1}")],
                ..good
            }],
        ),
    ] {
        let said = outcome(telling(&functions).unwrap()).await;
        shown.push_str(&format!("{label}: {said}\n"));
    }
    insta::assert_snapshot!(shown, @"");
}

#[tokio::test]
async fn metadata_that_traps_loops_or_floods_ends_at_its_own_limits() {
    let mut shown = String::new();
    for (label, body) in [
        ("trap", "unreachable"),
        ("loop", "(loop $again (br $again)) unreachable"),
        (
            "growth",
            "(loop $again (br_if $again (i32.ne (memory.grow (i32.const 1)) (i32.const -1)))) unreachable",
        ),
        ("outside of the memory", "(i32.const 0x7fffffff)"),
        // A million functions that all lie at the same empty place.
        (
            "a list without end",
            "(i32.store (i32.const 8) (i32.const 0)) (i32.store (i32.const 12) (i32.const 26214)) (i32.const 8)",
        ),
    ] {
        let said = outcome(describing(body, &[]).unwrap()).await;
        shown.push_str(&format!("{label}: {said}\n"));
    }
    insta::assert_snapshot!(shown, @"");
}
