//! One component that cannot be used is in the way of those alone that need it.

use openprogram_tests::cli::Project;
use openprogram_tests::many;

use super::install::{done, refused};
use super::project;

/// A project with `shop`, and with `broken`, whose file is no component any more.
fn half_broken() -> Project {
    let project = project().file("shop.wasm", many::component("shop", 1, 1));
    done(&project, &["add", "shop.wasm"]);
    with_settings(project.file("broken.wasm", "no component"), "")
}

/// The project file, with more in it.
fn with_settings(project: Project, more: &str) -> Project {
    let broken = "[components.broken]\nsource = \"broken.wasm\"\n";
    project.file("openprogram.toml", format!("{broken}{more}"))
}

#[test]
fn functions_of_other_components_run_beside_a_broken_one() {
    let project = half_broken();
    let told = done(&project, &["run", "add-0", "--arg", "number=1"]);
    assert_eq!(told.stdout, "2\n");
    let warning = "warning: left out: the component `broken` cannot be loaded: ";
    assert!(told.stderr.contains(warning), "{told:?}");
}

#[test]
fn what_is_not_found_beside_a_broken_component_says_why_that_one_is_left_out() {
    let project = half_broken();
    let said = refused(&project, 2, &["run", "greet"]);
    assert!(
        said.contains("the component `broken` cannot be loaded"),
        "{said}"
    );
    // As a model it is needed.
    let model = [
        "run",
        "add-0",
        "--arg",
        "number=1",
        "--model",
        "component:broken",
    ];
    let said = refused(&project, 2, &model);
    assert!(
        said.contains("the component `broken` cannot be loaded"),
        "{said}"
    );
}

#[test]
fn a_component_with_unconfirmed_grants_is_left_out_too() {
    let project = half_broken();
    let project = project.file("other.wasm", many::component("other", 1, 1));
    done(&project, &["add", "other.wasm"]);
    // Nobody said yes to this line.
    let project = with_settings(project, "[components.shop]\nenv = [\"COLOUR\"]\n");
    let said = refused(&project, 3, &["run", "shop.add-0", "--arg", "number=1"]);
    assert!(said.contains("openprogram grant shop"), "{said}");
    let told = done(&project, &["run", "other.add-0", "--arg", "number=1"]);
    assert_eq!(told.stdout, "2\n");
    assert!(told.stderr.contains("left out: "), "{told:?}");
}
