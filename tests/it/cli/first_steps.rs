//! What people stumble over on their first day, each told where it happens.

use std::fs;

use openprogram_tests::cli::{Outcome, Project};
use serde_json::{Value, json};

use super::grants::toml;
use super::install::{done, refused};
use super::{project, project_with};

/// A project with these guests as files of their names.
fn with(guests: &[&str]) -> Project {
    let sources = guests
        .iter()
        .map(|name| format!("{name} = \"{name}.wasm\"\n"));
    let file = format!("[components]\n{}", sources.collect::<String>());
    project().guests(guests).file("openprogram.toml", file)
}

#[test]
fn show_and_audit_take_the_newest_session_when_none_is_named() {
    let project = with(&["healthy"]);
    for command in ["show", "audit"] {
        let said = refused(&project, 2, &[command]);
        assert!(said.contains("there are no sessions yet"), "{said}");
    }
    done(&project, &["run", "double", "--arg", "number=1"]);
    done(&project, &["run", "double", "--arg", "number=2"]);
    let newest = done(&project, &["sessions", "--json"]).json()["sessions"][0]["session"].clone();
    let newest = newest.as_str().unwrap();
    for command in ["show", "audit"] {
        let told = done(&project, &[command]);
        assert_eq!(told.stdout, done(&project, &[command, newest]).stdout);
        let said = format!("the newest session, `{newest}`:\n");
        assert!(told.stderr.starts_with(&said), "{told:?}");
    }
}

#[test]
fn a_grant_that_is_of_no_use_here_or_leads_out_says_so_at_once() {
    let project = with(&["caller"])
        .variable("COLOUR", "blue")
        .file("data/a", "");
    let told = done(
        &project,
        &[
            "grant",
            "caller",
            "--yes",
            "--json",
            "--dir",
            "ro:data",
            "--dir",
            "rw:gone",
            "--dir",
            "ro:..=/up",
            "--env",
            "COLOUR",
            "--env",
            "NOT_SET",
            "--secret",
            "KEY=https://a.example",
        ],
    );
    let grants = told.json()["grants"].clone();
    let notes = grants.as_array().unwrap().iter().map(|grant| {
        let line = grant["line"].as_str().unwrap();
        project.shown(&format!(
            "{line}: {}",
            grant["note"].as_str().unwrap_or("-")
        ))
    });
    let notes: Vec<_> = notes.collect();
    let expected = [
        "ro:data: -",
        "rw:gone: there is no folder `<project>/gone`",
        "ro:..=/up: outside of the project",
        "COLOUR: -",
        "NOT_SET: the variable NOT_SET is not set",
        "KEY=https://a.example/: the variable KEY is not set",
    ];
    assert_eq!(notes, expected);
}

#[test]
fn a_name_in_a_set_of_tools_that_means_no_function_is_told() {
    let project = with(&["healthy"]);
    let sets = "[toolsets]\ndefault = [\"healthy.double\", \"healthy.duoble\"]\n\
                [unsafe_in]\nmail = [\"skill\", \"shell.run\"]\n";
    let project = project.file("openprogram.toml", toml_of(sets));
    // Before the component is known nobody can say.
    let told = done(&project, &["functions"]);
    assert!(!told.stderr.contains("toolsets"), "{told:?}");
    done(&project, &["functions", "--learn"]);
    let told = done(&project, &["functions"]);
    for part in [
        "warning: `toolsets.default` in openprogram.toml: there is no function `healthy.duoble`; did \
         you mean `hostile:healthy/guest.double`?\n",
        "warning: `unsafe_in.mail` in openprogram.toml: there is no function `shell.run`\n",
    ] {
        assert!(told.stderr.contains(part), "`{part}`: {told:?}");
    }
    let told = project.run(&["doctor", "--json"]);
    let checks = told.json()["checks"].clone();
    let failed = |name: &str| {
        let mut checks = checks.as_array().unwrap().iter();
        checks.any(|check| check["name"] == name && check["status"] == "failed")
    };
    assert!(
        failed("tool set toolsets.default") && failed("tool set unsafe_in.mail"),
        "{told:?}"
    );
    let right = toml_of("[toolsets]\ndefault = [\"double\"]\n");
    let project = project.file("openprogram.toml", right);
    let told = project.run(&["doctor"]);
    assert!(
        told.stdout
            .contains("every function that they name is there"),
        "{told:?}"
    );
}

fn toml_of(rest: &str) -> String {
    format!("[components]\nhealthy = \"healthy.wasm\"\n{rest}")
}

#[test]
fn an_argument_can_stand_in_a_file_or_on_stdin() {
    let project = with(&["every-type", "healthy"])
        .file("text.txt", "a \"quoted\" text\n")
        .file("number.json", " 21\n")
        .file("bytes.bin", [0, 255, 10]);
    let run = |arguments: &[&str]| -> Outcome { project.run(arguments) };
    let told = run(&["run", "double", "--arg", "number=@number.json"]);
    assert_eq!((told.code, told.stdout.as_str()), (0, "42\n"), "{told:?}");
    let told = project.run_with_input(&["run", "double", "--arg", "number=@-"], "4");
    assert_eq!((told.code, told.stdout.as_str()), (0, "8\n"), "{told:?}");
    for (value, said) in [
        ("@gone", "cannot read `gone`"),
        ("@gone", "`@@` begins a text with `@`"),
        ("@", "`@@` begins a text with `@`"),
    ] {
        let said_there = refused(
            &project,
            2,
            &["run", "double", "--arg", &format!("number={value}")],
        );
        assert!(said_there.contains(said), "{said_there}");
    }
    let twice = ["run", "double", "--arg", "number=@-", "--arg", "other=@-"];
    assert!(refused(&project, 2, &twice).contains("stdin can be the value of one `--arg`"));
}

#[test]
fn a_key_in_the_wrong_place_of_the_project_file_is_told_with_the_right_one() {
    let healthy = || project().guests(&["healthy"]);
    for (file, part) in [
        ("modle = \"a:b\"\n", "did you mean `model`?"),
        ("[limits]\nmax_token = 3\n", "did you mean `max_tokens`?"),
        (
            "[components.healthy]\nsource = \"healthy.wasm\"\nmodel = \"openai:gpt-5\"\n",
            "`model` is a key of the whole project; write it above the first `[table]`",
        ),
        (
            "[components]\nhealthy = \"healthy.wasm\"\nmodel = \"openai:gpt-5\"\n",
            "`model` is a key of the whole project; write it above the first `[table]`",
        ),
    ] {
        let project = healthy().file("openprogram.toml", file);
        let said = refused(&project, 2, &["functions"]);
        assert!(said.contains(part), "{said}");
    }
    // A component may have any name.
    let named = "[components]\nmodel = \"healthy.wasm\"\n";
    done(&healthy().file("openprogram.toml", named), &["functions"]);
}

#[test]
fn what_wasi_always_gives_is_one_line_of_inspect_and_whole_for_programs() {
    let project = project().guests(&["caller"]);
    let told = done(&project, &["inspect", "caller.wasm"]).stdout;
    let lines: Vec<_> = told.lines().filter(|line| line.contains("wasi:")).collect();
    assert_eq!(lines.len(), 1, "{told}");
    assert!(lines[0].ends_with(" (always there)"), "{told}");
    let told = done(&project, &["inspect", "caller.wasm", "--json"]).json();
    let imports = told["imports"].as_array().unwrap();
    let n_wasi = imports
        .iter()
        .filter(|import| import.as_str().unwrap().starts_with("wasi:"));
    assert!(n_wasi.count() > 3, "{told}");
}

#[test]
fn what_is_left_of_a_removed_component_is_taken_away_by_one_command() {
    let project = project().guests(&["caller"]);
    done(&project, &["add", "caller.wasm"]);
    done(&project, &["grant", "caller", "--env", "A"]);
    let limits = "# Mine.\n[components.caller.limits]\ncpu_ms = 5\n";
    let project = project.file("openprogram.toml", limits);
    let told = done(&project, &["remove", "caller"]);
    assert!(
        told.stderr.contains("`openprogram revoke caller --all`"),
        "{told:?}"
    );
    refused(&project, 2, &["functions"]);
    done(&project, &["revoke", "caller", "--all"]);
    assert!(!toml(&project).contains("caller"), "{}", toml(&project));
    done(&project, &["functions"]);
}

#[test]
fn the_tools_of_other_languages_are_checked_where_a_project_needs_them() {
    let named = |told: &Value, name: &str| {
        let mut checks = told["checks"].as_array().unwrap().iter();
        checks.find(|check| check["name"] == name).cloned()
    };
    let project = project_with(&[]).variable("PATH", "/nonexistent");
    let told = project.run(&["doctor", "--json"]).json();
    for tool in ["node", "npm", "python3"] {
        assert_eq!(named(&told, tool), None, "{told}");
    }
    let project = project
        .file(
            "web/package.json",
            r#"{"name": "web", "main": "a.js", "openprogram": {"wit": "wit"}}"#,
        )
        .file("py/pyproject.toml", "[tool.openprogram]\nwit = \"wit\"\n")
        .file(
            "openprogram.toml",
            "[components]\nweb = \"web\"\npy = \"py\"\n",
        );
    let told = project.run(&["doctor", "--json"]).json();
    for (tool, mend) in [
        ("node", "install Node.js 20"),
        ("npm", "install Node.js 20"),
        ("python3", "install Python 3.10"),
    ] {
        let check = named(&told, tool).unwrap_or_else(|| panic!("{tool}: {told}"));
        assert_eq!(check["status"], "failed");
        assert!(
            check["message"]
                .as_str()
                .unwrap()
                .starts_with("it cannot be run: "),
            "{check}"
        );
        assert!(check["mend"].as_str().unwrap().starts_with(mend), "{check}");
    }
}

/// As after an update of this program with another engine.
#[test]
fn what_another_engine_compiled_is_compiled_once_more_and_that_is_told() {
    let project = with(&["healthy"]);
    let run = ["run", "double", "--arg", "number=2"];
    assert!(!done(&project, &run).stderr.contains("compiled anew"));
    let images = || {
        let entries = fs::read_dir(project.path(".openprogram/cache"))
            .unwrap()
            .flatten();
        let nested = entries.flat_map(|entry| match entry.path().is_dir() {
            true => fs::read_dir(entry.path())
                .unwrap()
                .flatten()
                .map(|e| e.path())
                .collect(),
            false => vec![entry.path()],
        });
        let mut images: Vec<_> = nested
            .filter(|p| p.extension().is_some_and(|e| e == "image"))
            .collect();
        images.sort();
        images
    };
    let own = images();
    assert_eq!(own.len(), 1, "{own:?}");
    let name = own[0].file_name().unwrap().to_str().unwrap();
    let (digest, _) = name.rsplit_once('-').unwrap();
    fs::rename(
        &own[0],
        own[0].with_file_name(format!("{digest}-0000000000000000.image")),
    )
    .unwrap();
    let told = done(&project, &run);
    assert!(
        told.stderr.contains("1 component was compiled anew, once"),
        "{told:?}"
    );
    let told = done(&project, &run);
    assert!(!told.stderr.contains("compiled anew"), "{told:?}");
    assert_eq!(images().len(), 2);
    assert_eq!(json!(told.stdout), json!("4\n"));
}
