//! A card of questions as a guest prepares it, setter by setter, and the answer to it.
//!
//! What a setter cannot accept is remembered and told when the card is asked, because setters have
//! no result in the contract. Whether the card as a whole makes sense is the business of core.

use openprogram_core::failure::Failure;
use openprogram_core::question::{
    AskReply, AskRequest, CARD_BYTES_MAX, OPTIONS_MAX, PROMPTS_MAX, Prompt, QuestionBody,
    QuestionError,
};

use super::menu::{hold, invalid};
use super::turn::Held;

/// What each text counts for beyond its length.
const TEXT_COST: usize = 32;

/// A card of questions as a guest prepares it.
#[derive(Default)]
#[expect(unreachable_pub, reason = "the generated bindings re-export it")]
pub struct CardHandle {
    prompts: Vec<Prompt>,
    timeout_ms: Option<u64>,
    bytes: u64,
    /// The first thing a setter could not accept.
    refused: Option<Failure>,
}

/// The answer to a card.
#[expect(unreachable_pub, reason = "the generated bindings re-export it")]
pub struct AnswerHandle(pub(crate) AskReply);

impl CardHandle {
    /// Lets a setter work, unless an earlier one was refused.
    pub(crate) fn set(&mut self, work: impl FnOnce(&mut Self) -> Result<(), Failure>) {
        if self.refused.is_none()
            && let Err(failure) = work(self)
        {
            self.refused = Some(failure);
        }
    }

    /// How much it holds, to be given back when it is dropped.
    pub(crate) fn held(&self) -> u64 {
        self.bytes
    }

    /// Counts texts of the card.
    pub(crate) fn pay(&mut self, texts: &[String], held: &mut Held<'_>) -> Result<(), Failure> {
        let bytes: usize = texts.iter().map(|text| text.len() + TEXT_COST).sum();
        let bytes = bytes as u64;
        hold(bytes, held)?;
        self.bytes = self.bytes.saturating_add(bytes);
        // A card of the shortest texts is as large; core looks at the texts themselves.
        let max = CARD_BYTES_MAX + TEXT_COST * PROMPTS_MAX * OPTIONS_MAX;
        if self.bytes <= max as u64 {
            return Ok(());
        }
        let message = format!("the texts of the card have more than {CARD_BYTES_MAX} bytes");
        let limit = CARD_BYTES_MAX;
        Err(QuestionError::limit("card_bytes", limit, "questions", message).to_failure())
    }

    pub(crate) fn add_prompt(&mut self, text: String) -> Result<(), Failure> {
        if self.prompts.len() >= PROMPTS_MAX {
            let message = format!("the question has more than {PROMPTS_MAX} prompts");
            let limit = PROMPTS_MAX;
            let error = QuestionError::limit("card_prompts", limit, "questions", message);
            return Err(error.to_failure());
        }
        self.prompts.push(Prompt {
            text,
            ..Prompt::default()
        });
        Ok(())
    }

    pub(crate) fn add_option(&mut self, text: String) -> Result<(), Failure> {
        let prompt = self.prompt()?;
        if prompt.options.len() >= OPTIONS_MAX {
            let message = format!("a prompt has more than {OPTIONS_MAX} options");
            let limit = OPTIONS_MAX;
            let error = QuestionError::limit("prompt_options", limit, "questions", message);
            return Err(error.to_failure());
        }
        prompt.options.push(text);
        Ok(())
    }

    /// The prompt that the setters are about.
    pub(crate) fn prompt(&mut self) -> Result<&mut Prompt, Failure> {
        let message = "the card has no prompt yet; add one before it is described";
        let nothing = || invalid("questions", message.to_owned());
        self.prompts.last_mut().ok_or_else(nothing)
    }

    pub(crate) fn set_timeout_ms(&mut self, timeout_ms: u64) {
        self.timeout_ms = Some(timeout_ms);
    }

    /// The question.
    ///
    /// # Errors
    /// What a setter could not accept.
    pub(crate) fn request(&self) -> Result<AskRequest, Failure> {
        match &self.refused {
            Some(refused) => Err(refused.clone()),
            None => Ok(AskRequest {
                body: QuestionBody::Ask(self.prompts.clone()),
                timeout_ms: self.timeout_ms,
            }),
        }
    }
}
