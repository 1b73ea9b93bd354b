//! The arguments of one call: what the caller gave, checked; hidden ones from the context; defaults.
//!
//! A hidden parameter takes its value from the context on every path and from nowhere else.

use openprogram_core::decision::{check_arguments, fill_hidden, hidden_values};
use openprogram_core::failure::{Failure, FailureCode};
use openprogram_core::function::{Function, Parameter, ParameterSource};
use openprogram_core::schema::{CheckError, CheckMode, Checked, Coercion, names_equal};
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
    let Checked { value, coercions } = check_arguments(function, given, CheckMode::Lenient)
        .map_err(|error| mismatch(function, &error))?;
    let values =
        fill_hidden(function, value, context).map_err(|error| mismatch(function, &error))?;
    Ok(Arguments { values, coercions })
}

/// Checks what a function gave for all parameters of one that it imports, and fills in the hidden
/// ones. No default holds: what is absent is the `none` that the caller gave. What it gave for hidden
/// parameters is dropped and recorded, as on every path.
///
/// # Errors
/// `invalid-argument`, with the path of the offending part.
pub(crate) fn complete_import_arguments(
    function: &Function,
    given: &JsonObject,
    context: &JsonObject,
) -> Result<Arguments, Failure> {
    let Checked {
        mut value,
        coercions,
    } = check_arguments(function, given, CheckMode::Lenient)
        .map_err(|error| mismatch(function, &error))?;
    let hidden = hidden_values(function, context).map_err(|error| mismatch(function, &error))?;
    value.extend(hidden);
    let declared = function.parameters.iter().map(|p| &p.field.name);
    let values = declared.filter_map(|name| value.shift_remove_entry(name));
    Ok(Arguments {
        values: values.collect(),
        coercions,
    })
}

/// Why a model's call cannot be made with these arguments.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum UnfitArguments {
    /// What the model gave does not fit; it may try again.
    Given(CheckError),
    /// What the context must give is missing or does not fit; no other call will help. The error
    /// names what a model may not see.
    Hidden(CheckError),
}

/// Checks what a model gave and fills in the rest. What it may not give is dropped and recorded.
///
/// # Errors
/// When an argument is missing or does not fit.
pub(crate) fn complete_model_arguments(
    function: &Function,
    given: &JsonObject,
    context: &JsonObject,
) -> Result<Arguments, UnfitArguments> {
    let Checked { value, coercions } =
        check_arguments(function, given, CheckMode::Lenient).map_err(UnfitArguments::Given)?;
    let values = fill_hidden(function, value, context).map_err(UnfitArguments::Hidden)?;
    Ok(Arguments { values, coercions })
}

/// The names of the hidden arguments among these.
pub(crate) fn hidden_names(function: &Function, values: &JsonObject) -> Vec<Json> {
    let is_hidden = |p: &&Parameter| p.source == ParameterSource::Context;
    let hidden = function.parameters.iter().filter(is_hidden);
    hidden
        .map(|parameter| &parameter.field.name)
        .filter(|name| values.contains_key(*name))
        .map(|name| Json::from(name.clone()))
        .collect()
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

/// The failure of an argument that is missing or does not fit.
pub(crate) fn mismatch(function: &Function, error: &CheckError) -> Failure {
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
