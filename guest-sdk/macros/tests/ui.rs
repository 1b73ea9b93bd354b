//! What authors get to read when a module cannot become a component.
//!
//! Each file under `ui/` holds the mistakes of one subject, and its `.stderr` every message at the
//! token that it belongs to. To accept new texts, run with `TRYBUILD=overwrite` and read the diff.

#[test]
fn mistakes_are_reported_at_the_authors_token_all_at_once() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/*.rs");
}
