//! What becomes of grants: their uses in the record, and what is left of them without a component.

use serde_json::json;

use super::grants::{installed, toml};
use super::install::done;
use super::project;

#[test]
fn a_variable_that_is_handed_over_is_a_use_of_its_grant() {
    let project = installed();
    let audit = || {
        let session = done(
            &project,
            &["run", "variable", "--arg", "name=COLOUR", "--json"],
        )
        .json();
        let session = session["session"].as_str().unwrap().to_owned();
        done(&project, &["audit", &session, "--json"]).json()
    };
    assert_eq!(audit()["used"], 0);
    done(
        &project,
        &["grant", "caller", "--env", "COLOUR", "--env", "NOT_SET"],
    );
    let told = audit();
    assert_eq!((&told["used"], &told["refused"]), (&json!(1), &json!(0)));
    let entry = &told["calls"][0]["entries"][0];
    assert_eq!(
        (&entry["kind"], &entry["what"], &entry["grant"]),
        (&json!("env"), &json!("COLOUR"), &json!("COLOUR"))
    );
    assert!(!told.to_string().contains("blue"), "{told}");
}

#[test]
fn a_component_that_is_removed_takes_its_grants_along() {
    let project = installed();
    done(&project, &["grant", "caller", "--env", "COLOUR"]);
    let removed = done(&project, &["remove", "caller"]);
    assert!(
        removed
            .stderr
            .contains("`[components.caller]` is gone from openprogram.toml"),
        "{removed:?}"
    );
    assert!(!toml(&project).contains("caller"), "{}", toml(&project));
    done(&project, &["functions"]);
}

#[test]
fn grants_to_nobody_are_told_by_the_doctor_and_can_be_taken_away() {
    let project = project().file(
        "openprogram.toml",
        "[components.gone]\nenv = [\"COLOUR\"]\n\n[components.empty]\n",
    );
    let checked = project.run(&["doctor"]);
    for name in ["gone", "empty"] {
        let mend = format!("`openprogram revoke {name} --all`");
        assert!(checked.stdout.contains(&mend), "{checked:?}");
        assert_ne!(project.run(&["functions"]).code, 0);
        done(&project, &["revoke", name, "--all"]);
    }
    assert_eq!(toml(&project).trim(), "");
    done(&project, &["functions"]);
}
