//! Questions on the terminal: one at a time, with the progress of the run held back meanwhile.
//!
//! Approvals are questions of ours, and all others are questions of components; they look different,
//! and neither can look like the other. Nobody is there unless both the input and the words of the
//! command are on a terminal: what comes through a pipe is data and answers nothing. What was typed before a question is no answer to it.

mod asked;
mod dialogue;
mod echo;
mod lines;
mod shown;

#[cfg(test)]
mod tests;

use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use openprogram_core::id::SessionId;
use openprogram_core::question::{Answer, Approval, Question, QuestionBody, Questions, Unanswered};
use tokio::sync::{Semaphore, watch};

pub(super) use self::lines::{Lines, Typed};
use self::shown::{PROMPT, Said, UNCLEAR, approval_text, read};
use super::console::Console;
use super::progress::Pauser;

/// How often an answer that is none is asked for again; then it is a no.
const UNCLEAR_MAX: usize = 3;

/// The person at the terminal.
pub(super) struct TerminalQuestions {
    /// Held by the question that is on the screen; the others queue in their order.
    screen: Semaphore,
    /// The progress that is held back; another one for each turn of a chat.
    progress: Mutex<Pauser>,
    lines: Lines,
    /// Whether a question is on the screen, so that what is typed is an answer to it.
    is_asking: watch::Sender<bool>,
    /// Whether the input is gone for good.
    is_gone: AtomicBool,
    /// Whether a person sees what is asked and can type.
    is_there: fn() -> bool,
}

impl TerminalQuestions {
    /// Asks at the terminal of this process, and holds `progress` back while it does.
    pub(super) fn new(progress: Pauser) -> Self {
        Self::with_lines(progress, Lines::default())
    }

    /// The same, with answers from lines that somebody else reads between the questions.
    pub(super) fn with_lines(progress: Pauser, lines: Lines) -> Self {
        Self {
            screen: Semaphore::new(1),
            progress: Mutex::new(progress),
            lines,
            is_asking: watch::Sender::new(false),
            is_gone: AtomicBool::new(false),
            is_there: Console::can_ask,
        }
    }

    /// Holds another progress back from now on.
    pub(super) fn set_progress(&self, progress: Pauser) {
        // One assignment leaves it whole.
        *self.progress.lock().unwrap_or_else(PoisonError::into_inner) = progress;
    }

    /// Tells whether what is typed is an answer to a question.
    pub(super) fn asking(&self) -> watch::Receiver<bool> {
        self.is_asking.subscribe()
    }

    /// Has a person approve something, or not.
    async fn approved(
        &self,
        session: &SessionId,
        approval: &Approval,
    ) -> Result<Answer, Unanswered> {
        say(&approval_text(session, approval));
        for _ in 0..UNCLEAR_MAX {
            let prompt = Line::show(PROMPT);
            let typed = self.lines.next().await;
            prompt.answered();
            match typed {
                Some(Typed::Line(line)) => match read(&line) {
                    Said::Yes => return Ok(Answer::Approved(true)),
                    Said::No => return Ok(Answer::Approved(false)),
                    Said::Always => return Ok(Answer::Remembered(true)),
                    Said::Never => return Ok(Answer::Remembered(false)),
                    Said::Unclear => say(UNCLEAR),
                },
                Some(Typed::End) => {
                    say("\n");
                    return Err(Unanswered::Declined);
                }
                None => {
                    self.is_gone.store(true, Ordering::Relaxed);
                    say("\n");
                    return Err(Unanswered::Declined);
                }
            }
        }
        Ok(Answer::Approved(false))
    }
}

#[async_trait]
impl Questions for TerminalQuestions {
    fn can_ask(&self) -> bool {
        !self.is_gone.load(Ordering::Relaxed) && (self.is_there)()
    }

    fn answered_by(&self) -> &str {
        "terminal"
    }

    async fn ask(&self, question: Question) -> Result<Answer, Unanswered> {
        let turn = self.screen.acquire().await;
        let _turn = turn.map_err(|_| Unanswered::NobodyThere)?;
        if !self.can_ask() {
            return Err(Unanswered::NobodyThere);
        }
        let progress = self
            .progress
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let _paused = progress.pause().await;
        let _asking = Asking::begin(&self.is_asking);
        self.lines.forget_what_was_typed().await;
        match &question.body {
            QuestionBody::Approval(approval) => self.approved(&question.session, approval).await,
            _ => {
                let answer = dialogue::put(&self.lines, &question).await;
                if self.lines.is_closed().await {
                    self.is_gone.store(true, Ordering::Relaxed);
                }
                answer
            }
        }
    }
}

/// A question is on the screen while this is there.
struct Asking<'a>(&'a watch::Sender<bool>);

impl<'a> Asking<'a> {
    fn begin(is_asking: &'a watch::Sender<bool>) -> Self {
        is_asking.send_replace(true);
        Self(is_asking)
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.0.send_replace(false);
    }
}

/// The line on which an answer is typed. When the question is withdrawn, what follows begins on a
/// line of its own.
struct Line {
    is_answered: bool,
}

impl Line {
    fn show(before: &str) -> Self {
        say(before);
        Self { is_answered: false }
    }

    fn answered(mut self) {
        self.is_answered = true;
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if !self.is_answered {
            say("\n(withdrawn)\n");
        }
    }
}

fn say(text: &str) {
    let mut out = io::stderr();
    // A question that cannot be written is not answered, and that is a no.
    let _ = out.write_all(text.as_bytes());
    let _ = out.flush();
}
