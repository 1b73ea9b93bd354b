//! Blanks the comments of WIT that are no docs.
//!
//! The parser takes any comment in front of an item for its docs. Docs are `///` and `/** … */`
//! alone: notes of an author to other authors are nothing for a model.

/// The text with spaces in place of every comment that is no doc, so that all places stay.
pub(crate) fn only_docs(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    let starts = |pair: &[u8]| matches!(pair, b"//" | b"/*" | [b'"', _]);
    while let Some(start) = rest.as_bytes().windows(2).position(starts) {
        kept.push_str(&rest[..start]);
        let part = &rest[start..];
        let length = if part.starts_with('"') {
            text_length(part)
        } else if part.starts_with("/*") {
            block_length(part)
        } else {
            part.find('\n').unwrap_or(part.len())
        };
        let (part, after) = part.split_at(length);
        if part.starts_with('"') || is_doc(part) {
            kept.push_str(part);
        } else {
            // A space for every byte, so that places stay.
            kept.extend(
                part.bytes()
                    .map(|byte| if byte == b'\n' { '\n' } else { ' ' }),
            );
        }
        rest = after;
    }
    kept.push_str(rest);
    kept
}

/// The length of a text in quotes. One that does not end on its line takes the line.
fn text_length(text: &str) -> usize {
    let end = text[1..].find(['"', '\n']);
    end.map_or(text.len(), |end| end + 2)
}

/// Four slashes or three stars draw a line, and `/**/` says nothing.
fn is_doc(comment: &str) -> bool {
    let begins = |start: &str, not: &str| comment.starts_with(start) && !comment.starts_with(not);
    begins("///", "////") || begins("/**", "/***") && comment.len() > "/**/".len()
}

/// The length of a block comment; they may stand in each other. One that does not end takes the rest.
fn block_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut depth, mut at) = (0_usize, 0);
    while at + 1 < bytes.len() {
        match &bytes[at..at + 2] {
            b"/*" => (depth, at) = (depth + 1, at + 2),
            b"*/" if depth == 1 => return at + 2,
            b"*/" => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn docs_stay_and_other_comments_become_blank() {
        for (text, expected) in [
            ("", ""),
            ("a: b, // ü\nc", "a: b,      \nc"),
            (
                "/// kept // too\n// not\n/// kept",
                "/// kept // too\n      \n/// kept",
            ),
            ("//// line\n//", "         \n  "),
            ("/** kept\n*/ x /* not\n*/ y", "/** kept\n*/ x       \n   y"),
            ("/* a /* b */ c */ d", "                  d"),
            ("/*** line ***/ x /**/ y", "               x      y"),
            ("x /* open", "x        "),
            ("\"a // b\" c // d", "\"a // b\" c     "),
            ("\"open // b\n// d", "\"open // b\n    "),
            ("/", "/"),
        ] {
            assert_eq!(only_docs(text), expected, "{text}");
            assert_eq!(only_docs(text).len(), text.len());
        }
    }
}
