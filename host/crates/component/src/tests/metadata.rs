//! What a component says about itself, merged into its functions or refused by name.

use std::time::Duration;

use openprogram_core::function::{Expose, Offer, ParameterSource, RenderRange};
use openprogram_core::gating::{
    Caching, Comparison, Condition, Deferred, Effects, Gating, RequiredApproval,
};

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
        of_resource: None,
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
fn how_a_function_is_offered_reaches_it() {
    let facts = facts(
        &[
            ("requires_approval", r#""It pays.""#),
            ("read_only", "true"),
            ("idempotent", "true"),
            ("destructive", "false"),
            ("open_world", "true"),
            ("name", r#""say_hello""#),
            ("description", r#""Says hello.""#),
            ("category", r#""manners""#),
            ("toolset", r#"["polite", "default"]"#),
            ("unsafe_in", r#""telegram""#),
            (
                "available_if",
                r#"{"any": [{"dir": "/data"}, {"env": "TOKEN"}]}"#,
            ),
            ("defer", r#""welcome""#),
            ("cache_ttl", "1.5"),
            ("cache", "true"),
            ("timeout", "30"),
        ],
        &[],
    );
    let function = functions(&facts, "shop", "sha256:00").unwrap().remove(0);
    let condition = Condition::Any(vec![
        Condition::Dir("/data".to_owned()),
        Condition::Env("TOKEN".to_owned()),
    ]);
    let gating = Gating {
        toolsets: vec!["polite".to_owned(), "default".to_owned()],
        unsafe_in: vec!["telegram".to_owned()],
        available_if: Some(condition),
        deferred: Some(Deferred {
            words: "welcome".to_owned(),
        }),
        requires_approval: Some(RequiredApproval {
            reason: Some("It pays.".to_owned()),
            when: None,
        }),
        cache: Some(Caching {
            ttl: Duration::from_millis(1_500),
        }),
        timeout: Some(Duration::from_secs(30)),
    };
    assert_eq!(function.gating, gating);
    let effects = Effects {
        read_only: true,
        idempotent: true,
        destructive: Some(false),
        open_world: Some(true),
    };
    assert_eq!(function.effects, effects);
    assert_eq!(
        (
            function.model_name.as_deref(),
            function.model_description.as_deref(),
            function.category.as_deref()
        ),
        (Some("say_hello"), Some("Says hello."), Some("manners"))
    );
    assert_eq!(function.summary(), "Says hello.");
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
    let forms = "it must be true, false, a text that says why, or `{\"when\": CONDITION, \"reason\": \
                 \"why\"}`";
    for (value, problem) in [
        ("3", forms),
        ("\" \"", forms),
        (r#"{"reason": "why"}"#, forms),
        (r#"{"when": {"env": "A"}, "who": "me"}"#, forms),
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
fn what_does_not_fit_how_a_function_is_offered_is_refused_by_name() {
    let word = "it must be a word of 1 to 64 bytes, without spaces";
    let seconds = "it must be a number of seconds from 0.001 to 604800";
    let found = "it must be true, false or a text of words by which it is found";
    for (key, value, problem) in [
        (
            "name",
            r#""say hello""#,
            "`say hello` cannot be the name of a tool; it has 1 to 64 letters, digits, `_` and `-`",
        ),
        (
            "name",
            r#""__openprogram_say""#,
            "`__openprogram_say` cannot be the name of a tool; names that begin with \
             `__openprogram_` are the host's own",
        ),
        ("description", r#""  ""#, "it must not be empty"),
        ("category", r#""two words""#, word),
        ("toolset", "[]", "it must name 1 to 32"),
        ("toolset", "[1]", word),
        ("unsafe_in", r#""""#, word),
        ("defer", "1", found),
        ("cache", "3", "it must be true or false"),
        ("cache_ttl", "3", "nothing is kept without `cache`"),
        ("timeout", "0", seconds),
        ("timeout", r#""3""#, seconds),
        ("timeout", "604801", seconds),
        ("idempotent", "1", "it must be true or false"),
        ("destructive", "null", "it must be true or false"),
        ("open_world", "[]", "it must be true or false"),
        (
            "available_if",
            r#"{"env": 3}"#,
            "`env` of a condition must be a name of 1 to 256 bytes",
        ),
    ] {
        let expected = format!("the attribute `{key}` of `greet`: {problem}");
        refused(&[(key, value)], &[], &expected);
    }
    refused(
        &[("read_only", "true"), ("destructive", "true")],
        &[],
        "the attribute `destructive` of `greet`: what is `read_only` cannot be destructive",
    );
}

/// The facts with another function beside, `desk.ask-NAME`.
fn with_deciding(facts: Facts, parameters: &[TypeFact], result: TypeFact) -> Facts {
    let mut facts = facts;
    let parameters = parameters.iter().map(|ty| ParameterFact {
        name: "arguments".to_owned(),
        kind: ParameterKind::Value(ty.clone()),
    });
    facts.signature.functions.push(FunctionFact {
        interface: Some("acme:x/desk@1.2.3".to_owned()),
        name: "is-ready".to_owned(),
        of_resource: None,
        docs: String::new(),
        parameters: parameters.collect(),
        result: Some(result),
        refused: None,
    });
    facts
}

#[test]
fn a_function_that_a_condition_names_is_offered_to_nobody() {
    let ready = ("available_if", r#"{"export": "is_ready"}"#);
    let asks = ("requires_approval", r#"{"when": {"export": "is-ready"}}"#);
    let reason = TypeFact::Option(Box::new(TypeFact::String));
    for (attribute, parameters, result, expected) in [
        (
            ready,
            &[][..],
            TypeFact::Bool,
            "it decides whether `greet` is available",
        ),
        (
            asks,
            &[],
            TypeFact::Bool,
            "it decides whether `greet` needs an approval",
        ),
        (
            asks,
            &[TypeFact::Json],
            reason,
            "it decides whether `greet` needs an approval",
        ),
    ] {
        let facts = with_deciding(facts(&[attribute], &[]), parameters, result);
        let functions = functions(&facts, "shop", "sha256:00").unwrap();
        assert_eq!(functions[0].offer, Offer::Offered);
        assert_eq!(functions[1].offer, Offer::NotOfferable(expected.to_owned()));
    }
    for (attribute, parameters, result, problem) in [
        (
            ready,
            &[TypeFact::Json][..],
            TypeFact::Bool,
            "`is_ready`, which its condition names, must take nothing and return a `bool`",
        ),
        (
            asks,
            &[TypeFact::String],
            TypeFact::Bool,
            "`is-ready`, which its condition names, must take nothing or one `json`, the arguments \
             of the call, and return a `bool`, or an `option<string>` that says why",
        ),
        (
            ("available_if", r#"{"not": {"export": "nobody"}}"#),
            &[],
            TypeFact::Bool,
            "its condition names a function `nobody`, which the same interface lacks",
        ),
    ] {
        let facts = with_deciding(facts(&[attribute], &[]), parameters, result);
        let error = functions(&facts, "shop", "sha256:00").unwrap_err();
        let key = attribute.0;
        assert_eq!(
            error.to_string(),
            format!("the attribute `{key}` of `greet`: {problem}")
        );
    }
}

#[test]
fn what_arguments_are_compared_with_has_to_fit_them() {
    let when = |condition: &str| format!(r#"{{"when": {condition}}}"#);
    let value = when(r#"{"argument": "some-name", "in": ["a", "b"]}"#);
    let facts = facts(&[("requires_approval", &value)], &[]);
    let function = functions(&facts, "shop", "sha256:00").unwrap().remove(0);
    let expected = Condition::Argument {
        parameter: "some-name".to_owned(),
        is: Comparison::OneOf(vec!["a".into(), "b".into()]),
    };
    let required = function.gating.requires_approval.unwrap();
    assert_eq!(required.when, Some(expected));
    for (condition, problem) in [
        (
            r#"{"argument": "nobody", "equals": 1}"#,
            "its condition names an argument `nobody`, which the function lacks",
        ),
        (
            r#"{"argument": "runtime", "equals": 1}"#,
            "its condition names an argument `runtime`, which the function lacks",
        ),
        (
            r#"{"argument": "some_name", "above": 1}"#,
            "`some_name` is no number, so it is never above one",
        ),
        (
            r#"{"argument": "times", "equals": 256}"#,
            "`times` never has that value: `times`: expected an integer from 0 to \
             255, got 256",
        ),
    ] {
        let value = when(condition);
        refused(
            &[("requires_approval", &value)],
            &[],
            &format!("the attribute `requires_approval` of `greet`: {problem}"),
        );
    }
    refused(
        &[("available_if", r#"{"argument": "times", "equals": 1}"#)],
        &[],
        "the attribute `available_if` of `greet`: there are no arguments yet when a function is \
         offered",
    );
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
