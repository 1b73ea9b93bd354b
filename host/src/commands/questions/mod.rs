//! Questions on the terminal: one at a time, with the progress of the run held back meanwhile.
//!
//! Nobody is there unless both the input and the words of the command are on a terminal: what comes
//! through a pipe is data and answers nothing. What was typed before a question is no answer to it.

mod lines;
mod shown;

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use openprogram_core::question::{Answer, Question, QuestionBody, Questions, Unanswered};
use tokio::sync::Semaphore;

use self::lines::Lines;
use self::shown::{PROMPT, Said, approval_text, read};
use super::console::Console;
use super::progress::Pauser;

/// How often an answer that is neither yes nor no is asked for again; then it is a no.
const UNCLEAR_MAX: usize = 3;

/// The person at the terminal.
pub(super) struct TerminalQuestions {
    /// Held by the question that is on the screen; the others queue in their order.
    screen: Semaphore,
    progress: Pauser,
    lines: Lines,
    /// Whether the input has ended.
    is_gone: AtomicBool,
}

impl TerminalQuestions {
    /// Asks at the terminal of this process, and holds `progress` back while it does.
    pub(super) fn new(progress: Pauser) -> Self {
        Self {
            screen: Semaphore::new(1),
            progress,
            lines: Lines::default(),
            is_gone: AtomicBool::new(false),
        }
    }
}

#[async_trait]
impl Questions for TerminalQuestions {
    fn can_ask(&self) -> bool {
        let is_gone = self.is_gone.load(Ordering::Relaxed);
        !is_gone && io::stdin().is_terminal() && Console::has_watcher()
    }

    fn answered_by(&self) -> &str {
        "terminal"
    }

    async fn ask(&self, question: Question) -> Result<Answer, Unanswered> {
        // Nothing puts the other kinds here: no guest has a way to ask yet.
        let QuestionBody::Approval(approval) = &question.body else {
            return Err(Unanswered::NobodyThere);
        };
        let turn = self.screen.acquire().await;
        let _turn = turn.map_err(|_| Unanswered::NobodyThere)?;
        if !self.can_ask() {
            return Err(Unanswered::NobodyThere);
        }
        let _paused = self.progress.pause().await;
        self.lines.forget_what_was_typed().await;
        say(&approval_text(&question.session, approval));
        for _ in 0..UNCLEAR_MAX {
            let prompt = Prompt::show();
            let line = self.lines.next().await;
            prompt.answered();
            match line.as_deref().map(read) {
                Some(Said::Yes) => return Ok(Answer::Approved(true)),
                Some(Said::No) => return Ok(Answer::Approved(false)),
                Some(Said::Unclear) => say("answer `y` for yes or `n` for no\n"),
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

/// The line on which the answer is typed. When the question is withdrawn, what follows begins on a
/// line of its own.
struct Prompt {
    is_answered: bool,
}

impl Prompt {
    fn show() -> Self {
        say(PROMPT);
        Self { is_answered: false }
    }

    fn answered(mut self) {
        self.is_answered = true;
    }
}

impl Drop for Prompt {
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
