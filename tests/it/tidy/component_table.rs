//! The allowed arrows between the modules of the crate that runs components.

use super::tables::Arrows;

pub(super) const COMPONENT: Arrows = Arrows {
    source: "host/crates/component/src",
    modules: &[
        ("async_parts", &[]),
        ("async_types", &[]),
        ("cache", &[]),
        ("contract", &[]),
        ("facts", &[]),
        ("docs", &["facts"]),
        ("limits", &[]),
        ("ticker", &[]),
        ("convert", &["limits"]),
        ("decode_types", &["docs", "facts"]),
        ("error", &["cache"]),
        ("handles", &["limits"]),
        ("log", &["limits"]),
        ("types", &["facts"]),
        ("assemble", &["facts", "error", "types"]),
        ("bindings", &["handles"]),
        ("contract_types", &["contract", "decode_types", "error"]),
        (
            "decode",
            &[
                "async_types",
                "docs",
                "facts",
                "decode_types",
                "contract_types",
                "error",
            ],
        ),
        ("source", &["error"]),
        ("cpu", &["limits"]),
        ("state", &["cpu", "limits", "log"]),
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
            &[
                "cache", "facts", "error", "bindings", "source", "state", "engine",
            ],
        ),
        ("bytes_call", &["convert", "state", "instance", "prepare"]),
        ("code", &["facts", "error", "source", "engine", "prepare"]),
        (
            "sandbox",
            &[
                "facts", "limits", "error", "bindings", "engine", "instance", "code",
            ],
        ),
        ("structure", &["async_parts", "error"]),
        (
            "loader",
            &[
                "structure",
                "contract",
                "facts",
                "error",
                "assemble",
                "decode",
                "source",
                "linking",
                "engine",
                "code",
                "sandbox",
            ],
        ),
        (
            "guest",
            &["limits", "state", "engine", "instance", "prepare", "loader"],
        ),
        ("decider", &["handles", "imports", "instance", "guest"]),
        ("prompt", &["convert", "handles"]),
        (
            "model",
            &["handles", "imports", "instance", "guest", "prompt"],
        ),
        (
            "provider",
            &[
                "limits", "error", "engine", "loader", "guest", "decider", "model",
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
