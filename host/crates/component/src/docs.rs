//! Reads the `package-docs` sections of a component: what its author wrote as comments in WIT.
//!
//! Toolchains drop the comments; other tools can add them afterwards as such a section. It holds
//! words only, so a broken one costs the words and never the component, and a notice says why.

use std::cell::Cell;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use wasmparser::{Parser, Payload};

use crate::facts::WORDS_BYTES_MAX;

pub(crate) const SECTION: &str = "package-docs";
/// As long as the name of the section, and no section that anybody reads.
const HIDDEN: &[u8; SECTION.len()] = b"package-d___";
/// The versions of the format that are read: 0 knows less.
const VERSIONS: [u8; 2] = [0, 1];
/// Bytes of all sections of one component. Whole standard libraries take a tenth of it.
const BYTES_MAX: usize = 1 << 20;
/// Characters of an error of the JSON parser, which may quote the section.
const PROBLEM_CHARS_MAX: usize = 160;

/// The sections of one component, as they are.
#[derive(Debug, Default)]
pub(crate) struct Sections<'a> {
    /// The contents of those that describe the component itself.
    contents: Vec<&'a [u8]>,
    /// Where the names of all of them begin, those of inner parts included.
    names: Vec<usize>,
}

/// The words of all sections, by the short name of the interface; the world's own have none.
#[derive(Debug, Default)]
pub(crate) struct PackageDocs {
    interfaces: BTreeMap<String, Interface>,
    used: Cell<bool>,
    /// Bytes of the words that were given so far.
    given: Cell<usize>,
}

/// What the sections say of a type, as they are read and written.
#[derive(Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct TypeWords {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) docs: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) items: BTreeMap<String, String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Interface {
    funcs: BTreeMap<String, Words>,
    types: BTreeMap<String, TypeWords>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "expected words or an object with `docs`")]
enum Words {
    Text(String),
    Item { docs: Option<String> },
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct World {
    interfaces: BTreeMap<String, Interface>,
    interface_exports: BTreeMap<String, Interface>,
    funcs: BTreeMap<String, Words>,
    func_exports: BTreeMap<String, Words>,
    types: BTreeMap<String, TypeWords>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Package {
    worlds: BTreeMap<String, World>,
    interfaces: BTreeMap<String, Interface>,
}

impl<'a> Sections<'a> {
    /// Finds the sections. Stops where the bytes are malformed, which decoding reports.
    pub(crate) fn find(bytes: &'a [u8]) -> Self {
        let mut found = Self::default();
        let mut depth = 0_usize;
        for payload in Parser::new(0).parse_all(bytes) {
            match payload {
                Ok(Payload::Version { .. }) => depth += 1,
                Ok(Payload::End(_)) => depth = depth.saturating_sub(1),
                Ok(Payload::CustomSection(section)) if section.name() == SECTION => {
                    found.names.push(section.data_offset() - SECTION.len());
                    if depth == 1 {
                        found.contents.push(section.data());
                    }
                }
                Ok(_) => {}
                Err(_) => break,
            }
        }
        found
    }

    /// The component without these sections; `None` when it has none.
    ///
    /// The decoder reads them too and refuses a component whose section is broken, names what is
    /// not exported, or describes a package under the name that its author gave it.
    pub(crate) fn hidden(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        if self.names.is_empty() {
            return None;
        }
        let mut copy = bytes.to_vec();
        for start in &self.names {
            copy[*start..start + HIDDEN.len()].copy_from_slice(HIDDEN);
        }
        Some(copy)
    }

    /// Reads what they say, and why some say nothing.
    pub(crate) fn read(&self) -> (PackageDocs, Vec<String>) {
        let mut docs = PackageDocs::default();
        let mut notices = Vec::new();
        let mut left = BYTES_MAX;
        for content in &self.contents {
            let size = content.len();
            let package = match left.checked_sub(size) {
                None => Err(format!(
                    "it has {size} bytes; at most {BYTES_MAX} are read of one component"
                )),
                Some(rest) => {
                    left = rest;
                    parse(content)
                }
            };
            match package {
                Ok(package) => docs.add(package),
                Err(problem) => {
                    notices.push(format!("a `{SECTION}` section is ignored: {problem}"))
                }
            }
        }
        (docs, notices)
    }
}

fn parse(content: &[u8]) -> Result<Package, String> {
    let Some((version, json)) = content.split_first() else {
        return Err("it is empty".to_owned());
    };
    if !VERSIONS.contains(version) {
        return Err(format!(
            "it has version {version} of its format; 0 and 1 are read"
        ));
    }
    // Fields that are passed over are not looked into.
    let json = std::str::from_utf8(json).map_err(|_| "it is not UTF-8".to_owned())?;
    serde_json::from_str(json).map_err(|error| {
        let problem: String = error.to_string().chars().take(PROBLEM_CHARS_MAX).collect();
        format!("it does not hold the JSON of this format: {problem}")
    })
}

impl PackageDocs {
    /// Adds what a section says; what was said before stays.
    fn add(&mut self, package: Package) {
        for (name, interface) in package.interfaces {
            self.add_interface(name, interface);
        }
        for world in package.worlds.into_values() {
            for (name, interface) in world.interface_exports.into_iter().chain(world.interfaces) {
                self.add_interface(name, interface);
            }
            let mut funcs = world.func_exports;
            for (name, words) in world.funcs {
                funcs.entry(name).or_insert(words);
            }
            let types = world.types;
            self.add_interface(String::new(), Interface { funcs, types });
        }
    }

    fn add_interface(&mut self, name: String, more: Interface) {
        let known = self.interfaces.entry(name).or_default();
        for (name, words) in more.funcs {
            known.funcs.entry(name).or_insert(words);
        }
        for (name, words) in more.types {
            known.types.entry(name).or_insert(words);
        }
    }

    /// Forgets an interface; says whether anything was known of it.
    pub(crate) fn forget(&mut self, interface: &str) -> bool {
        self.interfaces.remove(interface).is_some()
    }

    /// What is said of a function; nothing is the empty text.
    pub(crate) fn function(&self, interface: &str, name: &str) -> String {
        let words = self
            .interfaces
            .get(interface)
            .and_then(|it| it.funcs.get(name));
        self.used.set(self.used.get() || words.is_some());
        self.give(match words {
            Some(Words::Text(text)) => Some(text),
            Some(Words::Item { docs }) => docs.as_ref(),
            None => None,
        })
    }

    /// What is said of a type.
    pub(crate) fn type_words(&self, interface: &str, name: &str) -> Option<&TypeWords> {
        let words = self.interfaces.get(interface)?.types.get(name)?;
        self.used.set(true);
        Some(words)
    }

    /// What is said of a type itself; nothing is the empty text.
    pub(crate) fn type_itself(&self, words: Option<&TypeWords>) -> String {
        self.give(words.and_then(|words| words.docs.as_ref()))
    }

    /// What is said of a field or case; nothing is the empty text.
    pub(crate) fn member(&self, words: Option<&TypeWords>, name: &str) -> String {
        self.give(words.and_then(|words| words.items.get(name)))
    }

    /// A copy of some words, while there are not too many of them.
    fn give(&self, words: Option<&String>) -> String {
        let Some(words) = words else {
            return String::new();
        };
        let given = self.given.get().saturating_add(words.len());
        self.given.set(given);
        if given > WORDS_BYTES_MAX {
            return String::new();
        }
        words.clone()
    }

    /// What a person should know of how it was used; asked when everything was looked up.
    pub(crate) fn notice(&self) -> Option<String> {
        if self.given.get() > WORDS_BYTES_MAX {
            return Some(format!(
                "a part of the words of the `{SECTION}` section is left out: written out wherever \
                 a type is used, they take more than {WORDS_BYTES_MAX} bytes"
            ));
        }
        (!self.used.get() && !self.interfaces.is_empty()).then(|| {
            format!("the `{SECTION}` section describes nothing that the component exports")
        })
    }
}
