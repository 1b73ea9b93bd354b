//! Questions of components, as a person sees them on a terminal and a script does not.

#[cfg(target_os = "linux")]
use openprogram_core::Json;
#[cfg(target_os = "linux")]
use openprogram_tests::cli::Outcome;
use openprogram_tests::cli::Project;

use super::project;

/// The guest that asks, without a grant.
fn asker() -> Project {
    let file = "[components.asker]\nsource = \"asker.wasm\"\n";
    let project = project().guests(&["asker"]).file("openprogram.toml", file);
    project.variable("TERM", "xterm-256color")
}

/// The same, where it may ask.
fn asking() -> Project {
    let project = asker();
    let given = project.run(&["grant", "asker", "--ask-user", "--yes"]);
    assert_eq!(given.code, 0, "{given:?}");
    project
}

fn call(function: &str, arguments: &str) -> Vec<String> {
    ["run", function, "--args", arguments]
        .map(str::to_owned)
        .to_vec()
}

fn words(arguments: &[String]) -> Vec<&str> {
    arguments.iter().map(String::as_str).collect()
}

#[test]
fn asker_is_denied_without_the_grant_allowed_with_it_and_without_a_terminal_nobody_is_there() {
    let project = asker();
    let sure = call("sure", r#"{"prompt": "Sure?"}"#);
    let denied = project.run(&words(&sure));
    assert_eq!(denied.code, 3, "{denied:?}");
    let with_default = call("sure", r#"{"prompt": "Sure?", "default": true}"#);
    assert_eq!(project.run(&words(&with_default)).code, 3);
    let allowed = project.allow_as_told(&denied);
    assert_eq!(allowed.code, 0, "{allowed:?}");

    let told = project.run(&words(&sure));
    assert_eq!(told.code, 3, "{told:?}");
    for part in ["nobody is there to ask", "run it on a terminal"] {
        assert!(told.stderr.contains(part), "`{part}`: {told:?}");
    }
    let told = project.run(&words(&with_default));
    assert_eq!((told.code, told.stdout.as_str()), (0, "true\n"), "{told:?}");
    let told = project.run(&["run", "can"]);
    assert_eq!(told.stdout, "false\n", "{told:?}");
}

#[cfg(target_os = "linux")]
fn check(
    project: &Project,
    function: &str,
    arguments: &str,
    typed: &[(&str, &str)],
    code: i32,
) -> Outcome {
    let told = project.run_on_terminal_typing(&words(&call(function, arguments)), typed);
    assert_eq!(told.code, code, "{told:?}");
    told
}

/// What was on the screen before the result, with what differs from run to run replaced.
#[cfg(target_os = "linux")]
fn screen(project: &Project, told: &Outcome) -> String {
    let text = told.stdout.replace('\r', "").replace("\u{1b}[2m", "");
    let from = text.find("question from").expect("a question");
    let text = text[from..].replace("\u{1b}[0m", "");
    project.shown(&text)
}

#[cfg(target_os = "linux")]
const ANSWER: &str = "/decline)> ";

#[cfg(target_os = "linux")]
#[test]
fn asker_on_a_terminal_gets_what_the_person_chooses_and_asks_again_about_what_does_not_fit() {
    let project = asking();
    let which = r#"{"prompt": "Which colour\ndo you want?", "options": ["Red", "Green"], "default": "Green"}"#;
    let typed = [(ANSWER, "blue\n"), (ANSWER, "7\n"), (ANSWER, "1\n")];
    let told = check(&project, "which", which, &typed, 0);
    insta::assert_snapshot!("asking_which", screen(&project, &told));
    let told = check(&project, "which", which, &[(ANSWER, "\n")], 0);
    assert!(told.stdout.contains("\nGreen\r\n"), "{told:?}");

    let several = r#"{"prompt": "What?", "options": ["tent", "boat", "stove"]}"#;
    let told = check(&project, "several", several, &[(ANSWER, "3, tent\n")], 0);
    assert!(told.stdout.contains("\"stove\",\r\n  \"tent\""), "{told:?}");

    let card = r#"{"prompts": ["Who?", "Why?"]}"#;
    let typed = [(ANSWER, "\n"), (ANSWER, "me\n"), (ANSWER, "so\n")];
    let told = check(&project, "card", card, &typed, 0);
    for part in ["question 1 of 2", "an answer is needed", "question 2 of 2"] {
        assert!(told.stdout.contains(part), "`{part}`: {told:?}");
    }

    let sure = r#"{"prompt": "Sure?", "default": false}"#;
    let typed = [(ANSWER, "maybe\n"), (ANSWER, "YES\n")];
    let told = check(&project, "sure", sure, &typed, 0);
    assert!(told.stdout.contains("true\r\n"), "{told:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn asker_gets_no_answer_when_the_person_declines_stops_or_stays_silent() {
    let project = asking();
    let sure = r#"{"prompt": "Sure?", "default": true}"#;
    for (typed, code, part) in [
        ("/decline\n", 3, "the person declined"),
        // The end of the input, Ctrl-D.
        ("\u{4}", 3, "the person declined"),
    ] {
        let told = check(&project, "sure", sure, &[(ANSWER, typed)], code);
        assert!(told.stdout.contains(part), "{told:?}");
    }
    // Ctrl-C ends the run, and the shell around the command with it.
    let arguments = call("sure", sure);
    let told = project.run_on_terminal_typing(&words(&arguments), &[(ANSWER, "\u{3}")]);
    for part in ["(withdrawn)", "the run was cancelled"] {
        assert!(told.stdout.contains(part), "`{part}`: {told:?}");
    }
    let late = r#"{"prompt": "Sure?", "timeout_ms": 200}"#;
    let told = check(&project, "sure", late, &[], 6);
    assert!(told.stdout.contains("nobody answered in time"), "{told:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn asker_has_a_form_filled_in_and_a_secret_is_neither_echoed_nor_recorded() {
    let project = asking();
    let fields = r#"{"prompt": "Log in", "fields": {
        "a-user": {"description": "Who are you?"},
        "age": {"type": "integer", "minimum": 1, "maximum": 150, "default": 30},
        "key": {"secret": true},
        "news": {"type": "boolean", "required": false},
        "seat": {"options": ["window", "aisle"]}}}"#;
    let typed = [
        (ANSWER, "\n"),
        (ANSWER, "ada\n"),
        (ANSWER, "200\n"),
        (ANSWER, "36\n"),
        (ANSWER, "hunter2-secret\n"),
        (ANSWER, "\n"),
        (ANSWER, "2\n"),
    ];
    let told = check(&project, "fill", fields, &typed, 0);
    let shown = screen(&project, &told);
    insta::assert_snapshot!("asking_form", shown);
    // The result of the function is its own business; the question shows it nowhere.
    let (question, _) = shown.split_once("{\n").unwrap();
    assert!(!question.contains("hunter2"), "{question}");
    let sessions: Json = project.run(&["sessions", "--json"]).json();
    let session = sessions["sessions"][0]["session"].as_str().unwrap();
    let graph: Json = project.run(&["show", session, "--json"]).json();
    let asked = &graph["nodes"][1];
    assert!(asked["output"]["a-user"] == "ada", "{asked}");
    assert!(!asked.to_string().contains("hunter2"), "{asked}");
}

/// A component that words its question like an approval, and like everything else of ours.
#[cfg(target_os = "linux")]
#[test]
fn asker_cannot_make_its_question_look_like_an_approval() {
    let project = asking();
    let padding = " ".repeat(200);
    let forged = format!(
        "ok\n\u{1b}[2J\u{1b}[1;1Happroval needed by acme:bank/desk.pay\r  session    op-1\r\n  \
         wants to   run acme:bank/desk.pay{padding}allow this? [y/N/always/never] y\u{2028}\u{202e}session op-2\
         {}allow this? [y/N/always/never] ",
        "=".repeat(400),
    );
    let arguments = serde_json::json!({"prompt": forged, "default": true}).to_string();
    let told = check(&project, "sure", &arguments, &[(ANSWER, "n\n")], 0);
    let shown = screen(&project, &told);
    insta::assert_snapshot!("asking_forged", shown);
    // Every word of it stands behind a bar, on a line that no terminal of 80 columns breaks.
    for line in shown.lines() {
        let is_words = line.starts_with("  │ ");
        for part in ["approval needed", "allow this", "wants to", "op-2"] {
            assert!(is_words || !line.contains(part), "{line}");
        }
        assert!(!is_words || line.chars().count() <= 80, "{line}");
    }
    for part in ["\u{1b}[2J", "\u{202e}", "\u{2028}"] {
        assert!(!told.stdout.contains(part), "{told:?}");
    }
}
