//! Searching: the lines of files that match, each file read once and in pieces.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};
use std::ops::ControlFlow;

use openprogram_guest::Failure;
use regex::bytes::{Regex, RegexBuilder};

use crate::files::{FileMatches, Found, Kind};
use crate::glob::Glob;
use crate::lines::Lines;
use crate::place::{checked, failed, folders};
use crate::text::{HEAD_BYTES, grouped, not_text};
use crate::walk::{DEPTH_MAX, Visited, Walk, Walked, left_out};

/// The most matching lines that are shown.
const MATCHES_MAX: u32 = 200;
/// The most lines around a match.
const CONTEXT_MAX: u32 = 10;
/// The most bytes of all lines that are shown.
const TEXT_BYTES_MAX: usize = 20_000;
/// The most characters of a line that are shown; around the match where the line is longer.
const LINE_CHARS_MAX: usize = 300;
/// The most bytes of a line that are searched.
const LINE_BYTES_MAX: usize = 1 << 20;
/// The most bytes of all files that are searched: some seconds of work at the slowest.
const BYTES_MAX: u64 = 128 << 20;
/// The most memory of a compiled pattern, and of what it remembers while it searches.
const PATTERN_BYTES_MAX: usize = 2 << 20;

/// What is to be found.
pub(crate) struct Wanted {
    pub(crate) pattern: String,
    pub(crate) path: Option<String>,
    pub(crate) glob: Option<String>,
    pub(crate) plain: bool,
    pub(crate) context: u32,
    pub(crate) limit: u32,
    pub(crate) hidden: bool,
}

/// Searches.
///
/// # Errors
/// Where the pattern or the glob is none, or the place cannot be read.
pub(crate) fn search_files(wanted: &Wanted) -> Result<Found, Failure> {
    let mut search = Search {
        regex: compiled(wanted)?,
        context: wanted.context.min(CONTEXT_MAX) as usize,
        room: wanted.limit.clamp(1, MATCHES_MAX),
        ..Search::default()
    };
    let glob = wanted.glob.as_deref().map(Glob::read).transpose()?;
    let roots = match &wanted.path {
        Some(path) => vec![checked(path)?],
        None => folders()?.into_iter().map(|folder| folder.name).collect(),
    };
    let walk = Walk {
        depth: DEPTH_MAX,
        hidden: wanted.hidden,
        glob: glob.as_ref(),
        after: None,
    };
    let mut walked = Walked::default();
    for root in roots {
        // Asked for by name, a file is searched whatever else was asked for.
        if std::fs::metadata(&root).is_ok_and(|known| known.is_file()) {
            search
                .file(&root)
                .map_err(|error| failed("search", &root, &error))?;
            continue;
        }
        let mut visit = |visited: &Visited<'_>| {
            if visited.kind == Kind::File && search.file(visited.path).is_err() {
                search.n_refused += 1;
            }
            search.flow()
        };
        if walk.over(&root, &mut walked, &mut visit)?.is_break() {
            break;
        }
    }
    Ok(search.found(wanted, &walked))
}

fn compiled(wanted: &Wanted) -> Result<Option<Regex>, Failure> {
    let wrong = |why: String| Failure::invalid_argument("pattern", why);
    if wanted.pattern.is_empty() {
        return Err(wrong("an empty pattern matches every line".to_owned()));
    }
    if wanted.pattern.contains('\n') {
        let why = "lines are searched one by one, so a pattern holds no line break; look for its \
                   first line and set `context`";
        return Err(wrong(why.to_owned()));
    }
    let pattern = if wanted.plain {
        regex::escape(&wanted.pattern)
    } else {
        wanted.pattern.clone()
    };
    let regex = RegexBuilder::new(&pattern)
        .size_limit(PATTERN_BYTES_MAX)
        .dfa_size_limit(PATTERN_BYTES_MAX)
        .build();
    regex.map(Some).map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => wrong(
            "the pattern is too large once its repetitions are written out; repeat less".to_owned(),
        ),
        error => {
            // The last line of the message says what is wrong, those above it show where.
            let text = error.to_string();
            let why = text.lines().last().unwrap_or_default();
            let why = why.strip_prefix("error: ").unwrap_or(why);
            wrong(format!(
                "the pattern is no regular expression: {why}; set `plain` to look for it as a text"
            ))
        }
    })
}

/// A search on its way.
#[derive(Default)]
struct Search {
    regex: Option<Regex>,
    context: usize,
    /// How many more matching lines may be shown.
    room: u32,
    files: Vec<FileMatches>,
    matches: u32,
    n_files: u32,
    n_not_text: u32,
    n_refused: u32,
    n_long_lines: u32,
    n_bytes: u64,
    shown_bytes: usize,
    stopped: Option<Stopped>,
}

/// Why a search ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stopped {
    Matches,
    Text,
    Bytes,
}

impl Search {
    fn flow(&self) -> ControlFlow<()> {
        match self.stopped {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    }

    fn file(&mut self, path: &str) -> io::Result<()> {
        let file = File::open(path)?;
        self.read(path, file)
    }

    /// Searches one file.
    fn read(&mut self, path: &str, file: impl Read) -> io::Result<()> {
        let mut lines = Lines::new(file, LINE_BYTES_MAX);
        let head = lines.peek()?;
        if not_text(&head[..head.len().min(HEAD_BYTES)]).is_some() {
            self.n_not_text += 1;
            return Ok(());
        }
        self.n_files += 1;
        let Some(regex) = self.regex.clone() else {
            return Ok(());
        };
        let mut shown = Shown::new(self.context);
        let mut number = 0;
        while let Some(line) = lines.next()? {
            number += 1;
            self.n_bytes += line.n_bytes + 1;
            if line.n_bytes > line.bytes.len() as u64 {
                self.n_long_lines += 1;
            }
            match regex.find(line.bytes) {
                None => shown.around(number, line.bytes),
                Some(_) if self.room == 0 => self.stopped = Some(Stopped::Matches),
                Some(found) => {
                    self.room -= 1;
                    self.matches += 1;
                    shown.matching(number, line.bytes, found.start());
                }
            }
            if self.shown_bytes + shown.n_bytes > TEXT_BYTES_MAX {
                self.stopped = Some(Stopped::Text);
            } else if self.n_bytes > BYTES_MAX {
                self.stopped = Some(Stopped::Bytes);
            }
            if self.stopped.is_some() {
                break;
            }
        }
        if !shown.lines.is_empty() {
            self.shown_bytes += shown.n_bytes + path.len();
            self.files.push(FileMatches {
                path: path.to_owned(),
                lines: shown.lines,
            });
        }
        Ok(())
    }

    fn found(self, wanted: &Wanted, walked: &Walked) -> Found {
        let mut said = Vec::new();
        match self.stopped {
            None => {}
            Some(Stopped::Matches) => said.push(format!(
                "{} matching lines are shown and there are more: raise `limit`, or narrow \
                 `pattern`, `path` or `glob`",
                self.matches
            )),
            Some(Stopped::Text) => said.push(format!(
                "the list was cut after {} matching lines because of its length: narrow \
                 `pattern`, `path` or `glob`, or lower `context`",
                self.matches
            )),
            Some(Stopped::Bytes) => said.push(format!(
                "stopped after {} bytes: narrow `path` or `glob`",
                grouped(BYTES_MAX)
            )),
        }
        said.extend(left_out(walked));
        for (n, one, many) in [
            (
                self.n_refused,
                "file could not be read",
                "files could not be read",
            ),
            (
                self.n_not_text,
                "file is not UTF-8 text and was passed over",
                "files are not UTF-8 text and were passed over",
            ),
            (
                self.n_long_lines,
                "line of more than 1,048,576 bytes was searched in part",
                "lines of more than 1,048,576 bytes were searched in part",
            ),
        ] {
            match n {
                0 => {}
                1 => said.push(format!("1 {one}")),
                n => said.push(format!("{} {many}", grouped(n.into()))),
            }
        }
        if self.n_files == 0 && wanted.glob.is_some() && self.n_not_text == 0 {
            said.push("no file fits `glob`".to_owned());
        }
        Found {
            files: self.files,
            matches: self.matches,
            files_searched: self.n_files,
            more: (!said.is_empty()).then(|| said.join("; ")),
        }
    }
}

/// The lines of one file as they are shown.
struct Shown {
    context: usize,
    lines: Vec<String>,
    n_bytes: usize,
    /// Lines that are shown when a match follows.
    before: VecDeque<(u64, String)>,
    /// How many more lines are shown after a match.
    after: usize,
    last: u64,
}

impl Shown {
    fn new(context: usize) -> Self {
        Self {
            context,
            lines: Vec::new(),
            n_bytes: 0,
            before: VecDeque::new(),
            after: 0,
            last: 0,
        }
    }

    fn around(&mut self, number: u64, line: &[u8]) {
        if self.context == 0 {
            return;
        }
        if self.after > 0 {
            self.after -= 1;
            self.push(number, '-', cut(line, 0));
        } else {
            if self.before.len() == self.context {
                self.before.pop_front();
            }
            self.before.push_back((number, cut(line, 0)));
        }
    }

    fn matching(&mut self, number: u64, line: &[u8], at: usize) {
        let first = self.before.front().map_or(number, |(number, _)| *number);
        if self.context > 0 && self.last > 0 && first > self.last + 1 {
            self.lines.push("--".to_owned());
        }
        for (number, text) in std::mem::take(&mut self.before) {
            self.push(number, '-', text);
        }
        self.push(number, ':', cut(line, at));
        self.after = self.context;
    }

    fn push(&mut self, number: u64, mark: char, text: String) {
        let line = format!("{number}{mark} {text}");
        // With what the form around it takes.
        self.n_bytes += line.len() + 4;
        self.lines.push(line);
        self.last = number;
    }
}

/// A line as it is shown: whole, or some of it around a place.
fn cut(line: &[u8], at: usize) -> String {
    let text = String::from_utf8_lossy(line);
    if text.len() <= LINE_CHARS_MAX || text.chars().count() <= LINE_CHARS_MAX {
        return text.into_owned();
    }
    let before = String::from_utf8_lossy(&line[..at]).chars().count();
    let start = before.saturating_sub(LINE_CHARS_MAX / 3);
    let part: String = text.chars().skip(start).take(LINE_CHARS_MAX).collect();
    let head = if start > 0 { "… " } else { "" };
    let is_end = text.chars().nth(start + LINE_CHARS_MAX).is_none();
    let tail = if is_end { "" } else { " …" };
    format!("{head}{part}{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(pattern: &str) -> Wanted {
        Wanted {
            pattern: pattern.to_owned(),
            path: None,
            glob: None,
            plain: false,
            context: 0,
            limit: 50,
            hidden: false,
        }
    }

    fn found(wanted: &Wanted, text: &[u8]) -> Found {
        let mut search = Search {
            regex: compiled(wanted).unwrap(),
            context: wanted.context as usize,
            room: wanted.limit,
            ..Search::default()
        };
        search.read("f", text).unwrap();
        search.found(wanted, &Walked::default())
    }

    fn lines(wanted: &Wanted, text: &str) -> Vec<String> {
        let files = found(wanted, text.as_bytes()).files;
        files.into_iter().flat_map(|file| file.lines).collect()
    }

    #[test]
    fn matching_lines_are_numbered_with_those_around_them() {
        let text = "one\ntwo\nthree\nfour\nfive\nsix\r\nseven\n";
        assert_eq!(lines(&wanted("^f"), text), ["4: four", "5: five"]);
        let around = |context| Wanted {
            context,
            ..wanted("one|four|seven")
        };
        assert_eq!(
            lines(&around(1), text),
            [
                "1: one", "2- two", "3- three", "4: four", "5- five", "6- six", "7: seven"
            ]
        );
        let far = Wanted {
            context: 1,
            ..wanted("one|six")
        };
        assert_eq!(
            lines(&far, text),
            ["1: one", "2- two", "--", "5- five", "6: six", "7- seven"]
        );
    }

    #[test]
    fn patterns_are_expressions_or_plain_texts() {
        let text = "a.b\naxb\nA.B\n";
        assert_eq!(lines(&wanted("a.b"), text), ["1: a.b", "2: axb"]);
        let plain = Wanted {
            plain: true,
            ..wanted("a.b")
        };
        assert_eq!(lines(&plain, text), ["1: a.b"]);
        assert_eq!(lines(&wanted("(?i)a[.]b"), text), ["1: a.b", "3: A.B"]);
        assert_eq!(lines(&wanted(r"\p{L}+ß"), "Straße\n"), ["1: Straße"]);
    }

    #[test]
    fn what_is_no_pattern_is_told() {
        for (pattern, words) in [
            ("", "matches every line"),
            ("a\nb", "no line break"),
            ("(a", "unclosed group"),
            ("(?=a)", "look-around"),
            ("a{1000}{1000}", "repeat less"),
            ("[", "unclosed character class"),
        ] {
            let failure = compiled(&wanted(pattern)).err().unwrap();
            assert!(failure.message().contains(words), "{pattern}: {failure}");
        }
    }

    #[test]
    fn a_search_is_bounded_and_says_so() {
        let many = "hit\n".repeat(1000);
        let found = |wanted: &Wanted, text: &str| super::tests::found(wanted, text.as_bytes());
        let cut = found(&wanted("hit"), &many);
        assert_eq!((cut.matches, cut.files[0].lines.len()), (50, 50));
        assert!(
            cut.more
                .unwrap()
                .starts_with("50 matching lines are shown and there are more")
        );
        let exact = found(&wanted("hit"), &"hit\n".repeat(50));
        assert_eq!((exact.matches, exact.more), (50, None));
        let wide = format!("{}hit{}\n", "x".repeat(400), "y".repeat(400));
        let limit = Wanted {
            limit: 200,
            ..wanted("hit")
        };
        let cut = found(&limit, &wide.repeat(200));
        assert!(cut.matches < 100, "{}", cut.matches);
        assert!(cut.more.unwrap().contains("because of its length"));
        let line = &cut.files[0].lines[0];
        assert!(
            line.starts_with("1: … xxx") && line.ends_with("yyy …"),
            "{line}"
        );
        assert!(line.contains("xhity"), "{line}");
    }

    #[test]
    fn what_is_not_text_is_passed_over_and_counted() {
        let binary = found(&wanted("hit"), b"\0hit\n");
        assert_eq!((binary.files_searched, binary.matches), (0, 0));
        assert_eq!(
            binary.more.as_deref(),
            Some("1 file is not UTF-8 text and was passed over")
        );
        // Single bytes that are no UTF-8 do not hide the rest of a file.
        assert_eq!(
            found(&wanted("hit"), b"Gr\xfcn hit\n").files[0].lines,
            ["1: Gr\u{fffd}n hit"]
        );
    }
}
