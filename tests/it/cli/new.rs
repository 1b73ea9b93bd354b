//! `new`: from nothing to a component that runs, outside this repository and with its own SDK.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use openprogram_tests::cli::Project;
use openprogram_tests::guests;
use serde_json::json;

use super::project;

/// What the copy of the SDK holds besides the files of the repository.
const OWN_FILES: [&str; 3] = [".gitignore", "Cargo.toml", "sdk.toml"];

/// A folder in which components are built where the samples are built, so that what both depend on
/// is built once.
fn workshop() -> Project {
    let root = guests::root().canonicalize().unwrap();
    let target = root.join("sample-functions/target");
    let config = format!("[build]\ntarget-dir = \"{}\"\n", target.display());
    project()
        .with_toolchain()
        .file(".cargo/config.toml", config)
}

/// The same with a new project `desk` in it, where commands are run.
fn desk() -> Project {
    let project = workshop();
    let new = project.run(&["new", "desk"]);
    assert_eq!(new.code, 0, "{new:?}");
    let folder = project.path("desk");
    project.at(folder)
}

#[test]
fn a_new_project_builds_runs_and_decides() {
    let project = desk();
    let lock = project.path("desk/Cargo.lock");
    let written = fs::read_to_string(&lock).unwrap();

    let price = ["run", "tell-price", "--arg", "repair=tyre", "--json"];
    let price = project.run(&price);
    assert_eq!(price.code, 0, "{price:?}");
    let expected = json!({"euros": 15, "is_express": false});
    assert_eq!(price.json()["ok"], expected);
    let both = "{\"repair\": \"gears\", \"days\": 1}";
    let express = project.run(&["run", "tell-price", "--args", both, "--json"]);
    let expected = json!({"euros": 55, "is_express": true});
    assert_eq!(express.json()["ok"], expected);

    // As `new` and the README of the project say it.
    let message = "message=My front tyre is flat.";
    let script = "script:replies.jsonl";
    let run = ["run", "handle-message", "--arg", message, "--model", script];
    let run = project.run(&run);
    insta::assert_snapshot!("new_decides", run.shown(&project));
    let show = project.run(&["show", run.stderr.rsplit(' ').next().unwrap().trim()]);
    insta::assert_snapshot!("new_decides_show", show.shown(&project));
    let inspect = project.run(&["inspect", "desk"]);
    insta::assert_snapshot!("new_inspect", inspect.shown(&project));

    let build = project.run(&["build"]);
    assert_eq!(build.code, 0, "{build:?}");
    for word in ["note:", "warning"] {
        assert!(!build.stderr.contains(word), "{build:?}");
    }
    let after = fs::read_to_string(&lock).unwrap();
    assert_eq!(after, written, "cargo found something to write anew");
    let project = check_added(project);
    check_broken_source(&project);
}

/// Another project installs the component from its source folder and runs what it installed.
fn check_added(project: Project) -> Project {
    let (desk, other) = (project.path("desk"), project.path("other"));
    let project = project.file("other/openprogram.toml", "").at(other);
    let add = project.run(&["add", "../desk"]);
    assert_eq!(add.code, 0, "{add:?}");
    let functions = project.run(&["functions"]);
    assert!(functions.stdout.contains("tell-price"), "{functions:?}");
    let price = project.run(&["run", "tell-price", "--arg", "repair=brakes", "--json"]);
    let expected = json!({"euros": 30, "is_express": false});
    assert_eq!(price.json()["ok"], expected, "{price:?}");
    project.at(desk)
}

/// What does not compile is told as rustc prints it, with the place.
fn check_broken_source(project: &Project) {
    let source = project.path("desk/src/lib.rs");
    let text = fs::read_to_string(&source).unwrap();
    fs::write(&source, text.replace("=> 15,", "=> \"fifteen\",")).unwrap();
    let broken = project.run(&["build"]);
    assert_eq!((broken.code, broken.stdout.as_str()), (1, ""));
    for said in ["error[E0308]", "src/lib.rs:", "\"fifteen\""] {
        assert!(broken.stderr.contains(said), "{said}: {}", broken.stderr);
    }
    let failed = "error: `cargo build --release --target wasm32-wasip2` failed";
    let last: Vec<_> = broken.stderr.lines().rev().take(2).collect();
    assert!(
        last[0].starts_with("hint: ") && last[1] == failed,
        "{last:?}"
    );
}

#[test]
fn a_project_carries_every_file_of_the_sdk_as_it_is() {
    let project = desk();
    let root = guests::root().canonicalize().unwrap();
    let mut expected = BTreeMap::new();
    for part in ["guest-sdk", "wit", "LICENSE-MIT", "LICENSE-APACHE"] {
        read_all(&root, &root.join(part), &mut expected);
    }
    // What other languages are built with is in their projects.
    expected.retain(|name, _| {
        let of_others = ["/tests/", "guest-sdk/js/", "guest-sdk/python/"];
        !of_others.iter().any(|part| name.contains(part))
    });
    let copy = project.path("desk/sdk");
    let mut found = BTreeMap::new();
    read_all(&copy, &copy, &mut found);
    for name in OWN_FILES {
        assert!(found.remove(name).is_some(), "{name}");
    }
    assert_eq!(
        found.keys().collect::<Vec<_>>(),
        expected.keys().collect::<Vec<_>>()
    );
    for (name, text) in expected {
        assert_eq!(found[&name], text, "{name}");
    }
}

/// All files below a path, by path from `base`.
fn read_all(base: &Path, path: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    if path.is_file() {
        let name = path.strip_prefix(base).unwrap();
        let name = name.to_string_lossy().replace('\\', "/");
        files.insert(name, fs::read(path).unwrap());
        return;
    }
    for entry in fs::read_dir(path).unwrap() {
        read_all(base, &entry.unwrap().path(), files);
    }
}

#[test]
fn what_new_says_and_refuses() {
    let project = workshop().file("taken/mine.txt", "mine");
    let mut shown = String::new();
    for arguments in [
        &["new", "desk"][..],
        &["new", "desk"],
        &["new", "taken"],
        &["new", "below/a/desk", "--json"],
        &["new", "taken/mine.txt/desk"],
        &["new", "My Tool"],
        &["new", "type"],
        &["new", "serde"],
        &["new", ".."],
        &["new", ""],
        &["new", "shop", "--lang", "python", "--json"],
        &["new", "serde", "--lang", "js", "--json"],
        &["new", "list", "--lang", "js"],
        &["new", "list", "--lang", "c"],
        &["new", "--update-sdk", "desk"],
        &["new", "--update-sdk", "desk", "--json"],
        &["new", "--update-sdk"],
        &["new", "--update-sdk", "nowhere"],
    ] {
        let outcome = project.run(arguments).shown(&project);
        shown.push_str(&format!(
            "$ openprogram {}\n{outcome}\n",
            arguments.join(" ")
        ));
    }
    insta::assert_snapshot!("new_says", shown);
    let left = fs::read_to_string(project.path("taken/mine.txt")).unwrap();
    assert_eq!(left, "mine");
}

#[test]
fn an_old_sdk_is_named_before_anything_is_built_and_can_be_updated() {
    let project = desk();
    let marker = project.path("desk/sdk/sdk.toml");
    let own = fs::read_to_string(&marker).unwrap();
    let old: String = own
        .lines()
        .map(|line| match line.split_once(" = ") {
            Some(("contract", _)) => "contract = \"0123456789abcdef\"\n".to_owned(),
            _ => format!("{line}\n"),
        })
        .collect();
    fs::write(&marker, old).unwrap();
    let refused = project.run(&["run", "tell-price", "--arg", "repair=tyre"]);
    insta::assert_snapshot!("old_sdk", without_hash(&refused.shown(&project)));
    let update = project.run(&["new", "--update-sdk"]);
    assert_eq!(update.code, 0, "{update:?}");
    assert_eq!(fs::read_to_string(&marker).unwrap(), own);
}

/// The text without the hash of this contract, which changes with the contract.
fn without_hash(text: &str) -> String {
    let (before, after) = text.split_once("this openprogram (`").unwrap();
    let (_, rest) = after.split_once('`').unwrap();
    format!("{before}this openprogram (`<hash>`{rest}")
}

#[test]
fn a_machine_without_rust_is_told_what_to_install() {
    let project = project();
    assert_eq!(project.run(&["new", "desk"]).code, 0);
    let build = project.run(&["build", "desk"]);
    insta::assert_snapshot!("no_cargo", build.shown(&project));
}

/// A toolchain without the target and without rustup, as a distribution packages it.
#[cfg(unix)]
#[test]
fn a_toolchain_without_the_target_is_named() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let project = project();
    assert_eq!(project.run(&["new", "desk"]).code, 0);
    let project = project.file("bin/rustc", "#!/bin/sh\necho /nowhere\n");
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(project.path("bin/rustc"), executable).unwrap();
    symlink(
        std::env::var_os("CARGO").expect("`cargo test` says where cargo is"),
        project.path("bin/cargo"),
    )
    .unwrap();
    let path = project.path("bin").display().to_string();
    let project = project.variable("PATH", &path);
    let build = project.run(&["build", "desk"]);
    insta::assert_snapshot!("no_target", build.shown(&project));
}
