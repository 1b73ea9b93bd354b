//! Conditions against the functions of their component: what they name has to be there and to fit.
//!
//! A function that a condition names decides about another one and is offered to nobody.

use openprogram_core::function::{Function, Offer, Parameter, ParameterSource};
use openprogram_core::gating::{Comparison, Condition};
use openprogram_core::schema::{CheckMode, Field, Type, check_value, names_equal};

use super::attribute::cut;
use crate::error::MetadataError;

/// Checks the conditions of all functions.
pub(super) fn check(functions: &mut [Function]) -> Result<(), MetadataError> {
    for function in functions.iter_mut() {
        let Function {
            gating, parameters, ..
        } = function;
        let required = gating.requires_approval.as_mut();
        if let Some(when) = required.and_then(|required| required.when.as_mut()) {
            let checked = check_arguments(parameters, when);
            checked.map_err(|problem| bad(&function.name.function, Use::Approval, problem))?;
        }
    }
    let mut deciding = Vec::new();
    for function in functions.iter() {
        let available = function.gating.available_if.iter();
        let approval = function.gating.requires_approval.iter();
        let approval = approval.filter_map(|required| required.when.as_ref());
        let available = available.map(|c| (c, Use::Available));
        for (condition, of) in available.chain(approval.map(|c| (c, Use::Approval))) {
            for part in condition.each() {
                let found = check_one(functions, function, part, of);
                let found = found.map_err(|problem| bad(&function.name.function, of, problem))?;
                deciding.extend(found.map(|at| (at, of, function.name.function.clone())));
            }
        }
    }
    for (at, of, asking) in deciding {
        let reason = match of {
            Use::Available => format!("it decides whether `{asking}` is available"),
            Use::Approval => format!("it decides whether `{asking}` needs an approval"),
        };
        functions[at].offer = Offer::NotOfferable(reason);
    }
    check_model_names(functions)
}

/// What a condition is for.
#[derive(Clone, Copy)]
enum Use {
    Available,
    Approval,
}

impl Use {
    fn key(self) -> &'static str {
        match self {
            Self::Available => "available_if",
            Self::Approval => "requires_approval",
        }
    }
}

fn bad(function: &str, of: Use, problem: String) -> MetadataError {
    MetadataError::BadAttribute {
        owner: function.to_owned(),
        key: of.key().to_owned(),
        problem,
    }
}

/// The place of the function that the condition asks, if it asks one.
fn check_one(
    functions: &[Function],
    function: &Function,
    condition: &Condition,
    of: Use,
) -> Result<Option<usize>, String> {
    match (condition, of) {
        (Condition::Argument { .. }, Use::Available) => {
            Err("there are no arguments yet when a function is offered".to_owned())
        }
        (Condition::Export(name), of) => check_export(functions, function, name, of).map(Some),
        _ => Ok(None),
    }
}

/// Checks what arguments are compared with, and writes it as arguments will be.
fn check_arguments(parameters: &[Parameter], condition: &mut Condition) -> Result<(), String> {
    match condition {
        Condition::All(inner) | Condition::Any(inner) => inner
            .iter_mut()
            .try_for_each(|inner| check_arguments(parameters, inner)),
        Condition::Not(inner) => check_arguments(parameters, inner),
        Condition::Argument { parameter, is } => check_argument(parameters, parameter, is),
        _ => Ok(()),
    }
}

fn check_argument(parameters: &[Parameter], name: &str, is: &mut Comparison) -> Result<(), String> {
    let is_meant = |parameter: &&Parameter| {
        names_equal(&parameter.field.name, name)
            && !matches!(parameter.source, ParameterSource::Runtime(_))
    };
    let parameter = parameters.iter().find(is_meant).ok_or_else(|| {
        let name = cut(name);
        format!("its condition names an argument `{name}`, which the function lacks")
    })?;
    let ty = match &parameter.field.ty {
        Type::Option(inner) => inner,
        ty => ty,
    };
    match is {
        Comparison::Above(_) => match ty {
            Type::Integer(_) | Type::Float32 | Type::Float64 | Type::Json => Ok(()),
            _ => Err(format!("`{name}` is no number, so it is never above one")),
        },
        Comparison::OneOf(values) => {
            let field = Field::new(parameter.field.name.clone(), parameter.field.ty.clone());
            for value in values {
                let checked = check_value(value, &field, CheckMode::Strict);
                let checked = checked.map_err(|e| format!("`{name}` never has that value: {e}"))?;
                *value = checked.value;
            }
            Ok(())
        }
    }
}

fn check_export(
    functions: &[Function],
    function: &Function,
    name: &str,
    of: Use,
) -> Result<usize, String> {
    let is_meant = |other: &Function| {
        other.name.interface == function.name.interface && names_equal(&other.name.function, name)
    };
    let at = functions.iter().position(is_meant).ok_or_else(|| {
        let name = cut(name);
        format!("its condition names a function `{name}`, which the same interface lacks")
    })?;
    let asked = &functions[at];
    if matches!(asked.offer, Offer::NotOfferable(_)) {
        return Err(format!(
            "`{name}`, which its condition names, cannot be called"
        ));
    }
    if asked.is_stateful {
        return Err(format!(
            "`{name}`, which its condition names, needs an instance that lives on, and what decides \
             has none"
        ));
    }
    let takes_fit = match (asked.parameters.as_slice(), of) {
        ([], _) => true,
        ([only], Use::Approval) => {
            only.source == ParameterSource::Argument && only.field.ty == Type::Json
        }
        _ => false,
    };
    let gives_fit = match (&asked.returns, of) {
        (Some(Type::Bool), _) => true,
        (Some(Type::Option(inner)), Use::Approval) => **inner == Type::String,
        _ => false,
    };
    match (takes_fit && gives_fit, of) {
        (true, _) => Ok(at),
        (false, Use::Available) => Err(format!(
            "`{name}`, which its condition names, must take nothing and return a `bool`"
        )),
        (false, Use::Approval) => Err(format!(
            "`{name}`, which its condition names, must take nothing or one `json`, the arguments \
             of the call, and return a `bool`, or an `option<string>` that says why"
        )),
    }
}

/// Two functions cannot have one name that models see.
fn check_model_names(functions: &[Function]) -> Result<(), MetadataError> {
    for (at, function) in functions.iter().enumerate() {
        let Some(name) = &function.model_name else {
            continue;
        };
        let mut earlier = functions[..at].iter();
        let is_same = |other: &&Function| {
            let other = other.model_name.as_ref();
            other.is_some_and(|other| names_equal(other, name))
        };
        if let Some(first) = earlier.find(is_same) {
            return Err(MetadataError::BadAttribute {
                owner: function.name.function.clone(),
                key: "name".to_owned(),
                problem: format!("`{}` has the same name for models", first.name.function),
            });
        }
    }
    Ok(())
}
