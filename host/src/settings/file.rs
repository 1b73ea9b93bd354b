//! The project file `openprogram.toml` as people write it.
//!
//! Only form is checked here: known keys, right types. What the values mean is checked in
//! [`super::Settings`]. Unknown keys are errors, so that a slip never passes for a setting.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, MapAccess, Visitor};

/// The project file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProjectFile {
    /// The model of the runtime, `provider:model`.
    pub model: Option<String>,
    /// The components by name.
    #[serde(default)]
    pub components: BTreeMap<String, ComponentEntry>,
}

/// One component: a path alone, or a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComponentEntry {
    /// A `.wasm` file or a source folder, relative to the project file.
    pub source: String,
    /// Functions of other components that it may call.
    pub calls: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ComponentTable {
    source: String,
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
                    source: path.to_owned(),
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
        let file: ProjectFile = toml::from_str(
            r#"
            model = "component:lexical-model"

            [components]
            support = "sample-functions/support"

            [components.shop]
            source = "shop.wasm"
            calls = ["support/desk.refund"]
            "#,
        )
        .unwrap();
        let entry = |source: &str, calls: &[&str]| ComponentEntry {
            source: source.to_owned(),
            calls: calls.iter().map(|&call| call.to_owned()).collect(),
        };
        assert_eq!(
            file,
            ProjectFile {
                model: Some("component:lexical-model".to_owned()),
                components: BTreeMap::from([
                    (
                        "shop".to_owned(),
                        entry("shop.wasm", &["support/desk.refund"])
                    ),
                    ("support".to_owned(), entry("sample-functions/support", &[])),
                ]),
            }
        );
        assert_eq!(
            toml::from_str::<ProjectFile>("").unwrap(),
            ProjectFile::default()
        );
    }

    fn check(text: &str, expected: Expect) {
        let error = toml::from_str::<ProjectFile>(text).unwrap_err();
        expected.assert_eq(&error.to_string());
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
            unknown field `modle`, expected `model` or `components`
        "#]],
        );
        check(
            "model = 3\n",
            expect![[r#"
            TOML parse error at line 1, column 9
              |
            1 | model = 3
              |         ^
            invalid type: integer `3`, expected a string
        "#]],
        );
        check(
            "[components]\nsupport = 3\n",
            expect![[r#"
            TOML parse error at line 2, column 11
              |
            2 | support = 3
              |           ^
            invalid type: integer `3`, expected a path, or a table with `source` and `calls`
        "#]],
        );
        check(
            "[components.support]\nsource = \"a\"\ncall = []\n",
            expect![[r#"
                TOML parse error at line 3, column 1
                  |
                3 | call = []
                  | ^^^^
                unknown field `call`, expected `source` or `calls`
            "#]],
        );
        check(
            "[components.support]\ncalls = []\n",
            expect![[r#"
            TOML parse error at line 1, column 1
              |
            1 | [components.support]
              | ^^^^^^^^^^^^^^^^^^^^
            missing field `source`
        "#]],
        );
        check(
            "[components.support]\nsource = \"a\"\ncalls = \"b\"\n",
            expect![[r#"
                TOML parse error at line 3, column 9
                  |
                3 | calls = "b"
                  |         ^^^
                invalid type: string "b", expected a sequence
            "#]],
        );
        check(
            "model = \"a\nb\"\n",
            expect![[r#"
            TOML parse error at line 2, column 3
              |
            2 | b"
              |   ^
            key with no value, expected `=`
        "#]],
        );
    }
}
