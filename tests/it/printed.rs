//! What a component says of itself: its WIT holds the author's names and our package, nothing else.

use openprogram_tests::guests;
use wit_component::{DecodedWasm, OutputToString, WitPrinter};

/// The WIT of a component as `wasm-tools component wit` prints it.
fn printed(component: &[u8]) -> String {
    let decoded = wit_component::decode(component).unwrap();
    let DecodedWasm::Component(resolve, _) = &decoded else {
        panic!("a component");
    };
    let main = decoded.package();
    let packages = resolve.packages.iter().map(|(id, _)| id);
    let nested: Vec<_> = packages.filter(|id| *id != main).collect();
    let mut printer = WitPrinter::new(OutputToString::default());
    printer.print(resolve, main, &nested).unwrap();
    printer.output.to_string()
}

/// The lines of the world that import or export.
fn boundary(wit: &str) -> Vec<&str> {
    let lines = wit.lines().map(str::trim);
    lines
        .filter(|line| line.starts_with("import ") || line.starts_with("export "))
        .collect()
}

/// The packages whose contents are printed.
fn packages(wit: &str) -> Vec<&str> {
    let lines = wit
        .lines()
        .filter(|line| line.starts_with("package ") && line.ends_with('{'));
    lines
        .map(|line| line.trim_start_matches("package ").trim_end_matches(" {"))
        .collect()
}

/// Everything but WASI, whose interfaces are the world's own and change with the compiler.
fn without_wasi(wit: &str) -> String {
    let mut shown = String::new();
    let mut inside = false;
    for line in wit.lines() {
        inside |= line.starts_with("package wasi:");
        if !inside && !line.contains("import wasi:") {
            shown.push_str(line);
            shown.push('\n');
        }
        inside &= line != "}";
    }
    shown
}

fn check(name: &str, author: &str) {
    let wit = printed(&guests::bytes(name));
    let ours = ["openprogram:agentic@0.1.0", author];
    for package in packages(&wit) {
        assert!(
            ours.contains(&package) || package.starts_with("wasi:"),
            "{name}: `{package}`"
        );
    }
    let line_is_ours = |line: &&str| {
        let (_, name) = line.split_once(' ').unwrap();
        let allowed = ["openprogram:agentic/", "wasi:"];
        let author = author.split('@').next().unwrap();
        allowed.iter().any(|start| name.starts_with(start)) || name.starts_with(author)
    };
    for line in boundary(&wit) {
        assert!(line_is_ours(&line), "{name}: `{line}`");
    }
    insta::assert_snapshot!(name, without_wasi(&wit));
}

#[test]
fn the_wit_of_a_component_holds_the_names_of_its_author_and_our_package() {
    check("support", "component:support@0.1.0");
    check("every-type", "test:every-type@0.1.0");
}

#[test]
fn sockets_and_http_are_not_among_what_the_samples_import() {
    for name in ["support", "lexical-model", "every-type", "chooser"] {
        let wit = printed(&guests::bytes(name));
        for line in boundary(&wit) {
            let network = line.contains("wasi:sockets") || line.contains("wasi:http");
            assert!(!network, "{name}: `{line}`");
        }
    }
}
