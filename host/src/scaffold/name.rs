//! What a project may be called: its name is that of a component, of a package and of a crate.

use std::path::Path;

use super::Language;
use crate::sdk;
use crate::settings::check_component_name;
use crate::source::{WIT_KEYWORDS, name_of};

/// Words that Rust keeps for itself, those that it may use one day included. A crate of such a name
/// cannot be written in a path.
const KEYWORDS: [&str; 51] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate",
    "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl",
    "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref",
    "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Crates that come with Rust: a package of such a name is refused by cargo or hides them.
const OF_RUST: [&str; 5] = ["alloc", "core", "proc-macro", "std", "test"];

/// Names of devices, which no folder on Windows can have.
const DEVICES: [&str; 4] = ["aux", "con", "nul", "prn"];

/// Checks the name of a new project.
///
/// # Errors
/// A sentence that says what is wrong and what would be right.
pub(super) fn check(name: &str, lang: Language) -> Result<(), String> {
    check_component_name(name)
        .map_err(|rule| format!("{rule}; write for example `{}`", suggested(name)))?;
    let is_rust = lang == Language::Rust;
    let taken = if is_rust && (KEYWORDS.contains(&name) || OF_RUST.contains(&name)) {
        "Rust uses this word itself"
    } else if !is_rust && WIT_KEYWORDS.contains(&name) {
        // The package of a project is named like the project.
        "WIT uses this word itself"
    } else if DEVICES.contains(&name) {
        "Windows uses this name for a device"
    } else if is_rust && sdk::package_names().contains(name) {
        "the SDK uses a package of this name"
    } else {
        return Ok(());
    };
    Err(format!("{taken}; write for example `my-{name}`"))
}

/// A name that is allowed and sounds like this one: letters lose their accents, and digits at the
/// beginning go to the end.
fn suggested(name: &str) -> String {
    let plain: String = name.chars().flat_map(without_accent).collect();
    let digits = plain.len() - plain.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (digits, rest) = plain.split_at(digits);
    let has_letter = rest.contains(|c: char| c.is_ascii_alphabetic());
    match has_letter && digits.len() < 10 {
        true => name_of(Path::new(&format!("{rest}{digits}"))),
        false => name_of(Path::new(&plain)),
    }
}

/// The letters of ASCII that stand for a Latin letter; anything else is itself.
fn without_accent(c: char) -> impl Iterator<Item = char> {
    let plain = match c {
        'À'..='Å' | 'à'..='å' => "a",
        'Æ' | 'æ' => "ae",
        'Ç' | 'ç' => "c",
        'È'..='Ë' | 'è'..='ë' => "e",
        'Ì'..='Ï' | 'ì'..='ï' => "i",
        'Ñ' | 'ñ' => "n",
        'Ò'..='Ö' | 'Ø' | 'ò'..='ö' | 'ø' => "o",
        'Ù'..='Ü' | 'ù'..='ü' => "u",
        'Ý' | 'ý' | 'ÿ' => "y",
        'ß' => "ss",
        'Œ' | 'œ' => "oe",
        _ => "",
    };
    let own = plain.is_empty().then_some(c);
    plain.chars().chain(own)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check_all(names: &[&str], expected: Expect) {
        let lines = names.iter().map(|name| match check(name, Language::Rust) {
            Ok(()) => format!("{name}: fine\n"),
            Err(reason) => format!("{name}: {reason}\n"),
        });
        expected.assert_eq(&lines.collect::<String>());
    }

    #[test]
    fn a_name_must_do_for_a_component_a_package_and_a_folder() {
        check_all(
            &["desk", "my-tool2", "x"],
            expect![[r#"
            desk: fine
            my-tool2: fine
            x: fine
        "#]],
        );
        check_all(
            &[
                "My Tool", "my_tool", "2fast", "9 lives!", "Über", "Straße", "日本", "-x", "42", "",
            ],
            expect![[r#"
                My Tool: the name of a component is words of lower-case letters and digits joined by `-`, each beginning with a letter, at most 64 bytes in all; write for example `my-tool`
                my_tool: the name of a component is words of lower-case letters and digits joined by `-`, each beginning with a letter, at most 64 bytes in all; write for example `my-tool`
                2fast: the name of a component is words of lower-case letters and digits joined by `-`, each beginning with a letter, at most 64 bytes in all; write for example `fast2`
                9 lives!: the name of a component is words of lower-case letters and digits joined by `-`, each beginning with a letter, at most 64 bytes in all; write for example `lives9`
                Über: the name of a component is words of lower-case letters and digits joined by `-`, each beginning with a letter, at most 64 bytes in all; write for example `uber`
                Straße: the name of a component is words of lower-case letters and digits joined by `-`, each beginning with a letter, at most 64 bytes in all; write for example `strasse`
                日本: the name of a component is words of lower-case letters and digits joined by `-`, each beginning with a letter, at most 64 bytes in all; write for example `component`
                -x: the name of a component is words of lower-case letters and digits joined by `-`, each beginning with a letter, at most 64 bytes in all; write for example `x`
                42: the name of a component is words of lower-case letters and digits joined by `-`, each beginning with a letter, at most 64 bytes in all; write for example `component`
                : the name of a component is words of lower-case letters and digits joined by `-`, each beginning with a letter, at most 64 bytes in all; write for example `component`
            "#]],
        );
        check_all(
            &["type", "std", "con", "serde", "openprogram-guest"],
            expect![[r#"
                type: Rust uses this word itself; write for example `my-type`
                std: Rust uses this word itself; write for example `my-std`
                con: Windows uses this name for a device; write for example `my-con`
                serde: the SDK uses a package of this name; write for example `my-serde`
                openprogram-guest: the SDK uses a package of this name; write for example `my-openprogram-guest`
            "#]],
        );
        for lang in [Language::JavaScript, Language::Python] {
            for name in ["std", "serde", "async-await"] {
                assert_eq!(check(name, lang), Ok(()), "{name}");
            }
            let taken = "WIT uses this word itself; write for example `my-list`";
            assert_eq!(check("list", lang), Err(taken.to_owned()));
        }
        let long = "a".repeat(65);
        assert!(
            check(&long, Language::Rust)
                .unwrap_err()
                .contains("at most 64 bytes")
        );
    }

    #[test]
    fn every_suggestion_can_be_taken() {
        for name in KEYWORDS
            .iter()
            .chain(&OF_RUST)
            .chain(&WIT_KEYWORDS)
            .chain(&DEVICES)
        {
            for lang in [Language::Rust, Language::JavaScript, Language::Python] {
                assert_eq!(check(&format!("my-{name}"), lang), Ok(()), "{name}");
            }
        }
    }
}
