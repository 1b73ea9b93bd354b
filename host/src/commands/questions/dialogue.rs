//! Puts the questions of components on the terminal and reads the answers. What does not fit is told
//! and asked again, until the question is withdrawn.

use openprogram_core::question::{Answer, FormField, Prompt, Question, QuestionBody, Unanswered};
use openprogram_core::schema::Type;
use openprogram_core::{Json, JsonObject};

use super::asked::{self, DECLINE};
use super::echo::Hidden;
use super::lines::{Lines, Typed};
use super::{Line, say};

/// Puts a question that is no approval.
pub(super) async fn put(lines: &Lines, question: &Question) -> Result<Answer, Unanswered> {
    say(&asked::head(question));
    match &question.body {
        // These are asked in their own way.
        QuestionBody::Approval(_) => Err(Unanswered::NobodyThere),
        QuestionBody::Ask(prompts) => {
            let mut replies = Vec::with_capacity(prompts.len());
            for (at, prompt) in prompts.iter().enumerate() {
                say(&asked::prompt(prompt, at, prompts.len()));
                replies.push(reply(lines, prompt).await?);
            }
            Ok(Answer::Replies(replies))
        }
        QuestionBody::Confirm { text, default } => {
            say(&asked::words(text));
            confirmed(lines, *default).await
        }
        QuestionBody::Form { title, fields } => {
            say(&asked::words(title));
            let mut values = JsonObject::new();
            for (at, field) in fields.iter().enumerate() {
                say(&asked::field(field, at, fields.len()));
                if let Some(value) = filled(lines, field).await? {
                    values.insert(field.field.name.clone(), value);
                }
            }
            Ok(Answer::Filled(values))
        }
    }
}

/// Shows where the answer is typed and waits for it, without its line break.
async fn typed(lines: &Lines, before: &str) -> Result<String, Unanswered> {
    let line = Line::show(before);
    let typed = lines.next().await;
    line.answered();
    match typed {
        Some(Typed::Line(line)) => {
            let line = line.trim_end_matches(['\n', '\r']).to_owned();
            match line.trim() == DECLINE {
                true => Err(Unanswered::Declined),
                false => Ok(line),
            }
        }
        Some(Typed::End) | None => {
            say("\n");
            Err(Unanswered::Declined)
        }
    }
}

async fn reply(lines: &Lines, prompt: &Prompt) -> Result<Vec<String>, Unanswered> {
    let body = QuestionBody::Ask(vec![prompt.clone()]);
    loop {
        let line = typed(lines, &asked::prompt_line(prompt)).await?;
        let reply = match meant(prompt, &line) {
            Ok(reply) => reply,
            Err(problem) => {
                say(&format!("{problem}\n"));
                continue;
            }
        };
        match body.check_answer(Answer::Replies(vec![reply])) {
            Ok(Answer::Replies(mut replies)) => return Ok(replies.pop().unwrap_or_default()),
            Ok(_) => {}
            Err(error) => say(&told(&error.to_string())),
        }
    }
}

/// What a line means as the answer to a prompt.
pub(super) fn meant(prompt: &Prompt, line: &str) -> Result<Vec<String>, &'static str> {
    let text = line.trim();
    if text.is_empty() {
        return match &prompt.default {
            Some(default) => Ok(default.clone()),
            None if prompt.multiple => Ok(Vec::new()),
            None => Err("an answer is needed"),
        };
    }
    if prompt.options.is_empty() {
        return Ok(vec![line.to_owned()]);
    }
    if !prompt.multiple {
        return Ok(vec![numbered(prompt, text)]);
    }
    if text == "-" {
        return Ok(Vec::new());
    }
    let parts = text
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty());
    Ok(parts.map(|part| numbered(prompt, part)).collect())
}

/// The option of a number, or the text as it is.
fn numbered(prompt: &Prompt, text: &str) -> String {
    let number = text.parse::<usize>().ok();
    let at = number.and_then(|number| number.checked_sub(1));
    let option = at.and_then(|at| prompt.options.get(at));
    option.cloned().unwrap_or_else(|| text.to_owned())
}

async fn confirmed(lines: &Lines, default: Option<bool>) -> Result<Answer, Unanswered> {
    loop {
        let line = typed(lines, &asked::confirm_line(default)).await?;
        let said = match line.trim() {
            "" => default,
            text => yes_or_no(text),
        };
        match said {
            Some(is_yes) => return Ok(Answer::Confirmed(is_yes)),
            None => say("answer `y` for yes or `n` for no\n"),
        }
    }
}

pub(super) fn yes_or_no(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "y" | "yes" | "true" => Some(true),
        "n" | "no" | "false" => Some(false),
        _ => None,
    }
}

/// The value of a field; `None` where it stays empty.
async fn filled(lines: &Lines, field: &FormField) -> Result<Option<Json>, Unanswered> {
    let alone = QuestionBody::Form {
        title: String::new(),
        fields: vec![field.clone()],
    };
    loop {
        let line = match field.secret {
            true => hidden(lines, field).await?,
            false => typed(lines, &asked::field_line(field)).await?,
        };
        let mut values = JsonObject::new();
        if !line.trim().is_empty() {
            values.insert(field.field.name.clone(), value(field, &line));
        }
        match alone.check_answer(Answer::Filled(values)) {
            Ok(Answer::Filled(mut values)) => return Ok(values.shift_remove(&field.field.name)),
            Ok(_) => {}
            Err(error) => say(&told(&error.to_string())),
        }
    }
}

/// A line that is not echoed.
async fn hidden(lines: &Lines, field: &FormField) -> Result<String, Unanswered> {
    let Some(_hidden) = Hidden::start() else {
        say("this terminal cannot hide what is typed, so the question is declined\n");
        return Err(Unanswered::Declined);
    };
    let line = typed(lines, &asked::field_line(field)).await;
    // The line break was not echoed either.
    say("\n");
    line
}

/// What a line means as the value of a field.
pub(super) fn value(field: &FormField, line: &str) -> Json {
    let text = line.trim();
    let options = asked::options_of(field);
    let number = text.parse::<usize>().ok();
    let at = number.and_then(|number| number.checked_sub(1));
    if let Some(option) = at.and_then(|at| options.get(at)) {
        return option.clone();
    }
    match asked::present(&field.field.ty) {
        Type::String => line.to_owned().into(),
        Type::Char | Type::Enum(_) => text.to_owned().into(),
        Type::Bool => yes_or_no(text).map_or_else(|| text.to_owned().into(), Json::Bool),
        // What is no JSON is a text, of which the types say what they make.
        _ => serde_json::from_str(text).unwrap_or_else(|_| text.to_owned().into()),
    }
}

/// Why an answer is asked for again. It may hold words of the component.
fn told(problem: &str) -> String {
    asked::words(problem) + "that does not fit\n"
}
