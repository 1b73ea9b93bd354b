//! Sizes and forms of files, links between documents, and that no file or guest is forgotten.

use std::path::{Path, PathBuf};

use openprogram_tests::hostile::attacks;

use super::{files_below, none, read, root};

/// The longest file before its tests. Longer ones hold two subjects.
const LINES_MAX: usize = 400;

/// Folders that hold our Rust sources.
const SOURCES: [&str; 4] = ["host", "guest-sdk", "sample-functions", "tests"];

fn sources() -> impl Iterator<Item = PathBuf> {
    SOURCES
        .into_iter()
        .filter(|folder| root().join(folder).exists())
        .flat_map(|folder| files_below(folder, "rs"))
}

/// Whether the whole file is a test of the crate it stands in.
pub(super) fn is_test_module(file: &Path) -> bool {
    let in_source = file
        .components()
        .skip_while(|part| part.as_os_str() != "src");
    in_source.skip(1).any(|part| {
        let name = part.as_os_str();
        name == "tests" || name == "tests.rs"
    })
}

#[test]
fn files_stay_under_four_hundred_lines_before_their_tests() {
    let mut findings = Vec::new();
    for file in sources().filter(|file| !is_test_module(file)) {
        let text = read(&file);
        let lines = text
            .lines()
            .take_while(|line| line.trim() != "#[cfg(test)]")
            .count();
        if lines > LINES_MAX {
            findings.push(format!("{}: {lines} lines", file.display()));
        }
    }
    none(&findings, "a file is too long; split it by subject");
}

#[test]
fn files_begin_with_what_they_are_for() {
    let is_case = |file: &Path| file.components().any(|part| part.as_os_str() == "ui");
    let findings: Vec<String> = sources()
        .filter(|file| !is_case(file))
        .filter(|file| !read(file).starts_with("//! "))
        .map(|file| file.display().to_string())
        .collect();
    none(&findings, "a file does not begin with `//!`");
}

#[test]
fn every_file_of_the_test_binary_is_a_module() {
    let mut findings = Vec::new();
    for file in files_below("tests/it", "rs") {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let folder = file.parent().unwrap();
        let (parent, module) = match name.as_str() {
            "main" => continue,
            "mod" => {
                let module = folder.file_name().unwrap().to_string_lossy().into_owned();
                (folder.parent().unwrap(), module)
            }
            _ => (folder, name),
        };
        let top = parent == Path::new("tests/it");
        let declared_in = parent.join(if top { "main.rs" } else { "mod.rs" });
        if !read(&declared_in).contains(&format!("mod {module};")) {
            findings.push(file.display().to_string());
        }
    }
    none(&findings, "a test file is not compiled");
}

/// The folders of guests that have a manifest or a module in text form.
fn guests() -> Vec<String> {
    let folder = root().join("tests/guests");
    let mut found = Vec::new();
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.join("Cargo.toml").exists() || path.join("module.wat").exists() {
            found.push(path.file_name().unwrap().to_string_lossy().into_owned());
        }
    }
    found.sort();
    found
}

#[test]
fn every_guest_has_a_test_of_its_name() {
    let tests: String = files_below("tests/it", "rs")
        .iter()
        .map(|file| read(file))
        .collect();
    let findings: Vec<String> = guests()
        .into_iter()
        .filter(|guest| !tests.contains(&format!("fn {}_", guest.replace('-', "_"))))
        .collect();
    none(
        &findings,
        "a guest has no test whose name begins with its own",
    );
}

#[test]
fn every_hostile_guest_is_on_the_list_of_attacks() {
    let mut findings = Vec::new();
    for file in files_below("tests/guests/wat", "wat") {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        if !attacks().iter().any(|attack| attack.guest == name) {
            findings.push(format!("`{name}` has no line in tests/guests/attacks.txt"));
        }
        if !read(&file).starts_with(";; Promise: ") {
            findings.push(format!("`{name}` does not begin with its promise"));
        }
    }
    for attack in attacks() {
        let folder = root().join("tests/guests");
        let file = folder.join(format!("wat/{}.wat", attack.guest));
        if !folder.join(attack.guest).exists() && !file.exists() {
            findings.push(format!("there is no guest `{}`", attack.guest));
        }
    }
    none(&findings, "the list of attacks and the guests differ");
}

#[test]
fn links_between_documents_lead_somewhere() {
    let mut findings = Vec::new();
    for file in files_below("", "md") {
        for target in links(&read(&file)) {
            let path = target.split('#').next().unwrap_or_default();
            let outside = target.contains("://") || target.starts_with("mailto:");
            let folder = file.parent().unwrap();
            if !outside && !path.is_empty() && !root().join(folder).join(path).exists() {
                findings.push(format!("{}: `{target}`", file.display()));
            }
        }
    }
    none(&findings, "a link leads nowhere");
}

/// The targets of inline links, code blocks left out.
fn links(text: &str) -> Vec<String> {
    let mut in_code = false;
    let mut found = Vec::new();
    for line in text.lines() {
        in_code ^= line.trim_start().starts_with("```");
        if !in_code {
            let parts = line.split("](").skip(1);
            found.extend(parts.filter_map(|rest| Some(rest.split_once(')')?.0.to_owned())));
        }
    }
    found
}

#[test]
fn links_are_found_outside_code_blocks() {
    let text = "see [a](b.md) and [c](d/e.md#f)\n```\n[x](y)\n```\n[z](https://example.com)";
    assert_eq!(links(text), ["b.md", "d/e.md#f", "https://example.com"]);
}

#[test]
fn no_file_names_the_machine_it_was_written_on() {
    let mut findings = Vec::new();
    for extension in ["rs", "toml", "md", "wit", "json"] {
        for file in files_below("", extension) {
            let text = read(&file);
            let home = ["/home/", "/root/", "/Users/"];
            let named = home.iter().filter(|home| text.contains(*home));
            // This file has to name what it looks for.
            if !file.ends_with("tidy/files.rs") {
                findings.extend(named.map(|home| format!("{}: `{home}`", file.display())));
            }
        }
    }
    none(&findings, "a file holds a path of one machine");
}
