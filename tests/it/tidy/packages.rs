//! Arrows between packages, read from the manifests.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::{files_below, none, read};

/// Which of our packages a package may depend on. Adapters know only `core`; only the binary knows
/// the adapters. A package that is not listed has no arrows.
const ARROWS: [(&str, &[&str]); 9] = [
    ("openprogram-core", &[]),
    ("openprogram-runtime", &["core"]),
    ("openprogram-component", &["core"]),
    ("openprogram-providers", &["core"]),
    ("openprogram-store", &["core"]),
    (
        "openprogram",
        &["core", "runtime", "component", "providers", "store"],
    ),
    ("openprogram-guest", &["guest-macros"]),
    ("openprogram-fuzz", &["core"]),
    (
        "openprogram-tests",
        &[
            "openprogram",
            "core",
            "runtime",
            "component",
            "providers",
            "store",
        ],
    ),
];

/// What the tests of a package need besides.
const TEST_ARROWS: [(&str, &[&str]); 1] = [("openprogram-guest-macros", &["guest"])];

/// Versions that a package may write itself, because it must not have the features of the host.
const OWN_VERSIONS: [(&str, &str); 1] = [("openprogram-guest", "serde_json")];

/// Dependencies that only the named packages may have: one package per heavy dependency.
const OWNED: [(&str, &[&str]); 7] = [
    ("wasmtime", &["openprogram-component", "openprogram-tests"]),
    (
        "wasmtime-wasi",
        &["openprogram-component", "openprogram-tests"],
    ),
    ("rusqlite", &["openprogram-store"]),
    // Providers talk to models with it; the binary fetches components.
    ("reqwest", &["openprogram-providers", "openprogram"]),
    ("axum", &["openprogram"]),
    ("clap", &["openprogram", "openprogram-tests"]),
    (
        "tokio",
        &[
            "openprogram",
            "openprogram-runtime",
            "openprogram-component",
            "openprogram-providers",
            "openprogram-store",
            "openprogram-tests",
        ],
    ),
];

/// One manifest: the name of the package and what it depends on. Dependencies that only its own
/// tests need are left out where `with_tests` is not set.
fn dependencies(manifest: &toml::Table, with_tests: bool) -> BTreeSet<String> {
    let mut sections = vec!["dependencies", "build-dependencies"];
    if with_tests {
        sections.push("dev-dependencies");
    }
    let mut found = BTreeSet::new();
    for section in sections {
        if let Some(table) = manifest.get(section).and_then(toml::Value::as_table) {
            found.extend(table.keys().cloned());
        }
    }
    found
}

/// Every package of the repository by name.
fn packages() -> BTreeMap<String, (String, toml::Table)> {
    let mut found = BTreeMap::new();
    for path in files_below("", "toml") {
        if path.file_name().is_some_and(|name| name == "Cargo.toml") {
            let manifest: toml::Table = read(&path).parse().unwrap();
            let name = manifest.get("package").and_then(|p| p.get("name"));
            if let Some(name) = name.and_then(toml::Value::as_str) {
                let place = path.to_string_lossy().into_owned();
                found.insert(name.to_owned(), (place, manifest));
            }
        }
    }
    found
}

fn short(name: &str) -> &str {
    name.strip_prefix("openprogram-").unwrap_or(name)
}

#[test]
fn packages_depend_only_along_the_arrows() {
    let mut findings = Vec::new();
    for (name, (place, manifest)) in packages() {
        let guest = place.starts_with("sample-functions") || place.starts_with("tests/guests");
        let of = |table: &[(&str, &'static [&'static str])]| -> &'static [&'static str] {
            let line = table.iter().find(|(package, _)| *package == name);
            line.map_or(&[], |(_, allowed)| allowed)
        };
        let allowed = if guest { &["guest"] } else { of(&ARROWS) };
        let built = dependencies(&manifest, false);
        for dependency in dependencies(&manifest, true) {
            let in_tests = !built.contains(&dependency);
            let granted = allowed.contains(&short(&dependency))
                || in_tests && of(&TEST_ARROWS).contains(&short(&dependency));
            if dependency.starts_with("openprogram") && !granted {
                findings.push(format!(
                    "{place}: `{name}` may not depend on `{dependency}`"
                ));
            }
        }
    }
    none(&findings, "a package depends against the arrows");
}

#[test]
fn heavy_dependencies_have_one_owner() {
    let mut findings = Vec::new();
    for (name, (place, manifest)) in packages() {
        let found = dependencies(&manifest, false);
        for (heavy, owners) in OWNED {
            if found.contains(heavy) && !owners.contains(&name.as_str()) {
                findings.push(format!("{place}: `{heavy}` belongs to {owners:?}"));
            }
        }
    }
    none(&findings, "a heavy dependency is in the wrong package");
}

#[test]
fn versions_stand_in_the_workspace_manifest_alone() {
    let mut findings = Vec::new();
    for (name, (place, manifest)) in packages() {
        let workspaces = ["sample-functions", "tests/guests", "tests/fuzz"];
        if workspaces
            .iter()
            .any(|workspace| place.starts_with(workspace))
        {
            continue;
        }
        for section in ["dependencies", "build-dependencies", "dev-dependencies"] {
            let table = manifest.get(section).and_then(toml::Value::as_table);
            for (dependency, value) in table.into_iter().flatten() {
                let own = OWN_VERSIONS.contains(&(name.as_str(), dependency.as_str()));
                if !own && value.get("workspace").is_none() && value.get("path").is_none() {
                    findings.push(format!("{place}: `{name}` pins `{dependency}` itself"));
                }
            }
        }
    }
    none(
        &findings,
        "a version is written outside the workspace manifest",
    );
}

#[test]
fn every_package_of_the_table_exists() {
    let packages = packages();
    let missing: Vec<String> = ARROWS
        .iter()
        .filter(|(name, _)| !packages.contains_key(*name))
        .map(|(name, _)| (*name).to_owned())
        .collect();
    none(&missing, "the table names packages that do not exist");
    assert!(Path::new(&packages["openprogram"].0).starts_with("host"));
}
