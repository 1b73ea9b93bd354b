//! Answers to questions for an approval that hold each time that exactly the same is asked.
//!
//! The same is what has the same [`Approval::canonical_text`]: function, component, digest, all
//! arguments, what is wanted, the grant with its component, and what leaves. Nothing is carried over
//! to another version of a component.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;

use super::Approval;
use crate::id::Timestamp;
use crate::text::cut;
use crate::{Json, JsonObject};

/// How many answers are kept. The oldest one makes room for another, which only means that a person
/// is asked again.
pub const ANSWERS_KEPT_MAX: usize = 1_024;

/// Most bytes of each text that is kept to be read by a person; the hash stands for all of it.
const SHOWN_BYTES_MAX: usize = 1_000;

/// Where answers are kept that hold for good.
#[async_trait]
pub trait AnswerMemory: Send + Sync {
    /// The answer to the question of this hash; `None` where there is none, or where it cannot be
    /// read, so that a person is asked.
    async fn find(&self, question: &str) -> Option<bool>;

    /// Keeps an answer, in place of an earlier one to the same question.
    ///
    /// # Errors
    /// In words for the person who answered: why it could not be kept. The answer holds once then.
    async fn keep(&self, answer: KeptAnswer) -> Result<(), String>;
}

/// One answer that holds for good, with what a person needs to know it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptAnswer {
    /// The hash of [`Approval::canonical_text`], `sha256:` and 64 hexadecimal digits. The answer is
    /// bound to this alone.
    pub question: String,
    /// Whether it is a yes.
    pub is_yes: bool,
    /// The component that profits: the one with the grant that asks, or that of the function.
    pub component: String,
    /// The full name of the function whose call it is part of.
    pub function: String,
    /// The digest of the component of that function.
    pub digest: String,
    /// What is wanted, cut.
    pub what: String,
    /// The grant that asks, its kind and its line; `None` where the function itself wants to be
    /// approved.
    pub grant: Option<(String, String)>,
    /// The arguments as JSON, cut.
    pub arguments: String,
    /// When it was given.
    pub at: Timestamp,
}

impl KeptAnswer {
    /// The answer to this approval; `question` is the hash of its canonical text.
    #[must_use]
    pub fn new(approval: &Approval, question: String, is_yes: bool, at: Timestamp) -> Self {
        let short = |text: &str| cut(text, SHOWN_BYTES_MAX).into_owned();
        let grant = approval.grant.as_ref();
        Self {
            question,
            is_yes,
            component: approval.profits().to_owned(),
            function: approval.function.clone(),
            digest: approval.digest.clone(),
            what: short(&approval.what),
            grant: grant.map(|grant| (grant.kind.key().to_owned(), grant.line.clone())),
            arguments: short(&Json::Object(approval.arguments.clone()).to_string()),
            at,
        }
    }

    /// The word for it: `always` or `never`.
    #[must_use]
    pub fn word(&self) -> &'static str {
        if self.is_yes { "always" } else { "never" }
    }

    /// As one JSON object: `question`, `answer` (`always`, `never`), `component`, `function`,
    /// `digest`, `what`, `kind` and `grant` where a grant asks, `arguments` (a text), `at`
    /// (milliseconds since 1970).
    #[must_use]
    pub fn to_json(&self) -> Json {
        let mut object = JsonObject::new();
        let mut put = |key: &str, value: Json| {
            object.insert(key.to_owned(), value);
        };
        put("question", self.question.clone().into());
        put("answer", self.word().into());
        put("component", self.component.clone().into());
        put("function", self.function.clone().into());
        put("digest", self.digest.clone().into());
        put("what", self.what.clone().into());
        if let Some((kind, line)) = &self.grant {
            put("kind", kind.clone().into());
            put("grant", line.clone().into());
        }
        put("arguments", self.arguments.clone().into());
        put("at", self.at.0.into());
        Json::Object(object)
    }

    /// Reads what [`KeptAnswer::to_json`] wrote; `None` for anything else.
    #[must_use]
    pub fn from_json(value: &Json) -> Option<Self> {
        let text = |key: &str| value.get(key)?.as_str().map(str::to_owned);
        let is_yes = match value.get("answer")?.as_str()? {
            "always" => true,
            "never" => false,
            _ => return None,
        };
        Some(Self {
            question: text("question")?,
            is_yes,
            component: text("component")?,
            function: text("function")?,
            digest: text("digest")?,
            what: text("what")?,
            grant: text("kind").zip(text("grant")),
            arguments: text("arguments")?,
            at: Timestamp(value.get("at")?.as_i64()?),
        })
    }
}

/// Keeps answers as long as the process runs.
#[derive(Debug, Default)]
pub struct ProcessMemory(Mutex<BTreeMap<String, KeptAnswer>>);

#[async_trait]
impl AnswerMemory for ProcessMemory {
    async fn find(&self, question: &str) -> Option<bool> {
        // An insertion or a removal leaves the map whole.
        let answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        answers.get(question).map(|answer| answer.is_yes)
    }

    async fn keep(&self, answer: KeptAnswer) -> Result<(), String> {
        let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        answers.insert(answer.question.clone(), answer);
        if answers.len() > ANSWERS_KEPT_MAX {
            let oldest = answers.values().min_by_key(|answer| answer.at);
            if let Some(question) = oldest.map(|answer| answer.question.clone()) {
                answers.remove(&question);
            }
        }
        Ok(())
    }
}
