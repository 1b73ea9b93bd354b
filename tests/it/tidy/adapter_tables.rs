//! The allowed arrows between the modules of the smaller adapters.

use super::tables::Arrows;

pub(super) const PROVIDERS: Arrows = Arrows {
    source: "host/crates/providers/src",
    modules: &[
        ("registry", &[]),
        ("setup", &[]),
        ("script", &[]),
        ("dialect", &[]),
        ("history", &[]),
        ("profile", &[]),
        ("sse", &[]),
        ("failure", &[]),
        ("requests", &["profile"]),
        ("checks", &["profile", "failure"]),
        ("thinking", &["profile"]),
        ("transport", &["failure"]),
        ("redact", &[]),
        ("exchange", &["sse", "failure", "redact", "transport"]),
        (
            "anthropic",
            &[
                "history",
                "profile",
                "dialect",
                "sse",
                "failure",
                "checks",
                "thinking",
                "transport",
                "exchange",
            ],
        ),
        (
            "openai",
            &[
                "history",
                "profile",
                "dialect",
                "sse",
                "failure",
                "checks",
                "thinking",
                "transport",
                "exchange",
            ],
        ),
        ("decisions", &["profile", "setup", "failure", "transport"]),
        (
            "server",
            &[
                "profile",
                "setup",
                "checks",
                "thinking",
                "transport",
                "exchange",
                "anthropic",
                "openai",
            ],
        ),
        (
            "shown",
            &["profile", "failure", "anthropic", "openai", "server"],
        ),
        ("replay", &["profile", "requests", "transport", "server"]),
        (
            "known",
            &[
                "registry",
                "profile",
                "setup",
                "transport",
                "anthropic",
                "openai",
                "decisions",
                "server",
            ],
        ),
        (
            "replay_media",
            &["profile", "requests", "transport", "server", "replay"],
        ),
        ("replay_key", &["replay"]),
        (
            "replay_decisions",
            &["profile", "transport", "decisions", "replay"],
        ),
    ],
};

pub(super) const STORE: Arrows = Arrows {
    source: "host/crates/store/src",
    modules: &[
        ("error", &[]),
        ("migrate", &["error"]),
        ("texts", &["error"]),
        ("row", &["error", "texts"]),
        ("branch", &["error", "row"]),
        ("open", &["error", "migrate"]),
        ("statement", &["branch", "error", "row", "texts"]),
        ("archive", &["branch", "error", "row", "statement", "texts"]),
        ("sqlite", &["archive", "error", "open", "statement"]),
    ],
};
