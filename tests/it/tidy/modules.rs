//! Arrows between the modules of each crate.
//!
//! A table lists modules lowest first, each with what it may use; a module uses only lines above
//! its own, so that no table can hold a loop.

use std::collections::BTreeMap;
use std::path::Path;

use super::files::is_test_module;
use super::scan::{module_path, reexports, uses};
use super::{files_below, none, read};

/// A crate: its folder, and its modules lowest first. The root may use everything.
struct Arrows {
    source: &'static str,
    modules: &'static [(&'static str, &'static [&'static str])],
}

const CORE: Arrows = Arrows {
    source: "host/crates/core/src",
    modules: &[
        ("content", &[]),
        ("failure", &[]),
        ("id", &[]),
        ("schema", &[]),
        ("function", &["schema"]),
        ("catalog", &["function", "schema"]),
        ("tool", &["function", "schema"]),
        ("session", &["id", "content", "failure", "function"]),
        (
            "context",
            &["session", "function", "content", "failure", "id", "schema"],
        ),
        ("decision", &["failure", "catalog", "function", "schema"]),
        ("llm", &["content", "failure", "id", "session", "tool"]),
        (
            "guest",
            &[
                "content", "failure", "function", "tool", "session", "llm", "decision",
            ],
        ),
    ],
};

const RUNTIME: Arrows = Arrows {
    source: "host/crates/runtime/src",
    modules: &[
        ("arguments", &[]),
        ("events", &[]),
        ("limits", &[]),
        ("policy", &[]),
        ("sources", &[]),
        ("frame", &["events", "limits"]),
        ("recorder", &["sources"]),
        ("request", &["events"]),
        ("testing", &["sources"]),
        (
            "ports",
            &["limits", "policy", "sources", "frame", "recorder"],
        ),
        ("call", &["arguments", "events", "frame", "ports"]),
        ("deadline", &["sources", "ports"]),
        ("open_turn", &["events", "frame", "recorder", "ports"]),
        (
            "attempt",
            &["events", "frame", "recorder", "ports", "deadline"],
        ),
        ("tools", &["frame", "ports", "call"]),
        (
            "complete",
            &[
                "frame",
                "recorder",
                "ports",
                "deadline",
                "open_turn",
                "attempt",
            ],
        ),
        (
            "tool_call",
            &["arguments", "frame", "ports", "call", "tools"],
        ),
        ("ending", &["limits", "tool_call"]),
        (
            "ask",
            &[
                "events",
                "frame",
                "ports",
                "deadline",
                "open_turn",
                "complete",
            ],
        ),
        ("turn", &["limits", "frame", "ports", "tools", "complete"]),
        (
            "decide",
            &[
                "arguments",
                "limits",
                "frame",
                "request",
                "ports",
                "call",
                "complete",
                "ask",
            ],
        ),
        (
            "exec",
            &[
                "events",
                "frame",
                "ports",
                "deadline",
                "open_turn",
                "tools",
                "complete",
                "tool_call",
                "ending",
                "turn",
            ],
        ),
        (
            "closing",
            &[
                "events", "frame", "ports", "deadline", "complete", "ask", "turn", "decide", "exec",
            ],
        ),
        (
            "services",
            &[
                "limits", "frame", "ports", "call", "complete", "decide", "exec", "closing",
            ],
        ),
        (
            "top",
            &[
                "arguments",
                "frame",
                "request",
                "ports",
                "call",
                "deadline",
                "turn",
                "decide",
                "exec",
                "closing",
            ],
        ),
    ],
};

const COMPONENT: Arrows = Arrows {
    source: "host/crates/component/src",
    modules: &[
        ("cache", &[]),
        ("contract", &[]),
        ("facts", &[]),
        ("limits", &[]),
        ("ticker", &[]),
        ("convert", &["limits"]),
        ("decode_types", &["facts"]),
        ("error", &["cache"]),
        ("handles", &["limits"]),
        ("log", &["limits"]),
        ("types", &["facts"]),
        ("assemble", &["facts", "error", "types"]),
        ("bindings", &["handles"]),
        ("decode", &["facts", "decode_types", "error"]),
        ("source", &["error"]),
        ("state", &["limits", "log"]),
        ("imports", &["convert", "handles", "bindings", "state"]),
        (
            "linking",
            &["contract", "facts", "error", "bindings", "state"],
        ),
        ("trap", &["limits", "state"]),
        (
            "engine",
            &["cache", "limits", "ticker", "error", "state", "linking"],
        ),
        ("instance", &["limits", "state", "trap", "engine"]),
        (
            "prepare",
            &["facts", "error", "bindings", "source", "state", "engine"],
        ),
        ("bytes_call", &["convert", "state", "instance", "prepare"]),
        ("code", &["facts", "error", "source", "engine", "prepare"]),
        (
            "sandbox",
            &[
                "facts", "limits", "error", "bindings", "engine", "instance", "code",
            ],
        ),
        (
            "loader",
            &[
                "contract", "facts", "error", "assemble", "decode", "source", "linking", "engine",
                "code", "sandbox",
            ],
        ),
        (
            "decider",
            &[
                "limits", "error", "handles", "imports", "engine", "instance", "loader",
            ],
        ),
        ("prompt", &["convert", "handles"]),
        (
            "model",
            &[
                "limits", "error", "handles", "imports", "engine", "instance", "loader", "decider",
                "prompt",
            ],
        ),
        (
            "host",
            &[
                "limits",
                "convert",
                "handles",
                "state",
                "engine",
                "instance",
                "prepare",
                "bytes_call",
                "loader",
            ],
        ),
    ],
};

const PROVIDERS: Arrows = Arrows {
    source: "host/crates/providers/src",
    modules: &[
        ("registry", &[]),
        ("script", &[]),
        ("history", &[]),
        ("profile", &[]),
        ("secret", &[]),
        ("sse", &[]),
        ("failure", &["secret"]),
        ("requests", &["profile"]),
        ("checks", &["profile", "failure"]),
        ("transport", &["secret", "failure"]),
        ("exchange", &["sse", "failure", "transport"]),
        (
            "anthropic",
            &[
                "history",
                "profile",
                "secret",
                "sse",
                "failure",
                "checks",
                "transport",
                "exchange",
            ],
        ),
        (
            "openai",
            &[
                "history",
                "profile",
                "secret",
                "sse",
                "failure",
                "checks",
                "transport",
                "exchange",
            ],
        ),
        (
            "replay",
            &[
                "profile",
                "secret",
                "requests",
                "transport",
                "anthropic",
                "openai",
            ],
        ),
    ],
};

const STORE: Arrows = Arrows {
    source: "host/crates/store/src",
    modules: &[
        ("error", &[]),
        ("migrate", &["error"]),
        ("row", &["error"]),
        ("open", &["error", "migrate"]),
        ("statement", &["error", "row"]),
        ("sqlite", &["error", "open", "statement"]),
    ],
};

const HOST: Arrows = Arrows {
    source: "host/src",
    modules: &[
        ("input", &[]),
        ("settings", &[]),
        ("source", &[]),
        ("state", &[]),
        ("text", &[]),
        ("app", &["input", "settings", "source", "state"]),
        (
            "commands",
            &["input", "settings", "source", "state", "text", "app"],
        ),
    ],
};

const CRATES: [&Arrows; 6] = [&CORE, &RUNTIME, &COMPONENT, &PROVIDERS, &STORE, &HOST];

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
