//! The allowed arrows between the modules of each crate.
//!
//! A table lists modules lowest first, each with what it may use; a module uses only lines above
//! its own, so that no table can hold a loop.

use super::adapter_tables::{PROVIDERS, STORE};
use super::component_table::COMPONENT;

/// A crate: its folder, and its modules lowest first. The root may use everything.
pub(super) struct Arrows {
    pub(super) source: &'static str,
    pub(super) modules: &'static [(&'static str, &'static [&'static str])],
}

const CORE: Arrows = Arrows {
    source: "host/crates/core/src",
    modules: &[
        ("text", &[]),
        ("content", &[]),
        ("failure", &[]),
        ("grant", &[]),
        ("id", &[]),
        ("schema", &["text"]),
        ("secret", &[]),
        ("structured", &["failure"]),
        ("function", &["schema"]),
        ("catalog", &["function", "schema"]),
        ("tool", &["function", "schema"]),
        ("host_tool", &["failure", "tool"]),
        ("tool_filter", &["schema", "function", "catalog"]),
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
            ],
        ),
        (
            "question",
            &["text", "decision", "failure", "grant", "id", "schema"],
        ),
        (
            "guest",
            &[
                "content",
                "failure",
                "function",
                "grant",
                "id",
                "tool",
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

const RUNTIME: Arrows = Arrows {
    source: "host/crates/runtime/src",
    modules: &[
        ("accesses", &[]),
        ("arguments", &[]),
        ("events", &[]),
        ("joined", &[]),
        ("limits", &[]),
        ("own_tool", &[]),
        ("policy", &[]),
        ("sources", &[]),
        ("admission", &["limits", "sources"]),
        ("budget", &[]),
        ("opened", &["budget"]),
        (
            "frame",
            &[
                "accesses",
                "admission",
                "budget",
                "events",
                "limits",
                "opened",
            ],
        ),
        ("recorder", &["sources"]),
        ("request", &["events"]),
        (
            "ports",
            &[
                "admission",
                "events",
                "limits",
                "policy",
                "sources",
                "frame",
                "recorder",
            ],
        ),
        ("testing", &["sources", "ports"]),
        ("deadline", &["sources", "ports"]),
        (
            "approval",
            &["accesses", "frame", "ports", "recorder", "deadline"],
        ),
        (
            "asking",
            &["accesses", "frame", "ports", "recorder", "deadline"],
        ),
        (
            "call",
            &[
                "approval",
                "arguments",
                "events",
                "frame",
                "ports",
                "recorder",
            ],
        ),
        ("open_runtime", &["budget", "opened", "frame", "ports"]),
        ("open_turn", &["events", "frame", "recorder", "ports"]),
        (
            "attempt",
            &[
                "admission",
                "events",
                "frame",
                "recorder",
                "ports",
                "deadline",
            ],
        ),
        ("structured", &["open_turn"]),
        ("tools", &["own_tool", "frame", "ports", "call"]),
        (
            "complete",
            &[
                "budget",
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
            &["arguments", "own_tool", "frame", "ports", "call", "tools"],
        ),
        ("ending", &["limits", "tool_call"]),
        ("open_pick", &["events", "frame", "open_turn"]),
        ("single", &["frame", "ports", "open_pick"]),
        ("weigh", &["complete", "open_pick"]),
        ("write", &["events", "open_turn", "complete", "open_pick"]),
        ("ladder", &["complete", "open_pick", "weigh", "write"]),
        ("vote", &["complete", "open_pick", "ladder"]),
        ("stages", &["complete", "open_pick", "vote"]),
        (
            "ask",
            &[
                "events",
                "frame",
                "ports",
                "deadline",
                "complete",
                "open_pick",
                "single",
                "write",
                "ladder",
                "stages",
            ],
        ),
        (
            "turn",
            &[
                "limits",
                "frame",
                "ports",
                "tools",
                "complete",
                "structured",
            ],
        ),
        ("menu", &["frame", "ports", "call"]),
        (
            "resolve",
            &["arguments", "frame", "ports", "call", "open_pick", "menu"],
        ),
        (
            "decide",
            &[
                "arguments",
                "limits",
                "frame",
                "request",
                "ports",
                "complete",
                "open_pick",
                "ask",
                "menu",
                "resolve",
            ],
        ),
        (
            "parse",
            &[
                "frame",
                "request",
                "ports",
                "complete",
                "open_pick",
                "ask",
                "menu",
                "decide",
            ],
        ),
        (
            "exec",
            &[
                "events",
                "joined",
                "frame",
                "ports",
                "deadline",
                "open_turn",
                "tools",
                "complete",
                "tool_call",
                "ending",
                "turn",
                "structured",
            ],
        ),
        (
            "closing",
            &[
                "events",
                "frame",
                "ports",
                "deadline",
                "complete",
                "open_pick",
                "write",
                "ladder",
                "ask",
                "turn",
                "resolve",
                "decide",
                "exec",
            ],
        ),
        (
            "services",
            &[
                "approval",
                "asking",
                "limits",
                "frame",
                "ports",
                "call",
                "open_runtime",
                "complete",
                "menu",
                "resolve",
                "decide",
                "parse",
                "exec",
                "closing",
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
                "open_pick",
                "turn",
                "ask",
                "decide",
                "parse",
                "exec",
                "closing",
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
        ("source", &["sdk"]),
        ("state", &[]),
        ("scaffold", &["sdk", "settings", "source"]),
        (
            "install",
            &["input", "signature", "fetch", "settings", "state"],
        ),
        (
            "app",
            &[
                "input",
                "signature",
                "fetch",
                "settings",
                "source",
                "state",
                "install",
            ],
        ),
        ("checks", &["settings", "source", "state", "install", "app"]),
        (
            "commands",
            &[
                "input", "scaffold", "settings", "source", "state", "install", "app", "checks",
            ],
        ),
    ],
};

/// Every crate that has a table.
pub(super) const CRATES: [&Arrows; 6] = [&CORE, &RUNTIME, &COMPONENT, &PROVIDERS, &STORE, &HOST];
