//! Exit codes: a script learns how a command ended without reading a word.

use super::project_with;

#[test]
fn exit_codes_say_how_a_command_ended() {
    let guests = [
        "healthy",
        "every-type",
        "traps",
        "caller",
        "chooser",
        "endless-growth",
    ];
    let project = project_with(&guests).file("empty.jsonl", "");
    let cases: [(&[&str], i32); 14] = [
        (&["run", "double", "--arg", "number=1"], 0),
        (&["sessions"], 0),
        (
            &["run", "fail", "--args", r#"{"how": "asked", "number": 1}"#],
            1,
        ),
        (&["run", "traps.unreachable"], 1),
        (&["run", "double", "--arg", "number=x"], 2),
        (&["run", "double"], 2),
        (&["run", "no-such-function"], 2),
        (&["show", "op-0000000000000000"], 2),
        (&["fly"], 2),
        (
            &[
                "run",
                "caller.call",
                "--args",
                r#"{"name": "double", "arguments": {"number": 1}}"#,
            ],
            3,
        ),
        (&["run", "choose-ambient", "--arg", "prompt=x"], 4),
        (
            &[
                "run",
                "choose",
                "--arg",
                "prompt=x",
                "--arg",
                "max_retries=0",
                "--model",
                "script:empty.jsonl",
            ],
            4,
        ),
        (&["run", "endless-growth.memory"], 6),
        (&["run", "caller.down"], 6),
    ];
    for (arguments, code) in cases {
        for json in [false, true] {
            let json: &[&str] = if json { &["--json"] } else { &[] };
            let outcome = project.run(&[arguments, json].concat());
            assert_eq!(outcome.code, code, "{arguments:?}: {outcome:?}");
        }
    }
}

#[test]
fn a_refusal_says_how_to_allow_it() {
    let project = project_with(&["healthy", "caller"]);
    let call = [
        "run",
        "caller.call",
        "--args",
        r#"{"name": "double", "arguments": {"number": 4}}"#,
    ];
    let refused = project.run(&call);
    insta::assert_snapshot!("refusal", refused.shown(&project));

    // What the refusal says is done, and then the call is made.
    let granted = project.allow_as_told(&refused);
    assert_eq!(granted.code, 0, "{granted:?}");
    let allowed = project.run(&call);
    assert_eq!(
        (allowed.code, allowed.stdout.as_str()),
        (0, "8\n"),
        "{allowed:?}"
    );
}
