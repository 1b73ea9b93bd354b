//! What others' code is in the build: its licences, its sources, and every second version of it.
//!
//! The lists stand in `deny.toml`, the form of cargo-deny; here they are held without it and without
//! a network, over what is built on this machine.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::{none, read, root};

/// The workspaces of the repository, and for what their packages are compiled beside this machine.
const WORKSPACES: [(&str, Option<&str>); 3] = [
    ("Cargo.toml", None),
    ("sample-functions/Cargo.toml", Some("wasm32-wasip2")),
    ("tests/guests/Cargo.toml", Some("wasm32-wasip2")),
];

/// One package that is built.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Package {
    name: String,
    version: String,
    /// As its manifest says it.
    license: String,
    /// Where it comes from; `None` for our own.
    source: Option<String>,
}

/// The packages of a workspace on this machine.
fn packages(manifest: &str, target: Option<&str>) -> Vec<Package> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let mut command = Command::new(cargo);
    command.current_dir(root()).args([
        "metadata",
        "--format-version=1",
        "--locked",
        "--offline",
        "--manifest-path",
        manifest,
        "--filter-platform",
        &machine(),
    ]);
    if let Some(target) = target {
        command.args(["--filter-platform", target]);
    }
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{manifest}: {said}");
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |package: &Value, key: &str| package[key].as_str().map(str::to_owned);
    let packages = told["packages"].as_array().unwrap().iter();
    packages
        .map(|package| Package {
            name: text(package, "name").unwrap(),
            version: text(package, "version").unwrap(),
            license: text(package, "license").unwrap_or_default(),
            source: text(package, "source"),
        })
        .collect()
}

/// What this machine is called by compilers.
fn machine() -> String {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let output = Command::new(rustc).arg("-vV").output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let mut lines = said.lines();
    lines
        .find_map(|line| line.strip_prefix("host: "))
        .unwrap()
        .to_owned()
}

fn everything() -> BTreeSet<Package> {
    let all = WORKSPACES.into_iter();
    all.flat_map(|(manifest, target)| packages(manifest, target))
        .collect()
}

fn lists() -> toml::Table {
    read(Path::new("deny.toml")).parse().unwrap()
}

fn allowed_licenses() -> BTreeSet<String> {
    let listed = lists()["licenses"]["allow"].as_array().unwrap().clone();
    let texts = listed.iter().map(|license| license.as_str().unwrap());
    texts.map(str::to_owned).collect()
}

/// The licences that an expression is used under; `None` when it cannot be used with these.
///
/// `OR` takes the first side that is allowed, `AND` needs both, `/` is an old way to write `OR`.
fn used<'a>(expression: &'a str, allowed: &BTreeSet<String>) -> Option<Vec<&'a str>> {
    let expression = expression.trim();
    for separator in [" OR ", "/"] {
        if let Some(sides) = split(expression, separator) {
            return sides.into_iter().find_map(|side| used(side, allowed));
        }
    }
    if let Some(sides) = split(expression, " AND ") {
        let sides = sides.into_iter().map(|side| used(side, allowed));
        return Some(sides.collect::<Option<Vec<_>>>()?.concat());
    }
    if let Some(inner) = expression.strip_prefix('(') {
        return used(inner.strip_suffix(')')?, allowed);
    }
    allowed.contains(expression).then(|| vec![expression])
}

/// The parts between separators that stand outside of brackets; `None` when there is only one.
fn split<'a>(expression: &'a str, separator: &str) -> Option<Vec<&'a str>> {
    let mut parts = Vec::new();
    let (mut depth, mut begin) = (0, 0);
    for (index, character) in expression.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ if depth == 0 && index >= begin && expression[index..].starts_with(separator) => {
                parts.push(&expression[begin..index]);
                begin = index + separator.len();
            }
            _ => {}
        }
    }
    parts.push(&expression[begin..]);
    (parts.len() > 1).then_some(parts)
}

#[test]
fn licences_are_those_of_the_list_and_no_more_are_listed() {
    let allowed = allowed_licenses();
    let mut needed = BTreeSet::new();
    let mut findings = Vec::new();
    for package in everything() {
        let Package { name, license, .. } = &package;
        match used(license, &allowed) {
            Some(licenses) => needed.extend(licenses.into_iter().map(str::to_owned)),
            None => findings.push(format!("{name}: `{license}` is not in deny.toml")),
        }
    }
    let unused = allowed.difference(&needed);
    findings.extend(unused.map(|license| format!("`{license}` in deny.toml is nobody's")));
    none(&findings, "a licence is not one of the list");
}

#[test]
fn nothing_comes_from_a_git_repository_or_another_registry() {
    let foreign = |package: &&Package| {
        let source = package.source.as_deref();
        source.is_some_and(|source| !source.starts_with("registry+https://github.com/rust-lang/"))
    };
    let findings: Vec<String> = everything()
        .iter()
        .filter(foreign)
        .map(|package| format!("{package:?}"))
        .collect();
    none(&findings, "a package has a source that is not allowed");
}

#[test]
fn a_second_version_has_a_reason() {
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in packages("Cargo.toml", None) {
        let known = versions.entry(package.name).or_default();
        known.insert(package.version);
    }
    let skipped = lists()["bans"]["skip"].as_array().unwrap().clone();
    let mut findings = Vec::new();
    for row in &skipped {
        let (name, version) = row["crate"].as_str().unwrap().split_once('@').unwrap();
        let is_there = versions
            .get_mut(name)
            .is_some_and(|known| known.len() > 1 && known.remove(version));
        if !is_there {
            findings.push(format!("`{name}@{version}` is not there twice any more"));
        }
        if row["reason"].as_str().unwrap().is_empty() {
            findings.push(format!("`{name}@{version}` has no reason"));
        }
    }
    for (name, known) in versions.iter().filter(|(_, known)| known.len() > 1) {
        findings.push(format!("`{name}` is there as {known:?}; give a reason"));
    }
    none(&findings, "versions differ from the rows of deny.toml");
}

#[test]
fn an_expression_of_licences_is_read_as_it_is_meant() {
    let allowed = ["MIT", "ISC", "A WITH B"].map(str::to_owned).into();
    for (expression, expected) in [
        ("MIT", Some(vec!["MIT"])),
        ("GPL-3.0 OR MIT", Some(vec!["MIT"])),
        ("GPL-3.0/MIT", Some(vec!["MIT"])),
        ("GPL-3.0 AND MIT", None),
        ("A WITH B", Some(vec!["A WITH B"])),
        ("A", None),
        ("(GPL-3.0 OR MIT) AND ISC", Some(vec!["MIT", "ISC"])),
        ("GPL-3.0 OR (MIT AND X)", None),
        ("(MIT", None),
        ("", None),
    ] {
        assert_eq!(used(expression, &allowed), expected, "{expression}");
    }
}
