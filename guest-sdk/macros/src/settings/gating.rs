//! What `#[function(…)]` may say of how a function is offered and called.

use super::condition::{self, Use};
use super::{Setting, Value};
use crate::errors::Errors;
use crate::literal::{Literal, LiteralValue, quoted};
use crate::model::{NamedType, Parameter};

/// The longest time, in seconds: a week.
const SECONDS_MAX: f64 = 604_800.0;
/// The longest word, in bytes.
const LABEL_BYTES_MAX: usize = 64;

/// What settings of one function may speak of.
pub(super) struct About<'a> {
    /// Its parameters.
    pub(super) parameters: &'a [Parameter],
    /// The WIT names of all functions of the module.
    pub(super) functions: &'a [String],
    pub(super) types: &'a [NamedType],
}

/// One word.
pub(super) fn label(setting: &Setting, errors: &mut Errors) -> Option<String> {
    match &setting.value {
        Value::Literal(literal) => word(literal, errors),
        _ => {
            setting.text(errors)?;
            None
        }
    }
}

/// One word, or a list of them.
pub(super) fn labels(setting: &Setting, errors: &mut Errors) -> Option<String> {
    let words = match &setting.value {
        Value::Literal(Literal {
            value: LiteralValue::List(words),
            ..
        }) if !words.is_empty() => words.as_slice(),
        Value::Literal(
            literal @ Literal {
                value: LiteralValue::Text(_),
                ..
            },
        ) => std::slice::from_ref(literal),
        _ => {
            let key = &setting.key;
            let message = format!("write `{key} = \"…\"` or `{key} = [\"…\", \"…\"]`");
            errors.at(setting.value_span(), message);
            return None;
        }
    };
    let words: Vec<_> = words.iter().filter_map(|w| word(w, errors)).collect();
    Some(format!("[{}]", words.join(",")))
}

fn word(literal: &Literal, errors: &mut Errors) -> Option<String> {
    match &literal.value {
        LiteralValue::Text(text)
            if (1..=LABEL_BYTES_MAX).contains(&text.len())
                && !text.contains(char::is_whitespace) =>
        {
            Some(quoted(text))
        }
        _ => {
            let message = "expected a word of 1 to 64 bytes, without spaces";
            errors.at(literal.span, message);
            None
        }
    }
}

/// A flag, or a text that says something, as JSON.
fn flag_or_text(setting: &Setting) -> Option<String> {
    match &setting.value {
        Value::Flag => Some("true".to_owned()),
        Value::Literal(Literal { value, .. }) => match value {
            LiteralValue::Bool(flag) => Some(flag.to_string()),
            LiteralValue::Text(text) if !text.trim().is_empty() => Some(quoted(text)),
            _ => None,
        },
        _ => None,
    }
}

/// A flag, or the words by which the function is found.
pub(super) fn deferred(setting: &Setting, errors: &mut Errors) -> Option<String> {
    let said = flag_or_text(setting);
    if said.is_none() {
        let message = "write `defer` or `defer = \"words by which it is found\"`";
        errors.at(setting.value_span(), message);
    }
    said
}

/// A time in seconds.
pub(super) fn seconds(setting: &Setting, errors: &mut Errors) -> Option<String> {
    let digits = match &setting.value {
        Value::Literal(Literal {
            value: LiteralValue::Integer(seconds),
            ..
        }) => Some(seconds.to_string()),
        Value::Literal(Literal {
            value: LiteralValue::Float(digits),
            ..
        }) => Some(digits.clone()),
        _ => None,
    };
    let fits = |digits: &String| {
        let seconds = digits.parse::<f64>();
        seconds.is_ok_and(|seconds| (0.001..=SECONDS_MAX).contains(&seconds))
    };
    let digits = digits.filter(fits);
    if digits.is_none() {
        let message = format!("expected a number of seconds from 0.001 to {SECONDS_MAX}");
        errors.at(setting.value_span(), message);
    }
    digits
}

pub(super) fn available_if(
    setting: &Setting,
    about: &About<'_>,
    errors: &mut Errors,
) -> Option<String> {
    let Value::Literal(condition) = &setting.value else {
        let message = "write `available_if = CONDITION`, for example `{\"env\": \"TOKEN\"}`";
        errors.at(setting.value_span(), message);
        return None;
    };
    condition::check(condition, Use::Available, about, errors)
}

/// A flag, the reason, or the condition and the reason.
pub(super) fn required_approval(
    setting: &Setting,
    about: &About<'_>,
    errors: &mut Errors,
) -> Option<String> {
    if let Some(said) = flag_or_text(setting) {
        return Some(said);
    }
    if let Value::Literal(Literal {
        value: LiteralValue::Object(entries),
        ..
    }) = &setting.value
    {
        let when = entries.iter().find(|entry| entry.key == "when");
        let reason = entries.iter().find(|entry| entry.key == "reason");
        let others = entries.len() - usize::from(reason.is_some());
        let reason = match reason.map(|entry| &entry.value.value) {
            None => Some(String::new()),
            Some(LiteralValue::Text(text)) if !text.trim().is_empty() => {
                Some(format!(",\"reason\":{}", quoted(text)))
            }
            Some(_) => None,
        };
        if let (Some(when), Some(reason), 1) = (when, reason, others) {
            let when = condition::check(&when.value, Use::Approval, about, errors)?;
            return Some(format!("{{\"when\":{when}{reason}}}"));
        }
    }
    let message = "write `requires_approval`, `requires_approval = \"why\"` or \
                   `requires_approval = {\"when\": CONDITION, \"reason\": \"why\"}`";
    errors.at(setting.value_span(), message);
    None
}
