//! The manifest of the copy: what the packages of the SDK inherit, taken from the manifest of the
//! repository, where every version stands once.

use toml::{Table, Value};

/// The manifest of the repository.
const ROOT: &str = include_str!("../../../Cargo.toml");

/// The manifests that inherit from it, by folder.
const PACKAGES: [(&str, &str); 2] = [
    ("guest-sdk", include_str!("../../../guest-sdk/Cargo.toml")),
    (
        "guest-sdk/macros",
        include_str!("../../../guest-sdk/macros/Cargo.toml"),
    ),
];

/// The edition and the oldest Rust of the SDK, which hold for a new project too.
#[must_use]
pub fn rust_facts() -> (String, String) {
    let workspace = inherited();
    let fact = |key: &str| {
        let value = workspace
            .get("package")
            .and_then(|package| package.get(key));
        value.and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    (fact("edition"), fact("rust-version"))
}

/// A workspace of the packages of the SDK, with what they inherit and nothing else.
pub(super) fn of_copy() -> String {
    let root = inherited();
    let mut workspace = Table::new();
    let folders = PACKAGES.iter().map(|(folder, _)| Value::from(*folder));
    workspace.insert("members".to_owned(), Value::Array(folders.collect()));
    for key in ["resolver", "package", "lints"] {
        let value = root.get(key).map(|value| (key.to_owned(), value.clone()));
        workspace.extend(value);
    }
    let known = root.get("dependencies").and_then(Value::as_table);
    let used = PACKAGES.iter().flat_map(|(_, text)| dependencies(text));
    let dependencies: Table = used
        .filter_map(|name| Some((name.clone(), known?.get(&name)?.clone())))
        .collect();
    workspace.insert("dependencies".to_owned(), Value::Table(dependencies));
    let manifest = Table::from_iter([("workspace".to_owned(), Value::Table(workspace))]);
    manifest.to_string()
}

fn inherited() -> Table {
    let mut root = parsed(ROOT);
    match root.remove("workspace") {
        Some(Value::Table(workspace)) => workspace,
        _ => unreachable!("the manifest of the repository is a workspace"),
    }
}

/// Everything that a package depends on, its tests included: cargo reads all of a manifest.
fn dependencies(manifest: &str) -> Vec<String> {
    let manifest = parsed(manifest);
    let sections = ["dependencies", "build-dependencies", "dev-dependencies"];
    let tables = sections
        .iter()
        .filter_map(|section| manifest.get(*section)?.as_table());
    tables.flat_map(|table| table.keys().cloned()).collect()
}

fn parsed(text: &str) -> Table {
    match text.parse() {
        Ok(table) => table,
        Err(error) => unreachable!("cargo has read this manifest: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_copy_inherits_the_versions_of_the_repository_and_only_what_it_uses() {
        let copy = parsed(&of_copy());
        let workspace = copy["workspace"].as_table().unwrap();
        let root = inherited();
        assert_eq!(workspace["package"], root["package"]);
        let dependencies = workspace["dependencies"].as_table().unwrap();
        assert_eq!(dependencies["syn"], root["dependencies"]["syn"]);
        assert_eq!(
            dependencies["wit-bindgen"],
            root["dependencies"]["wit-bindgen"]
        );
        assert!(dependencies.contains_key("openprogram-guest-macros"));
        assert!(!dependencies.contains_key("wasmtime"));
        assert!(!dependencies.contains_key("openprogram"));
    }
}
