//! How large and how deep a JSON value may be. Each limit is a named error, never a cut.

/// How many levels of arrays and objects a value may have. A scalar has none, `[]` has one.
///
/// Deep enough for every real argument, and half of what the JSON reader itself refuses.
pub const JSON_DEPTH_MAX: usize = 64;
/// How many bytes one text may have; larger data belongs into a file.
pub const STRING_BYTES_MAX: usize = 4 * 1024 * 1024;
/// How many bytes a `list<u8>` may have after decoding.
pub const BYTES_MAX: usize = 4 * 1024 * 1024;
/// How many items an array, or entries an object, may have. One item costs some 70 bytes here.
pub const ITEMS_MAX: usize = 262_144;
/// How many digits a number may have, so that arithmetic on its text stays cheap.
pub const NUMBER_DIGITS_MAX: usize = 1_000;
/// How many repairs one check lists; the rest is counted.
pub const COERCIONS_LISTED_MAX: usize = 64;
