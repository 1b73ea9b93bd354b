//! A component that imports an interface of another one, from `add` to `remove`.

use openprogram_tests::cli::Project;
use openprogram_tests::guests;

use super::install::{done, refused};
use super::project;

/// A project with the files of an importer and of what it imports from, neither of them installed.
fn both() -> Project {
    project().guests(&["importer", "every-type"])
}

/// What these commands say, one after the other.
fn told(project: &Project, commands: &[&[&str]]) -> String {
    let mut told = String::new();
    for arguments in commands {
        let outcome = project.run(arguments).shown(project);
        told.push_str(&format!("$ {}\n{outcome}\n", arguments.join(" ")));
    }
    told
}

const FAIL: [&str; 4] = ["run", "test:importer/guest.fail", "--arg", "how=because"];
const GRANT: [&str; 5] = [
    "grant",
    "importer",
    "--call",
    "test:every-type/echo.fail",
    "--yes",
];

#[test]
fn an_importer_is_left_out_until_somebody_serves_it_and_refused_until_it_is_granted() {
    let project = both();
    insta::assert_snapshot!(
        "linked_nobody",
        told(
            &project,
            &[
                &["add", "importer.wasm"],
                &["functions"],
                &FAIL,
                &["doctor"],
            ]
        )
    );
    done(&project, &["add", "every-type.wasm"]);
    insta::assert_snapshot!(
        "linked_refused",
        told(&project, &[&["inspect", "importer", "--no-run"], &FAIL])
    );
    done(&project, &GRANT);
    let allowed = done(&project, &FAIL);
    assert_eq!(allowed.stdout, "Err(Refusal::Because(\"of this\"))\n");
    let session = allowed.stderr.trim().strip_prefix("session ").unwrap();
    let show = ["show", session];
    insta::assert_snapshot!("linked_shown", project.run(&show).shown(&project));
    let removed = done(&project, &["remove", "every-type"]);
    assert_eq!(
        removed.stderr,
        "removed `every-type`\nnote: `importer` imports from it, and is left out of runs until \
         another component serves that\n"
    );
}

#[test]
fn a_file_finds_what_is_installed_and_has_no_grants() {
    let project = both();
    let run = |how: &str| {
        let how = format!("how={how}");
        let arguments = ["run", "fail", "--component", "importer.wasm", "--arg", &how];
        told(&project, &[&arguments])
    };
    let nobody = run("asked");
    done(&project, &["add", "every-type.wasm"]);
    insta::assert_snapshot!("linked_file", format!("{nobody}{}", run("asked")));
    let alone = [
        "run",
        "test:importer/guest.alone",
        "--component",
        "importer.wasm",
    ];
    assert_eq!(done(&project, &alone).stdout, "alone\n");
}

#[test]
fn inspect_tells_programs_who_serves_an_import() {
    let project = both();
    let inspect = ["inspect", "importer.wasm", "--json", "--no-run"];
    let links = || {
        let shown: serde_json::Value =
            serde_json::from_str(&done(&project, &inspect).stdout).unwrap();
        let mut link = shown["links"][0].clone();
        let functions = link["functions"].take();
        assert_eq!(functions.as_array().unwrap().len(), 15, "{functions}");
        link.to_string()
    };
    expect_test::expect![[r#"{"interface":"test:every-type/echo@0.1.0","functions":null,"component":null,"exported":null,"problem":"it imports `test:every-type/echo@0.1.0`, which no component of the project exports; install one that does with `openprogram add`"}"#]].assert_eq(&links());
    done(&project, &["add", "every-type.wasm"]);
    expect_test::expect![[r#"{"interface":"test:every-type/echo@0.1.0","functions":null,"component":"every-type","exported":"test:every-type/echo@0.1.0","problem":null}"#]].assert_eq(&links());
}

/// A component that exports the interface `acme:a/steps` and imports `acme:b/steps`.
fn in_a_chain(exported: &str, imported: &str) -> Vec<u8> {
    let text = format!(
        r#"(component
            (import "{imported}" (instance $f (export "down" (func))))
            (core func $down (canon lower (func $f "down")))
            (core module $m (import "f" "down" (func $down))
                (func (export "down") (call $down)))
            (core instance $i (instantiate $m (with "f" (instance (export "down" (func $down))))))
            (func $down (canon lift (core func $i "down")))
            (instance $x (export "down" (func $down)))
            (export "{exported}" (instance $x)))"#
    );
    wat::parse_str(text).unwrap()
}

#[test]
fn what_imports_from_a_component_that_is_left_out_is_left_out_and_the_others_run() {
    let project = project()
        .file("a.wasm", in_a_chain("acme:a/steps", "acme:b/steps"))
        .file("b.wasm", in_a_chain("acme:b/steps", "acme:c/steps"))
        .file("healthy.wasm", guests::bytes("healthy"));
    for file in ["a.wasm", "b.wasm", "healthy.wasm"] {
        done(&project, &["add", file]);
    }
    let said = refused(&project, 2, &["run", "acme:a/steps.down"]);
    assert!(
        said.contains(
            "the component `a` cannot be linked: it imports `acme:b/steps` from `b`, which is left \
             out itself"
        ),
        "{said}"
    );
    let told = done(&project, &["run", "double", "--arg", "number=2"]);
    assert_eq!(told.stdout, "4\n");
    assert!(told.stderr.contains("`acme:c/steps`"), "{told:?}");
}
