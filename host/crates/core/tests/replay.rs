//! The corpus of the fuzz targets, replayed: what once failed or reached far stays tested.
//!
//! Each input is also cut and changed a little, the same way every time.
#![allow(
    clippy::disallowed_methods,
    reason = "a test over the inputs that stand in files"
)]

#[path = "../../../../tests/fuzz/src/properties.rs"]
mod properties;

use std::path::Path;

/// How many changed forms of each input are tried.
const CHANGES: u64 = 200;

fn replay(target: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/fuzz/corpus");
    let mut n_inputs = 0;
    for entry in std::fs::read_dir(folder.join(target)).expect("the corpus") {
        let bytes = std::fs::read(entry.expect("a file").path()).expect("an input");
        n_inputs += 1;
        check(&bytes);
        for change in 0..CHANGES {
            check(&changed(&bytes, change));
        }
    }
    assert!(n_inputs > 0, "the corpus of {target} is empty");
}

/// The input with one byte replaced, taken out, doubled, or cut off behind it.
fn changed(bytes: &[u8], change: u64) -> Vec<u8> {
    // A step of a linear congruential generator is enough to spread places and bytes.
    let random = change
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    let place = (random >> 33) as usize % bytes.len().max(1);
    let other = b"{}[]\"'\\,:`<>/#0-eNu\n"[(random >> 17) as usize % 20];
    let mut bytes = bytes.to_vec();
    match random >> 60 & 3 {
        0 => bytes.truncate(place),
        1 => bytes.insert(place, other),
        2 if !bytes.is_empty() => drop(bytes.remove(place)),
        _ if !bytes.is_empty() => bytes[place] = other,
        _ => {}
    }
    bytes
}

#[test]
fn replies_of_the_corpus_keep_every_promise() {
    replay("replies", properties::check_reply);
}

#[test]
fn option_files_of_the_corpus_keep_every_promise() {
    replay("options", properties::check_options);
}
