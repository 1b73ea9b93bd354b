//! Arguments, option files, replies and ids that are broken.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use openprogram_tests::cli::Project;

use super::Input;

/// What follows `run double --component healthy.wasm`, what it is refused with, and what is named.
const RUNS: [(&[&str], i32, &str); 13] = [
    (&["--args", "{"], 2, "--args"),
    (&["--args", "[1]"], 2, "--args"),
    (&["--arg", "number"], 2, "number"),
    (
        &["--args", "{\"number\": 1}", "--arg", "number=2"],
        2,
        "number",
    ),
    (&["--arg", "number=1", "--arg", "number=2"], 2, "number"),
    (&["--arg", "nmber=1"], 2, "nmber"),
    (&["--arg", "number=4294967296"], 2, "number"),
    (&[], 2, "number"),
    (&["--arg", "number=1", "--session", "op-1"], 2, "op-1"),
    (
        &["--arg", "number=1", "--session", "op-0000000000000000"],
        2,
        "no session",
    ),
    (&["--arg", "number=1", "--model", "x"], 2, "`x`"),
    (
        &["--arg", "number=1", "--model", "script:bad.jsonl"],
        4,
        "bad.jsonl",
    ),
    (&["--arg", "number=1", "--context", "{"], 2, "--context"),
];

/// An option file and what is named in what is said of it.
const OPTIONS: [(&str, &str); 9] = [
    ("", "options.json"),
    ("{", "options.json"),
    ("[]", "options.json"),
    ("{}", "form"),
    ("{\"form\": \"dict\", \"entries\": []}", "no options"),
    ("{\"form\": \"tree\", \"entries\": []}", "form"),
    (
        "{\"form\": \"dict\", \"entries\": [{\"key\": \"a\"}]}",
        "options.json",
    ),
    (
        "{\"form\": \"dict\", \"entries\": [{\"key\": \"a\", \"handler\": {\"kind\": \"value\", \"value\": 1}}, \
         {\"key\": \"a\", \"handler\": {\"kind\": \"value\", \"value\": 2}}]}",
        "`a`",
    ),
    (
        "{\"form\": \"dict\", \"entries\": [{\"key\": \"a\", \"handler\": {\"kind\": \"schema\", \
         \"schema\": {\"x\": {\"type\": \"colour\"}}}}]}",
        "x",
    ),
];

/// A menu of one value.
const GOOD: &str = "{\"form\": \"dict\", \"entries\": [{\"key\": \"a\", \"handler\": \
                    {\"kind\": \"value\", \"value\": 1}}]}";

pub(super) fn inputs() -> Vec<Input> {
    let healthy = |project: Project| project.guests(&["healthy"]).file("bad.jsonl", "{\n");
    let run = ["run", "double", "--component", "healthy.wasm"];
    let mut inputs = Vec::new();
    for (arguments, exit, names) in RUNS {
        inputs.push(Input::of(&[&run[..], arguments].concat(), exit, names).with(healthy));
    }
    let decide = ["decide", "--options", "options.json"];
    for (text, names) in OPTIONS {
        let title = if text.is_empty() {
            "an empty file"
        } else {
            text
        };
        let project = move |project: Project| project.file("options.json", text);
        inputs.push(Input::of(&decide, 2, names).titled(title).with(project));
    }
    let deep = "[".repeat(100_000);
    let good = |project: Project| project.file("options.json", GOOD);
    let not_text = OsStr::from_bytes(b"caf\xe9.wasm");
    inputs.extend([
        Input::of(&decide, 2, "options.json").titled("an option file that is not there"),
        Input::of(&decide, 2, "options.json")
            .titled("an option file of 100,000 brackets")
            .with(move |project| project.file("options.json", &deep)),
        Input::of(
            &[&decide[..], &["--reply", "gone.txt"]].concat(),
            2,
            "gone.txt",
        )
        .with(good),
        Input::of(
            &[&decide[..], &["--reply", "options.json"]].concat(),
            4,
            "call",
        )
        .with(good),
        Input::of(&["decide", "--options", "/dev/zero"], 2, "/dev/zero"),
        Input::of(&["show", "op-1"], 2, "op-1"),
        Input::of(&["show", "op-0000000000000000"], 2, "no session"),
        Input::of(&["show", "../../etc/passwd"], 2, "passwd"),
        Input::of(&["fly"], 2, "fly"),
        Input::of(&["run"], 2, "FUNCTION"),
        Input::of(&["run", "double", "--fast"], 2, "--fast"),
        Input::of(&["inspect", "a.wasm", "b.wasm"], 2, "b.wasm"),
        Input::of(&["inspect"], 2, "UTF-8").and(not_text),
        Input::of(&["run", "double", "--arg"], 2, "UTF-8").and(OsStr::from_bytes(b"number=\xff")),
    ]);
    inputs
}
