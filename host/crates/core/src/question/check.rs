//! Which questions can be put, and which answers fit them.

use super::{Answer, FormField, Prompt, QuestionBody, Unanswered};
use crate::failure::{Failure, FailureCode};
use crate::schema::{CheckMode, check_value, names_equal};
use crate::text::{clean, is_clean_line};
use crate::{Json, JsonObject};

/// Most prompts of one question, and most fields of a form, as the limit `card_prompts`. A person
/// who is shown more of them answers nothing.
pub const PROMPTS_MAX: usize = 32;
/// Most options of one prompt, as `prompt_options`; a list that is longer is not read.
pub const OPTIONS_MAX: usize = 100;
/// Most bytes of the text of a prompt, of a confirmation and of a form, as `prompt_bytes`: a page.
pub const PROMPT_BYTES_MAX: usize = 4_096;
/// Most bytes of one option, as `option_bytes`: a few lines of a terminal.
pub const OPTION_BYTES_MAX: usize = 512;
/// Most bytes of all texts of one question, as `card_bytes`.
pub const CARD_BYTES_MAX: usize = 64 * 1024;
/// Most bytes of one text of an answer; a longer one is refused to whoever answers.
pub const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// Why an answer does not fit, in words for whoever gave it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct AnswerError(pub(super) String);

/// Why a question cannot be put.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct QuestionError {
    /// The offending part, for example `questions[0].options` or `fields.size`.
    pub path: String,
    /// The limit that was reached, with its value; `None` for what is wrong in itself.
    pub limit: Option<(&'static str, u64)>,
    /// What is wrong.
    pub message: String,
}

impl QuestionError {
    /// Something that is wrong in itself.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            limit: None,
            message: message.into(),
        }
    }

    /// A limit that was reached.
    pub fn limit(which: &'static str, limit: usize, path: &str, message: String) -> Self {
        Self {
            path: path.to_owned(),
            limit: Some((which, limit as u64)),
            message,
        }
    }

    /// As whoever asks is told: `limit-reached`, or `invalid-argument` with the path.
    #[must_use]
    pub fn to_failure(&self) -> Failure {
        match self.limit {
            Some((which, limit)) => Failure::limit(which, limit, self.message.clone()),
            None => Failure::new(FailureCode::InvalidArgument, self.message.clone())
                .with("path", self.path.clone()),
        }
    }
}

impl QuestionBody {
    /// Checks the question itself, its defaults among them.
    ///
    /// # Errors
    /// What is wrong with it, or which limit it reaches.
    pub fn check(&self) -> Result<(), QuestionError> {
        match self {
            Self::Approval(_) => return Ok(()),
            Self::Confirm { text, .. } => check_text("prompt", text)?,
            Self::Ask(prompts) => {
                check_count(prompts.len(), "prompts", "questions")?;
                for (at, prompt) in prompts.iter().enumerate() {
                    check_prompt(&format!("questions[{at}]"), prompt)?;
                }
            }
            Self::Form { title, fields } => {
                check_text("prompt", title)?;
                check_count(fields.len(), "fields", "fields")?;
                for (at, field) in fields.iter().enumerate() {
                    let name = &field.field.name;
                    let path = format!("fields.{name}");
                    let is_same = |other: &FormField| names_equal(&other.field.name, name);
                    if fields[..at].iter().any(is_same) {
                        let message = format!("the form has two fields `{name}`");
                        return Err(QuestionError::new(path, message));
                    }
                    if let Some(default) = &field.default {
                        check_field(field, default)
                            .map_err(|error| QuestionError::new(path, error.0))?;
                    }
                }
            }
        }
        let bytes = self.bytes();
        if bytes > CARD_BYTES_MAX {
            let message = format!(
                "the texts of the question have {bytes} bytes; the most is {CARD_BYTES_MAX}"
            );
            return Err(QuestionError::limit(
                "card_bytes",
                CARD_BYTES_MAX,
                "prompt",
                message,
            ));
        }
        Ok(())
    }

    /// How long all its texts are together.
    fn bytes(&self) -> usize {
        match self {
            Self::Approval(_) => 0,
            Self::Confirm { text, .. } => text.len(),
            Self::Ask(prompts) => prompts.iter().map(prompt_bytes).sum(),
            Self::Form { title, fields } => {
                title.len() + fields.iter().map(field_bytes).sum::<usize>()
            }
        }
    }

    /// The question with words in which everything can be seen: what its author wrote may drive a
    /// terminal or read differently than it is. Options and names are refused instead of cleaned,
    /// since they come back as answers.
    #[must_use]
    pub fn cleaned(mut self) -> Self {
        let clean_in = |text: &mut String| *text = clean(text).trim().to_owned();
        match &mut self {
            Self::Approval(_) => {}
            Self::Confirm { text, .. } => clean_in(text),
            Self::Ask(prompts) => prompts
                .iter_mut()
                .for_each(|prompt| clean_in(&mut prompt.text)),
            Self::Form { title, fields } => {
                clean_in(title);
                let words = fields.iter_mut().map(|field| &mut field.field.description);
                words.flatten().for_each(clean_in);
            }
        }
        self
    }

    /// Checks an answer against the question, and gives it in its final form: options as the
    /// question spells them, defaults of a form filled in.
    ///
    /// # Errors
    /// What does not fit, in words for whoever answers.
    pub fn check_answer(&self, answer: Answer) -> Result<Answer, AnswerError> {
        match (self, answer) {
            (Self::Approval(_), answer @ (Answer::Approved(_) | Answer::Remembered(_)))
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

    /// What holds when nobody answered, or nobody is there: the defaults, where the question has them
    /// for everything. A person who declines gets none of them, and an approval has none.
    ///
    /// # Errors
    /// The same reason again.
    pub fn without_answer(&self, reason: Unanswered) -> Result<Answer, Unanswered> {
        if reason == Unanswered::Declined {
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

fn check_count(count: usize, what: &str, path: &str) -> Result<(), QuestionError> {
    match count {
        0 => {
            let message = format!("the question has no {what}");
            Err(QuestionError::new(path, message))
        }
        1..=PROMPTS_MAX => Ok(()),
        _ => {
            let message = format!("the question has more than {PROMPTS_MAX} {what}");
            Err(QuestionError::limit(
                "card_prompts",
                PROMPTS_MAX,
                path,
                message,
            ))
        }
    }
}

fn check_text(path: &str, text: &str) -> Result<(), QuestionError> {
    if text.len() > PROMPT_BYTES_MAX {
        let message = format!("`{path}` is longer than {PROMPT_BYTES_MAX} bytes");
        let limit = PROMPT_BYTES_MAX;
        return Err(QuestionError::limit("prompt_bytes", limit, path, message));
    }
    if clean(text).trim().is_empty() {
        let message = format!("`{path}` asks nothing; give it a text");
        return Err(QuestionError::new(path, message));
    }
    Ok(())
}

fn check_prompt(path: &str, prompt: &Prompt) -> Result<(), QuestionError> {
    check_text(&format!("{path}.prompt"), &prompt.text)?;
    let options = &prompt.options;
    let of_options = format!("{path}.options");
    if options.len() > OPTIONS_MAX {
        let message = format!("a prompt has more than {OPTIONS_MAX} options");
        return Err(QuestionError::limit(
            "prompt_options",
            OPTIONS_MAX,
            &of_options,
            message,
        ));
    }
    for (at, option) in options.iter().enumerate() {
        let number = at + 1;
        if option.len() > OPTION_BYTES_MAX {
            let message = format!("option {number} is longer than {OPTION_BYTES_MAX} bytes");
            let limit = OPTION_BYTES_MAX;
            return Err(QuestionError::limit(
                "option_bytes",
                limit,
                &of_options,
                message,
            ));
        }
        if !is_clean_line(option) {
            let message = format!(
                "option {number} has line breaks, control or invisible characters; leave them out"
            );
            return Err(QuestionError::new(of_options, message));
        }
        if option.trim().is_empty() || options[..at].contains(option) {
            let message = format!("option {number} (`{option}`) is empty or there twice");
            return Err(QuestionError::new(of_options, message));
        }
    }
    if prompt.multiple && options.is_empty() {
        let message = "several options may be chosen, and there are none";
        return Err(QuestionError::new(of_options, message));
    }
    let Some(default) = prompt.default.clone() else {
        return Ok(());
    };
    let checked = check_reply(prompt, default);
    let wrong = |error: AnswerError| QuestionError::new(format!("{path}.default"), error.0);
    checked.map(|_| ()).map_err(wrong)
}

fn prompt_bytes(prompt: &Prompt) -> usize {
    let texts = prompt.options.iter().chain(prompt.default.iter().flatten());
    prompt.text.len() + texts.map(String::len).sum::<usize>()
}

fn field_bytes(field: &FormField) -> usize {
    let words = field.field.description.as_ref().map_or(0, String::len);
    let values = field.field.options.iter().chain(&field.default);
    field.field.name.len() + words + values.map(|value| value.to_string().len()).sum::<usize>()
}

fn fail<T>(message: String) -> Result<T, AnswerError> {
    Err(AnswerError(message))
}

/// An option is meant by its exact text, or by another case of it where no other option is.
fn check_reply(prompt: &Prompt, reply: Vec<String>) -> Result<Vec<String>, AnswerError> {
    if !prompt.multiple && reply.len() != 1 {
        return fail(format!("{} answers where one is wanted", reply.len()));
    }
    let mut checked: Vec<String> = Vec::with_capacity(reply.len().min(OPTIONS_MAX));
    for text in reply {
        if text.len() > ANSWER_BYTES_MAX {
            return fail(format!("an answer is longer than {ANSWER_BYTES_MAX} bytes"));
        }
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
    let name = &field.field.name;
    if value
        .as_str()
        .is_some_and(|text| text.len() > ANSWER_BYTES_MAX)
    {
        return fail(format!("`{name}` is longer than {ANSWER_BYTES_MAX} bytes"));
    }
    match check_value(value, &field.field, CheckMode::Lenient) {
        Ok(checked) => match field.range.problem(&checked.value) {
            Some(problem) => fail(format!("`{name}`: {problem}")),
            None => Ok(checked.value),
        },
        // What was typed into it is seen by nobody.
        Err(_) if field.secret => fail(format!("`{name}` is not what it can take")),
        Err(error) => fail(error.to_string()),
    }
}
