//! Commands that are printed for a person to copy, run as they are pasted into a shell: whatever a
//! stranger put into a name, they do what they say and nothing else.

use openprogram_core::Json;
use openprogram_tests::cli::{Outcome, Project};
use serde_json::json;

use super::install::done;
use super::project;

/// What a shell, or this program, could read otherwise. Each would leave a file `pwned` behind if it
/// were run.
const HOSTILE: [&str; 12] = [
    "x';touch<pwned;'",
    "x\";touch${IFS}pwned;\"",
    "$(touch${IFS}pwned)",
    "`touch${IFS}pwned`",
    "x;touch${IFS}pwned",
    "x&touch${IFS}pwned&",
    "x|tee${IFS}pwned",
    "x>pwned",
    r"x\';touch${IFS}pwned",
    "!!*?[a]{b,c}~",
    "#x",
    "--yes",
];
/// What a person would not see in the command.
const HIDDEN: [&str; 3] = ["x\u{1b}[2Jy", "x\u{202e}y", "x\u{200b}y"];

fn named(guest: &str) -> Project {
    let file = format!("[components.{guest}]\nsource = \"{guest}.wasm\"\n");
    project().guests(&[guest]).file("openprogram.toml", file)
}

/// The lines of one kind that it has.
fn grants(project: &Project, guest: &str, kind: &str) -> Json {
    let told = done(project, &["grants", guest, "--json"]).json();
    let grants = told["components"][0]["grants"].as_array().unwrap();
    let of_kind = grants.iter().filter(|grant| grant["kind"] == kind);
    of_kind.map(|grant| grant["line"].clone()).collect()
}

fn check_nothing_else_ran(project: &Project, pasted: &Outcome, what: &str) {
    assert_eq!(pasted.code, 0, "{what}: {pasted:?}");
    assert!(!project.path("pwned").exists(), "{what}");
}

#[test]
fn the_command_for_a_refused_model_grants_this_model() {
    let project = named("turner");
    let ask = |model: &str| {
        let arguments = json!({"model": model, "prompt": "x"}).to_string();
        project.run(&["run", "turner.ask-other", "--args", &arguments, "--json"])
    };
    for name in HOSTILE {
        let model = format!("a:{name}");
        let denied = ask(&model);
        assert_eq!(denied.code, 3, "{denied:?}");
        let pasted = project.allow_as_told(&denied);
        check_nothing_else_ran(&project, &pasted, &model);
        assert_ne!(ask(&model).code, 3, "{model}");
        done(&project, &["revoke", "turner", "--all"]);
    }
    for name in HIDDEN {
        let denied = ask(&format!("a:{name}"));
        assert_eq!(denied.code, 3, "{denied:?}");
        assert!(!denied.stderr.contains("to allow it"), "{denied:?}");
    }
}

#[test]
fn the_command_for_a_refused_folder_grants_this_folder() {
    let project = named("looker");
    for name in HOSTILE {
        let files = [format!("{name}/picture.png")];
        let arguments = json!({"prompt": "x", "files": files}).to_string();
        let look = || project.run(&["run", "looker.show", "--args", &arguments, "--json"]);
        let denied = look();
        assert_eq!(denied.code, 3, "{denied:?}");
        let pasted = project.allow_as_told(&denied);
        check_nothing_else_ran(&project, &pasted, name);
        let expected = format!("ro:{name}");
        assert_eq!(grants(&project, "looker", "dirs"), json!([expected]));
        done(&project, &["revoke", "looker", "--all"]);
    }
}

#[test]
fn the_command_for_a_refused_request_grants_this_place() {
    let project = named("http-client");
    for name in HOSTILE {
        let url = format!("http://127.0.0.1:1/{}", name.replace(['#', '?'], "%"));
        let arguments = json!({"method": "GET", "url": url, "headers": []}).to_string();
        let fetch = || {
            let run = ["run", "http-client.fetch", "--args", &arguments, "--json"];
            let told = done(&project, &run).json();
            let session = told["session"].as_str().unwrap();
            done(&project, &["audit", session, "--json"]).json()
        };
        let told = fetch();
        let command = told["commands"][0].as_str();
        // What no grant can name has no command.
        let Some(command) = command else { continue };
        let pasted = project.run_as_pasted(command);
        check_nothing_else_ran(&project, &pasted, &url);
        assert_eq!(fetch()["refused"], json!(0), "{url}");
        done(&project, &["revoke", "http-client", "--all"]);
    }
}

#[test]
fn the_command_that_says_yes_grants_what_was_typed() {
    for name in HOSTILE {
        let table = "[components.caller]\nsource = \"caller.wasm\"\nask_user = true\n";
        let project = named("caller").file("openprogram.toml", table);
        let model = format!("--use-model=a:{name}");
        let asked = project.run(&["grant", "caller", &model]);
        assert_eq!(asked.code, 3, "{asked:?}");
        let (_, rest) = asked.stderr.split_once("to ask on; `").unwrap();
        let (command, _) = rest.split_once("` says yes").unwrap();
        let pasted = project.run_as_pasted(command);
        check_nothing_else_ran(&project, &pasted, name);
        let expected = format!("a:{name}=100000");
        assert_eq!(grants(&project, "caller", "models"), json!([expected]));
    }
}

#[test]
fn the_command_that_builds_names_this_folder() {
    for name in ["it's;touch pwned", "$(touch pwned)", "`touch pwned`"] {
        let table = format!("[components]\nmine = '''{name}'''\n");
        let project = project()
            .file("openprogram.toml", table)
            .file(&format!("{name}/Cargo.toml"), "[package]\n");
        let told = project.run(&["doctor"]);
        let all = format!("{}{}", told.stdout, told.stderr);
        let (_, rest) = all.split_once("run `openprogram build ").expect(&all);
        let (word, _) = rest.split_once("`, or let").expect(&all);
        let printed = std::process::Command::new("sh")
            .current_dir(project.folder())
            .args(["-c", &format!("printf %s {word}")])
            .output()
            .unwrap();
        let printed = String::from_utf8(printed.stdout).unwrap();
        assert!(printed.ends_with(&format!("/{name}")), "{printed}");
        assert!(!project.path("pwned").exists(), "{name}");
    }
}
