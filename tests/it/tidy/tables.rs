//! The allowed arrows between the modules of each crate. A table lists modules lowest first, each with
//! what it may use; a module uses only lines above its own, so that no table can hold a loop.

use super::adapter_tables::{PROVIDERS, STORE};
use super::component_table::COMPONENT;
use super::runtime_table::RUNTIME;

/// A crate: its folder, and its modules lowest first. The root may use everything.
pub(super) struct Arrows {
    pub(super) source: &'static str,
    pub(super) modules: &'static [(&'static str, &'static [&'static str])],
}

const CORE: Arrows = Arrows {
    source: "host/crates/core/src",
    modules: &[
        ("text", &[]),
        ("failure", &[]),
        ("content", &["failure"]),
        ("grant", &["text"]),
        ("id", &[]),
        ("schema", &["text"]),
        ("secret", &[]),
        ("structured", &["failure"]),
        ("totals", &[]),
        ("gating", &["text", "schema"]),
        ("function", &["schema", "gating"]),
        ("catalog", &["function", "schema"]),
        ("tool", &["function", "schema"]),
        ("tool_schema", &["function", "schema"]),
        ("lint", &["function", "schema"]),
        ("host_tool", &["failure", "tool"]),
        ("tool_filter", &["schema", "function", "catalog"]),
        ("tool_search", &["text", "function", "tool"]),
        ("skill", &["text", "tool"]),
        ("session", &["id", "content", "failure", "function"]),
        (
            "context",
            &[
                "text", "session", "function", "content", "failure", "id", "schema",
            ],
        ),
        (
            "decision",
            &["text", "failure", "catalog", "function", "schema"],
        ),
        ("form", &["catalog", "decision", "function", "schema"]),
        (
            "llm",
            &[
                "content",
                "failure",
                "id",
                "schema",
                "session",
                "structured",
                "tool",
                "totals",
            ],
        ),
        (
            "question",
            &["text", "decision", "failure", "grant", "id", "schema"],
        ),
        (
            "guest",
            &[
                "text",
                "content",
                "failure",
                "function",
                "gating",
                "grant",
                "id",
                "schema",
                "tool",
                "totals",
                "host_tool",
                "tool_filter",
                "session",
                "llm",
                "decision",
                "question",
            ],
        ),
    ],
};

const HOST: Arrows = Arrows {
    source: "host/src",
    modules: &[
        ("input", &[]),
        ("sdk", &[]),
        ("signature", &[]),
        ("fetch", &["input"]),
        ("settings", &["input", "signature", "fetch"]),
        ("telemetry", &["settings"]),
        ("source", &["sdk", "input"]),
        ("state", &[]),
        ("skills", &["input", "settings"]),
        ("scaffold", &["sdk", "settings", "source"]),
        (
            "install",
            &["input", "signature", "fetch", "settings", "state"],
        ),
        (
            "app",
            &[
                "input",
                "skills",
                "signature",
                "fetch",
                "settings",
                "source",
                "state",
                "install",
            ],
        ),
        (
            "checks",
            &["sdk", "settings", "source", "state", "install", "app"],
        ),
        (
            "commands",
            &[
                "input", "sdk", "scaffold", "settings", "source", "state", "install", "app",
                "checks",
            ],
        ),
    ],
};

/// Every crate that has a table.
pub(super) const CRATES: [&Arrows; 6] = [&CORE, &RUNTIME, &COMPONENT, &PROVIDERS, &STORE, &HOST];
