//! Project files and state folders that are broken.

use std::fs::File;

use openprogram_tests::cli::Project;

use super::{Input, made};

/// The command that every broken project is met with.
const RUN: [&str; 4] = ["run", "double", "--arg", "number=1"];
const HEALTHY: &str = "[components]\nhealthy = \"healthy.wasm\"\n";

/// A project file, what it is refused with, and the word that is named.
const FILES: [(&str, i32, &str); 15] = [
    ("model = \n", 2, "line 1"),
    ("modle = \"x\"\n", 2, "modle"),
    ("model = 3\n", 2, "model"),
    ("model = \"no-colon\"\n", 2, "model"),
    ("model = \"nobody:knows\"\n", 4, "nobody"),
    ("model = \"component:missing\"\n", 4, "component:missing"),
    ("model = \"component:healthy\"\n", 4, "component:healthy"),
    ("model = \"script:missing.jsonl\"\n", 4, "missing.jsonl"),
    ("[components]\nhealthy = \"gone.wasm\"\n", 2, "gone.wasm"),
    (
        "[components]\n\"no good\" = \"healthy.wasm\"\n",
        2,
        "no good",
    ),
    (
        "[components]\nhealthy = \"healthy.wasm\"\nagain = \"healthy.wasm\"\n",
        2,
        "healthy",
    ),
    (
        "[components.healthy]\nsource = \"healthy.wasm\"\ncalls = [\"nothing.there\"]\n",
        3,
        "nothing.there",
    ),
    (
        "[components.healthy]\nsource = \"healthy.wasm\"\ncall = []\n",
        2,
        "call",
    ),
    ("[grants]\n", 2, "grants"),
    ("[providers.home]\nprotocol = \"openai\"\n", 2, "base_url"),
];

/// A lock file and the word that is named.
const LOCKS: [(&str, &str); 5] = [
    ("version = ", "openprogram.lock"),
    ("version = 99\n", "99"),
    ("version = 1\nverison = 1\n", "verison"),
    ("<<<<<<< ours\nversion = 1\n", "openprogram.lock"),
    (
        "version = 1\n[components.shop]\nsource = \"shop.wasm\"\ndigest = \"sha256:12\"\nsize = 1\n",
        "shop",
    ),
];

fn bytes(file: &'static [u8]) -> impl Fn(Project) -> Project {
    move |project| project.file("openprogram.toml", file)
}

fn large(project: Project) -> Project {
    let project = project.file("openprogram.toml", HEALTHY);
    let file = File::options()
        .append(true)
        .open(project.path("openprogram.toml"));
    file.unwrap().set_len(200 << 20).unwrap();
    project
}

pub(super) fn inputs() -> Vec<Input> {
    let mut inputs = Vec::new();
    for (text, exit, names) in FILES {
        // A file that says nothing of components has a healthy one.
        let whole = match text.contains("components") {
            true => text.to_owned(),
            false => format!("{text}{HEALTHY}"),
        };
        let project = move |project: Project| {
            let project = project.guests(&["healthy"]);
            project.file("openprogram.toml", &whole)
        };
        inputs.push(Input::of(&RUN, exit, names).titled(text).with(project));
    }
    let project = "openprogram.toml";
    inputs.extend([
        Input::of(&RUN, 2, project)
            .titled("a project file that is not UTF-8")
            .with(bytes(b"model = \"\xff\"\n")),
        Input::of(&RUN, 2, project)
            .titled("a project file of 200 MB")
            .with(large),
        Input::of(&RUN, 2, "double")
            .titled("a project file that is a folder")
            .with(|project| project.file("openprogram.toml/x", "")),
        Input::of(&RUN, 2, project)
            .titled("a project file that is a pipe")
            .with(|project| made("mkfifo", project, "openprogram.toml")),
        Input::of(&["functions"], 2, "openprogram.lock")
            .titled("a lock file that is a pipe")
            .with(|project| {
                made(
                    "mkfifo",
                    project.file("openprogram.toml", ""),
                    "openprogram.lock",
                )
            }),
        Input::of(&["sessions"], 5, ".openprogram")
            .titled("a state folder that is a file")
            .with(|project| project.file(".openprogram", "")),
        Input::of(&["sessions"], 5, "sessions.db")
            .titled("sessions that are a folder")
            .with(|project| private(project.file(".openprogram/sessions.db/x", ""))),
        Input::of(&["sessions"], 5, "sessions.db")
            .titled("sessions that are noise")
            .with(|project| private(project.file(".openprogram/sessions.db", [0x5a; 16_384]))),
    ]);
    inputs
}

/// Lock files, and what cannot be installed, removed or made.
pub(super) fn installs() -> Vec<Input> {
    let mut inputs = Vec::new();
    for (text, names) in LOCKS {
        let project = move |project: Project| project.file("openprogram.lock", text);
        let title = format!("openprogram.lock: {text}");
        inputs.push(
            Input::of(&["functions"], 2, names)
                .titled(&title)
                .with(project),
        );
    }
    let healthy = |project: Project| project.guests(&["healthy"]);
    let module = |project: Project| project.file("module.wasm", b"\0asm\x01\0\0\0");
    inputs.extend([
        Input::of(&["add", "gone.wasm"], 2, "gone.wasm"),
        Input::of(&["add", "module.wasm"], 2, "module").with(module),
        Input::of(&["add", "healthy.wasm", "--name", "no good"], 2, "no good").with(healthy),
        Input::of(
            &["add", "ftp://example.test/x.wasm"],
            2,
            "ftp://example.test/x.wasm",
        ),
        Input::of(&["remove", "nobody"], 2, "nobody"),
        Input::of(&["update", "nobody"], 2, "nobody"),
        Input::of(&["new", "No Good"], 2, "No Good"),
        Input::of(&["new", "healthy"], 2, "healthy")
            .with(|project| project.file("healthy/mine.txt", "mine")),
        Input::of(&["new", "x", "--lang", "cobol"], 2, "cobol"),
    ]);
    inputs
}

/// A state folder as the program makes it itself.
fn private(project: Project) -> Project {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = std::fs::Permissions::from_mode(0o700);
    std::fs::set_permissions(project.path(".openprogram"), mode).unwrap();
    project
}
