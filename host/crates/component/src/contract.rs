//! The WIT contract this host was built with, and which contract a component was built with.
//!
//! The SDK writes a hash of the contract into a custom section of the core module, where it can be
//! read without compiling or running anything.

use std::sync::OnceLock;

use wasmparser::{Parser, Payload};
use wit_parser::Resolve;

mod text {
    include!("../../../../wit/contract.rs");
}

/// How deep modules and components may be nested. Toolchains nest two or three levels.
const NESTING_MAX: usize = 16;
/// A longer section does not hold a hash.
const HASH_BYTES: usize = 64;

/// The hash of the contract of this host, in hexadecimal. What is built with an SDK for another one
/// is refused by the loader.
#[must_use]
pub fn contract_hash() -> &'static str {
    static HASH: OnceLock<String> = OnceLock::new();
    HASH.get_or_init(text::contract_hash)
}

/// The contract of this host, parsed.
pub(crate) fn resolve() -> &'static Resolve {
    static RESOLVE: OnceLock<Resolve> = OnceLock::new();
    RESOLVE.get_or_init(|| {
        let mut resolve = Resolve::default();
        for (name, text) in [("poll.wit", poll_text()), ("contract.wit", &whole_text())] {
            if let Err(error) = resolve.push_source(name, text) {
                unreachable!("the contract of this host does not parse: {error}");
            }
        }
        resolve
    })
}

/// The part of WASI that the contract refers to.
pub(crate) fn poll_text() -> &'static str {
    text::POLL_FILE
}

/// The contract as one text.
pub(crate) fn whole_text() -> String {
    // The files are one package; the package line of each but the first is dropped, because a
    // single text may have one only.
    let mut whole = String::new();
    for (index, (_, file)) in text::CONTRACT_FILES.iter().enumerate() {
        let lines = file.lines();
        for line in lines.filter(|line| index == 0 || !line.starts_with("package ")) {
            whole.push_str(line);
            whole.push('\n');
        }
    }
    whole
}

/// The contract hash that a component carries; `None` when it carries none or is malformed (which
/// decoding reports).
#[must_use]
pub fn contract_of(bytes: &[u8]) -> Option<String> {
    let mut depth = 0;
    for payload in Parser::new(0).parse_all(bytes) {
        match payload.ok()? {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => {
                depth += 1;
                if depth > NESTING_MAX {
                    return None;
                }
            }
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::CustomSection(section) if section.name() == text::CONTRACT_SECTION => {
                let data = section.data();
                let cut = &data[..data.len().min(HASH_BYTES)];
                return Some(String::from_utf8_lossy(cut).into_owned());
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_contract_parses_and_has_a_hash() {
        let packages = &resolve().packages;
        let names: Vec<_> = packages.iter().map(|(_, p)| p.name.to_string()).collect();
        assert_eq!(names, ["wasi:io@0.2.0", "openprogram:agentic@0.1.0"]);
        assert_eq!(contract_hash().len(), HASH_BYTES);
    }

    #[test]
    fn the_hash_is_found_in_a_nested_module_and_only_there() {
        let with = r#"(component (core module (@custom "openprogram:contract" "abc")))"#;
        let deeper = format!("(component (component {with}))").replace(
            "(component (component (component",
            "(component (component (component",
        );
        for (text, found) in [
            (with, Some("abc")),
            (deeper.as_str(), Some("abc")),
            ("(component (core module))", None),
        ] {
            let bytes = wat::parse_str(text).unwrap();
            assert_eq!(contract_of(&bytes).as_deref(), found, "{text}");
        }
        assert_eq!(contract_of(b"no wasm"), None);
    }
}
