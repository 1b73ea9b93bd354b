//! Odd paths and texts: what a person has on the disk and types.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;

use expect_test::expect;
use openprogram_tests::guests;

use super::project;

#[test]
fn half_of_a_character_is_no_argument() {
    let project = project().guests(&["every-type"]);
    let given = r#"{"value": "\ud83d"}"#;
    let run = [
        "run",
        "echo-string",
        "--component",
        "every-type.wasm",
        "--args",
        given,
    ];
    let refused = project.run(&run);
    assert_eq!(refused.code, 2, "{refused:?}");
    expect![[r#"
        error: `--args` is not JSON: unexpected end of hex escape at line 1 column 18
    "#]]
    .assert_eq(&refused.stderr);
}

#[test]
fn the_state_may_lie_on_another_filesystem() {
    let Ok(elsewhere) = tempfile::tempdir_in("/dev/shm") else {
        println!("skipped: there is no other filesystem to write to");
        return;
    };
    let home = elsewhere.path().join("state");
    let project = project()
        .guests(&["every-type"])
        .variable("OPENPROGRAM_HOME", home.to_str().unwrap());
    let added = project.run(&["add", "every-type.wasm"]);
    assert_eq!(added.code, 0, "{added:?}");
    for _ in 0..2 {
        let run = project.run(&["run", "echo-u8", "--arg", "value=7"]);
        assert_eq!((run.code, run.stdout.as_str()), (0, "7\n"), "{run:?}");
    }
    assert!(home.join("cache").read_dir().unwrap().count() > 0);
}

#[test]
fn a_component_is_found_whatever_its_path_is_like() {
    let project = project().guests(&["every-type"]);
    let bytes = guests::bytes("every-type");
    let folder = project.folder();
    let spaced = folder.join("a folder/with \"quotes\" and 'ticks'.wasm");
    std::fs::create_dir(folder.join("a folder")).unwrap();
    std::fs::write(&spaced, &bytes).unwrap();
    std::fs::write(folder.join(r"x\\?\C:\x.wasm"), &bytes).unwrap();
    symlink(&spaced, folder.join("link.wasm")).unwrap();
    symlink("missing.wasm", folder.join("dangling.wasm")).unwrap();
    let no_text = OsStr::from_bytes(b"caf\xe9.wasm");
    std::fs::write(folder.join(no_text), &bytes).unwrap();
    let run = |file: &OsStr| {
        let arguments = ["run", "echo-u8", "--arg", "value=7", "--component"];
        let mut arguments: Vec<&OsStr> = arguments.iter().map(OsStr::new).collect();
        arguments.push(file);
        let outcome = project.run_bounded(&arguments);
        let told = outcome.stderr.lines().next().unwrap_or_default();
        let told = if outcome.code == 0 {
            outcome.stdout.trim_end()
        } else {
            told
        };
        format!("{} {told}", outcome.code)
    };
    for name in [
        spaced.as_os_str(),
        OsStr::new(r"x\\?\C:\x.wasm"),
        OsStr::new("link.wasm"),
    ] {
        assert_eq!(run(name), "0 7", "{name:?}");
    }
    expect!["2 error: the component `dangling` cannot be loaded"]
        .assert_eq(&run(OsStr::new("dangling.wasm")));
    expect!["0 7"].assert_eq(&run(no_text));
}
