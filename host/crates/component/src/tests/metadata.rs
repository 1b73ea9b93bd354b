//! What a component says about itself, merged into its functions or refused by name.

use openprogram_core::function::{Expose, ParameterSource, RenderRange};

use crate::assemble::functions;
use crate::facts::{
    FACTS_VERSION, Facts, FunctionFact, FunctionMetadata, Metadata, ParameterFact, ParameterKind,
    ParameterMetadata, Signature, TypeFact,
};

type Pairs<'a> = &'a [(&'a str, &'a str)];

fn pairs(pairs: Pairs<'_>) -> Vec<(String, String)> {
    let owned = pairs
        .iter()
        .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
    owned.collect()
}

/// Facts of `acme:x/desk.greet(some-name: string, times: u8, runtime)`, described so.
fn facts(of_function: Pairs<'_>, of_parameters: &[(&str, Pairs<'_>)]) -> Facts {
    let parameter = |name: &str, kind| ParameterFact {
        name: name.to_owned(),
        kind,
    };
    let function = FunctionFact {
        interface: Some("acme:x/desk@1.2.3".to_owned()),
        name: "greet".to_owned(),
        docs: "From the package docs.".to_owned(),
        parameters: vec![
            parameter("some-name", ParameterKind::Value(TypeFact::String)),
            parameter("times", ParameterKind::Value(TypeFact::U8)),
            parameter("runtime", ParameterKind::Runtime),
        ],
        result: Some(TypeFact::String),
        refused: None,
    };
    let parameters = of_parameters
        .iter()
        .map(|(name, attributes)| ParameterMetadata {
            name: (*name).to_owned(),
            attributes: pairs(attributes),
        });
    let described = FunctionMetadata {
        interface: "desk".to_owned(),
        name: "greet".to_owned(),
        description: "Greets.".to_owned(),
        parameters: parameters.collect(),
        attributes: pairs(of_function),
    };
    Facts {
        version: FACTS_VERSION,
        signature: Signature {
            functions: vec![function],
            ..Signature::default()
        },
        metadata: Some(Metadata {
            functions: vec![described],
            types: Vec::new(),
        }),
    }
}

#[test]
fn everything_that_can_be_said_reaches_the_function() {
    let facts = facts(
        &[
            ("system", r#""Be brief.""#),
            ("expose", r#""llm""#),
            ("render_range", r#"{"callers": 3, "subcalls": -1}"#),
            ("requires_approval", r#""It pays.""#),
            ("read_only", "true"),
        ],
        &[
            (
                "some-name",
                &[
                    ("description", r#""Whom.""#),
                    ("options", r#"["a", "b"]"#),
                    ("placeholder", r#""a""#),
                    ("multiline", "false"),
                    ("options_from", r#""functions""#),
                ],
            ),
            ("times", &[("hidden", "true"), ("default", "3")]),
        ],
    );
    let function = functions(&facts, "shop", "sha256:00").unwrap().remove(0);
    assert_eq!(function.name.to_string(), "acme:x/desk.greet");
    let required = function.requires_approval.as_ref().unwrap();
    assert_eq!(required.reason.as_deref(), Some("It pays."));
    assert!(function.read_only);
    assert_eq!(function.name.component, "shop");
    assert_eq!(function.description, "Greets.");
    assert_eq!(
        (
            function.system.as_deref(),
            function.expose,
            function.render_range
        ),
        (
            Some("Be brief."),
            Expose::Llm,
            RenderRange {
                callers: Some(3),
                subcalls: None
            }
        )
    );
    let [name, times, runtime] = function.parameters.as_slice() else {
        panic!("{:?}", function.parameters);
    };
    assert_eq!(name.field.name, "some_name");
    assert_eq!(name.field.description.as_deref(), Some("Whom."));
    assert_eq!(name.field.options, ["a", "b"]);
    assert_eq!(name.placeholder.as_deref(), Some("a"));
    assert_eq!(name.multiline, Some(false));
    assert_eq!(name.options_from.as_deref(), Some("functions"));
    assert_eq!(times.source, ParameterSource::Context);
    assert_eq!(times.default, Some(3.into()));
    assert!(matches!(runtime.source, ParameterSource::Runtime(_)));
}

#[test]
fn a_component_without_metadata_keeps_its_docs() {
    let mut facts = facts(&[], &[]);
    facts.metadata = None;
    let function = functions(&facts, "shop", "sha256:00").unwrap().remove(0);
    assert_eq!(function.description, "From the package docs.");
}

#[track_caller]
fn refused(of_function: Pairs<'_>, of_parameters: &[(&str, Pairs<'_>)], expected: &str) {
    let facts = facts(of_function, of_parameters);
    let error = functions(&facts, "shop", "sha256:00").unwrap_err();
    assert_eq!(error.to_string(), expected);
}

#[test]
fn what_does_not_fit_a_function_is_refused_by_name() {
    refused(
        &[("speed", "1")],
        &[],
        "the metadata of `greet` has an unknown attribute `speed`",
    );
    refused(
        &[("expose", r#""all""#)],
        &[],
        "the attribute `expose` of `greet`: it must be `io`, `llm`, `full` or `hidden`",
    );
    refused(
        &[("system", "{")],
        &[],
        "the attribute `system` of `greet`: it is not JSON: EOF while parsing an object at line 1 \
         column 1",
    );
    refused(
        &[("system", "1"), ("system", "2")],
        &[],
        "the attribute `system` of `greet`: it is given twice",
    );
    for range in [
        r#"{"callers": -1}"#,
        r#"{"all": 1}"#,
        "3",
        r#"{"subcalls": 1.5}"#,
    ] {
        refused(
            &[("render_range", range)],
            &[],
            "the attribute `render_range` of `greet`: it must be `{\"callers\": n or null, \
             \"subcalls\": n}`, with -1 for all subcalls",
        );
    }
    let long = format!("\"{}\"", "x".repeat(1_001));
    for (value, problem) in [
        ("3", "it must be true, false or a text that says why"),
        ("\" \"", "it must be true, false or a text that says why"),
        (&long, "it is longer than 1000 bytes"),
    ] {
        refused(
            &[("requires_approval", value)],
            &[],
            &format!("the attribute `requires_approval` of `greet`: {problem}"),
        );
    }
}

#[test]
fn what_does_not_fit_a_parameter_is_refused_by_name() {
    refused(
        &[],
        &[("nobody", &[])],
        "the metadata of `greet` describes a parameter `nobody`, which it lacks",
    );
    refused(
        &[],
        &[("times", &[]), ("times", &[])],
        "the metadata of `greet` describes a parameter `times`, which it lacks",
    );
    refused(
        &[],
        &[("times", &[("colour", "1")])],
        "the metadata of `greet(times)` has an unknown attribute `colour`",
    );
    refused(
        &[],
        &[("times", &[("hidden", r#""yes""#)])],
        "the attribute `hidden` of `greet(times)`: it must be true or false",
    );
    refused(
        &[],
        &[("times", &[("options", "[]")])],
        "the attribute `options` of `greet(times)`: it must be an array of allowed values, not \
         empty",
    );
    refused(
        &[],
        &[("runtime", &[("hidden", "true")])],
        "the attribute `hidden` of `greet(runtime)`: the host injects this parameter",
    );
}

#[test]
fn defaults_and_options_must_be_of_the_type() {
    for attributes in [
        &[("default", "300")][..],
        &[("default", r#""3""#)],
        &[("options", r#"[1, "2"]"#)],
        &[("options", "[1, 2]"), ("default", "3")],
    ] {
        let facts = facts(&[], &[("times", attributes)]);
        let error = functions(&facts, "shop", "sha256:00")
            .unwrap_err()
            .to_string();
        let (key, _) = attributes[attributes.len() - 1];
        let expected = format!("the attribute `{key}` of `greet(times)`: `times");
        assert!(error.starts_with(&expected), "{error}");
    }
}

#[test]
fn a_function_that_is_not_there_is_refused() {
    let mut facts = facts(&[], &[]);
    facts.metadata.as_mut().unwrap().functions[0].name = "great".to_owned();
    let error = functions(&facts, "shop", "sha256:00").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the metadata describes `desk.great`, which the component does not export"
    );
}
