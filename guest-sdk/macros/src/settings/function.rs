//! What `#[function(…)]` may hold.

use syn::Token;
use syn::parse::Parser as _;
use syn::punctuated::Punctuated;

use super::gating::{self, About};
use super::{Setting, Value};
use crate::errors::Errors;
use crate::literal::{Literal, LiteralValue, quoted};
use crate::model::Attribute;

const KEYS: &str = "`name`, `description`, `category`, `system`, `expose`, `render_range`, \
    `toolset`, `unsafe_in`, `available_if`, `defer`, `requires_approval`, `cache`, `cache_ttl`, \
    `timeout`, `read_only`, `idempotent`, `destructive` or `open_world`";

/// What callers may see of a function.
const EXPOSE: [&str; 4] = ["io", "llm", "full", "hidden"];

/// Checks one setting of a function.
pub(super) fn attribute(
    setting: &Setting,
    about: &About<'_>,
    errors: &mut Errors,
) -> Option<Attribute> {
    let key = setting.key.to_string();
    let known = |key, value: String| Some(Attribute { key, value });
    match key.as_str() {
        "name" => known("name", name(setting, errors)?),
        "description" => known("description", quoted(words(setting, errors)?)),
        "category" => known("category", gating::label(setting, errors)?),
        "system" => known("system", quoted(setting.text(errors)?)),
        "expose" => {
            let text = setting.text(errors)?;
            if !EXPOSE.contains(&text) {
                let message = format!("expected one of `{}`", EXPOSE.join("`, `"));
                errors.at(setting.value_span(), message);
                return None;
            }
            known("expose", quoted(text))
        }
        "render_range" => known("render_range", render_range(setting, errors)?),
        "toolset" => known("toolset", gating::labels(setting, errors)?),
        "unsafe_in" => known("unsafe_in", gating::labels(setting, errors)?),
        "available_if" => known(
            "available_if",
            gating::available_if(setting, about, errors)?,
        ),
        "defer" => known("defer", gating::deferred(setting, errors)?),
        "requires_approval" => known(
            "requires_approval",
            gating::required_approval(setting, about, errors)?,
        ),
        "cache_ttl" => known("cache_ttl", gating::seconds(setting, errors)?),
        "timeout" => known("timeout", gating::seconds(setting, errors)?),
        "cache" => known("cache", flag(setting, errors)?.to_string()),
        "read_only" => known("read_only", flag(setting, errors)?.to_string()),
        "idempotent" => known("idempotent", flag(setting, errors)?.to_string()),
        "destructive" => known("destructive", flag(setting, errors)?.to_string()),
        "open_world" => known("open_world", flag(setting, errors)?.to_string()),
        other => {
            errors.at(
                setting.key.span(),
                format!("unknown setting `{other}`, expected {KEYS}"),
            );
            None
        }
    }
}

/// Reports settings that contradict each other.
pub(super) fn check_together(settings: &[Setting], errors: &mut Errors) {
    let find = |key: &str| settings.iter().find(|setting| setting.key == key);
    if let (Some(ttl), None) = (find("cache_ttl"), find("cache")) {
        errors.at(ttl.key.span(), "nothing is kept without `cache`");
    }
    let is_set = |setting: &&Setting| match &setting.value {
        Value::Literal(Literal { value, .. }) => !matches!(value, LiteralValue::Bool(false)),
        _ => true,
    };
    let read_only = find("read_only").filter(is_set);
    if let (Some(_), Some(destructive)) = (read_only, find("destructive").filter(is_set)) {
        let message = "what is `read_only` cannot be destructive";
        errors.at(destructive.key.span(), message);
    }
}

/// A text that says something.
fn words<'a>(setting: &'a Setting, errors: &mut Errors) -> Option<&'a str> {
    let text = setting.text(errors)?;
    if text.trim().is_empty() {
        let message = format!("`{}` must not be empty", setting.key);
        errors.at(setting.value_span(), message);
        return None;
    }
    Some(text)
}

fn name(setting: &Setting, errors: &mut Errors) -> Option<String> {
    let text = setting.text(errors)?;
    let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if !(1..=64).contains(&text.len()) || !text.bytes().all(is_fit) {
        let message = "models take names of 1 to 64 letters, digits, `_` and `-`";
        errors.at(setting.value_span(), message);
        return None;
    }
    Some(quoted(text))
}

/// `key`, or `key = true` or `false`.
fn flag(setting: &Setting, errors: &mut Errors) -> Option<bool> {
    match &setting.value {
        Value::Flag => Some(true),
        Value::Literal(Literal {
            value: LiteralValue::Bool(value),
            ..
        }) => Some(*value),
        _ => {
            let key = &setting.key;
            let message = format!("write `{key}` or `{key} = false`");
            errors.at(setting.value_span(), message);
            None
        }
    }
}

fn render_range(setting: &Setting, errors: &mut Errors) -> Option<String> {
    let Value::Group(_, bounds) = &setting.value else {
        let message = "write `render_range(callers = N, subcalls = N)`";
        errors.at(setting.value_span(), message);
        return None;
    };
    let parse = Punctuated::<Setting, Token![,]>::parse_terminated;
    let bounds = errors.keep(parse.parse2(bounds.clone()))?;
    let (mut callers, mut subcalls) = (None, None);
    for bound in bounds {
        let (slot, least) = match bound.key.to_string().as_str() {
            "callers" => (&mut callers, 0),
            "subcalls" => (&mut subcalls, -1),
            other => {
                let message = format!("unknown bound `{other}`, expected `callers` or `subcalls`");
                errors.at(bound.key.span(), message);
                continue;
            }
        };
        match &bound.value {
            Value::Literal(Literal {
                value: LiteralValue::Integer(number),
                ..
            }) if (least..=i128::from(u32::MAX)).contains(number) => {
                *slot = Some(*number);
            }
            _ => {
                let all = if least == 0 {
                    "leave it out for all"
                } else {
                    "-1 for all"
                };
                let message = format!("expected a number of nodes from {least} on ({all})");
                errors.at(bound.value_span(), message);
            }
        }
    }
    let callers = callers.map_or("null".to_owned(), |number| number.to_string());
    Some(format!(
        "{{\"callers\":{callers},\"subcalls\":{}}}",
        subcalls.unwrap_or(-1)
    ))
}
