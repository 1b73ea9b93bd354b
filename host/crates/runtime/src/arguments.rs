//! The arguments of one call: what the caller gave, checked; hidden ones from the context; defaults.
//!
//! A hidden parameter takes its value from the context on every path and from nowhere else.

use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::function::{Function, Parameter, ParameterSource};
use openprogram_core::schema::{
    CheckError, CheckMode, Checked, Coercion, Field, Type, check_object, check_value, names_equal,
};
use openprogram_core::{Json, JsonObject};

/// The complete arguments of one call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Arguments {
    /// All arguments by shown name, in declaration order.
    pub(crate) values: JsonObject,
    /// What was repaired.
    pub(crate) coercions: Vec<Coercion>,
}

/// Checks what a person or a function gave and fills in the rest.
///
/// # Errors
/// `invalid-argument`, with the path of the offending part and the names that are known.
pub(crate) fn complete_arguments(
    function: &Function,
    given: &JsonObject,
    context: &JsonObject,
) -> Result<Arguments, Failure> {
    check_names(function, given)?;
    let visible: Vec<Field> = function
        .visible_parameters()
        .map(|parameter| parameter.field.clone())
        .collect();
    let mut with_defaults = given.clone();
    for parameter in function.visible_parameters() {
        fill_default(parameter, &mut with_defaults);
    }
    let checked = check_object(&with_defaults, &visible, CheckMode::Lenient)
        .map_err(|error| mismatch(function, &error))?;
    let Checked { value, coercions } = checked;
    let mut arguments = Arguments {
        values: value,
        coercions,
    };
    fill_hidden(function, context, &mut arguments)?;
    arguments.values = in_declared_order(function, arguments.values);
    Ok(arguments)
}

/// The names of the hidden arguments among these.
pub(crate) fn hidden_names(function: &Function, values: &JsonObject) -> Vec<Json> {
    let hidden = hidden_parameters(function).map(|parameter| &parameter.field.name);
    hidden
        .filter(|name| values.contains_key(*name))
        .map(|name| Json::from(name.clone()))
        .collect()
}

fn hidden_parameters(function: &Function) -> impl Iterator<Item = &Parameter> {
    let is_hidden = |p: &&Parameter| p.source == ParameterSource::Context;
    function.parameters.iter().filter(is_hidden)
}

fn check_names(function: &Function, given: &JsonObject) -> Result<(), Failure> {
    for name in given.keys() {
        let known = function
            .parameters
            .iter()
            .find(|parameter| names_equal(&parameter.field.name, name));
        let message = match known.map(|parameter| &parameter.source) {
            Some(ParameterSource::Argument) => continue,
            Some(ParameterSource::Context) => {
                "is hidden and takes its value from the context only".to_owned()
            }
            Some(ParameterSource::Runtime(_)) => "is injected by the host".to_owned(),
            None => {
                let names: Vec<_> = function
                    .visible_parameters()
                    .map(|parameter| format!("`{}`", parameter.field.name))
                    .collect();
                if names.is_empty() {
                    "is not known; the function takes no arguments".to_owned()
                } else {
                    format!("is not known; the function takes {}", names.join(", "))
                }
            }
        };
        let shown: String = name.chars().take(64).collect();
        return Err(invalid(function, &shown, &message));
    }
    Ok(())
}

/// Puts the default in place of an argument that is absent or null.
fn fill_default(parameter: &Parameter, given: &mut JsonObject) {
    let Some(default) = &parameter.default else {
        return;
    };
    let name = &parameter.field.name;
    let null_is_a_value = parameter.field.ty == Type::Json;
    let is_given = given
        .iter()
        .any(|(known, value)| names_equal(known, name) && (null_is_a_value || !value.is_null()));
    if !is_given {
        given.retain(|known, _| !names_equal(known, name));
        given.insert(name.clone(), default.clone());
    }
}

fn fill_hidden(
    function: &Function,
    context: &JsonObject,
    arguments: &mut Arguments,
) -> Result<(), Failure> {
    for parameter in hidden_parameters(function) {
        let name = &parameter.field.name;
        let in_context = context
            .iter()
            .find(|(known, value)| names_equal(known, name) && !value.is_null());
        let value = match (in_context, &parameter.default) {
            (Some((_, value)), _) => value,
            (None, Some(default)) => default,
            (None, None) if parameter.is_required() => {
                let message = "is hidden and the context holds no value for it";
                return Err(invalid(function, name, message));
            }
            (None, None) => continue,
        };
        let checked = check_value(value, &parameter.field, CheckMode::Lenient)
            .map_err(|error| mismatch(function, &error))?;
        arguments.coercions.extend(checked.coercions);
        arguments.values.insert(name.clone(), checked.value);
    }
    Ok(())
}

fn in_declared_order(function: &Function, mut values: JsonObject) -> JsonObject {
    let names = function.parameters.iter().map(|p| &p.field.name);
    names
        .filter_map(|name| Some((name.clone(), values.remove(name)?)))
        .collect()
}

fn mismatch(function: &Function, error: &CheckError) -> Failure {
    Failure::new(
        FailureCode::InvalidArgument,
        format!(
            "argument `{}` of `{}`: {}",
            error.path, function.name, error.message
        ),
    )
    .with("function", function.name.to_string())
    .with("path", error.path.clone())
}

fn invalid(function: &Function, path: &str, message: &str) -> Failure {
    Failure::new(
        FailureCode::InvalidArgument,
        format!("argument `{path}` of `{}` {message}", function.name),
    )
    .with("function", function.name.to_string())
    .with("path", path)
}
