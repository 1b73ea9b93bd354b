//! `grant`, `revoke` and `grants`: a person gives, confirms and takes away; nobody else does.

use std::fs;

use openprogram_tests::cli::Project;
use openprogram_tests::{guests, many};
use serde_json::json;

use super::install::{done, lock, refused};
use super::project;

const VARIABLE: [&str; 4] = ["run", "variable", "--arg", "name=COLOUR"];

/// A project in which `caller` is installed, which reads variables and calls.
pub(super) fn installed() -> Project {
    let project = project().guests(&["caller"]).variable("COLOUR", "blue");
    done(&project, &["add", "caller.wasm"]);
    project
}

/// The same component as a file that the project file names.
fn named() -> Project {
    project()
        .guests(&["caller"])
        .variable("COLOUR", "blue")
        .file(
            "openprogram.toml",
            "[components]\n# Mine.\ncaller = \"caller.wasm\"\n",
        )
}

pub(super) fn toml(project: &Project) -> String {
    fs::read_to_string(project.path("openprogram.toml")).unwrap()
}

#[test]
fn grants_are_given_listed_and_taken_away() {
    let project = named()
        .file("data/a", "")
        .file("healthy.wasm", guests::bytes("healthy"));
    done(&project, &["add", "healthy.wasm"]);
    let mut shown = String::new();
    let mut step = |arguments: &[&str]| {
        let outcome = project.run(arguments).shown(&project);
        shown.push_str(&format!("$ {}\n{outcome}\n", arguments.join(" ")));
        if arguments.contains(&"--json") {
            shown.push_str(&format!("openprogram.toml:\n{}\n", toml(&project)));
        }
    };
    step(&["grants"]);
    step(&[
        "grant", "caller", "--env", "COLOUR", "--env", "NOT_SET", "--dir", "ro:data", "--dir",
        "rw:gone",
    ]);
    step(&["grant", "caller", "--env", "COLOUR"]);
    step(&[
        "grant",
        "caller",
        "--call",
        "double",
        "--http",
        "POST https://API.example.com:443/v1",
    ]);
    step(&[
        "grant",
        "caller",
        "--use-model",
        "a:b",
        "--secret",
        "KEY=https://api.example.com",
        "--ask-user",
    ]);
    step(&[
        "grant",
        "caller",
        "--use-model",
        "a:b=5",
        "--env",
        "ask COLOUR",
    ]);
    step(&["grants", "caller"]);
    step(&["grants", "--json"]);
    step(&["revoke", "caller", "--env", "COLOUR"]);
    step(&["revoke", "caller", "--env", "ask COLOUR", "--ask-user"]);
    step(&["revoke", "caller", "--all", "--json"]);
    step(&["revoke", "caller", "--all"]);
    insta::assert_snapshot!("grants", shown);
    assert!(!lock(&project).contains("[grants."), "{}", lock(&project));
}

#[test]
fn what_is_no_grant_is_refused_with_what_one_looks_like() {
    let project = named();
    let mut shown = String::new();
    for arguments in [
        &["grant", "nobody", "--env", "A"][..],
        &["grant", "caller", "--env", "1A"],
        &["grant", "caller", "--dir", "data"],
        &["grant", "caller", "--http", "api.example.com"],
        &["grant", "caller", "--http", "https://*.example.com"],
        &["grant", "caller", "--secret", "https://a.b"],
        &["grant", "caller", "--use-model", "gpt"],
        &["grant", "caller", "--call", "no-such-function"],
        &["grant", "caller", "--call", ""],
        &["revoke", "caller"],
        &["revoke", "caller", "--env", "A"],
        &["revoke", "caller", "--all", "--env", "A"],
        &["grants", "nobody"],
    ] {
        let said = refused(&project, 2, arguments);
        shown.push_str(&format!("$ {}\n{said}\n", arguments.join(" ")));
    }
    insta::assert_snapshot!("grants_refused", shown);
    assert_eq!(
        toml(&project),
        "[components]\n# Mine.\ncaller = \"caller.wasm\"\n"
    );
    assert!(!project.path("openprogram.lock").exists());
}

#[test]
fn a_variable_is_seen_when_it_is_granted_and_no_other_one_is() {
    for project in [installed(), named()] {
        let project = project.variable("SECRET", "hidden");
        let value = |name: &str| {
            let argument = format!("name={name}");
            done(&project, &["run", "variable", "--arg", &argument, "--json"]).json()["ok"].clone()
        };
        assert_eq!(value("COLOUR"), json!(null));
        done(&project, &["grant", "caller", "--env", "COLOUR"]);
        assert_eq!(
            (value("COLOUR"), value("SECRET")),
            (json!("blue"), json!(null))
        );
        done(&project, &["revoke", "caller", "--env", "COLOUR"]);
        assert_eq!(value("COLOUR"), json!(null));
        // A file that is run by its path is not the component that has the grants.
        done(&project, &["grant", "caller", "--env", "COLOUR"]);
        let by_path = [
            "run",
            "variable",
            "--arg",
            "name=COLOUR",
            "--component",
            "caller.wasm",
        ];
        assert_eq!(done(&project, &by_path).stdout, "null\n");
    }
}

#[test]
fn the_command_of_a_refused_call_allows_exactly_it() {
    for project in [installed(), named()] {
        let project = project.file("shop.wasm", many::component("shop", 2, 1));
        done(&project, &["add", "shop.wasm"]);
        let call = |function: &str| {
            let name = format!("name={function}");
            let arguments = r#"arguments={"number": 1}"#;
            project.run(&["run", "call", "--arg", &name, "--arg", arguments, "--json"])
        };
        let denied = call("add-0");
        assert_eq!(denied.code, 3, "{denied:?}");
        let allowed = project.allow_as_told(&denied);
        assert_eq!(allowed.code, 0, "{allowed:?}");
        assert_eq!(call("add-0").json()["ok"], json!(2));
        // Just outside of it nothing is allowed.
        assert_eq!(call("add-1").code, 3);
    }
}

#[test]
fn grants_that_nobody_confirmed_do_not_count() {
    let by_hand = |project: Project, lines: &str| {
        let before = toml(&project);
        project.file("openprogram.toml", format!("{before}{lines}"))
    };
    let installed = installed().file("openprogram.toml", "[components.caller]\n");
    let table = "[components.caller]\nsource = \"caller.wasm\"\n";
    for project in [installed, named().file("openprogram.toml", table)] {
        done(&project, &["grant", "caller", "--env", "NOT_SET"]);
        let project = by_hand(project, "ask_user = true\n");
        let before = lock(&project);
        let mut shown = refused(&project, 3, &VARIABLE);
        // What only looks works as ever.
        for arguments in [
            &["grants", "caller"][..],
            &["functions"],
            &["inspect", "caller"],
            &["grant", "caller", "--help"],
        ] {
            done(&project, arguments);
        }
        // One more grant does not confirm what nobody looked at.
        shown.push_str(&refused(
            &project,
            3,
            &["grant", "caller", "--env", "COLOUR"],
        ));
        shown.push_str(&refused(&project, 3, &["grant", "caller"]));
        let told = project.run(&["grant", "caller", "--json"]).json();
        assert_eq!(told["error"]["code"], "denied");
        assert_eq!(lock(&project), before);
        insta::assert_snapshot!("grants_unconfirmed", shown);
        // Less than what was confirmed is not what was confirmed either.
        done(&project, &["revoke", "caller", "--ask-user"]);
        done(&project, &VARIABLE);
        done(&project, &["grant", "caller", "--env", "COLOUR"]);
        assert_eq!(done(&project, &VARIABLE).stdout, "blue\n");
        let project = by_hand(project, "# A comment.\n");
        assert_eq!(done(&project, &VARIABLE).stdout, "blue\n");
        let without = toml(&project).replace("\"NOT_SET\", ", "");
        let project = project.file("openprogram.toml", without);
        refused(&project, 3, &VARIABLE);
        let confirmed = done(&project, &["grant", "caller", "--yes", "--json"]).json();
        assert_eq!(confirmed["confirmed"], json!(true));
        assert_eq!(done(&project, &VARIABLE).stdout, "blue\n");
        // The yes is taken from the lock file, as a merge may do.
        let yes = lock(&project);
        let start = yes.find("[grants.caller]").unwrap();
        let project = project.file("openprogram.lock", &yes[..start]);
        refused(&project, 3, &VARIABLE);
    }
}

#[test]
fn grants_do_not_carry_over_to_other_bytes() {
    let project = named().file("again.wasm", many::component("caller", 1, 1));
    done(&project, &["grant", "caller", "--env", "COLOUR"]);
    assert_eq!(done(&project, &VARIABLE).stdout, "blue\n");
    fs::copy(project.path("again.wasm"), project.path("caller.wasm")).unwrap();
    let said = refused(&project, 3, &["run", "add-0", "--arg", "number=1"]);
    assert!(said.contains("its bytes are others"), "{said}");
    let listed = done(&project, &["grants", "--json"]).json();
    assert_eq!(listed["components"][0]["confirmed"], json!(false));
    done(&project, &["grant", "caller", "--yes"]);
    done(&project, &["run", "add-0", "--arg", "number=1"]);
}

#[test]
fn a_model_needs_its_grants_confirmed_too() {
    let project = project().guests(&["echo-model", "healthy"]).file(
        "openprogram.toml",
        "model = \"component:echo-model\"\n[components]\nhealthy = \"healthy.wasm\"\n\
         [components.echo-model]\nsource = \"echo-model.wasm\"\nenv = [\"COLOUR\"]\n",
    );
    let ask = ["decide", "--options", "options.json", "--prompt", "x"];
    let project = project.file(
        "options.json",
        r#"{"form": "dict", "entries": [{"key": "one", "handler": {"kind": "value", "value": "1"}}, {"key": "two", "handler": {"kind": "value", "value": "2"}}]}"#,
    );
    let said = refused(&project, 3, &ask);
    assert!(
        said.contains("grants of `echo-model` are not confirmed"),
        "{said}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_person_at_a_terminal_is_asked() {
    let table = "[components.caller]\nsource = \"caller.wasm\"\nenv = [\"COLOUR\"]\n";
    let project = named().file("openprogram.toml", table);
    for (typed, code) in [("\n", 3), ("no\n", 3), ("n\n", 3), ("yes\n", 0)] {
        let typed = [("[y/N] ", typed)];
        let told = project.run_on_terminal_typing(&["grant", "caller"], &typed);
        assert_eq!(told.code, code, "{typed:?}: {told:?}");
        assert!(told.stdout.contains("--env COLOUR"), "{told:?}");
        assert_eq!(project.run(&VARIABLE).code, code, "{typed:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_is_shown_with_what_it_leads_to() {
    let project = named();
    std::os::unix::fs::symlink("/etc", project.path("prices")).unwrap();
    for arguments in [
        &["grant", "caller", "--dir", "ro:prices"][..],
        &["grants", "caller"],
        &["doctor"],
    ] {
        let told = project.run(arguments).stdout;
        let note = "it leads through a link to `/etc`, and is refused";
        assert!(told.contains(note), "{arguments:?}: {told}");
    }
}

#[test]
fn a_function_with_the_whole_project_changes_nothing_that_is_built_or_trusted() {
    let settings = "[signatures]\nkeys = [\"keys/one.pem\"]\n\n[components]\n\
                    file-reach = \"file-reach.wasm\"\ntool = \"tool\"\n\
                    other = \"other.wasm\"\n";
    let project = project()
        .guests(&["file-reach"])
        .file("other.wasm", many::component("other", 1, 1))
        .file("keys/one.pem", super::signed::some_key())
        .file("notes/mine", "")
        .file("openprogram.toml", settings);
    done(&project, &["grant", "file-reach", "--dir", "rw:."]);
    done(&project, &["grant", "other", "--dir", "rw:notes"]);
    let act = |what: &str, path: &str| {
        let (what, path) = (format!("what={what}"), format!("path={path}"));
        let arguments = ["--arg", &what, "--arg", "folder=.", "--arg", &path];
        done(&project, &[&["run", "act"][..], &arguments].concat()).stdout
    };
    for (what, path) in [
        ("remove", "other.wasm"),
        ("open-to-write", "file-reach.wasm"),
        ("remove", "keys/one.pem"),
        ("create", "tool"),
        ("make-folder", "tool"),
        ("make-folder", ".cargo"),
        ("create", "Cargo.toml"),
        ("remove-folder", "notes"),
    ] {
        assert_eq!(act(what, path), "not-permitted\n", "{what} {path}");
    }
    assert_eq!(act("remove", "notes/mine"), "done\n");
    assert_eq!(act("open", "keys/one.pem"), "done\n");
}

#[test]
fn a_link_in_place_of_the_project_file_is_not_written_through() {
    let project = named();
    let elsewhere = project.path("elsewhere.toml");
    fs::rename(project.path("openprogram.toml"), &elsewhere).unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&elsewhere, project.path("openprogram.toml")).unwrap();
        let said = refused(&project, 2, &["grant", "caller", "--env", "A"]);
        assert!(said.contains("is a link"), "{said}");
        assert!(!fs::read_to_string(elsewhere).unwrap().contains("env"));
    }
}

#[test]
fn a_session_is_audited_with_commands_that_are_right() {
    let project = installed().file("shop.wasm", many::component("shop", 2, 1));
    done(&project, &["add", "shop.wasm"]);
    let call = |function: &str| {
        let name = format!("name={function}");
        project.run(&[
            "run",
            "call",
            "--arg",
            &name,
            "--arg",
            r#"arguments={"number": 1}"#,
            "--json",
        ])
    };
    let session = call("add-1").json()["session"].as_str().unwrap().to_owned();
    let audit = project.run(&["audit", &session]);
    let mut shown = audit.shown(&project);
    let told = done(&project, &["audit", &session, "--json"]).json();
    assert_eq!((&told["used"], &told["refused"]), (&json!(0), &json!(1)));
    let command = told["commands"][0].as_str().unwrap();
    assert_eq!(project.run_as_pasted(command).code, 0);
    assert_eq!(call("add-1").code, 0);

    // Nothing was reached for.
    let run = done(&project, &["run", "add-0", "--arg", "number=1", "--json"]).json();
    let quiet = run["session"].as_str().unwrap();
    shown.push_str(&project.run(&["audit", quiet]).shown(&project));
    shown.push_str(
        &project
            .run(&["audit", "op-0000000000000000"])
            .shown(&project),
    );
    shown.push_str(&project.run(&["audit", "x"]).shown(&project));
    insta::assert_snapshot!("audit", shown);
}

#[test]
fn doctor_tells_what_grants_lack() {
    let project = installed().file("openprogram.toml", "[components.caller]\n");
    let told = |project: &Project| {
        let checks = project.run(&["doctor", "--json"]).json();
        let mut checks = checks["checks"].as_array().unwrap().clone();
        checks.retain(|check| check["name"] == "grants caller");
        checks
            .iter()
            .map(|check| check["status"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(told(&project), Vec::<serde_json::Value>::new());
    done(&project, &["grant", "caller", "--env", "COLOUR"]);
    assert_eq!(told(&project), ["ok"]);
    done(&project, &["grant", "caller", "--dir", "ro:gone"]);
    assert_eq!(told(&project), ["warning"]);
    done(&project, &["revoke", "caller", "--dir", "ro:gone"]);
    done(
        &project,
        &["grant", "caller", "--secret", "NOT_SET=https://a.b"],
    );
    assert_eq!(told(&project), ["warning"]);
    let by_hand = toml(&project).replace("NOT_SET", "OTHER");
    assert_eq!(told(&project.file("openprogram.toml", by_hand)), ["failed"]);
}
