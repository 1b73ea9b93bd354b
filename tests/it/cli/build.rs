//! `build`: from a source folder to a component that runs.

use std::fs;

use openprogram_tests::cli::Project;
use openprogram_tests::guests;

use super::project;

/// A package like the samples, so that it shares what was built for them.
///
/// Tests run at once and cargo tells packages of one target folder apart by their name and their path
/// inside their workspace, so each test needs a name of its own.
pub(super) fn manifest(name: &str, crate_type: &str) -> String {
    let root = guests::root().canonicalize().unwrap();
    let sdk = root.join("guest-sdk");
    let samples = fs::read_to_string(root.join("sample-functions/Cargo.toml")).unwrap();
    let (_, profile) = samples.split_once("[profile.release]").unwrap();
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
         [lib]\ncrate-type = [\"{crate_type}\"]\n\n\
         [dependencies]\nopenprogram-guest = {{ path = \"{}\" }}\n\n\
         [profile.release]{profile}",
        sdk.display()
    )
}

/// A folder `greeter` for a package that builds where the samples are built.
fn greeter() -> Project {
    package("greeter")
}

/// A folder of this name for a package that builds where the samples are built.
pub(super) fn package(name: &str) -> Project {
    let root = guests::root().canonicalize().unwrap();
    let target = root.join("sample-functions/target");
    let config = format!("[build]\ntarget-dir = \"{}\"\n", target.display());
    let lock = fs::read_to_string(root.join("sample-functions/Cargo.lock")).unwrap();
    let project = project()
        .with_toolchain()
        .file(&format!("{name}/Cargo.lock"), lock);
    project.file(&format!("{name}/.cargo/config.toml"), config)
}

const SOURCE: &str = "
/// Greets.
#[openprogram_guest::functions]
pub mod greeter {
    /// Says hello.
    pub fn hello(name: &str) -> String {
        format!(\"hello {name}\")
    }
}
";

#[test]
fn a_source_folder_becomes_a_component_and_is_rebuilt_when_stale() {
    let project = greeter().file("greeter/Cargo.toml", manifest("greeter", "cdylib"));
    let project = project.file("greeter/src/lib.rs", SOURCE);
    let built = project.run(&["build", "greeter", "--json"]);
    assert_eq!(built.code, 0, "{built:?}");
    let path = built.json()["components"][0]["path"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(fs::metadata(&path).unwrap().len() > 0, "{path}");

    let project = project.file("openprogram.toml", "[components]\ngreeter = \"greeter\"\n");
    let hello = ["run", "hello", "--arg", "name=Ada"];
    assert_eq!(project.run(&hello).stdout, "hello Ada\n");
    let project = project.file(
        "greeter/src/lib.rs",
        SOURCE.replace("hello {", "good day {"),
    );
    assert_eq!(project.run(&hello).stdout, "good day Ada\n");

    // A skill beside the source is a part of it.
    let skill = "---\ndescription: Greets people.\n---\nSay hello.\n";
    let project = project.file("greeter/SKILL.md", skill);
    let inspect = ["inspect", "greeter", "--json"];
    let told = project.run(&inspect).json();
    assert_eq!(told["skill"]["description"], "Greets people.");
    let project = project.file("greeter/SKILL.md", "No front matter.");
    let told = project.run(&["build", "greeter"]);
    assert!(
        told.stderr.contains("greeter/SKILL.md` is no skill"),
        "{told:?}"
    );
    fs::remove_file(project.path("greeter/SKILL.md")).unwrap();
    assert!(project.run(&inspect).json().get("skill").is_none());
}

#[test]
fn what_makes_no_component_is_named() {
    let broken = format!(
        "compile_error!(\"broken on purpose\");
{SOURCE}"
    );
    let mut shown = String::new();
    for (label, files) in [
        ("nothing", vec![]),
        (
            "no component",
            vec![
                ("greeter/Cargo.toml", manifest("broken", "rlib")),
                ("greeter/src/lib.rs", String::new()),
            ],
        ),
        (
            "not a manifest",
            vec![("greeter/Cargo.toml", "[package".to_owned())],
        ),
        (
            "broken source",
            vec![
                ("greeter/Cargo.toml", manifest("broken", "cdylib")),
                ("greeter/src/lib.rs", broken),
            ],
        ),
    ] {
        let project = greeter();
        let project = files
            .iter()
            .fold(project, |p, (name, text)| p.file(name, text));
        let outcome = project.run(&["build", "greeter"]);
        let said: Vec<_> = outcome
            .stderr
            .lines()
            .filter(|l| l.starts_with("error") || l.starts_with("hint"))
            .collect();
        let said = project.shown(&said.join("\n"));
        shown.push_str(&format!("{label}: exit {}\n{said}\n\n", outcome.code));
    }
    insta::assert_snapshot!("what_does_not_build", shown);
}
