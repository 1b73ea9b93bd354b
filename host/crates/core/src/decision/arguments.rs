//! The arguments of a function: what a caller may give, and what the frame adds to it.
//!
//! Used for picks, tool calls and calls by name alike, so that hidden and injected parameters are
//! out of reach on every path.

use crate::JsonObject;
use crate::function::{Function, Parameter, ParameterSource};
use crate::schema::{
    CheckError, CheckMode, Checked, Coercion, Member, Mismatch, check_members, check_value,
    names_equal,
};

/// Checks the visible arguments of a call, as a model or a caller gives them.
///
/// Values for hidden and injected parameters are dropped and recorded; defaults are not filled in.
/// Null for a parameter that may be absent counts as absent.
///
/// # Errors
/// All missing names in one error, else the first mismatch in declaration order.
pub fn check_arguments(
    function: &Function,
    given: &JsonObject,
    mode: CheckMode,
) -> Result<Checked<JsonObject>, CheckError> {
    check_owned_arguments(function, given.clone(), mode)
}

/// [`check_arguments`] without a copy.
pub(super) fn check_owned_arguments(
    function: &Function,
    mut given: JsonObject,
    mode: CheckMode,
) -> Result<Checked<JsonObject>, CheckError> {
    let dropped = drop_unseen(function, &mut given);
    let mut checked = check_members(given, members(function).into_iter(), mode)?;
    checked.coercions.splice(0..0, dropped);
    Ok(checked)
}

/// Completes checked arguments: hidden parameters from the context, then defaults.
///
/// The result has the parameters in declared order, injected runtimes left out. Visible parameters
/// are never filled from the context.
///
/// # Errors
/// As [`hidden_values`].
pub fn fill_hidden(
    function: &Function,
    mut arguments: JsonObject,
    context: &JsonObject,
) -> Result<JsonObject, CheckError> {
    let mut hidden = hidden_values(function, context)?;
    let complete = function.parameters.iter().filter_map(|parameter| {
        let name = &parameter.field.name;
        // `shift_remove` keeps the order of what remains; arguments are few.
        let value = match parameter.source {
            ParameterSource::Runtime(_) => None,
            ParameterSource::Argument => arguments
                .shift_remove(name)
                .or_else(|| parameter.default.clone()),
            ParameterSource::Context => hidden.shift_remove(name),
        };
        Some((name.clone(), value?))
    });
    Ok(complete.collect())
}

/// The values of the hidden parameters of a function: from the context, then defaults.
///
/// They can be known before anybody is asked for the visible ones. The context is data of the
/// caller, so it is read leniently.
///
/// # Errors
/// All hidden parameters without a value in one error, else the first mismatch. The message never
/// repeats a value of the context. Asking a model cannot help.
pub fn hidden_values(function: &Function, context: &JsonObject) -> Result<JsonObject, CheckError> {
    let mut values = JsonObject::new();
    let mut missing = Vec::new();
    let parameters = function.parameters.iter();
    for parameter in parameters.filter(|p| p.source == ParameterSource::Context) {
        let name = &parameter.field.name;
        let value = from_context(parameter, context)?;
        match value.or_else(|| parameter.default.clone()) {
            Some(value) => {
                values.insert(name.clone(), value);
            }
            None if parameter.is_required() => missing.push(name.as_str()),
            None => {}
        }
    }
    match missing.first() {
        None => Ok(values),
        Some(first) => Err(CheckError {
            path: (*first).to_owned(),
            mismatch: Mismatch::Missing,
            message: missing_message(&missing),
        }),
    }
}

fn missing_message(names: &[&str]) -> String {
    match names {
        [_] => "hidden parameter, and the context has no value for it".to_owned(),
        names => {
            let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
            format!(
                "hidden parameters, and the context has no values for them: {}",
                names.join(", ")
            )
        }
    }
}

fn from_context(
    parameter: &Parameter,
    context: &JsonObject,
) -> Result<Option<crate::Json>, CheckError> {
    let field = &parameter.field;
    let exact = context.get(&field.name);
    let value = exact.or_else(|| {
        let mut entries = context.iter();
        let same = entries.find(|(key, _)| names_equal(key, &field.name));
        same.map(|(_, value)| value)
    });
    let absent = member(parameter).null_is_absence();
    let Some(value) = value.filter(|value| !(absent && value.is_null())) else {
        return Ok(None);
    };
    let checked = check_value(value, field, CheckMode::Lenient).map_err(|error| CheckError {
        message: format!(
            "hidden parameter, filled from the context: {}",
            match error.mismatch {
                // These messages do not show the value.
                Mismatch::Missing | Mismatch::WrongType => error.message,
                Mismatch::OutOfRange => "the value is out of range".to_owned(),
                Mismatch::NotAllowed => "the value is not one of the allowed ones".to_owned(),
            }
        ),
        ..error
    })?;
    Ok(Some(checked.value))
}

/// The parameters that a model may fill in.
pub(super) fn members(function: &Function) -> Vec<Member<'_>> {
    let visible = function.visible_parameters();
    visible.map(member).collect()
}

fn member(parameter: &Parameter) -> Member<'_> {
    Member {
        field: &parameter.field,
        optional: !parameter.is_required(),
    }
}

/// Takes out what is named like a hidden or injected parameter.
fn drop_unseen(function: &Function, given: &mut JsonObject) -> Vec<Coercion> {
    let unseen = function.parameters.iter().filter(|p| !p.is_visible());
    let unseen: Vec<_> = unseen.map(|p| p.field.name.as_str()).collect();
    let mut dropped = Vec::new();
    if unseen.is_empty() {
        return dropped;
    }
    given.retain(|key, _| {
        let hidden = unseen.iter().find(|name| names_equal(name, key));
        if let Some(name) = hidden {
            dropped.push(Coercion {
                path: (*name).to_owned(),
                what: "never taken from a reply or a caller, dropped".to_owned(),
            });
        }
        hidden.is_none()
    });
    dropped
}
