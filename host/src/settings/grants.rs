//! The table of one component in the project file: its source, and what it is granted.
//!
//! A grant is one line of text, whose form is checked while the file is read, so that an error has
//! its place.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::path::{Component, Path, PathBuf};
use std::str::FromStr;

use openprogram_core::grant::{
    CallGrant, FolderGrant, Grant, GrantTextError, Grants, HttpGrant, ModelGrant, SecretGrant,
    VariableGrant,
};
use serde::Deserialize;
use serde::de::{self, Visitor};

use super::file::ComponentEntry;
use super::{Settings, Variables};

impl Settings {
    /// Looks whether variables are set that a command names and nothing grants yet.
    pub fn look_whether_set(&mut self, names: Vec<String>, variables: Variables<'_>) {
        let looked = names.into_iter().map(|name| {
            let value = variables(&name).and_then(|value| value.into_string().ok());
            (name, value.is_some())
        });
        self.named_variables.extend(looked);
    }

    /// Whether a granted folder lies outside of the project, where what is in it is not part of it.
    pub(crate) fn is_outside(&self, grant: &FolderGrant) -> bool {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| lexical(path));
        let path = real(&self.project_folder.join(&grant.path));
        !path.starts_with(real(&self.project_folder))
    }

    /// Why a granted folder is not opened as it is now, as a note beside its line.
    pub(crate) fn folder_problem(&self, grant: &FolderGrant) -> Option<String> {
        let mut place = self.project_folder.clone();
        let path = place.join(&grant.path);
        let below = path.strip_prefix(&place).unwrap_or(&path);
        let link = below.components().find_map(|part| {
            place.push(part);
            place.is_symlink().then_some(&place)?.canonicalize().ok()
        });
        match link {
            Some(real) => {
                let real = real.display();
                Some(format!(
                    "it leads through a link to `{real}`, and is refused"
                ))
            }
            None if path.is_dir() => None,
            None => Some(format!("there is no folder `{}`", path.display())),
        }
    }
}

/// The path without `.` and `..`, by its words alone.
fn lexical(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

/// The table of a component as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ComponentTable {
    source: Option<String>,
    #[serde(default)]
    dirs: Vec<Line<FolderGrant>>,
    #[serde(default)]
    env: Vec<Line<VariableGrant>>,
    #[serde(default)]
    http: Vec<Line<HttpGrant>>,
    #[serde(default)]
    secrets: Vec<Line<SecretGrant>>,
    #[serde(default)]
    models: Vec<Line<ModelGrant>>,
    #[serde(default)]
    calls: Vec<Line<CallGrant>>,
    #[serde(default)]
    ask_user: bool,
    #[serde(default)]
    limits: BTreeMap<String, u64>,
    #[serde(default)]
    stateful: bool,
}

impl From<ComponentTable> for ComponentEntry {
    fn from(table: ComponentTable) -> Self {
        fn grants<T>(lines: Vec<Line<T>>) -> Vec<Grant<T>> {
            lines.into_iter().map(|line| line.0).collect()
        }
        Self {
            source: table.source,
            grants: Grants {
                dirs: grants(table.dirs),
                env: grants(table.env),
                http: grants(table.http),
                secrets: grants(table.secrets),
                models: grants(table.models),
                calls: grants(table.calls),
                ask_user: table.ask_user,
            },
            limits: table.limits,
            stateful: table.stateful,
        }
    }
}

/// One grant, read from its line.
struct Line<T>(Grant<T>);

impl<'de, T: FromStr<Err = GrantTextError>> Deserialize<'de> for Line<T> {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct LineOf<T>(PhantomData<T>);

        impl<T: FromStr<Err = GrantTextError>> Visitor<'_> for LineOf<T> {
            type Value = Line<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a grant, which is one line of text")
            }

            fn visit_str<E: de::Error>(self, line: &str) -> Result<Line<T>, E> {
                line.parse().map(Line).map_err(E::custom)
            }
        }

        deserializer.deserialize_str(LineOf(PhantomData))
    }
}
