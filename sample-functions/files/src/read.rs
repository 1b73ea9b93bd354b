//! Reading: a window of numbered lines, cut where it must be, with a line in brackets that says so.

use std::fs::File;
use std::io::{self, Read};

use openprogram_guest::Failure;

use crate::lines::{Line, Lines};
use crate::place::{checked, failed};
use crate::text::{HEAD_BYTES, MARK, grouped, head, not_text, not_text_failure, not_utf8};

/// The most lines of one window. Few models take more in at once.
const LINES_MAX: u32 = 2000;
/// The most characters of a line that are shown: a paragraph, not a file without line breaks.
const LINE_CHARS_MAX: usize = 2000;
/// The most bytes of a window. Answers to models are cut at 30,000; this leaves room for the end.
const TEXT_BYTES_MAX: usize = 24_000;
/// The most bytes of a line that are kept while its columns are counted.
const LINE_BYTES_MAX: usize = 16 << 20;

/// Which part of a file is wanted. Everything begins at 1.
pub(crate) struct Window {
    pub(crate) offset: u32,
    pub(crate) limit: u32,
    pub(crate) column: u32,
}

/// The numbered lines of a window.
///
/// # Errors
/// Where the file cannot be read, is no text, or ends before the window.
pub(crate) fn read_file(path: &str, window: &Window) -> Result<String, Failure> {
    for (name, value) in [
        ("offset", window.offset),
        ("limit", window.limit),
        ("column", window.column),
    ] {
        if value == 0 {
            let message = format!("`{name}` begins at 1");
            return Err(Failure::invalid_argument(name, message));
        }
    }
    let path = checked(path)?;
    let error = |error: io::Error| failed("read", &path, &error);
    let file = File::open(&path).map_err(error)?;
    let known = file.metadata().map_err(error)?;
    if known.is_dir() {
        return Err(error(io::ErrorKind::IsADirectory.into()));
    }
    show(&path, file, known.len(), window)
}

fn show(path: &str, file: impl Read, n_bytes: u64, window: &Window) -> Result<String, Failure> {
    let error = |error: io::Error| failed("read", path, &error);
    let skipped_chars = window.column as usize - 1;
    let keeps = skipped_chars.saturating_add(LINE_CHARS_MAX) * 4 + 4;
    let mut lines = Lines::new(file, keeps.min(LINE_BYTES_MAX));
    let start = lines.peek().map_err(error)?;
    if let Some(what) = not_text(&start[..start.len().min(HEAD_BYTES)]) {
        return Err(not_text_failure(path, what));
    }
    if start.starts_with(MARK) {
        lines.skip_bytes(MARK.len());
    }
    let before = u64::from(window.offset - 1);
    let skipped = lines.skip(before).map_err(error)?;
    let mut text = String::new();
    let (mut n_lines, mut has_returns) = (skipped, false);
    let mut is_cut = false;
    for _ in 0..window.limit.min(LINES_MAX) {
        let Some(line) = lines.next().map_err(error)? else {
            break;
        };
        let shown = numbered(path, n_lines + 1, &line, skipped_chars)?;
        if text.len() + shown.len() > TEXT_BYTES_MAX && !text.is_empty() {
            is_cut = true;
            break;
        }
        text.push_str(&shown);
        has_returns |= line.has_return;
        n_lines += 1;
    }
    let goes_on = is_cut || !lines.peek().map_err(error)?.is_empty();
    if n_lines < u64::from(window.offset) {
        if n_lines == 0 && window.offset == 1 {
            return Ok("[the file is empty]".to_owned());
        }
        let message = format!("`{path}` ends after line {n_lines}");
        return Err(Failure::invalid_argument("offset", message));
    }
    if has_returns {
        text.push_str("[these lines end with CR LF; `edit_file` keeps that]\n");
    }
    if goes_on {
        text.push_str(&format!(
            "[the file of {} bytes goes on: read on with offset {}]\n",
            grouped(n_bytes),
            n_lines + 1
        ));
    } else if window.offset > 1 {
        text.push_str("[end of the file]\n");
    }
    Ok(text)
}

/// A line with its number, from a column on.
fn numbered(
    path: &str,
    number: u64,
    line: &Line<'_>,
    skipped_chars: usize,
) -> Result<String, Failure> {
    let is_whole = line.bytes.len() as u64 == line.n_bytes;
    let text = match std::str::from_utf8(line.bytes) {
        Ok(text) => text,
        // What is kept may end within a character.
        Err(error) if error.error_len().is_none() && !is_whole => {
            let valid = &line.bytes[..error.valid_up_to()];
            std::str::from_utf8(valid).unwrap_or_default()
        }
        Err(error) => {
            return Err(not_utf8(path, number, line.bytes[error.valid_up_to()]));
        }
    };
    let at = |n: usize| text.char_indices().nth(n).map_or(text.len(), |(at, _)| at);
    let (start, end) = (at(skipped_chars), at(skipped_chars + LINE_CHARS_MAX));
    let rest = line.n_bytes - end as u64;
    if rest == 0 {
        return Ok(format!("{number}\t{}\n", &text[start..]));
    }
    let next = skipped_chars + LINE_CHARS_MAX + 1;
    if start == end {
        let kept = grouped(LINE_BYTES_MAX as u64);
        let message = format!("line {number} of `{path}` is read within its first {kept} bytes");
        return Err(Failure::invalid_argument("column", message));
    }
    Ok(format!(
        "{number}\t{} … [{} bytes more: read on with column {next}]\n",
        head(&text[start..end], TEXT_BYTES_MAX),
        grouped(rest)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(offset: u32, limit: u32, column: u32) -> Window {
        Window {
            offset,
            limit,
            column,
        }
    }

    fn shown(bytes: &[u8], window: &Window) -> String {
        let n_bytes = bytes.len() as u64;
        show("f", bytes, n_bytes, window).unwrap_or_else(|failure| failure.message().to_owned())
    }

    #[test]
    fn a_window_is_numbered_and_says_what_is_left_out() {
        let text = b"one\ntwo\nthree\n";
        for (offset, limit, expected) in [
            (1, 2000, "1\tone\n2\ttwo\n3\tthree\n"),
            (
                1,
                2,
                "1\tone\n2\ttwo\n[the file of 14 bytes goes on: read on with offset 3]\n",
            ),
            (3, 9, "3\tthree\n[end of the file]\n"),
            (
                2,
                1,
                "2\ttwo\n[the file of 14 bytes goes on: read on with offset 3]\n",
            ),
            (4, 1, "`f` ends after line 3"),
            (u32::MAX, 1, "`f` ends after line 3"),
        ] {
            assert_eq!(
                shown(text, &window(offset, limit, 1)),
                expected,
                "{offset} {limit}"
            );
        }
        assert_eq!(shown(b"", &window(1, 9, 1)), "[the file is empty]");
        assert_eq!(shown(b"", &window(2, 9, 1)), "`f` ends after line 0");
        assert_eq!(shown(b"\n", &window(1, 9, 1)), "1\t\n");
    }

    #[test]
    fn marks_and_returns_are_not_shown_as_text() {
        assert_eq!(shown(b"\xef\xbb\xbfone", &window(1, 9, 1)), "1\tone\n");
        assert_eq!(
            shown(b"one\r\ntwo\r\n", &window(1, 9, 1)),
            "1\tone\n2\ttwo\n[these lines end with CR LF; `edit_file` keeps that]\n"
        );
    }

    #[test]
    fn what_is_not_text_is_told_by_name() {
        for (bytes, expected) in [
            (
                &b"\x89PNG\r\n\x1a\n"[..],
                "`f` is not UTF-8 text but a PNG picture",
            ),
            (b"a\0b", "`f` is not UTF-8 text but binary data"),
            (
                b"ok\nGr\xfc\xdfe\n",
                "line 2 of `f` is not UTF-8 (byte 0xfc); the file has another encoding, such as \
                 Latin-1, or is no text",
            ),
            (
                b"cut \xc3",
                "line 1 of `f` is not UTF-8 (byte 0xc3); the file has another encoding, such as \
                 Latin-1, or is no text",
            ),
        ] {
            assert_eq!(shown(bytes, &window(1, 9, 1)), expected);
        }
        // What is not asked for is not judged.
        assert_eq!(
            shown(b"ok\nGr\xfc\xdfe\n", &window(1, 1, 1)),
            "1\tok\n[the file of 9 bytes goes on: read on with offset 2]\n"
        );
    }

    #[test]
    fn a_long_line_is_read_column_by_column() {
        let line = "ä".repeat(LINE_CHARS_MAX) + "end";
        let first = shown(line.as_bytes(), &window(1, 9, 1));
        let cut = "ä … [3 bytes more: read on with column 2001]\n";
        assert!(first.ends_with(cut), "{first}");
        assert_eq!(shown(line.as_bytes(), &window(1, 9, 2001)), "1\tend\n");
        assert_eq!(shown(line.as_bytes(), &window(1, 9, 3000)), "1\t\n");
        let endless = vec![b'x'; LINE_BYTES_MAX + 100_000];
        assert_eq!(
            shown(&endless, &window(1, 1, u32::MAX)),
            "line 1 of `f` is read within its first 16,777,216 bytes"
        );
    }

    #[test]
    fn a_window_never_grows_beyond_its_bound() {
        let text = "some line of a log\n".repeat(1_000_000);
        let shown = shown(text.as_bytes(), &window(500_001, 2000, 1));
        assert!(shown.len() < TEXT_BYTES_MAX + 200, "{}", shown.len());
        let last = shown.lines().rev().nth(1).unwrap();
        let number: u32 = last.split('\t').next().unwrap().parse().unwrap();
        let end = format!("read on with offset {}]\n", number + 1);
        assert!(shown.ends_with(&end), "{last}");
        let wide = "🦀".repeat(1999) + "\n";
        let shown = super::tests::shown(wide.repeat(50).as_bytes(), &window(1, 2000, 1));
        assert!(shown.len() <= TEXT_BYTES_MAX + 200, "{}", shown.len());
    }
}
