//! The project file `openprogram.toml` as people write it.
//!
//! Only form is checked here: known keys, right types. What the values mean is checked in
//! [`super::Settings`]. Unknown keys are errors, so that a slip never passes for a setting.

use std::collections::BTreeMap;
use std::fmt;

use openprogram_providers::{ProfileRow, Protocol};
use serde::Deserialize;
use serde::de::{self, MapAccess, Visitor};

/// The project file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProjectFile {
    /// The model of the runtime, `provider:model`.
    pub model: Option<String>,
    /// The models of the other two runtimes.
    #[serde(default)]
    pub runtimes: RuntimesTable,
    /// Providers besides those that are known by themselves, by name.
    #[serde(default)]
    pub providers: BTreeMap<String, ProviderEntry>,
    /// What servers and models take, over what the program knows of them.
    #[serde(default)]
    pub profiles: Vec<ProfileRow>,
    /// The components by name.
    #[serde(default)]
    pub components: BTreeMap<String, ComponentEntry>,
}

/// The project file does not have the form of one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FormError(String);

impl ProjectFile {
    /// Reads the text of a project file.
    ///
    /// # Errors
    /// What is wrong and where, with the line in question. Lines about providers are not shown:
    /// someone may have written a key there.
    pub fn read(text: &str) -> Result<Self, FormError> {
        toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            if !is_about_providers(text, at) {
                return FormError(error.to_string().trim_end().to_owned());
            }
            let line = text.as_bytes()[..at]
                .iter()
                .filter(|byte| **byte == b'\n')
                .count()
                + 1;
            FormError(format!("line {line}: {}", error.message()))
        })
    }
}

/// Whether what stands at `at` is inside the table of providers, as far as lines tell.
fn is_about_providers(text: &str, at: usize) -> bool {
    let end = text[at..]
        .find('\n')
        .map_or(text.len(), |length| at + length);
    let mut lines = text[..end].lines().rev().map(str::trim_start);
    let says = |line: &str| line.contains("providers");
    lines.next().is_some_and(says) || lines.find(|line| line.starts_with('[')).is_some_and(says)
}

/// The models of the runtimes that are not the main one, which they default to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuntimesTable {
    /// The model behind `exec_runtime`.
    pub exec: Option<String>,
    /// The model behind `review_runtime`.
    pub review: Option<String>,
}

/// A server of models.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProviderEntry {
    /// What it speaks.
    pub protocol: Protocol,
    /// Where it is: the URL above the paths of the protocol.
    pub base_url: String,
    /// The variable that holds its key, where it needs one.
    pub key_env: Option<String>,
}

/// One component: a path alone, or a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComponentEntry {
    /// A `.wasm` file or a source folder, relative to the project file; `None` for a component
    /// that is installed.
    pub source: Option<String>,
    /// Functions of other components that it may call.
    pub calls: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ComponentTable {
    source: Option<String>,
    #[serde(default)]
    calls: Vec<String>,
}

impl<'de> Deserialize<'de> for ComponentEntry {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PathOrTable;

        impl<'de> Visitor<'de> for PathOrTable {
            type Value = ComponentEntry;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a path, or a table with `source` and `calls`")
            }

            fn visit_str<E: de::Error>(self, path: &str) -> Result<ComponentEntry, E> {
                Ok(ComponentEntry {
                    source: Some(path.to_owned()),
                    calls: Vec::new(),
                })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ComponentEntry, A::Error> {
                let table =
                    ComponentTable::deserialize(de::value::MapAccessDeserializer::new(map))?;
                Ok(ComponentEntry {
                    source: table.source,
                    calls: table.calls,
                })
            }
        }

        deserializer.deserialize_any(PathOrTable)
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[test]
    fn a_component_is_a_path_or_a_table() {
        let file = ProjectFile::read(
            r#"
            model = "component:lexical-model"

            [components]
            support = "sample-functions/support"

            [components.shop]
            source = "shop.wasm"
            calls = ["support/desk.refund"]

            [components.installed]
            calls = ["refund"]
            "#,
        )
        .unwrap();
        let entry = |source: &str, calls: &[&str]| ComponentEntry {
            source: Some(source.to_owned()),
            calls: calls.iter().map(|&call| call.to_owned()).collect(),
        };
        assert_eq!(
            file,
            ProjectFile {
                model: Some("component:lexical-model".to_owned()),
                components: BTreeMap::from([
                    (
                        "installed".to_owned(),
                        ComponentEntry {
                            source: None,
                            calls: vec!["refund".to_owned()],
                        }
                    ),
                    (
                        "shop".to_owned(),
                        entry("shop.wasm", &["support/desk.refund"])
                    ),
                    ("support".to_owned(), entry("sample-functions/support", &[])),
                ]),
                ..ProjectFile::default()
            }
        );
        assert_eq!(ProjectFile::read("").unwrap(), ProjectFile::default());
    }

    fn check(text: &str, expected: Expect) {
        let error = ProjectFile::read(text).unwrap_err();
        expected.assert_eq(&error.to_string());
    }

    #[test]
    fn a_key_in_the_wrong_place_is_not_shown() {
        for text in [
            "[providers.home]\nkey = \"sk-1\"",
            "[providers.home]\nprotocol = \"openai\"\n\n# the key\nkey_env = sk-1",
            "[providers.home]\nkey_env = [\"sk-1\"]",
            "[providers]\nhome = { key = \"sk-1\" }",
            "providers = { home = { key = \"sk-1\" } }",
            "providers.home.key = \"sk-1\"",
            "[ \"providers\" . home ]\nkey = \"sk-1\"",
            "[providers.home]\nkey = \"sk-1",
        ] {
            let error = ProjectFile::read(text).unwrap_err().to_string();
            assert!(error.starts_with("line "), "{text}: {error}");
            assert!(!error.contains("sk-1"), "{text}: {error}");
        }
    }

    #[test]
    fn a_slip_about_models_is_shown_too() {
        check(
            "[runtimes]\nreviews = \"a:b\"\n",
            expect![[r#"
                TOML parse error at line 2, column 1
                  |
                2 | reviews = "a:b"
                  | ^^^^^^^
                unknown field `reviews`, expected `exec` or `review`"#]],
        );
        check(
            "[providers.home]\nprotocol = \"openai\"\nbase_url = \"http://[::1]/v1\"\nkey = \"sk-1\"\n",
            expect![
                "line 4: unknown field `key`, expected one of `protocol`, `base_url`, `key_env`"
            ],
        );
        check(
            "[providers.home]\nprotocol = \"gemini\"\nbase_url = \"http://[::1]/v1\"\n",
            expect![
                "line 2: unknown variant `gemini`, expected one of `openai`, `anthropic`, `openai_decisions`, `google_decisions`, `systemone`"
            ],
        );
        check(
            "[[profiles]]\nprotocol = \"openai\"\nforced_tools = true\n",
            expect![[r#"
                TOML parse error at line 3, column 1
                  |
                3 | forced_tools = true
                  | ^^^^^^^^^^^^
                unknown field `forced_tools`, expected one of `protocol`, `host`, `model`, `max_tokens_field`, `max_output_tokens`, `forced_tool_choice`, `parallel_switch`, `tools_max`, `images`, `stream_usage`, `prompt_cache_key`, `thinking_off`, `native_json_schema`, `native_json_with_tools`, `decisions`, `decision_options_max`, `decision_state_bytes`, `native_json_keeps_order`, `source`, `checked_on`"#]],
        );
    }

    #[test]
    fn a_slip_is_shown_with_its_place() {
        check(
            "modle = \"x\"\n",
            expect![[r#"
                TOML parse error at line 1, column 1
                  |
                1 | modle = "x"
                  | ^^^^^
                unknown field `modle`, expected one of `model`, `runtimes`, `providers`, `profiles`, `components`"#]],
        );
        check(
            "model = 3\n",
            expect![[r#"
                TOML parse error at line 1, column 9
                  |
                1 | model = 3
                  |         ^
                invalid type: integer `3`, expected a string"#]],
        );
        check(
            "[components]\nsupport = 3\n",
            expect![[r#"
                TOML parse error at line 2, column 11
                  |
                2 | support = 3
                  |           ^
                invalid type: integer `3`, expected a path, or a table with `source` and `calls`"#]],
        );
        check(
            "[components.support]\nsource = \"a\"\ncall = []\n",
            expect![[r#"
                TOML parse error at line 3, column 1
                  |
                3 | call = []
                  | ^^^^
                unknown field `call`, expected `source` or `calls`"#]],
        );
        check(
            "[components.support]\nsource = \"a\"\ncalls = \"b\"\n",
            expect![[r#"
                TOML parse error at line 3, column 9
                  |
                3 | calls = "b"
                  |         ^^^
                invalid type: string "b", expected a sequence"#]],
        );
        check(
            "model = \"a\nb\"\n",
            expect![[r#"
                TOML parse error at line 2, column 3
                  |
                2 | b"
                  |   ^
                key with no value, expected `=`"#]],
        );
    }
}
