//! Projects in JavaScript and Python, as far as nothing is downloaded: what is said when a tool is
//! missing or old or a source is broken, what is built when, and the words of WIT in components.
//!
//! `.ci/new-project` builds such projects with the real toolchains.

use std::fs;
use std::path::Path;

use openprogram_tests::cli::Project;
use openprogram_tests::guests;

use super::project;

/// The WIT of a component that counts, with words and comments that are none.
const WIT: &str = "
package acme:counter@1.0.0;

// Not for models.
interface counting {
    /// In which direction.
    enum direction {
        /// To the next number.
        up,
        down, // to the last one
    }

    /// Counts on from a number.
    step: func(number: u32, to: direction) -> u32;
    // Nor is this.
    undescribed: func();
}

world counter {
    export counting;
}
";

const MODULE: &str = r#"(module
    (func (export "acme:counter/counting@1.0.0#step") (param i32 i32) (result i32)
        (i32.add (local.get 0) (i32.sub (i32.const 1) (i32.mul (i32.const 2) (local.get 1)))))
    (func (export "acme:counter/counting@1.0.0#undescribed")))"#;

/// The component as a toolchain makes it, without a word.
fn counter() -> Vec<u8> {
    guests::assemble(WIT, MODULE).unwrap()
}

/// What several commands say, each below its line.
fn said(project: &Project, commands: &[&[&str]]) -> String {
    let mut shown = String::new();
    for arguments in commands {
        let outcome = project.run(arguments).shown(project);
        shown.push_str(&format!(
            "$ openprogram {}\n{outcome}\n",
            arguments.join(" ")
        ));
    }
    shown
}

#[test]
fn a_finished_component_gets_the_words_of_its_wit() {
    let plain = counter();
    let project = project()
        .file("counter.wasm", &plain)
        .file("wit/counter.wit", WIT)
        .file(
            "other.wit",
            "package a:b; world w { export c; } interface c {}",
        )
        .file("broken.wit", "package a:b;\nworld w { exprt c; }")
        .file("module.wasm", wat::parse_str("(module)").unwrap());
    let before = project.run(&["inspect", "counter.wasm"]);
    assert!(!before.stdout.contains("Counts on"), "{before:?}");
    let shown = said(
        &project,
        &[
            &["build", "--wit", "wit", "counter.wasm"],
            &[
                "build",
                "--wit",
                "wit",
                "--world",
                "counter",
                "counter.wasm",
                "--json",
            ],
            &["inspect", "counter.wasm"],
            &["build", "--wit", "wit", "--world", "none", "counter.wasm"],
            &["build", "--wit", "other.wit", "counter.wasm"],
            &["build", "--wit", "broken.wit", "counter.wasm"],
            &["build", "--wit", "missing", "counter.wasm"],
            &["build", "--wit", "wit", "missing.wasm"],
            &["build", "--wit", "wit", "module.wasm"],
            &["build", "--wit", "wit"],
            &["build", "--world", "counter"],
        ],
    );
    insta::assert_snapshot!("words_of_wit", shown);
}

/// Programs for the path of commands, as shell scripts. Other programs are found as ever.
#[cfg(unix)]
fn with_programs(project: Project, programs: &[(&str, &str)]) -> Project {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = project.path("bin").display().to_string();
    let project = programs.iter().fold(project, |project, (name, script)| {
        let file = format!("bin/{name}");
        let project = project.file(&file, format!("#!/bin/sh\nset -e\n{script}"));
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(project.path(&file), executable).unwrap();
        project
    });
    project.variable("PATH", &format!("{folder}:/usr/bin:/bin"))
}

#[test]
fn a_machine_without_the_tools_is_told_what_to_install() {
    let project = project();
    let nowhere = project.path("nowhere").display().to_string();
    let project = project.variable("PATH", &nowhere);
    let shown = said(
        &project,
        &[
            &["new", "desk", "--lang", "js", "--json"],
            &["new", "shop", "--lang", "python", "--json"],
            &["build", "desk"],
            &["build", "shop"],
        ],
    );
    insta::assert_snapshot!("no_node_no_python", shown);
}

#[cfg(unix)]
#[test]
fn tools_that_are_too_old_are_named() {
    let old = [("node", "echo v18.20.0"), ("python3", "echo Python 3.9.1")];
    let project = with_programs(project(), &old);
    for (name, lang) in [("desk", "js"), ("shop", "python")] {
        assert_eq!(project.run(&["new", name, "--lang", lang]).code, 0);
    }
    let shown = said(&project, &[&["build", "desk"], &["build", "shop"]]);
    insta::assert_snapshot!("old_node_old_python", shown);
}

#[test]
fn what_cannot_be_used_is_named_before_a_tool_starts() {
    let project = project()
        .file("none/package.json", "{\"name\": \"x\"}")
        .file("none/pyproject.toml", "[project]\nname = \"x\"\n");
    for (name, lang) in [("desk", "js"), ("shop", "python")] {
        assert_eq!(project.run(&["new", name, "--lang", lang]).code, 0);
    }
    let mut shown = said(&project, &[&["build", "none"]]);
    for (file, from, to) in [
        ("desk/wit/world.wit", "days: option", "days option"),
        ("desk/package.json", "src/index.js", "src/main.js"),
        ("desk/package.json", "\"world\"", "\"word\""),
        ("shop/wit/world.wit", "export workshop", "export workshops"),
        (
            "shop/pyproject.toml",
            "componentize-py==",
            "componentize-py>=",
        ),
        ("shop/pyproject.toml", "[project]", "[project"),
    ] {
        let path = project.path(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{file}: {from}");
        fs::write(&path, text.replacen(from, to, 1)).unwrap();
        let folder = file.split('/').next().unwrap();
        shown.push_str(&format!("# {file}: {to}\n"));
        shown.push_str(&said(&project, &[&["build", folder]]));
        fs::write(&path, text).unwrap();
    }
    insta::assert_snapshot!("unusable_projects", shown);
}

/// What `node` is where no JavaScript runs: it checks nothing, and makes the component that lies
/// beside the project.
#[cfg(unix)]
const NODE: &str = r#"
case "$1" in
    --version) echo v22.1.0; exit;;
    --check) exit;;
esac
echo "made from $2" >&2
while [ "$1" != --out ]; do shift; done
cp ../counter.wasm "$2"
"#;

/// What `npm` is: it installs a toolchain that does nothing.
#[cfg(unix)]
const NPM: &str = r#"
echo "npm $1"
tool=node_modules/@bytecodealliance/componentize-js
mkdir -p "$tool"
echo '{"bin": {"componentize-js": "cli.js"}}' >"$tool/package.json"
cp package-lock.json node_modules/.package-lock.json
"#;

#[cfg(unix)]
#[test]
fn a_javascript_project_is_built_when_it_has_changed() {
    let project = project()
        .file("counter.wasm", counter())
        .file("desk/wit/counter.wit", WIT)
        .file("desk/src/index.js", "")
        .file("desk/openprogram.toml", "[components]\ndesk = \".\"\n")
        .file(
            "desk/package.json",
            r#"{"name": "@acme/desk", "main": "src/index.js", "openprogram": {}}"#,
        )
        .file(
            "desk/package-lock.json",
            r#"{"packages": {"node_modules/a": {"version": "1.0.0"}}}"#,
        );
    let project = with_programs(project, &[("node", NODE), ("npm", NPM)]);
    let folder = project.path("desk");
    let project = project.at(folder.clone());
    let run: &[&str] = &["run", "step", "--args", "{\"number\": 4, \"to\": \"up\"}"];
    let mut shown = said(&project, &[run, run, &["inspect", "desk"], &["build"]]);
    shown.push_str("# a source has changed\n");
    touch(&folder.join("src/index.js"));
    shown.push_str(&said(&project, &[run, run]));
    shown.push_str("# another version is pinned\n");
    let lock = folder.join("package-lock.json");
    let text = fs::read_to_string(&lock).unwrap();
    fs::write(&lock, text.replace("1.0.0", "1.0.1")).unwrap();
    shown.push_str(&said(&project, &[run]));
    insta::assert_snapshot!("javascript_built", shown);
}

/// What `componentize-py` is: bindings without content, and the component beside the project.
#[cfg(unix)]
const COMPONENTIZE_PY: &str = r#"
if [ "$1" = --version ]; then echo componentize-py VERSION; exit; fi
while [ "$1" != bindings ] && [ "$1" != --output ]; do shift; done
if [ "$1" = bindings ]; then mkdir -p "$2/wit_world"; exit; fi
echo "made by VERSION" >&2
cp ../counter.wasm "$2"
"#;

/// What `python3` is: it checks nothing, and makes an environment whose pip installs a toolchain.
#[cfg(unix)]
const PYTHON: &str = r#"
case "$*" in
    --version) echo Python 3.12.1;;
    *"-m venv"*) mkdir -p .venv/bin; cp "$0" .venv/bin/python;;
    *"-m pip"*)
        for one; do case "$one" in componentize-py==*) version=${one#*==};; esac; done
        sed "s/VERSION/$version/" ../componentize-py.sh >.venv/bin/componentize-py
        chmod +x .venv/bin/componentize-py;;
esac
"#;

#[cfg(unix)]
#[test]
fn a_python_project_takes_the_toolchain_that_it_pins() {
    let pyproject = "[project]\nname = \"shop\"\n[dependency-groups]\n\
                     build = [\"componentize-py==0.25.1\"]\n[tool.openprogram]\n";
    let script = format!("#!/bin/sh\nset -e\n{COMPONENTIZE_PY}");
    let project = project()
        .file("counter.wasm", counter())
        .file("componentize-py.sh", script)
        .file("shop/wit/counter.wit", WIT)
        .file("shop/src/app.py", "")
        .file("shop/pyproject.toml", pyproject);
    let on_path = COMPONENTIZE_PY.replace("VERSION", "0.25.1");
    let project = with_programs(
        project,
        &[("python3", PYTHON), ("componentize-py", &on_path)],
    );
    let folder = project.path("shop");
    let mut shown = String::from("# the right version is on the path\n");
    shown.push_str(&said(&project, &[&["build", "shop"]]));
    assert!(folder.join("bindings/wit_world").is_dir());
    assert!(!folder.join(".venv").exists());
    for (why, from, to) in [
        ("another version is pinned", "0.25.1", "0.25.2"),
        ("it is installed now", "", ""),
        (
            "something else is needed too",
            "[dep",
            "dependencies = [\"six==1\"]\n[dep",
        ),
        ("bindings of the person", "", ""),
    ] {
        let path = folder.join("pyproject.toml");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replacen(from, to, 1)).unwrap();
        if why.starts_with("bindings") {
            fs::remove_dir_all(folder.join("bindings")).unwrap();
            fs::create_dir(folder.join("bindings")).unwrap();
        }
        shown.push_str(&format!("# {why}\n"));
        shown.push_str(&said(&project, &[&["build", "shop"]]));
    }
    insta::assert_snapshot!("python_built", shown);
}

/// What does not compile is told with its place, as the language itself tells it.
#[cfg(unix)]
#[test]
fn a_broken_source_is_named_with_its_place() {
    for (program, name, lang, file, from, to) in [
        (
            "node",
            "desk",
            "js",
            "src/index.js",
            "const reply =",
            "const reply",
        ),
        (
            "python3",
            "shop",
            "python",
            "src/app.py",
            "reply =",
            "reply = =",
        ),
    ] {
        let Some(folder) = folder_of(program) else {
            continue;
        };
        let project = project().variable("PATH", &folder);
        assert_eq!(project.run(&["new", name, "--lang", lang]).code, 0);
        let path = project.path(name).join(file);
        let text = fs::read_to_string(&path).unwrap();
        let line = text.lines().position(|line| line.contains(from)).unwrap() + 1;
        fs::write(&path, text.replacen(from, to, 1)).unwrap();
        let build = project.run(&["build", name]);
        assert_eq!((build.code, build.stdout.as_str()), (1, ""), "{build:?}");
        let place = [format!("{file}:{line}"), format!("{file}\", line {line}")];
        let is_told = place.iter().any(|place| build.stderr.contains(place));
        assert!(is_told && build.stderr.contains("SyntaxError"), "{build:?}");
    }
}

/// The folder of a program of this machine; `None`, with a printed reason, where there is none.
#[cfg(unix)]
#[expect(
    clippy::print_stdout,
    reason = "a skipped test says so where the runner shows it"
)]
fn folder_of(program: &str) -> Option<String> {
    let script = match program {
        "python3" => "python3 -c 'import sys; print(sys.executable)'".to_owned(),
        other => format!("command -v {other}"),
    };
    let found = std::process::Command::new("sh")
        .args(["-c", &script])
        .output();
    let found = found.expect("a shell");
    let path = String::from_utf8_lossy(&found.stdout).trim().to_owned();
    let folder = Path::new(&path).parent().filter(|_| found.status.success());
    if folder.is_none() {
        assert!(std::env::var_os("CI").is_none(), "there is no `{program}`");
        println!("skipped: this needs `{program}`");
    }
    folder.map(|folder| folder.display().to_string())
}

/// Changes when a file was written.
#[cfg(unix)]
fn touch(path: &Path) {
    let later = std::time::SystemTime::now() - std::time::Duration::from_secs(5);
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_modified(later).unwrap();
}
