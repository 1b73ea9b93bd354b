//! The outer sections of a component, taken apart and put together again by their bytes alone.
//!
//! Only the component itself counts, not the parts inside of it. Nothing is understood here beyond
//! the names of custom sections.

use std::ops::Range;

/// Magic number and version.
pub(crate) const HEADER_BYTES: usize = 8;
/// The kind of custom sections.
const CUSTOM: u8 = 0;

/// One section: where it is, and the name and content of a custom one.
pub(crate) struct Section<'a> {
    range: Range<usize>,
    custom: Option<(&'a [u8], &'a [u8])>,
}

impl<'a> Section<'a> {
    /// What a custom section of this name holds.
    pub(crate) fn named(&self, name: &str) -> Option<&'a [u8]> {
        let (own, content) = self.custom?;
        (own == name.as_bytes()).then_some(content)
    }
}

/// The component with this content as its one custom section of this name, at its end; without one
/// where there is no content. Bytes that have not the form of sections stay as they are.
pub(crate) fn with_section(component: &[u8], name: &str, content: Option<&[u8]>) -> Vec<u8> {
    let Some(sections) = sections(component) else {
        return component.to_owned();
    };
    let mut whole = component[..HEADER_BYTES].to_vec();
    for section in sections.iter().filter(|s| s.named(name).is_none()) {
        whole.extend_from_slice(&component[section.range.clone()]);
    }
    if let Some(content) = content {
        let mut section = Vec::new();
        push_number(&mut section, name.len());
        section.extend_from_slice(name.as_bytes());
        section.extend_from_slice(content);
        whole.push(CUSTOM);
        push_number(&mut whole, section.len());
        whole.extend_from_slice(&section);
    }
    whole
}

/// The outer sections; `None` when the bytes have not the form of any.
pub(crate) fn sections(bytes: &[u8]) -> Option<Vec<Section<'_>>> {
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
            custom: (kind == CUSTOM)
                .then(|| name_and_content(content))
                .flatten(),
        });
    }
    Some(sections)
}

fn name_and_content(section: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut at = 0;
    let length = number(section, &mut at)?;
    let end = at.checked_add(length)?;
    Some((section.get(at..end)?, &section[end..]))
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
