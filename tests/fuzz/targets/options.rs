//! Option files: reading, menus and their text.
#![no_main]

#[path = "../src/properties.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| properties::check_options(bytes));
