//! Names as models see them.

/// A WIT name in the form shown to models: snake_case.
#[must_use]
pub fn shown_name(wit: &str) -> String {
    wit.trim_start_matches('%').replace('-', "_")
}

/// Whether two names are the same when `-` and `_` are equal.
#[must_use]
pub fn names_equal(a: &str, b: &str) -> bool {
    let plain = |byte: u8| if byte == b'-' { b'_' } else { byte };
    a.len() == b.len() && a.bytes().map(plain).eq(b.bytes().map(plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hyphen_and_underscore_are_equal_and_nothing_else_is() {
        assert_eq!(shown_name("%dark-blue"), "dark_blue");
        for (a, b, equal) in [
            ("a-b", "a_b", true),
            ("a-b", "a-b", true),
            ("a-b", "ab", false),
            ("A-b", "a-b", false),
            ("", "", true),
        ] {
            assert_eq!(names_equal(a, b), equal, "`{a}` and `{b}`");
        }
    }
}
