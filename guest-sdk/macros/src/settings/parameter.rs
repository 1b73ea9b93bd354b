//! What `#[param(…)]` may hold, against the type of the parameter.

use super::{Setting, Value};
use crate::errors::Errors;
use crate::literal::{Literal, LiteralValue, quoted};
use crate::model::{Attribute, NamedType, Parameter, ParameterKind, Type};
use crate::values;

const KEYS: &str = "`options`, `hidden`, `placeholder`, `multiline`, `options_from` or `default`";

/// Checks all settings of one parameter.
pub(super) fn check(
    parameter: &Parameter,
    settings: &[Setting],
    types: &[NamedType],
    errors: &mut Errors,
) -> Vec<Attribute> {
    Check {
        parameter,
        types,
        errors,
    }
    .all(settings)
}

struct Check<'a> {
    parameter: &'a Parameter,
    types: &'a [NamedType],
    errors: &'a mut Errors,
}

impl Check<'_> {
    fn all(&mut self, settings: &[Setting]) -> Vec<Attribute> {
        let ty = match &self.parameter.kind {
            ParameterKind::Value(ty) => ty,
            ParameterKind::Str => &Type::Text,
            ParameterKind::Runtime { .. } => {
                for setting in settings {
                    let message = "a runtime is lent by the host and has no settings";
                    self.errors.at(setting.key.span(), message);
                }
                return Vec::new();
            }
        };
        let attributes: Vec<Attribute> = settings
            .iter()
            .filter_map(|setting| self.attribute(setting, ty))
            .collect();
        self.check_together(settings, ty, &attributes);
        attributes
    }

    fn attribute(&mut self, setting: &Setting, ty: &Type) -> Option<Attribute> {
        let key = setting.key.to_string();
        match key.as_str() {
            "options" => Some(Attribute {
                key: "options",
                value: self.options(setting, ty)?,
            }),
            "default" => {
                let Value::Literal(literal) = &setting.value else {
                    self.errors
                        .at(setting.key.span(), "write `default = VALUE`");
                    return None;
                };
                let value = values::fit(literal, ty, self.types, self.errors).to_json();
                Some(Attribute {
                    key: "default",
                    value,
                })
            }
            "hidden" => self.flag(setting, "hidden"),
            "multiline" => {
                self.only_for_texts(setting, ty.required() == &Type::Text);
                self.flag(setting, "multiline")
            }
            "placeholder" => {
                let value = quoted(setting.text(self.errors)?);
                Some(Attribute {
                    key: "placeholder",
                    value,
                })
            }
            "options_from" => {
                let texts = ty.required() == &Type::Text
                    || *ty.required() == Type::List(Box::new(Type::Text));
                self.only_for_texts(setting, texts);
                let value = quoted(setting.text(self.errors)?);
                Some(Attribute {
                    key: "options_from",
                    value,
                })
            }
            other => {
                let message = format!("unknown setting `{other}`, expected {KEYS}");
                self.errors.at(setting.key.span(), message);
                None
            }
        }
    }

    fn options(&mut self, setting: &Setting, ty: &Type) -> Option<String> {
        let Value::Literal(Literal {
            value: LiteralValue::List(options),
            ..
        }) = &setting.value
        else {
            self.errors.at(
                setting.value_span(),
                "write the allowed values as a list: `options = [\"a\", \"b\"]`",
            );
            return None;
        };
        if options.is_empty() {
            self.errors.at(
                setting.value_span(),
                "a parameter without an allowed value cannot be filled",
            );
        }
        let mut texts: Vec<String> = Vec::new();
        for option in options {
            let json = values::fit(option, ty.required(), self.types, self.errors).to_json();
            if texts.contains(&json) {
                self.errors
                    .at(option.span, format!("the option {json} is given twice"));
            }
            texts.push(json);
        }
        Some(format!("[{}]", texts.join(",")))
    }

    fn flag(&mut self, setting: &Setting, key: &'static str) -> Option<Attribute> {
        let value = match &setting.value {
            Value::Flag => true,
            Value::Literal(Literal {
                value: LiteralValue::Bool(value),
                ..
            }) => *value,
            _ => {
                self.errors.at(
                    setting.value_span(),
                    format!("write `{key}` or `{key} = false`"),
                );
                return None;
            }
        };
        Some(Attribute {
            key,
            value: value.to_string(),
        })
    }

    fn only_for_texts(&mut self, setting: &Setting, is_text: bool) {
        if !is_text {
            let message = format!("`{}` is for texts, and this parameter is none", setting.key);
            self.errors.at(setting.key.span(), message);
        }
    }

    /// Reports settings that contradict each other.
    fn check_together(&mut self, settings: &[Setting], ty: &Type, attributes: &[Attribute]) {
        let find = |key: &str| settings.iter().find(|setting| setting.key == key);
        if let (Some(_), Some(source)) = (find("options"), find("options_from")) {
            let message = "give either `options` or `options_from`, not both";
            self.errors.at(source.key.span(), message);
        }
        let value = |key: &str| {
            attributes
                .iter()
                .find(|found| found.key == key)
                .map(|f| &f.value)
        };
        let (Some(options), Some(default)) = (value("options"), value("default")) else {
            return;
        };
        let allowed: Vec<serde_json::Value> = serde_json::from_str(options).unwrap_or_default();
        let given = serde_json::from_str::<serde_json::Value>(default).unwrap_or_default();
        let absent = given.is_null() && matches!(ty, Type::Option(_));
        if let Some(setting) = find("default").filter(|_| !absent && !allowed.contains(&given)) {
            self.errors.at(
                setting.value_span(),
                "the default is not one of the `options`",
            );
        }
    }
}
