//! The project file `openprogram.toml` as people write it.
//!
//! Only form is checked here: known keys, right types. What the values mean is checked in
//! [`super::Settings`]. Unknown keys are errors, so that a slip never passes for a setting.

use std::collections::BTreeMap;
use std::fmt;

use openprogram_core::grant::Grants;
use openprogram_providers::{ProfileRow, Protocol};
use serde::Deserialize;
use serde::de::{self, MapAccess, Visitor};

use super::grants::ComponentTable;
use super::limits::LimitsTable;
use super::signatures::SignaturesTable;
use super::skills::SkillsEntry;
use super::slips;
use super::trace::TraceTable;

/// The project file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProjectFile {
    /// The model of the runtime, `provider:model`.
    pub model: Option<String>,
    /// How much the model of the runtime thinks: `off`, `low`, `medium`, `high` or `xhigh`.
    pub thinking_level: Option<String>,
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
    /// Who signs components.
    #[serde(default)]
    pub signatures: SignaturesTable,
    /// Where spans are written.
    #[serde(default)]
    pub trace: TraceTable,
    /// Where skills are looked for.
    #[serde(default)]
    pub skills: SkillsEntry,
    /// How much runs may use up.
    #[serde(default)]
    pub limits: LimitsTable,
    /// Named sets of functions that turns may have as tools.
    #[serde(default)]
    pub toolsets: BTreeMap<String, Vec<String>>,
    /// The functions that are no tools in turns from a source, by source.
    #[serde(default)]
    pub unsafe_in: BTreeMap<String, Vec<String>>,
}

/// The project file does not have the form of one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FormError(String);

impl ProjectFile {
    /// Reads the text of a project file.
    ///
    /// # Errors
    /// What is wrong, and where. Values are not shown: someone may have written a key there.
    pub fn read(text: &str) -> Result<Self, FormError> {
        toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            let message = without_values(error.message());
            let place = place(text, at);
            FormError(match slips::hint(&message) {
                Some(hint) => format!("{place}: {message}; {hint}"),
                None => format!("{place}: {message}"),
            })
        })
    }
}

/// The line and column of a byte, with the name of what is set there.
fn place(text: &str, at: usize) -> String {
    let at = text.floor_char_boundary(at);
    let before = &text[..at];
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let line = before.matches('\n').count() + 1;
    let column = text[start..at].chars().count() + 1;
    let name = name_in(text[start..].lines().next().unwrap_or_default());
    let name = name.map_or_else(String::new, |name| format!(", `{name}`"));
    format!("line {line}, column {column}{name}")
}

/// The name that a line sets, where it plainly sets one. A key alone on a line may end in `=` too.
fn name_in(line: &str) -> Option<&str> {
    const NAME_CHARS_MAX: usize = 64;
    let (name, value) = line.split_once('=')?;
    let (name, value) = (name.trim(), value.trim());
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '"' | ' ');
    let is_plain = !name.is_empty() && name.len() <= NAME_CHARS_MAX && name.chars().all(is_name);
    (is_plain && !value.is_empty() && value != "=").then_some(name)
}

/// What the parser says, without the values that it quotes.
fn without_values(message: &str) -> String {
    const VARIANT: &str = "unknown variant `";
    let mut left = message;
    let mut told = String::new();
    while let Some((before, quoted)) = left.split_once("string \"") {
        told.push_str(before);
        told.push_str("a string");
        let mut is_escaped = false;
        let end = quoted.find(|c: char| {
            let ends = c == '"' && !is_escaped;
            is_escaped = c == '\\' && !is_escaped;
            ends
        });
        left = end.map_or("", |end| &quoted[end + 1..]);
    }
    told.push_str(left);
    // The names that are known stand behind the last of these words.
    if told.starts_with(VARIANT)
        && let Some(known) = told.rfind("`, expected")
    {
        told.replace_range(VARIANT.len() - 2..=known, "");
    }
    told
}

/// The models of the runtimes that are not the main one, which they default to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuntimesTable {
    /// The model behind `exec_runtime`.
    pub exec: Option<String>,
    /// How much it thinks.
    pub exec_thinking_level: Option<String>,
    /// The model behind `review_runtime`.
    pub review: Option<String>,
    /// How much it thinks.
    pub review_thinking_level: Option<String>,
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
    /// What it is granted.
    pub grants: Grants,
    /// Its own limits, by name.
    pub limits: BTreeMap<String, u64>,
    /// Whether its instances may live on between calls.
    pub stateful: bool,
}

impl<'de> Deserialize<'de> for ComponentEntry {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PathOrTable;

        impl<'de> Visitor<'de> for PathOrTable {
            type Value = ComponentEntry;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a path, or a table with `source` and grants")
            }

            fn visit_str<E: de::Error>(self, path: &str) -> Result<ComponentEntry, E> {
                Ok(ComponentEntry {
                    source: Some(path.to_owned()),
                    grants: Grants::default(),
                    limits: BTreeMap::new(),
                    stateful: false,
                })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ComponentEntry, A::Error> {
                let table =
                    ComponentTable::deserialize(de::value::MapAccessDeserializer::new(map))?;
                Ok(table.into())
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
        let calls = |calls: &[&str]| Grants {
            calls: calls.iter().map(|call| call.parse().unwrap()).collect(),
            ..Grants::default()
        };
        let entry = |source: &str, granted: &[&str]| ComponentEntry {
            source: Some(source.to_owned()),
            grants: calls(granted),
            limits: BTreeMap::new(),
            stateful: false,
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
                            grants: calls(&["refund"]),
                            limits: BTreeMap::new(),
                            stateful: false,
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
            "[providers.home]\nprotocol = \"sk-1`, expected \"",
            "[providers]\nhome = { key = \"sk-1\" }",
            "[providers]\nhome = \"sk-1\"",
            "providers = { home = { key = \"sk-1\" } }",
            "providers = \"sk-1\"",
            "providers.home.key = \"sk-1\"",
            "[ \"providers\" . home ]\nkey = \"sk-1\"",
            "[providers.home]\nkey = \"sk-1",
            "[[profiles]]\nprotocol = \"openai\"\nkey = \"sk-1\"",
            "[[profiles]]\nmodel = [\n\"sk-1\"]",
            "profiles = \"a\\\" \\\\ sk-1\"",
            "[components.a]\nsource = \"a\"\nkey = \"sk-1\"",
            "[components]\na = \"a\"\nb = [\"sk-1\"]",
            "api_key = \"sk-1\"",
            "OPENAI_API_KEY=sk-1",
            "export OPENAI_API_KEY=\"sk-1\"",
            "sk-1",
            "sk-1==",
            "runtimes = 'sk-1'",
            "model = \"a:b\" sk-1",
            "model = 'sk-1\n'",
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
            expect![
                "line 2, column 1, `reviews`: unknown field `reviews`, expected one of `exec`, `exec_thinking_level`, `review`, `review_thinking_level`; did you mean `review`?"
            ],
        );
        check(
            "[providers.home]\nprotocol = \"openai\"\nbase_url = \"http://[::1]/v1\"\nkey = \"sk-1\"\n",
            expect![
                "line 4, column 1, `key`: unknown field `key`, expected one of `protocol`, `base_url`, `key_env`"
            ],
        );
        check(
            "[providers.home]\nprotocol = \"gemini\"\nbase_url = \"http://[::1]/v1\"\n",
            expect![
                "line 2, column 12, `protocol`: unknown variant, expected one of `openai`, `anthropic`, `openai_decisions`, `google_decisions`, `systemone`"
            ],
        );
        check(
            "[[profiles]]\nprotocol = \"openai\"\nforced_tools = true\n",
            expect![
                "line 3, column 1, `forced_tools`: unknown field `forced_tools`, expected one of `protocol`, `host`, `model`, `max_tokens_field`, `max_output_tokens`, `forced_tool_choice`, `named_tool_choice`, `parallel_switch`, `tools_max`, `images`, `audio`, `stream_usage`, `prompt_cache_key`, `thinking_off`, `web_search`, `thinking`, `thinking_efforts`, `thinking_always`, `thinking_back`, `native_json_schema`, `native_json_with_tools`, `decisions`, `decision_options_max`, `decision_state_bytes`, `native_json_keeps_order`, `strict_tools`, `source`, `checked_on`; did you mean `forced_tool_choice`?"
            ],
        );
    }

    #[test]
    fn a_slip_is_shown_with_its_place() {
        check(
            "modle = \"x\"\n",
            expect![
                "line 1, column 1, `modle`: unknown field `modle`, expected one of `model`, `thinking_level`, `runtimes`, `providers`, `profiles`, `components`, `signatures`, `trace`, `skills`, `limits`, `toolsets`, `unsafe_in`; did you mean `model`?"
            ],
        );
        check(
            "[components.hello]\nsource = \".\"\nmodel = \"openai:gpt-5\"\n",
            expect![
                "line 3, column 1, `model`: unknown field `model`, expected one of `source`, `dirs`, `env`, `http`, `secrets`, `models`, `calls`, `ask_user`, `limits`, `stateful`; `model` is a key of the whole project; write it above the first `[table]` of the file, or it belongs to the table that it stands below"
            ],
        );
        check(
            "model = 3\n",
            expect!["line 1, column 9, `model`: invalid type: integer `3`, expected a string"],
        );
        check(
            "[components]\nsupport = 3\n",
            expect![
                "line 2, column 11, `support`: invalid type: integer `3`, expected a path, or a table with `source` and grants"
            ],
        );
        check(
            "[components.support]\nsource = \"a\"\ncall = []\n",
            expect![
                "line 3, column 1, `call`: unknown field `call`, expected one of `source`, `dirs`, `env`, `http`, `secrets`, `models`, `calls`, `ask_user`, `limits`, `stateful`; did you mean `calls`?"
            ],
        );
        check(
            "[components.support]\nsource = \"a\"\ncalls = \"b\"\n",
            expect!["line 3, column 9, `calls`: invalid type: a string, expected a sequence"],
        );
        check(
            "model = \"a\nb\"\n",
            expect!["line 2, column 3: key with no value, expected `=`"],
        );
    }
}
