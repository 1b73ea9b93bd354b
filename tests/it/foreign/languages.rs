//! Every kind of type goes into and comes out of functions in JavaScript and C.

use openprogram_tests::foreign::Foreign;
use openprogram_tests::guests::root;
use openprogram_tests::toolchain::C_FLAGS;

use super::{answers, project};

const TASKS: &str = r#"[{"title": "walk", "minutes": 50, "priority": "low"},
    {"title": "write", "minutes": 90, "priority": "high", "note": "by noon"}]"#;

#[test]
fn a_component_in_javascript_is_inspected_and_called() {
    let Some(bytes) = Foreign::QuickJs.bytes() else {
        return;
    };
    let project = project("planner", &bytes);
    let inspect = project.run(&["inspect", "planner"]);
    insta::assert_snapshot!("planner_inspect", inspect.shown(&project));
    let inspect = project.run(&["inspect", "planner", "--json", "--no-run"]);
    insta::assert_snapshot!("planner_inspect_json", inspect.shown(&project));

    let order = |rest: &str| format!(r#"{{"tasks": {TASKS}, {rest}}}"#).replace("\n   ", "");
    let calls = [
        // A list of records and a variant in, a list of records out.
        ("order-tasks", order(r#""end": "open""#)),
        (
            "order_tasks",
            order(r#""end": {"at_hour": 3}, "least": "high""#),
        ),
        (
            "acme:planner/day.order-tasks",
            order(r#""end": {"at_hour": 2}"#),
        ),
        (
            "planner.order-tasks",
            r#"{"tasks": [], "end": "open", "least": null}"#.to_owned(),
        ),
        (
            "most-important",
            r#"{"among": ["low", "high", "normal"]}"#.to_owned(),
        ),
        ("most-important", r#"{"among": []}"#.to_owned()),
        ("after-task", r#"{"ended": {"err": "rain"}}"#.to_owned()),
        (
            "after-task",
            r#"{"ended": {"ok": {"title": "walk", "minutes": 1, "priority": "low"}}}"#.to_owned(),
        ),
        // Missing, of another type, out of range, an unknown case, unknown.
        ("order-tasks", r#"{"end": "open"}"#.to_owned()),
        (
            "order-tasks",
            r#"{"tasks": [{"title": "a"}], "end": "open"}"#.to_owned(),
        ),
        ("order-tasks", order(r#""end": {"at_hour": 256}"#)),
        ("order-tasks", order(r#""end": "midnight""#)),
        ("order-tasks", order(r#""end": "open", "least": "urgent""#)),
        ("most-important", r#"{"among": "low, high"}"#.to_owned()),
        ("after-task", r#"{"ended": "done"}"#.to_owned()),
        ("most-important", r#"{"amongst": ["low"]}"#.to_owned()),
        // What the toolchain left behind.
        (
            "init",
            r#"{"shim": "", "script": "", "disable_gc": false}"#.to_owned(),
        ),
    ];
    let calls: Vec<_> = calls.iter().map(|(f, a)| (*f, a.as_str())).collect();
    insta::assert_snapshot!("planner_answers", answers(&project, &calls));
}

#[test]
fn functions_of_a_world_in_c_are_called_by_the_name_of_their_component() {
    let Some(bytes) = Foreign::C.bytes() else {
        return;
    };
    let project = project("ruler", &bytes);
    let inspect = project.run(&["inspect", "ruler"]);
    insta::assert_snapshot!("ruler_inspect", inspect.shown(&project));
    let inspect = project.run(&["inspect", "ruler", "--json"]);
    insta::assert_snapshot!("ruler_inspect_json", inspect.shown(&project));

    let calls = [
        (
            "ruler.convert",
            r#"{"length": {"amount": 2.5, "unit": "metre"}, "to": "foot", "rounding": "none"}"#,
        ),
        (
            "convert",
            r#"{"length": {"amount": 1000, "unit": "foot", "label": "bridge"}, "to": "metre",
                "rounding": {"to_multiple_of": 100}}"#,
        ),
        (
            "convert",
            r#"{"length": {"amount": 1, "unit": "foot"}, "to": "metre",
                "rounding": {"to_multiple_of": 0}}"#,
        ),
        (
            "longest",
            r#"{"lengths": [{"amount": 3, "unit": "foot"}, {"amount": 1, "unit": "metre", "label": "one"}]}"#,
        ),
        ("longest", r#"{"lengths": []}"#),
        ("suggest_rounding", r#"{"measured": {"ok": 1234.5}}"#),
        (
            "ruler.suggest-rounding",
            r#"{"measured": {"err": "it slipped"}}"#,
        ),
        (
            "convert",
            r#"{"length": {"amount": 1, "unit": "foot"}, "to": "metre"}"#,
        ),
        (
            "convert",
            r#"{"length": {"amount": 1, "unit": "yard"}, "to": "metre", "rounding": "up"}"#,
        ),
        (
            "longest",
            r#"{"lengths": [{"amount": "much", "unit": "foot"}]}"#,
        ),
        (
            "convert",
            r#"{"length": {"amount": 1, "unit": "foot"}, "to": "metre",
                "rounding": {"to_multiple_of": -1}}"#,
        ),
        ("suggest_rounding", r#"{"measured": {"good": 1}}"#),
    ];
    insta::assert_snapshot!("ruler_answers", answers(&project, &calls));
}

#[test]
fn a_component_in_c_is_made_as_the_readme_says_and_gets_its_words() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    assert!(readme.contains(&format!("zig cc {C_FLAGS} main.c ")));
    let Some(bytes) = Foreign::C.bytes() else {
        return;
    };
    let wit = std::fs::read(root().join("tests/foreign/ruler/ruler.wit")).unwrap();
    let project = project("ruler", &bytes).file("ruler.wit", wit);
    let built = project.run(&["build", "--wit", "ruler.wit", "ruler.wasm"]);
    assert_eq!(built.code, 0, "{built:?}");
    let inspect = project.run(&["inspect", "ruler.wasm"]);
    let words = "Converts a length to another unit.";
    assert!(inspect.stdout.contains(words), "{inspect:?}");
}
