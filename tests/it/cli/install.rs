//! `add`, `update`, `remove` and `functions` as a person and as a script use them.

use std::fs;

use openprogram::app::App;
use openprogram::settings::Settings;
use openprogram_component::digest_of;
use openprogram_tests::cli::{Outcome, Project};
use openprogram_tests::metadata::{Described, telling};
use openprogram_tests::{guests, many};
use serde_json::{Value, json};

use super::{project, project_with};

/// A project with `shop.wasm`, which adds 1.
pub(super) fn shop() -> Project {
    project().file("shop.wasm", many::component("shop", 1, 1))
}

pub(super) fn done(project: &Project, arguments: &[&str]) -> Outcome {
    let outcome = project.run(arguments);
    assert_eq!(outcome.code, 0, "{arguments:?}: {outcome:?}");
    outcome
}

/// What the command said when it failed with this code.
pub(super) fn refused(project: &Project, code: i32, arguments: &[&str]) -> String {
    let outcome = project.run(arguments);
    assert_eq!(outcome.code, code, "{arguments:?}: {outcome:?}");
    assert!(!outcome.stderr.contains("panicked"), "{outcome:?}");
    project.shown(&outcome.stderr)
}

pub(super) fn lock(project: &Project) -> String {
    fs::read_to_string(project.path("openprogram.lock")).unwrap()
}

/// The one file of stored bytes.
pub(super) fn stored(project: &Project) -> std::path::PathBuf {
    let entries = fs::read_dir(project.path(".openprogram/components")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut paths = paths.filter(|path| path.extension().is_some_and(|e| e == "wasm"));
    let path = paths.next().unwrap();
    assert_eq!(paths.next(), None);
    path
}

pub(super) fn n_cached(project: &Project, kind: &str) -> usize {
    let entries = fs::read_dir(project.path(".openprogram/cache/components")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.ends_with(kind)).count()
}

pub(super) fn run_shop(project: &Project) -> Value {
    let run = ["run", "shop/guest.add-0", "--arg", "number=1", "--json"];
    done(project, &run).json()["ok"].clone()
}

#[test]
fn a_component_is_added_listed_run_inspected_updated_and_removed() {
    let project = shop();
    let mut shown = String::new();
    let mut step = |project: &Project, arguments: &[&str]| {
        let outcome = project.run(arguments).shown(project);
        shown.push_str(&format!("$ {}\n{outcome}\n", arguments.join(" ")));
    };
    step(&project, &["functions"]);
    step(&project, &["add", "shop.wasm"]);
    step(&project, &["add", "shop.wasm"]);
    step(&project, &["functions"]);
    step(&project, &["update"]);
    assert_eq!(run_shop(&project), json!(2));
    step(&project, &["inspect", "shop"]);
    let bytes = many::component("shop", 1, 1);
    let locked = format!(
        "# Which components are installed, and what their grants were given to. Keep this file in \
         version\n# control; `openprogram add`, `update`, `remove`, `grant` and `revoke` write it.\n\
         version = 1\n\n[components.shop]\n\
         source = \"shop.wasm\"\ndigest = \"{}\"\nsize = {}\n",
        digest_of(&bytes),
        bytes.len()
    );
    assert_eq!(lock(&project), locked);

    // Another component under that name, as its file has changed.
    let project = project.file("shop.wasm", many::component("shop", 2, 10));
    step(&project, &["add", "shop.wasm"]);
    assert_eq!(lock(&project), locked);
    assert_eq!(run_shop(&project), json!(2));
    step(&project, &["update", "shop", "--yes"]);
    assert_ne!(lock(&project), locked);
    assert_eq!(run_shop(&project), json!(11));
    stored(&project);
    step(&project, &["remove", "shop"]);
    assert!(!lock(&project).contains("shop"));
    step(&project, &["remove", "shop"]);
    step(&project, &["run", "add-0"]);
    insta::assert_snapshot!("install", shown);
}

#[test]
fn every_installing_command_tells_a_program_the_same() {
    let describe = |description| {
        let described = Described {
            description,
            ..Described::default()
        };
        telling(&[described]).unwrap()
    };
    let project = project().file("lying.wasm", describe("Greets."));
    let added = done(
        &project,
        &["add", "lying.wasm", "--name", "guide", "--json"],
    )
    .json();
    assert_eq!(
        (&added["name"], &added["source"], &added["added"]),
        (&json!("guide"), &json!("lying.wasm"), &json!(true))
    );
    let function = &added["functions"][0];
    assert_eq!(function["full_name"], json!("lying:metadata/guest.greet"));
    assert_eq!(function["description"], json!("Greets."));
    let again = done(
        &project,
        &["add", "lying.wasm", "--name", "guide", "--json"],
    )
    .json();
    assert_eq!(again["added"], json!(false));

    let listed = done(&project, &["functions", "--json"]).json();
    assert_eq!(listed["functions"], added["functions"]);
    let component = json!({
        "name": "guide", "digest": added["digest"], "source": "lying.wasm",
        "installed": true, "model": false, "decider": false,
    });
    assert_eq!(listed["components"], json!([component]));
    assert_eq!(listed["unknown"], json!([]));

    let project = project.file("lying.wasm", describe("Greets twice."));
    let updated = done(&project, &["update", "--yes", "--json"]).json();
    let component = &updated["components"][0];
    assert_eq!(component["old_digest"], added["digest"]);
    assert_eq!(component["changed"], json!(true));
    let changed = json!([{"name": "lying:metadata/guest.greet", "what": ["description"]}]);
    let functions = json!({"added": [], "removed": [], "changed": changed});
    assert_eq!(component["functions"], functions);
    let removed = done(&project, &["remove", "guide", "--json"]).json();
    assert_eq!(removed["digest"], component["digest"]);
    let error = project.run(&["remove", "guide", "--json"]).json();
    assert_eq!(error["error"]["code"], json!("not-found"));
}

#[test]
fn what_cannot_be_installed_is_named_with_the_remedy() {
    let project = project_with(&["healthy"])
        .file("text.wasm", "(component)")
        .file("half.wasm", &guests::bytes("caller")[..9_000])
        .file("empty/readme", "")
        .file("twin.wasm", guests::bytes("healthy"));
    let mut shown = String::new();
    for arguments in [
        &["add", "missing.wasm"][..],
        &["add", "text.wasm"],
        &["add", "half.wasm"],
        &["add", "empty"],
        &["add", "http://example.org/a.wasm"],
        &["add", "oci://example.org/a"],
        &["add", "twin.wasm", "--name", "No Name"],
        &["add", "healthy.wasm"],
        &["add", "twin.wasm"],
        &["update", "healthy"],
        &["update", "nobody"],
        &["remove", "healthy"],
    ] {
        // What the twin collides with is known only once it was looked at.
        done(&project, &["inspect", "healthy"]);
        let said = refused(&project, 2, arguments);
        shown.push_str(&format!("$ {}\n{said}\n", arguments.join(" ")));
    }
    insta::assert_snapshot!("install_refused", shown);
    assert!(!project.path("openprogram.lock").exists());
    assert!(!project.path(".openprogram/components").join("x").exists());
}

#[test]
fn a_name_stands_in_one_file_and_grants_may_stand_in_the_other() {
    let project = project().guests(&["caller"]);
    let project = project.file("shop.wasm", many::component("shop", 1, 1));
    done(&project, &["add", "shop.wasm"]);
    done(&project, &["add", "caller.wasm"]);
    let call = ["run", "call", "--arg", "name=add-0"];
    let call = [&call[..], &["--arg", "arguments={\"number\": 1}"]].concat();
    let denied = refused(&project, 3, &call);
    assert!(
        denied.contains("openprogram grant caller --call"),
        "{denied}"
    );

    let grant = "[components.caller]\ncalls = [\"many:shop/guest.add-0\"]\n";
    let project = project.file("openprogram.toml", grant);
    done(&project, &["grant", "caller", "--yes"]);
    assert_eq!(done(&project, &call).stdout, "2\n");

    let project = project.file("openprogram.toml", "[components]\nshop = \"shop.wasm\"\n");
    let mut shown = refused(&project, 2, &["run", "add-0", "--arg", "number=1"]);
    let project = project.file("openprogram.toml", "[components.nobody]\ncalls = []\n");
    shown.push_str(&refused(&project, 2, &["functions"]));
    let project = project.file("openprogram.toml", grant);
    let removed = done(&project, &["remove", "caller"]).stderr;
    shown.push_str(&removed);
    // It can be installed again as the grants stand there.
    done(&project, &["add", "caller.wasm"]);
    insta::assert_snapshot!("install_both_files", shown);
}

#[tokio::test]
async fn a_list_of_a_hundred_components_starts_no_engine_and_compiles_nothing() {
    let project = project();
    many::install(&project.folder(), 100, 2).await.unwrap();
    let folder = project.path(".openprogram/cache/components");
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "image") {
            fs::remove_file(path).unwrap();
        }
    }
    assert_eq!(
        (n_cached(&project, ".facts"), n_cached(&project, ".image")),
        (100, 0)
    );

    let listed = done(&project, &["functions", "--json"]).json();
    assert_eq!(listed["functions"].as_array().unwrap().len(), 200);
    assert_eq!(listed["unknown"], json!([]));
    assert_eq!(n_cached(&project, ".image"), 0);
    let app = App::new(Settings::load(&project.folder(), &|_| None).unwrap());
    let listing = app.listing(false, &mut std::io::sink()).await.unwrap();
    assert_eq!(
        (listing.known.len(), listing.engine_was_built),
        (100, false)
    );

    // A call loads the code of what is called and of nothing else.
    let call = ["run", "many-a42/guest.add-1", "--arg", "number=1"];
    assert_eq!(done(&project, &call).stdout, "2\n");
    assert_eq!(n_cached(&project, ".image"), 1);
}

#[test]
fn a_list_says_of_a_source_folder_that_it_is_not_built() {
    let project = project()
        .file(
            "openprogram.toml",
            "[components]\nsupport = \"support\"\ngone = \"gone\"\n",
        )
        .file("support/Cargo.toml", "[package]\nname = \"support\"\n");
    let unknown = |arguments: &[&str]| {
        let listed = done(&project, arguments).json();
        assert_eq!(listed["functions"], json!([]));
        format!("{:#}\n", listed["unknown"])
    };
    let mut shown = String::new();
    for arguments in [
        &["functions", "--json"][..],
        &["functions", "--learn", "--json"],
        &["functions", "--json"],
    ] {
        let listed = project.shown(&unknown(arguments));
        shown.push_str(&format!("$ {}\n{listed}\n", arguments.join(" ")));
    }
    insta::assert_snapshot!("functions_unknown", shown);
}
