//! Which questions can be put, and which answers fit them.

use super::{Answer, FormField, Prompt, QuestionBody, Unanswered};
use crate::schema::{CheckMode, check_value, names_equal};
use crate::{Json, JsonObject};

/// Most prompts of one question, and most fields of a form.
pub const PROMPTS_MAX: usize = 32;
/// Most options of one prompt; a list that is longer is not read.
pub const OPTIONS_MAX: usize = 100;

/// Why a question cannot be put or an answer does not fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct AnswerError(String);

impl QuestionBody {
    /// Checks the question itself, its defaults among them.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&self) -> Result<(), AnswerError> {
        match self {
            Self::Approval(_) | Self::Confirm { .. } => Ok(()),
            Self::Ask(prompts) => {
                check_count(prompts.len(), "prompts")?;
                prompts.iter().try_for_each(check_prompt)
            }
            Self::Form { fields, .. } => {
                check_count(fields.len(), "fields")?;
                fields.iter().enumerate().try_for_each(|(at, field)| {
                    let name = &field.field.name;
                    let is_same = |other: &FormField| names_equal(&other.field.name, name);
                    if fields[..at].iter().any(is_same) {
                        return fail(format!("the form has two fields `{name}`"));
                    }
                    field
                        .default
                        .as_ref()
                        .map_or(Ok(()), |default| check_field(field, default).map(|_| ()))
                })
            }
        }
    }

    /// Checks an answer against the question, and gives it in its final form: options as the
    /// question spells them, defaults of a form filled in.
    ///
    /// # Errors
    /// What does not fit, in words for whoever answers.
    pub fn check_answer(&self, answer: Answer) -> Result<Answer, AnswerError> {
        match (self, answer) {
            (Self::Approval(_), answer @ Answer::Approved(_))
            | (Self::Confirm { .. }, answer @ Answer::Confirmed(_)) => Ok(answer),
            (Self::Ask(prompts), Answer::Replies(replies)) => {
                if replies.len() != prompts.len() {
                    let (given, wanted) = (replies.len(), prompts.len());
                    return fail(format!("{given} answers to {wanted} prompts"));
                }
                let pairs = prompts.iter().zip(replies);
                let checked = pairs.map(|(prompt, reply)| check_reply(prompt, reply));
                checked.collect::<Result<_, _>>().map(Answer::Replies)
            }
            (Self::Form { fields, .. }, Answer::Filled(values)) => {
                check_form(fields, &values).map(Answer::Filled)
            }
            _ => fail("the answer is one to another kind of question".to_owned()),
        }
    }

    /// What holds when nobody answered: the defaults, where the question has them for everything
    /// and the person was not the one who refused. An approval has none.
    ///
    /// # Errors
    /// The same reason again.
    pub fn without_answer(&self, reason: Unanswered) -> Result<Answer, Unanswered> {
        if reason != Unanswered::TimedOut {
            return Err(reason);
        }
        let answer = match self {
            Self::Approval(_) => None,
            Self::Confirm { default, .. } => default.map(Answer::Confirmed),
            Self::Ask(prompts) => {
                let defaults = prompts.iter().map(|prompt| prompt.default.clone());
                defaults.collect::<Option<_>>().map(Answer::Replies)
            }
            Self::Form { fields, .. } => check_form(fields, &JsonObject::new())
                .ok()
                .map(Answer::Filled),
        };
        answer.ok_or(reason)
    }
}

fn fail<T>(message: String) -> Result<T, AnswerError> {
    Err(AnswerError(message))
}

fn check_count(count: usize, what: &str) -> Result<(), AnswerError> {
    match count {
        0 => fail(format!("the question has no {what}")),
        1..=PROMPTS_MAX => Ok(()),
        _ => fail(format!("the question has more than {PROMPTS_MAX} {what}")),
    }
}

fn check_prompt(prompt: &Prompt) -> Result<(), AnswerError> {
    let options = &prompt.options;
    if options.len() > OPTIONS_MAX {
        return fail(format!("a prompt has more than {OPTIONS_MAX} options"));
    }
    if let Some((at, option)) = options
        .iter()
        .enumerate()
        .find(|(at, option)| option.trim().is_empty() || options[..*at].contains(option))
    {
        return fail(format!(
            "option {} (`{option}`) is empty or there twice",
            at + 1
        ));
    }
    if prompt.multiple && options.is_empty() {
        return fail("several options may be chosen, and there are none".to_owned());
    }
    let default = prompt.default.clone();
    default.map_or(Ok(()), |default| check_reply(prompt, default).map(|_| ()))
}

/// An option is meant by its exact text, or by another case of it where no other option is.
fn check_reply(prompt: &Prompt, reply: Vec<String>) -> Result<Vec<String>, AnswerError> {
    if !prompt.multiple && reply.len() != 1 {
        return fail(format!("{} answers where one is wanted", reply.len()));
    }
    let mut checked: Vec<String> = Vec::with_capacity(reply.len().min(OPTIONS_MAX));
    for text in reply {
        let known = option(&prompt.options, &text).cloned();
        let known = match known {
            Some(option) => option,
            None if prompt.options.is_empty() || prompt.free_text => text,
            None => {
                let shown: String = text.chars().take(64).collect();
                let options = prompt.options.iter().map(|option| format!("`{option}`"));
                let options = options.collect::<Vec<_>>().join(", ");
                return fail(format!("`{shown}` is none of {options}"));
            }
        };
        if checked.contains(&known) {
            return fail(format!("`{known}` is chosen twice"));
        }
        checked.push(known);
    }
    Ok(checked)
}

fn option<'a>(options: &'a [String], text: &str) -> Option<&'a String> {
    let exact = options.iter().find(|option| *option == text);
    exact.or_else(|| {
        let lower = text.trim().to_lowercase();
        let mut same = options
            .iter()
            .filter(|option| option.trim().to_lowercase() == lower);
        let first = same.next()?;
        same.next().is_none().then_some(first)
    })
}

fn check_form(fields: &[FormField], values: &JsonObject) -> Result<JsonObject, AnswerError> {
    let known = |name: &String| {
        fields
            .iter()
            .any(|field| names_equal(&field.field.name, name))
    };
    if let Some(unknown) = values.keys().find(|name| !known(name)) {
        let shown: String = unknown.chars().take(64).collect();
        return fail(format!("the form has no field `{shown}`"));
    }
    let mut checked = JsonObject::new();
    for field in fields {
        let name = &field.field.name;
        let given = values.iter().find(|(key, _)| names_equal(key, name));
        let value = given.map(|(_, value)| value).or(field.default.as_ref());
        match value {
            Some(value) => {
                checked.insert(name.clone(), check_field(field, value)?);
            }
            None if field.required => return fail(format!("`{name}` needs a value")),
            None => {}
        }
    }
    Ok(checked)
}

fn check_field(field: &FormField, value: &Json) -> Result<Json, AnswerError> {
    match check_value(value, &field.field, CheckMode::Lenient) {
        Ok(checked) => Ok(checked.value),
        Err(error) => fail(format!("`{}`: {error}", field.field.name)),
    }
}
