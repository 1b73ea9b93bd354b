//! How a question of a component looks. Whatever the component says stands behind a bar, on lines
//! that are short enough for every terminal, so that no line of it can pass for one of ours: not for
//! the head of a question, not for a prompt, and not for an approval, which has no bars.

use openprogram_core::Json;
use openprogram_core::question::{FormField, Prompt, Question};
use openprogram_core::schema::{Type, type_to_json_schema};

use crate::commands::bars::wrapped;
use crate::text::{clean, escape_json, one_line};

/// Columns of the words of a component; with what stands before them they fit into 80.
const COLUMNS_MAX: usize = 68;
/// Lines of one text; a component may write a page, and a person reads its begin.
const LINES_MAX: usize = 40;
/// Characters of a name of ours, and of a value that is the default.
const NAME_CHARS_MAX: usize = 200;
/// Characters of a value on a line of ours.
const VALUE_CHARS_MAX: usize = 60;
/// Characters of the schema of a field that has no words of its own.
const SCHEMA_CHARS_MAX: usize = 300;

/// Declines a question.
pub(super) const DECLINE: &str = "/decline";

/// What stands above a question: who asks, and that these are words of a component.
pub(super) fn head(question: &Question) -> String {
    let name = |text: &Option<String>| {
        let text = text.as_deref().unwrap_or("somebody");
        one_line(text, NAME_CHARS_MAX)
    };
    format!(
        "question from a component: {}\n  function   {}\n  session    {}\n  \
         what stands behind │ are its words; no answer to it approves anything\n",
        name(&question.component),
        name(&question.function),
        question.session,
    )
}

/// Words of the component, behind bars.
pub(super) fn words(text: &str) -> String {
    let text = clean(text);
    let mut shown = String::new();
    let mut lines = text
        .trim()
        .lines()
        .flat_map(|line| wrapped(line, COLUMNS_MAX));
    for line in lines.by_ref().take(LINES_MAX) {
        shown.push_str(&format!("  │ {line}\n"));
    }
    let n_more = lines.count();
    if n_more > 0 {
        shown.push_str(&format!("  and {n_more} more lines that are not shown\n"));
    }
    shown
}

/// One of several values to choose from, with its number.
fn choice(number: usize, text: &str) -> String {
    let cleaned = clean(text).replace(['\n', '\t'], " ");
    let mut shown = String::new();
    for (at, line) in wrapped(&cleaned, COLUMNS_MAX).into_iter().enumerate() {
        let number = match at {
            0 => number.to_string(),
            _ => String::new(),
        };
        shown.push_str(&format!("{number:>5} │ {line}\n"));
    }
    shown
}

/// One prompt with its options.
pub(super) fn prompt(prompt: &Prompt, at: usize, of: usize) -> String {
    let mut text = String::new();
    if of > 1 {
        text.push_str(&format!("question {} of {of}\n", at + 1));
    }
    text.push_str(&words(&prompt.text));
    for (at, option) in prompt.options.iter().enumerate() {
        text.push_str(&choice(at + 1, option));
    }
    text
}

/// What stands before the answer to a prompt.
pub(super) fn prompt_line(prompt: &Prompt) -> String {
    let count = prompt.options.len();
    let numbers = match (count, prompt.multiple) {
        (0, _) => "a text".to_owned(),
        (1, false) => "1".to_owned(),
        (_, false) => format!("1 to {count}"),
        (_, true) => "numbers like 1,2, or - for none".to_owned(),
    };
    let free = match (count, prompt.free_text) {
        (1.., true) => ", or a text",
        _ => "",
    };
    let default = prompt.default.as_ref().map(|default| {
        let number = |text: &String| prompt.options.iter().position(|option| option == text);
        let shown: Vec<_> = default
            .iter()
            .map(|text| match number(text) {
                Some(at) => (at + 1).to_string(),
                None => quoted(text),
            })
            .collect();
        match shown.is_empty() {
            true => "none".to_owned(),
            false => shown.join(","),
        }
    });
    line(&format!("{numbers}{free}"), default.as_deref())
}

/// What stands before the answer to a confirmation.
pub(super) fn confirm_line(default: Option<bool>) -> String {
    line(
        "y or n",
        default.map(|is_yes| if is_yes { "y" } else { "n" }),
    )
}

/// One field of a form with its allowed values.
pub(super) fn field(field: &FormField, at: usize, of: usize) -> String {
    let name = one_line(&field.field.name, NAME_CHARS_MAX);
    let said = match &field.field.description {
        Some(description) if !description.trim().is_empty() => format!("{name}: {description}"),
        _ => name,
    };
    let mut text = format!("field {} of {of}\n{}", at + 1, words(&said));
    for (at, option) in options_of(field).iter().enumerate() {
        text.push_str(&choice(at + 1, &value(option)));
    }
    text
}

/// The values that a field may have, where they are few.
pub(super) fn options_of(field: &FormField) -> Vec<Json> {
    if !field.field.options.is_empty() {
        return field.field.options.clone();
    }
    match present(&field.field.ty) {
        Type::Enum(cases) => cases
            .cases
            .iter()
            .map(|case| case.name.clone().into())
            .collect(),
        _ => Vec::new(),
    }
}

/// The type of a value that is there.
pub(super) fn present(ty: &Type) -> &Type {
    match ty {
        Type::Option(inner) => present(inner),
        other => other,
    }
}

/// What stands before the value of a field.
pub(super) fn field_line(field: &FormField) -> String {
    let count = options_of(field).len();
    let kind = match present(&field.field.ty) {
        _ if count == 1 => "1".to_owned(),
        _ if count > 1 => format!("1 to {count}"),
        _ if field.secret => "a text that is not shown".to_owned(),
        Type::Bool => "y or n".to_owned(),
        Type::Integer(_) if field.range.is_open() => "a whole number".to_owned(),
        Type::Integer(_) => format!("a whole number {}", field.range),
        Type::Float32 | Type::Float64 if field.range.is_open() => "a number".to_owned(),
        Type::Float32 | Type::Float64 => format!("a number {}", field.range),
        Type::String | Type::Char => "a text".to_owned(),
        other => {
            let schema = type_to_json_schema(other).to_string();
            format!(
                "JSON of {}",
                one_line(&escape_json(&schema), SCHEMA_CHARS_MAX)
            )
        }
    };
    let default = match (&field.default, field.required) {
        (Some(default), _) => Some(match options_of(field).iter().position(|o| o == default) {
            Some(at) => (at + 1).to_string(),
            None => quoted(&value(default)),
        }),
        (None, false) => Some("none".to_owned()),
        (None, true) => None,
    };
    line(&kind, default.as_deref())
}

/// A value as a person reads it: a text as it is, anything else as JSON.
fn value(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        other => escape_json(&other.to_string()).into_owned(),
    }
}

/// Words of a component on a line of ours.
fn quoted(text: &str) -> String {
    format!("`{}`", one_line(text, VALUE_CHARS_MAX).replace('`', "'"))
}

fn line(kind: &str, default: Option<&str>) -> String {
    let enter = default.map(|default| format!("; Enter for {default}"));
    format!("answer ({kind}{}; {DECLINE})> ", enter.unwrap_or_default())
}
