//! The skill that a component carries: the text of its `SKILL.md`, in a custom section of its own.
//!
//! Only the component itself counts, not the parts inside of it. The section is data and never run;
//! what stands in it is checked like any other file of a stranger.

use std::ops::Range;

use openprogram_core::skill::{SKILL_FILE, SKILL_FILE_BYTES_MAX};

/// The section.
const SECTION: &str = "openprogram:skill";
/// Magic number and version.
const HEADER_BYTES: usize = 8;
/// The kind of custom sections.
const CUSTOM: u8 = 0;

/// One section: where it is, and what a custom one of ours holds.
struct Section<'a> {
    range: Range<usize>,
    skill: Option<&'a [u8]>,
}

/// The component with this text as its skill, in place of the one that it has; without one where
/// there is no text. Bytes that are no component stay as they are.
#[must_use]
pub fn with_skill(component: &[u8], text: Option<&str>) -> Vec<u8> {
    let Some(sections) = sections(component) else {
        return component.to_owned();
    };
    let mut packed = component[..HEADER_BYTES].to_vec();
    for section in sections.iter().filter(|section| section.skill.is_none()) {
        packed.extend_from_slice(&component[section.range.clone()]);
    }
    if let Some(text) = text {
        let mut content = Vec::new();
        push_number(&mut content, SECTION.len());
        content.extend_from_slice(SECTION.as_bytes());
        content.extend_from_slice(text.as_bytes());
        packed.push(CUSTOM);
        push_number(&mut packed, content.len());
        packed.extend_from_slice(&content);
    }
    packed
}

/// The text of the skill of a component, or why it is ignored; `None` when it carries none.
pub(crate) fn skill_of(component: &[u8]) -> Option<Result<String, String>> {
    let mut found = sections(component)?
        .into_iter()
        .filter_map(|section| section.skill);
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

/// The outer sections; `None` when the bytes have not the form of any.
fn sections(bytes: &[u8]) -> Option<Vec<Section<'_>>> {
    let mut sections = Vec::new();
    let mut at = HEADER_BYTES;
    bytes.get(..HEADER_BYTES)?.strip_prefix(b"\0asm")?;
    while at < bytes.len() {
        let start = at;
        let kind = bytes[at];
        at += 1;
        let length = number(bytes, &mut at)?;
        let content = bytes.get(at..at.checked_add(length)?)?;
        at += length;
        sections.push(Section {
            range: start..at,
            skill: (kind == CUSTOM).then(|| skill_in(content)).flatten(),
        });
    }
    Some(sections)
}

/// What a custom section holds, when it has our name.
fn skill_in(content: &[u8]) -> Option<&[u8]> {
    let mut at = 0;
    let length = number(content, &mut at)?;
    let name = content.get(at..at.checked_add(length)?)?;
    (name == SECTION.as_bytes()).then(|| &content[at + length..])
}

/// A number in LEB128, of five bytes at most.
fn number(bytes: &[u8], at: &mut usize) -> Option<usize> {
    let mut number = 0_u64;
    for shift in (0..35).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return usize::try_from(number).ok();
        }
    }
    None
}

fn push_number(bytes: &mut Vec<u8>, mut number: usize) {
    loop {
        let low = (number & 0x7f) as u8;
        number >>= 7;
        if number == 0 {
            bytes.push(low);
            return;
        }
        bytes.push(low | 0x80);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
