//! Words for the person who watches a function work.
//!
//! Nothing is recorded, no model reads it, and nobody may be watching. Of more than 10 reports in a
//! second only some are shown.

use crate::host::progress as raw;

/// Tells how far the function has come, in one line of at most 200 characters.
///
/// ```
/// use openprogram_guest::progress;
///
/// fn index(pages: &[String]) {
///     for (n, page) in pages.iter().enumerate() {
///         progress::report_part(format!("Reading {page}"), n as f64 / pages.len() as f64);
///         // …
///     }
///     progress::report("Writing the index");
/// }
/// ```
pub fn report(message: impl AsRef<str>) {
    raw::report(message.as_ref(), None);
}

/// The same, with how much is done, from 0 to 1.
pub fn report_part(message: impl AsRef<str>, fraction: f64) {
    raw::report(message.as_ref(), Some(fraction));
}
