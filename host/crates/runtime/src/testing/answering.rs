//! A person whose answers are prepared.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use openprogram_core::question::{Answer, Question, Questions, Unanswered};

/// What becomes of a question.
#[derive(Clone, Debug, PartialEq)]
pub enum ScriptedAnswer {
    /// This answer.
    Given(Answer),
    /// None, for this reason.
    Not(Unanswered),
    /// None for ever: the person sits there and says nothing.
    Silence,
}

/// Answers questions in the order of a script, and keeps what was asked.
#[derive(Debug, Default)]
pub struct ScriptedQuestions {
    answers: Mutex<VecDeque<ScriptedAnswer>>,
    asked: Mutex<Vec<Question>>,
}

impl ScriptedQuestions {
    /// With these answers.
    pub fn new(answers: impl IntoIterator<Item = ScriptedAnswer>) -> Self {
        Self {
            answers: Mutex::new(answers.into_iter().collect()),
            asked: Mutex::default(),
        }
    }

    /// What was asked so far.
    #[must_use]
    pub fn asked(&self) -> Vec<Question> {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.clone()
    }
}

#[async_trait]
impl Questions for ScriptedQuestions {
    fn can_ask(&self) -> bool {
        true
    }

    fn answered_by(&self) -> &str {
        "script"
    }

    async fn ask(&self, question: Question) -> Result<Answer, Unanswered> {
        self.asked
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(question);
        let next = {
            let answers = self.answers.lock();
            let mut answers = answers.unwrap_or_else(PoisonError::into_inner);
            answers.pop_front().expect("the script has an answer")
        };
        match next {
            ScriptedAnswer::Given(answer) => Ok(answer),
            ScriptedAnswer::Not(reason) => Err(reason),
            ScriptedAnswer::Silence => std::future::pending().await,
        }
    }
}
