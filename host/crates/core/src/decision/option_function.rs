//! Functions that exist in an option file only: they are shown, picked and checked, and never run.

use super::option_file::Part;
use super::schema_form::{SchemaError, parse_options_at, parse_type_at, parse_words_at};
use crate::function::{Function, FunctionName, Parameter, ParameterSource, RuntimeRole};
use crate::schema::{CheckMode, Field, Type, check_value, kind_of, names_equal, quoted};
use crate::text::is_clean_line;
use crate::{Json, JsonObject};

/// The component under which simulated functions stand; no real one can have this name.
const COMPONENT: &str = "(options)";

/// Reads `{"name", "doc", "params", "input"}`.
///
/// `returns` and `raises`, the recorded outcome of a run, are allowed and have no effect, because
/// nothing runs. What `input` says about parameters that are not there is ignored, so that one
/// description may serve several versions of a function.
pub(super) fn simulated_function(part: &Part<'_>) -> Result<Function, SchemaError> {
    part.only(&["name", "doc", "params", "input", "returns", "raises"])?;
    let no_input = JsonObject::new();
    let input = match part.object.get("input") {
        None => &no_input,
        Some(json) => Part::new(&part.at("input"), json)?.object,
    };
    let mut parameters: Vec<Parameter> = Vec::new();
    for (path, json) in part.items("params")? {
        let given = Part::new(&path, json)?;
        let mut parameter = parameter(&given)?;
        let name = &parameter.field.name;
        if parameters
            .iter()
            .any(|known| names_equal(&known.field.name, name))
        {
            let message = "a parameter of this name is there already, `-` and `_` being equal";
            return Err(SchemaError::new(&given.at("name"), message));
        }
        let known = input.iter().find(|(key, _)| names_equal(key, name));
        if let Some((key, json)) = known {
            let path = format!("{}.{key}", part.at("input"));
            describe(&mut parameter, &Part::new(&path, json)?)?;
        }
        parameters.push(parameter);
    }
    let name = FunctionName::new(COMPONENT, None, part.text("name")?);
    Ok(Function {
        description: part.optional_words("doc")?.unwrap_or_default(),
        parameters,
        ..Function::new(name)
    })
}

fn parameter(part: &Part<'_>) -> Result<Parameter, SchemaError> {
    part.only(&["name", "type", "default", "kind"])?;
    if let Some(kind) = part.optional_text("kind")?
        && kind != "kwonly"
    {
        let message = format!("{} is a kind of parameter of Python alone", quoted(&kind));
        return Err(SchemaError::new(&part.at("kind"), message));
    }
    let name = part.text("name")?;
    if !is_clean_line(&name) {
        let message = format!(
            "the name {} has control or invisible characters; leave them out",
            quoted(&name)
        );
        return Err(SchemaError::new(&part.at("name"), message));
    }
    let ty = part.object.get("type");
    let ty = ty
        .map(|json| parse_type_at(&part.at("type"), json))
        .transpose()?;
    let default = part.object.get("default");
    let mut parameter = Parameter::new(name, ty.clone().unwrap_or(Type::String));
    if let Some(role) = RuntimeRole::of_parameter(&parameter.field.name) {
        parameter.source = ParameterSource::Runtime(role);
        parameter.field.ty = Type::Json;
        return Ok(parameter);
    }
    match default {
        None => {}
        Some(Json::Null) if matches!(parameter.field.ty, Type::Option(_)) => {}
        // `None` as a default says that the value may be absent.
        Some(Json::Null) => parameter.field.ty = Type::Option(Box::new(parameter.field.ty)),
        Some(default) if ty.is_none() => parameter.default = Some(default.clone()),
        Some(default) => parameter.default = Some(checked(part, &parameter.field, default)?),
    }
    Ok(parameter)
}

fn checked(part: &Part<'_>, field: &Field, default: &Json) -> Result<Json, SchemaError> {
    let field = Field::new("default", field.ty.clone());
    let checked = check_value(default, &field, CheckMode::Strict);
    let checked = checked.map_err(|error| {
        let path = format!("{}.{}", part.path, error.path);
        SchemaError::new(&path, error.message)
    })?;
    Ok(checked.value)
}

/// Adds what the input metadata says about a parameter.
fn describe(parameter: &mut Parameter, meta: &Part<'_>) -> Result<(), SchemaError> {
    meta.only(&[
        "description",
        "options",
        "hidden",
        "placeholder",
        "multiline",
        "options_from",
    ])?;
    let flag = |key: &str| match meta.object.get(key) {
        None => Ok(None),
        Some(Json::Bool(flag)) => Ok(Some(*flag)),
        Some(other) => {
            let message = format!("expected true or false, got {}", kind_of(other));
            Err(SchemaError::new(&meta.at(key), message))
        }
    };
    if let Some(json) = meta.object.get("description") {
        parameter.field.description = Some(parse_words_at(&meta.at("description"), json)?);
    }
    if let Some(json) = meta.object.get("options") {
        parameter.field.options = parse_options_at(&meta.at("options"), json)?;
    }
    parameter.placeholder = meta.optional_words("placeholder")?;
    parameter.options_from = meta.optional_words("options_from")?;
    parameter.multiline = flag("multiline")?;
    let injected = matches!(parameter.source, ParameterSource::Runtime(_));
    if flag("hidden")? == Some(true) && !injected {
        parameter.source = ParameterSource::Context;
    }
    Ok(())
}
