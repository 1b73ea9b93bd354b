//! Inputs made from other inputs: bytes changed anywhere, or a component changed section by section,
//! so that it stays one to the first look.

use crate::{guests, hostile, many, metadata};

use super::random::Random;

/// The largest input that is made.
const BYTES_MAX: usize = 256 << 10;
/// The first bytes of a component.
const HEADER: &[u8] = b"\0asm\x0d\0\x01\0";
/// Bytes that lengths, counts, kinds and names are often decided by.
const TELLING: [&[u8]; 16] = [
    &[0],
    &[1],
    &[0x7f],
    &[0x80, 0x80, 0x80, 0x80, 0x08],
    &[0xff, 0xff, 0xff, 0xff, 0x0f],
    &[0x40],
    &[0x6b],
    &[0x70],
    &[0x72],
    &[0x73],
    b"\x1b[2J",
    b"wasi:io/poll@0.2.0",
    b"openprogram:agentic/metadata@0.1.0",
    b"[method]a.b",
    b"\xff\xfe",
    b"@99999999999999999999.0.0",
];
/// Names of sections that the loader reads.
const CUSTOM: [&str; 6] = [
    "openprogram:contract",
    "openprogram:metadata",
    "package-docs",
    "component-type:x",
    "component-name",
    "name",
];

/// Components of every kind that the loader knows.
pub(super) fn components() -> Vec<Vec<u8>> {
    let mut names: Vec<_> = hostile::attacks().iter().map(|a| a.guest).collect();
    names.extend(["every-type", "picker", "echo-model", "two-versions"]);
    names.sort_unstable();
    names.dedup();
    let mut all: Vec<Vec<u8>> = names.into_iter().map(guests::bytes).collect();
    all.push(many::component("many", 5, 1));
    let described = metadata::Described {
        parameters: &[("times", &[("default", "3")])],
        attributes: &[("expose", "\"io\"")],
        ..metadata::Described::default()
    };
    all.extend(metadata::telling(&[described]));
    all.retain(|bytes| bytes.len() <= BYTES_MAX);
    // The small ones are tried most.
    all.sort_by_key(Vec::len);
    all
}

/// A component made from one of these, or from two.
pub(super) fn component(seeds: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    // The smaller of two, so that small ones are more likely.
    let place = random.below(seeds.len()).min(random.below(seeds.len()));
    let Some(seed) = seeds.get(place) else {
        return Vec::new();
    };
    let other = random.pick(seeds).unwrap_or(seed);
    let mut made = seed.clone();
    for _ in 0..=random.below(3) {
        made = match random.below(5) {
            0 => bytes(&made, random),
            _ => sections(&made, other, random, 0),
        };
    }
    made.truncate(BYTES_MAX);
    made
}

/// Bytes replaced, put in, taken out or repeated at some places.
pub(super) fn bytes(input: &[u8], random: &mut Random) -> Vec<u8> {
    let mut made = input.to_vec();
    for _ in 0..=random.below(4) {
        let place = random.below(made.len() + 1);
        match random.below(6) {
            0 => made.truncate(place),
            1 => made.insert(place, random.byte()),
            2 if place < made.len() => drop(made.remove(place)),
            3 => {
                let telling = random.pick(&TELLING).copied().unwrap_or_default();
                made.splice(place..place, telling.iter().copied());
            }
            4 => {
                let end = (place + random.below(32)).min(made.len());
                let part = made[place..end].to_vec();
                made.splice(place..place, part);
            }
            _ if place < made.len() => made[place] = random.byte(),
            _ => {}
        }
    }
    made
}

/// A section: its kind and what is in it.
type Section = (u8, Vec<u8>);

/// Changes one section of a component, or of a component or module in it.
fn sections(input: &[u8], other: &[u8], random: &mut Random, depth: usize) -> Vec<u8> {
    let Some((header, mut all)) = split(input) else {
        return bytes(input, random);
    };
    let place = random.below(all.len());
    match random.below(9) {
        0 if !all.is_empty() => drop(all.remove(place)),
        1 if !all.is_empty() => {
            let again = all[place].clone();
            all.insert(random.below(all.len() + 1), again);
        }
        2 if !all.is_empty() => {
            let second = random.below(all.len());
            all.swap(place, second);
        }
        3 => {
            let others = split(other).map(|(_, sections)| sections);
            if let Some(section) = random.pick(&others.unwrap_or_default()) {
                all.insert(random.below(all.len() + 1), section.clone());
            }
        }
        4 => all.insert(random.below(all.len() + 1), custom(random)),
        // A component around a component.
        5 if depth == 0 => all = vec![(4, input.to_vec())],
        6 => all.insert(random.below(all.len() + 1), (4, other.to_vec())),
        _ if !all.is_empty() => {
            let (kind, content) = &mut all[place];
            // What is in a section of these kinds has sections too.
            let is_nested = *content.first().unwrap_or(&1) == 0 && matches!(*kind, 1 | 4);
            *content = match is_nested && depth < 8 {
                true => sections(content, other, random, depth + 1),
                false => bytes(content, random),
            };
        }
        _ => {}
    }
    let mut made = header.to_vec();
    for (kind, content) in all {
        made.push(kind);
        made.extend(leb(content.len()));
        made.extend(content);
    }
    made
}

fn custom(random: &mut Random) -> Section {
    let name = random.pick(&CUSTOM).copied().unwrap_or_default();
    let mut content = leb(name.len());
    content.extend(name.as_bytes());
    let texts: [&[u8]; 4] = [
        b"{\"docs\":\"x\",\"interfaces\":{\"guest\":{\"funcs\":{\"f\":{\"docs\":\"x\"}}}}}",
        b"{\"worlds\":{\"root\":{\"docs\":\"\x1b[2J\"}}}",
        b"[[[[[[[[[[[[[[[[[[[[[[[[",
        b"",
    ];
    let text = random.pick(&texts).copied().unwrap_or_default();
    // The first byte of a `package-docs` section is its version.
    content.extend([random.byte() % 3]);
    content.extend(bytes(text, random));
    (0, content)
}

/// The header and the sections; `None` when there are none to be seen.
fn split(bytes: &[u8]) -> Option<(&[u8], Vec<Section>)> {
    let (header, mut rest) = bytes.split_at_checked(HEADER.len())?;
    let mut sections = Vec::new();
    while let Some((kind, after)) = rest.split_first() {
        let (length, after) = read_leb(after)?;
        let (content, after) = after.split_at_checked(length)?;
        sections.push((*kind, content.to_vec()));
        rest = after;
    }
    Some((header, sections))
}

fn leb(mut number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = number.to_le_bytes()[0] & 0x7f;
        number >>= 7;
        if number == 0 {
            bytes.push(low);
            return bytes;
        }
        bytes.push(low | 0x80);
    }
}

fn read_leb(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let mut number = 0_usize;
    for (place, byte) in bytes.iter().take(5).enumerate() {
        number |= usize::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            return Some((number, &bytes[place + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_found_and_put_together_again() {
        for component in components().into_iter().take(20) {
            let (header, sections) = split(&component).unwrap();
            let mut again = header.to_vec();
            for (kind, content) in sections {
                again.push(kind);
                // Encoders may take more bytes for a length than it needs; these do not.
                again.extend(leb(content.len()));
                again.extend(content);
            }
            assert_eq!(again.len(), component.len());
        }
    }
}
