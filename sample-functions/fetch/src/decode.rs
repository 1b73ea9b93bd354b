//! Bytes of the web as text: which ones are text, and in which encoding.

/// How much of a page is looked at for its encoding, as browsers do.
const META_BYTES: usize = 1024;

/// What the bytes 0x80 to 0x9F mean in windows-1252, which is what the web means by Latin-1.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// Whether an answer of this type is text. Without a type, its bytes say so.
pub(crate) fn is_text(content_type: Option<&str>, bytes: &[u8]) -> bool {
    let Some(content_type) = content_type else {
        return !bytes.iter().take(8 << 10).any(|byte| *byte == 0);
    };
    let kind = essence(content_type);
    let kinds = [
        "json",
        "xml",
        "javascript",
        "ecmascript",
        "yaml",
        "toml",
        "csv",
        "x-ndjson",
        "jsonl",
        "graphql",
        "sql",
        "x-sh",
        "x-www-form-urlencoded",
        "markdown",
    ];
    kind.starts_with("text/")
        || kind.split_once('/').is_some_and(|(_, kind)| {
            let last = kind.rsplit('+').next().unwrap_or(kind);
            kinds.contains(&last)
        })
}

/// Whether an answer of this type is a page.
pub(crate) fn is_page(content_type: Option<&str>, bytes: &[u8]) -> bool {
    match content_type.map(essence).as_deref() {
        Some(kind) => matches!(kind, "text/html" | "application/xhtml+xml"),
        None => {
            let start: Vec<u8> = bytes.iter().take(512).map(u8::to_ascii_lowercase).collect();
            let start = start.trim_ascii_start();
            start.starts_with(b"<!doctype html") || start.starts_with(b"<html")
        }
    }
}

/// A type without its parameters, in lower case.
fn essence(content_type: &str) -> String {
    let essence = content_type.split(';').next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

/// The text of bytes, and the name of their encoding when it is not known here.
pub(crate) fn text(content_type: Option<&str>, bytes: &[u8]) -> (String, Option<String>) {
    if let Some(rest) = bytes.strip_prefix(b"\xef\xbb\xbf") {
        return (String::from_utf8_lossy(rest).into_owned(), None);
    }
    if let Some(rest) = bytes.strip_prefix(b"\xff\xfe") {
        return (utf16(rest, u16::from_le_bytes), None);
    }
    if let Some(rest) = bytes.strip_prefix(b"\xfe\xff") {
        return (utf16(rest, u16::from_be_bytes), None);
    }
    let named = content_type.and_then(charset).or_else(|| meta(bytes));
    match named.as_deref() {
        Some("utf-16le" | "utf-16") => (utf16(bytes, u16::from_le_bytes), None),
        Some("utf-16be") => (utf16(bytes, u16::from_be_bytes), None),
        Some("iso-8859-1" | "latin1" | "windows-1252" | "us-ascii" | "ascii") => {
            (windows_1252(bytes), None)
        }
        None => match std::str::from_utf8(bytes) {
            Ok(text) => (text.to_owned(), None),
            // A body may have been cut within a character.
            Err(error) if bytes.len() - error.valid_up_to() < 4 => {
                (String::from_utf8_lossy(bytes).into_owned(), None)
            }
            Err(_) => (windows_1252(bytes), None),
        },
        Some("utf-8" | "utf8") => (String::from_utf8_lossy(bytes).into_owned(), None),
        Some(other) => {
            let text = String::from_utf8_lossy(bytes).into_owned();
            (text, Some(other.chars().take(40).collect()))
        }
    }
}

fn utf16(bytes: &[u8], read: impl Fn([u8; 2]) -> u16) -> String {
    let units = bytes.chunks_exact(2).map(|pair| read([pair[0], pair[1]]));
    let read = char::decode_utf16(units);
    read.map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect()
}

fn windows_1252(bytes: &[u8]) -> String {
    let read = |byte: &u8| match byte {
        0x80..=0x9f => WINDOWS_1252[usize::from(byte - 0x80)],
        byte => char::from(*byte),
    };
    bytes.iter().map(read).collect()
}

/// The encoding that follows `charset=`.
fn charset(text: &str) -> Option<String> {
    let text = text.to_ascii_lowercase();
    let (_, rest) = text.split_once("charset")?;
    let rest = rest.trim_start().strip_prefix('=')?.trim_start();
    let rest = rest.trim_start_matches(['"', '\'']);
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-_:.".contains(c);
    let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
    (end > 0).then(|| rest[..end].to_owned())
}

/// The encoding that a page names in its head.
fn meta(bytes: &[u8]) -> Option<String> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(META_BYTES)]);
    let head = head.to_ascii_lowercase();
    let tags = head.split("<meta").skip(1);
    let tags = tags.map(|tag| tag.split('>').next().unwrap_or_default());
    let named = tags.filter_map(charset).next()?;
    // Whoever can read that is not in UTF-16.
    Some(if named.starts_with("utf-16") {
        "utf-8".to_owned()
    } else {
        named
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_say_what_is_text() {
        for (kind, expected) in [
            (Some("text/html; charset=utf-8"), true),
            (Some("application/json"), true),
            (Some("application/ld+JSON"), true),
            (Some("image/svg+xml"), true),
            (Some("image/png"), false),
            (Some("application/octet-stream"), false),
            (Some("application/pdf"), false),
            (None, true),
        ] {
            assert_eq!(is_text(kind, b"abc"), expected, "{kind:?}");
        }
        assert!(!is_text(None, b"a\0b"));
        assert!(is_page(None, b"\n <!DOCTYPE HTML><p>"));
        assert!(is_page(Some("Text/HTML;charset=x"), b""));
        assert!(!is_page(None, b"{}"));
        assert!(!is_page(Some("text/plain"), b"<html>"));
    }

    #[test]
    fn encodings_are_read_from_the_type_the_mark_or_the_page() {
        for (kind, bytes, expected) in [
            (Some("text/plain"), &b"gr\xc3\xbcn"[..], "grün"),
            (
                Some("text/plain; charset=ISO-8859-1"),
                b"gr\xfcn \x80",
                "grün €",
            ),
            (
                Some("text/plain;charset=\"utf-8\""),
                b"gr\xfcn",
                "gr\u{fffd}n",
            ),
            (
                Some("text/html"),
                b"<meta charset='windows-1252'>\xe4",
                "<meta charset='windows-1252'>ä",
            ),
            (
                None,
                b"<meta http-equiv=x content=\"a; charset=latin1\">\xe4",
                "<meta http-equiv=x content=\"a; charset=latin1\">ä",
            ),
            (None, b"gr\xfcn und mehr", "grün und mehr"),
            (None, b"cut \xc3", "cut \u{fffd}"),
            (None, b"\xef\xbb\xbfmarked", "marked"),
            (None, b"\xff\xfea\0b\0", "ab"),
            (Some("text/plain"), b"\xfe\xff\0a\xd8", "a"),
        ] {
            assert_eq!(
                text(kind, bytes),
                (expected.to_owned(), None),
                "{kind:?} {bytes:?}"
            );
        }
        let (_, unknown) = text(Some("text/plain; charset=shift_jis"), b"\x82\xa0");
        assert_eq!(unknown.as_deref(), Some("shift_jis"));
    }
}
