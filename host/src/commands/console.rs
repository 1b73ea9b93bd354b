//! Where a command writes: data on stdout, words for people on stderr.

use std::io::{self, IsTerminal as _, Write};

use openprogram_core::Json;

use super::bars::{hanging, shown, shown_json, terminal_columns};
use super::exit::NotConfirmed;
use super::questions::{Lines, Typed};
use crate::settings::TerminalSettings;
use crate::text::{clean, escape_json};

/// The two outputs of a command.
pub struct Console {
    out: Box<dyn Write + Send>,
    words: Box<dyn Write + Send>,
    colours: bool,
    /// The columns of the terminal that data goes to, where a person reads it there.
    reader_columns: Option<usize>,
    /// Those of the one that words go to.
    watcher_columns: Option<usize>,
}

/// What a line of words begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// Why a command ends badly.
    Error,
    /// What to do about it.
    Hint,
}

impl Label {
    /// The word, and how it looks on a terminal with colours.
    fn parts(self) -> (&'static str, &'static str) {
        match self {
            Self::Error => ("error", "1;31"),
            Self::Hint => ("hint", "1"),
        }
    }
}

impl Console {
    /// The console of the process.
    #[must_use]
    pub fn of_process(terminal: &TerminalSettings) -> Self {
        Self {
            colours: terminal.colours_on(Self::has_watcher()),
            reader_columns: Self::has_reader().then(terminal_columns),
            watcher_columns: Self::has_watcher().then(terminal_columns),
            ..Self::new(Box::new(io::stdout()), Box::new(io::stderr()))
        }
    }

    /// A console on any two outputs, without colours.
    #[must_use]
    pub fn new(out: Box<dyn Write + Send>, words: Box<dyn Write + Send>) -> Self {
        Self {
            out,
            words,
            colours: false,
            reader_columns: None,
            watcher_columns: None,
        }
    }

    /// Whether a person looks at stderr.
    #[must_use]
    pub fn has_watcher() -> bool {
        io::stderr().is_terminal()
    }

    /// Whether a person looks at stdout too.
    #[must_use]
    pub fn has_reader() -> bool {
        io::stdout().is_terminal()
    }

    /// Whether a person can be asked: one looks at stderr and types into stdin.
    #[must_use]
    pub fn can_ask() -> bool {
        io::stdin().is_terminal() && Self::has_watcher()
    }

    /// Prints data as text, cleaned of what a terminal acts on, with one line break at its end.
    ///
    /// # Errors
    /// When stdout cannot be written.
    pub fn text(&mut self, text: &str) -> io::Result<()> {
        let cleaned = clean(text);
        self.line(cleaned.strip_suffix('\n').unwrap_or(&cleaned))
    }

    /// Prints data as JSON.
    ///
    /// # Errors
    /// When stdout cannot be written.
    pub fn json(&mut self, value: &Json) -> io::Result<()> {
        // Alternate form: the value over several lines. It cannot fail on a value of our own.
        self.line(&escape_json(&format!("{value:#}")))
    }

    /// Prints what a stranger gave, a function or a model: a text as it is, anything else as JSON. On a
    /// terminal one sees that it is none of our words.
    ///
    /// # Errors
    /// When stdout cannot be written.
    pub fn given(&mut self, value: &Json) -> io::Result<()> {
        let Some(columns) = self.reader_columns else {
            return match value {
                Json::String(text) => self.text(text),
                other => self.json(other),
            };
        };
        match value {
            Json::String(text) => {
                let cleaned = clean(text);
                let text = cleaned.strip_suffix('\n').unwrap_or(&cleaned);
                self.line(&shown(text, columns))
            }
            other => {
                let json = format!("{other:#}");
                self.line(&shown_json(&escape_json(&json), columns))
            }
        }
    }

    /// Prints data as JSON on one line.
    ///
    /// # Errors
    /// When stdout cannot be written.
    pub fn json_line(&mut self, value: &Json) -> io::Result<()> {
        self.line(&escape_json(&value.to_string()))
    }

    /// Tells a person something. Words that cannot be written are no reason to fail: nobody is
    /// there to read them.
    pub fn say(&mut self, words: &str) {
        let _ = writeln!(self.words, "{}", clean(words));
    }

    /// Tells a person something of a kind: `error: …`.
    pub fn say_labelled(&mut self, label: Label, words: &str) {
        let (word, code) = label.parts();
        if !self.colours {
            return self.say(&format!("{word}: {words}"));
        }
        // As above.
        let line = format!("\u{1b}[{code}m{word}:\u{1b}[0m {}", clean(words));
        let _ = writeln!(self.words, "{line}");
    }

    /// Tells a person why something failed. It may hold words of strangers, so that further lines of it
    /// stand in from the left.
    pub fn say_why(&mut self, label: Option<Label>, why: &str) {
        let words = hanging(&clean(why), self.watcher_columns);
        match label {
            Some(label) => self.say_labelled(label, &words),
            None => self.say(&words),
        }
    }

    /// Puts a question to the person at the terminal, unless `has_yes` answers it. `command` is what
    /// says yes where nobody can be asked. What was typed before the question is no answer to it.
    ///
    /// # Errors
    /// [`NotConfirmed`] when the answer is not yes, or nobody is there to ask.
    pub async fn confirm(
        &mut self,
        question: &str,
        has_yes: bool,
        command: &str,
    ) -> Result<(), NotConfirmed> {
        if has_yes {
            return Ok(());
        }
        if !Self::can_ask() {
            return Err(NotConfirmed(format!(
                "a person has to say yes to this, and there is no terminal to ask on; `{command}` \
                 says yes"
            )));
        }
        let lines = Lines::default();
        lines.forget_what_was_typed().await;
        // A question that cannot be written is answered with no.
        let _ = write!(self.words, "{} [y/N] ", clean(question));
        let _ = self.words.flush();
        if let Some(Typed::Line(answer)) = lines.next().await
            && matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
        {
            return Ok(());
        }
        Err(NotConfirmed("declined; nothing was changed".to_owned()))
    }

    /// Where tools that are run for this command put their words.
    pub fn words(&mut self) -> &mut dyn Write {
        &mut self.words
    }

    fn line(&mut self, line: &str) -> io::Result<()> {
        writeln!(self.out, "{line}")?;
        self.out.flush()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// Keeps what was written.
    #[derive(Clone, Default)]
    pub(crate) struct Recorded {
        out: Sink,
        words: Sink,
    }

    #[derive(Clone, Default)]
    struct Sink(Arc<Mutex<Vec<u8>>>);

    impl Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Recorded {
        pub(crate) fn console(&self) -> Console {
            Console::new(Box::new(self.out.clone()), Box::new(self.words.clone()))
        }

        /// What went to stdout and to stderr.
        pub(crate) fn take(&self) -> (String, String) {
            let text = |sink: &Sink| {
                String::from_utf8(std::mem::take(&mut *sink.0.lock().unwrap())).unwrap()
            };
            (text(&self.out), text(&self.words))
        }
    }

    #[test]
    fn data_and_words_go_their_own_ways_and_both_are_clean() {
        let recorded = Recorded::default();
        let mut console = recorded.console();
        console.text("\u{1b}[1mdata\n").unwrap();
        console.json(&serde_json::json!({"a": "\u{9b}"})).unwrap();
        console.say("\u{7}words");
        let out = "data\n{\n  \"a\": \"\\u009b\"\n}\n";
        assert_eq!(recorded.take(), (out.to_owned(), "words\n".to_owned()));
    }

    #[test]
    fn on_a_terminal_what_a_function_gave_is_none_of_our_words() {
        let hostile = serde_json::json!("Done.\n\u{1b}[2Jhint: to allow it: openprogram grant a\n");
        let recorded = Recorded::default();
        let mut console = recorded.console();
        console.given(&hostile).unwrap();
        let (out, _) = recorded.take();
        assert_eq!(out, "Done.\nhint: to allow it: openprogram grant a\n");
        console.reader_columns = Some(80);
        console.given(&hostile).unwrap();
        console.given(&serde_json::json!("45.00 EUR")).unwrap();
        console.given(&serde_json::json!([8])).unwrap();
        let (out, _) = recorded.take();
        expect_test::expect![[r#"
            │ Done.
            │ hint: to allow it: openprogram grant a
            45.00 EUR
            [
              8
            ]
        "#]]
        .assert_eq(&out);
    }

    #[test]
    fn a_label_is_coloured_and_what_it_labels_is_clean() {
        let recorded = Recorded::default();
        let mut console = recorded.console();
        console.say_labelled(Label::Error, "\u{1b}[2Jno");
        console.colours = true;
        console.say_labelled(Label::Hint, "\u{1b}[2Jgo");
        let words = "error: no\n\u{1b}[1mhint:\u{1b}[0m go\n";
        assert_eq!(recorded.take(), (String::new(), words.to_owned()));
    }
}
