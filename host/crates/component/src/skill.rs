//! The skill that a component carries: the text of its `SKILL.md`, in a custom section of its own.
//!
//! Only the component itself counts, not the parts inside of it. The section is data and never run;
//! what stands in it is checked like any other file of a stranger.

use openprogram_core::skill::{SKILL_FILE, SKILL_FILE_BYTES_MAX};

use crate::sections::{sections, with_section};

/// The section.
const SECTION: &str = "openprogram:skill";

/// The component with this text as its skill, in place of the one that it has; without one where
/// there is no text. Bytes that are no component stay as they are.
#[must_use]
pub fn with_skill(component: &[u8], text: Option<&str>) -> Vec<u8> {
    with_section(component, SECTION, text.map(str::as_bytes))
}

/// The text of the skill of a component, or why it is ignored; `None` when it carries none.
pub(crate) fn skill_of(component: &[u8]) -> Option<Result<String, String>> {
    let mut found = sections(component)?
        .into_iter()
        .filter_map(|section| section.named(SECTION));
    let content = found.next()?;
    let ignored = |why: &str| Some(Err(format!("its {SKILL_FILE} is ignored: {why}")));
    if found.next().is_some() {
        return ignored("there are several");
    }
    if content.len() > SKILL_FILE_BYTES_MAX {
        return ignored(&format!("it is larger than {SKILL_FILE_BYTES_MAX} bytes"));
    }
    match std::str::from_utf8(content) {
        Ok(text) => Some(Ok(text.to_owned())),
        Err(_) => ignored("it is not UTF-8 text"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sections::HEADER_BYTES;

    fn component(text: &str) -> Vec<u8> {
        wat::parse_str(text).unwrap()
    }

    #[test]
    fn a_skill_is_packed_replaced_and_taken_out() {
        let plain = component(r#"(component (core module (@custom "other" "x")))"#);
        let long = "x".repeat(300);
        let packed = with_skill(&plain, Some(&long));
        wasmparser::Validator::new().validate_all(&packed).unwrap();
        assert_eq!(skill_of(&packed), Some(Ok(long)));
        let other = with_skill(&packed, Some("é"));
        assert_eq!(skill_of(&other), Some(Ok("é".to_owned())));
        assert_eq!(with_skill(&other, None), plain);
        assert_eq!(skill_of(&plain), None);
    }

    #[test]
    fn what_is_no_skill_is_ignored() {
        let of = |text: &str| skill_of(&component(text));
        let inner = r#"(component (component (@custom "openprogram:skill" "inner")))"#;
        assert_eq!(of(inner), None);
        let ignored = |why: &str| Some(Err(format!("its SKILL.md is ignored: {why}")));
        let two =
            r#"(component (@custom "openprogram:skill" "a") (@custom "openprogram:skill" "b"))"#;
        assert_eq!(of(two), ignored("there are several"));
        let bytes = r#"(component (@custom "openprogram:skill" "\ff"))"#;
        assert_eq!(of(bytes), ignored("it is not UTF-8 text"));
        let large = with_skill(
            &component("(component)"),
            Some(&"x".repeat(SKILL_FILE_BYTES_MAX + 1)),
        );
        assert_eq!(skill_of(&large), ignored("it is larger than 65536 bytes"));
        let whole = with_skill(&component("(component)"), Some("text"));
        for length in 0..whole.len() {
            let cut = &whole[..length];
            assert_eq!(skill_of(cut), None, "{length}");
            let is_section_less = length == HEADER_BYTES;
            assert!(
                is_section_less || with_skill(cut, Some("t")) == cut,
                "{length}"
            );
        }
        assert_eq!(with_skill(b"no wasm", Some("t")), b"no wasm");
    }
}
