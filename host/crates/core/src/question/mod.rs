//! Questions to the person who runs something: the port, what may be asked, which answers fit.
//!
//! Only the host holds the port: no component and no model can answer. An answer is checked against
//! its question here, whoever gave it; how a question looks is the business of the port.

mod approval;
mod check;
mod form;
mod memory;
mod record;

#[cfg(test)]
mod tests;

use async_trait::async_trait;

use crate::JsonObject;
use crate::id::SessionId;

pub use approval::{Approval, AskingGrant, Receipt, ReceiptAnswer, Sending, SentBody, unapproved};
pub use check::{
    ANSWER_BYTES_MAX, AnswerError, CARD_BYTES_MAX, OPTION_BYTES_MAX, OPTIONS_MAX, PROMPT_BYTES_MAX,
    PROMPTS_MAX, QuestionError,
};
pub use form::{FormField, NumberRange, parse_form};
pub use memory::{ANSWERS_KEPT_MAX, AnswerMemory, KeptAnswer, ProcessMemory};
pub use record::{answer_to_json, question_to_json, secret_names};

/// Whoever can be asked.
///
/// Questions may come at once; one who answers one at a time queues the others.
#[async_trait]
pub trait Questions: Send + Sync {
    /// Whether somebody could answer now.
    fn can_ask(&self) -> bool;

    /// Who answers, for the record: `terminal`, `page`.
    fn answered_by(&self) -> &str;

    /// Puts one question and waits for its answer. Dropping the future withdraws the question.
    ///
    /// # Errors
    /// When there is no answer. Whoever asks looks after the time.
    async fn ask(&self, question: Question) -> Result<Answer, Unanswered>;
}

/// Nobody is there; every question ends at once.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nobody;

#[async_trait]
impl Questions for Nobody {
    fn can_ask(&self) -> bool {
        false
    }

    fn answered_by(&self) -> &str {
        "nobody"
    }

    async fn ask(&self, _: Question) -> Result<Answer, Unanswered> {
        Err(Unanswered::NobodyThere)
    }
}

/// Why a question has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Unanswered {
    /// The person did not want to answer.
    #[error("the person declined")]
    Declined,
    /// Nobody answered in time.
    #[error("nobody answered in time")]
    TimedOut,
    /// Nobody could be asked.
    #[error("nobody is there to ask")]
    NobodyThere,
}

/// One question, with what tells the person where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The session of the run that asks.
    pub session: SessionId,
    /// The full name of the function that asks; `None` for a question of the host itself.
    pub function: Option<String>,
    /// The component of that function.
    pub component: Option<String>,
    /// What is asked.
    pub body: QuestionBody,
}

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
pub enum QuestionBody {
    /// Whether something may happen. The answer is [`Answer::Approved`], or [`Answer::Remembered`].
    Approval(Box<Approval>),
    /// One or several prompts. The answer is [`Answer::Replies`], one list for each prompt.
    Ask(Vec<Prompt>),
    /// A yes or a no. The answer is [`Answer::Confirmed`].
    Confirm {
        /// What is to be confirmed.
        text: String,
        /// The answer when nobody gives one in time.
        default: Option<bool>,
    },
    /// Values for fields. The answer is [`Answer::Filled`].
    Form {
        /// What the form is for.
        title: String,
        /// The fields in order.
        fields: Vec<FormField>,
    },
}

/// One prompt of a question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompt {
    /// What is asked.
    pub text: String,
    /// The answers to choose from; empty when any text is one.
    pub options: Vec<String>,
    /// Whether several options may be chosen, also none.
    pub multiple: bool,
    /// Whether a text that is no option is an answer too.
    pub free_text: bool,
    /// The answer when nobody gives one in time.
    pub default: Option<Vec<String>>,
}

/// An answer, not yet checked.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Whether it may happen, this once.
    Approved(bool),
    /// Whether it may happen, now and each time that exactly the same is asked.
    Remembered(bool),
    /// For each prompt what was chosen or written.
    Replies(Vec<Vec<String>>),
    /// Yes or no.
    Confirmed(bool),
    /// Values by the names of the fields.
    Filled(JsonObject),
}

/// A question as a function puts it. It is never an approval: those are the host's own.
#[derive(Clone, Debug, PartialEq)]
pub struct AskRequest {
    /// What is asked.
    pub body: QuestionBody,
    /// How long to wait for the answer; `None` for as long as the host lets questions wait, which is
    /// also the most.
    pub timeout_ms: Option<u64>,
}

/// What a function is told.
#[derive(Clone, Debug, PartialEq)]
pub struct AskReply {
    /// The answer, checked, in its final form.
    pub answer: Answer,
    /// Whether these are the defaults, because nobody answered.
    pub is_default: bool,
}
