//! Reads the module arrows out of Rust sources: every `crate::…` and `super::…` path, tests left out.
//!
//! Works on tokens, so comments and strings never count. Macros of other crates are not expanded.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Modules at the top of a crate that one file uses.
pub(super) type Uses = BTreeSet<String>;

/// Where the names stand that a crate root re-exports: name to module.
pub(super) type Reexports = BTreeMap<String, String>;

/// The module path of a file below `src`: `decision/menu.rs` is `[decision, menu]`.
pub(super) fn module_path(file: &Path) -> Vec<String> {
    let mut path: Vec<String> = file
        .with_extension("")
        .components()
        .map(|part| part.as_os_str().to_string_lossy().into_owned())
        .collect();
    if path
        .last()
        .is_some_and(|last| last == "mod" || last == "lib" || last == "main")
    {
        path.pop();
    }
    path
}

/// The top-level modules of its crate that the source of module `here` uses, itself left out.
pub(super) fn uses(source: &str, here: &[String], root: &Reexports) -> Uses {
    let mut found = Vec::new();
    walk(&tokens(source), here.len(), &mut found);
    let mut uses = Uses::new();
    for path in found {
        // `up` counts from the file's own module; only what ends in the root names an arrow.
        if let Some(first) = path.first().filter(|name| Some(*name) != here.first()) {
            uses.insert(root.get(first).unwrap_or(first).clone());
        }
    }
    uses
}

/// What the crate root re-exports with `pub use module::Name`.
pub(super) fn reexports(source: &str) -> Reexports {
    let trees = without_tests(tokens(source));
    let mut found = Reexports::new();
    for (at, tree) in trees.iter().enumerate() {
        if is_word(tree, "use") {
            let mut paths = Vec::new();
            use_tree(&trees[at + 1..], &mut Vec::new(), &mut paths);
            for path in paths.into_iter().filter(|path| path.len() > 1) {
                let module = path.iter().find(|part| *part != "self" && *part != "crate");
                found.insert(path[path.len() - 1].clone(), module.unwrap().clone());
            }
        }
    }
    found
}

fn tokens(source: &str) -> Vec<TokenTree> {
    let stream: TokenStream = source.parse().unwrap();
    stream.into_iter().collect()
}

/// Drops every item that stands under `#[cfg(test)]`.
fn without_tests(trees: Vec<TokenTree>) -> Vec<TokenTree> {
    let mut kept = Vec::new();
    let mut trees = trees.into_iter().peekable();
    while let Some(tree) = trees.next() {
        let attribute = matches!(&tree, TokenTree::Punct(p) if p.as_char() == '#')
            && trees.peek().is_some_and(is_cfg_test);
        if !attribute {
            kept.push(tree);
            continue;
        }
        for skipped in trees.by_ref() {
            let block =
                matches!(&skipped, TokenTree::Group(g) if g.delimiter() == Delimiter::Brace);
            let end = matches!(&skipped, TokenTree::Punct(p) if p.as_char() == ';');
            if block || end {
                break;
            }
        }
    }
    kept
}

fn is_cfg_test(tree: &TokenTree) -> bool {
    let TokenTree::Group(group) = tree else {
        return false;
    };
    let text: String = group.stream().to_string().split_whitespace().collect();
    text.starts_with("cfg(test)") || text.starts_with("cfg(any(test,")
}

fn is_word(tree: &TokenTree, word: &str) -> bool {
    matches!(tree, TokenTree::Ident(ident) if ident == word)
}

/// Collects the paths that begin at the crate root, each without its leading `crate` or `super`s.
fn walk(trees: &[TokenTree], depth: usize, found: &mut Vec<Vec<String>>) {
    let trees = without_tests(trees.to_vec());
    let mut at = 0;
    let mut inner = depth;
    while at < trees.len() {
        if is_word(&trees[at], "mod") {
            // A module in the file: one more `super` leads to the same place.
            inner = depth + 1;
        }
        if let TokenTree::Group(group) = &trees[at] {
            let stream: Vec<TokenTree> = group.stream().into_iter().collect();
            walk(&stream, inner, found);
            inner = depth;
        } else if is_word(&trees[at], "crate") && is_path(&trees, at + 1) {
            use_tree(&trees[at + 3..], &mut Vec::new(), found);
        } else if is_word(&trees[at], "super") && is_path(&trees, at + 1) {
            let mut up = 1;
            at += 3;
            while at < trees.len() && is_word(&trees[at], "super") && is_path(&trees, at + 1) {
                up += 1;
                at += 3;
            }
            if up >= depth {
                use_tree(&trees[at.min(trees.len())..], &mut Vec::new(), found);
            }
            continue;
        }
        at += 1;
    }
}

fn is_path(trees: &[TokenTree], at: usize) -> bool {
    let colon =
        |tree: Option<&TokenTree>| matches!(tree, Some(TokenTree::Punct(p)) if p.as_char() == ':');
    colon(trees.get(at)) && colon(trees.get(at + 1))
}

/// Reads one use tree: `a::b`, `a::{b, c::d}`, `a::b as c`.
fn use_tree(trees: &[TokenTree], prefix: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    match trees.first() {
        Some(TokenTree::Ident(ident)) => {
            prefix.push(ident.to_string());
            if is_path(trees, 1) {
                use_tree(&trees[3..], prefix, found);
            } else {
                found.push(prefix.clone());
            }
            prefix.pop();
        }
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
            let inside: Vec<TokenTree> = group.stream().into_iter().collect();
            let comma = |t: &TokenTree| matches!(t, TokenTree::Punct(p) if p.as_char() == ',');
            for branch in inside.split(comma).filter(|branch| !branch.is_empty()) {
                use_tree(branch, prefix, found);
            }
        }
        _ if !prefix.is_empty() => found.push(prefix.clone()),
        _ => {}
    }
}

fn check(source: &str, here: &[&str], expected: &[&str]) {
    let here: Vec<String> = here.iter().map(|part| (*part).to_owned()).collect();
    let root = reexports("pub use session::{Store, node::Node}; pub mod session;");
    let found: Vec<String> = uses(source, &here, &root).into_iter().collect();
    assert_eq!(found, expected, "{source}");
}

#[test]
fn arrows_are_read_from_paths_and_groups_but_not_from_tests_or_text() {
    check(
        "use crate::a::b; use crate::{c, d::{e, f}};",
        &["x"],
        &["a", "c", "d"],
    );
    check("fn f() { crate::a::g() } // crate::b", &["x"], &["a"]);
    check(
        "use super::a::B; mod inner { use super::super::b; use super::c; }",
        &["x"],
        &["a", "b"],
    );
    check("use super::node; use super::super::a;", &["x", "y"], &["a"]);
    check("use crate::{Store, Node, x::Own};", &["x"], &["session"]);
    check(
        "#[cfg(test)] mod tests { use crate::a; } use crate::b;",
        &["x"],
        &["b"],
    );
    check(
        "#[cfg(any(test, feature = \"testing\"))] pub mod c { use crate::a; }",
        &["x"],
        &[],
    );
    check(
        "#[doc = \"crate::a\"] const A: &str = \"super::b\";",
        &["x"],
        &[],
    );
}
