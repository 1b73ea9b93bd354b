//! What `#[function(…)]` may hold.

use syn::Token;
use syn::parse::Parser as _;
use syn::punctuated::Punctuated;

use super::{Setting, Value};
use crate::errors::Errors;
use crate::literal::{Literal, LiteralValue, quoted};
use crate::model::Attribute;

const KEYS: &str = "`system`, `expose`, `render_range`, `requires_approval` or `read_only`";

/// What callers may see of a function.
const EXPOSE: [&str; 4] = ["io", "llm", "full", "hidden"];

/// Checks one setting of a function.
pub(super) fn attribute(setting: &Setting, errors: &mut Errors) -> Option<Attribute> {
    match setting.key.to_string().as_str() {
        "system" => setting.text(errors).map(|text| Attribute {
            key: "system",
            value: quoted(text),
        }),
        "expose" => {
            let text = setting.text(errors)?;
            if !EXPOSE.contains(&text) {
                let message = format!("expected one of `{}`", EXPOSE.join("`, `"));
                errors.at(setting.value_span(), message);
                return None;
            }
            Some(Attribute {
                key: "expose",
                value: quoted(text),
            })
        }
        "render_range" => {
            let value = render_range(setting, errors)?;
            Some(Attribute {
                key: "render_range",
                value,
            })
        }
        "requires_approval" => Some(Attribute {
            key: "requires_approval",
            value: required_approval(setting, errors)?,
        }),
        "read_only" => Some(Attribute {
            key: "read_only",
            value: flag(setting, errors)?.to_string(),
        }),
        other => {
            errors.at(
                setting.key.span(),
                format!("unknown setting `{other}`, expected {KEYS}"),
            );
            None
        }
    }
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

fn required_approval(setting: &Setting, errors: &mut Errors) -> Option<String> {
    let literal = match &setting.value {
        Value::Flag => return Some("true".to_owned()),
        Value::Literal(Literal { value, .. }) => Some(value),
        _ => None,
    };
    match literal {
        Some(LiteralValue::Bool(required)) => Some(required.to_string()),
        Some(LiteralValue::Text(reason)) if !reason.trim().is_empty() => Some(quoted(reason)),
        _ => {
            let message = "write `requires_approval` or `requires_approval = \"why\"`";
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
