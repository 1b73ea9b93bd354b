//! Conditions, as `available_if` and `requires_approval` hold them. The host reads the same language.

use super::gating::About;
use crate::errors::Errors;
use crate::literal::{Entry, Literal, LiteralValue, quoted};
use crate::model::{ParameterKind, Type};
use crate::names::to_kebab;
use crate::values;

const FORMS: &str = "a condition is one of `{\"dir\": \"PATH\"}`, `{\"env\": \"NAME\"}`, \
    `{\"model\": \"NAME\"}`, `{\"argument\": \"NAME\", \"equals\": VALUE}` (or `in`, `above`), \
    `{\"export\": \"FUNCTION\"}`, `{\"all\": […]}`, `{\"any\": […]}` and `{\"not\": …}`";

/// How deep conditions may stand in each other, as at the host.
const DEPTH_MAX: usize = 4;

/// What a condition is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Available,
    Approval,
}

/// Checks a condition and gives it as JSON.
pub(super) fn check(
    condition: &Literal,
    of: Use,
    about: &About<'_>,
    errors: &mut Errors,
) -> Option<String> {
    let mut check = Check { of, about, errors };
    check.condition(condition, DEPTH_MAX)
}

struct Check<'a> {
    of: Use,
    about: &'a About<'a>,
    errors: &'a mut Errors,
}

impl Check<'_> {
    fn condition(&mut self, condition: &Literal, depth: usize) -> Option<String> {
        if depth == 0 {
            let message = format!("conditions stand at most {DEPTH_MAX} levels deep");
            return self.refuse(condition, message);
        }
        let entries = match &condition.value {
            LiteralValue::Object(entries) => entries.as_slice(),
            _ => &[],
        };
        match entries {
            [Entry { key, value, .. }] => match (key.as_str(), &value.value) {
                ("all" | "any", LiteralValue::List(inner)) if !inner.is_empty() => {
                    let inner: Vec<_> = inner
                        .iter()
                        .map(|inner| self.condition(inner, depth - 1))
                        .collect();
                    let inner: Option<Vec<_>> = inner.into_iter().collect();
                    Some(format!("{{\"{key}\":[{}]}}", inner?.join(",")))
                }
                ("not", _) => {
                    let inner = self.condition(value, depth - 1)?;
                    Some(format!("{{\"not\":{inner}}}"))
                }
                ("export", LiteralValue::Text(name)) => self.export(value, name),
                ("dir" | "env" | "model", LiteralValue::Text(text)) if !text.is_empty() => {
                    Some(condition.to_json())
                }
                ("model", LiteralValue::List(names)) if is_texts(names) => {
                    Some(condition.to_json())
                }
                _ => self.refuse(condition, FORMS.to_owned()),
            },
            [first, second] => {
                let (argument, compared) = match first.key.as_str() {
                    "argument" => (first, second),
                    _ => (second, first),
                };
                self.argument(condition, argument, compared)
            }
            _ => self.refuse(condition, FORMS.to_owned()),
        }
    }

    fn argument(
        &mut self,
        condition: &Literal,
        argument: &Entry,
        compared: &Entry,
    ) -> Option<String> {
        let (LiteralValue::Text(name), "argument") = (&argument.value.value, argument.key.as_str())
        else {
            return self.refuse(condition, FORMS.to_owned());
        };
        if self.of == Use::Available {
            let message = "there are no arguments yet when a function is offered".to_owned();
            return self.refuse(condition, message);
        }
        let wanted = to_kebab(name);
        let mut parameters = self.about.parameters.iter();
        let found = parameters.find(|parameter| parameter.name == wanted);
        let ty = match found.map(|parameter| &parameter.kind) {
            Some(ParameterKind::Value(ty)) => ty,
            Some(ParameterKind::Str) => &Type::Text,
            _ => {
                let message = format!("the function has no parameter `{name}` to compare");
                return self.refuse(&argument.value, message);
            }
        };
        let compared_with = match (compared.key.as_str(), &compared.value.value) {
            ("equals", _) => self.fit(&compared.value, ty),
            ("in", LiteralValue::List(values)) if !values.is_empty() => {
                let values: Vec<_> = values.iter().map(|value| self.fit(value, ty)).collect();
                format!("[{}]", values.join(","))
            }
            ("above", LiteralValue::Integer(_) | LiteralValue::Float(_)) => {
                compared.value.to_json()
            }
            _ => return self.refuse(condition, FORMS.to_owned()),
        };
        let name = quoted(&found?.name);
        let how = &compared.key;
        Some(format!("{{\"argument\":{name},\"{how}\":{compared_with}}}"))
    }

    fn fit(&mut self, value: &Literal, ty: &Type) -> String {
        values::fit(value, ty, self.about.types, self.errors).to_json()
    }

    fn export(&mut self, value: &Literal, name: &str) -> Option<String> {
        let name = to_kebab(name);
        if !self.about.functions.contains(&name) {
            let message = "there is no such `pub fn` in this module".to_owned();
            return self.refuse(value, message);
        }
        Some(format!("{{\"export\":{}}}", quoted(&name)))
    }

    fn refuse(&mut self, at: &Literal, message: String) -> Option<String> {
        self.errors.at(at.span, message);
        None
    }
}

fn is_texts(literals: &[Literal]) -> bool {
    let is_text = |l: &Literal| matches!(&l.value, LiteralValue::Text(text) if !text.is_empty());
    !literals.is_empty() && literals.iter().all(is_text)
}
