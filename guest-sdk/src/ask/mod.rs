//! Questions to the person who runs the function.
//!
//! A person has to grant it to the component: `openprogram grant NAME --ask-user`. What the person
//! sees says that the component asks, and every word of it stands there as the component's own.
//!
//! ```
//! use openprogram_guest::ask::{self, Card, Field, Form, Question};
//! use openprogram_guest::{Failure, FailureKind, Json};
//!
//! fn plan(days: u32) -> Result<String, Failure> {
//!     // Any text; one of some options; some of them.
//!     let name = ask::ask("What is the trip called?")?;
//!     let place = ask::ask(Question::new("Where to?").options(["Rome", "Oslo"]).default("Oslo"))?;
//!     let bring = Question::new("What do you bring?").options(["tent", "boat"]).multiple();
//!     let things = ask::ask(bring)?;
//!     // A yes or a no; without anybody to answer it is no here.
//!     if !ask::confirm("Shall I book it?", false)? {
//!         return Ok(format!("{name}: {days} days in {place} with {}", things.join(", ")));
//!     }
//!     let form = Form::new("Who travels?")
//!         .field(Field::text("name").description("As in the passport"))
//!         .field(Field::integer("age").range(0.0, 150.0))
//!         .field(Field::choice("seat", ["window", "aisle"]).default("window"))
//!         .field(Field::text("note").optional())
//!         .field(Field::secret("card"));
//!     let traveller: Json = match form.fill() {
//!         Ok(traveller) => traveller,
//!         // The person does not want to say, said nothing in time, or is not there at all.
//!         Err(failure) if failure.kind() == FailureKind::Declined => return Ok("cancelled".into()),
//!         Err(failure) => return Err(failure),
//!     };
//!     Ok(traveller.to_string())
//! }
//!
//! fn both() -> Result<Vec<Vec<String>>, Failure> {
//!     // Several questions that are answered together.
//!     let card = Card::new()
//!         .question(Question::new("Which?").options(["a", "b"]))
//!         .question(Question::new("Why?"));
//!     Ok(ask::ask(card)?.replies)
//! }
//! ```

mod form;

use std::time::Duration;

use crate::host::ask as raw;
use crate::{Failure, failure};

pub use form::{Field, Form};

/// Whether a question would reach a person now: it is granted, and somebody is there.
///
/// Without anybody a question fails at once, or has its default.
pub fn can_ask() -> bool {
    raw::can_ask()
}

/// Puts a question to the person and waits for the answer.
///
/// A text or a [`Question`] gives a `String`, a question with several answers
/// ([`Question::multiple`]) a `Vec<String>`, and a [`Card`] the [`Answers`] to all of its questions.
///
/// # Errors
///
/// [`Declined`](crate::FailureKind::Declined) when the person does not want to answer; without
/// defaults, [`AskTimeout`](crate::FailureKind::AskTimeout) when nobody answered in time and
/// [`NobodyThere`](crate::FailureKind::NobodyThere) when nobody is there;
/// [`Denied`](crate::FailureKind::Denied) without the grant.
pub fn ask<A: Ask>(question: A) -> Result<A::Output, Failure> {
    question.put()
}

/// Asks for a yes or a no. `default` is the answer when nobody gives one; `None` for none.
///
/// # Errors
///
/// As for [`ask`].
pub fn confirm(prompt: &str, default: impl Into<Option<bool>>) -> Result<bool, Failure> {
    raw::confirm(prompt, default.into(), None).map_err(failure::from_host)
}

/// The same, with a time after which the default holds.
///
/// # Errors
///
/// As for [`ask`].
pub fn confirm_within(
    prompt: &str,
    default: impl Into<Option<bool>>,
    time: Duration,
) -> Result<bool, Failure> {
    raw::confirm(prompt, default.into(), Some(millis(time))).map_err(failure::from_host)
}

/// What can be asked.
pub trait Ask {
    /// The answer.
    type Output;

    /// Puts it to the person.
    ///
    /// # Errors
    ///
    /// As for [`ask`].
    fn put(self) -> Result<Self::Output, Failure>;
}

/// One question with one answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    text: String,
    options: Vec<String>,
    free_text: bool,
    multiple: bool,
    default: Option<Vec<String>>,
    timeout: Option<Duration>,
}

impl Question {
    /// A question that any text answers.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            options: Vec::new(),
            free_text: false,
            multiple: false,
            default: None,
            timeout: None,
        }
    }

    /// Adds an answer to choose from; then only these are answers.
    #[must_use]
    pub fn option(mut self, text: impl Into<String>) -> Self {
        self.options.push(text.into());
        self
    }

    /// Adds answers to choose from.
    #[must_use]
    pub fn options<T: Into<String>>(mut self, texts: impl IntoIterator<Item = T>) -> Self {
        self.options.extend(texts.into_iter().map(Into::into));
        self
    }

    /// Takes a text that is no option too.
    #[must_use]
    pub fn free_text(mut self) -> Self {
        self.free_text = true;
        self
    }

    /// Sets the answer when nobody gives one.
    #[must_use]
    pub fn default(mut self, answer: impl Into<String>) -> Self {
        self.default = Some(vec![answer.into()]);
        self
    }

    /// Sets how long to wait for the answer. The host may wait for less.
    #[must_use]
    pub fn timeout(mut self, time: Duration) -> Self {
        self.timeout = Some(time);
        self
    }

    /// Lets the person choose several options, also none.
    #[must_use]
    pub fn multiple(mut self) -> MultipleQuestion {
        self.multiple = true;
        MultipleQuestion(self)
    }
}

/// One question of which several options may be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MultipleQuestion(Question);

impl MultipleQuestion {
    /// Sets the options that count as chosen when nobody answers; there may be none.
    #[must_use]
    pub fn defaults<T: Into<String>>(mut self, answers: impl IntoIterator<Item = T>) -> Self {
        self.0.default = Some(answers.into_iter().map(Into::into).collect());
        self
    }

    /// Sets how long to wait for the answer. The host may wait for less.
    #[must_use]
    pub fn timeout(mut self, time: Duration) -> Self {
        self.0.timeout = Some(time);
        self
    }
}

impl From<MultipleQuestion> for Question {
    fn from(question: MultipleQuestion) -> Self {
        question.0
    }
}

/// Several questions that a person answers together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Card {
    questions: Vec<Question>,
    timeout: Option<Duration>,
}

impl Card {
    /// A card without questions. Asking it is refused.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a question. Its own timeout does not count here.
    #[must_use]
    pub fn question(mut self, question: impl Into<Question>) -> Self {
        self.questions.push(question.into());
        self
    }

    /// Sets how long to wait for the answers. The host may wait for less.
    #[must_use]
    pub fn timeout(mut self, time: Duration) -> Self {
        self.timeout = Some(time);
        self
    }

    fn put_all(&self) -> Result<Answers, Failure> {
        let card = raw::Card::new();
        for question in &self.questions {
            card.add_prompt(&question.text);
            for option in &question.options {
                card.add_option(option);
            }
            card.set_multiple(question.multiple);
            card.set_free_text(question.free_text);
            if let Some(default) = &question.default {
                card.set_default(default);
            }
        }
        if let Some(time) = self.timeout {
            card.set_timeout_ms(millis(time));
        }
        let answer = raw::ask(&card).map_err(failure::from_host)?;
        Ok(Answers {
            replies: answer.replies(),
            are_default: answer.is_default(),
        })
    }
}

/// The answers to a card. Later versions may tell more.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Answers {
    /// For each question in order what was chosen or written: one text, or for one with several
    /// answers any number of them.
    pub replies: Vec<Vec<String>>,
    /// Whether these are the defaults, because nobody answered.
    pub are_default: bool,
}

impl Ask for Card {
    type Output = Answers;

    fn put(self) -> Result<Answers, Failure> {
        self.put_all()
    }
}

impl Ask for Question {
    type Output = String;

    fn put(self) -> Result<String, Failure> {
        let timeout = self.timeout;
        let mut card = Card::new().question(self);
        card.timeout = timeout;
        let replies = card.put_all()?.replies;
        Ok(replies.into_iter().flatten().next().unwrap_or_default())
    }
}

impl Ask for MultipleQuestion {
    type Output = Vec<String>;

    fn put(self) -> Result<Vec<String>, Failure> {
        let timeout = self.0.timeout;
        let mut card = Card::new().question(self);
        card.timeout = timeout;
        let replies = card.put_all()?.replies;
        Ok(replies.into_iter().next().unwrap_or_default())
    }
}

impl Ask for &str {
    type Output = String;

    fn put(self) -> Result<String, Failure> {
        Question::new(self).put()
    }
}

impl Ask for String {
    type Output = String;

    fn put(self) -> Result<String, Failure> {
        Question::new(self).put()
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
