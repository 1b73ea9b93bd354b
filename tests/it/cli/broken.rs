//! Inputs that are broken: every one is named, none is a panic.

use openprogram_tests::cli::Project;
use openprogram_tests::guests;
use openprogram_tests::metadata::{Described, telling};

use super::project;

/// Runs a command that must fail, and gives what it said.
fn said(project: &Project, arguments: &[&str]) -> String {
    let outcome = project.run(arguments);
    let panicked = outcome.stderr.contains("panicked") || outcome.code == 101 || outcome.code > 128;
    assert!(!panicked, "{arguments:?}: {outcome:?}");
    assert_ne!(outcome.code, 0, "{arguments:?}: {outcome:?}");
    assert_eq!(outcome.stdout, "", "{arguments:?}");
    let said = project.shown(&outcome.stderr);
    format!("exit {}\n{said}\n", outcome.code)
}

#[test]
fn a_file_that_is_no_component_is_named_with_what_it_is() {
    // Its bytes depend on nothing but its text, so what is said of them does not change.
    let whole = guests::bytes("oversized-result");
    let half = &whole[..whole.len() / 2];
    let mut flipped = whole.clone();
    let middle = flipped.len() / 2;
    for byte in &mut flipped[middle..middle + 64] {
        *byte ^= 0xff;
    }
    let mut shown = String::new();
    let module: &[u8] = b"\0asm\x01\0\0\0";
    let files: [(&str, &[u8]); 8] = [
        ("empty.wasm", b""),
        ("text.wasm", b"(component)"),
        ("noise.wasm", &[0x9c; 4_096]),
        ("module.wasm", module),
        ("half.wasm", half),
        ("flipped.wasm", &flipped),
        ("magic.wasm", b"\0asm"),
        ("elf.wasm", b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0"),
    ];
    for (name, bytes) in files {
        let project = project().file(name, bytes);
        for command in [&["inspect", name][..], &["run", "f", "--component", name]] {
            shown.push_str(&format!(
                "$ {}\n{}\n",
                command.join(" "),
                said(&project, command)
            ));
        }
    }
    let project = project().guests(&["forbidden-import"]);
    shown.push_str(&said(&project, &["inspect", "forbidden-import.wasm"]));
    let project = super::project();
    shown.push_str(&said(&project, &["inspect", "missing.wasm"]));
    insta::assert_snapshot!("broken_components", shown);
}

#[test]
fn a_broken_project_file_is_named_with_the_place() {
    let mut shown = String::new();
    for file in [
        "model = \n",
        "modle = \"x\"\n",
        "model = 3\n",
        "model = \"no-colon\"\n",
        "model = \"nobody:knows\"\n[components]\nhealthy = \"healthy.wasm\"\n",
        "model = \"component:missing\"\n[components]\nhealthy = \"healthy.wasm\"\n",
        "model = \"component:healthy\"\n[components]\nhealthy = \"healthy.wasm\"\n",
        "model = \"script:missing.jsonl\"\n[components]\nhealthy = \"healthy.wasm\"\n",
        "[components]\nhealthy = \"gone.wasm\"\n",
        "[components]\n\"no good\" = \"healthy.wasm\"\n",
        "[components]\nhealthy = \"healthy.wasm\"\nagain = \"healthy.wasm\"\n",
        "[components.healthy]\nsource = \"healthy.wasm\"\ncalls = [\"nothing.there\"]\n",
        "[components.healthy]\nsource = \"healthy.wasm\"\ncall = []\n",
        "[grants]\n",
    ] {
        let project = project()
            .guests(&["healthy"])
            .file("openprogram.toml", file);
        let run = said(&project, &["run", "double", "--arg", "number=1"]);
        shown.push_str(&format!("{file}{run}\n"));
    }
    insta::assert_snapshot!("broken_project_files", shown);
}

#[test]
fn a_broken_argument_is_named() {
    let project = project().guests(&["healthy"]);
    let project = project
        .file("bad.json", "{")
        .file("list.json", "[]")
        .file("bad.jsonl", "{\n");
    let run = ["run", "double", "--component", "healthy.wasm"];
    let mut shown = String::new();
    for arguments in [
        &["--args", "{"][..],
        &["--args", "[1]"],
        &["--args", "{\"number\": 1}", "--arg", "number=2"],
        &["--arg", "number=1", "--arg", "number=2"],
        &["--arg", "nmber=1"],
        &["--arg", "number=4294967296"],
        &["--arg", "number=1", "--session", "op-1"],
        &["--arg", "number=1", "--session", "op-0000000000000000"],
        &["--arg", "number=1", "--model", "x"],
        &["--arg", "number=1", "--model", "script:bad.jsonl"],
    ] {
        let said = said(&project, &[&run[..], arguments].concat());
        shown.push_str(&format!("$ {}\n{said}\n", arguments.join(" ")));
    }
    for arguments in [
        &["decide", "--options", "missing.json"][..],
        &["decide", "--options", "bad.json"],
        &["decide", "--options", "list.json"],
        &["show", "op-1"],
        &["show", "op-0000000000000000"],
        &["build", "missing"],
        &["build", "healthy.wasm"],
    ] {
        shown.push_str(&format!(
            "$ {}\n{}\n",
            arguments.join(" "),
            said(&project, arguments)
        ));
    }
    insta::assert_snapshot!("broken_arguments", shown);
}

#[test]
fn a_name_that_would_take_over_a_terminal_is_shown_without_its_power() {
    let name = "greet\u{1b}[2J\u{7}\0";
    let function = Described {
        name,
        ..Described::default()
    };
    let project = project().file("liar.wasm", telling(&[function]).unwrap());
    let said = said(&project, &["inspect", "liar.wasm"]);
    let control = said.chars().find(|c| c.is_control() && *c != '\n');
    assert_eq!(control, None, "{said:?}");
}

#[test]
fn a_damaged_database_is_named_and_not_overwritten() {
    let project = super::project_with(&["healthy"]);
    let first = project.run(&["run", "double", "--arg", "number=1"]);
    assert_eq!(first.code, 0, "{first:?}");
    let noise = vec![0x5a; 16_384];
    for name in ["sessions.db-wal", "sessions.db-shm"] {
        // Left over only when the process did not close it.
        let _ = std::fs::remove_file(project.path(&format!(".openprogram/{name}")));
    }
    let project = project.file(".openprogram/sessions.db", &noise);
    let mut shown = String::new();
    for arguments in [&["sessions"][..], &["run", "double", "--arg", "number=1"]] {
        shown.push_str(&format!(
            "$ {}\n{}\n",
            arguments.join(" "),
            said(&project, arguments)
        ));
    }
    insta::assert_snapshot!("damaged_database", shown);
    let kept = std::fs::read(project.path(".openprogram/sessions.db")).unwrap();
    assert_eq!(kept, noise, "what is damaged is left for a person to save");
}

#[test]
fn a_damaged_cache_is_made_again() {
    let project = super::project_with(&["healthy"]);
    let double = ["run", "double", "--arg", "number=2"];
    assert_eq!(project.run(&double).code, 0);
    let mut damaged = 0;
    let mut folders = vec![project.path(".openprogram/cache")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let mut bytes = std::fs::read(&path).unwrap();
                let middle = bytes.len() / 2;
                if let Some(byte) = bytes.get_mut(middle) {
                    *byte ^= 0xff;
                    std::fs::write(&path, bytes).unwrap();
                    damaged += 1;
                }
            }
        }
    }
    assert!(damaged > 0, "nothing was cached");
    let again = project.run(&double);
    assert_eq!((again.code, again.stdout.as_str()), (0, "4\n"), "{again:?}");
}
