//! What `build` says about functions that tell models too little.

use expect_test::expect;
use openprogram_core::lint::lint_function;
use openprogram_tests::guests;
use openprogram_tests::host::load;

use super::build::{manifest, package};

const SOURCE: &str = r#"
#[openprogram_guest::functions(package = "test:hasty")]
pub mod hasty {
    pub fn silent(text: String) -> String {
        text
    }

    /// Polishes a text.
    ///
    /// Args:
    ///     style: The style.
    ///
    /// Returns:
    ///     The text.
    pub fn polish(
        /// The text.
        text: String,
        /// One of academic, casual.
        style: String,
        #[param(hidden)]
        tenant: String,
    ) -> String {
        format!("{text} {style} {tenant}")
    }

    /// Says everything.
    pub fn whole(
        /// How long it may be.
        #[param(default = 3)]
        length: u32,
        /// The style.
        #[param(options = ["academic", "casual"])]
        style: String,
        /// Who asks, from the application.
        #[param(hidden)]
        tenant: String,
    ) -> String {
        format!("{length} {style} {tenant}")
    }
}
"#;

#[test]
fn each_warning_names_its_line_and_the_build_goes_on() {
    let project = package("hasty")
        .file("hasty/Cargo.toml", manifest("hasty", "cdylib"))
        .file("hasty/src/lib.rs", SOURCE);
    let built = project.run(&["build", "hasty"]);
    assert_eq!(built.code, 0, "{built:?}");
    assert!(built.stdout.ends_with(".wasm\n"), "{built:?}");
    let said = built.stderr.lines().filter(|line| line.contains("warning"));
    expect![[r#"
        warning: hasty/src/lib.rs:4: `silent`: it has no summary; begin its doc with a sentence that says what it does and when to pick it
        warning: hasty/src/lib.rs:4: `silent`: its parameter `text` has no description; say what to give and in which form
        warning: hasty/src/lib.rs:15: `polish`: its doc has a section `Args:`, which no model reads; describe each parameter at the parameter, and the result by its type
        warning: hasty/src/lib.rs:19: `polish`: the description of its parameter `style` lists the allowed values, and nothing holds a model to them; give them as options, or make the type an enum
        warning: hasty/src/lib.rs:21: `polish`: its hidden parameter `tenant` has no default, and nothing says what the context has to give for it, without which every call fails; give it a default or a description, or make it an option
        5 warnings about what models read"#]].assert_eq(&said.collect::<Vec<_>>().join("\n"));

    let told = project.run(&["build", "hasty", "--json"]);
    let warnings = &told.json()["components"][0]["warnings"];
    let line = |warning: &serde_json::Value| {
        let file = warning["file"].as_str().unwrap();
        assert!(file.ends_with("hasty/src/lib.rs"), "{file}");
        format!(
            "{} {} {} {}",
            warning["lint"], warning["function"], warning["parameter"], warning["line"]
        )
    };
    let lines: Vec<_> = warnings.as_array().unwrap().iter().map(line).collect();
    expect![[r#"
        "no_summary" "silent" null 4
        "no_description" "silent" "text" 4
        "section" "polish" null 15
        "values_in_prose" "polish" "style" 19
        "hidden_without_value" "polish" "tenant" 21"#]]
    .assert_eq(&lines.join("\n"));
}

#[tokio::test]
async fn samples_tell_models_everything() {
    let folder = guests::root().join("sample-functions");
    let mut samples = 0;
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if !path.join("Cargo.toml").is_file() || !path.join("src/lib.rs").is_file() {
            continue;
        }
        let name = path.file_name().unwrap().to_str().unwrap();
        let loaded = load(name, guests::bytes(name)).await.unwrap();
        for function in loaded.functions() {
            let warnings = lint_function(function).into_iter();
            found.extend(warnings.map(|w| format!("{}: {}", function.name, w.message)));
        }
        samples += 1;
    }
    assert!(samples >= 5, "{samples}");
    assert_eq!(found, [""; 0]);
}
