//! The lock file in version control: branches merge where they should, and conflicts are refused.

use std::fs;
use std::process::Command;

use openprogram_tests::cli::Project;
use openprogram_tests::many;

use super::install::{done, lock, refused};
use super::project;

/// Runs git in the project, with nothing of the person who runs the tests.
fn git(project: &Project, arguments: &[&str]) -> bool {
    let mut command = Command::new("git");
    command.current_dir(project.folder()).args(arguments);
    for (name, value) in [
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_CONFIG_SYSTEM", "/dev/null"),
        ("GIT_AUTHOR_NAME", "a"),
        ("GIT_AUTHOR_EMAIL", "a@example.org"),
        ("GIT_COMMITTER_NAME", "a"),
        ("GIT_COMMITTER_EMAIL", "a@example.org"),
    ] {
        command.env(name, value);
    }
    command.output().unwrap().status.success()
}

fn commit(project: &Project) {
    assert!(git(project, &["add", "openprogram.lock"]));
    assert!(git(project, &["commit", "-q", "-m", "x"]));
}

/// A repository with two branches from one commit, on each of which something was done.
fn branches(
    mut project: Project,
    first: &dyn Fn(Project) -> Project,
    second: &dyn Fn(Project) -> Project,
) -> Project {
    assert!(git(&project, &["init", "-q", "-b", "main"]));
    commit(&project);
    assert!(git(&project, &["branch", "other"]));
    project = first(project);
    commit(&project);
    assert!(git(&project, &["checkout", "-q", "other"]));
    project = second(project);
    commit(&project);
    project
}

fn adding(name: &'static str) -> impl Fn(Project) -> Project {
    move |project| {
        let file = format!("{name}.wasm");
        let project = project.file(&file, many::component(name, 1, 1));
        done(&project, &["add", &file]);
        project
    }
}

/// A project in which some components are installed already.
fn started(names: &[&'static str]) -> Project {
    names
        .iter()
        .fold(project(), |project, name| adding(name)(project))
}

#[test]
fn branches_that_add_different_components_merge_by_themselves() {
    let project = started(&["basis", "middle", "rest"]);
    let project = branches(project, &adding("early"), &adding("shop"));
    assert!(
        git(&project, &["merge", "-q", "main", "-m", "m"]),
        "{}",
        lock(&project)
    );
    let merged = lock(&project);
    // What the program would have written itself.
    done(&project, &["update"]);
    assert_eq!(lock(&project), merged);
    for name in ["basis", "early", "middle", "rest", "shop"] {
        assert!(merged.contains(&format!("[components.{name}]")), "{merged}");
    }
}

#[test]
fn branches_that_change_the_same_component_conflict_and_the_conflict_is_refused() {
    let updating = |add: u32| {
        move |project: Project| {
            let project = project.file("shop.wasm", many::component("shop", 1, add));
            done(&project, &["update", "shop"]);
            project
        }
    };
    let project = branches(started(&["shop"]), &updating(10), &updating(100));
    assert!(!git(&project, &["merge", "-q", "main", "-m", "m"]));
    let conflict = lock(&project);
    assert!(conflict.contains("<<<<<<<"), "{conflict}");
    for arguments in [
        &["functions"][..],
        &["update"],
        &["run", "add-0", "--arg", "number=1"],
    ] {
        let said = refused(&project, 2, arguments);
        assert!(said.contains("it holds a conflict of a merge"), "{said}");
        assert!(said.contains("openprogram update"), "{said}");
    }
    assert_eq!(lock(&project), conflict);
    // Either side will do; what it says is fetched or refused.
    assert!(git(&project, &["checkout", "--theirs", "openprogram.lock"]));
    done(&project, &["update", "shop"]);
    assert!(fs::exists(project.path("openprogram.lock")).unwrap());
}
