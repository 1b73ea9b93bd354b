//! `providers` and `config`: what is set, where it comes from, and no key.

use openprogram_tests::cli::Project;
use serde_json::json;

use super::project;

/// A project with a server of its own, a model on it, and a component.
fn configured() -> Project {
    let file = "\
model = \"home:any\"

[runtimes]
exec = \"component:healthy\"

[providers.home]
protocol = \"openai\"
base_url = \"http://127.0.0.1:8080/v1\"
key_env = \"HOME_KEY\"

[[profiles]]
protocol = \"openai\"
host = \"127.0.0.1:8080\"

[components.healthy]
source = \"healthy.wasm\"
calls = [\"other.double\"]
";
    project().file("openprogram.toml", file)
}

#[test]
fn the_providers_are_listed_with_what_they_need() {
    let project = configured().variable("OPENAI_API_KEY", "sk-hidden-1");
    let listed = project.run(&["providers"]);
    insta::assert_snapshot!("providers", listed.shown(&project));
    assert_eq!(project.run(&["providers", "list"]), listed);
    let told = project.run(&["providers", "list", "--json"]);
    insta::assert_snapshot!("providers_json", told.shown(&project));
    assert_eq!(project.run(&["providers", "--json"]), told);
}

#[test]
fn every_setting_is_shown_with_its_origin() {
    let project = configured()
        .variable("OPENPROGRAM_HOME", "elsewhere")
        .variable("OPENPROGRAM_MAX_RETRIES", "2")
        .variable("OPENPROGRAM_EXEC_TIMEOUT_S", "soon")
        .variable("ANTHROPIC_BASE_URL", "http://127.0.0.1:9/anthropic")
        .variable("HOME_KEY", "sk-hidden-2")
        .variable("NO_COLOR", "1");
    let config = project.run(&["config"]);
    // How far columns are apart depends on where the project is.
    let shown = config.shown(&project);
    let lines = shown.lines().map(|line| {
        let columns = line.split("  ").map(str::trim);
        let columns: Vec<_> = columns.filter(|column| !column.is_empty()).collect();
        columns.join(" | ")
    });
    let lines: Vec<_> = lines.collect();
    insta::assert_snapshot!("config", lines.join("\n"));
    let told = project.run(&["config", "--json"]);
    insta::assert_snapshot!("config_json", told.shown(&project));
    assert_eq!(told.json()["warnings"].as_array().unwrap().len(), 1);
}

#[test]
fn defaults_are_shown_without_a_project() {
    let config = project().run(&["config", "--json"]);
    assert_eq!(config.code, 0, "{config:?}");
    let settings = config.json();
    let find = |name: &str| {
        let mut all = settings["settings"].as_array().unwrap().iter();
        all.find(|row| row["name"] == name).cloned().unwrap()
    };
    for (name, value) in [
        ("project_file", json!(null)),
        ("model", json!(null)),
        ("max_retries", json!(6)),
        ("retry_backoff_base_s", json!(1.5)),
        ("exec_timeout_s", json!(null)),
        ("colours", json!("on a terminal")),
    ] {
        let row = find(name);
        let expected = json!({"name": name, "value": value, "origin": {"kind": "default"}});
        assert_eq!(row, expected);
    }
}

#[test]
fn a_key_is_shown_nowhere() {
    let project = project()
        .file(
            "openprogram.toml",
            "model = \"openai:m\"\n[providers.home]\nprotocol = \"openai\"\n\
             base_url = \"http://me:sk-hidden@127.0.0.1/v1?key=sk-hidden\"\nkey_env = \"HOME_KEY\"\n",
        )
        .variable("OPENAI_API_KEY", "sk-hidden")
        .variable("HOME_KEY", "sk-hidden")
        .variable("ANTHROPIC_BASE_URL", "sk-hidden")
        .variable("ANTHROPIC_API_KEY", "sk-hidden");
    for command in ["doctor", "providers", "config"] {
        for json in [&[][..], &["--json"]] {
            let told = project.run(&[&[command][..], json].concat());
            let text = format!("{}{}", told.stdout, told.stderr);
            assert!(text.contains("set") && !text.contains("hidden"), "{text}");
        }
    }
}

#[test]
fn a_number_that_cannot_be_used_is_said_once_where_it_counts() {
    let options = r#"{"form": "dict", "entries": [
        {"key": "one", "handler": {"kind": "value", "value": 1}},
        {"key": "two", "handler": {"kind": "value", "value": 2}}]}"#;
    let project = project()
        .file("options.json", options)
        .file("replies.jsonl", "\"{\\\"call\\\": \\\"one\\\"}\"\n")
        .variable("OPENPROGRAM_MAX_RETRIES", "many");
    let warning = "warning: `OPENPROGRAM_MAX_RETRIES` is `many`, not a whole number; the default of \
                   6 tries holds\n";
    let decide = ["decide", "--options", "options.json"];
    let asked = [&decide[..], &["--model", "script:replies.jsonl"]].concat();
    let asked = project.run(&asked);
    assert_eq!(asked.code, 0, "{asked:?}");
    assert_eq!(asked.stderr.matches(warning).count(), 1, "{asked:?}");
    let menu = project.run(&decide);
    assert!(!menu.stderr.contains("warning"), "{menu:?}");
}
