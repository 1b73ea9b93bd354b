//! `doctor`: what is wrong is found, named, and said how to mend.

use openprogram_tests::cli::{Outcome, Project};
use serde_json::{Value, json};

use super::{project, project_with};

/// The status of a check; its remedy is there exactly when something is to be mended.
fn status(told: &Outcome, name: &str) -> Option<String> {
    let document = told.json();
    let mut checks = document["checks"].as_array().unwrap().iter();
    let check = checks.find(|check| check["name"] == name)?;
    let status = check["status"].as_str().unwrap();
    let mends = check["mend"].as_str().is_some_and(|mend| !mend.is_empty());
    assert_eq!(mends, status != "ok", "{check}");
    Some(status.to_owned())
}

fn doctor(project: &Project) -> Outcome {
    let told = project.run(&["doctor", "--json"]);
    let failed = told.json()["failed"].as_u64().unwrap();
    assert_eq!(told.code, i32::from(failed > 0), "{told:?}");
    told
}

#[test]
fn a_folder_without_a_project_is_checked_and_left_as_it_is() {
    let project = project();
    let told = doctor(&project);
    assert_eq!(told.code, 0, "{told:?}");
    for (name, expected) in [
        ("state folder", "ok"),
        ("project file", "warning"),
        ("model", "warning"),
        ("provider openai", "ok"),
        ("terminal", "ok"),
    ] {
        assert_eq!(status(&told, name).as_deref(), Some(expected), "{name}");
    }
    assert!(status(&told, "engine").is_some(), "{told:?}");
    assert_eq!(std::fs::read_dir(project.folder()).unwrap().count(), 0);
    let text = project.run(&["doctor"]);
    assert_eq!((text.code, text.stderr.as_str()), (0, ""), "{text:?}");
    for line in text.stdout.lines() {
        let begins = ["ok ", "warning ", "         "];
        assert!(begins.iter().any(|begin| line.starts_with(begin)), "{line}");
    }
}

#[test]
fn a_project_that_works_passes() {
    let project = project_with(&["healthy"]).with_toolchain();
    let run = project.run(&["run", "double", "--arg", "number=1"]);
    assert_eq!(run.code, 0, "{run:?}");
    let told = doctor(&project);
    assert_eq!(told.json()["failed"], json!(0), "{told:?}");
    for name in [
        "rust",
        "wasm target",
        "state folder",
        "cache",
        "sessions",
        "project file",
        "components",
        "model",
    ] {
        assert_eq!(
            status(&told, name).as_deref(),
            Some("ok"),
            "{name}: {told:?}"
        );
    }
}

#[test]
fn what_is_wrong_in_a_project_file_is_found() {
    for (file, name, expected) in [
        ("modle = \"x\"", "project file", "failed"),
        ("model = \"x\"", "project file", "failed"),
        ("[components]\na = \"gone.wasm\"", "component a", "failed"),
        ("[components]\na = \".\"", "component a", "warning"),
        ("model = \"component:gone\"", "model", "failed"),
        ("model = \"script:gone.jsonl\"", "model", "failed"),
        ("model = \"nobody:m\"", "model", "failed"),
        ("model = \"openai:m\"", "model", "failed"),
        (
            "[runtimes]\nreview = \"openai:m\"",
            "runtimes.review",
            "failed",
        ),
        (
            "[providers.p]\nprotocol = \"openai\"\nbase_url = \"p\"",
            "provider p",
            "failed",
        ),
    ] {
        let project = project().file("openprogram.toml", file);
        let told = doctor(&project);
        assert_eq!(
            status(&told, name).as_deref(),
            Some(expected),
            "{file}: {told:?}"
        );
        // Everything else is checked too.
        assert_eq!(
            status(&told, "state folder").as_deref(),
            Some("ok"),
            "{file}"
        );
    }
}

#[test]
fn a_failed_check_is_told_once_with_its_remedy() {
    let project = project().file("openprogram.toml", "modle = \"x\"");
    let text = project.run(&["doctor"]);
    assert_eq!(text.code, 1, "{text:?}");
    assert_eq!(
        text.stderr,
        "error: 1 of the checks failed; see `failed` above\n"
    );
    let mut lines = text
        .stdout
        .lines()
        .skip_while(|line| !line.starts_with("failed"));
    let shown: Vec<_> = lines
        .by_ref()
        .take_while(|line| !line.starts_with("ok"))
        .collect();
    insta::assert_snapshot!("doctor_failed", project.shown(&shown.join("\n")));
    assert!(!lines.any(|line| line.starts_with("failed")), "{text:?}");
}

#[cfg(unix)]
#[test]
fn a_state_folder_that_others_can_use_is_found() {
    use std::os::unix::fs::PermissionsExt as _;

    let project = project_with(&["healthy"]);
    let run = project.run(&["run", "double", "--arg", "number=1"]);
    assert_eq!(run.code, 0, "{run:?}");
    let set = |path: &str, mode: u32| {
        let mode = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(project.path(path), mode).unwrap();
    };
    let cache = ".openprogram/cache/components";
    set(cache, 0o777);
    let told = doctor(&project);
    assert_eq!(
        status(&told, "cache").as_deref(),
        Some("failed"),
        "{told:?}"
    );
    set(cache, 0o700);
    set(".openprogram", 0o755);
    let told = doctor(&project);
    assert_eq!(status(&told, "state folder").as_deref(), Some("failed"));
    set(".openprogram", 0o700);

    std::fs::write(project.path(".openprogram/birth"), "elsewhere").unwrap();
    let told = doctor(&project);
    assert_eq!(
        status(&told, "cache").as_deref(),
        Some("warning"),
        "{told:?}"
    );
    std::fs::write(project.path(".openprogram/sessions.db"), [0x9c; 4_096]).unwrap();
    let told = doctor(&project);
    assert_eq!(
        status(&told, "sessions").as_deref(),
        Some("failed"),
        "{told:?}"
    );
}

#[test]
fn a_variable_that_cannot_be_used_is_a_warning() {
    let project = project().variable("OPENPROGRAM_EXEC_TIMEOUT_S", "-1");
    let told = doctor(&project);
    assert_eq!(told.code, 0, "{told:?}");
    assert_eq!(status(&told, "variable").as_deref(), Some("warning"));
    let count = |key: &str| told.json()[key].clone();
    assert_eq!(count("failed"), Value::from(0));
    assert!(count("warnings").as_u64() >= Some(1), "{told:?}");
}
