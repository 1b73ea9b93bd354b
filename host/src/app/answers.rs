//! Answers to approvals that hold for good: looking at them, and forgetting them.
//!
//! Only commands of a person come here, and the runtime by its own port.

use openprogram_core::question::KeptAnswer;

use super::{App, AppError};
use crate::settings::Settings;
use crate::state::{AnswersError, KeptAnswers, StateFolder};

/// Hexadecimal digits of a question that name it.
pub const ANSWER_ID_DIGITS: usize = 12;

/// Which answers are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerChoice {
    /// All of the component.
    All,
    /// Those about grants of these kinds and lines.
    OfGrants(Vec<(String, String)>),
    /// Those with these names, each of [`ANSWER_ID_DIGITS`] digits.
    Named(Vec<String>),
}

/// The name of an answer for a person.
#[must_use]
pub fn answer_id(answer: &KeptAnswer) -> &str {
    let hex = answer.question.strip_prefix("sha256:");
    let hex = hex.unwrap_or(&answer.question);
    hex.get(..ANSWER_ID_DIGITS).unwrap_or(hex)
}

/// The answers of a project.
pub(super) fn kept_answers(settings: &Settings) -> KeptAnswers {
    StateFolder::at(&settings.state_folder).answers(&settings.project_folder)
}

impl App {
    /// The answers that hold for good, of all components or of one, the oldest first.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn kept_answers(&self, component: Option<&str>) -> Result<Vec<KeptAnswer>, AnswersError> {
        let mut answers = kept_answers(&self.settings).list()?;
        answers.retain(|answer| component.is_none_or(|name| name == answer.component));
        Ok(answers)
    }

    /// Forgets answers of a component, which need not be there any more, and gives those that are
    /// gone.
    ///
    /// # Errors
    /// When there is no answer of a name that was chosen, or they cannot be read or written.
    pub fn forget_answers(
        &self,
        component: &str,
        choice: &AnswerChoice,
    ) -> anyhow::Result<Vec<KeptAnswer>> {
        if let AnswerChoice::Named(names) = choice {
            let known = self.kept_answers(Some(component))?;
            let is_known = |name: &String| known.iter().any(|answer| answer_id(answer) == name);
            if let Some(name) = names.iter().find(|name| !is_known(name)) {
                return Err(AppError::NoAnswer {
                    component: component.to_owned(),
                    name: name.clone(),
                }
                .into());
            }
        }
        let is_chosen = |answer: &KeptAnswer| match choice {
            AnswerChoice::All => true,
            AnswerChoice::OfGrants(grants) => {
                answer.grant.as_ref().is_some_and(|of| grants.contains(of))
            }
            AnswerChoice::Named(names) => names.iter().any(|name| name == answer_id(answer)),
        };
        let answers = kept_answers(&self.settings);
        Ok(answers.forget(|answer| answer.component == component && is_chosen(answer))?)
    }
}
