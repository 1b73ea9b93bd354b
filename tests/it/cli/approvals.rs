//! Questions for an approval, as a person sees them on a terminal and a script does not.

#[cfg(target_os = "linux")]
use openprogram_core::Json;
#[cfg(target_os = "linux")]
use openprogram_tests::cli::Outcome;
use openprogram_tests::cli::Project;
use openprogram_tests::host::TestHost;
use serde_json::json;

use super::project;

const PROMPT: &str = "allow this? [y/N/always/never] ";

/// The caller, which may call the healthy guest when a person agrees.
fn asking() -> Project {
    let file = "[components.caller]\nsource = \"caller.wasm\"\n\
                calls = [\"ask hostile:healthy/guest.double\"]\n\
                [components.healthy]\nsource = \"healthy.wasm\"\n";
    let project = project().guests(&["caller", "healthy"]);
    let project = project
        .file("openprogram.toml", file)
        .variable("TERM", "xterm-256color");
    let confirmed = project.run(&["grant", "caller", "--yes"]);
    assert_eq!(confirmed.code, 0, "{confirmed:?}");
    project
}

fn call(name: &str, argument: &str) -> Vec<String> {
    let arguments = format!(r#"{{"name": "{name}", "arguments": {argument}}}"#);
    ["run", "caller.call", "--args", &arguments]
        .map(str::to_owned)
        .to_vec()
}

fn words(arguments: &[String]) -> Vec<&str> {
    arguments.iter().map(String::as_str).collect()
}

/// The person at the top runs the turn and not the call that the model makes in it.
#[tokio::test]
async fn caller_as_a_tool_of_turner_is_not_approved_and_the_turn_goes_on() {
    let host = TestHost::new().guest("turner").guest("caller");
    let host = host.decider("echo-model").grant("turner", "caller.pay");
    let host = host.start().await;
    let prompt = "!call pay {\"amount\": 3}";
    let arguments = json!({"prompt": prompt, "tools": ["caller.pay"]});
    let reply = host.call("work", arguments).await.unwrap();
    let expected = "error: The call failed (approval-denied): `run hostile:caller/guest.pay` needs \
                    the approval of a person, and nobody is there to ask";
    assert_eq!(reply["text"], expected);
}

/// Without a terminal nobody is there, and the command says so and waits for nothing.
#[test]
fn caller_without_a_terminal_is_refused_and_nobody_is_waited_for() {
    let project = asking();
    for (name, argument, remedy) in [
        (
            "double",
            r#"{"number": 4}"#,
            "--call hostile:healthy/guest.double",
        ),
        ("pay", r#"{"amount": 4}"#, "run it on a terminal"),
    ] {
        let told = project.run(&words(&call(name, argument)));
        assert_eq!(told.code, 3, "{told:?}");
        for part in ["nobody is there to ask", remedy] {
            assert!(told.stderr.contains(part), "`{part}`: {told:?}");
        }
        assert!(!told.stderr.contains(PROMPT), "{told:?}");
    }
    let by_hand = project.run(&["run", "caller.pay", "--arg", "amount=4"]);
    assert_eq!(
        (by_hand.code, by_hand.stdout.as_str()),
        (0, "4\n"),
        "{by_hand:?}"
    );
}

/// The receipt of the last call of the newest session.
#[cfg(target_os = "linux")]
fn receipt(project: &Project) -> Json {
    last_call(project, "terminal")["facts"]["approvals"][0].clone()
}

#[cfg(target_os = "linux")]
fn last_call(project: &Project, by: &str) -> Json {
    let sessions = project.run(&["sessions", "--json"]);
    let sessions: Json = serde_json::from_str(&sessions.stdout).unwrap();
    let session = sessions["sessions"][0]["session"].as_str();
    let session = session.expect("a session");
    let told = project.run(&["show", session]).stdout;
    assert!(
        told.contains(&format!(" by {by}: call hostile:healthy/guest.double")),
        "{told}"
    );
    let shown = project.run(&["show", session, "--json"]);
    let graph: Json = serde_json::from_str(&shown.stdout).unwrap();
    let nodes = graph["nodes"].as_array().unwrap();
    nodes.last().unwrap().clone()
}

#[cfg(target_os = "linux")]
fn check(project: &Project, arguments: &[String], typed: &[(&str, &str)], code: i32) -> Outcome {
    let told = project.run_on_terminal_typing(&words(arguments), typed);
    assert_eq!(told.code, code, "{told:?}");
    told
}

#[cfg(target_os = "linux")]
#[test]
fn caller_on_a_terminal_does_what_the_person_says() {
    let project = asking();
    let double = call("double", r#"{"number": 4}"#);
    let told = check(&project, &double, &[(PROMPT, "y\n")], 0);
    for part in [
        "approval needed by hostile:healthy/guest.double",
        "session    op-",
        "component  healthy ",
        "wants to   call hostile:healthy/guest.double",
        "grant      ask hostile:healthy/guest.double (of caller ",
        "number = 4",
        "\n8\r\n",
    ] {
        assert!(told.stdout.contains(part), "`{part}`: {told:?}");
    }
    let kept = receipt(&project);
    assert_eq!(
        (&kept["answer"], &kept["by"]),
        (&"approved".into(), &"terminal".into())
    );

    let told = check(&project, &double, &[(PROMPT, "what\n"), (PROMPT, "n\n")], 3);
    assert!(told.stdout.contains("answer `y` for yes"), "{told:?}");
    assert_eq!(receipt(&project)["answer"], "declined");

    let pay = call("pay", r#"{"amount": 4}"#);
    let told = check(&project, &pay, &[(PROMPT, "\n")], 3);
    assert!(
        told.stdout.contains("its author says: It spends money."),
        "{told:?}"
    );
    check(&project, &pay, &[(PROMPT, "yes\n")], 0);
}

#[cfg(target_os = "linux")]
#[test]
fn caller_is_cancelled_and_not_approved_when_the_person_stops_or_stays_silent() {
    let project = asking();
    let double = call("double", r#"{"number": 4}"#);
    // Ctrl-C, which is no answer. The shell around the command ends by it too, with a code of its own.
    let told = project.run_on_terminal_typing(&words(&double), &[(PROMPT, "\u{3}")]);
    for part in ["(withdrawn)", "the run was cancelled"] {
        assert!(told.stdout.contains(part), "`{part}`: {told:?}");
    }
    assert_ne!(told.code, 0, "{told:?}");
    let project = project.variable("OPENPROGRAM_ASK_TIMEOUT_S", "0.2");
    let told = check(&project, &double, &[], 3);
    assert!(told.stdout.contains("(withdrawn)"), "{told:?}");
    assert_eq!(receipt(&project)["answer"], "timeout");
}

/// Runs the call where nobody can be asked.
#[cfg(target_os = "linux")]
fn unasked(project: &Project, arguments: &[String], code: i32) -> Outcome {
    let told = project.run(&words(arguments));
    assert_eq!(told.code, code, "{told:?}");
    told
}

#[cfg(target_os = "linux")]
#[test]
fn caller_is_not_asked_again_about_what_was_answered_for_good() {
    let project = asking();
    let (four, five) = (
        call("double", r#"{"number": 4}"#),
        call("double", r#"{"number": 5}"#),
    );
    let told = check(
        &project,
        &four,
        &[(PROMPT, "alway\n"), (PROMPT, "always\n")],
        0,
    );
    for part in [
        "`always` or `never` for each time that exactly this is asked again",
        "`openprogram grants` lists such answers",
        "\n8\r\n",
    ] {
        assert!(told.stdout.contains(part), "`{part}`: {told:?}");
    }
    let kept = last_call(&project, "terminal for good")["facts"]["approvals"][0].clone();
    let said = (&kept["answer"], &kept["by"], &kept["remembered"]);
    assert_eq!(said, (&"approved".into(), &"terminal".into(), &true.into()));

    // Nobody is needed for exactly this, and for nothing else.
    assert_eq!(unasked(&project, &four, 0).stdout, "8\n");
    let kept = last_call(&project, "memory")["facts"]["approvals"][0].clone();
    assert_eq!(
        (&kept["answer"], &kept["by"]),
        (&"approved".into(), &"memory".into())
    );
    unasked(&project, &five, 3);

    check(&project, &five, &[(PROMPT, "never\n")], 3);
    let told = check(&project, &five, &[], 3);
    for part in [
        "answered `never` to `call hostile:healthy/guest.double` before",
        "--answers`",
    ] {
        assert!(told.stdout.contains(part), "`{part}`: {told:?}");
    }
    assert!(!told.stdout.contains(PROMPT), "{told:?}");

    let listed = project.run(&["grants", "--json"]);
    let listed: Json = serde_json::from_str(&listed.stdout).unwrap();
    let answers = listed["answers"].as_array().unwrap();
    let said = |key: &str| {
        answers
            .iter()
            .map(|answer| answer[key].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(said("answer"), ["always", "never"]);
    assert_eq!(said("component"), ["caller", "caller"]);
    assert_eq!(said("arguments"), [r#"{"number":4}"#, r#"{"number":5}"#]);
    let id = answers[0]["id"].as_str().unwrap();
    let told = project.run(&["grants", "caller"]).stdout;
    let line =
        format!("    always {id}  call hostile:healthy/guest.double  {{\"number\":4}}  (digest ");
    assert!(told.contains(&line), "{told}");

    // One is forgotten by its name, and the others go with their grant.
    let told = project.run(&["revoke", "caller", "--answer", id]);
    assert_eq!(
        (told.code, told.stderr.as_str()),
        (0, "1 answer for good is forgotten\n")
    );
    unasked(&project, &four, 3);
    let told = project.run(&["revoke", "caller", "--answer", id]);
    assert!(
        told.code == 2 && told.stderr.contains("has no answer"),
        "{told:?}"
    );
    let grant = "ask hostile:healthy/guest.double";
    let told = project.run(&["revoke", "caller", "--call", grant, "--json"]);
    let told: Json = serde_json::from_str(&told.stdout).unwrap();
    assert_eq!(told["forgotten"][0]["answer"], "never");
    let told = project.run(&["revoke", "caller", "--answers"]);
    assert_eq!(
        (told.code, told.stderr.as_str()),
        (0, "no answers are kept for `caller`\n")
    );
}

/// What is kept is kept for these bytes in this folder.
#[cfg(target_os = "linux")]
#[test]
fn caller_is_asked_anew_about_other_bytes_and_in_a_copy_of_the_project() {
    let project = asking();
    let four = call("double", r#"{"number": 4}"#);
    check(&project, &four, &[(PROMPT, "always\n")], 0);
    unasked(&project, &four, 0);

    // The same code in other bytes: a section of a name and nothing else is put behind it.
    let mut bytes = std::fs::read(project.path("healthy.wasm")).unwrap();
    bytes.extend([0, 5, 4, b'm', b'o', b'r', b'e']);
    std::fs::write(project.path("healthy.wasm"), bytes).unwrap();
    let told = unasked(&project, &four, 3);
    assert!(told.stderr.contains("nobody is there to ask"), "{told:?}");
    check(&project, &four, &[(PROMPT, "always\n")], 0);

    // What came with a clone or a copy answers nothing: here the file of another project that is
    // the same in all else.
    let other = asking();
    let kept = ".openprogram/approvals.json";
    unasked(&project, &four, 0);
    unasked(&other, &four, 3);
    std::fs::copy(project.path("healthy.wasm"), other.path("healthy.wasm")).unwrap();
    std::fs::copy(project.path(kept), other.path(kept)).unwrap();
    unasked(&other, &four, 3);
    assert_eq!(
        other.run(&["grants", "--json"]).json()["answers"],
        serde_json::json!([])
    );
}
