//! What is said of parameters, checked against their types.

use std::collections::HashSet;

use openprogram_core::Json;
use openprogram_core::function::{Parameter, ParameterSource};
use openprogram_core::schema::{CheckMode, check_value, shown_name};
use openprogram_core::text::{escape_json, is_clean};

use super::attribute::{Attribute, cut};
use crate::error::MetadataError;
use crate::facts::ParameterMetadata;

/// The most bytes of the allowed values of one parameter, as JSON: every request repeats them.
const ALLOWED_VALUES_BYTES_MAX: usize = 16 << 10;

pub(super) fn set_parameters(
    parameters: &mut [Parameter],
    described: &[ParameterMetadata],
    function: &str,
) -> Result<(), MetadataError> {
    let mut seen = HashSet::new();
    for metadata in described {
        let shown = shown_name(&metadata.name);
        let found = parameters.iter_mut().find(|p| p.field.name == shown);
        let Some(parameter) = found.filter(|_| seen.insert(shown.clone())) else {
            return Err(MetadataError::UnknownParameter {
                function: function.to_owned(),
                parameter: cut(&metadata.name),
            });
        };
        let owner = format!("{function}({})", metadata.name);
        let attributes = Attribute::read_all(&owner, &metadata.attributes)?;
        for attribute in &attributes {
            set_parameter_attribute(parameter, attribute)?;
        }
        check_values(parameter, &attributes)?;
    }
    Ok(())
}

fn set_parameter_attribute(
    parameter: &mut Parameter,
    attribute: &Attribute<'_>,
) -> Result<(), MetadataError> {
    let injected = matches!(parameter.source, ParameterSource::Runtime(_));
    if injected && attribute.key != "description" {
        return Err(attribute.bad("the host injects this parameter".to_owned()));
    }
    match attribute.key {
        "description" => parameter.field.description = Some(attribute.string()?),
        "hidden" => {
            if attribute.boolean()? {
                parameter.source = ParameterSource::Context;
            }
        }
        "placeholder" => parameter.placeholder = Some(attribute.string()?),
        "multiline" => parameter.multiline = Some(attribute.boolean()?),
        "options_from" => parameter.options_from = Some(attribute.string()?),
        // Both are checked when all attributes are known.
        "options" | "default" => {}
        _ => return Err(attribute.unknown()),
    }
    Ok(())
}

/// Sets the allowed values and the default, which must be of the parameter's type, the default
/// also one of the allowed values.
fn check_values(
    parameter: &mut Parameter,
    attributes: &[Attribute<'_>],
) -> Result<(), MetadataError> {
    let find = |key: &str| attributes.iter().find(|attribute| attribute.key == key);
    if let Some(options) = find("options") {
        let values = options.value.as_array();
        let values = values.filter(|values| !values.is_empty()).ok_or_else(|| {
            options.bad("it must be an array of allowed values, not empty".to_owned())
        })?;
        let bytes = options.value.to_string().len();
        if bytes > ALLOWED_VALUES_BYTES_MAX {
            let max = ALLOWED_VALUES_BYTES_MAX;
            return Err(options.bad(format!("the values take {bytes} bytes; at most {max} fit")));
        }
        let mut texts = values.iter().filter_map(Json::as_str);
        if let Some(text) = texts.find(|text| !is_clean(text)) {
            // A value is compared with what a model gives, so it cannot be cleaned like words.
            let text = escape_json(&Json::from(cut(text)).to_string()).into_owned();
            return Err(options.bad(format!(
                "the value {text} holds control or invisible characters; leave them out"
            )));
        }
        let checked = values.iter().map(|value| {
            check_value(value, &parameter.field, CheckMode::Strict)
                .map(|checked| checked.value)
                .map_err(|error| options.bad(error.to_string()))
        });
        parameter.field.options = checked.collect::<Result<_, _>>()?;
    }
    if let Some(default) = find("default") {
        let checked = check_value(&default.value, &parameter.field, CheckMode::Strict)
            .map_err(|error| default.bad(error.to_string()))?;
        parameter.default = Some(checked.value);
    }
    Ok(())
}
