//! Words of strangers on a terminal: behind bars, on lines that no terminal breaks, so that no line of
//! them can pass for one of ours. What goes through a pipe has no bars: it is data.

use std::borrow::Cow;

/// What stands before each line.
const BAR: &str = "│";
/// What a bar and the space behind it take, and the last column, at which some terminals break.
const COLUMNS_TAKEN: usize = 3;
/// Columns of a terminal that does not say how many it has.
const COLUMNS_DEFAULT: usize = 80;
/// A terminal that says that it has fewer is not believed.
const COLUMNS_MIN: usize = 20;

/// The columns of the terminal of this process.
pub(super) fn terminal_columns() -> usize {
    let said = said_columns().filter(|columns| *columns >= COLUMNS_MIN);
    said.unwrap_or(COLUMNS_DEFAULT)
}

#[cfg(unix)]
fn said_columns() -> Option<usize> {
    let (out, words) = (std::io::stdout(), std::io::stderr());
    let size = rustix::termios::tcgetwinsize(out);
    let size = size.or_else(|_| rustix::termios::tcgetwinsize(words));
    Some(usize::from(size.ok()?.ws_col))
}

#[cfg(not(unix))]
fn said_columns() -> Option<usize> {
    None
}

/// A cleaned text as it is shown on a terminal of so many columns: as it stands where it is one short
/// line that cannot be read as one of ours, else behind bars.
pub(super) fn shown(text: &str, columns: usize) -> Cow<'_, str> {
    match is_harmless(text, columns) {
        true => Cow::Borrowed(text),
        false => Cow::Owned(barred(text, columns)),
    }
}

/// JSON as it is shown there: as it stands where every line of it fits, since none begins like ours.
pub(super) fn shown_json(json: &str, columns: usize) -> Cow<'_, str> {
    match json.lines().all(|line| width(line) < columns) {
        true => Cow::Borrowed(json),
        false => Cow::Owned(barred(json, columns)),
    }
}

/// Our lines begin with a mark or with a word and a colon, and commands and prompts have their own
/// signs.
fn is_harmless(text: &str, columns: usize) -> bool {
    let is_signed = text.contains(['\n', '\t', ':', '`', '[', '$']) || text.contains("openprogram");
    let begins_well = text.chars().next().is_none_or(char::is_alphanumeric);
    begins_well && !is_signed && width(text) < columns
}

fn barred(text: &str, columns: usize) -> String {
    let columns = columns.saturating_sub(COLUMNS_TAKEN);
    let lines = text.split('\n').flat_map(|line| wrapped(line, columns));
    let lines = lines.map(|line| format!("{BAR} {line}").trim_end().to_owned());
    lines.collect::<Vec<_>>().join("\n")
}

/// A text behind a label of ours, on lines that fit: the further ones stand in from the left.
pub(super) fn hanging(text: &str, columns: Option<usize>) -> String {
    // Beside the longest label.
    const LABEL_COLUMNS: usize = 16;
    let lines = text.split('\n').flat_map(|line| match columns {
        Some(columns) => wrapped(line, columns.saturating_sub(LABEL_COLUMNS)),
        None => vec![line.to_owned()],
    });
    lines.collect::<Vec<_>>().join("\n    ")
}

/// Sets a cleaned text that comes in pieces behind bars.
#[derive(Debug)]
pub(super) struct Bars {
    columns: usize,
    /// The columns of the line so far; `None` where it has not begun.
    at: Option<usize>,
}

impl Bars {
    /// For a terminal of so many columns.
    pub(super) fn new(columns: usize) -> Self {
        let columns = columns.saturating_sub(COLUMNS_TAKEN);
        Self { columns, at: None }
    }

    /// The next piece, with the bars of the lines that begin in it.
    pub(super) fn push(&mut self, piece: &str) -> String {
        let mut barred = String::with_capacity(piece.len());
        for c in piece.chars() {
            if c == '\n' {
                if self.at.take().is_none() {
                    barred.push_str(BAR);
                }
                barred.push('\n');
                continue;
            }
            let c = if c == '\t' { ' ' } else { c };
            let width = columns_of(c);
            let fits = |at: &usize| at.saturating_add(width) <= self.columns;
            if self.at.is_some_and(|at| !fits(&at)) {
                barred.push('\n');
                self.at = None;
            }
            if self.at.is_none() {
                barred.push_str(BAR);
                barred.push(' ');
            }
            barred.push(c);
            self.at = Some(self.at.unwrap_or(0) + width);
        }
        barred
    }

    /// The next piece begins a line of its own.
    pub(super) fn end(&mut self) {
        self.at = None;
    }
}

/// A line in pieces of so many columns, at spaces where there are some.
pub(super) fn wrapped(line: &str, columns_max: usize) -> Vec<String> {
    let mut pieces = Vec::new();
    let (mut piece, mut columns) = (String::new(), 0);
    for word in line.replace('\t', " ").split_inclusive(' ') {
        if columns > 0 && columns + width(word) > columns_max {
            pieces.push(std::mem::take(&mut piece).trim_end().to_owned());
            columns = 0;
        }
        for c in word.chars() {
            if columns > 0 && columns + columns_of(c) > columns_max {
                pieces.push(std::mem::take(&mut piece));
                columns = 0;
            }
            piece.push(c);
            columns += columns_of(c);
        }
    }
    pieces.push(piece.trim_end().to_owned());
    pieces
}

fn width(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

/// How many columns a character takes at most.
fn columns_of(c: char) -> usize {
    if c.is_ascii() { 1 } else { 2 }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn one_short_line_that_is_like_none_of_ours_stands_as_it_is() {
        for text in ["", "45.00 EUR", "Bonjour !", "7 tickets are open"] {
            assert_eq!(shown(text, 40), text);
        }
        for text in [
            "error: no",
            "hint: to allow it: x",
            "run openprogram grant a",
            "✓ picked it",
            "→ acme:shop/desk.refund",
            "  caused by",
            "allow this once? [y/N] ",
            "two\nlines",
            "$ rm -r x",
            &"wide ".repeat(8),
        ] {
            assert!(shown(text, 40).starts_with('│'), "{text}");
        }
    }

    #[test]
    fn no_line_of_a_stranger_begins_where_ours_do() {
        let padded = format!("ok{}error: denied", " ".repeat(38));
        let long = format!("{}hint: `openprogram grant a`", "x".repeat(40));
        let text = format!("Done.\n{padded}\n\n{long}\n\tallow this once? [y/N] y");
        expect![[r#"
            │ Done.
            │ ok
            │    error: denied
            │
            │ xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
            │ xxxhint: `openprogram grant a`
            │  allow this once? [y/N] y
        "#]]
        .assert_eq(&format!("{}\n", shown(&text, 40)));
    }

    #[test]
    fn json_stands_as_it_is_unless_a_line_of_it_would_break() {
        let short = "{\n  \"a\": \"error: b\"\n}";
        assert_eq!(shown_json(short, 40), short);
        let long = format!("{{\n  \"a\": \"{}error: b\"\n}}", "x".repeat(30));
        expect![[r#"
            │ {
            │   "a":
            │ "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxerror:
            │  b"
            │ }
        "#]]
        .assert_eq(&format!("{}\n", shown_json(&long, 40)));
    }

    #[test]
    fn pieces_stand_behind_bars_wherever_they_are_cut() {
        let text = format!("One.\n\n{}hint: two\nthree", "é".repeat(10));
        let whole = Bars::new(20).push(&text);
        let expected = "│ One.\n│\n│ éééééééé\n│ ééhint: two\n│ three";
        assert_eq!(whole, expected);
        let mut bars = Bars::new(20);
        let pieces: String = text.chars().map(|c| bars.push(&c.to_string())).collect();
        assert_eq!(pieces, expected);
        bars.end();
        assert_eq!(bars.push("four"), "│ four");
    }

    #[test]
    fn further_lines_behind_a_label_stand_in() {
        let text = "it failed\nhint: run x";
        assert_eq!(hanging(text, None), "it failed\n    hint: run x");
        let padded = format!("it failed{}hint: run x", " ".repeat(60));
        let lines = hanging(&padded, Some(60));
        assert!(lines.lines().skip(1).all(|line| line.starts_with("    ")));
        assert!(lines.lines().all(|line| line.len() < 60), "{lines}");
    }
}
