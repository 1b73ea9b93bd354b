//! Files that are no component, or none that this host takes.

use std::fs::File;

use openprogram_tests::cli::Project;
use openprogram_tests::guests;
use openprogram_tests::metadata::{Described, telling};

use super::{Input, made};

fn text(component: &str) -> Vec<u8> {
    wat::parse_str(component).unwrap()
}

/// A function of the contract with a type of its own.
const OTHER_TYPE: &str = r#"(component
    (core module $m (func (export "f")))
    (core instance $i (instantiate $m))
    (func $f (canon lift (core func $i "f")))
    (instance $d (export "decide" (func $f)))
    (export "openprogram:agentic/decider@0.1.0" (instance $d)))"#;
/// The interface of a decider, without its function.
const NO_FUNCTION: &str = r#"(component
    (instance $d)
    (export "openprogram:agentic/decider@0.1.0" (instance $d)))"#;
const ASYNC: &str = r#"(component (import "acme:x/y@1.0.0" (instance
    (type $s (stream u8)) (export "f" (func (param "s" $s))))))"#;
const OTHER_CONTRACT: &str = r#"(component (core module (@custom "openprogram:contract" "0123")))"#;

/// So many levels of components, each of which makes ten of the one below.
fn bomb() -> Vec<u8> {
    let mut all = "(component $c0)".to_owned();
    for level in 1..=9 {
        let made = format!("(instance (instantiate $c{}))", level - 1).repeat(10);
        all = format!("(component $c{level} {all} {made})");
    }
    text(&all)
}

/// A component of 200 MB, most of which is no more than said to be there.
fn large(project: Project) -> Project {
    let project = project.file("large.wasm", b"\0asm\x0d\0\x01\0");
    let file = File::options()
        .append(true)
        .open(project.path("large.wasm"));
    file.unwrap().set_len(200 << 20).unwrap();
    project
}

fn circle(project: Project) -> Project {
    std::os::unix::fs::symlink("circle.wasm", project.path("circle.wasm")).unwrap();
    project
}

pub(super) fn inputs() -> Vec<Input> {
    // Its bytes depend on nothing but its text, so what is said of them does not change.
    let whole = guests::bytes("oversized-result");
    let half = whole[..whole.len() / 2].to_vec();
    let mut flipped = whole.clone();
    let middle = flipped.len() / 2;
    for byte in &mut flipped[middle..middle + 64] {
        *byte ^= 0xff;
    }
    let liar = Described {
        parameters: &[("tims", &[("default", "3")])],
        ..Described::default()
    };
    let file = |name: &'static str, bytes: Vec<u8>| {
        let stem = name.split('.').next().unwrap();
        let project = move |project: Project| project.file(name, &bytes);
        Input::of(&["inspect", name], 2, stem).with(project)
    };
    let mut inputs = vec![
        file("empty.wasm", Vec::new()),
        file("text.wat", b"(component)".to_vec()),
        file("package.wit", b"package acme:x; interface i {}".to_vec()),
        file("noise.wasm", vec![0x9c; 4_096]),
        file("module.wasm", b"\0asm\x01\0\0\0".to_vec()),
        file("magic.wasm", b"\0asm".to_vec()),
        file("half.wasm", half),
        file("flipped.wasm", flipped),
        file(
            "elf.wasm",
            b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec(),
        ),
        file(
            "claims.wasm",
            b"\0asm\x0d\0\x01\0\x05\xff\xff\xff\xff\x0f".to_vec(),
        ),
        file("bomb.wasm", bomb()),
        file("stale.wasm", text(OTHER_CONTRACT)),
        file("waits.wasm", text(ASYNC)),
        file("decider.wasm", text(OTHER_TYPE)),
        file("no-function.wasm", text(NO_FUNCTION)),
        file("liar.wasm", telling(&[liar]).unwrap()),
        Input::of(&["inspect", "large.wasm"], 2, "large").with(large),
        Input::of(
            &["inspect", "forbidden-import.wasm"],
            2,
            "wasi:unheard/thing",
        )
        .with(|project| project.guests(&["forbidden-import"])),
        Input::of(&["inspect", "missing.wasm"], 2, "missing.wasm"),
        Input::of(&["inspect", "healthy.wasm/inner.wasm"], 2, "inner.wasm")
            .with(|project| project.guests(&["healthy"])),
        Input::of(&["inspect", "circle.wasm"], 2, "circle").with(circle),
        Input::of(&["inspect", "pipe.wasm"], 2, "pipe")
            .with(|project| made("mkfifo", project, "pipe.wasm")),
        Input::of(&["inspect", "folder"], 2, "folder")
            .with(|project| project.file("folder/note.txt", "nothing to build")),
        Input::of(&["inspect", "/dev/zero"], 2, "zero"),
        Input::of(&["inspect", "/dev/null"], 2, "null"),
        Input::of(&["build", "missing"], 2, "missing"),
        Input::of(&["build", "healthy.wasm"], 2, "healthy.wasm")
            .with(|project| project.guests(&["healthy"])),
    ];
    let run = ["run", "f", "--component", "module.wasm"];
    let module = |project: Project| project.file("module.wasm", b"\0asm\x01\0\0\0");
    inputs.push(Input::of(&run, 2, "module").with(module));
    inputs
}
