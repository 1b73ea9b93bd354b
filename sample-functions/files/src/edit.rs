//! Editing: one piece of a text by another, found character by character.
//!
//! A line break is the same in both kinds: the text is searched as if every line ended with LF, and
//! what is put in gets the kind that the file has there.

use std::fs::File;
use std::io::{self, Read as _};

use openprogram_guest::Failure;

use crate::files::Edited;
use crate::place::{checked, failed, failure};
use crate::replace::replace;
use crate::text::{HEAD_BYTES, grouped, head, not_text, not_text_failure, not_utf8};

/// The most bytes of a file that is edited. It is in memory some times over meanwhile.
const FILE_BYTES_MAX: u64 = 16 << 20;
/// The most lines that are told by number.
const LINES_TOLD_MAX: usize = 10;
/// The lines shown before and after a change.
const AROUND: usize = 3;
/// The most lines that are compared to find out what nearly fits.
const COMPARED_MAX: usize = 10_000_000;
/// The most bytes of lines shown.
const SHOWN_BYTES_MAX: usize = 4_000;

/// Replaces a piece of a file.
///
/// # Errors
/// Where the piece is not there or not once, or the file cannot be read or written.
pub(crate) fn edit_file(path: &str, old: &str, new: &str, all: bool) -> Result<Edited, Failure> {
    let path = checked(path)?;
    let content = read_whole(&path)?;
    let change = change(&content, old, new, all).map_err(|unfit| unfit.failure(&path))?;
    let start = &content.as_bytes()[..content.len().min(2)];
    replace(&path, change.text.as_bytes(), start)
        .map_err(|error| failed("write", &path, &error))?;
    Ok(Edited {
        path,
        replacements: change.n,
        lines: change.shown,
    })
}

fn read_whole(path: &str) -> Result<String, Failure> {
    let error = |error: io::Error| failed("read", path, &error);
    let file = File::open(path).map_err(error)?;
    let known = file.metadata().map_err(error)?;
    if known.is_dir() {
        return Err(error(io::ErrorKind::IsADirectory.into()));
    }
    let too_large = |n_bytes: u64| {
        failure(format!(
            "`{path}` has {} bytes; files of up to {} are edited",
            grouped(n_bytes),
            grouped(FILE_BYTES_MAX)
        ))
    };
    if known.len() > FILE_BYTES_MAX {
        return Err(too_large(known.len()));
    }
    let mut bytes = Vec::new();
    // It may have grown meanwhile.
    file.take(FILE_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(error)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(too_large(bytes.len() as u64));
    }
    if let Some(what) = not_text(&bytes[..bytes.len().min(HEAD_BYTES)]) {
        return Err(not_text_failure(path, what));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let bytes = error.as_bytes();
        let line = bytes[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        not_utf8(path, line as u64, bytes[at])
    })
}

/// A text after a change.
#[derive(Debug, PartialEq, Eq)]
struct Change {
    text: String,
    n: u32,
    shown: String,
}

/// Why there is no change.
#[derive(Debug, PartialEq, Eq)]
enum Unfit {
    Empty,
    Same,
    /// The piece is not there; what nearly is.
    Missing(Option<Nearly>),
    /// The piece is there more than once, in these lines.
    Several(Vec<usize>),
}

/// What stands in a file instead of what was looked for.
#[derive(Debug, PartialEq, Eq)]
enum Nearly {
    /// The piece begins with line numbers, as `read_file` shows them.
    Numbered,
    /// The same lines with other white space, from this line on.
    Spaced(usize),
    /// The first line of the piece alone, in this line.
    FirstLine(usize),
}

impl Unfit {
    fn failure(&self, path: &str) -> Failure {
        match self {
            Self::Empty => Failure::invalid_argument(
                "old_text",
                "`old_text` is empty; to add to a file, replace a line by itself and what is new, \
                 or use `write_file` with `if_exists` set to `append`",
            ),
            Self::Same => Failure::invalid_argument(
                "new_text",
                "`new_text` is what stands there already; nothing would change",
            ),
            Self::Missing(nearly) => {
                let hint = match nearly {
                    None => "read the file and copy the piece from it".to_owned(),
                    Some(Nearly::Numbered) => {
                        "leave out the line numbers that `read_file` shows".to_owned()
                    }
                    Some(Nearly::Spaced(line)) => format!(
                        "line {line} and those after it differ from it in white space alone; copy \
                         them as they are"
                    ),
                    Some(Nearly::FirstLine(line)) => format!(
                        "its first line is line {line}, and what follows there differs; read the \
                         file from there"
                    ),
                };
                failure(format!("`old_text` is not in `{path}`: {hint}"))
            }
            Self::Several(lines) => {
                let told: Vec<_> = lines.iter().take(LINES_TOLD_MAX).collect();
                let told: Vec<_> = told.into_iter().map(ToString::to_string).collect();
                let more = if lines.len() > LINES_TOLD_MAX {
                    " and more"
                } else {
                    ""
                };
                failure(format!(
                    "`old_text` is in `{path}` {} times, in the lines {}{more}; add lines around \
                     it until it is found once, or set `replace_all`",
                    lines.len(),
                    told.join(", ")
                ))
            }
        }
    }
}

/// A text whose lines all end with LF, and where that changed it.
struct Plain {
    text: String,
    /// Where the line breaks are, in `text`, that were CR LF.
    returns: Vec<usize>,
}

impl Plain {
    fn of(content: &str) -> Self {
        let mut text = String::with_capacity(content.len());
        let mut returns = Vec::new();
        let mut rest = content;
        while let Some(at) = rest.find("\r\n") {
            text.push_str(&rest[..at]);
            returns.push(text.len());
            text.push('\n');
            rest = &rest[at + 2..];
        }
        text.push_str(rest);
        Self { text, returns }
    }

    /// Where a place of the text is in the content.
    fn original(&self, at: usize) -> usize {
        at + self.returns.partition_point(|before| *before < at)
    }

    /// The kind of line break in a range, or else in most lines.
    fn line_break(&self, start: usize, end: usize) -> &'static str {
        let has_return = match self.text[start..end].find('\n') {
            Some(at) => self.returns.binary_search(&(start + at)).is_ok(),
            None => {
                let n_breaks = self.text.bytes().filter(|byte| *byte == b'\n').count();
                self.returns.len() * 2 > n_breaks
            }
        };
        if has_return { "\r\n" } else { "\n" }
    }
}

fn change(content: &str, old: &str, new: &str, all: bool) -> Result<Change, Unfit> {
    let (plain, old, new) = (Plain::of(content), Plain::of(old).text, Plain::of(new).text);
    if old.is_empty() {
        return Err(Unfit::Empty);
    }
    if old == new {
        return Err(Unfit::Same);
    }
    let places: Vec<usize> = plain.text.match_indices(&old).map(|(at, _)| at).collect();
    match places.len() {
        0 => return Err(Unfit::Missing(nearly(&plain.text, &old))),
        1 => {}
        _ if all => {}
        _ => {
            let lines = places.iter().map(|at| line_at(&plain.text, *at));
            return Err(Unfit::Several(lines.collect()));
        }
    }
    let usual = plain.line_break(0, 0);
    let mut text = String::with_capacity(content.len());
    let mut copied = 0;
    for at in &places {
        let end = at + old.len();
        text.push_str(&content[copied..plain.original(*at)]);
        let line_break = if old.contains('\n') {
            plain.line_break(*at, end)
        } else {
            usual
        };
        text.push_str(&new.replace('\n', line_break));
        copied = plain.original(end);
    }
    text.push_str(&content[copied..]);
    let shown = shown(&text, line_at(&plain.text, places[0]), &new);
    Ok(Change {
        text,
        n: u32::try_from(places.len()).unwrap_or(u32::MAX),
        shown,
    })
}

/// The number of the line at a place.
fn line_at(text: &str, at: usize) -> usize {
    text.as_bytes()[..at]
        .iter()
        .filter(|byte| **byte == b'\n')
        .count()
        + 1
}

/// The lines of a change and some around them, numbered.
fn shown(text: &str, line: usize, new: &str) -> String {
    let first = line.saturating_sub(AROUND).max(1);
    let last = line + new.matches('\n').count() + AROUND;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut shown = String::new();
    for (index, content) in text.lines().enumerate().take(last).skip(first - 1) {
        let number = index + 1;
        let line = format!("{number}\t{}\n", head(content, SHOWN_BYTES_MAX / 8));
        if shown.len() + line.len() > SHOWN_BYTES_MAX {
            shown.push_str(&format!(
                "[cut: `read_file` shows more with offset {number}]\n"
            ));
            break;
        }
        shown.push_str(&line);
    }
    shown
}

/// What stands in a text nearly as it was looked for.
fn nearly(text: &str, old: &str) -> Option<Nearly> {
    let number = |line: &str| {
        let (number, _) = line.split_once('\t')?;
        number.trim().parse::<u64>().ok()
    };
    let lines = || old.lines().filter(|line| !line.trim().is_empty());
    if lines().next().is_some() && lines().all(|line| number(line).is_some()) {
        return Some(Nearly::Numbered);
    }
    let joined = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let wanted: Vec<String> = lines().map(joined).collect();
    let first = wanted.first()?;
    let there: Vec<(usize, String)> = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(index, line)| (index + 1, joined(line)))
        .collect();
    let fits = |window: &&[(usize, String)]| window.iter().map(|(_, line)| line).eq(&wanted);
    let is_quick = wanted.len().saturating_mul(there.len()) <= COMPARED_MAX;
    if is_quick && let Some(window) = there.windows(wanted.len()).find(fits) {
        return Some(Nearly::Spaced(window[0].0));
    }
    let found = there.iter().find(|(_, line)| line == first)?;
    (wanted.len() > 1).then_some(Nearly::FirstLine(found.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(content: &str, old: &str, new: &str, all: bool) -> String {
        match change(content, old, new, all) {
            Ok(change) => change.text,
            Err(unfit) => unfit.failure("f").message().to_owned(),
        }
    }

    #[test]
    fn a_piece_that_stands_once_is_replaced() {
        for (content, old, new, expected) in [
            ("one two three", "two", "2", "one 2 three"),
            ("a\nb\nc\n", "b\n", "", "a\nc\n"),
            ("a\nb\nc\n", "a\nb", "x\ny\nz", "x\ny\nz\nc\n"),
            ("größe", "ö", "o", "große"),
            ("\u{feff}one", "one", "two", "\u{feff}two"),
        ] {
            assert_eq!(edited(content, old, new, false), expected, "{content:?}");
        }
        let all = change("a b a", "a", "c", true).unwrap();
        assert_eq!((all.text.as_str(), all.n), ("c b c", 2));
    }

    #[test]
    fn line_breaks_stay_as_the_file_has_them() {
        for (content, old, new, expected) in [
            (
                "a\r\nb\r\nc\r\n",
                "a\nb\n",
                "x\ny\nz\n",
                "x\r\ny\r\nz\r\nc\r\n",
            ),
            ("a\r\nb\r\n", "a\r\nb", "x\r\ny", "x\r\ny\r\n"),
            ("a\r\nb\r\nc", "c", "c\nd", "a\r\nb\r\nc\r\nd"),
            ("a\nb\n", "a\r\nb", "x\r\ny", "x\ny\n"),
            // A file of both kinds keeps each where it is.
            ("a\r\nb\nc\r\nd\n", "b\nc", "x\ny", "a\r\nx\ny\r\nd\n"),
            ("a\r\nb\nc\r\nd\n", "a\nb", "x\ny", "x\r\ny\nc\r\nd\n"),
            ("lone\rreturn\n", "return", "x", "lone\rx\n"),
        ] {
            assert_eq!(
                edited(content, old, new, false),
                expected,
                "{content:?} {old:?}"
            );
        }
    }

    #[test]
    fn what_does_not_fit_says_what_to_do() {
        let text = "fn one() {\n    work();\n}\n\nfn two() {\n    work();\n}\n";
        for (old, new, expected) in [
            (
                "    work();",
                "x",
                "`old_text` is in `f` 2 times, in the lines 2, 6; add lines around it until it is \
                 found once, or set `replace_all`",
            ),
            (
                "fn two() {\n  work();\n}",
                "x",
                "`old_text` is not in `f`: line 5 and those after it differ from it in \
                 white space alone; copy them as they are",
            ),
            (
                "fn two() {\n    rest();\n}",
                "x",
                "`old_text` is not in `f`: its first line is line 5, and what follows there \
                 differs; read the file from there",
            ),
            (
                "5\tfn two() {\n6\t    work();",
                "x",
                "`old_text` is not in `f`: leave out the line numbers that `read_file` \
                 shows",
            ),
            (
                "fn three()",
                "x",
                "`old_text` is not in `f`: read the file and copy the piece from it",
            ),
            (
                "fn one",
                "fn one",
                "`new_text` is what stands there already; nothing would change",
            ),
        ] {
            assert_eq!(edited(text, old, new, false), expected, "{old:?}");
        }
        assert!(edited(text, "", "x", false).starts_with("`old_text` is empty"));
        let many = edited(&"a\n".repeat(50), "a", "b", false);
        assert!(
            many.contains("50 times") && many.contains("9, 10 and more;"),
            "{many}"
        );
    }

    #[test]
    fn the_changed_lines_are_shown_with_some_around_them() {
        let text: String = (1..=20).map(|n| format!("line {n}\r\n")).collect();
        let change = change(&text, "line 10", "ten\nand a half", false).unwrap();
        assert_eq!(
            change.shown,
            "7\tline 7\n8\tline 8\n9\tline 9\n10\tten\n11\tand a half\n12\tline 11\n13\tline 12\n\
             14\tline 13\n"
        );
        let long = super::change("x", "x", &"y\n".repeat(5000), false).unwrap();
        assert!(long.shown.len() < SHOWN_BYTES_MAX + 100);
        assert!(
            long.shown
                .contains("[cut: `read_file` shows more with offset")
        );
    }

    #[test]
    fn a_large_file_is_edited_in_time_that_grows_with_it() {
        let text = "same line of text\r\n".repeat(200_000);
        let change = change(&text, "line", "row", true).unwrap();
        assert_eq!(change.n, 200_000);
        assert_eq!(change.text, "same row of text\r\n".repeat(200_000));
        // Nor does looking for what nearly fits take longer than it helps.
        let wanted = "same line of  text\n".repeat(2_000);
        assert!(edited(&text, &format!("{wanted}end"), "", false).contains("its first line"));
    }
}
