//! Arrows between the modules of each crate.
//!
//! The tables stand in `tables`; here they are held against the sources.

use std::collections::BTreeMap;
use std::path::Path;

use super::files::is_test_module;
use super::scan::{module_path, reexports, uses};
use super::tables::{Arrows, CRATES};
use super::{files_below, none, read};

/// The arrows found in one crate: module, what it uses, and a file that does.
fn found(arrows: &Arrows) -> BTreeMap<(String, String), String> {
    let source = Path::new(arrows.source);
    let root = reexports(&read(&source.join("lib.rs")));
    let mut found = BTreeMap::new();
    let files = files_below(arrows.source, "rs").into_iter();
    for file in files.filter(|file| !is_test_module(file)) {
        let here = module_path(file.strip_prefix(source).unwrap());
        let Some(module) = here.first() else {
            continue;
        };
        for used in uses(&read(&file), &here, &root) {
            let place = file.to_string_lossy().into_owned();
            found.insert((module.clone(), used), place);
        }
    }
    found
}

/// Whether a name is a module of the crate and not an item of its root.
fn is_module(arrows: &Arrows, name: &str) -> bool {
    let source = Path::new(arrows.source);
    let there = |path: String| super::root().join(source).join(path).exists();
    there(format!("{name}.rs")) || there(format!("{name}/mod.rs"))
}

#[test]
fn modules_use_only_what_the_tables_allow() {
    let mut findings = Vec::new();
    for arrows in CRATES {
        for ((module, used), place) in found(arrows) {
            let line = arrows.modules.iter().find(|(name, _)| *name == module);
            let allowed = line.is_some_and(|(_, allowed)| allowed.contains(&used.as_str()));
            if is_module(arrows, &used) && !allowed {
                findings.push(format!("{place}: `{module}` may not use `{used}`"));
            }
        }
    }
    none(&findings, "a module is used against the arrows");
}

#[test]
fn every_module_is_in_its_table() {
    let mut findings = Vec::new();
    for arrows in CRATES {
        let source = Path::new(arrows.source);
        let files = files_below(arrows.source, "rs").into_iter();
        for file in files.filter(|file| !is_test_module(file)) {
            let here = module_path(file.strip_prefix(source).unwrap());
            let Some(module) = here.first() else {
                continue;
            };
            if !arrows.modules.iter().any(|(name, _)| name == module) {
                findings.push(format!("{}: `{module}`", file.display()));
            }
        }
        for (name, _) in arrows.modules {
            if !is_module(arrows, name) {
                findings.push(format!("{}: there is no module `{name}`", arrows.source));
            }
        }
    }
    none(
        &findings,
        "the tables and the sources list different modules",
    );
}

#[test]
fn the_tables_hold_no_loop() {
    let mut findings = Vec::new();
    for arrows in CRATES {
        for (at, (name, allowed)) in arrows.modules.iter().enumerate() {
            for used in *allowed {
                let above = arrows.modules[..at].iter().any(|(above, _)| above == used);
                if !above {
                    findings.push(format!("{}: `{name}` uses `{used}`", arrows.source));
                }
            }
        }
    }
    none(
        &findings,
        "a line of a table uses a line that is not above it",
    );
}
