//! The files of new projects, as they stand in `host/templates`, with their gaps filled.

use crate::sdk::{self, Language};

/// The text of a template.
macro_rules! template {
    ($path:literal) => {
        include_str!(concat!("../../templates/", $path))
    };
}

/// The files of a Rust project.
pub(super) const RUST: [(&str, &str); 7] = [
    ("Cargo.toml", template!("rust/manifest.toml")),
    ("openprogram.toml", template!("rust/project.toml")),
    (".gitignore", template!("rust/gitignore")),
    ("README.md", template!("rust/README.md")),
    ("replies.jsonl", template!("rust/replies.jsonl")),
    ("src/lib.rs", template!("rust/lib.rs")),
    ("src/tests.rs", template!("rust/tests.rs")),
];

/// The files of a JavaScript project.
const JS: [(&str, &str); 10] = [
    ("package.json", template!("js/package.json")),
    ("package-lock.json", template!("js/package-lock.json")),
    ("openprogram.toml", template!("rust/project.toml")),
    (".gitignore", template!("js/gitignore")),
    ("README.md", template!("js/README.md")),
    ("replies.jsonl", template!("shared/replies.jsonl")),
    ("wit/world.wit", template!("shared/world.wit")),
    ("src/index.js", template!("js/index.js")),
    ("mocks/host.js", template!("js/host.js")),
    ("test/index.test.js", template!("js/index.test.js")),
];

/// The files of a Python project.
const PYTHON: [(&str, &str); 9] = [
    ("pyproject.toml", template!("python/pyproject.toml")),
    ("openprogram.toml", template!("rust/project.toml")),
    (".gitignore", template!("python/gitignore")),
    ("README.md", template!("python/README.md")),
    ("replies.jsonl", template!("shared/replies.jsonl")),
    ("wit/world.wit", template!("shared/world.wit")),
    ("src/app.py", template!("python/app.py")),
    ("tests/__init__.py", template!("python/tests_init.py")),
    ("tests/test_app.py", template!("python/test_app.py")),
];

/// The files of a new project, by path below its folder, without the SDK.
pub(super) fn files(lang: Language, name: &str, version: &str) -> Vec<(String, String)> {
    let (templates, source): (&[(&str, &str)], _) = match lang {
        Language::Rust => (&RUST, "src/lib.rs"),
        Language::JavaScript => (&JS, "src/index.js"),
        Language::Python => (&PYTHON, "src/app.py"),
    };
    let (edition, rust_version) = sdk::rust_facts();
    let facts = [
        ("{{name}}", name),
        ("{{version}}", version),
        ("{{edition}}", &edition),
        ("{{rust-version}}", &rust_version),
        ("{{source}}", source),
    ];
    let fill = |text: &str| {
        let fill = |text: String, (key, value): &(&str, &str)| text.replace(key, value);
        facts.iter().fold(text.to_owned(), fill)
    };
    let filled = templates
        .iter()
        .map(|(path, text)| ((*path).to_owned(), fill(text)));
    let mut files: Vec<_> = filled.collect();
    if lang == Language::Rust {
        files.push(("Cargo.lock".to_owned(), sdk::lock_of(name, version)));
    }
    files
}
