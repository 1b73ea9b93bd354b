//! A question and its answer as the graph keeps them. Values of secret fields are not kept.

use super::{Answer, FormField, Prompt, QuestionBody};
use crate::schema::{Property, names_equal, properties_to_json_schema};
use crate::{Json, JsonObject};

/// A question of a function as one JSON object: `questions`; or `prompt` with `default`, or with
/// `fields`, a JSON Schema in which secret fields are `writeOnly`.
#[must_use]
pub fn question_to_json(body: &QuestionBody) -> JsonObject {
    let mut object = JsonObject::new();
    let mut put = |key: &str, value: Json| {
        object.insert(key.to_owned(), value);
    };
    match body {
        // The host keeps receipts of these.
        QuestionBody::Approval(_) => {}
        QuestionBody::Ask(prompts) => {
            put("questions", prompts.iter().map(prompt_to_json).collect());
        }
        QuestionBody::Confirm { text, default } => {
            put("prompt", text.clone().into());
            if let Some(default) = default {
                put("default", (*default).into());
            }
        }
        QuestionBody::Form { title, fields } => {
            put("prompt", title.clone().into());
            put("fields", fields_to_json(fields));
        }
    }
    object
}

fn prompt_to_json(prompt: &Prompt) -> Json {
    let mut object = JsonObject::new();
    object.insert("prompt".to_owned(), prompt.text.clone().into());
    if !prompt.options.is_empty() {
        object.insert("options".to_owned(), prompt.options.clone().into());
    }
    for (key, is_so) in [
        ("multiple", prompt.multiple),
        ("free_text", prompt.free_text),
    ] {
        if is_so {
            object.insert(key.to_owned(), true.into());
        }
    }
    if let Some(default) = &prompt.default {
        object.insert("default".to_owned(), default.clone().into());
    }
    Json::Object(object)
}

fn fields_to_json(fields: &[FormField]) -> Json {
    let mut schema = properties_to_json_schema(fields.iter().map(|field| Property {
        field: &field.field,
        required: field.required && field.default.is_none(),
        example: None,
        default: field.default.as_ref(),
    }));
    for field in fields {
        let property = &mut schema["properties"][&field.field.name];
        if let Some(minimum) = field.range.minimum {
            property["minimum"] = minimum.into();
        }
        if let Some(maximum) = field.range.maximum {
            property["maximum"] = maximum.into();
        }
        if field.secret {
            property["writeOnly"] = true.into();
        }
    }
    schema
}

/// The names of the fields whose values no record may hold.
#[must_use]
pub fn secret_names(body: &QuestionBody) -> Vec<&str> {
    let fields = match body {
        QuestionBody::Form { fields, .. } => &fields[..],
        _ => &[],
    };
    let secret = fields.iter().filter(|field| field.secret);
    secret.map(|field| field.field.name.as_str()).collect()
}

/// A checked answer as JSON, without the values of secret fields: `true` or `false`, for each prompt
/// a list of texts, or an object of values.
#[must_use]
pub fn answer_to_json(body: &QuestionBody, answer: &Answer) -> Json {
    match answer {
        Answer::Approved(is_yes) | Answer::Remembered(is_yes) | Answer::Confirmed(is_yes) => {
            (*is_yes).into()
        }
        Answer::Replies(replies) => replies.clone().into(),
        Answer::Filled(values) => {
            let secret = secret_names(body);
            let is_kept = |name: &str| !secret.iter().any(|other| names_equal(other, name));
            let kept = values.iter().filter(|(name, _)| is_kept(name));
            let kept = kept.map(|(name, value)| (name.clone(), value.clone()));
            Json::Object(kept.collect())
        }
    }
}
