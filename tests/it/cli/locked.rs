//! What is locked stays what it is: in a fresh clone, beside others, and whatever was changed.

use std::fs;

use openprogram_tests::cli::Project;
use openprogram_tests::many;
use serde_json::json;

use super::install::{done, lock, refused, run_shop, shop, stored};
use super::project;

#[test]
fn a_fresh_clone_fetches_what_is_locked_and_nothing_else() {
    let project = shop().file("sub/readme", "");
    done(&project, &["add", "shop.wasm"]);
    let locked = lock(&project);
    let forget = || fs::remove_dir_all(project.path(".openprogram")).unwrap();

    forget();
    let listed = done(&project, &["functions"]).stdout;
    assert!(
        listed.contains("not known: it was not looked at yet"),
        "{listed}"
    );
    assert!(!project.path(".openprogram").exists());
    let told = done(&project, &["doctor"]).stdout;
    let warned = |line: &str| line.starts_with("warning") && line.contains("installed shop");
    assert!(told.lines().any(warned), "{told}");
    let learned = done(&project, &["functions", "--learn"]);
    assert!(learned.stderr.contains("fetched `shop`"), "{learned:?}");
    assert!(
        learned.stdout.contains("many:shop/guest.add-0"),
        "{learned:?}"
    );

    forget();
    assert_eq!(run_shop(&project), json!(2));
    // From now on the source is not needed.
    let source = fs::read(project.path("shop.wasm")).unwrap();
    fs::remove_file(project.path("shop.wasm")).unwrap();
    assert_eq!(run_shop(&project), json!(2));

    forget();
    let told = project.run(&["doctor"]);
    assert_eq!(told.code, 1, "{told:?}");
    let failed = told.stdout.lines().find(|line| line.starts_with("failed"));
    let failed = failed.unwrap_or_default();
    let says = "its bytes are not in the state folder, and its source `shop.wasm` is not there";
    assert!(
        failed.contains("installed shop") && failed.contains(says),
        "{told:?}"
    );
    let run = ["run", "add-0", "--arg", "number=1"];
    let mut shown = refused(&project, 2, &run);
    let project = project.file("shop.wasm", many::component("shop", 1, 66));
    shown.push_str(&refused(&project, 2, &run));
    shown.push_str(&refused(&project, 2, &["inspect", "shop"]));
    insta::assert_snapshot!("install_fresh_clone", shown);
    assert_eq!(lock(&project), locked);
    let project = project.file("shop.wasm", source);
    assert_eq!(run_shop(&project), json!(2));
}

/// Puts a folder with a build script in the place of a file.
fn folder_for_file(project: Project, file: &str) -> Project {
    fs::remove_file(project.path(file)).unwrap();
    package(project, file)
}

/// A folder whose build would leave a mark.
fn package(project: Project, folder: &str) -> Project {
    let mark = project.path("built");
    let script = format!("fn main() {{ std::fs::write({mark:?}, \"\").unwrap(); }}");
    project
        .file(
            &format!("{folder}/Cargo.toml"),
            "[package]\nname = \"shop\"\nedition = \"2024\"\n[lib]\ncrate-type = [\"cdylib\"]\n",
        )
        .file(&format!("{folder}/src/lib.rs"), "")
        .file(&format!("{folder}/build.rs"), script)
}

#[test]
fn a_folder_in_the_place_of_a_file_is_never_built() {
    let run = ["run", "add-0", "--arg", "number=1"];
    let mut shown = String::new();
    let mut say = |project: &Project, arguments: &[&str]| {
        let told = project.run(arguments).shown(project);
        shown.push_str(&format!("$ {}\n{told}\n", arguments.join(" ")));
        assert!(!project.path("built").exists(), "{told}");
    };
    // Named as a file by the project file, with grants and without.
    let named = "[components]\nshop = \"shop.wasm\"\n";
    for granted in [false, true] {
        let project = shop().with_toolchain().file("openprogram.toml", named);
        if granted {
            done(&project, &["grant", "shop", "--env", "COLOUR"]);
        }
        assert_eq!(done(&project, &run).stdout, "2\n");
        let project = folder_for_file(project, "shop.wasm");
        say(&project, &run);
        for arguments in [&["inspect", "shop"][..], &["build", "shop.wasm"]] {
            say(&project, arguments);
        }
    }
    // Without the ending, with grants.
    let bytes = many::component("shop", 1, 1);
    let named = "[components]\nshop = \"shop\"\n";
    let project = project()
        .with_toolchain()
        .file("shop", &bytes)
        .file("openprogram.toml", named);
    done(&project, &["grant", "shop", "--env", "COLOUR"]);
    let project = folder_for_file(project, "shop");
    say(&project, &run);
    // Installed.
    for file in ["shop.wasm", "shop"] {
        let project = super::project().with_toolchain().file(file, &bytes);
        done(&project, &["add", &format!("./{file}")]);
        let project = folder_for_file(project, file);
        say(&project, &["update"]);
    }
    insta::assert_snapshot!("install_folder_for_file", shown);
}

#[test]
fn nothing_is_built_for_a_lock_file_alone() {
    let project = shop().with_toolchain();
    done(&project, &["add", "shop.wasm"]);
    let locked = lock(&project).replace("\"shop.wasm\"", "\"shop\"\nbuilt = true");
    let project = package(project.file("openprogram.lock", locked), "shop");
    fs::remove_dir_all(project.path(".openprogram")).unwrap();
    let mut shown = String::new();
    for arguments in [
        &["inspect", "shop"][..],
        &["run", "add-0", "--arg", "number=1"],
        &["functions", "--learn"],
    ] {
        let outcome = project.run(arguments);
        shown.push_str(&project.shown(&format!("{}{}", outcome.stdout, outcome.stderr)));
    }
    assert!(!project.path("built").exists());
    insta::assert_snapshot!("install_not_built", shown);
}

#[test]
fn stored_bytes_that_were_changed_are_refused_as_a_wrong_digest() {
    let project = shop();
    done(&project, &["add", "shop.wasm"]);
    let other = many::component("shop", 1, 66);
    fs::write(stored(&project), &other).unwrap();
    // The compiled image has a digest of its own, and was made from the right bytes.
    assert_eq!(run_shop(&project), json!(2));

    let forget = |kind: &str| {
        let folder = project.path(".openprogram/cache/components");
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.to_string_lossy().ends_with(kind) {
                fs::remove_file(path).unwrap();
            }
        }
    };
    // The code is loaded by the call, which is recorded.
    forget(".image");
    let run = ["run", "add-0", "--arg", "number=1"];
    let called = refused(&project, 5, &run);
    assert!(
        called.contains("`shop` cannot be loaded: wrong digest"),
        "{called}"
    );
    // Nothing is known, so the bytes are looked at first.
    forget(".facts");
    let looked_at = refused(&project, 2, &run);
    assert!(
        looked_at.contains("wrong digest: the stored bytes of `shop`"),
        "{looked_at}"
    );
    let listed = done(&project, &["functions", "--learn"]).stdout;
    assert!(listed.contains("wrong digest"), "{listed}");

    fs::remove_file(stored(&project)).unwrap();
    assert_eq!(run_shop(&project), json!(2));
    // Adding the same once more puts the right bytes back, too.
    fs::write(stored(&project), other).unwrap();
    done(&project, &["add", "shop.wasm"]);
    assert_eq!(
        fs::read(stored(&project)).unwrap(),
        fs::read(project.path("shop.wasm")).unwrap()
    );
}

#[test]
fn adding_at_once_loses_nothing() {
    let names = ["one", "two", "three", "four"];
    let project = names.iter().fold(project(), |project, name| {
        project.file(&format!("{name}.wasm"), many::component(name, 1, 1))
    });
    let files = names.map(|name| format!("{name}.wasm"));
    let running: Vec<_> = files
        .iter()
        .map(|file| project.start(&["add", file]))
        .collect();
    for child in running {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    let listed = done(&project, &["functions", "--json"]).json();
    let components = listed["components"].as_array().unwrap();
    let listed: Vec<_> = components
        .iter()
        .map(|c| c["name"].as_str().unwrap())
        .collect();
    assert_eq!(listed, ["four", "one", "three", "two"]);
    // Nothing half written is left behind.
    let entries = fs::read_dir(project.folder()).unwrap();
    assert_eq!(entries.count(), names.len() + 2);
}

#[test]
fn a_broken_lock_file_is_named_and_left_as_it_is() {
    let project = shop();
    done(&project, &["add", "shop.wasm"]);
    let whole = lock(&project);
    let mut shown = String::new();
    for (what, text) in [
        ("conflict", whole.replace("[comp", "<<<<<<< ours\n[comp")),
        ("unknown key", whole.replace("size = ", "hash = 1\nsize = ")),
        ("newer", whole.replace("version = 1", "version = 2")),
        ("bad digest", whole.replace("sha256:", "sha1:")),
        (
            "bad name",
            whole.replace("components.shop", "components.\"Sh op\""),
        ),
        (
            "twice",
            format!("{whole}{}", &whole[whole.find("\n[").unwrap()..]),
        ),
        ("empty", String::new()),
    ] {
        let project = shop().file("openprogram.lock", &text);
        let mut all = Vec::new();
        for arguments in [
            &["functions"][..],
            &["add", "shop.wasm"],
            &["update"],
            &["remove", "shop"],
            &["run", "add-0"],
        ] {
            all.push(refused(&project, 2, arguments));
            assert_eq!(lock(&project), text, "{arguments:?}");
        }
        all.dedup();
        shown.push_str(&format!("# {what}\n{}\n", all.join("")));
    }
    insta::assert_snapshot!("install_broken_lock", shown);
    let large = " ".repeat(2 << 20);
    let project = project.file("openprogram.lock", large);
    let said = refused(&project, 2, &["functions"]);
    assert!(said.contains("openprogram.lock` is larger than"), "{said}");
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_links_or_where_it_is_not_possible() {
    use std::os::unix::fs::symlink;

    let project = shop().file("elsewhere/kept", "").file(".openprogram/x", "");
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    fs::remove_file(project.path(".openprogram/x")).unwrap();
    fs::set_permissions(project.path(".openprogram"), private).unwrap();
    let store = project.path(".openprogram/components");
    symlink(project.path("elsewhere"), &store).unwrap();
    let said = refused(&project, 2, &["add", "shop.wasm"]);
    assert!(said.contains("components` is a link"), "{said}");
    assert_eq!(fs::read_dir(project.path("elsewhere")).unwrap().count(), 1);
    fs::remove_file(store).unwrap();

    symlink(
        project.path("elsewhere/kept"),
        project.path("openprogram.lock"),
    )
    .unwrap();
    let said = refused(&project, 2, &["add", "shop.wasm"]);
    assert!(
        said.contains("openprogram.lock` is not a valid lock file"),
        "{said}"
    );
    fs::remove_file(project.path("openprogram.lock")).unwrap();

    // A folder that nobody can write, not even the administrator.
    #[cfg(target_os = "linux")]
    {
        let file = project.path("shop.wasm");
        let project = shop().at("/sys".into());
        let said = refused(&project, 5, &["add", file.to_str().unwrap()]);
        assert!(
            said.contains("cannot write `/sys/openprogram.lock`"),
            "{said}"
        );
    }
}
