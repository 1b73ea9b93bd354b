//! Text of strangers on the command line: what drives a terminal or cannot be seen never gets out,
//! whoever said it and whichever command tells it.

use openprogram_core::text::{clean, is_clean};
use openprogram_tests::cli::{Outcome, Project};
use openprogram_tests::guests;
use openprogram_tests::metadata::{Described, telling};

use super::{project, project_with};

/// Words with a title for the terminal, letters that nobody sees, and another order.
const HIDDEN: &str = "plain\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m \
                      \u{e006f}\u{e0062}\u{e0065}\u{e0079}\u{202e}words\u{200b}\u{2066}\r";
/// The same as people and models are shown it.
const SEEN: &str = "plain words";

fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A project with a component that hides something in everything that it says.
fn hiding() -> Project {
    let hidden = json(HIDDEN);
    let described = ("description", hidden.as_str());
    let function = Described {
        description: &format!("{HIDDEN}\n\n{HIDDEN}"),
        parameters: &[
            ("person", &[described]),
            (
                "times",
                &[
                    described,
                    ("placeholder", &hidden),
                    ("options_from", &hidden),
                ],
            ),
        ],
        attributes: &[("system", &hidden)],
        ..Described::default()
    };
    project().file("liar.wasm", telling(&[function]).unwrap())
}

/// Runs a command and checks that everything it printed can be seen.
fn run(project: &Project, arguments: &[&str]) -> Outcome {
    let outcome = project.run(arguments);
    for text in [&outcome.stdout, &outcome.stderr] {
        assert!(is_clean(text), "{arguments:?}: {text:?}");
        assert!(!text.contains("panicked"), "{arguments:?}: {text}");
    }
    outcome
}

#[test]
fn what_a_component_says_is_cleaned_at_load_and_told() {
    assert_eq!(clean(HIDDEN), SEEN);
    let project = hiding();
    for arguments in [
        &["add", "liar.wasm"][..],
        &["add", "liar.wasm"],
        &["functions"],
        &["functions", "--json"],
        &["update"],
        &["inspect", "liar.wasm", "--no-run"],
    ] {
        assert_eq!(run(&project, arguments).code, 0, "{arguments:?}");
    }
    let mut shown = run(&project, &["inspect", "liar"]).shown(&project);
    let told = run(&project, &["inspect", "liar", "--json"]);
    let function = &told.json()["functions"][0];
    shown.push_str(&format!("{:#}\n", function["parameters"]));
    insta::assert_snapshot!("hidden_inspect", shown);
    // What was read back is what was printed: nothing hides behind an escape either.
    assert!(is_clean(function["description"].as_str().unwrap()));
    assert_eq!(
        function["parameters"]["properties"]["times"]["description"],
        SEEN
    );
}

#[test]
fn words_that_are_too_long_are_cut_where_one_sees_it() {
    let long = "word ".repeat(1_000);
    let words = json(&long);
    let function = Described {
        description: &long,
        parameters: &[("times", &[("description", &words), ("placeholder", &words)])],
        ..Described::default()
    };
    let project = project().file("liar.wasm", telling(&[function]).unwrap());
    let told = run(&project, &["inspect", "liar.wasm", "--json"]);
    let function = &told.json()["functions"][0];
    let description = function["description"].as_str().unwrap();
    assert_eq!(
        description.len(),
        openprogram_component::FUNCTION_WORDS_BYTES_MAX
    );
    assert!(description.ends_with(" … [cut]"), "{description}");
    let times = &function["parameters"]["properties"]["times"];
    let description = times["description"].as_str().unwrap();
    assert_eq!(
        description.len(),
        openprogram_component::PART_WORDS_BYTES_MAX
    );
    insta::assert_snapshot!("hidden_too_long", told.stderr);
}

#[test]
fn a_value_that_nobody_can_see_is_refused_as_an_allowed_one() {
    let many: Vec<u32> = (0..10_000).collect();
    let mut shown = String::new();
    for options in [
        json(HIDDEN),
        format!("[{}]", json(HIDDEN)),
        format!("{many:?}"),
    ] {
        let function = Described {
            parameters: &[("times", &[("options", &options)])],
            ..Described::default()
        };
        let project = project().file("liar.wasm", telling(&[function]).unwrap());
        let told = run(&project, &["inspect", "liar.wasm"]);
        assert_eq!(told.code, 2, "{told:?}");
        shown.push_str(&told.stderr);
    }
    insta::assert_snapshot!("hidden_options", shown);
}

#[test]
fn what_functions_and_models_say_is_cleaned_wherever_it_is_printed() {
    let project = project_with(&["every-type", "log-flood"]);
    let text = format!("value={HIDDEN}");
    let failing = format!("text={HIDDEN}");
    let echo = run(&project, &["run", "echo-string", "--arg", &text]);
    assert_eq!((echo.code, echo.stdout.trim()), (0, SEEN));
    let echo = run(&project, &["run", "echo-string", "--arg", &text, "--json"]);
    assert_eq!(echo.json()["ok"], HIDDEN);
    let failed = run(&project, &["run", "fail-with-failure", "--arg", &failing]);
    assert_eq!(failed.code, 2, "{failed:?}");
    run(
        &project,
        &["run", "fail-with-failure", "--arg", &failing, "--json"],
    );
    assert_eq!(run(&project, &["run", "log-flood/guest.escape"]).code, 0);
    let sessions = run(&project, &["sessions", "--json"]).json();
    let sessions = sessions["sessions"]
        .as_array()
        .or(sessions.as_array())
        .unwrap();
    assert_eq!(sessions.len(), 5);
    for session in sessions {
        let id = session["id"]
            .as_str()
            .or(session["session"].as_str())
            .unwrap();
        for arguments in [&["show", id][..], &["show", id, "--json"]] {
            assert_eq!(run(&project, arguments).code, 0);
        }
    }
    for arguments in [
        &["sessions"][..],
        &["doctor"],
        &["doctor", "--json"],
        &["config"],
    ] {
        run(&project, arguments);
    }
}

#[test]
fn what_an_error_repeats_is_cleaned() {
    let options = format!(
        r#"{{"form": "list", "items": [{{"kind": "text", "name": {}, "desc": "d"}}]}}"#,
        json(HIDDEN)
    );
    let project = project_with(&["every-type"])
        .file("options.json", options)
        .file("text.wasm", HIDDEN);
    let hidden_name = format!("{HIDDEN}=1");
    for arguments in [
        &["run", HIDDEN][..],
        &["run", "echo-string", "--arg", &hidden_name],
        &["run", "echo-string", "--args", HIDDEN],
        &["run", "echo-u32", "--arg", &format!("value={HIDDEN}")],
        &["run", "echo-string", "--arg", "value=x", "--model", HIDDEN],
        &["inspect", HIDDEN],
        &["inspect", "text.wasm"],
        &["add", HIDDEN],
        &["add", "text.wasm"],
        &["remove", HIDDEN],
        &["update", HIDDEN],
        &["show", HIDDEN],
        &["decide", "--options", "options.json"],
        &["decide", "--options", HIDDEN],
    ] {
        let told = run(&project, arguments);
        assert_ne!(told.code, 0, "{arguments:?}: {told:?}");
    }
    let broken = super::project().file("openprogram.toml", format!("model = \"{HIDDEN}\"\n"));
    for command in ["functions", "doctor", "config"] {
        run(&broken, &[command]);
    }
    // Bytes of a component in the place of text.
    let bytes = super::project().file("openprogram.toml", guests::bytes("healthy"));
    run(&bytes, &["functions"]);
}
