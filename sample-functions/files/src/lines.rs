//! Lines of a reader, one after the other, in memory that does not grow with the file.

use std::io::{self, BufRead, BufReader, Read};

/// How much is read at once.
const BLOCK_BYTES: usize = 64 << 10;

/// The lines of a file.
pub(crate) struct Lines<R> {
    reader: BufReader<R>,
    kept: Vec<u8>,
    keeps: usize,
}

/// One line without its end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    /// Its bytes, as many as are kept.
    pub(crate) bytes: &'a [u8],
    /// How many it has in all.
    pub(crate) n_bytes: u64,
    /// Whether it ended with CR LF.
    pub(crate) has_return: bool,
}

impl<R: Read> Lines<R> {
    /// The lines of a reader, of each at most so many bytes.
    pub(crate) fn new(reader: R, keeps: usize) -> Self {
        Self {
            reader: BufReader::with_capacity(BLOCK_BYTES, reader),
            kept: Vec::new(),
            keeps,
        }
    }

    /// What comes next, without taking it: a block of it, or less at the end.
    ///
    /// # Errors
    /// As the reader fails.
    pub(crate) fn peek(&mut self) -> io::Result<&[u8]> {
        self.reader.fill_buf()
    }

    /// Passes over so many bytes of what was peeked.
    pub(crate) fn skip_bytes(&mut self, n: usize) {
        self.reader.consume(n);
    }

    /// Passes over so many lines, and gives how many there were.
    ///
    /// # Errors
    /// As the reader fails.
    pub(crate) fn skip(&mut self, n: u64) -> io::Result<u64> {
        let mut skipped = 0;
        let mut is_inside = false;
        while skipped < n {
            let block = self.reader.fill_buf()?;
            if block.is_empty() {
                // The last line may have no end.
                return Ok(skipped + u64::from(is_inside));
            }
            let (used, ended) = match memchr::memchr(b'\n', block) {
                Some(at) => (at + 1, true),
                None => (block.len(), false),
            };
            self.reader.consume(used);
            skipped += u64::from(ended);
            is_inside = !ended;
        }
        Ok(skipped)
    }

    /// The next line, or `None` at the end.
    ///
    /// # Errors
    /// As the reader fails.
    pub(crate) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.kept.clear();
        let mut n_bytes = 0;
        let mut last = None;
        let mut has_end = false;
        while !has_end {
            let block = self.reader.fill_buf()?;
            if block.is_empty() {
                break;
            }
            let end = memchr::memchr(b'\n', block);
            has_end = end.is_some();
            let part = &block[..end.unwrap_or(block.len())];
            let room = self.keeps - self.kept.len();
            self.kept.extend_from_slice(&part[..part.len().min(room)]);
            n_bytes += part.len() as u64;
            last = part.last().copied().or(last);
            let used = part.len() + usize::from(has_end);
            self.reader.consume(used);
        }
        if n_bytes == 0 && !has_end {
            return Ok(None);
        }
        let has_return = has_end && last == Some(b'\r');
        if has_return {
            n_bytes -= 1;
            let kept = usize::try_from(n_bytes).unwrap_or(usize::MAX);
            self.kept.truncate(kept);
        }
        Ok(Some(Line {
            bytes: &self.kept,
            n_bytes,
            has_return,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &[u8], keeps: usize) -> Vec<(String, u64, bool)> {
        let mut lines = Lines::new(text, keeps);
        let mut all = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            let shown = String::from_utf8_lossy(line.bytes).into_owned();
            all.push((shown, line.n_bytes, line.has_return));
        }
        all
    }

    #[test]
    fn lines_end_with_either_break_or_with_the_file() {
        let line = |text: &str, has_return| (text.to_owned(), text.len() as u64, has_return);
        for (text, expected) in [
            ("", vec![]),
            ("a", vec![line("a", false)]),
            ("a\n", vec![line("a", false)]),
            (
                "a\r\n\r\nb\r",
                vec![line("a", true), line("", true), line("b\r", false)],
            ),
            ("\n\n", vec![line("", false), line("", false)]),
        ] {
            assert_eq!(all(text.as_bytes(), 100), expected, "{text:?}");
        }
    }

    #[test]
    fn a_line_that_spans_blocks_is_kept_in_part_and_counted_whole() {
        let long = "x".repeat(3 * BLOCK_BYTES);
        let text = format!("{long}\r\nend");
        let found = all(text.as_bytes(), 10);
        assert_eq!(found[0], ("x".repeat(10), long.len() as u64, true));
        assert_eq!(found[1], ("end".to_owned(), 3, false));
        // The return is where the kept part ends.
        assert_eq!(all(b"ab\r\nc", 3)[0], ("ab".to_owned(), 2, true));
        assert_eq!(all(b"ab\r\nc", 2)[0], ("ab".to_owned(), 2, true));
    }

    #[test]
    fn skipped_lines_are_counted() {
        for (text, n, expected, rest) in [
            ("a\nb\nc", 1, 1, Some("b")),
            ("a\nb\nc", 3, 3, None),
            ("a\nb\nc", 9, 3, None),
            ("a\nb\n", 9, 2, None),
            ("", 2, 0, None),
        ] {
            let mut lines = Lines::new(text.as_bytes(), 10);
            assert_eq!(lines.skip(n).unwrap(), expected, "{text:?} {n}");
            let next = lines.next().unwrap();
            assert_eq!(next.map(|line| line.bytes), rest.map(str::as_bytes));
        }
    }
}
