//! One interface in two versions in one component.

use openprogram_tests::guests;

use super::{answers, project};

#[test]
fn two_versions_of_an_interface_are_called_by_names_that_say_which() {
    let project = project("ledger", &guests::bytes("two-versions"));
    let inspect = project.run(&["inspect", "ledger"]);
    insta::assert_snapshot!("two_versions_inspect", inspect.shown(&project));
    let calls = [
        ("acme:ledger/book@0.1.0.total", "{}"),
        ("acme:ledger/book@0.2.0.total", "{}"),
        ("book@0.2.0.total", "{}"),
        ("close", "{}"),
        ("total", "{}"),
        ("acme:ledger/book.total", "{}"),
        ("acme:ledger/book@0.3.0.total", "{}"),
    ];
    insta::assert_snapshot!("two_versions_answers", answers(&project, &calls));
}
