//! `run --watch`: again after every change, until the person ends it.

#[cfg(unix)]
use std::io::{BufRead as _, BufReader};
#[cfg(unix)]
use std::process::Command;

#[cfg(unix)]
use openprogram_core::Json;
use openprogram_tests::guests;

use super::project;

/// Reads lines until one holds this text, and gives all of them.
#[cfg(unix)]
fn until(lines: &mut impl Iterator<Item = String>, awaited: &str) -> Vec<String> {
    let mut read = Vec::new();
    for line in lines.by_ref() {
        let is_last = line.contains(awaited);
        read.push(line);
        if is_last {
            return read;
        }
    }
    panic!("`{awaited}` never came: {read:?}");
}

#[cfg(unix)]
#[test]
fn each_run_is_one_object_on_one_line_for_a_program() {
    let project = project().file("watched.wasm", guests::bytes("healthy"));
    let given = ["--component", "watched.wasm", "--arg", "number=4"];
    let run = [&["run", "double", "--watch", "--json"][..], &given].concat();
    let mut child = project.start_piped(&run);
    let data = BufReader::new(child.stdout.take().unwrap());
    let data = data.lines().map(Result::unwrap);
    let mut data = data.map(|line| serde_json::from_str::<Json>(&line).expect("one whole object"));
    assert_eq!(data.next().unwrap()["ok"], 8);
    let project = project.file("watched.wasm", "no component");
    let failed = data.next().unwrap();
    assert!(failed["error"]["message"].is_string(), "{failed}");
    assert!(failed["session"].is_null(), "{failed}");
    let _project = project.file("watched.wasm", guests::bytes("healthy"));
    assert_eq!(data.next().unwrap()["ok"], 8);
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Two guests take turns in one file: `can` is a function of the first, `double` of the second.
#[cfg(unix)]
#[test]
fn a_component_is_run_again_when_its_file_changes_and_ctrl_c_ends() {
    let project = project().file("watched.wasm", guests::bytes("healthy"));
    let run = [
        "run",
        "double",
        "--component",
        "watched.wasm",
        "--arg",
        "number=4",
        "--watch",
    ];
    let mut child = project.start_piped(&run);
    let words = BufReader::new(child.stderr.take().unwrap());
    let mut words = words.lines().map(Result::unwrap);
    let data = BufReader::new(child.stdout.take().unwrap());
    let mut data = data.lines().map(Result::unwrap);

    assert_eq!(data.next().unwrap(), "8");
    until(&mut words, "waiting for a change");
    // What fails is told, and the next change may mend it.
    let project = project.file("watched.wasm", "no component");
    let told = until(&mut words, "waiting for a change");
    assert_eq!(told[0], "changed: watched.wasm", "{told:?}");
    assert!(
        told.iter().any(|line| line.starts_with("error: ")),
        "{told:?}"
    );
    let _project = project.file("watched.wasm", guests::bytes("healthy"));
    assert_eq!(data.next().unwrap(), "8");
    until(&mut words, "waiting for a change");

    let id = child.id().to_string();
    let killed = Command::new("kill").args(["-INT", &id]).status();
    assert!(killed.unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(data.next(), None);
}

#[test]
fn what_is_installed_cannot_be_watched() {
    let project = project().file("healthy.wasm", guests::bytes("healthy"));
    let nothing = project.run(&["run", "double", "--watch"]);
    assert_eq!(nothing.code, 2, "{nothing:?}");
    let part = "no component of the project has a source that could change; name a source folder";
    assert!(nothing.stderr.contains(part), "{nothing:?}");
    let added = project.run(&["add", "healthy.wasm"]);
    assert_eq!(added.code, 0, "{added:?}");
    let project = project.file("caller.wasm", guests::bytes("caller")).file(
        "openprogram.toml",
        "[components]\ncaller = \"caller.wasm\"\n",
    );
    let installed = project.run(&["run", "double", "--arg", "number=4", "--watch"]);
    assert_eq!(installed.code, 2, "{installed:?}");
    let part = "`healthy` is installed by its digest and does not change; name a source folder";
    assert!(installed.stderr.contains(part), "{installed:?}");
}
