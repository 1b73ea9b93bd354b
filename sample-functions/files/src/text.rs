//! What is text and what is not, and texts cut where a reader can see it.

use openprogram_guest::Failure;

use crate::place::failure;

/// How many bytes of the start of a file say whether it is text.
pub(crate) const HEAD_BYTES: usize = 8 << 10;

/// The mark that some programs write before UTF-8.
pub(crate) const MARK: &[u8] = b"\xef\xbb\xbf";

/// What files begin with, and what they are. A zero byte says the same of all others.
const SIGNATURES: [(&[u8], &str); 12] = [
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive or an office document"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\0asm", "a WebAssembly file"),
    (b"\x7fELF", "a program"),
    (b"OggS", "an Ogg recording"),
    (b"\xff\xfe", "UTF-16 text; convert it to UTF-8 first"),
    (b"\xfe\xff", "UTF-16 text; convert it to UTF-8 first"),
];

/// What the head of a file is when it is not text in UTF-8.
pub(crate) fn not_text(head: &[u8]) -> Option<&'static str> {
    let known = SIGNATURES.iter().find(|(start, _)| head.starts_with(start));
    match known {
        Some((_, what)) => Some(what),
        None => memchr::memchr(0, head).map(|_| "binary data"),
    }
}

/// The failure of a function that wants text.
pub(crate) fn not_text_failure(path: &str, what: &str) -> Failure {
    failure(format!("`{path}` is not UTF-8 text but {what}"))
}

/// The failure at bytes in the midst of a text.
pub(crate) fn not_utf8(path: &str, line: u64, byte: u8) -> Failure {
    failure(format!(
        "line {line} of `{path}` is not UTF-8 (byte 0x{byte:02x}); the file has another encoding, \
         such as Latin-1, or is no text"
    ))
}

/// A number with commas between thousands.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// The beginning of a text within so many bytes, ending with a whole character.
pub(crate) fn head(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_text_is_known_by_its_first_bytes() {
        for (bytes, expected) in [
            (&b"plain"[..], None),
            (b"", None),
            (MARK, None),
            ("gr\u{fc}n".as_bytes(), None),
            (b"\x89PNG\r\n", Some("a PNG picture")),
            (b"a\0b", Some("binary data")),
            (
                b"\xff\xfea\0",
                Some("UTF-16 text; convert it to UTF-8 first"),
            ),
        ] {
            assert_eq!(not_text(bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn a_head_ends_with_a_whole_character() {
        for (text, most, expected) in [("äö", 3, "ä"), ("äö", 9, "äö"), ("ä", 0, "")] {
            assert_eq!(head(text, most), expected, "{text} {most}");
        }
    }

    #[test]
    fn thousands_are_grouped() {
        for (number, expected) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(grouped(number), expected);
        }
    }
}
