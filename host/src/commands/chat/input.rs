//! What is typed into a chat, entry by entry: a line, several that end with a backslash, or several
//! that were pasted. From a pipe every line is an entry of its own.

use std::collections::VecDeque;
use std::io::{self, IsTerminal as _};
use std::time::Duration;

use tokio::time::timeout;

use crate::commands::questions::{Lines, Typed};

/// The longest entry; it is far beyond what models take.
const ENTRY_BYTES_MAX: usize = 1 << 20;
/// Lines that come this close together were pasted; nobody types as fast.
const PASTED: Duration = Duration::from_millis(100);
/// Lines that are kept while a turn runs.
const KEPT_MAX: usize = 64;

/// The input of a chat. Nothing that was read is lost when a wait is given up.
pub(super) struct Input {
    pub(super) lines: Lines,
    /// Whether somebody types.
    pub(super) is_terminal: bool,
    /// Whether no more can come.
    pub(super) is_over: bool,
    /// The entry so far.
    begun: String,
    /// Whether the rest of a line is to be passed over.
    is_passing: bool,
    /// What was typed while a turn ran.
    kept: VecDeque<String>,
}

/// What came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// A whole entry.
    Whole(String),
    /// A line of one that goes on.
    Begun,
    /// One that was too long and is not used.
    TooLong,
    /// No more comes.
    End,
}

impl Input {
    pub(super) fn new() -> Self {
        Self {
            lines: Lines::up_to(ENTRY_BYTES_MAX as u64),
            is_terminal: io::stdin().is_terminal(),
            is_over: false,
            begun: String::new(),
            is_passing: false,
            kept: VecDeque::new(),
        }
    }

    /// Whether an entry has begun that goes on.
    pub(super) fn has_begun(&self) -> bool {
        !self.begun.is_empty()
    }

    /// Forgets the entry that has begun.
    pub(super) fn forget(&mut self) {
        self.begun.clear();
    }

    /// Keeps a line for later.
    pub(super) fn keep(&mut self, line: String) {
        if self.kept.len() < KEPT_MAX {
            self.kept.push_back(line);
        }
    }

    /// Waits for what comes next.
    pub(super) async fn next(&mut self) -> Entry {
        let line = match self.kept.pop_front() {
            Some(line) => line,
            None if self.is_over => return self.end(),
            None => match self.lines.next().await {
                Some(Typed::Line(line)) => line,
                Some(Typed::End) | None => {
                    self.is_over = true;
                    return self.end();
                }
            },
        };
        let entry = self.take(&line);
        let is_pasted = self.is_terminal && !line.trim_start().starts_with('/');
        match entry {
            Entry::Whole(text) if is_pasted => self.with_pasted(text).await,
            entry => entry,
        }
    }

    /// The last entry of an input that ends in its middle, then its end.
    fn end(&mut self) -> Entry {
        match std::mem::take(&mut self.begun) {
            begun if begun.trim().is_empty() => Entry::End,
            begun => Entry::Whole(begun),
        }
    }

    /// Takes a line in.
    fn take(&mut self, line: &str) -> Entry {
        let is_whole_line = line.ends_with('\n');
        if std::mem::replace(&mut self.is_passing, false) {
            self.is_passing = !is_whole_line;
            return Entry::TooLong;
        }
        let line = line.trim_end_matches(['\n', '\r']);
        let is_cut = !is_whole_line && line.len() + 4 >= ENTRY_BYTES_MAX;
        if is_cut || self.begun.len() + line.len() > ENTRY_BYTES_MAX {
            self.begun.clear();
            self.is_passing = !is_whole_line;
            return Entry::TooLong;
        }
        if let Some(line) = line.strip_suffix('\\') {
            self.begun.push_str(line);
            self.begun.push('\n');
            return Entry::Begun;
        }
        self.begun.push_str(line);
        Entry::Whole(std::mem::take(&mut self.begun))
    }

    /// Adds the lines that were pasted with this one.
    async fn with_pasted(&mut self, text: String) -> Entry {
        self.begun = text;
        while let Ok(typed) = timeout(PASTED, self.lines.next()).await {
            let Some(Typed::Line(line)) = typed else {
                self.is_over = true;
                break;
            };
            self.begun.push('\n');
            match self.take(&line) {
                Entry::Whole(text) => self.begun = text,
                Entry::Begun => {}
                entry => return entry,
            }
        }
        Entry::Whole(std::mem::take(&mut self.begun))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input() -> Input {
        Input {
            is_terminal: false,
            ..Input::new()
        }
    }

    #[tokio::test]
    async fn a_line_is_an_entry_unless_it_goes_on() {
        let mut input = input();
        for line in ["one\n", "two \\\r\n", "three\\\n", "four\n", "five\\\n"] {
            input.keep(line.to_owned());
        }
        input.is_over = true;
        let whole = |text: &str| Entry::Whole(text.to_owned());
        for expected in [
            whole("one"),
            Entry::Begun,
            Entry::Begun,
            whole("two \nthree\nfour"),
            Entry::Begun,
            whole("five\n"),
            Entry::End,
        ] {
            assert_eq!(input.next().await, expected);
        }
    }

    #[tokio::test]
    async fn an_entry_that_is_too_long_is_passed_over_to_the_end_of_its_line() {
        let mut input = input();
        let part = "x".repeat(ENTRY_BYTES_MAX);
        for line in [&part[..], "the rest of it\n", "short\n"] {
            input.keep(line.to_owned());
        }
        input.is_over = true;
        assert_eq!(input.next().await, Entry::TooLong);
        assert_eq!(input.next().await, Entry::TooLong);
        assert_eq!(input.next().await, Entry::Whole("short".to_owned()));
    }
}
