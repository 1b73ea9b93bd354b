//! Metadata is told by the guest, so it may lie, trap or never end. What cannot be true is refused
//! at load, with the place and the reason.

use expect_test::expect;
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
    expect![[r#"
        true: loaded: Greets.
        unknown parameter: the metadata of `greet` describes a parameter `tims`, which it lacks
        default of another type: the attribute `default` of `greet(times)`: `times`: expected an integer from 0 to 255, got a string
        default out of range: the attribute `default` of `greet(times)`: `times`: expected an integer from 0 to 255, got 256
        default without a field: the attribute `default` of `greet(person)`: `person.name`: a required value is missing
        default with a wrong field: the attribute `default` of `greet(person)`: `person.name`: expected a string, got an integer
        default that is no JSON: the attribute `default` of `greet(times)`: it is not JSON: EOF while parsing an object at line 1 column 1
        unknown attribute: the metadata of `greet(times)` has an unknown attribute `defualt`
        attribute twice: the attribute `default` of `greet(times)`: it is given twice
        options of another type: the attribute `options` of `greet(times)`: `times`: expected an integer from 0 to 255, got a string
        options that are no list: the attribute `options` of `greet(times)`: it must be an array of allowed values, not empty
        no options: the attribute `options` of `greet(times)`: it must be an array of allowed values, not empty
        default outside of the options: the attribute `default` of `greet(times)`: `times`: must be one of 1, got 2
        hidden that is no boolean: the attribute `hidden` of `greet(times)`: it must be true or false
        description that is no text: the attribute `description` of `greet(times)`: it must be a string
    "#]].assert_eq(&shown.to_string());
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
    expect![[r#"
        nothing told: loaded: 
        unknown function: the metadata describes `guest.gret`, which the component does not export
        unknown interface: the metadata describes `guess.greet`, which the component does not export
        function twice: the metadata describes `greet` twice
        parameter twice: the metadata of `greet` describes a parameter `times`, which it lacks
        unknown attribute: the metadata of `greet` has an unknown attribute `sytem`
        system that is no text: the attribute `system` of `greet`: it must be a string
        unknown expose: the attribute `expose` of `greet`: it must be `io`, `llm`, `full` or `hidden`
        broken range: the attribute `render_range` of `greet`: it must be `{"callers": n or null, "subcalls": n}`, with -1 for all subcalls
        unknown range: the attribute `render_range` of `greet`: it must be `{"callers": n or null, "subcalls": n}`, with -1 for all subcalls
    "#]].assert_eq(&shown.to_string());
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
        // Thousands of functions without a name.
        (
            "a list without end",
            "(i32.store (i32.const 8) (i32.const 65536)) (i32.store (i32.const 12) (i32.const 24000)) (i32.const 8)",
        ),
    ] {
        let said = outcome(describing(body, &[]).unwrap()).await;
        // On a very busy machine the clock on the wall ends the loop first.
        let said = said.replace("took longer than 10000 ms", "computed longer than 2000 ms");
        shown.push_str(&format!("{label}: {said}\n"));
    }
    expect![[r#"
        trap: the component could not tell its metadata: the function trapped: unreachable
        loop: the component could not tell its metadata: the function computed longer than 2000 ms
        growth: the component could not tell its metadata: the function needs more memory than 134217728 bytes
        outside of the memory: the component could not tell its metadata: the function trapped: invalid-value: return pointer not aligned
        a list without end: the metadata describes `.`, which the component does not export
    "#]].assert_eq(&shown.to_string());
}
