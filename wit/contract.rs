// The contract as text, and its hash. Included by the macro crate and by the loader, so that both
// sides hash the same bytes; nothing else may be added here.

/// The files of the package `openprogram:agentic`, by name, in the order in which they are hashed.
pub(crate) const CONTRACT_FILES: [(&str, &str); 10] = [
    ("types.wit", include_str!("types.wit")),
    ("runtime.wit", include_str!("runtime.wit")),
    ("decision.wit", include_str!("decision.wit")),
    ("functions.wit", include_str!("functions.wit")),
    ("ask.wit", include_str!("ask.wit")),
    ("progress.wit", include_str!("progress.wit")),
    ("metadata.wit", include_str!("metadata.wit")),
    ("model.wit", include_str!("model.wit")),
    ("decider.wit", include_str!("decider.wit")),
    ("world.wit", include_str!("world.wit")),
];

/// The part of WASI that the contract refers to, a package of its own. It is released, so it is not
/// hashed.
pub(crate) const POLL_FILE: &str = include_str!("deps/io/poll.wit");

/// The custom section of a component's core module that holds the contract hash, as lower-case
/// hexadecimal text.
pub(crate) const CONTRACT_SECTION: &str = "openprogram:contract";

/// The SHA-256 of the contract, in hexadecimal. Line ends are hashed as `\n`.
pub(crate) fn contract_hash() -> String {
    use sha2::Digest as _;
    let mut hasher = sha2::Sha256::new();
    for (name, text) in CONTRACT_FILES {
        hasher.update(name.as_bytes());
        hasher.update([0]);
        hasher.update(text.replace("\r\n", "\n").as_bytes());
        hasher.update([0]);
    }
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
